/* SPDX-License-Identifier: MIT */
/* What the tasks of asyncio are called that threads run, on made-up memory in the form of each
 * version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/host/tasks.h"
#include "tests/unit/host_world.h"
#include "tests/unit/test.h"

#define MINE (WORLD_AT + 0x200)		/* the thread's state */
#define OBJECTS_AT (WORLD_AT + 0x2000)	/* what follows, up to the end */
#define HANDLE OBJECTS_AT
#define CALLBACK (WORLD_AT + 0x2100)
#define TASK (WORLD_AT + 0x2200)
#define TASK_TYPE (WORLD_AT + 0x2400)
#define OWN_TYPE (WORLD_AT + 0x2600)	/* which the program derived from that */
#define CORO_TYPE (WORLD_AT + 0x2800)
#define NAME (WORLD_AT + 0x3a00)
#define CORO (WORLD_AT + 0x2b00)	/* where frames are objects */
#define TYPE_NAME (WORLD_AT + 0x2c00)
#define OTHER_CORO (WORLD_AT + 0x2e00)
#define INT_TYPE (WORLD_AT + 0x2d00)
#define DICT_TYPE (WORLD_AT + 0x2d20)
#define MODULE_TYPE (WORLD_AT + 0x2d40)
#define MODULE (WORLD_AT + 0x3000)
#define STATE (WORLD_AT + 0x3100)	/* the module's own memory */
#define DICT (WORLD_AT + 0x3200)
#define ENTRIES (WORLD_AT + 0x3300)
#define MAIN (WORLD_AT + 0x3500)	/* another task */
#define COROUTINE 5u			/* the number of its frame */

/* A way to the task: by the event loop's handle, for a step or for a wake-up; by the dict of
 * current tasks; by the thread's state. */
enum way { BY_STEP, BY_WAKEUP, BY_DICT, BY_STATE, WAYS };

/* What asyncio says of itself, as read from builds of 3.14 with and without the GIL. */
static const uint64_t said[2][HOST_TASK_SAID] = {
	{ 168, 136, 96, 108, 109, 128, 152, 225864, 10880, 936, 864, 872, 880 },
	{ 192, 152, 112, 124, 125, 144, 168, 246720, 17632, 15608, 864, 872, 880 },
};

static struct host_python py;
static struct host_stack stack;
static const struct py_layout *layout;

static void put_type(uintptr_t at, const char *name, uintptr_t name_at, size_t bytes,
		     uintptr_t base)
{
	for (size_t i = 0; i <= strlen(name); i++)
		world_put(name_at, (int)i, (unsigned char)name[i], 1);
	world_put(at, layout->head + 8, name_at, 8);
	world_put(at, layout->head + 16, bytes, 8);
	world_put(at, layout->head + 240, base, 8);
}

static int coro_offset(void)
{
	return layout->version < 0x030e ? 120 : layout->head == 32 ? 144 : 128;
}

static uintptr_t coroutine(void)
{
	return layout->type >= 0 ? CORO : world_frame(COROUTINE) - (uintptr_t)layout->head - 56;
}

static void put_coroutine(uint32_t code, int instr, uintptr_t previous)
{
	world_put_frame(layout, COROUTINE, code, instr, previous,
			layout->type >= 0 ? RUNS : SUSPENDED);
}

/* How the state, the dict or the loop's handle lead to the task, or do not. */
static void put_running(bool runs)
{
	world_put(HANDLE, layout->head + 8, runs ? CALLBACK : 0, 8);
	world_put(ENTRIES, 56, runs ? TASK : 0, 8);
	world_put(MINE, 872, runs ? TASK : 0, layout->version >= 0x030e ? 8 : 0);
}

/* Runner.run() has another task, whose type leads to asyncio's module, and that to the dict; or the
 * type lies before a variable that does, and leads to a module without. */
