/* SPDX-License-Identifier: MIT */
/*
 * What one event has to do with others: what an op launched and who launched that,
 * the other end of a message, whose output an op takes and who takes its own. The rules of
 * query.h apply.
 *
 * Launches, graphs' nodes and messages are known of each event. Who takes from whom is told
 * of ops by name (edges, graphs): of those that feed it the last runs that began before it,
 * of those that take from it the first ones that began after it.
 *
 * Bounds: LINKS_NEAR runs of each of the two, within LINK_CHUNKS chunks of each lane;
 * work and nodes among the first LINK_LOOK events of each queue from the op's or the graph's
 * start on.
 * Complexity: O(rows + lanes of its process * LINK_CHUNKS): for a question when
 * something is selected, not for each picture.
 */
#ifndef MODEL_QUERY_LINKS_H
#define MODEL_QUERY_LINKS_H

#include "model/query/query.h"

enum link_kind {
	LINK_OP,			/* that launched it, or that it was compiled in */
	LINK_WORK,			/* that it launched */
	LINK_GRAPH,			/* the launch of a graph that it is a node of, as one */
	LINK_NODE,			/* the other way round */
	LINK_MESSAGE,			/* the op at the other end */
	LINK_PRODUCER,			/* it, or its op, takes what this one makes */
	LINK_TAKER,			/* the other way round */
	LINK_KINDS
};

struct span_link {
	enum link_kind kind;
	struct span_ref ref;
	int64_t start_ns, end_ns;
	const char *name;		/* short */
};

#define LINKS_NEAR 4u

/* At most max, those of one kind by start; how many were written. [locked] */
size_t model_span_links(struct model *model, struct span_ref ref, struct span_link *out,
			size_t max);

#endif
