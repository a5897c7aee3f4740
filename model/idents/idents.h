/* SPDX-License-Identifier: MIT */
/*
 * Identities and instances of ops. An identity is what equal ops share (name, type, domain,
 * framework), with its totals; an op_state is what is known of one instance that any event
 * mentioned. See ops/ops.c.
 */
#ifndef MODEL_IDENTS_IDENTS_H
#define MODEL_IDENTS_IDENTS_H

#include "model/core/model.h"

#define IDENTS_MAX (1u << 22)
#define IDENTS_GRAPH_MAX (1u << 17)
#define OPS_WAIT_MAX (1u << 20)		/* mentioned ops that have not arrived yet */

enum op_state_flag {
	STATE_KNOWN = 1,		/* its identity is known */
	STATE_FINISHED = 2,
	STATE_TOUCHED = 4,		/* something was enqueued in it */
	STATE_DEFERRED = 8,		/* finished, has no place in the tree of calls yet */
	STATE_ASYNC = 16,
	STATE_RANGE = 32,		/* a range of the user's with nothing in it so far */
};

struct op_state {
	uint64_t instance, parent;
	uint32_t process, tid, ident, op_name;
	uint32_t row, lane, id, open;	/* place of its span; open: its open_span */
	int64_t start_ns, dur_ns, children_ns, device_ns;
	uint64_t copy_bytes;
	uint32_t kernels, copies;
	uint32_t first_row, first_id;
	uint32_t node;			/* node of the tree of calls, NONE: no place yet */
	uint16_t depth;
	uint8_t flags;
	uint32_t next_free;
	/* where its span was inserted: chunk * LANE_CHUNK + i */
	uint32_t place;
	/* of lines/lines.h; each is 1 + an index */
	uint32_t use;			/* use of the finished op, 0: it has no line */
	uint32_t nested;		/* list of its children's uses until then, 0: empty */
	uint32_t cpu_kernels;		/* those of the kernels that ran on the processor */
	uint32_t unseen;		/* for how many runs in bare steps it stands */
	int64_t cpu_ns;			/* that part of device_ns */
	uint64_t allocated;
};

/* The runs of an identity in bare steps (ops/unseen.c). */
struct unseen {
	uint64_t runs;		/* estimated from the steps after them */
	/* those bare steps; and how often one of its ops was seen in a bare step */
	uint32_t steps, within;
	uint32_t bare;		/* which bare time was counted last: bits of its end */
	uint32_t process;	/* of the last op ... */
	int64_t last_ns;	/* ... and its start */
};

/* An op's identity and its totals. */
struct ident {
	uint32_t name, type, domain;
	uint8_t framework;
	uint32_t next;			/* next identity with the same hash */
	uint32_t plain;			/* 1 + ident_plain(), 0: not certain yet */
	uint64_t count, ranges;
	bool inner;			/* launches or ops happened within one of its ops */
	int64_t total_ns, self_ns, device_ns, min_ns, max_ns;
	struct hist hist;		/* of durations */
	uint64_t kernels, copies, copy_bytes;
	/* the part of kernels (and cpu_ns of device_ns) that ran on the processor */
	uint64_t cpu_kernels;
	int64_t cpu_ns;
	uint32_t lines;			/* 1 + the index in lines->idents, 0: none */
	/* ops that were handed to a thread pool, and their waits for a thread */
	uint64_t handed;
	int64_t wait_ns, max_wait_ns;
	struct hist waits;
	uint32_t wait_thread;		/* 1 + the thread that the last one waited for, 0: none */
	struct unseen *unseen;		/* owned; NULL: its process had no bare steps */
};

/* A run of device work that was launched in an op. */
struct launch {
	uint32_t process, tid, op_name, row, id;
	uint64_t op;
	int64_t call_ns, device_ns;
	bool kernel;			/* else a copy */
	bool cpu;			/* on the processor */
	uint64_t bytes;
	uint32_t frame;			/* frame_get() of a graph's node; 0: that of the op */
};

static inline struct ident *ident_at(const struct model *model, uint32_t i)
{
	return store_at(&model->idents, i);
}

/* How many of its ops were not seen: none if they are seen in bare steps, too, as functions of
 * optimizers are. */
static inline uint64_t ident_unseen(const struct ident *ident)
{
	const struct unseen *unseen = ident->unseen;

	return unseen && (uint64_t)unseen->within * 2 < unseen->steps ? unseen->runs : 0;
}

/* A sum over the runs that were seen, as it would be over all. */
static inline uint64_t scaled_up(uint64_t sum, uint64_t seen, uint64_t unseen)
{
	return unseen && seen ? (uint64_t)((unsigned __int128)sum * (seen + unseen) / seen) : sum;
}

static inline int64_t scaled_up_ns(int64_t ns, uint64_t seen, uint64_t unseen)
{
	return ns > 0 ? (int64_t)scaled_up((uint64_t)ns, seen, unseen) : ns;
}

/* The identity with these names (as they were used), made if it is new; NONE: there is no room.
 * Graphs have identities of their own while there are fewer than IDENTS_GRAPH_MAX, since a
 * program may make new graphs for ever. */
uint32_t ident_get(struct model *model, uint32_t name, uint32_t type, uint32_t domain,
		   uint8_t framework);
/* The identity without a step's number. */
uint32_t ident_plain(struct model *model, uint32_t ident);

static inline struct op_state *op_state_at(const struct model *model, uint32_t i)
{
	return store_at(&model->op_states, i);
}

/* The index of an instance's state; NONE: it has none. */
uint32_t op_state_find(struct model *model, uint32_t process, uint64_t instance);
/* The same; makes a state that waits for the op. NONE: there is no room. */
uint32_t op_state_get(struct model *model, uint32_t process, uint64_t instance);

#endif
