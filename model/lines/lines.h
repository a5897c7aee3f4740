/* SPDX-License-Identifier: MIT */
/*
 * Lines of source in the model: frames, and what each line and op cost, see
 * query/lines.h.
 *
 * Idea: sums are kept by use, a pair of a frame and an op's identity, so that both
 * "what does this line cost" and "where is this op called" are sums over few. Which
 * frames are one line is seen when asked, as a frame's definition may come after its
 * ops. An op inside of another op of the same line is not to be counted twice in the
 * line: children wait in a list of their unfinished parent (nested), by use, until
 * the parent's own line is known.
 *
 * Always true: each op with a frame is counted in one use; `nested` of a use is of
 * ops whose parent, on the same thread, is of the same line. A parent that is not on
 * that line itself hides what is around it: f() called again below itself counts
 * twice, as in any profile.
 *
 * Forward and backward are joined by instance; what comes before its forward op
 * waits in a ring (pending) until that one must have come.
 *
 * Bounds: FRAMES_MAX, USES_MAX, OP_SHAPES of an op (the rest is one sum), SHAPES_MAX,
 * LINKS_MAX, LINKS_PENDING, NESTED_MAX uses of an op's children. What finds no room
 * is counted in `dropped`. Complexity: O(1) an op, O(children's lines) a parent.
 */
#ifndef MODEL_LINES_LINES_H
#define MODEL_LINES_LINES_H

#include "model/base/map.h"
#include "model/core/store.h"
#include "model/query/lines.h"

struct arrival;
struct launch;
struct op_state;

#define FRAMES_MAX (1u << 18)
#define USES_MAX (1u << 18)
#define USED_SHAPES_MAX (1u << 17)
#define LINKS_MAX (1u << 16)
#define LINKS_PENDING (1u << 14)
#define NESTED_MAX 64u

struct source_frame {
	uint32_t process, id, parent;	/* parent: index, NONE */
	uint32_t file, function, line;	/* names; file 0: not defined yet */
};

struct line_use {
	uint32_t frame, ident;
	uint32_t next;			/* of the same identity, NONE */
	uint64_t count, nested, kernels, cpu_kernels, copies, copy_bytes, allocated, backward;
	int64_t total_ns, nested_ns, self_ns, device_ns, cpu_ns, backward_ns;
};

struct shape_use {
	uint32_t shapes, next;		/* a name; of the same identity, NONE */
	uint64_t count;
	int64_t total_ns, max_ns;
};

struct backward_use {
	uint32_t ident, next;		/* the backward op's; of the same forward one, NONE */
	uint64_t count;
	int64_t total_ns;
};

struct slow_op {
	int64_t start_ns, dur_ns;
	uint32_t process, tid, frame, shapes;
};

/* What is kept of an identity beside its totals, once one of its ops said more. */
struct ident_lines {
	uint32_t uses, shapes, backward;	/* lists, NONE */
	uint32_t n_shapes;
	uint64_t other_shapes;
	int64_t others_ns, others_max_ns;
	uint64_t exact;			/* it is a backward op, joined so often */
	uint32_t n_slow;
	struct slow_op slow[OP_SLOWEST];	/* the slowest first */
};

struct nested {
	uint32_t use, next;
	uint64_t n;
	int64_t ns;
};

struct backward_link { uint64_t forward; int64_t dur_ns, end_ns; uint32_t process, ident; };

struct source_lines {
	struct store frames, uses, shapes, backward, idents, nested;
	struct map frame_by_id;		/* process << 32 | id */
	struct map use_by_key;		/* frame << 32 | ident */
	struct map shape_by_key;	/* ident << 32 | name */
	struct map backward_by_key;	/* forward << 32 | backward, identities */
	uint32_t recent[256];		/* uses */
	uint32_t free_nested;
	struct backward_link *pending;		/* owned; ring */
	size_t head, n_pending;
	uint64_t with_line, dropped, linked, unlinked;
};

/* What lines.c has to know of a finished op. */
struct line_op_in {
	uint32_t ident, frame, shapes;	/* frame: as of frame_get(); shapes: a name, 0 none */
	uint32_t process, tid;
	int64_t start_ns, dur_ns, self_ns;
	uint64_t forward;
};

/* ---- lines.c ---- */
void lines_free(struct model *model);
size_t lines_bytes(const struct model *model);
void frame_define(struct model *model, const struct arrival *in);
/* 1 + the index of a frame of a process, also of one that is not defined yet; 0: id is 0,
 * or there is no room. */
uint32_t frame_get(struct model *model, uint32_t process, uint32_t id);
/* An op has ended; its state if it has one. */
void lines_ran(struct model *model, struct op_state *state, const struct line_op_in *op);
/* Its self time turned out to be shorter, as a child came late. */
void lines_shorter(struct model *model, uint32_t use, int64_t ns);
/* A child of use `use` has ended in that op, on the same thread. */
void lines_child(struct model *model, struct op_state *parent, uint32_t use, int64_t dur_ns);
void lines_launched(struct model *model, uint32_t use, const struct launch *launch);
/* Bytes were allocated in an op of a process. */
void lines_allocated(struct model *model, uint32_t process, uint64_t op, uint64_t bytes);
/* The state is about to go. */
void lines_forget(struct model *model, struct op_state *state);
/* The pair of a frame (1 + its index) and an identity; NONE: not known. */
uint32_t line_use_find(const struct model *model, uint32_t frame, uint32_t ident);
void lines_settled(struct model *model, int64_t settled_ns);
/* The same of any process; 0: there is none of that id. */
uint32_t frame_of_process(const struct model *model, uint32_t process, uint32_t id);
/* A frame's id in its process, of 1 + its index; 0: 0. */
uint32_t frame_id(const struct model *model, uint32_t frame);
/* NULL: nothing more is known of the identity. */
struct ident_lines *ident_lines(const struct model *model, uint32_t ident);
/* The same line of the same file, as far as is known. */
bool same_line(const struct model *model, uint32_t a, uint32_t b);

static inline struct source_frame *frame_at(const struct source_lines *l, uint32_t i)
{
	return store_at(&l->frames, i);
}

static inline struct line_use *use_at(const struct source_lines *l, uint32_t i)
{
	return store_at(&l->uses, i);
}

/* In the place of a frame's file: a torch.nn.Module that was called, see records_table.h. */
#define MODULE_FILE "nn.Module"
bool frame_is_module(struct model *model, const struct source_frame *frame);

/* ---- lines_query.c ---- */
/* Of an installed package or of Python's own, not the user's. */
bool lines_is_library(const char *file);

/* ---- lines_ops.c ---- */
/* The line that most of an op's time goes to, of how many; false: it said none. */
bool line_of_ident(struct model *model, uint32_t ident, const char **file, uint32_t *line,
		   uint32_t *n_lines, int64_t *total_ns);

#endif