static void put_runner(void)
{
	world_put_code(layout, 2, "/usr/lib/python3.11/asyncio/runners.py", "Runner.run", 80);
	world_put(world_frame(2), layout->locals, HANDLE | layout->tags, 8);
	world_put(world_frame(2), layout->locals + 8, MAIN, 8);
	world_put(MAIN, layout->ob_type, TASK_TYPE, 8);
	world_put(TASK_TYPE, 0x158, MODULE, 8);
	world_put(MODULE, layout->ob_type, MODULE_TYPE, 8);
	if (layout->version < 0x030c) {
		world_put(TASK_TYPE, 0x1128, DICT, 8);
	} else {
		world_put(MODULE, layout->head, DICT, 8);	/* not its own memory */
		world_put(MODULE, layout->head + 16, STATE, 8);
		world_put(STATE, 0x48, DICT, 8);
	}
	world_put(DICT, layout->ob_type, DICT_TYPE, 8);
	world_put(DICT, layout->head + 16, ENTRIES, 8);
	world_put(ENTRIES, 24, 1, 8);
	world_put(ENTRIES, 40, 0x1234567, 8);		/* a hash, the event loop */
	world_put(ENTRIES, 48, HANDLE, 8);
}

/* decode(), called by the coroutine Loader.load(), which the task runs, which Handle._run() does;
 * there is a frame of C between the last two where there are such. */
static void make_tasks(size_t version, enum way way)
{
	bool named = false;

	layout = python_layout(versions[version]);
	world_make(&py, layout);
	named = !strcmp(layout->attribute, "co_name");
	world_put_code(layout, 2, "/usr/lib/python3.11/asyncio/events.py",
		       named ? "_run" : "Handle._run", 80);
	world_put_frame(layout, 0, 0, 0, world_frame(COROUTINE), RUNS);
	put_coroutine(1, 6, world_outer(layout));
	put_type(TASK_TYPE, "_asyncio.Task", TYPE_NAME, layout->head == 32 ? 192 : 168, 0);
	put_type(OWN_TYPE, "MyTask", TYPE_NAME + 32, 400, TASK_TYPE);
	put_type(CORO_TYPE, "coroutine", TYPE_NAME + 64,
		 (size_t)layout->head + 56 + (size_t)layout->locals, 0);
	world_put(world_frame(2), layout->locals, HANDLE | layout->tags, 8);
	world_put(HANDLE, layout->head, WORLD_AT + 0x3800, 8);
	world_put(CALLBACK, layout->head, way == BY_WAKEUP ? 0x7f0000000000 : TASK, 8);
	world_put(CALLBACK, layout->head + 8, TASK, 8);
	world_put(TASK, layout->ob_type, TASK_TYPE, 8);
	world_put(TASK, coro_offset(), coroutine(), 8);
	world_put(TASK, coro_offset() + 8, NAME, 8);
	world_put(coroutine(), layout->ob_type, CORO_TYPE, 8);
	if (layout->type >= 0) {
		world_put(coroutine(), layout->head, world_frame(COROUTINE), 8);
		world_put(world_frame(COROUTINE), layout->instr - 8, coroutine(), 8);
	}
	world_put_str(layout, NAME, "fetch 1");
	host_task_begin(&py, CORO_TYPE, DICT_TYPE, MODULE_TYPE);
	if (way == BY_DICT)
		put_runner();
	if (way == BY_STATE)
		CHECK(host_task_said(&py, said[layout->head == 32]));
	put_running(true);
}

static bool is_way(size_t version, enum way way)
{
	return way == BY_STATE ? python_layout(versions[version])->version >= 0x030e :
	       way != BY_DICT || version >= OBJECTS;
}

static enum way some_way(size_t version)
{
	enum way way = (enum way)test_below(WAYS);

	return is_way(version, way) ? way : BY_STEP;
}

/* The task's name at a look; "": none. */
static const char *task_seen(void)
{
	CHECK_INT(host_stack_of(&py, MINE, &stack), HOST_PLACE);
	CHECK_INT(stack.n, 3);
	CHECK(stack.task == 1 || stack.task == stack.n);
	return stack.task < stack.n ? stack.task_name : "";
}

