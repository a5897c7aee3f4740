/* SPDX-License-Identifier: MIT */
/* The reader of another thread's Python frames, on made-up memory in the form of each version. */
#include <string.h>

#include "model/base/util.h"
#include "probes/host/frames.h"
#include "probes/schema/records.h"
#include "tests/unit/host_world.h"
#include "tests/unit/test.h"

/* 0: it has none, or cannot be read. */
static int32_t line_of(struct host_python *py, const struct host_place *place)
{
	char file[HOST_TEXT], function[HOST_TEXT];
	int32_t line;

	return host_place_read(py, place, file, function, &line) ? line : 0;
}

TEST(host_frames_of_each_version)
{
	static struct host_python py;
	static struct host_stack stack;
	char file[HOST_TEXT], function[HOST_TEXT];
	uintptr_t state;
	int32_t line;

	for (size_t v = 0; v < VERSIONS; v++) {
		uintptr_t id;

		world_make(&py, python_layout(versions[v]));
		CHECK_INT(py.layout->type >= 0, v < OBJECTS);
		CHECK(py.layout->frame_bytes <= PY_FRAME_BYTES);
		id = host_thread_id(&py, TID, SELF);
		CHECK_INT(host_state_of(&py, id + 2), 0);
		CHECK_INT(host_state_of(&py, 0), 0);
		state = host_state_of(&py, id);
		CHECK_INT(state, WORLD_AT + 0x200);
		CHECK(host_state_is(&py, state, id) && !host_state_is(&py, state, id + 1));
		CHECK(host_state_linked(&py, state) && host_state_linked(&py, py.first_state));
		CHECK_INT(host_stack_of(&py, state, &stack), HOST_PLACE);
		CHECK_INT(stack.n, 3);
		CHECK_INT(stack.sure, 0);
		CHECK_INT(stack.user, 1);
		CHECK(host_place_read(&py, &stack.place[1], file, function, &line));
		CHECK(!strcmp(file, "/home/me/loader.py") && !strcmp(function, "Loader.load"));
		CHECK_INT(line_of(&py, &stack.place[0]), 301);
		CHECK_INT(line_of(&py, &stack.place[1]), 22);
		CHECK_INT(line_of(&py, &stack.place[2]), 105);
		CHECK(stack.still && stack.place[0].library && !stack.place[2].library);
		/* without a frame of the user's it is the innermost one */
		world_put_code(py.layout, 1, "/usr/lib/python3.11/threading.py", "run", 20);
		world_put_code(py.layout, 2, "/usr/lib/python3.11/threading.py", "start", 100);
		memset(py.owners, 0, sizeof(py.owners));
		CHECK_INT(host_stack_of(&py, state, &stack), HOST_PLACE);
		CHECK(host_place_read(&py, &stack.place[stack.user], file, function, &line));
		CHECK(!strcmp(function, "decode"));
		/* no frames at all */
		world_put(py.layout->cframe >= 0 ? WORLD_AT + 0x3c0 : state, py.layout->current, 0,
			  8);
		CHECK_INT(host_stack_of(&py, state, &stack), HOST_NO_FRAME);
		CHECK_INT(py.torn, 0);
	}
}

/* What a stack is within: its innermost function that imports or compiles says so. */
TEST(host_frames_within)
{
	static const struct {
		const char *file, *function;
		int within;
	} cases[] = {
		{ "<frozen importlib._bootstrap>", "_find_and_load", TFT_DOING_IMPORT },
		{ "<frozen importlib._bootstrap>", "_handle_fromlist", TFT_DOING_OTHER },
		{ "/x/site-packages/jax/_src/compiler.py", "backend_compile", TFT_DOING_COMPILE },
		{ "/x/site-packages/jax/_src/pjit.py", "_trace_for_jit", TFT_DOING_COMPILE },
		{ "/x/site-packages/jax/_src/pjit.py", "_cpp_pjit.<locals>.cache_miss",
		  TFT_DOING_OTHER },
		{ "/x/site-packages/pyopencl/__init__.py", "Program.build", TFT_DOING_COMPILE },
		{ "/x/site-packages/pyopencl/__init__.py", "build", TFT_DOING_COMPILE },
		{ "/x/site-packages/pyopencl/__init__.py", "Program.rebuild", TFT_DOING_OTHER },
		{ "/home/me/pjit.py", "_trace_for_jit", TFT_DOING_OTHER },
	};
	static struct host_python py;
	static struct host_stack stack;

	for (size_t v = 0; v < VERSIONS; v++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			world_make(&py, python_layout(versions[v]));
			world_put_code(py.layout, 1, cases[i].file, cases[i].function, 20);
			CHECK_INT(host_stack_of(&py, WORLD_AT + 0x200, &stack), HOST_PLACE);
			CHECK_INT(stack.within, cases[i].within);
			world_put_code(py.layout, 2, cases[0].file, cases[0].function, 100);
			memset(py.owners, 0, sizeof(py.owners));
			CHECK_INT(host_stack_of(&py, WORLD_AT + 0x200, &stack), HOST_PLACE);
			CHECK_INT(stack.within, cases[i].within ? cases[i].within :
						TFT_DOING_IMPORT);
		}
	}
}

