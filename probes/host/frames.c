/* SPDX-License-Identifier: MIT */
#include "probes/host/frames.h"

#include <string.h>

#define STATES_MAX 4096		/* how many thread states are looked through */
#define FRAMES_MAX 256		/* how many frames outwards, for the user's */
#define FRAME_BYTES 80
#define CODE_BYTES 144		/* up to the table of lines, which follows the qualified name */
#define TRIES 3

/* Members of every object, and of a str (PyASCIIObject) and a bytes object. */
#define TYPE_AT 8
#define SIZE_AT 16
#define STR_STATE 32
#define BYTES_DATA 32
#define STATE_NEXT 8

static bool host_copy(struct host_python *py, void *to, uintptr_t from, size_t bytes)
{
	return from >= 4096 && py->read(to, (const void *)from, bytes) == bytes;
}

static uintptr_t host_pointer(struct host_python *py, uintptr_t at)
{
	uintptr_t value;

	return host_copy(py, &value, at, sizeof(value)) ? value : 0;
}

static uintptr_t word_of(const char *copy, int offset)
{
	uintptr_t value;

	memcpy(&value, copy + offset, sizeof(value));
	return value;
}

static int32_t int_of(const char *copy, int offset)
{
	int32_t value;

	memcpy(&value, copy + offset, sizeof(value));
	return value;
}

/* ---- states of threads ---- */

bool host_state_is(struct host_python *py, uintptr_t state, uint32_t tid)
{
	unsigned long native;

	return state && host_copy(py, &native, state + (uintptr_t)py->layout->native,
				  sizeof(native)) && native == tid;
}

uintptr_t host_state_of(struct host_python *py, uint32_t tid)
{
	uintptr_t state = py->first_state;

	for (int i = 0; state && i < STATES_MAX; i++) {
		if (host_state_is(py, state, tid))
			return state;
		state = host_pointer(py, state + STATE_NEXT);
	}
	return 0;
}

/* ---- lines ---- */

/* The line of a place in a code object, of which `code` is a copy. 0: unknown. */
static int32_t host_read_line(struct host_python *py, const char *code, size_t offset)
{
	uintptr_t table = word_of(code, py->layout->qualname + 8);
	char head[BYTES_DATA];
	size_t size;

	if (!host_copy(py, head, table, sizeof(head)) || word_of(head, TYPE_AT) != py->bytes_type)
		return 0;
	size = word_of(head, SIZE_AT);
	if (size > HOST_TABLE || !host_copy(py, py->table, table + BYTES_DATA, size))
		return 0;
	return host_line_at(py->table, size, int_of(code, py->layout->first_line), offset);
}

/* ---- texts ---- */

/* A compact str: kind:3 compact:1 ascii:1 from bit 2 of its state on. */
static bool host_read_text(struct host_python *py, uintptr_t str, char out[HOST_TEXT])
{
	char head[STR_STATE + 8];
	unsigned char data[HOST_TEXT * 4];
	uint32_t state, kind;
	size_t length;

	if (!host_copy(py, head, str, sizeof(head)) || word_of(head, TYPE_AT) != py->str_type)
		return false;
	state = (uint32_t)int_of(head, STR_STATE);
	kind = state >> 2 & 7;
	length = word_of(head, SIZE_AT);
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	if (length > HOST_TEXT)
		length = HOST_TEXT;
	if (!host_copy(py, data, str + (uintptr_t)(state >> 6 & 1 ? py->layout->ascii :
						   py->layout->wide), length * kind))
		return false;
	py_put_text(out, HOST_TEXT, data, kind, length);
	return true;
}

bool host_place_texts(struct host_python *py, const struct host_place *place,
		      char file[HOST_TEXT], char function[HOST_TEXT])
{
	return host_read_text(py, place->filename, file) &&
	       host_read_text(py, place->qualname, function);
}

/* ---- frames ---- */

