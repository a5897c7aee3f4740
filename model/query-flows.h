/* SPDX-License-Identifier: MIT */
/*
 * What ops have to do with each other: which is whose gradient, by their names;
 * and what ops take from other ops: data edges, producer to consumer, and how long
 * after its last input a consumer began. Beside query.h, by the same rules.
 *
 * Only edges that somebody told (EVENT_EDGE) are here: the order of a queue's
 * commands is no dependency, and none is made up from it.
 *
 * Latency: start of the consumer minus end of its last input, 0 where it began
 * before that (it takes the data bit by bit). It is measured once a consumer,
 * on the edge from the input that ended last; the others only count.
 */
#ifndef MODEL_QUERY_FLOWS_H
#define MODEL_QUERY_FLOWS_H

#include <stddef.h>
#include <stdint.h>

struct model;

struct edge_row {
	const char *key;		/* of the data; NULL: none */
	const char *source, *destination;	/* ops; NULL: not known */
	uint64_t count, bytes;
	uint64_t measured;		/* consumers that waited for this one last */
	int64_t latency_p50_ns, latency_p99_ns;	/* of them; -1 none */
};

/* Most bytes first. *out owned by the caller. [locked] */
size_t model_edges(struct model *model, struct edge_row **out);

/* Ops that were seen, as names of model_ops(): each backward one with its forward
 * one. *out owned by the caller. [locked] */
struct pass_pair { const char *forward, *backward; };
size_t model_passes(struct model *model, struct pass_pair **out);

#endif
