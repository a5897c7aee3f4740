/* SPDX-License-Identifier: MIT */
/*
 * Where in the program's source time goes, for all frameworks: by the lines that ops report
 * (event_op.frame), and by the lines at which nodes of a graph were made. Also what is known of
 * an op by its name: shapes of its inputs, its backward ops, its slowest runs. The rules of
 * query.h apply: the model owns strings; arrays are snapshots, owned by the caller.
 *
 * The sums are kept while events arrive, so that they do not depend on what is still in the
 * lanes. An op counts at the line that it reports; without one, at the line of the node that it
 * was joined to (query/graph.h).
 */
#ifndef MODEL_QUERY_LINES_H
#define MODEL_QUERY_LINES_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct model;

/* What the ops of a line cost. */
struct line_cost {
	/* Where ops of one line are nested, only the outermost counts. */
	uint64_t calls;
	/* those that were seen; fewer: calls and all sums are estimates (core/bares.h) */
	uint64_t seen;
	int64_t total_ns;
	int64_t self_ns;		/* sum of the self time of all ops of the line */
	/* time of the work that they launched, on devices and on the processor */
	int64_t device_ns, cpu_ns;
	uint64_t kernels, cpu_kernels, copies, copy_bytes;
	/* includes memory that has been freed again; 0 for lines of graphs */
	uint64_t allocated_bytes;
	uint64_t backward;		/* backward ops whose forward op was called here */
	int64_t backward_ns;
};

struct source_row {
	const char *file;
	bool library;			/* belongs to an installed package, not to the user */
	uint32_t lines;			/* how many of its lines are known */
	/* nodes of graphs that were made in this file, and how many of them ran */
	uint64_t nodes, ran;
	struct line_cost cost;
};
/* The user's files first, then by time. ops: counts only ops and nodes whose name matches; NULL:
 * all. [locked] */
size_t model_sources(struct model *model, const regex_t *ops, struct source_row **out);

#define LINE_OPS 4u

/* An op that was called in a line; nested ops are counted, too. */
struct line_op {
	const char *name, *raw_name, *type;	/* type NULL: it has no type */
	uint32_t node;	/* the node of a graph that it is joined to, or LINE_NO_NODE */
	uint64_t count;
	int64_t total_ns;
};
#define LINE_NO_NODE UINT32_MAX

struct source_line {
	uint32_t line;
	const char *function;		/* NULL: unknown */
	uint64_t nodes, ran;
	struct line_cost cost;
	uint64_t ops;			/* how many different ops */
	uint32_t n_op;
	struct line_op op[LINE_OPS];	/* the ops with most time, most first */
};
/* The lines of a file, by line; file: as in source_row. [locked] */
size_t model_source_lines(struct model *model, const char *file, struct source_line **out);

/* How much is known: how many ops reported their line; dropped: lines, and pairs of line and op,
 * for which there was no room. */
struct line_counts {
	uint64_t frames, ops, with_line, dropped;
	/* backward ops whose forward op was found, and those whose forward op was not found */
	uint64_t linked, unlinked;
};
void model_line_counts(struct model *model, struct line_counts *out);	/* [locked] */

/* ---- by op ---- */

struct op_place {
	const char *file, *function;
	uint32_t line;
	uint64_t count;
	int64_t total_ns;
};
struct op_shape {
	const char *shapes;		/* NULL: all other shapes, beyond OP_SHAPES */
	uint64_t count;			/* ops that reported these shapes */
	int64_t total_ns, max_ns;
};
struct op_backward {
	const char *name;
	uint64_t count;			/* links, each between an op and its own gradient */
	int64_t total_ns;		/* total time of these backward ops */
};
struct op_frame { const char *file, *function; uint32_t line; };
struct op_slow {
	int64_t start_ns, dur_ns;
	uint32_t pid, tid;
	const char *shapes;		/* NULL: not reported */
	uint32_t n_stack;
	struct op_frame *stack;	/* innermost frame first; stored in the block of op_detail */
};

#define OP_SHAPES 64u
#define OP_SLOWEST 4u
#define STACK_FRAMES 64u

struct op_detail {
	struct op_place *lines;		/* the line with most time first */
	size_t n_lines;
	struct op_shape *shapes;
	size_t n_shapes;
	struct op_backward *backward;
	size_t n_backward;
	/* the slowest runs first; only those that reported a line */
	struct op_slow slow[OP_SLOWEST];
	size_t n_slow;
};
/* Details of all ops with this name (as the framework gives it), type (as in op_row; NULL: any)
 * and framework (FW_NONE: any). false: none has run. op_detail_free() frees the contents of *out.
 * [locked] */
bool model_op_detail(struct model *model, const char *name, const char *type,
		     enum framework framework, struct op_detail *out);
void op_detail_free(struct op_detail *detail);

#endif
