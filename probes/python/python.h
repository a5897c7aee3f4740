/* SPDX-License-Identifier: MIT */
/*
 * Finds the line of Python that the calling thread is in, without the GIL. A part of the probes for
 * Python's frameworks, not a library of its own.
 *
 * Idea: a thread that is inside a function called from Python owns its frames, and each frame holds
 * its code object. So the thread can read them from memory, whoever has the GIL. The offsets of the
 * fields are known for some versions of CPython and are tested before use (py_start); with a
 * version that is unknown or differs, there are no lines.
 *
 * The line of a frame is looked up once for each place in the code. After that a call takes 20 to
 * 40 ns with a handful of library frames above the user's (10 ns and more per frame if caches are
 * cold). The user's frame is the innermost one that belongs neither to a framework (pytorch,
 * tensorflow, keras, jax, numpy) nor to Python's own library; without such a frame, it is the
 * innermost one.
 *
 * walk.h is another way to the same line, for Python versions without a known layout. It calls
 * functions of Python, which is too slow for each call of an op.
 *
 * Threads: any thread of the program, in a call that Python made; elsewhere there is no line.
 * Nothing is allocated, locked or reference-counted in Python.
 */
#ifndef PROBES_PYTHON_PYTHON_H
#define PROBES_PYTHON_PYTHON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be called with the GIL, in a call from Python. NULL: lines can be read; otherwise the reason
 * as a clause, a constant. */
const char *py_start(void);
/* The same, on any thread, as soon as Python's main thread is between two instructions; then told()
 * gets the answer: NULL or the reason. */
void py_start_soon(void (*told)(const char *why));
/* To be called now and then: reports it if that takes long. */
void py_start_look(int64_t now_ns);

/* Where a thread was when it called something. */
struct py_where {
	const void *frame;
	uintptr_t instr;	/* a number of the instruction that the frame was at */
	/* rt_source() of the user's line, including its modules (records.h); 0: none */
	uint32_t source;
	bool compiling;		/* torch.compile is compiling code for that line */
	/* Frames, NULL: none, among the innermost 128. request: of the outermost function named
	 * "generate"; pass: of the outermost call of a module of torch.nn, inside that. */
	const void *request, *pass;
	/* a hash of all frames with their places and modules; 0: they were not looked at */
	uint64_t chain;
};

/* Where the calling thread is now. outer: where it was when it made the call that it is still in,
 * or NULL. If no Python runs in between, the answer is `outer`. */
void py_where(struct py_where *where, const struct py_where *outer);

/* The user's line as "FILE:LINE FUNCTION"; "" if there is none. */
void py_text(char *out, size_t size);

/* rt_source() of that line with the whole stack above it, at most 64 frames. 0: the calling thread
 * has left that place. Slow (µs). */
uint32_t py_stack(const struct py_where *where);

/* Whether `request`, `pass` and `chain` are needed. Without, and as long as the program calls no
 * modules, only the frames up to the user's line are looked at. */
void py_want_calls(bool whether);

/* The module that a call is about, and the name of its class; NULL: unknown. */
const void *py_module(const void *pass, const char **class);
/* The name of the function of a frame in `where`. */
void py_function(const void *frame, char *out, size_t size);

/* ---- again.c ---- */

#define PY_LOOK_FRAMES 16
#define PY_LOOK_INTS 8

/* Which locals of the frames from one that is given inwards have a value, and the small integers
 * among them: what a call of a function changes as it goes on. */
struct py_look {
	uint64_t set[PY_LOOK_FRAMES];
	uint32_t ints[PY_LOOK_INTS];
	uint32_t n_ints;
};
/* where: of the calling thread, now; from: a frame of where. */
void py_look(struct py_look *look, const struct py_where *where, const void *from);
/* Whether a frame at the same place, with the same chain as at its first look, is still the call
 * that was looked at first and last; false: as far as can be told it is another call. */
bool py_same_call(const struct py_look *first, const struct py_look *last,
		  const struct py_look *now);
/* Gives out the locals of these frames that have that type, in order, and what tuples among them
 * hold, until take() returns true. Returns whether it did. */
bool py_each_local(const struct py_where *where, const void *from, const char *type,
		   bool (*take)(const void *object, void *arg), void *arg);

/* ---- slowest.c ---- */

#define PY_SLOWEST 4		/* tftop shows this many for each name */

/* The slowest runs of an op's name: the durations of those whose stacks were sent. */
struct py_slowest {
	_Atomic uint32_t name;		/* rt_name(); 0: unused */
	_Atomic int64_t least_ns;	/* the smallest of ns[]; 0: there is room */
	int64_t ns[PY_SLOWEST];
};
/* Valid as long as the process lives; NULL: no room. */
struct py_slowest *py_slowest(uint32_t name);
/* A run that takes longer than this is sent with a stack; s may be NULL. */
static inline int64_t py_slow_ns(const struct py_slowest *s)
{
	return s ? atomic_load_explicit(&s->least_ns, memory_order_relaxed) : INT64_MAX;
}
/* py_stack() for an op of that name that took dur_ns; 0: none. Stacks may take 20 ms at once, and
 * 1/500 of the time in the long run; beyond that none are sent. */
uint32_t py_slow_stack(struct py_slowest *s, int64_t dur_ns, const struct py_where *where);

#endif
