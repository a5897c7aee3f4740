/* SPDX-License-Identifier: MIT */
/*
 * What threads of the program did, and where, by looks from beside (docs/host.md): by line, and by
 * call stack. The rules of query.h apply. All functions need the model's lock [locked].
 *
 * A time is counted where the thread was seen, whether a device waited or not. Waited time is that
 * in which a device was idle for the cause host or input and this thread was the one to launch its
 * next work; each of several devices counts for itself.
 */
#ifndef MODEL_QUERY_HOST_H
#define MODEL_QUERY_HOST_H

#include "model/query/query.h"

/* One state at one line, of all threads of a process. */
struct host_line_row {
	uint32_t pid;
	enum doing_kind doing;
	const char *file, *function;	/* "": unknown */
	uint32_t line;
	const char *what;		/* what is waited for: a file, a call; "": unknown */
	uint64_t looks;
	int64_t ns, waited_ns;
};
/* Over the whole run; most waited time first, then most time. *rows is the caller's to free. */
size_t model_host_lines(struct model *model, struct host_line_row **rows);

/* Of which time the stacks are. */
struct stacks_of {
	uint32_t pid, tid;		/* 0: of all threads */
	/* only the time in which a device waited for the thread; of the whole run only */
	bool waited;
	int64_t from_ns, to_ns;		/* to_ns <= from_ns: the whole run */
};

enum stack_node_kind {
	STACK_THREAD,			/* a root */
	/* a function, at the line at which it was; one of native code has no line, and the path of
	 * its library for a file */
	STACK_FRAME,
	/* in place of frames that could not be read, or that changed while they were read */
	STACK_UNKNOWN,
	STACK_STATE			/* what the thread did there; a leaf */
};

#define STACK_NONE UINT32_MAX
#define STACK_DEPTH 390u	/* no node is as deep; what is deeper counts where it is cut off */
struct stack_node {
	enum stack_node_kind kind;
	uint32_t parent;		/* an index; STACK_NONE: it is a root */
	uint32_t depth;			/* 0: a root */
	uint32_t end;			/* the index behind the last node below it */
	uint32_t pid, tid;
	const char *thread;		/* of a root: its name; "": it has none */
	const char *file, *function;	/* of a frame */
	uint32_t line;			/* 0: unknown */
	bool library;			/* the file belongs to an installed package */
	enum doing_kind doing;		/* of a state */
	const char *what;		/* of a state; "": unknown */
	int64_t ns;			/* of all states below it */
};
/* The trees of calls, in preorder, of siblings the one with most time first. Strings are the
 * model's. *nodes is the caller's to free. Returns how many nodes there are; 0: no thread was
 * looked at in that time. */
size_t model_stacks(struct model *model, const struct stacks_of *of, struct stack_node **nodes);

/* One state at one line. Strings are the model's. */
struct host_state {
	enum doing_kind doing;
	const char *file, *function;	/* "": unknown */
	uint32_t line;
	const char *what;		/* what is waited for; "": unknown, or several */
	/* the task of asyncio that it was in, "task NAME"; "": none, several, or of a column */
	const char *task;
	int64_t ns;			/* how much of the time; 0: nothing is known */
	int64_t at_ns;			/* seen at this moment only; 0: all along */
};

/*
 * Column i of n, from t0_ns on and w_ns > 0 wide, of a thread's row: the state with most time in
 * it, at the line at which it had most. Of a time that several states share it is not known which
 * came first: each counts as if it had its share of every moment. A look that stands for its moment
 * counts there with all of its weight, so that ns may exceed the column.
 * For other rows all columns are unknown. Of a column's lines the first STATE_LINES are told apart.
 * O(n + parts that touch the columns). [locked]
 */
#define STATE_LINES 192u
void model_host_states(struct model *model, uint32_t row, int64_t t0_ns, int64_t w_ns, size_t n,
			 struct host_state *out);

/*
 * What a thread did at t_ns: in [*from_ns, *to_ns), or in the time of which the states at t_ns have
 * shares, if that is longer; it is then written there. Most time first, at most max (> 0); *others:
 * how much time the others have. 0: nothing is known. [locked]
 */
size_t model_host_doing(struct model *model, uint32_t row, int64_t t_ns, int64_t *from_ns,
			  int64_t *to_ns, struct host_state *out, size_t max,
			  int64_t *others_ns);

#endif
