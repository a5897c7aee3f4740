/* SPDX-License-Identifier: MIT */
/*
 * Where the members of CPython's structures are. Up to 3.12 that is known for each version; from
 * 3.13 on Python itself says most of it, in its debug offsets (debug_offsets.c). Whoever uses it
 * tests it on the Python that is there: layout.c with Python's own functions, probes/host by the
 * types of the objects that it finds. Sources: CPython's Include/cpython/code.h, frameobject.h and
 * pystate.h, Include/internal/pycore_frame.h and Objects/frameobject.c of each version; for the
 * tables of lines Objects/lnotab_notes.txt (3.8 to 3.10) and Objects/locations.md (3.11 on).
 *
 * Up to 3.10 a frame is an object on the heap, and its bytecode is an object of bytes beside the
 * code object; from 3.11 on frames lie on a stack of each thread and bytecode lies in the code
 * object. The members of struct py_layout describe both, so that no other file asks for a version.
 */
#ifndef PROBES_PYTHON_KNOWN_H
#define PROBES_PYTHON_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The forms of a function's table of lines: co_lnotab, co_linetable of PEP 626, and that of PEP 657
 * (Objects/locations.md). */
enum py_lines { PY_LINES_STEPS, PY_LINES_RANGES, PY_LINES_LOCATIONS };

#define PY_FRAME_BYTES 120	/* of frame_bytes, the largest */
#define PY_CODE_BYTES 240	/* of code_bytes, the largest */

/* Offsets in bytes; -1: there is no such member. */
struct py_layout {
	uint32_t version;	/* Py_Version >> 16 */

	/* members of any object: its type; and what comes behind all that every object has. There
	 * are the length of a str, the value of a cell, and the size of an object that has one: of
	 * a tuple and of bytes in items, of code in instructions. 8 bytes further is a type's
	 * name, and the lowest digit of an int; 16 bytes further are the bytes of bytes, and the
	 * state of a str */
	int ob_type, head;
	int items;		/* of a tuple */
	/* how many bits of a str's state come before those that say how wide its characters are */
	unsigned str_kind;
	/* where the text of a str is: of a compact ASCII one, of another compact one */
	int ascii, wide;

	/* thread state -> [cframe ->] current frame */
	int cframe, current;
	/* thread state -> the kernel's id of its thread, or, if posix is set, what pthread_self()
	 * is in it */
	int id;
	bool posix;

	/* members of a frame. type: frames are objects with this type, whose memory can become a
	 * frame of any other thread */
	int type, code, instr, previous, owner, locals;
	/* A reference in a frame, to its code or a local, is an address in which these bits may be
	 * set. Where there are such bits, one with the two lowest bits set is a number. */
	uintptr_t tags;
	int frame_bytes;	/* of a frame, from its start, that hold all of these but locals */
	/* `instr` is the number of an instruction, of so many bytes each; 0: its address */
	int unit;
	/* `owner` is a byte which says whose the frame is, or, in an object, whether it runs. Of
	 * frames that have no code it is c_owner or more. Of a frame that may be without a caller,
	 * and of an object that runs, it is `whole`; other frames without a caller are suspended,
	 * or have ended. */
	int c_owner, whole;

	/* members of a code object; its table of lines follows `name` */
	int bytecode, filename, name, first_line, n_locals;
	int code_bytes;		/* of one, from its start, that hold all of these but bytecode */
	/* Of builds without a GIL, in which each thread has its own copy of a function's bytecode:
	 * code object -> an array, whose first word says how many there are and whose next ones
	 * are their addresses; and frame -> the number of its copy, an int. Number 0 is
	 * `bytecode`. -1: there are no copies. */
	int copies, copy;
	/* `bytecode` is the address of an object of bytes, not the first instruction itself */
	bool apart;
	const char *attribute;	/* the name of `name` in Python */
	enum py_lines lines;
	/* Three members that follow each other: the names of the variables that are of an outer
	 * function, those that inner functions use, and which arguments are among these. Their
	 * cells come after the locals in a frame. -1: they are among the locals. */
	int cells;

	/* interpreter -> whether it collects garbage, an int; -1: unknown */
	int collecting;
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

/* The object that a reference in a frame leads to; 0: there is none. */
static inline uintptr_t py_reference(const struct py_layout *layout, const char *frame, int offset)
{
	uintptr_t reference = py_word(frame, offset);

	return layout->tags && (reference & 3) == 3 ? 0 : reference & ~layout->tags;
}

static inline uintptr_t py_code(const struct py_layout *layout, const char *frame)
{
	return py_word(frame, layout->code) & ~layout->tags;
}

#define PY_CODE_BITS 16		/* a code object is at a multiple of 16: with this, 1 MB is free */

/* A number of the instruction that a frame is at, which no instruction of another function has. */
static inline uintptr_t py_instr(const struct py_layout *layout, const char *frame)
{
	if (!layout->unit)
		return py_word(frame, layout->instr);
	return (py_code(layout, frame) << PY_CODE_BITS) +
	       (uintptr_t)((intptr_t)py_int(frame, layout->instr) * layout->unit);
}

/* The number of the function's first instruction, as py_instr() has it; in copy 0 of them. */
static inline uintptr_t py_first(const struct py_layout *layout, uintptr_t code)
{
	return layout->unit ? code << PY_CODE_BITS : code + (uintptr_t)layout->bytecode;
}

/* In which copy of its function's bytecode a frame is. */
static inline int32_t py_copy(const struct py_layout *layout, const char *frame)
{
	return layout->copies < 0 ? 0 : py_int(frame, layout->copy);
}

/* What a Python says of itself. */
struct py_said {
	const unsigned long *version;	/* its variable Py_Version; NULL: none, as before 3.11 */
	/* Py_GetVersion(), which is asked where there is no variable. It writes a constant text
	 * into a buffer of its own and needs no lock. */
	const char *(*text)(void);
	/* a copy of the first bytes of its variable _PyRuntime; NULL: there is none */
	const char *runtime;
	size_t runtime_bytes;		/* of that copy; PY_RUNTIME_BYTES are enough */
	size_t runtime_size;		/* of the variable; 0: unknown */
};
#define PY_RUNTIME_BYTES 1024

/* Its layout. false: the version is unknown, or what it says of itself does not agree. */
bool py_layout_here(struct py_layout *layout, const struct py_said *said);
/* The same for a version that has debug offsets. */
bool py_layout_said(struct py_layout *layout, const struct py_said *said);

/* The line of the instruction at `offset` bytes, of a function that begins at first_line; 0: it has
 * none, or the table ends before. The last line of a table of steps goes on to the end. */
int32_t py_line_at(enum py_lines form, const uint8_t *table, size_t size, int32_t first_line,
		   size_t offset);

/* Writes the first `length` characters of a compact str as UTF-8, as far as they fit into size
 * bytes with a zero at the end. data: its characters, of `kind` bytes each (1, 2 or 4). */
void py_put_text(char *out, size_t size, const unsigned char *data, uint32_t kind, size_t length);

/* Whether the code of that file belongs to a framework or to Python's own library. */
bool py_is_library(const char *file);
/* Whether it only runs while something is compiled or traced. function: with or without its class;
 * "": any, of files whose functions all do. */
bool py_compiles(const char *file, const char *function);

#endif
