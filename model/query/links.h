/* SPDX-License-Identifier: MIT */
/*
 * Links from one event to others: what an op launched and which op launched a command, the other
 * end of a message, the producers and the consumers of an op's data. The rules of query.h apply.
 *
 * Launches, graphs' nodes and messages are known for each event. Producers and consumers are
 * known for ops by name (edges, graphs): of the producers, the last runs that started before the
 * op are taken, of the consumers the first that started after it.
 *
 * Bounds: LINKS_NEAR runs of each of the two, within LINK_CHUNKS chunks of each lane; work and
 * nodes among the first LINK_LOOK events of each queue from the op's or the graph's start on.
 * Complexity: O(rows + lanes of its process * LINK_CHUNKS): fit for a question about a selected
 * event, not for every frame.
 */
#ifndef MODEL_QUERY_LINKS_H
#define MODEL_QUERY_LINKS_H

#include "model/query/query.h"

enum link_kind {
	/* the op that launched the event, or in which it was compiled */
	LINK_OP,
	LINK_WORK,			/* device work that the op launched */
	LINK_GRAPH,			/* the graph launch that the event is a node of */
	LINK_NODE,			/* a node of the graph launch that the event is */
	LINK_MESSAGE,			/* the op at the other end */
	LINK_PRODUCER,			/* an op whose output this event, or its op, takes */
	LINK_TAKER,	/* an op that takes the output of this event, or of its op */
	LINK_KINDS
};

struct span_link {
	enum link_kind kind;
	struct span_ref ref;
	int64_t start_ns, end_ns;
	const char *name;		/* the short name */
};

#define LINKS_NEAR 4u

/* Writes at most max links, those of one kind by start; returns how many. [locked] */
size_t model_span_links(struct model *model, struct span_ref ref, struct span_link *out,
			size_t max);

#endif