/* The same, once the event loop's function is known, and twice where tasks have their coroutine. */
static const char *task_seen_next(void)
{
	task_seen();
	task_seen();
	return task_seen();
}

TEST(host_tasks_of_each_version)
{
	for (size_t v = 0; v < VERSIONS; v++)
		for (enum way way = 0; way < WAYS; way++) {
			if (!is_way(v, way))
				continue;
			make_tasks(v, way);
			CHECK_STR(task_seen(), way == BY_STATE ? "fetch 1" : "");
			CHECK_STR(task_seen(), way == BY_STATE ? "fetch 1" : "");
			CHECK_STR(task_seen(), "fetch 1");
			CHECK_INT(stack.sure, 0);
			/* of a type that derives from it, but not in a dict; with another name */
			if (way != BY_DICT)
				world_put(TASK, layout->ob_type, OWN_TYPE, 8);
			world_put_str(layout, NAME, "fetch 2");
			CHECK_STR(task_seen(), "fetch 2");
			/* names that asyncio made, and such as only look like it */
			world_put_str(layout, NAME, "Task-1234");
			CHECK_STR(task_seen(), "");
			world_put_str(layout, NAME, "Task-12a");
			CHECK_STR(task_seen(), "Task-12a");
			world_put_str(layout, NAME, "Task-");
			CHECK_STR(task_seen(), "Task-");
			/* it is a number until somebody asks for the name */
			world_put(NAME, layout->ob_type, INT_TYPE, 8);
			CHECK_STR(task_seen(), "");
			CHECK_INT(py.torn, 0);
		}
}

/* Whatever is wrong in between, no task is told. */
TEST(host_tasks_of_nobody)
{
	for (size_t v = 0; v < VERSIONS; v++)
		for (enum way way = 0; way < WAYS; way++) {
			if (!is_way(v, way))
				continue;
			make_tasks(v, way);
			CHECK_STR(task_seen_next(), "fetch 1");
			/* it runs another coroutine than that of this frame, or what is none */
			world_put(TASK, coro_offset(), OTHER_CORO, 8);
			world_put(OTHER_CORO, layout->ob_type, CORO_TYPE, 8);
			world_put(OTHER_CORO, layout->head, world_frame(6), 8);
			CHECK_STR(task_seen(), "");
			make_tasks(v, way);
			world_put(coroutine(), layout->ob_type, TASK_TYPE, 8);
			CHECK_STR(task_seen_next(), "");
			/* a task of Python's own, and something that is no task */
			make_tasks(v, way);
			world_put(TASK, layout->ob_type, OWN_TYPE, 8);
			world_put(OWN_TYPE, layout->head + 240, CORO_TYPE, 8);
			CHECK_STR(task_seen_next(), "");
			make_tasks(v, way);
			world_put(TASK, layout->ob_type, 0xdead0000, 8);
			CHECK_STR(task_seen_next(), "");
			/* a name that is no text, or none */
			make_tasks(v, way);
			world_put(TASK, coro_offset() + 8, 0, 8);
			CHECK_STR(task_seen_next(), "");
			make_tasks(v, way);
			world_put_str(layout, NAME, "");
			world_put(NAME, layout->head, 0, 8);
			CHECK_STR(task_seen_next(), "");
			/* the loop runs a function */
			make_tasks(v, way);
			put_running(false);
			CHECK_STR(task_seen_next(), "");
		}
}

/* The task's coroutine awaits another one, by which nothing is learned. */
TEST(host_tasks_awaiting)
{
	for (size_t v = OBJECTS; v < VERSIONS; v++)
		for (enum way way = 0; way < WAYS; way++) {
			uintptr_t inner = world_frame(7);

			if (!is_way(v, way))
				continue;
			make_tasks(v, way);
			world_put_frame(layout, 7, 0, 0, world_frame(COROUTINE), SUSPENDED);
			world_put(inner - (uintptr_t)layout->head - 56, layout->ob_type, CORO_TYPE,
				  8);
			world_put(layout->cframe >= 0 ? WORLD_AT + 0x3c0 : MINE, layout->current,
				  inner, 8);
			CHECK_STR(task_seen_next(), "fetch 1");
		}
}

