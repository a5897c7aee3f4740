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
	STACK_FRAME,			/* a function, at the line at which it was */
	/* in place of frames that could not be read, or that changed while they were read */
	STACK_UNKNOWN,
	STACK_STATE			/* what the thread did there; a leaf */
};

#define STACK_NONE UINT32_MAX
#define STACK_DEPTH 260u	/* no node is as deep; what is deeper counts where it is cut off */
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

#endif
