/* SPDX-License-Identifier: MIT */
#include "probes/host/frames.h"

#include <string.h>

#include "probes/host/frames_read.h"
#include "probes/host/tasks.h"
#include "probes/schema/records.h"

#define STATES_MAX 4096		/* how many thread states are looked through */
#define TRIES 3			/* at what can be read at all */

#define OBJECT_BYTES 56		/* more than the first members of a str or a bytes object take */

bool host_copy(struct host_python *py, void *to, uintptr_t from, size_t bytes)
{
	struct iovec there = { (void *)from, bytes }, here = { to, bytes };

	return from >= 4096 && py->read(&here, &there, 1);
}

uintptr_t host_pointer(struct host_python *py, uintptr_t at)
{
	uintptr_t value;

	return host_copy(py, &value, at, sizeof(value)) ? value : 0;
}

/* ---- states of threads ---- */

uintptr_t host_thread_id(const struct host_python *py, uint32_t tid, uintptr_t self)
{
	return py->layout->posix ? self : tid;
}

bool host_state_is(struct host_python *py, uintptr_t state, uintptr_t id)
{
	return state && id && host_pointer(py, state + (uintptr_t)py->layout->id) == id;
}

uintptr_t host_state_next(struct host_python *py, uintptr_t state)
{
	return host_pointer(py, state + HOST_STATE_NEXT);
}

bool host_state_linked(struct host_python *py, uintptr_t state)
{
	uintptr_t before = host_pointer(py, state + HOST_STATE_PREVIOUS);

	return before ? host_state_next(py, before) == state : state == py->first_state;
}

bool host_state_listed(struct host_python *py, uintptr_t state)
{
	uintptr_t at = py->first_state;

	for (int i = 0; at && at != state && i < STATES_MAX; i++)
		at = host_state_next(py, at);
	return at && at == state;
}

uintptr_t host_state_of(struct host_python *py, uintptr_t id)
{
	uintptr_t state = py->first_state;

	for (int i = 0; state && id && i < STATES_MAX; i++) {
		struct { uintptr_t id, next; } word;
		struct iovec to[] = { { &word.id, 8 }, { &word.next, 8 } };
		struct iovec from[] = {
			{ (void *)(state + (uintptr_t)py->layout->id), 8 },
			{ (void *)(state + HOST_STATE_NEXT), 8 },
		};

		if (state < 4096 || !py->read(to, from, 2))
			return 0;
		if (word.id == id)
			return state;
		state = word.next;
	}
	return 0;
}

/* ---- lines ---- */

/* How long an object of bytes is. false: it is none. */
static bool host_bytes_size(struct host_python *py, uintptr_t bytes, size_t *size)
{
	char head[OBJECT_BYTES];

	if (!host_copy(py, head, bytes, (size_t)py->layout->head + 8) ||
	    py_word(head, py->layout->ob_type) != py->bytes_type)
		return false;
	*size = py_word(head, py->layout->head);
	return true;
}

/* The line of a place; 0: it has none, or it cannot be read. */
static int32_t host_place_line(struct host_python *py, const struct host_place *place)
{
	uintptr_t table = host_pointer(py, place->code + (uintptr_t)py->layout->name + 8);
	size_t size;

	if (!host_bytes_size(py, table, &size) || size > HOST_TABLE ||
	    !host_copy(py, py->table, table + (uintptr_t)py->layout->head + 16, size))
		return 0;
	return py_line_at(py->layout->lines, py->table, size, place->first_line, place->offset);
}

/* ---- texts ---- */

