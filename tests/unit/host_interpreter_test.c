/* SPDX-License-Identifier: MIT */
/* Who holds Python's lock, and whether it collects garbage, on made-up memory. */
#include <string.h>

#include "model/base/util.h"
#include "probes/host/interpreter.h"
#include "tests/unit/python_said.h"
#include "tests/unit/test.h"

#define WORLD 20480u
#define WORLD_AT 0x10000u	/* the address that it has for the reader */
#define INTERPRETER WORLD_AT	/* four pages */
#define GIL (WORLD_AT + 0x4100)
#define STATES (WORLD_AT + 0x4400)
#define TID 4711u

static char world[WORLD];
static size_t mapped;

static bool read_world(const struct iovec *to, const struct iovec *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uintptr_t at = (uintptr_t)from[i].iov_base;
		size_t bytes = from[i].iov_len;

		if (at < WORLD_AT || at - WORLD_AT > mapped || bytes > mapped - (at - WORLD_AT))
			return false;
		memcpy(to[i].iov_base, world + (at - WORLD_AT), bytes);
	}
	return true;
}

static void put(uintptr_t at, uint64_t value, size_t bytes)
{
	memcpy(world + (at - WORLD_AT), &value, bytes);
}

static uintptr_t state_at(uint32_t i)
{
	return STATES + i * 0x300;
}

/* Generations at that offset of the interpreter; a lock held by the second of three threads. */
static void make_world(struct host_python *py, uint32_t generations)
{
	const struct py_layout *layout = python_layout(0x030c01f0);

	memset(world, 0, sizeof(world));
	mapped = WORLD;
	*py = (struct host_python) {
		.layout = layout, .read = read_world, .first_state = state_at(0),
	};
	for (uint32_t i = 0; i < 3; i++) {
		put(state_at(i) + 8, i < 2 ? state_at(i + 1) : 0, 8);
		put(state_at(i) + (uintptr_t)layout->id, TID + i, 8);
	}
	put(INTERPRETER + generations + 72, INTERPRETER + generations, 8);
	put(GIL, 5000, 8);
	put(GIL + 8, state_at(1), 8);
	put(GIL + 16, 1, 4);
}

TEST(host_interpreter_collects)
{
	static const uint32_t at[] = { 136, 672, 7424, 16384 - 184 };
	static struct host_python py;
	struct host_interpreter known;

	for (size_t i = 0; i < 4; i++) {
		uintptr_t generations = INTERPRETER + at[i];

		make_world(&py, at[i]);
		known = (struct host_interpreter) { .at = 0 };
		CHECK(!host_collects(&py, &known, INTERPRETER));
		CHECK_INT(known.generations, generations);
		put(generations + 176, 1, 4);
		CHECK(host_collects(&py, &known, INTERPRETER));
		/* what cannot be believed */
		put(generations + 176, 2, 4);
		CHECK(!host_collects(&py, &known, INTERPRETER));
		put(generations + 176, 1, 4);
		put(generations + 72, generations + 8, 8);
		CHECK(!host_collects(&py, &known, INTERPRETER));
		put(generations + 72, generations, 8);
		CHECK(host_collects(&py, &known, INTERPRETER));
		/* it is gone, or it is another one */
		mapped = at[i] + 100;
		CHECK(!host_collects(&py, &known, INTERPRETER));
		mapped = WORLD;
		CHECK(!host_collects(&py, &known, GIL));
		CHECK_INT(known.generations, 0);
	}
	/* less than four pages are there */
	make_world(&py, 672);
	put(INTERPRETER + 672 + 176, 1, 4);
	mapped = 4096;
	known = (struct host_interpreter) { .at = 0 };
	CHECK(host_collects(&py, &known, INTERPRETER));
	mapped = 672 + 100;
	known = (struct host_interpreter) { .at = 0 };
	CHECK(!host_collects(&py, &known, INTERPRETER));
}

