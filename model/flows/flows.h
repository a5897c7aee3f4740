/* SPDX-License-Identifier: MIT */
/*
 * Messages between threads, processes and hosts (EVENT_FLOW): what was sent under which name, and
 * how long it took.
 *
 * Idea: both ends report a message under one key. What each end reports is counted at once in the
 * totals of the message's name, so these totals are exact whatever is lost at the other end. The
 * first report waits for the other; what only both together tell (the latency) is counted then.
 *
 * A message is ready when it was sent and asked for. From then until its end it is on the wire;
 * before that, one of the ends was late.
 *
 * Bounds: FLOW_TOTALS_MAX names, FLOWS_WAIT messages that wait for their other end (then the
 * oldest are dropped and have no latency), FLOW_PEERS ops that can be found from the other end,
 * FLOW_NEW joined messages that no analysis has seen, FLOW_OUTPUTS ops whose output size is
 * known.
 * Complexity: O(1) an event. Times: ns of host 0.
 */
#ifndef MODEL_FLOWS_H
#define MODEL_FLOWS_H

#include <stddef.h>
#include <stdint.h>

#include "model/base/hist.h"
#include "model/base/map.h"
#include "model/core/store.h"
#include "model/event.h"

#define FLOW_TOTALS_MAX (1u << 14)
#define FLOWS_WAIT 8192u
#define FLOW_PEERS (1u << 15)
#define FLOW_NEW (1u << 14)
#define FLOW_OUTPUTS 4096u

struct arrival;
struct model;

struct flow_total {
	uint32_t name;			/* as in the event, not resolved */
	uint64_t sent, received, bytes, joined, local, encoded, decoded;
	int64_t encode_ns, decode_ns, wait_ns, wire_ns, error_ns;
	struct hist latency;		/* from sent to received */
};

/* What one end reported, as far as it is known. */
struct flow_end {
	int64_t at_ns, dur_ns;
	uint64_t op;
	uint32_t process, tid;
	bool known;
};

/* A joined message. */
struct flow_message {
	int64_t sent_ns, ready_ns, end_ns;
	uint64_t bytes, op;		/* the receiver's op */
	uint32_t name, from, to;	/* processes */
};

struct flows {
	struct store totals;
	struct map total_by_name;
	struct flow_wait {
		uint64_t key, bytes;
		uint32_t name;	/* the sender's name or, if that is unknown, the receiver's */
		bool waits;
		struct flow_end sent, received;
	} *waits;			/* owned; ring of FLOWS_WAIT, NULL: none yet */
	uint32_t next_wait;
	struct map wait_by_key;
	struct flow_peer {
		uint64_t key, op;	/* the op at the other end */
		int64_t at_ns;
		uint32_t process, tid;
	} *peers;			/* owned; ring of FLOW_PEERS */
	uint32_t next_peer;
	struct map peer_by_op;
	struct flow_made { uint32_t op_name; uint64_t bytes; } *made;	/* owned; FLOW_OUTPUTS */
	uint32_t n_made;
	struct flow_message *fresh;	/* owned; joined, not yet taken by the analyses */
	size_t n_fresh, cap_fresh;
};

static inline struct flow_total *flow_total_at(const struct flows *flows, uint32_t i)
{
	return store_at(&flows->totals, i);
}

void flows_new(struct model *model);
void flows_free(struct model *model);
size_t flows_bytes(const struct model *model);
void apply_flow(struct model *model, const struct arrival *in);
/* The op at the other end of a message that this op sent or received; NULL: unknown. */
const struct flow_peer *flow_peer(const struct model *model, uint32_t process, uint64_t op);
/* The totals of a name; NULL: there are none. */
const struct flow_total *flow_total_of(const struct model *model, uint32_t name);
/* The size of an op's output; 0: unknown. */
uint64_t flows_made(const struct model *model, uint32_t op_name);
/* Moves the joined messages that ended before t_ns into *out, in no order; returns how many. */
size_t flows_take(struct model *model, int64_t t_ns, struct flow_message **out);

/* ---- flow_names.c: "SOURCE -> DESTINATION: what" ---- */

struct flow_name {
	uint32_t source, destination, what;	/* names; 0: not given */
};
struct flow_name flow_name(struct model *model, uint32_t name);

#endif