/* A compact str (PyASCIIObject): its state has the bits kind:3 compact:1 ascii:1. */
static bool host_read_text(struct host_python *py, uintptr_t str, char out[HOST_TEXT])
{
	const struct py_layout *layout = py->layout;
	char head[OBJECT_BYTES];
	unsigned char data[HOST_TEXT * 4];
	uint32_t state, kind;
	size_t length;

	if (!host_copy(py, head, str, (size_t)layout->head + 24) ||
	    py_word(head, layout->ob_type) != py->str_type)
		return false;
	state = (uint32_t)py_int(head, layout->head + 16) >> layout->str_kind;
	kind = state & 7;
	length = py_word(head, layout->head);
	if (!(state >> 3 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	if (length > HOST_TEXT)
		length = HOST_TEXT;
	if (!host_copy(py, data, str + (uintptr_t)(state >> 4 & 1 ? layout->ascii : layout->wide),
		       length * kind))
		return false;
	py_put_text(out, HOST_TEXT, data, kind, length);
	return true;
}

/* Whether the code is still there, so that what was read by way of it before is right: memory that
 * was given back could hold anything meanwhile. */
static bool host_code_lives(struct host_python *py, uintptr_t code, uintptr_t filename,
			    uintptr_t name)
{
	const struct py_layout *layout = py->layout;
	char head[OBJECT_BYTES];
	uintptr_t count;

	if (!host_copy(py, head, code, (size_t)layout->head) ||
	    py_word(head, layout->ob_type) != py->code_type)
		return false;
	/* In memory that was given back, the count of references is the address of more of it, or
	 * 0. Builds without the GIL begin with something else. */
	count = py_word(head, 0);
	if (layout->ob_type == 8 && (!(uint32_t)count || (count >> 32 & 0xffff)))
		return false;
	return host_pointer(py, code + (uintptr_t)layout->filename) == filename &&
	       host_pointer(py, code + (uintptr_t)layout->name) == name;
}

bool host_place_read(struct host_python *py, const struct host_place *place, char file[HOST_TEXT],
		     char function[HOST_TEXT], int32_t *line)
{
	if (!host_read_text(py, place->filename, file) ||
	    !host_read_text(py, place->name, function))
		return false;
	*line = host_place_line(py, place);
	return host_code_lives(py, place->code, place->filename, place->name);
}

/* ---- frames ---- */

/* Who the code belongs to; NULL: torn. An entry holds while the code object is the same. */
static const struct host_owner *host_owner_of(struct host_python *py, uintptr_t code,
					       const char *copy)
{
	uint64_t hash = (uint64_t)(code >> 4) * 0x9e3779b97f4a7c15u >> 32;
	struct host_owner *owner = &py->owners[hash & (HOST_OWNERS - 1)], now = {
		.code = code, .filename = py_word(copy, py->layout->filename),
		.name = py_word(copy, py->layout->name),
		.bytecode = py->layout->apart ? py_word(copy, py->layout->bytecode) : 0,
		.first_line = py_int(copy, py->layout->first_line),
	};
	char file[HOST_TEXT], name[HOST_TEXT];

	if (owner->code == code && owner->filename == now.filename && owner->name == now.name &&
	    owner->bytecode == now.bytecode && owner->first_line == now.first_line)
		return owner;
	/* bytecode that is no object of its own is counted in instructions */
	now.size = py_word(copy, py->layout->head) * 2;
	if ((py->layout->apart && !host_bytes_size(py, now.bytecode, &now.size)) ||
	    !host_read_text(py, now.filename, file))
		return NULL;
	now.library = py_is_library(file);
	if (!host_read_text(py, now.name, name))
		*name = '\0';
	if (!host_code_lives(py, code, now.filename, now.name))
		return NULL;
	if (py_compiles(file, name))
		now.within = TFT_DOING_COMPILE;
	else if (!strcmp(file, "<frozen importlib._bootstrap>") && !strcmp(name, "_find_and_load"))
		now.within = TFT_DOING_IMPORT;
	if (host_task_is_asyncio(file)) {
		now.handle = !strcmp(name, "Handle._run") || !strcmp(name, "_run");
		now.runner = !strcmp(name, "Runner.run");
	}
	*owner = now;
	return owner;
}

/* The first instruction of the copy of the bytecode in which the frame is, by a copy of the code
 * object; 0: torn. The thread that runs the function for the first time puts a longer array in the
 * place of that one. */
static uintptr_t host_first_of(struct host_python *py, const struct host_frame *frame,
			       const char *copy)
{
	uintptr_t array, again, n, first, number = (uintptr_t)frame->copy;
	struct iovec to[] = { { &n, 8 }, { &first, 8 }, { &again, 8 } }, from[3];

	if (!frame->copy)
		return py_first(py->layout, frame->code);
	array = py_word(copy, py->layout->copies);
	from[0] = (struct iovec) { (void *)array, 8 };
	from[1] = (struct iovec) { (void *)(array + 8 + number * 8), 8 };
	from[2] = (struct iovec) { (void *)(frame->code + (uintptr_t)py->layout->copies), 8 };
	return frame->copy > 0 && py->read(to, from, 3) && number < n && again == array ? first : 0;
}

/* Looks up one frame, of whose code object `copy` is a copy. HOST_NO_FRAME: it has no code with a
 * place. */
static enum host_found host_look_up(struct host_python *py, const struct host_frame *frame,
				    const char *copy, struct host_place *out)
{
	const struct py_layout *layout = py->layout;
	const struct host_owner *owner;
	uintptr_t first;
	intptr_t offset;

	if (frame->shim)
		return HOST_NO_FRAME;
	if (py_word(copy, layout->ob_type) != py->code_type)
		return HOST_TORN;
	/* the frame that CPython puts around an __init__ that it calls itself */
	if (py_word(copy, layout->filename) == py_word(copy, layout->name))
		return HOST_NO_FRAME;
	owner = host_owner_of(py, frame->code, copy);
	if (owner && owner->handle)
		py->tasks.run_code = frame->code;
	if (owner && owner->runner)
		py->tasks.runner_code = frame->code;
	first = owner ? host_first_of(py, frame, copy) : 0;
	if (!first)
		return HOST_TORN;
	offset = (intptr_t)(frame->instr - first);
	/* before the first instruction it is one place back */
	if (offset == -(layout->unit ? layout->unit : 2))
		offset = 0;
	if (offset < 0 || (size_t)offset >= owner->size || offset > UINT32_MAX)
		return HOST_TORN;
	*out = (struct host_place) {
		.code = frame->code, .filename = owner->filename, .name = owner->name,
		.offset = (uint32_t)offset, .first_line = owner->first_line,
		.library = owner->library, .within = owner->within, .moved = frame->moved,
	};
	return HOST_PLACE;
}

/* The places of the frames; from number `sure` on outwards it is known who called whom. */
static enum host_found host_look_up_all(struct host_python *py, uint32_t sure,
					struct host_stack *out)
{
	const struct host_frames *frames = &py->before;
	bool user = false;
	uint32_t i;

	out->n = out->user = 0;
	out->sure = out->task = HOST_FRAMES;
	for (i = 0; i < frames->n; i++) {
		const struct host_frame *frame = &frames->frame[i];
		struct host_place *place = &out->place[out->n];
		const char *code = frame->shim ? NULL : host_frames_code(py, i);
		enum host_found found = HOST_TORN;

		if (frame->shim || code)
			found = host_look_up(py, frame, code, place);
		if (found == HOST_TORN && !user)
			return HOST_TORN;
		if (found == HOST_TORN)
			break;
		if (i >= sure && out->sure > out->n)
			out->sure = out->n;
		if (found == HOST_NO_FRAME)
			continue;
		if (!user && !place->library) {
			user = true;
			out->user = out->n;
		}
		if (i == py->task.frame)
			out->task = out->n;
		out->n++;
	}
	if (i < frames->n || frames->more || out->sure > out->n || frames->frame[i - 1].suspended)
		out->sure = out->n;	/* the outer ones are missing */
	out->within = TFT_DOING_OTHER;
	if (out->task > out->n)
		out->task = out->n;
	for (i = out->sure; i < out->n && !out->within; i++)
		out->within = out->place[i].within;
	return out->n ? HOST_PLACE : HOST_NO_FRAME;
}

enum host_found host_stack_of(struct host_python *py, uintptr_t state, struct host_stack *out)
{
	enum host_found found = HOST_TORN;
	uint32_t sure = 1;

	for (int i = 0; i < TRIES && found == HOST_TORN; i++) {
		if (!host_frames_begin(py, state))
			continue;
		if (!py->before.n)
			return HOST_NO_FRAME;
		host_task_find(py, state);
		/* not again until all is sure: short functions would never be seen */
		sure = host_frames_again(py, state);
		host_task_again(py);
		if (host_frames_are_its(py))
			found = host_look_up_all(py, sure, out);
	}
	if (found == HOST_TORN || sure)
		py->torn++;
	if (found == HOST_PLACE) {
		out->frame = py->before.frame[0].at;
		out->instr = py->before.frame[0].instr;
		out->task_name = py->task.name;
		out->still = host_frame_is(py, state, out->frame, out->instr) && py->still;
	}
	return found;
}
