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
#define PYTHON_3_15 0x030f02f0ul

#define PYTHON_3_13T (0x030d0cf0ul | PYTHON_WITHOUT_GIL)
#define PYTHON_3_14T (PYTHON_3_14 | PYTHON_WITHOUT_GIL)
/* what these numbers have of a build without a GIL, which is no part of its version */
#define PYTHON_WITHOUT_GIL (UINT64_C(1) << 32)

/* What the Python of that version says, with its debug offsets in runtime[]; *version becomes what
 * its variable Py_Version is. */
struct py_said python_said(unsigned long *version, char runtime[PY_RUNTIME_BYTES]);

/* The layout of that version, valid until the process ends; NULL: unknown. */
const struct py_layout *python_layout(unsigned long version);

#endif
