/* SPDX-License-Identifier: MIT */
/*
 * Ops in the model, and what is kept by them: their states and identities, the
 * tree of calls, data edges. A part of model-internal.h, which includes it.
 */
#ifndef MODEL_OPS_H
#define MODEL_OPS_H

enum op_state_flag {
	STATE_KNOWN = 1,		/* its identity is */
	STATE_FINISHED = 2,
	STATE_TOUCHED = 4,		/* something was enqueued in it */
	STATE_DEFERRED = 8,		/* finished, without a place in the tree yet */
	STATE_ASYNC = 16,
	STATE_RANGE = 32,		/* the user's, nothing in it so far */
};

struct op_state {
	uint64_t instance, parent;
	uint32_t process, tid, ident, op_name;
	uint32_t row, lane, id, open;	/* its span, or its open_span */
	int64_t start_ns, dur_ns, children_ns, device_ns;
	uint64_t copy_bytes;
	uint32_t kernels, copies;
	uint32_t first_row, first_id;
	uint32_t node;			/* of the tree, NONE: no place yet */
	uint16_t depth;
	uint8_t flags;
	uint32_t next_free;
	uint32_t place;			/* of its span, when it was put there: chunk * LANE_CHUNK + i */
	/* of lines/lines.h, each 1 + an index */
	uint32_t use;			/* of the finished op, 0: no line */
	uint32_t nested;		/* list of its children's until then, 0 empty */
	uint32_t cpu_kernels;		/* of the kernels those on the processor */
	int64_t cpu_ns;			/* of device_ns */
	uint64_t allocated;
};

/* An op's identity and its totals. */
struct ident {
	uint32_t name, type, domain;
	uint8_t framework;
	uint32_t next;			/* same hash */
	uint32_t plain;			/* 1 + ident_plain(), 0: not known for good */
	uint64_t count, ranges;
	bool inner;			/* launches or ops happened in one of them */
	int64_t total_ns, self_ns, device_ns, min_ns, max_ns;
	struct hist hist;		/* of durations */
	uint64_t kernels, copies, copy_bytes;
	uint64_t cpu_kernels;		/* of kernels and device_ns: on the processor */
	int64_t cpu_ns;
	uint32_t lines;			/* 1 + the index in lines->idents, 0 none */
	/* those that were handed to a thread pool: their waits for a thread */
	uint64_t handed;
	int64_t wait_ns, max_wait_ns;
	struct hist waits;
	uint32_t wait_thread;		/* 1 + that the last one waited for, 0 none */
};

/* ---- idents.c ---- */
struct ident *ident_at(const struct model *model, uint32_t i);
/* Names as they were used; NONE: there is no room. Graphs are told apart while there are
 * less than IDENTS_GRAPH_MAX: a program may make new ones for ever. */
uint32_t ident_get(struct model *model, uint32_t name, uint32_t type, uint32_t domain,
		   uint8_t framework);

/* ---- ops.c ---- */
void apply_op(struct model *model, const struct event_op *op);
/* A run was launched in that op. */
struct launch {
	uint32_t process, tid, op_name, row, id;
	uint64_t op;
	int64_t call_ns, device_ns;
	bool kernel;			/* else a copy */
	bool cpu;			/* on the processor */
	uint64_t bytes;
};
void op_launched(struct model *model, const struct launch *launch);
/* Something was enqueued in it: it is no mere range. */
void op_touched(struct model *model, uint32_t process, uint64_t op, uint32_t op_name);
void ops_finish(struct model *model);
/* The index of an instance's state, NONE: it has none. */
uint32_t op_state_find(struct model *model, uint32_t process, uint64_t instance);
/* One that waits for the op is made; NONE: there is no room. */
uint32_t op_state_get(struct model *model, uint32_t process, uint64_t instance);
/* Writes what a state collected into its finished span. */
void op_state_write(struct model *model, struct op_state *state);
/* The op's span, looked up in time: row, lane and place. */
bool op_find(struct model *model, uint32_t process, uint32_t tid, uint64_t instance,
	     int64_t around_ns, uint32_t *row, uint32_t *lane, struct lane_pos *pos);

/* ---- optree.c: the tree of calls, see optree-internal.h ---- */
void optree_new(struct model *model);
void optree_free(struct model *model);
size_t optree_bytes(const struct model *model);
/* By the index of its state, whose identity is known. */
void optree_announced(struct model *model, uint32_t state, const struct event_op *op);
void optree_finished(struct model *model, uint32_t state, const struct event_op *op);
/* One that has no state. */
void optree_nameless(struct model *model, uint32_t ident, const struct event_op *op);
/* The state is about to go. */
void optree_forget(struct model *model, uint32_t state);
/* At the end: it never came, or not all of those around it. */
void optree_orphan(struct model *model, uint32_t state);
/* Added to its state already. */
void optree_launched(struct model *model, uint32_t state, const struct launch *launch);
/* In an op of that lane of its thread, whose state is gone. */
void optree_launched_late(struct model *model, uint32_t lane, const struct launch *launch);
void optree_wait(struct model *model, const struct event_wait *wait);
/* All before is final. Breathes. */
void optree_settled(struct model *model, int64_t settled_ns);

/* ---- edges.c: what ops take from other ops ---- */
/* The names of those that take from the ops of that name, or that they take from, as told. */
void edges_each(struct model *model, uint32_t name, bool takers,
		void (*each)(void *arg, uint32_t name), void *arg);
void edges_new(struct model *model);
void edges_free(struct model *model);
size_t edges_bytes(const struct model *model);
void apply_edge(struct model *model, const struct event_edge *edge);
/* All before is final. Breathes. */
void edges_settled(struct model *model, int64_t settled_ns);

#endif
