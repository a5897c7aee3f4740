/* SPDX-License-Identifier: MIT */
#include "tests/unit/host_world.h"

#include <string.h>

#include "tests/unit/test.h"

static char world[WORLD];
unsigned world_mutations;
bool world_stack;

/* What the program would do meanwhile: pointers and places of frames change. */
static void mutate(void)
{
	for (unsigned i = 0; i < world_mutations; i++)
		world[FRAMES_AT + test_below(CODES_AT - FRAMES_AT)] = (char)test_below(256);
}

bool world_read(const struct iovec *to, const struct iovec *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uintptr_t at = (uintptr_t)from[i].iov_base;
		size_t bytes = from[i].iov_len;

		CHECK_INT(bytes, to[i].iov_len);
		if (at < WORLD_AT || at - WORLD_AT >= WORLD || bytes > WORLD - (at - WORLD_AT))
			return false;
		memcpy(to[i].iov_base, world + (at - WORLD_AT), bytes);
		mutate();
	}
	return true;
}

void world_put(uintptr_t at, int offset, uint64_t value, size_t bytes)
{
	memcpy(world + (at - WORLD_AT) + offset, &value, bytes);
}

uintptr_t world_code(uint32_t i)
{
	return WORLD_AT + CODES_AT + i * 0x200;
}

uintptr_t world_frame(uint32_t i)
{
	return WORLD_AT + FRAMES_AT + (world_stack ? 3 - i : i) * 0x80;
}

uintptr_t world_copies(uint32_t i)
{
	return WORLD_AT + COPIES_AT + i * 0x40;
}

uintptr_t world_bytecode(const struct py_layout *layout, uint32_t code, int32_t copy)
{
	uintptr_t own = world_code(code) + (uintptr_t)layout->bytecode;

	return copy ? UINT64_C(0x7f0000200000) + code * 0x1000 : own;
}

void world_put_str(const struct py_layout *layout, uintptr_t at, const char *text)
{
	world_put(at, layout->ob_type, STR_TYPE, 8);
	world_put(at, layout->head, strlen(text), 8);
	world_put(at, layout->head + 16, 25u << layout->str_kind, 4);	/* 1 byte, compact, ASCII */
	memcpy(world + (at - WORLD_AT) + layout->ascii, text, strlen(text));
}

/* Each function has 10 instructions of 2 bytes, two on each of 5 lines. */
static size_t put_lines(enum py_lines form, char *to)
{
	static const uint8_t locations[] = {
		0x80 | 11 << 3 | 1, 0, 4,		/* one line on, columns 0 to 4 */
		0x80 | 11 << 3 | 1, 0, 4,
		0x80 | 13 << 3 | 1, 2,			/* the same, without columns */
		0x80 | 14 << 3 | 1, 2, 0, 1, 5,		/* with everything */
		0x80 | 13 << 3 | 1, 2,
	};
	static const uint8_t ranges[] = { 4, 1, 4, 1, 4, 1, 4, 1, 4, 1 };
	static const uint8_t steps[] = { 0, 1, 4, 1, 4, 1, 4, 1, 4, 1 };
	static const struct {
		const uint8_t *table;
		size_t size;
	} forms[] = {
		[PY_LINES_STEPS] = { steps, sizeof(steps) },
		[PY_LINES_RANGES] = { ranges, sizeof(ranges) },
		[PY_LINES_LOCATIONS] = { locations, sizeof(locations) },
	};

	memcpy(to, forms[form].table, forms[form].size);
	return forms[form].size;
}

