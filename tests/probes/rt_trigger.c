/* SPDX-License-Identifier: MIT */
/* Test cases: calls of the program that raise the level. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probes/rt_test.h"

static void set_trigger(enum tft_trigger trigger, const char *range, const char *domain)
{
	struct tft_control *page = test_control();

	page->trigger = TFT_TRIGGER_NONE;
	WAIT_FOR(rt_trigger() == TFT_TRIGGER_NONE);
	strcpy(page->range.name, range);
	strcpy(page->range.domain, domain);
	page->trigger = trigger;
	WAIT_FOR(rt_trigger() == trigger);
	WAIT_FOR(rt_level() == TFT_LEVEL_OFF);
}

static uint64_t push(const char *name, const char *domain)
{
	struct rt_op_args args = {
		.name = rt_name(TFT_NAME_RANGE, name), .step = -1, .flags = TFT_OP_RANGE,
		.domain = domain ? rt_name(TFT_NAME_DOMAIN, domain) : 0,
	};

	return rt_op_push(&args);
}

static uint64_t begin(const char *name)
{
	struct rt_op_args args = { .name = rt_name(TFT_NAME_RANGE, name), .step = -1 };

	return rt_async_start(&args);
}

#define IS_ON (rt_level() == TFT_LEVEL_DEFAULT)
#define IS_OFF (rt_level() == TFT_LEVEL_OFF)

/* Each change is in force when the call that made it returns. */
static void stacked(void)
{
	EXPECT(push("other", NULL) == 0 && IS_OFF);
	EXPECT(push("wanted", NULL) != 0 && IS_ON);
	EXPECT(push("within", NULL) != 0);
	EXPECT(push("wanted", NULL) != 0);
	rt_op_pop(0);
	rt_op_pop(0);
	EXPECT(IS_ON);
	rt_op_pop(0);
	EXPECT(IS_OFF);
	rt_op_pop(0);
	EXPECT(push("wanted", NULL) != 0 && IS_ON);
	rt_op_pop(0);
	EXPECT(IS_OFF);
}

static void *end_async(void *arg)
{
	rt_async_end(*(uint64_t *)arg);
	return NULL;
}

static void *never_pops(void *arg)
{
	(void)arg;
	EXPECT(push("wanted", NULL) != 0 && IS_ON);
	return NULL;
}

static void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t t;

	EXPECT(pthread_create(&t, NULL, run, arg) == 0);
	pthread_join(t, NULL);
}

static void across_threads(void)
{
	uint64_t other = begin("other"), first = begin("wanted"), second = begin("wanted");

	EXPECT(!other && first && second && IS_ON);
	push("wanted", NULL);
	in_thread(end_async, &first);
	rt_async_end(first);		/* an end counts once */
	rt_op_pop(0);
	EXPECT(IS_ON);
	in_thread(end_async, &second);
	EXPECT(IS_OFF);
	in_thread(never_pops, NULL);
	EXPECT(IS_OFF);
}

static void in_domain(void)
{
	set_trigger(TFT_TRIGGER_RANGE, "wanted", "one");
	EXPECT(push("wanted", NULL) == 0 && push("wanted", "two") == 0 && IS_OFF);
	EXPECT(push("wanted", "one") != 0 && IS_ON);
	rt_op_pop(rt_name(TFT_NAME_DOMAIN, "two"));
	rt_op_pop(0);
	EXPECT(IS_ON);
	rt_op_pop(rt_name(TFT_NAME_DOMAIN, "one"));
	EXPECT(IS_OFF);
}

/* When a level is chosen, it applies; ranges that are still open then end without effect. */
static void chosen(void)
{
	set_trigger(TFT_TRIGGER_RANGE, "wanted", "");
	push("wanted", NULL);
	test_control()->level = TFT_LEVEL_MIN;
	test_control()->trigger = TFT_TRIGGER_NONE;
	WAIT_FOR(rt_level() == TFT_LEVEL_MIN);
	rt_op_pop(0);
	EXPECT(rt_level() == TFT_LEVEL_MIN);
	test_control()->level = TFT_LEVEL_DEFAULT;
	test_control()->trigger = 17;	/* any process may write the page */
	WAIT_FOR(rt_level() == TFT_LEVEL_DEFAULT);
	EXPECT(rt_trigger() == TFT_TRIGGER_NONE);
}

static void profiler(void)
{
	set_trigger(TFT_TRIGGER_PROFILER, "", "");
	EXPECT(push("wanted", NULL) == 0 && IS_OFF);
	rt_trigger_profiler(false);
	EXPECT(IS_OFF);
	rt_trigger_profiler(true);
	rt_trigger_profiler(true);
	EXPECT(IS_ON);
	rt_trigger_profiler(false);
	EXPECT(IS_OFF);
}

/* The child is within the range that its only thread had started. */
static void forked(void)
{
	int status;
	pid_t pid;

	set_trigger(TFT_TRIGGER_RANGE, "wanted", "");
	push("wanted", NULL);
	pid = fork();
	if (pid == 0) {
		int ticks = test_ticks;

		EXPECT(push("in the child", NULL) != 0 && IS_ON);
		/* its own thread has checked, and does not change the level */
		WAIT_FOR(test_ticks > ticks);
		EXPECT(IS_ON);
		rt_op_pop(0);
		rt_op_pop(0);
		WAIT_FOR(IS_OFF);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	EXPECT(IS_ON);
	rt_op_pop(0);
	EXPECT(IS_OFF);
}

static void trigger(void)
{
	EXPECT(test_join());
	set_trigger(TFT_TRIGGER_RANGE, "wanted", "");
	stacked();
	across_threads();
	in_domain();
	chosen();
	profiler();
	forked();
}

/* Threads that start and end at the same time; each sees the raised level within its own range. */
static void *begin_and_end(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		uint64_t instance = i % 2 ? begin("wanted") : push("wanted", NULL);

		EXPECT(instance != 0 && IS_ON);
		if (i % 2)
			rt_async_end(instance);
		else
			rt_op_pop(0);
	}
	return NULL;
}

static void trigger_race(void)
{
	pthread_t t[3];

	EXPECT(test_join());
	set_trigger(TFT_TRIGGER_RANGE, "wanted", "");
	for (int i = 0; i < 3; i++)
		EXPECT(pthread_create(&t[i], NULL, begin_and_end, NULL) == 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	WAIT_FOR(IS_OFF);
}

const struct test_case test_trigger[] = {
	{ "trigger", trigger }, { "trigger_race", trigger_race }, { 0 },
};
