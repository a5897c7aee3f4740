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
	const void *frame, *instr;
	/* rt_source() of the user's line, including its modules (records.h); 0: none */
	uint32_t source;
	bool compiling;		/* torch.compile is compiling code for that line */
};

/* Where the calling thread is now. outer: where it was when it made the call that it is still in,
 * or NULL. If no Python runs in between, the answer is `outer`. */
void py_where(struct py_where *where, const struct py_where *outer);

/* Whether the code of that file belongs to a framework or to Python's own library. */
bool py_is_library(const char *file);

/* The user's line as "FILE:LINE FUNCTION"; "" if there is none. */
void py_text(char *out, size_t size);

/* rt_source() of that line with the whole stack above it, at most 64 frames. 0: the calling thread
 * has left that place. Slow (µs). */
uint32_t py_stack(const struct py_where *where);

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