/* Event loops of other threads have tasks, too; there may be many. */
TEST(host_tasks_of_many_loops)
{
	for (size_t v = OBJECTS; v < VERSIONS; v++) {
		make_tasks(v, BY_DICT);
		CHECK_STR(task_seen_next(), "fetch 1");
		world_put(ENTRIES, 24, 12, 8);
		for (int i = 0; i < 12; i++) {
			world_put(ENTRIES, 64 + i * 24, HANDLE, 8);
			world_put(ENTRIES, 72 + i * 24, i < 11 ? MAIN : TASK, 8);
		}
		world_put(ENTRIES, 56, MAIN, 8);
		CHECK_STR(task_seen(), "fetch 1");
		world_put(ENTRIES, 72 + 11 * 24, MAIN, 8);
		CHECK_STR(task_seen(), "");
	}
}

/* What lies behind the name changes all the time. And names of other characters, and long ones. */
static bool read_restless(const struct iovec *to, const struct iovec *from, size_t n)
{
	world_put(NAME, layout->ascii + 7, test_below(256), 1);
	return world_read(to, from, n);
}

static void put_name(unsigned kind, const char *text, size_t length)
{
	bool ascii = kind == 1;

	world_put(NAME, layout->head, length, 8);
	world_put(NAME, layout->head + 16, (ascii ? 25u : 8u | kind) << layout->str_kind, 4);
	for (size_t i = 0; i < length; i++)
		world_put(NAME, (ascii ? layout->ascii : layout->wide) + (int)(i * kind),
			  (unsigned char)text[i], kind);
}

TEST(host_tasks_names)
{
	char text[600], want[600];

	memset(text, 'x', sizeof(text));
	for (size_t v = 0; v < VERSIONS; v++) {
		make_tasks(v, BY_STEP);
		py.read = read_restless;
		CHECK_STR(task_seen_next(), "fetch 1");
		py.read = world_read;
		for (unsigned kind = 1; kind <= 4; kind *= 2)
			for (size_t length = 1; length < 60; length++) {
				put_name(kind, text, length);
				snprintf(want, sizeof(want), "%.*s", (int)length, text);
				CHECK_STR(task_seen(), want);
			}
		make_tasks(v, BY_STEP);
		put_name(1, text, 400);
		task_seen_next();
		CHECK(stack.task == 1 && strlen(task_seen()) > 200);
		world_put(NAME, layout->head, SIZE_MAX / 4, 8);
		CHECK(strlen(task_seen()) > 200);
		put_name(3, text, 4);
		CHECK_STR(task_seen(), "");
		put_name(0, text, 4);
		CHECK_STR(task_seen(), "");
	}
}

/* Nothing is read for it where no event loop runs: not even the state's word. */
static uintptr_t forbidden_from, forbidden_to;

static bool read_allowed(const struct iovec *to, const struct iovec *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CHECK((uintptr_t)from[i].iov_base < forbidden_from ||
		      (uintptr_t)from[i].iov_base >= forbidden_to);
	return world_read(to, from, n);
}

TEST(host_tasks_nothing_read)
{
	for (size_t v = 0; v < VERSIONS; v++)
		for (enum way way = 0; way < WAYS; way++) {
			if (!is_way(v, way))
				continue;
			make_tasks(v, way);
			world_put_code(layout, 2, "/home/me/train.py", "_run", 100);
			if (layout->type < 0)
				world_put_frame(layout, COROUTINE, 1, 6, world_outer(layout), RUNS);
			py.read = read_allowed;
			forbidden_from = way == BY_STATE ? MINE + 872 : OBJECTS_AT;
			forbidden_to = way == BY_STATE ? MINE + 880 : WORLD_AT + WORLD;
			CHECK_STR(task_seen_next(), "");
		}
}

