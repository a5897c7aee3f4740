/* SPDX-License-Identifier: MIT */
/*
 * What CPythons say of themselves (struct py_said), for tests without one: their version and, from
 * 3.13 on, the debug offsets that a build of that version had.
 */
#ifndef TESTS_UNIT_PYTHON_SAID_H
#define TESTS_UNIT_PYTHON_SAID_H

#include "probes/python/known.h"

#define PYTHON_3_13 0x030d00f0ul
#define PYTHON_3_14 0x030e09f0ul

/* What the Python of that version says, with its debug offsets (NULL: without) in runtime[]. */
struct py_said python_said(const unsigned long *version, char runtime[PY_RUNTIME_BYTES]);

/* The layout of that version, valid until the process ends; NULL: unknown. */
const struct py_layout *python_layout(unsigned long version);

#endif
