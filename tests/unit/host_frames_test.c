/* SPDX-License-Identifier: MIT */
/* The reader of another thread's Python frames, on made-up memory in the form of each version. */
#include <string.h>

#include "model/base/util.h"
#include "probes/host/frames.h"
#include "tests/unit/python_said.h"
#include "tests/unit/test.h"

#define WORLD 8192u
#define WORLD_AT 0x10000u	/* the address that it has for the reader */
#define FRAMES_AT 0x400u	/* offsets in it */
#define CODES_AT 0x800u
#define STRINGS_AT 0x1000u
#define TABLES_AT 0x1800u
#define COPIES_AT 0x1a00u
#define FUNCTIONS 3u
#define TID 4711u
#define SELF 0x7f0000001700u	/* what pthread_self() is in that thread */
#define CODE_TYPE 0x5000u
#define STR_TYPE 0x5100u
#define BYTES_TYPE 0x5200u
#define FRAME_TYPE 0x5300u
#define RUNS 0			/* whose a frame is, or whether it runs */
#define SUSPENDED 1
#define SHIM 3

static char world[WORLD];
static unsigned mutations;	/* how many bytes change with each read; only of frames */

/* What the program would do meanwhile: pointers and places of frames change. */
static void mutate(void)
{
	for (unsigned i = 0; i < mutations; i++)
		world[FRAMES_AT + test_below(CODES_AT - FRAMES_AT)] = (char)test_below(256);
}

static bool read_world(const struct iovec *to, const struct iovec *from, size_t n)
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

static void put(uintptr_t at, int offset, uint64_t value, size_t bytes)
{
	memcpy(world + (at - WORLD_AT) + offset, &value, bytes);
}

static uintptr_t code_at(uint32_t i)
{
	return WORLD_AT + CODES_AT + i * 0x200;
}

static uintptr_t frame_at_(uint32_t i)
{
	return WORLD_AT + FRAMES_AT + i * 0x80;
}

static uintptr_t copies_at(uint32_t i)
{
	return WORLD_AT + COPIES_AT + i * 0x40;
}

/* Where a function's bytecode is: its copy 0, which is in its code, or copy 2; copy 1 is unused. */
static uintptr_t bytecode_at(const struct py_layout *layout, uint32_t code, int32_t copy)
{
	uintptr_t own = code_at(code) + (uintptr_t)layout->bytecode;

	return copy ? UINT64_C(0x7f0000200000) + code * 0x1000 : own;
}