/* From 3.13 on it is where Python says. */
TEST(host_interpreter_collects_said)
{
	static struct host_python py;
	struct host_interpreter known = { .at = 0 };
	uintptr_t collecting;

	make_world(&py, 672);
	py.layout = python_layout(PYTHON_3_14);
	collecting = INTERPRETER + (uintptr_t)py.layout->collecting;
	put(INTERPRETER + 672 + 176, 1, 4);
	CHECK(!host_collects(&py, &known, INTERPRETER));
	put(collecting, 1, 4);
	CHECK(host_collects(&py, &known, INTERPRETER));
	put(collecting, 2, 4);
	CHECK(!host_collects(&py, &known, INTERPRETER));
	put(collecting, 1, 4);
	mapped = collecting - WORLD_AT;
	CHECK(!host_collects(&py, &known, INTERPRETER));
}

/* In 3.8 they are in what all interpreters share. */
TEST(host_interpreter_collects_in_runtime)
{
	static struct host_python py;
	struct host_interpreter known = { .at = 0 };

	make_world(&py, 672);
	put(INTERPRETER + 672 + 72, 0, 8);
	put(GIL + 72, GIL, 8);
	put(GIL + 176, 1, 4);
	CHECK(!host_collects(&py, &known, INTERPRETER));
	CHECK_INT(known.generations, 0);
	py.runtime = GIL - 200;
	py.runtime_size = 200 + 180;
	known = (struct host_interpreter) { .at = 0 };
	CHECK(host_collects(&py, &known, INTERPRETER));
	CHECK_INT(known.generations, GIL);
	py.runtime_size--;
	known = (struct host_interpreter) { .at = 0 };
	CHECK(!host_collects(&py, &known, INTERPRETER));
}

TEST(host_interpreter_lock)
{
	/* of the first condition, the mutex, the second condition */
	static const uint32_t futex[] = { 32 + 40, 32 + 44, 80, 120 + 40, 120 + 44, 168 };
	static struct host_python py;
	struct host_interpreter known;

	for (size_t i = 0; i < 6; i++) {
		make_world(&py, 672);
		known = (struct host_interpreter) { .at = 0 };
		CHECK_INT(host_gil_holder(&py, &known, GIL + futex[i]), state_at(1));
		CHECK_INT(known.gil, GIL);
		CHECK(host_state_is(&py, state_at(1), TID + 1));
		CHECK(host_holds_gil(&py, &known, state_at(1), state_at(0)));
		CHECK(!host_holds_gil(&py, &known, state_at(0), state_at(0)));
		put(GIL + 16, 0, 4);
		CHECK_INT(host_gil_holder(&py, &known, GIL + futex[i]), 0);
		CHECK(!host_holds_gil(&py, &known, state_at(1), state_at(0)));
	}
	/* what does not look like a lock is none: no thread's, free, or without its interval */
	make_world(&py, 672);
	known = (struct host_interpreter) { .at = 0 };
	put(GIL + 8, state_at(1) + 8, 8);
	CHECK_INT(host_gil_holder(&py, &known, GIL + 72), 0);
	put(GIL + 8, state_at(1), 8);
	put(GIL, 0, 8);
	CHECK_INT(host_gil_holder(&py, &known, GIL + 72), 0);
	put(GIL, 5000, 8);
	put(GIL + 16, 0, 4);
	CHECK_INT(host_gil_holder(&py, &known, GIL + 72), 0);
	CHECK_INT(known.gil, 0);
	CHECK_INT(host_gil_holder(&py, &known, 8), 0);
	CHECK_INT(host_gil_holder(&py, &known, 0), 0);
	/* while no lock was found, only a thread that is alone has it for sure */
	CHECK(!host_holds_gil(&py, &known, state_at(0), state_at(0)));
	put(state_at(0) + 8, 0, 8);
	CHECK(host_holds_gil(&py, &known, state_at(0), state_at(0)));
	CHECK(!host_holds_gil(&py, &known, state_at(1), state_at(0)));
}

/* Whatever lies there, the holder is one of the threads when it is found. */
TEST(host_interpreter_anything)
{
	static struct host_python py;

	make_world(&py, 672);
	for (int i = 0; i < 200000; i++) {
		struct host_interpreter known = { .at = 0 };
		uintptr_t at = (uintptr_t)test_below(0x300) & ~(uintptr_t)3, holder;

		put(WORLD_AT + 0x4000 + at, test_below(2) ? (uint64_t)test_below(4) :
		    state_at((uint32_t)test_below(4)), 8);
		holder = host_gil_holder(&py, &known, WORLD_AT + 0x4000 + at);
		CHECK(!holder || host_state_listed(&py, holder));
	}
}