void world_put_code(const struct py_layout *layout, uint32_t i, const char *file,
		    const char *function, int32_t first_line)
{
	uintptr_t code = world_code(i), strings = WORLD_AT + STRINGS_AT + i * 0x200;
	uintptr_t lines = WORLD_AT + TABLES_AT + i * 0x80, bytecode = lines + 0x40;

	world_put_str(layout, strings, file);
	world_put_str(layout, strings + 0x100, function);
	world_put(lines, layout->ob_type, BYTES_TYPE, 8);
	world_put(lines, layout->head,
		  put_lines(layout->lines, world + (lines - WORLD_AT) + layout->head + 16), 8);
	if (layout->ob_type == 8)
		world_put(code, 0, 3, 8);	/* references */
	world_put(code, layout->ob_type, CODE_TYPE, 8);
	if (layout->apart) {
		world_put(bytecode, layout->ob_type, BYTES_TYPE, 8);
		world_put(bytecode, layout->head, 20, 8);
		world_put(code, layout->bytecode, bytecode, 8);
	} else {
		world_put(code, layout->head, 10, 8);
	}
	if (layout->copies >= 0) {
		uintptr_t array = world_copies(i);

		world_put(code, layout->copies, array, 8);
		world_put(array, 0, 3, 8);
		world_put(array, 8, code + (uintptr_t)layout->bytecode, 8);
		world_put(array, 24, world_bytecode(layout, i, 2), 8);
	}
	world_put(code, layout->first_line, (uint32_t)first_line, 4);
	world_put(code, layout->filename, strings, 8);
	world_put(code, layout->name, strings + 0x100, 8);
	world_put(code, layout->name + 8, lines, 8);
}

void world_put_frame(const struct py_layout *layout, uint32_t i, uint32_t code, int instr,
		     uintptr_t previous, uint8_t owner)
{
	uintptr_t frame = world_frame(i);

	world_put(frame, layout->code, world_code(code) | layout->tags, 8);
	world_put(frame, layout->previous, previous, 8);
	if (layout->type < 0) {
		int32_t copy = layout->copies >= 0 && i < 2 ? 2 : 0;

		world_put(frame, layout->instr,
			  world_bytecode(layout, code, copy) + (uintptr_t)instr, 8);
		if (layout->copies >= 0)
			world_put(frame, layout->copy, (uint32_t)copy, 4);
	} else {
		world_put(frame, layout->type, FRAME_TYPE, 8);
		world_put(frame, layout->instr, (uint32_t)(instr < 0 ? -1 : instr / layout->unit),
			  4);
		owner = owner == RUNS ? (uint8_t)layout->whole : (uint8_t)!layout->whole;
	}
	world_put(frame, layout->owner, owner, 1);
}

uintptr_t world_outer(const struct py_layout *layout)
{
	return world_frame(layout->type < 0 ? 3 : 2);
}

void world_make(struct host_python *py, const struct py_layout *layout)
{
	uintptr_t other = WORLD_AT, mine = WORLD_AT + 0x200, cframe = WORLD_AT + 0x3c0;

	memset(world, 0, sizeof(world));
	memset(py, 0, sizeof(*py));
	world_mutations = 0;
	*py = (struct host_python) {
		.layout = layout, .read = world_read, .code_type = CODE_TYPE,
		.str_type = STR_TYPE, .bytes_type = BYTES_TYPE, .frame_type = FRAME_TYPE,
		.first_state = other,
	};
	world_put(other, 8, mine, 8);
	world_put(mine, 0, other, 8);
	world_put(other, layout->id, host_thread_id(py, TID + 1, SELF + 0x800), 8);
	world_put(mine, layout->id, host_thread_id(py, TID, SELF), 8);
	if (layout->cframe >= 0)
		world_put(mine, layout->cframe, cframe, 8);
	world_put(layout->cframe >= 0 ? cframe : mine, layout->current, world_frame(0), 8);
	world_put_code(layout, 0, "/usr/lib/python3.11/json/decoder.py", "decode", 300);
	world_put_code(layout, 1, "/home/me/loader.py", "Loader.load", 20);
	world_put_code(layout, 2, "/home/me/train.py", "main", 100);
	world_put_frame(layout, 0, 0, 0, world_frame(1), RUNS);
	world_put_frame(layout, 1, 1, 6, world_outer(layout), RUNS);
	world_put_frame(layout, 3, 0, 0, world_frame(2), SHIM);
	world_put_frame(layout, 2, 2, 18, 0, RUNS);
}