/* What does not agree with itself is no place. */
static void torn_with(const struct py_layout *layout)
{
	static struct host_python py;
	static struct host_stack stack;
	uintptr_t mine = WORLD_AT + 0x200;

	world_make(&py, layout);
	world_put_frame(layout, 0, 0, -2, world_frame(1), RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(line_of(&py, &stack.place[0]), 301);	/* it has not begun */
	world_put_frame(layout, 0, 0, 20, world_frame(1), RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	CHECK(py.torn > 0);
	world_make(&py, layout);
	world_put(world_code(1), layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	world_make(&py, layout);
	world_put(world_frame(0), layout->previous, 0xdead0000, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* a caller of the user's line that is none: the line is right, and nobody's callers are */
	world_make(&py, layout);
	world_put(world_code(2), layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, 2);
	CHECK_INT(stack.sure, 2);
	CHECK_INT(stack.user, 1);
	/* a generator that nobody runs any more */
	world_make(&py, layout);
	world_put_frame(layout, 1, 1, 6, 0, SUSPENDED);
	if (layout->type < 0) {
		CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
		CHECK_INT(stack.n, 2);
		CHECK_INT(stack.sure, 2);
	} else {
		CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	}
	/* frames in a circle, and states in a circle: both end */
	world_make(&py, layout);
	world_put_frame(layout, 0, 0, 0, world_frame(0), RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, HOST_FRAMES);
	CHECK_INT(stack.sure, stack.n);
	world_put(mine, 8, WORLD_AT, 8);
	CHECK_INT(host_state_of(&py, TID + 9), 0);
	/* a table of lines that is no bytes object, or too long, gives no line */
	world_make(&py, layout);
	world_put(WORLD_AT + TABLES_AT + 0x80, layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(line_of(&py, &stack.place[1]), 0);
	world_put(WORLD_AT + TABLES_AT + 0x80, layout->ob_type, BYTES_TYPE, 8);
	world_put(WORLD_AT + TABLES_AT + 0x80, layout->head, UINT64_MAX / 2, 8);
	CHECK_INT(line_of(&py, &stack.place[1]), 0);
}

TEST(host_frames_torn)
{
	for (size_t v = 0; v < VERSIONS; v++)
		torn_with(python_layout(versions[v]));
}

/*
 * A module's code is given back while its texts are read: the name of its file is another text by
 * then, and of the code itself only the count of references, or the pointer in its place, says so.
 */
static uintptr_t given_back_at;		/* the text at which it happens; 0: not any more */
static int given_back_how;

static bool read_given_back(const struct iovec *to, const struct iovec *from, size_t n)
{
	const struct py_layout *layout = python_layout(PYTHON_3_13);
	const struct { int offset; uintptr_t value; } of_code[] = {
		{ 0, 0 }, { 0, 0x7f3412345678 }, { layout->ob_type, 0x7f3412345678 },
		{ layout->filename, 0x7f3412345678 },
	};

	if (given_back_at && (uintptr_t)from[0].iov_base == given_back_at) {
		given_back_at = 0;
		world_put(world_code(1), of_code[given_back_how].offset,
			  of_code[given_back_how].value, 8);
		world_put_str(layout, (uintptr_t)from[0].iov_base, "module 'x' has no attribute");
	}
	return world_read(to, from, n);
}

TEST(host_frames_given_back)
{
	static struct host_python py;
	static struct host_stack stack;
	const struct py_layout *layout = python_layout(PYTHON_3_13);
	char file[HOST_TEXT], function[HOST_TEXT];
	struct host_place place;
	int32_t line;

	for (given_back_how = 0; given_back_how < 4; given_back_how++) {
		/* after the stack was read, as by whoever is told for the first time */
		world_make(&py, layout);
		py.read = read_given_back;
		CHECK_INT(host_stack_of(&py, WORLD_AT + 0x200, &stack), HOST_PLACE);
		place = stack.place[1];
		CHECK(host_place_read(&py, &place, file, function, &line) && line == 22);
		given_back_at = place.filename;
		CHECK(!host_place_read(&py, &place, file, function, &line));
		CHECK_INT(given_back_at, 0);
		/* while it is read: that code is of nobody, and nothing of it is kept */
		world_make(&py, layout);
		py.read = read_given_back;
		given_back_at = place.filename;
		CHECK(host_stack_of(&py, WORLD_AT + 0x200, &stack) != HOST_PLACE ||
		      stack.place[1].code != place.code);
		CHECK_INT(given_back_at, 0);
		for (uint32_t i = 0; i < HOST_OWNERS; i++)
			CHECK(py.owners[i].code != place.code);
	}
}

/* A state that was given back still has its thread's number and frames, until the memory is used
 * again; the list does not lead to it any more, whether it was the first or another one. */
TEST(host_frames_of_a_state_given_back)
{
	static struct host_python py;
	const uintptr_t first = WORLD_AT, mine = WORLD_AT + 0x200, next = WORLD_AT + 0x300;

	for (size_t v = 0; v < VERSIONS; v++) {
		uintptr_t id;

		world_make(&py, python_layout(versions[v]));
		id = host_thread_id(&py, TID, SELF);
		world_put(first, 8, next, 8);
		world_put(next, 0, first, 8);
		CHECK(host_state_is(&py, mine, id) && !host_state_linked(&py, mine));
		CHECK(host_state_linked(&py, next) && host_state_linked(&py, first));
		world_put(next, 0, 0, 8);
		py.first_state = next;
		CHECK(host_state_linked(&py, next) && !host_state_linked(&py, first));
		world_put(mine, 0, 0xdead0000, 8);
		CHECK(!host_state_linked(&py, mine));
	}
}

/* A longer array of copies takes the place of the first function's while that is read. */
static bool read_replaced(const struct iovec *to, const struct iovec *from, size_t n)
{
	if (from[0].iov_base == (void *)world_copies(0))
		world_put(world_code(0), python_layout(PYTHON_3_14T)->copies,
			  world_copies(FUNCTIONS), 8);
	return world_read(to, from, n);
}

/* Bytecode of which each thread has its own copy. */
TEST(host_frames_copies)
{
	const struct py_layout *layout = python_layout(PYTHON_3_14T);
	static struct host_python py;
	static struct host_stack stack;
	uintptr_t mine = WORLD_AT + 0x200;

	world_make(&py, layout);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.place[1].offset, 6);
	/* the frame says another copy than the one in which it is, or one that there is not */
	for (uint32_t copy = 0; copy < 5; copy++) {
		world_make(&py, layout);
		world_put(world_frame(0), layout->copy, copy, 4);
		CHECK_INT(host_stack_of(&py, mine, &stack), copy == 2 ? HOST_PLACE : HOST_TORN);
	}
	world_make(&py, layout);
	world_put(world_frame(0), layout->copy, UINT32_MAX, 4);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	world_make(&py, layout);
	world_put(world_copies(0), 0, 2, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	world_make(&py, layout);
	world_put(world_code(0), layout->copies, 0xdead0000, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* it is read again then: what it said before is worth nothing */
	world_make(&py, layout);
	world_put(world_copies(0), 24, world_bytecode(layout, 0, 2) - 2, 8);
	world_put(world_copies(FUNCTIONS), 0, 4, 8);
	world_put(world_copies(FUNCTIONS), 24, world_bytecode(layout, 0, 2), 8);
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

	world_make(&py, layout);
	world_put(world_frame(1), layout->type, CODE_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* bytecode that is no object of bytes */
	world_make(&py, layout);
	world_put(WORLD_AT + TABLES_AT + 0x40, layout->ob_type, STR_TYPE, 8);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_TORN);
	/* the innermost one has ended, or not begun; that it was called is as true as before */
	world_make(&py, layout);
	world_put_frame(layout, 0, 0, 0, world_frame(1), SUSPENDED);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, 3);
	CHECK_INT(stack.sure, 0);
	/* it is alone, and has lost its caller as it ended: there may be one */
	world_put_frame(layout, 0, 0, 0, 0, SUSPENDED);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.n, 1);
	CHECK_INT(stack.sure, 1);
	world_put_frame(layout, 0, 0, 0, 0, RUNS);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.sure, 0);
	/* one between others has ended: whoever is inside of it was not called by it */
	world_make(&py, layout);
	world_put_frame(layout, 1, 1, 6, world_frame(2), SUSPENDED);
	CHECK_INT(host_stack_of(&py, mine, &stack), HOST_PLACE);
	CHECK_INT(stack.sure, 2);
	/* free ones, of which each has the next free one where its caller was */
	world_make(&py, layout);
	for (uint32_t i = 0; i < 3; i++)
		world_put_frame(layout, i, i, 0, i < 2 ? world_frame(i + 1) : 0, SUSPENDED);
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
			world_stack = test_below(2);
			world_make(&py, python_layout(versions[i / 16 % VERSIONS]));
			world_mutations = (unsigned)test_below(4);
		}
		if (i % 2)
			host_state_lives(&py, WORLD_AT + 0x200, host_thread_id(&py, TID, SELF));
		switch (host_stack_of(&py, WORLD_AT + 0x200, &stack)) {
		case HOST_PLACE:
			places++;
			unsure += stack.sure > 0;
			CHECK(stack.n && stack.user < stack.n && stack.sure <= stack.n);
			for (uint32_t k = 0; k < stack.n; k++) {
				const struct host_place *place = &stack.place[k];
				int32_t line = line_of(&py, place);
				uint32_t f;

				for (f = 0; f < FUNCTIONS && place->code != world_code(f); f++)
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
	world_stack = false;
}

static unsigned reads;

static bool read_counted(const struct iovec *to, const struct iovec *from, size_t n)
{
	reads++;
	return world_read(to, from, n);
}

/* Looks, and returns how many reads that took; the stack is that of world_make(). */
static unsigned look_counted(struct host_python *py)
{
	static struct host_stack stack;
	uintptr_t mine = WORLD_AT + 0x200;

	reads = 0;
	CHECK(host_state_lives(py, mine, host_thread_id(py, TID, SELF)));
	CHECK_INT(host_stack_of(py, mine, &stack), HOST_PLACE);
	CHECK(stack.n == 3 && !stack.sure && stack.still);
	CHECK_INT(line_of(py, &stack.place[1]), 22);
	return reads;
}

/* The second look at a thread reads its frames where they were at the first one; where they are not
 * there any more, or nothing is, they are found as at the first one. */
TEST(host_frames_ahead)
{
	static struct host_python py;
	const uintptr_t mine = WORLD_AT + 0x200, cframe = WORLD_AT + 0x3c0;
	const uintptr_t other = WORLD_AT + 0x3e0;

	world_stack = true;
	for (size_t v = 0; v < VERSIONS; v++) {
		const struct py_layout *layout = python_layout(versions[v]);
		uintptr_t id;
		unsigned first, second;

		world_make(&py, layout);
		py.read = read_counted;
		id = host_thread_id(&py, TID, SELF);
		first = look_counted(&py);
		second = look_counted(&py);
		CHECK(second + 2 < first);
		CHECK_INT(look_counted(&py), second);
		/* the thread has the state no more, or the list leads to it no more */
		CHECK(!host_state_lives(&py, mine, id + 1) && !host_state_lives(&py, mine, 0));
		world_put(WORLD_AT, 8, WORLD_AT + 0x300, 8);
		CHECK(!host_state_lives(&py, mine, id));
		world_put(WORLD_AT, 8, mine, 8);
		/* another neighbour in the list; none */
		world_put(mine, 0, WORLD_AT + 0x300, 8);
		CHECK(!host_state_lives(&py, mine, id));
		world_put(WORLD_AT + 0x300, 8, mine, 8);
		CHECK(host_state_lives(&py, mine, id));
		world_put(mine, 0, 0, 8);
		CHECK(!host_state_lives(&py, mine, id));
		py.first_state = mine;
		CHECK_INT(look_counted(&py), second);
		/* the frames were at a place where nothing is now */
		for (uint32_t i = 0; i < HOST_HINTS; i++)
			py.hints[i].low = py.hints[i].apart[0] = 0xdead0000;
		look_counted(&py);
		CHECK_INT(look_counted(&py), second);
		/* its cframe is another one, whose frames are the same */
		if (layout->cframe < 0)
			continue;
		world_put(other, layout->current, world_frame(0), 8);
		world_put(mine, layout->cframe, other, 8);
		world_put(cframe, layout->current, 0, 8);
		look_counted(&py);
		CHECK_INT(look_counted(&py), second);
	}
	world_stack = false;
}
