/* SPDX-License-Identifier: MIT */
/*
 * What ops have to do with each other: which is whose gradient, by their names;
 * and what ops take from other ops: data edges, producer to consumer, and how long
 * after its last input a consumer began; and the messages between processes.
 * The rules of query.h apply.
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

#include <stdbool.h>
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

/*
 * Messages between threads, processes and hosts (EVENT_FLOW), by name. A name that
 * reads "SOURCE -> DESTINATION: what" is taken apart.
 *
 * A message is ready when it has been sent and asked for; from there on to its end
 * it is on the wire. Of two hosts' clocks error_ns is how far a latency may be off.
 */
struct flow_row {
	const char *key;		/* of the data; NULL: not known */
	const char *source, *destination;	/* NULL: not said */
	bool local;			/* within one process */
	uint64_t sent, received;	/* as either end told */
	uint64_t bytes;			/* sent, in all */
	uint64_t joined;		/* both ends told; of these: */
	int64_t latency_p50_ns, latency_p99_ns;	/* sent to received; -1 none */
	int64_t wire_ns, error_ns;	/* sums; the worst */
	uint64_t encoded, decoded;
	int64_t encode_ns, decode_ns, wait_ns;	/* sums; wait: asked for until received */
	/* Mean over the steps after the warm-up; 0 without steps. alone: on the wire
	 * while the receiver ran no op. */
	uint64_t bytes_per_step;
	int64_t alone_ns_per_step;
};

/* Most bytes first. *out owned by the caller. [locked] */
size_t model_flows(struct model *model, struct flow_row **out);

/*
 * Ops that were seen, as names of model_ops(): each backward one with its forward
 * one. links: so many of its ops said whose gradient they are (model_op_detail() has
 * all of them); 0: none did, and the names fit. *out owned by the caller. [locked]
 */
struct pass_pair { const char *forward, *backward; uint64_t links; };
size_t model_passes(struct model *model, struct pass_pair **out);

#endif
