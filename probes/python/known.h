/* SPDX-License-Identifier: MIT */
/*
 * What is known of the versions of CPython: where the members of its structures are. Whoever uses
 * it tests it on the Python that is there: layout.c with Python's own functions, probes/host by the
 * types of the objects that it finds. Sources: CPython's Include/cpython/code.h,
 * Include/internal/pycore_frame.h and Include/cpython/pystate.h of each version.
 */
#ifndef PROBES_PYTHON_KNOWN_H
#define PROBES_PYTHON_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Offsets in bytes. */
struct py_layout {
	uint32_t version;	/* Py_Version >> 16 */
	int cframe, current;	/* thread state -> [cframe ->] current frame */
	int code, instr, previous, owner, locals;	/* members of a frame */
	int c_owner;		/* owner of frames that have no code */
	int bytecode, filename, qualname, first_line;	/* members of a code object */
	/* where the text of a str is: of a compact ASCII one, of another compact one */
	int ascii, wide;
	int native;		/* thread state -> the kernel's id of its thread */
};

/* Members of a structure or of a copy of one. */
static inline uintptr_t py_word(const char *p, int offset)
{
	uintptr_t value;

	memcpy(&value, p + offset, sizeof(value));
	return value;
}

static inline int32_t py_int(const char *p, int offset)
{
	int32_t value;

	memcpy(&value, p + offset, sizeof(value));
	return value;
}

/* NULL: that version is unknown. version: Py_Version. */
const struct py_layout *py_layout_of(unsigned long version);

/* Writes the first `length` characters of a compact str as UTF-8, as far as they fit into size
 * bytes with a zero at the end. data: its characters, of `kind` bytes each (1, 2 or 4). */
void py_put_text(char *out, size_t size, const unsigned char *data, uint32_t kind, size_t length);

/* Whether the code of that file belongs to a framework or to Python's own library. */
bool py_is_library(const char *file);

#endif
