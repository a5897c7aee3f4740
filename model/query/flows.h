/* SPDX-License-Identifier: MIT */
/*
 * How ops depend on each other: data edges from producer to consumer, and how long after its last
 * input a consumer started; messages between processes; and which op is the gradient of which.
 * The rules of query.h apply.
 *
 * Only reported edges (EVENT_EDGE) are included: the order of commands on a queue is not a
 * dependency, and no edge is derived from it.
 *
 * Latency is the start of the consumer minus the end of its last input; 0 where it started before
 * that end (it takes the data bit by bit). It is measured once for each consumer, on the edge
 * from the input that ended last; the other edges are only counted.
 */
#ifndef MODEL_QUERY_FLOWS_H
#define MODEL_QUERY_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct edge_row {
	const char *key;		/* name of the data; NULL: it has no name */
	const char *source, *destination;	/* names of ops; NULL: unknown */
	uint64_t count, bytes;
	uint64_t measured;		/* consumers whose last input was this edge */
	int64_t latency_p50_ns, latency_p99_ns;	/* latencies of these; -1: none */
};

/* Most bytes first. *out owned by the caller. [locked] */
size_t model_edges(struct model *model, struct edge_row **out);

/*
 * Messages between threads, processes and hosts (EVENT_FLOW), by name. A name like "SOURCE ->
 * DESTINATION: what" is split into these parts.
 *
 * A message is ready when it has been sent and asked for; from then to its end it is on the wire.
 * Between two hosts a latency may be off by error_ns.
 */
struct flow_row {
	const char *key;		/* name of the data; NULL: unknown */
	const char *source, *destination;	/* NULL: not given */
	bool local;			/* within one process */
	/* messages that were reported by the sender and by the receiver */
	uint64_t sent, received;
	uint64_t bytes;			/* sent in total */
	uint64_t joined;		/* messages that both ends reported; of these: */
	int64_t latency_p50_ns, latency_p99_ns;	/* from sent to received; -1: none */
	/* sum of the time on the wire; largest possible error of a time */
	int64_t wire_ns, error_ns;
	uint64_t encoded, decoded;
	/* sums; wait_ns: from the request to the end of the receipt */
	int64_t encode_ns, decode_ns, wait_ns;
	/* Means over the steps after the warm-up; 0 without steps. alone: time on the wire while
	 * the receiver ran no op. */
	uint64_t bytes_per_step;
	int64_t alone_ns_per_step;
};

/* Most bytes first. *out owned by the caller. [locked] */
size_t model_flows(struct model *model, struct flow_row **out);

/*
 * Pairs of a backward op and its forward op, by the names that model_ops() has. links: how many
 * of the backward ops reported their forward op (model_op_detail() has all of these links); 0:
 * none did, the pair is made by names. The caller owns *out. [locked]
 */
struct pass_pair { const char *forward, *backward; uint64_t links; };
size_t model_passes(struct model *model, struct pass_pair **out);

#endif
