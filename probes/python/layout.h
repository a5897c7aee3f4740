/* SPDX-License-Identifier: MIT */
/*
 * How CPython lays out its frames and what they consist of. Which of the known layouts (known.h)
 * applies is tested once (py_start in layout.c). For python.c only.
 */
#ifndef PROBES_PYTHON_LAYOUT_H
#define PROBES_PYTHON_LAYOUT_H

#include <stdint.h>
#include <string.h>

#include "probes/python/known.h"

#define PY_TEXT_BYTES 512
#define PY_FRAMES_MAX 1024	/* how many frames are examined, from the innermost one outwards */

extern const struct py_layout *py_known;	/* NULL: lines cannot be read */
/* the type of cells, which hold locals that inner functions share */
extern const void *py_cell;
extern void *(*py_this_state)(void);

static inline const char *py_pointer(const char *p, int offset)
{
	return (const char *)py_word(p, offset);
}

/* The type of an object. */
static inline const char *py_type(const char *object)
{
	return py_pointer(object, py_known->ob_type);
}

static inline const char *py_type_name(const char *type)
{
	return py_pointer(type, py_known->head + 8);
}

/* The line of a frame with that code; 0: its instruction has none. */
int32_t py_line_of(const char *frame, const char *code);

/* How many items a tuple has. */
static inline int64_t py_tuple_size(const char *tuple)
{
	return (int64_t)py_word(tuple, py_known->head);
}

/* The text of a compact str; "" if it is not compact. */
void py_text_of(const char *str, char out[PY_TEXT_BYTES]);

#endif
