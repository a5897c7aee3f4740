/* SPDX-License-Identifier: MIT */
/* Frames of a program that goes on while they are read: each read finds a later moment. */
#include "tests/unit/host_world.h"
#include "tests/unit/test.h"

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

	world_put_frame(moment_layout, 2, 2, (int)call * 4, 0, RUNS);
	world_put_frame(moment_layout, 1, function, (int)call * 4, world_frame(2), RUNS);
	world_put_frame(moment_layout, 0, !function, (int)call * 4, world_frame(1), RUNS);
}

static bool read_moment(const struct iovec *to, const struct iovec *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (test_below(moment_reads) == 0)
			put_moment(++moment);
		if (!world_read(to + i, from + i, 1))
			return false;
	}
	return true;
}

/* A look after which it is known where the frames are, so that the next one reads ahead. */
static void look_before(struct host_python *py)
{
	static struct host_stack stack;

	CHECK_INT(host_stack_of(py, WORLD_AT + 0x200, &stack), HOST_PLACE);
	py->read = read_moment;
	host_state_lives(py, WORLD_AT + 0x200, host_thread_id(py, TID, SELF));
}

TEST(host_frames_callers)
{
	static struct host_python py;
	static struct host_stack stack;
	unsigned whole = 0, moved = 0, unsure = 0;

	for (int i = 0; i < 200000; i++) {
		moment_layout = python_layout(versions[i % VERSIONS]);
		world_stack = test_below(2);
		world_make(&py, moment_layout);
		put_moment(moment);
		moment_reads = i % 2 ? 100 : 4;
		if (test_below(2))
			look_before(&py);
		py.read = read_moment;
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
			CHECK(k == 1 ? caller->code == world_code(2) : caller->code != place->code);
		}
	}
	CHECK(whole > 50000 && moved > 10000 && unsure > 1000);
	world_stack = false;
}

/* The innermost function returns once its frame was found, and its caller goes on to another line:
 * the frame's memory is still there, but nobody at that line called it. */
static unsigned reads_left;

static bool read_returning(const struct iovec *to, const struct iovec *from, size_t n)
{
	bool cframe = moment_layout->cframe >= 0;

	if (reads_left && !--reads_left) {
		world_put(cframe ? WORLD_AT + 0x3c0 : WORLD_AT + 0x200, moment_layout->current,
			  world_frame(1), 8);
		world_put_frame(moment_layout, 1, 1, 14, world_outer(moment_layout), RUNS);
	}
	return world_read(to, from, n);
}

/* Reads a stack during which the innermost function returns: its frame is there, but not sure, and
 * the line of its caller is told as one that moved. Returns whether the stack stood still. */
static bool read_stack_that_moves(struct host_python *py)
{
	static struct host_stack stack;

	CHECK_INT(host_stack_of(py, WORLD_AT + 0x200, &stack), HOST_PLACE);
	CHECK_INT(reads_left, 0);
	CHECK_INT(stack.n, 3);
	CHECK_INT(stack.sure, 0);
	CHECK(stack.place[1].moved && !stack.place[2].moved);
	return stack.still;
}

TEST(host_frames_returned)
{
	static struct host_python py;

	for (size_t v = 0; v < VERSIONS; v++) {
		moment_layout = python_layout(versions[v]);
		world_make(&py, moment_layout);
		py.read = read_returning;
		reads_left = moment_layout->cframe >= 0 ? 3 : 2;
		read_stack_that_moves(&py);
	}
}

/* The innermost function returns once it was found for the second time, and its frame's memory is
 * used for something else before it is copied: that leads nowhere, but the stack is not lost. */
static bool read_reused(const struct iovec *to, const struct iovec *from, size_t n)
{
	uintptr_t at = WORLD_AT + (moment_layout->cframe >= 0 ? 0x3c0 : 0x200);

	for (size_t i = 0; i < n; i++) {
		if (!world_read(to + i, from + i, 1))
			return false;
		if ((uintptr_t)from[i].iov_base != at + (uintptr_t)moment_layout->current ||
		    !reads_left || --reads_left)
			continue;
		world_put(at, moment_layout->current, world_frame(1), 8);
		world_put_frame(moment_layout, 0, 0, 0, 0x20, RUNS);
	}
	return true;
}

TEST(host_frames_reused)
{
	static struct host_python py;

	for (size_t v = 0; v < VERSIONS * 2; v++) {
		moment_layout = python_layout(versions[v / 2]);
		world_stack = v % 2;
		world_make(&py, moment_layout);
		py.read = read_reused;
		reads_left = 2;
		CHECK(!read_stack_that_moves(&py));
	}
	world_stack = false;
}

/* The thread goes on and its innermost frame becomes one of another thread, which has frames of its
 * own, before it is read: nothing of that is taken for the first thread's. */
static bool read_handed(const struct iovec *to, const struct iovec *from, size_t n)
{
	if (reads_left && !--reads_left) {
		world_put(WORLD_AT + 0x200, moment_layout->current, world_frame(1), 8);
		world_put_frame(moment_layout, 3, 2, 0, 0, RUNS);
		world_put_frame(moment_layout, 0, 0, 8, world_frame(3), RUNS);
	}
	return world_read(to, from, n);
}

TEST(host_frames_handed)
{
	static struct host_python py;
	static struct host_stack stack;

	for (size_t v = 0; v < OBJECTS; v++) {
		moment_layout = python_layout(versions[v]);
		for (unsigned k = 1; k < 6; k++) {
			world_make(&py, moment_layout);
			py.read = read_handed;
			reads_left = k;
			CHECK_INT(host_stack_of(&py, WORLD_AT + 0x200, &stack), HOST_PLACE);
			CHECK_INT(reads_left, 0);
			/* it was read before that, or the one outside of it was */
			CHECK(stack.n == 2 || (stack.n == 3 && k > 2));
			CHECK(stack.place[stack.n - 1].code == world_code(2));
			CHECK(stack.place[stack.n - 2].code == world_code(1));
			CHECK(stack.n == 2 || stack.sure || stack.place[0].offset == 0);
		}
	}
}