/* Who the code belongs to; NULL: torn. An entry holds while the code object is the same. */
static const struct host_owner *host_owner_of(struct host_python *py, uintptr_t code,
					       const char *copy)
{
	uint64_t hash = (uint64_t)(code >> 4) * 0x9e3779b97f4a7c15u >> 32;
	struct host_owner *owner = &py->owners[hash & (HOST_OWNERS - 1)], now = {
		.code = code, .filename = word_of(copy, py->layout->filename),
		.qualname = word_of(copy, py->layout->qualname),
		.first_line = int_of(copy, py->layout->first_line),
	};
	char file[HOST_TEXT];

	if (owner->code == code && owner->filename == now.filename &&
	    owner->qualname == now.qualname && owner->first_line == now.first_line)
		return owner;
	if (!host_read_text(py, now.filename, file))
		return NULL;
	now.library = py_is_library(file);
	*owner = now;
	return owner;
}

static uintptr_t current_of(struct host_python *py, uintptr_t state)
{
	const struct py_layout *layout = py->layout;

	if (layout->cframe >= 0)
		state = host_pointer(py, state + (uintptr_t)layout->cframe);
	return state ? host_pointer(py, state + (uintptr_t)layout->current) : 0;
}

/* Looks at one frame, of which `frame` is a copy. HOST_NO_FRAME: it has no code with a place. */
static enum host_found host_look_at_frame(struct host_python *py, const char *frame,
					   struct host_place *out, bool *library)
{
	const struct py_layout *layout = py->layout;
	uintptr_t code = word_of(frame, layout->code);
	const struct host_owner *owner;
	char copy[CODE_BYTES];
	size_t offset, size;

	if ((unsigned char)frame[layout->owner] >= layout->c_owner)
		return HOST_NO_FRAME;
	if (!host_copy(py, copy, code, sizeof(copy)) || word_of(copy, TYPE_AT) != py->code_type)
		return HOST_TORN;
	/* the frame that CPython puts around an __init__ that it calls itself */
	if (word_of(copy, layout->filename) == word_of(copy, layout->qualname))
		return HOST_NO_FRAME;
	size = word_of(copy, SIZE_AT) * 2;
	offset = word_of(frame, layout->instr) - (code + (uintptr_t)layout->bytecode);
	/* before the first instruction it is one place back */
	if (offset == (size_t)-2)
		offset = 0;
	if (offset >= size)
		return HOST_TORN;
	owner = host_owner_of(py, code, copy);
	if (!owner)
		return HOST_TORN;
	*library = owner->library;
	out->code = code;
	out->filename = owner->filename;
	out->qualname = owner->qualname;
	out->first_line = owner->first_line;
	out->line = 0;
	if (!owner->library)
		out->line = host_read_line(py, copy, offset);
	return HOST_PLACE;
}

static enum host_found host_walk(struct host_python *py, uintptr_t at, struct host_place *out)
{
	enum host_found found = HOST_NO_FRAME, one;
	struct host_place place = { 0 };
	char frame[FRAME_BYTES];
	bool library;

	for (int i = 0; at && i < FRAMES_MAX; i++) {
		if (!host_copy(py, frame, at, sizeof(frame)))
			return HOST_TORN;
		one = host_look_at_frame(py, frame, &place, &library);
		if (one == HOST_TORN)
			return HOST_TORN;
		if (one == HOST_PLACE && (found == HOST_NO_FRAME || !library))
			*out = place;
		if (one == HOST_PLACE)
			found = HOST_PLACE;
		if (one == HOST_PLACE && !library)
			break;
		at = word_of(frame, py->layout->previous);
	}
	return found;
}

enum host_found host_place_of(struct host_python *py, uintptr_t state, struct host_place *out)
{
	uintptr_t instr_at = (uintptr_t)py->layout->instr;

	for (int i = 0; i < TRIES; i++) {
		uintptr_t frame = current_of(py, state);
		uintptr_t instr = frame ? host_pointer(py, frame + instr_at) : 0;
		enum host_found found;

		if (!frame)
			return HOST_NO_FRAME;
		found = host_walk(py, frame, out);
		if (found != HOST_TORN) {
			out->frame = frame;
			out->instr = instr;
			out->still = current_of(py, state) == frame &&
				     host_pointer(py, frame + instr_at) == instr;
			return found;
		}
		py->torn++;
	}
	return HOST_TORN;
}