static void put_str(const struct py_layout *layout, uintptr_t at, const char *text)
{
	put(at, layout->ob_type, STR_TYPE, 8);
	put(at, layout->head, strlen(text), 8);
	put(at, layout->head + 16, 25u << layout->str_kind, 4);	/* 1 byte, compact, ASCII */
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

static void put_code(const struct py_layout *layout, uint32_t i, const char *file,
		     const char *function, int32_t first_line)
{
	uintptr_t code = code_at(i), strings = WORLD_AT + STRINGS_AT + i * 0x200;
	uintptr_t lines = WORLD_AT + TABLES_AT + i * 0x80, bytecode = lines + 0x40;

	put_str(layout, strings, file);
	put_str(layout, strings + 0x100, function);
	put(lines, layout->ob_type, BYTES_TYPE, 8);
	put(lines, layout->head,
	    put_lines(layout->lines, world + (lines - WORLD_AT) + layout->head + 16), 8);
	put(code, layout->ob_type, CODE_TYPE, 8);
	if (layout->apart) {
		put(bytecode, layout->ob_type, BYTES_TYPE, 8);
		put(bytecode, layout->head, 20, 8);
		put(code, layout->bytecode, bytecode, 8);
	} else {
		put(code, layout->head, 10, 8);
	}
	if (layout->copies >= 0) {
		uintptr_t array = copies_at(i);

		put(code, layout->copies, array, 8);
		put(array, 0, 3, 8);
		put(array, 8, code + (uintptr_t)layout->bytecode, 8);
		put(array, 24, bytecode_at(layout, i, 2), 8);
	}
	put(code, layout->first_line, (uint32_t)first_line, 4);
	put(code, layout->filename, strings, 8);
	put(code, layout->name, strings + 0x100, 8);
	put(code, layout->name + 8, lines, 8);
}

/* instr: in bytes from the first instruction; -2: before it */
static void put_frame(const struct py_layout *layout, uint32_t i, uint32_t code, int instr,
		      uintptr_t previous, uint8_t owner)
{
	uintptr_t frame = frame_at_(i);

	put(frame, layout->code, code_at(code) | layout->tags, 8);
	put(frame, layout->previous, previous, 8);
	if (layout->type < 0) {
		int32_t copy = layout->copies >= 0 && i < 2 ? 2 : 0;

		put(frame, layout->instr, bytecode_at(layout, code, copy) + (uintptr_t)instr, 8);
		if (layout->copies >= 0)
			put(frame, layout->copy, (uint32_t)copy, 4);
	} else {
		put(frame, layout->type, FRAME_TYPE, 8);
		put(frame, layout->instr, (uint32_t)(instr < 0 ? -1 : instr / layout->unit), 4);
		owner = owner == RUNS ? (uint8_t)layout->whole : (uint8_t)!layout->whole;
	}
	put(frame, layout->owner, owner, 1);
}

/* The frame that called the second one: a frame of C where there are such. */
static uintptr_t outer_frame(const struct py_layout *layout)
{
	return frame_at_(layout->type < 0 ? 3 : 2);
}

/* Two thread states, of which the second is ours: in json of Python's library, called by load() of
 * the user, which main() called; between the last two is a frame of C where there are such. */
static void make_world(struct host_python *py, const struct py_layout *layout)
{
	uintptr_t other = WORLD_AT, mine = WORLD_AT + 0x200, cframe = WORLD_AT + 0x3c0;

	memset(world, 0, sizeof(world));
	memset(py, 0, sizeof(*py));
	mutations = 0;
	*py = (struct host_python) {
		.layout = layout, .read = read_world, .code_type = CODE_TYPE,
		.str_type = STR_TYPE, .bytes_type = BYTES_TYPE, .frame_type = FRAME_TYPE,
		.first_state = other,
	};
	put(other, 8, mine, 8);
	put(other, layout->id, host_thread_id(py, TID + 1, SELF + 0x800), 8);
	put(mine, layout->id, host_thread_id(py, TID, SELF), 8);
	if (layout->cframe >= 0)
		put(mine, layout->cframe, cframe, 8);
	put(layout->cframe >= 0 ? cframe : mine, layout->current, frame_at_(0), 8);
	put_code(layout, 0, "/usr/lib/python3.11/json/decoder.py", "decode", 300);
	put_code(layout, 1, "/home/me/loader.py", "Loader.load", 20);
	put_code(layout, 2, "/home/me/train.py", "main", 100);
	put_frame(layout, 0, 0, 0, frame_at_(1), RUNS);
	put_frame(layout, 1, 1, 6, outer_frame(layout), RUNS);
	put_frame(layout, 3, 0, 0, frame_at_(2), SHIM);
	put_frame(layout, 2, 2, 18, 0, RUNS);
}

#define VERSIONS 8u
#define OBJECTS 3u		/* so many of them, the first ones, have frames on the heap */
static const unsigned long versions[VERSIONS] = {
	0x030812f0, 0x030912f0, 0x030a0df0, 0x030b02f0, 0x030c01f0, PYTHON_3_13,
	PYTHON_3_14, PYTHON_3_14T,
};

TEST(host_frames_of_each_version)
{
	static struct host_python py;
	static struct host_stack stack;
	char file[HOST_TEXT], function[HOST_TEXT];
	uintptr_t state;

	for (size_t v = 0; v < VERSIONS; v++) {
		uintptr_t id;

		make_world(&py, python_layout(versions[v]));
		CHECK_INT(py.layout->type >= 0, v < OBJECTS);
		CHECK(py.layout->frame_bytes <= PY_FRAME_BYTES);
		id = host_thread_id(&py, TID, SELF);
		CHECK_INT(host_state_of(&py, id + 2), 0);
		CHECK_INT(host_state_of(&py, 0), 0);
		state = host_state_of(&py, id);
		CHECK_INT(state, WORLD_AT + 0x200);
		CHECK(host_state_is(&py, state, id) && !host_state_is(&py, state, id + 1));
		CHECK_INT(host_stack_of(&py, state, &stack), HOST_PLACE);
		CHECK_INT(stack.n, 3);
		CHECK_INT(stack.sure, 0);
		CHECK_INT(stack.user, 1);
		CHECK(host_place_texts(&py, &stack.place[1], file, function));
		CHECK(!strcmp(file, "/home/me/loader.py") && !strcmp(function, "Loader.load"));
		CHECK_INT(host_place_line(&py, &stack.place[0]), 301);
		CHECK_INT(host_place_line(&py, &stack.place[1]), 22);
		CHECK_INT(host_place_line(&py, &stack.place[2]), 105);
		CHECK(stack.still && stack.place[0].library && !stack.place[2].library);
		/* without a frame of the user's it is the innermost one */
		put_code(py.layout, 1, "/usr/lib/python3.11/threading.py", "run", 20);
		put_code(py.layout, 2, "/usr/lib/python3.11/threading.py", "start", 100);
		memset(py.owners, 0, sizeof(py.owners));
		CHECK_INT(host_stack_of(&py, state, &stack), HOST_PLACE);
		CHECK(host_place_texts(&py, &stack.place[stack.user], file, function));
		CHECK(!strcmp(function, "decode"));
		/* no frames at all */
		put(py.layout->cframe >= 0 ? WORLD_AT + 0x3c0 : state, py.layout->current, 0, 8);
		CHECK_INT(host_stack_of(&py, state, &stack), HOST_NO_FRAME);
		CHECK_INT(py.torn, 0);
	}
}

/* What does not agree with itself is no place. */
static void torn_with(const struct py_layout *layout)
{
	static struct host_python py;
	static struct host_stack stack;
	uintptr_t mine = WORLD_AT + 0x200;

	make_world(&py, layout);
	put_frame(layout, 0, 0, -2, frame_at_(1), RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(host_place_line(&py, &stack.place[0]), 301);	/* it has not begun */
	put_frame(layout, 0, 0, 20, frame_at_(1), RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	CHECK(py.torn > 0);
	make_world(&py, layout);
	put(code_at(1), layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	make_world(&py, layout);
	put(frame_at_(0), layout->previous, 0xdead0000, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* a caller of the user's line that is none: the line is right, and nobody's callers are */
	make_world(&py, layout);
	put(code_at(2), layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, 2);
	CHECK_INT(stack.sure, 2);
	CHECK_INT(stack.user, 1);
	/* a generator that nobody runs any more */
	make_world(&py, layout);
	put_frame(layout, 1, 1, 6, 0, SUSPENDED);
	if (layout->type < 0) {
		CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
		CHECK_INT(stack.n, 2);
		CHECK_INT(stack.sure, 2);
	} else {
		CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	}
	/* frames in a circle, and states in a circle: both end */
	make_world(&py, layout);
	put_frame(layout, 0, 0, 0, frame_at_(0), RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, HOST_FRAMES);
	CHECK_INT(stack.sure, stack.n);
	put(mine, 8, WORLD_AT, 8);
	CHECK_INT(host_state_of(&py, TID + 9), 0);
	/* a table of lines that is no bytes object, or too long, gives no line */
	make_world(&py, layout);
	put(WORLD_AT + TABLES_AT + 0x80, layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(host_place_line(&py, &stack.place[1]), 0);
	put(WORLD_AT + TABLES_AT + 0x80, layout->ob_type, BYTES_TYPE, 8);
	put(WORLD_AT + TABLES_AT + 0x80, layout->head, UINT64_MAX / 2, 8);
	CHECK_INT(host_place_line(&py, &stack.place[1]), 0);
}

TEST(host_frames_torn)
{
	for (size_t v = 0; v < VERSIONS; v++)
		torn_with(python_layout(versions[v]));
}

/* A longer array of copies takes the place of the first function's while that is read. */
static bool read_replaced(const struct iovec *to, const struct iovec *from, size_t n)
{
	if (from[0].iov_base == (void *)copies_at(0))
		put(code_at(0), python_layout(PYTHON_3_14T)->copies, copies_at(FUNCTIONS), 8);
	return read_world(to, from, n);
}

/* Bytecode of which each thread has its own copy. */
TEST(host_frames_copies)
{
	const struct py_layout *layout = python_layout(PYTHON_3_14T);
	static struct host_python py;
	static struct host_stack stack;
	uintptr_t mine = WORLD_AT + 0x200;

	make_world(&py, layout);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.place[1].offset, 6);
	/* the frame says another copy than the one in which it is, or one that there is not */
	for (uint32_t copy = 0; copy < 5; copy++) {
		make_world(&py, layout);
		put(frame_at_(0), layout->copy, copy, 4);
		CHECK_INT(host_stack_of(&py, mine, &stack), copy == 2 ? HOST_PLACE : HOST_TORN);
	}
	make_world(&py, layout);
	put(frame_at_(0), layout->copy, UINT32_MAX, 4);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	make_world(&py, layout);
	put(copies_at(0), 0, 2, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	make_world(&py, layout);
	put(code_at(0), layout->copies, 0xdead0000, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* it is read again then: what it said before is worth nothing */
	make_world(&py, layout);
	put(copies_at(0), 24, bytecode_at(layout, 0, 2) - 2, 8);
	put(copies_at(FUNCTIONS), 0, 4, 8);
	put(copies_at(FUNCTIONS), 24, bytecode_at(layout, 0, 2), 8);
	py.read = read_replaced;
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.place[0].offset, 0);
}

/* Frames that are objects: what is free, ended, of another type or of another thread. */
static void objects_with(const struct py_layout *layout)
{
	static struct host_python py;
	static struct host_stack stack;
	uintptr_t mine = WORLD_AT + 0x200;

	make_world(&py, layout);
	put(frame_at_(1), layout->type, CODE_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* bytecode that is no object of bytes */
	make_world(&py, layout);
	put(WORLD_AT + TABLES_AT + 0x40, layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* the innermost one has ended, or not begun; that it was called is as true as before */
	make_world(&py, layout);
	put_frame(layout, 0, 0, 0, frame_at_(1), SUSPENDED);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, 3);
	CHECK_INT(stack.sure, 0);
	/* it is alone, and has lost its caller as it ended: there may be one */
	put_frame(layout, 0, 0, 0, 0, SUSPENDED);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, 1);
	CHECK_INT(stack.sure, 1);
	put_frame(layout, 0, 0, 0, 0, RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.sure, 0);
	/* one between others has ended: whoever is inside of it was not called by it */
	make_world(&py, layout);
	put_frame(layout, 1, 1, 6, frame_at_(2), SUSPENDED);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.sure, 2);
	/* free ones, of which each has the next free one where its caller was */
	make_world(&py, layout);
	for (uint32_t i = 0; i < 3; i++)
		put_frame(layout, i, i, 0, i < 2 ? frame_at_(i + 1) : 0, SUSPENDED);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
}

TEST(host_frames_objects)
{
	for (size_t v = 0; v < OBJECTS; v++)
		objects_with(python_layout(versions[v]));
}

/* A million looks at frames that change while they are read: a line is always one of its
 * function's. */
TEST(host_frames_change_meanwhile)
{
	static struct host_python py;
	static struct host_stack stack;
	static const int32_t first[FUNCTIONS] = { 300, 20, 100 };
	unsigned places = 0, torn = 0, unsure = 0;

	for (int i = 0; i < 1000000; i++) {
		if (i % 16 == 0) {
			make_world(&py, python_layout(versions[i / 16 % VERSIONS]));
			mutations = (unsigned)test_below(4);
		}
		switch (host_stack_of(&py, WORLD_AT + 0x200, &stack)) {
		case HOST_PLACE:
			places++;
			unsure += stack.sure > 0;
			CHECK(stack.n && stack.user < stack.n && stack.sure <= stack.n);
			for (uint32_t k = 0; k < stack.n; k++) {
				const struct host_place *place = &stack.place[k];
				int32_t line = host_place_line(&py, place);
				uint32_t f;

				for (f = 0; f < FUNCTIONS && place->code != code_at(f); f++)
					;
				CHECK(f < FUNCTIONS && place->first_line == first[f]);
				CHECK(!line || (line > first[f] && line <= first[f] + 5));
			}
			break;
		case HOST_TORN:
			torn++;
			break;
		case HOST_NO_FRAME:
			break;
		}
	}
	CHECK(places > 100000 && torn > 100000 && unsure > 1000);
}

/*
 * A program of which each read finds the next moment: main() at one of its lines calls one of two
 * functions, which calls the third. Whoever calls whom at which line follows from the moment, so a
 * stack that mixes two moments is recognised.
 */
static unsigned moment, moment_reads;
static const struct py_layout *moment_layout;

static void put_moment(unsigned t)
{
	unsigned call = t % 5;		/* the instruction of main(), and whom it calls */
	unsigned function = call / 3;	/* that no function comes back within three reads */

	put_frame(moment_layout, 2, 2, (int)call * 4, 0, RUNS);
	put_frame(moment_layout, 1, function, (int)call * 4, frame_at_(2), RUNS);
	put_frame(moment_layout, 0, !function, (int)call * 4, frame_at_(1), RUNS);
}

static bool read_moment(const struct iovec *to, const struct iovec *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (test_below(moment_reads) == 0)
			put_moment(++moment);
		if (!read_world(to + i, from + i, 1))
			return false;
	}
	return true;
}

TEST(host_frames_callers)
{
	static struct host_python py;
	static struct host_stack stack;
	unsigned whole = 0, moved = 0, unsure = 0;

	for (int i = 0; i < 200000; i++) {
		moment_layout = python_layout(versions[i % VERSIONS]);
		make_world(&py, moment_layout);
		put_moment(moment);
		py.read = read_moment;
		moment_reads = i % 2 ? 100 : 4;
		CHECK_INT(host_stack_of(&py, WORLD_AT + 0x200, &stack), HOST_PLACE);
		CHECK_INT(stack.n, 3);
		whole += !stack.sure;
		unsure += stack.sure > 0;
		for (uint32_t k = stack.sure; k + 1 < stack.n; k++) {
			const struct host_place *place = &stack.place[k], *caller = place + 1;

			/* each caller that is sure is at the line at which it calls that one */
			moved += caller->moved;
			if (!caller->moved && !place->moved)
				CHECK_INT(place->offset, caller->offset);
			/* and is the function that calls it */
			CHECK(k == 1 ? caller->code == code_at(2) : caller->code != place->code);
		}
	}
	CHECK(whole > 50000 && moved > 10000 && unsure > 1000);
}

/* The innermost function returns once its frame was found, and its caller goes on to another line:
 * the frame's memory is still there, but nobody at that line called it. */
static unsigned reads_left;

static bool read_returning(const struct iovec *to, const struct iovec *from, size_t n)
{
	bool cframe = moment_layout->cframe >= 0;

	if (reads_left && !--reads_left) {
		put(cframe ? WORLD_AT + 0x3c0 : WORLD_AT + 0x200, moment_layout->current,
		    frame_at_(1), 8);
		put_frame(moment_layout, 1, 1, 14, outer_frame(moment_layout), RUNS);
	}
	return read_world(to, from, n);
}

TEST(host_frames_returned)
{
	static struct host_python py;
	static struct host_stack stack;

	for (size_t v = 0; v < VERSIONS; v++) {
		moment_layout = python_layout(versions[v]);
		make_world(&py, moment_layout);
		py.read = read_returning;
		reads_left = moment_layout->cframe >= 0 ? 3 : 2;
		CHECK_INT(host_stack_of(&py, WORLD_AT + 0x200, &stack), HOST_PLACE);
		CHECK_INT(reads_left, 0);
		CHECK_INT(stack.n, 3);
		CHECK_INT(stack.sure, 0);
		CHECK(stack.place[1].moved && !stack.place[2].moved);
	}
}

/* The thread goes on and its innermost frame becomes one of another thread, which has frames of its
 * own, before it is read: nothing of that is taken for the first thread's. */
static bool read_handed(const struct iovec *to, const struct iovec *from, size_t n)
{
	if (reads_left && !--reads_left) {
		put(WORLD_AT + 0x200, moment_layout->current, frame_at_(1), 8);
		put_frame(moment_layout, 3, 2, 0, 0, RUNS);
		put_frame(moment_layout, 0, 0, 8, frame_at_(3), RUNS);
	}
	return read_world(to, from, n);
}

TEST(host_frames_handed)
{
	static struct host_python py;
	static struct host_stack stack;

	for (size_t v = 0; v < OBJECTS; v++) {
		moment_layout = python_layout(versions[v]);
		for (unsigned k = 1; k < 6; k++) {
			make_world(&py, moment_layout);
			py.read = read_handed;
			reads_left = k;
			CHECK_INT(host_stack_of(&py, WORLD_AT + 0x200, &stack), HOST_PLACE);
			CHECK_INT(reads_left, 0);
			/* it was read before that, or the one outside of it was */
			CHECK(stack.n == 2 || (stack.n == 3 && k > 2));
			CHECK(stack.place[stack.n - 1].code == code_at(2));
			CHECK(stack.place[stack.n - 2].code == code_at(1));
			CHECK(stack.n == 2 || stack.sure || stack.place[0].offset == 0);
		}
	}
}
