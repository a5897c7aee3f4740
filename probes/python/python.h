/* SPDX-License-Identifier: MIT */
/*
 * The line of Python that the calling thread is in, read without the GIL. A part
 * of the probes of Python's frameworks, not a library of its own.
 *
 * Idea: a thread that is inside of a function called from Python owns its frames,
 * and each holds its code object, so that they can be read as they lie, whoever
 * has the GIL. Where the fields are is known for some versions of CPython and
 * tried out before use (py_start); a version that is not known, or differs, has no
 * lines.
 *
 * A frame's line is looked up once for each place in the code (20 to 40 ns a call
 * from then on, for a handful of frames of libraries on the way; 10 ns and more a
 * frame where caches are cold). The user's frame
 * is the innermost one that is neither of a framework (pytorch, tensorflow, keras,
 * jax, numpy) nor of Python's own library; where there is none, the innermost.
 *
 * Threads: any thread of the program, in a call that Python made, or in none (then
 * there is no line). Nothing is allocated, locked or counted in Python.
 */
#ifndef PROBES_PYTHON_PYTHON_H
#define PROBES_PYTHON_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With the GIL, in a call from Python. NULL: lines can be read; else why not, one
 * clause, a literal. */
const char *py_start(void);

/* Where a thread was when it called something. */
struct py_where {
	const void *frame, *instr;
	uint32_t source;	/* rt_source() of the user's line, 0: none */
	bool compiling;		/* torch.compile is at work for that line */
};

/* Where the calling thread is now. outer: where it was when it called what it is
 * still inside of, or NULL: then that is the answer if no Python runs in between. */
void py_where(struct py_where *where, const struct py_where *outer);

/* The user's line as "FILE:LINE FUNCTION", "" when there is none. */
void py_text(char *out, size_t size);

/* rt_source() of the user's line with all that called it; slow (µs). */
uint32_t py_stack(void);

#endif