/* Offsets of asyncio that do not agree with themselves. */
TEST(host_tasks_said)
{
	static const struct { int word; uint64_t value; } wrong[] = {
		{ 0, 1024 }, { 0, 136 }, { 1, 120 }, { 5, 8 }, { 5, 124 }, { 9, 864 },
		{ 9, 1 << 20 }, { 11, 864 }, { 11, 868 }, { 11, 936 }, { 11, 8 },
	};
	uint64_t words[HOST_TASK_SAID];

	layout = python_layout(PYTHON_3_14);
	world_make(&py, layout);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(words, said[0], sizeof(words));
		words[wrong[i].word] = wrong[i].value;
		CHECK(!host_task_said(&py, words));
		CHECK_INT(py.tasks.running, 0);
	}
	memcpy(words, said[0], sizeof(words));
	CHECK(host_task_said(&py, words));
}

/*
 * A program in which a task ends and the next one begins in the same memory, as one reads it: each
 * has another name, and by that another function, so that a name beside a task's function that is
 * not its own is recognised. Now and then no task runs.
 */
static unsigned task_moment, task_reads;

static void put_task_moment(unsigned t)
{
	char name[24];

	snprintf(name, sizeof(name), "%u", t);
	world_put_str(layout, NAME, name);
	put_coroutine(t % 2, t % 2 ? 6 : 8, world_outer(layout));
	world_put(world_frame(COROUTINE), layout->instr - 8, coroutine(),
		  layout->type >= 0 ? 8 : 0);
	put_running(t % 16);
}

static bool read_task_moment(const struct iovec *to, const struct iovec *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (test_below(task_reads) == 0)
			put_task_moment(++task_moment);
		if (!world_read(to + i, from + i, 1))
			return false;
	}
	return true;
}

TEST(host_tasks_change_meanwhile)
{
	unsigned told = 0, untold = 0;

	for (int i = 0; i < 1000000; i++) {
		if (i % 64 == 0) {
			size_t v = (size_t)i / 64 % VERSIONS;

			make_tasks(v, some_way(v));
			put_task_moment(++task_moment);
			py.read = read_task_moment;
		}
		task_reads = i % 2 ? 200 : 8;
		if (host_stack_of(&py, MINE, &stack) != HOST_PLACE)
			continue;
		CHECK(stack.task <= stack.n);
		untold += stack.task >= stack.n;
		if (stack.task == stack.n || stack.task < stack.sure)
			continue;
		told++;
		CHECK_INT(stack.task, 1);
		CHECK(stack.place[1].code == world_code((uint32_t)atoi(stack.task_name) % 2));
	}
	CHECK(told > 300000 && untold > 100000);
}

/* Memory that becomes something else while it is read: all of it is looked at before it is used. */
static bool read_mutated(const struct iovec *to, const struct iovec *from, size_t n)
{
	uintptr_t at = OBJECTS_AT + (uintptr_t)test_below(0x1c00 / 8) * 8;

	if (test_below(4) == 0)
		world_put(at, 0, OBJECTS_AT + (uintptr_t)test_below(0x1c00 / 8) * 8, 8);
	else if (test_below(4) == 0)
		world_put(at, (int)test_below(8), test_below(256), 1);
	return world_read(to, from, n);
}

TEST(host_tasks_mutated)
{
	unsigned told = 0;

	for (int i = 0; i < 200000; i++) {
		if (i % 16 == 0) {
			size_t v = (size_t)i / 16 % VERSIONS;

			make_tasks(v, some_way(v));
			py.read = read_mutated;
		}
		CHECK_INT(host_stack_of(&py, MINE, &stack), HOST_PLACE);
		CHECK(stack.n == 3 && (stack.task == 1 || stack.task == 3));
		told += stack.task == 1;
	}
	CHECK(told > 10000);
}
