/* SPDX-License-Identifier: MIT */
/*
 * Lines of source in the model: frames, and what each line and op costs, see query/lines.h.
 *
 * Idea: sums are kept by use, that is, a pair of a frame and an op's identity, so that both "what
 * does this line cost" and "where is this op called" are sums over few uses. Which frames are the
 * same line is determined by the question, as a frame's definition may arrive after its ops. An
 * op inside another op of the same line must not count twice in the line: children wait in a list
 * of their unfinished parent (nested), by use, until the parent's own line is known.
 *
 * Always true: each op with a frame is counted in one use; `nested` of a use counts the ops whose
 * parent, on the same thread, is of the same line. A parent on another line hides the ops around
 * it: a recursive f() counts twice, as in any profile.
 *
 * Forward and backward ops are joined by instance. A backward op that arrives before its forward
 * op waits in a ring (pending) until the forward op must have arrived.
 *
 * Bounds: FRAMES_MAX, USES_MAX, OP_SHAPES of an op (the rest is one sum), USED_SHAPES_MAX,
 * LINKS_MAX, LINKS_PENDING, NESTED_MAX uses of an op's children. What finds no room is counted in
 * `dropped`.
 * Complexity: O(1) for an op, O(lines of its children) for a parent.
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
	uint32_t process, id, parent;	/* parent: an index, or NONE */
	uint32_t file, function, line;	/* names; file 0: the frame is not defined yet */
};

struct line_use {
	uint32_t frame, ident;
	uint32_t next;			/* next use of the same identity, or NONE */
	uint32_t unseen;		/* runs in bare steps: see ident_unseen() */
	uint64_t count, nested, kernels, cpu_kernels, copies, copy_bytes, allocated, backward;
	int64_t total_ns, nested_ns, self_ns, device_ns, cpu_ns, backward_ns;
};

struct shape_use {
	uint32_t shapes, next;		/* shapes: a name; next: of the same identity, or NONE */
	uint64_t count;
	int64_t total_ns, max_ns;
};

struct backward_use {
	/* ident: of the backward op; next: of the same forward op, or NONE */
	uint32_t ident, next;
	uint64_t count;
	int64_t total_ns;
};

struct slow_op {
	int64_t start_ns, dur_ns;
	uint32_t process, tid, frame, shapes;
};

/* What is kept of an identity in addition to its totals, once one of its ops reported a line,
 * shapes or its forward op. */
struct ident_lines {
	uint32_t uses, shapes, backward;	/* heads of lists, or NONE */
	uint32_t n_shapes;
	uint64_t other_shapes;
	int64_t others_ns, others_max_ns;
	uint64_t exact;			/* how often it was joined as a backward op */
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

/* What lines.c needs to know of a finished op. */
struct line_op_in {
	/* frame: as returned by frame_get(); shapes: a name, 0: none */
	uint32_t ident, frame, shapes;
	uint32_t process, tid;
	int64_t start_ns, dur_ns, self_ns;
	uint64_t forward;
	uint32_t unseen;
};

/* ---- lines.c ---- */
void lines_free(struct model *model);
size_t lines_bytes(const struct model *model);
void frame_define(struct model *model, const struct arrival *in);
/* 1 + the index of a process's frame, which may not be defined yet; 0: id is 0, or there is no
 * room. */
uint32_t frame_get(struct model *model, uint32_t process, uint32_t id);
/* An op has ended; state: its state, or NULL. */
void lines_ran(struct model *model, struct op_state *state, const struct line_op_in *op);
/* An op's self time turned out to be shorter, because a child arrived late. */
void lines_shorter(struct model *model, uint32_t use, int64_t ns);
/* A child with this use has ended in the parent, on the same thread. */
void lines_child(struct model *model, struct op_state *parent, uint32_t use, int64_t dur_ns);
void lines_launched(struct model *model, uint32_t use, const struct launch *launch);
/* Bytes were allocated in an op. */
void lines_allocated(struct model *model, uint32_t process, uint64_t op, uint64_t bytes);
/* The state is about to be freed. */
void lines_forget(struct model *model, struct op_state *state);
/* The use of a frame (1 + its index) by an identity; NONE: unknown, or there is no room for a new
 * one. */
uint32_t line_use_find(const struct model *model, uint32_t frame, uint32_t ident);
uint32_t line_use_get(struct model *model, uint32_t frame, uint32_t ident);
/* How many of its runs were not seen, because steps were bare. */
uint64_t use_unseen(const struct model *model, const struct line_use *use);
void lines_settled(struct model *model, int64_t settled_ns);
/* Like frame_get(), but makes no frame; 0: the process has none with this id. */
uint32_t frame_of_process(const struct model *model, uint32_t process, uint32_t id);
/* The id that a frame (1 + its index) has in its process; 0 for 0. */
uint32_t frame_id(const struct model *model, uint32_t frame);
/* What is known of an identity in addition to its totals; NULL: nothing. */
struct ident_lines *ident_lines(const struct model *model, uint32_t ident);
/* Whether two frames are the same line of the same file, as far as is known. */
bool same_line(const struct model *model, uint32_t a, uint32_t b);

static inline struct source_frame *frame_at(const struct source_lines *l, uint32_t i)
{
	return store_at(&l->frames, i);
}

static inline struct line_use *use_at(const struct source_lines *l, uint32_t i)
{
	return store_at(&l->uses, i);
}

/* The frame that called this one, as frame_get() returns it; 0: unknown, or there is none. */
static inline uint32_t frame_caller(const struct source_lines *l, uint32_t frame)
{
	uint32_t parent = frame_at(l, frame - 1)->parent;

	return parent == NONE ? 0 : parent + 1;
}

/* The path of its file; "": unknown. */
const char *frame_file(struct model *model, const struct source_frame *frame);

/* The file of a frame that stands for a torch.nn.Module that was called, see records_table.h. */
#define MODULE_FILE "nn.Module"
/* The file of a frame that stands for calls that changed while they were read. */
#define CHANGED_FILE "changed"
/* The file of a frame that stands for a task of asyncio. */
#define TASK_FILE "asyncio"
bool frame_is_module(struct model *model, const struct source_frame *frame);
bool frame_is_changed(struct model *model, const struct source_frame *frame);
bool frame_is_task(struct model *model, const struct source_frame *frame);

/* ---- lines_query.c ---- */
/* Whether the file belongs to an installed package or to Python, not to the user. */
bool lines_is_library(const char *file);

/* ---- lines_ops.c ---- */
/* The line that most of an op's time belongs to, and how many lines there are; false: none was
 * reported. */
bool line_of_ident(struct model *model, uint32_t ident, const char **file, uint32_t *line,
		   uint32_t *n_lines, int64_t *total_ns);

#endif
