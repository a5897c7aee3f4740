/* SPDX-License-Identifier: MIT */
/* Test cases: ops, names, calls, levels. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/runtime/cpu.h"
#include "probes/runtime/quick.h"
#include "tests/probes/rt_test.h"

/* Nesting: outer(range) > op > launch; quiet(range) contains nothing. */
static void ops(void)
{
	uint64_t outer, op, quiet;
	struct rt_top top;

	EXPECT(test_join());
	EXPECT(test_join());
	EXPECT(rt_op_pop(0) == -1);
	EXPECT(rt_op_launch().instance == 0);
	errno = 77;
	outer = test_push("outer", TFT_OP_RANGE, 0);
	op = test_push("op", 0, 0);
	top = rt_op_launch();
	EXPECT(top.instance == op && top.name == rt_name(TFT_NAME_OP, "op"));
	EXPECT(rt_op_depth(0) == 2);
	EXPECT(rt_op_pop(0) == 1);
	quiet = test_push("quiet", TFT_OP_RANGE, 0);
	EXPECT(rt_op_pop(0) == 1);
	EXPECT(rt_op_pop(0) == 0);
	EXPECT(rt_op_pop(0) == -1);
	EXPECT(errno == 77);
	printf("outer=%lu op=%lu quiet=%lu\n", (unsigned long)outer, (unsigned long)op,
	       (unsigned long)quiet);
}

/* Lines of a compiler's instructions, and the op of a type around them. */
static void compiled(void)
{
	struct rt_op_args run = { .name = 7, .type = 40, .step = -1 };
	struct rt_op_args inner = { .name = 8, .type = 41, .step = -1 };

	EXPECT(test_join());
	EXPECT(rt_line_of(7, 8) == 0);
	rt_line_define(7, 8, 100);
	rt_line_define(7, 9, 101);
	rt_line_define(0, 8, 102);
	EXPECT(rt_line_of(7, 8) == 100 && rt_line_of(7, 9) == 101);
	EXPECT(!rt_line_of(8, 7) && !rt_line_of(0, 8) && !rt_line_of(7, 0));
	/* compiled again */
	rt_line_define(7, 8, 103);
	EXPECT(rt_line_of(7, 8) == 103);
	/* more than there is room for: each is found or is unknown, none has another's line */
	for (uint32_t op = 1; op <= 200000; op++)
		rt_line_define(9, op, op + 5);
	for (uint32_t op = 1; op <= 200000; op++)
		EXPECT(rt_line_of(9, op) == op + 5 || !rt_line_of(9, op));
	EXPECT(rt_line_of(9, 200000) == 200005);
	EXPECT(rt_op_of_type(40) == 0);
	rt_op_push(&run);
	rt_op_push(&inner);
	EXPECT(rt_op_of_type(40) == 7 && rt_op_of_type(41) == 8 && !rt_op_of_type(42));
	EXPECT(!rt_op_of_type(0));
	rt_op_pop(0);
	rt_op_pop(0);
	EXPECT(rt_op_of_type(40) == 0);
}

/* Ops that were handed to a pool, and others that were not; each is sent alone, as ev_op. */
static void handed(void)
{
	uint64_t first, behind, late, async, open, capped, alone;
	struct rt_op_args args = { .step = -1 };

	EXPECT(test_join());
	EXPECT(rt_op_handed(0, 0));
	EXPECT(rt_op_handed(1500, 77));
	first = test_push("first", 0, 0);
	rt_op_pop(0);
	behind = test_push("behind", 0, 0);
	rt_op_pop(0);
	EXPECT(rt_op_handed(0, 0));
	/* no thread took that one */
	EXPECT(rt_op_handed(1, 78));
	EXPECT(!rt_op_handed(2, 78));
	late = test_push("late", 0, 0);
	rt_op_pop(0);
	EXPECT(rt_op_handed(40, 79));
	args.name = rt_name(TFT_NAME_OP, "async");
	async = rt_async_start(&args);
	rt_async_end(async);
	/* until it is popped it is its own */
	EXPECT(rt_op_handed(9, 80));
	open = test_push("open", 0, 0);
	EXPECT(rt_op_handed(INT64_MAX, (1u << 22) - 1));
	capped = test_push("capped", 0, 0);
	alone = test_push("alone", 0, 0);
	for (int i = 0; i < 3; i++)
		rt_op_pop(0);
	printf("first=%lu behind=%lu late=%lu async=%lu open=%lu capped=%lu alone=%lu\n",
	       (unsigned long)first, (unsigned long)behind, (unsigned long)late,
	       (unsigned long)async, (unsigned long)open, (unsigned long)capped,
	       (unsigned long)alone);
}

/* Two domains, closed in the wrong order: each pop removes the range of its own domain. */
static void domains(void)
{
	uint32_t a = 0, b = 0;
	uint64_t a1, b1, a2;

	EXPECT(test_join());
	a = rt_name(TFT_NAME_DOMAIN, "a");
	b = rt_name(TFT_NAME_DOMAIN, "b");
	a1 = test_push("a1", TFT_OP_RANGE, a);
	b1 = test_push("b1", TFT_OP_RANGE, b);
	EXPECT(rt_op_pop(a) == 1);
	EXPECT(rt_op_launch().instance == b1);
	a2 = test_push("a2", TFT_OP_RANGE, a);
	EXPECT(rt_op_pop(b) == 1);
	EXPECT(rt_op_launch().instance == a2);
	EXPECT(rt_op_pop(b) == -1);
	EXPECT(rt_op_pop(a) == 0);
	/* the same domain is never on top twice; holes must not fill the stack */
	for (int i = 0; i < 5000; i++) {
		EXPECT(test_push("x", TFT_OP_RANGE, i & 1 ? a : b) != 0);
		if (i)
			EXPECT(rt_op_pop(i & 1 ? b : a) == 1);
	}
	EXPECT(rt_op_pop(a) == 0);
	printf("a1=%lu b1=%lu a2=%lu\n", (unsigned long)a1, (unsigned long)b1, (unsigned long)a2);
}

static void deep(void)
{
	EXPECT(test_join());
	for (int i = 0; i < 600; i++)
		EXPECT((test_push("deep", 0, 0) != 0) == (i < 512));
	for (int i = 599; i >= 0; i--)
		EXPECT(rt_op_pop(0) == i);
	EXPECT(rt_op_pop(0) == -1);
}

static void million(void)
{
	struct rt_op_args args = { .step = -1 };

	EXPECT(test_join());
	args.name = rt_name(TFT_NAME_OP, "one");
	for (int i = 0; i < 1000000; i++) {
		EXPECT(rt_op_push(&args) != 0);
		EXPECT(rt_op_pop(0) == 0);
	}
}

/* An op that stays open, an async range that stays open, and marks. */
static void open_long(void)
{
	struct rt_op_args args = { .step = 7, .payload = 42, .argb = 0xff102030,
				   .flags = TFT_OP_RANGE | TFT_OP_COLOUR };
	uint64_t op, async, brief;

	EXPECT(test_join());
	op = test_push("long", 0, 0);
	args.name = rt_name(TFT_NAME_RANGE, "async");
	async = rt_async_start(&args);
	brief = rt_async_start(&args);
	rt_async_end(brief);
	rt_async_end(0);
	rt_async_end(999999);
	rt_mark(&args);
	test_last(60000000);
	rt_async_end(async);
	rt_async_end(async);
	EXPECT(rt_op_pop(0) == 0);
	printf("op=%lu async=%lu brief=%lu\n", (unsigned long)op, (unsigned long)async,
	       (unsigned long)brief);
}

/* ---- threads ---- */

#define RACERS 8
#define RACE_NAMES 2000

static uint32_t ids[RACERS][RACE_NAMES];

static void *name_racer(void *arg)
{
	uint32_t *mine = arg;
	char text[32];

	for (int i = 0; i < RACE_NAMES; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		mine[i] = rt_name(TFT_NAME_OTHER, text);
	}
	return NULL;
}

static uint32_t told_late(int64_t dur_ns, const void *source)
{
	EXPECT(dur_ns >= 0);
	return *(const uint32_t *)source;
}

/* Nesting: run > inside, reported after inside has ended; the parent of apart is on another
 * thread. */
static void ran(void)
{
	struct rt_op_args args = { .step = -1 };
	struct rt_ran when = { .start_ns = rt_now_ns(), .dur_ns = 500 };
	uint32_t source = 5;
	struct rt_ask ask = { -1, told_late, &source };
	uint64_t call, inside, run;

	EXPECT(rt_op_instance() == 0);
	EXPECT(test_join());
	run = rt_op_instance();
	inside = rt_op_instance();
	EXPECT(run && inside && run != inside);
	call = test_push("not known yet", 0, 0);
	rt_op_rename(rt_name(TFT_NAME_OP, "call"));
	args.name = rt_name(TFT_NAME_OP, "inside");
	when.instance = inside;
	when.parent = run;
	rt_op_ran(&args, &when);
	args.name = rt_name(TFT_NAME_OP, "run");
	when.instance = run;
	when.parent = 0;
	when.dur_ns = 700;
	rt_op_ran(&args, &when);
	when.dur_ns = -1;	/* no valid op */
	rt_op_ran(&args, &when);
	EXPECT(test_push("quick", 0, 0));
	ask.longer_ns = INT64_MAX;
	EXPECT(rt_op_pop_asking(0, &ask) == 1);
	ask.longer_ns = -1;
	EXPECT(rt_op_pop_asking(0, &ask) == 0);
	EXPECT(rt_op_pop_asking(0, &ask) == -1);
	rt_op_rename(1);	/* no range is open */
	printf("call=%lu run=%lu inside=%lu\n", (unsigned long)call, (unsigned long)run,
	       (unsigned long)inside);
}

static void names(void)
{
	pthread_t racer[RACERS];
	struct tft_shape shape = { .dims = 2, .global = { 8, 8, 5 }, .local = { 4, 4, 9 } };
	struct tft_shape same = { .id = 3, .dims = 2, .global = { 8, 8 }, .local = { 4, 4 } };
	char longer[5000];

	EXPECT(test_join());
	EXPECT(rt_name(TFT_NAME_OTHER, NULL) == 0);
	for (int i = 0; i < RACERS; i++)
		EXPECT(pthread_create(&racer[i], NULL, name_racer, ids[i]) == 0);
	for (int i = 0; i < RACERS; i++)
		pthread_join(racer[i], NULL);
	for (int n = 0; n < RACE_NAMES; n++) {
		EXPECT(ids[0][n] != 0);
		for (int i = 1; i < RACERS; i++)
			EXPECT(ids[i][n] == ids[0][n]);
	}
	EXPECT(rt_name(TFT_NAME_OP, "name 1") != rt_name(TFT_NAME_OTHER, "name 1"));
	EXPECT(rt_shape(&shape) == rt_shape(&same) && rt_shape(&shape) != 0);
	shape.dims = 3;
	EXPECT(rt_shape(&shape) != rt_shape(&same));
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	longer[4095] = (char)0xc3;	/* a multi-byte character at the length limit */
	longer[4096] = (char)0xa9;
	EXPECT(rt_name(TFT_NAME_OTHER, longer) == rt_name(TFT_NAME_OTHER, longer));
}

static void *counting_thread(void *arg)
{
	uint32_t fn = *(uint32_t *)arg;

	for (int i = 0; i < 10; i++)
		rt_count(fn, i == 9 ? -5 : 0);
	test_push("left open", 0, 0);
	return NULL;
}

static void threads(void)
{
	uint32_t fn;
	pthread_t t;

	EXPECT(test_join());
	fn = rt_name(TFT_NAME_CALL, "chatty");
	for (int i = 0; i < 50; i++) {
		EXPECT(pthread_create(&t, NULL, counting_thread, &fn) == 0);
		pthread_join(t, NULL);
	}
	rt_thread_name(rt_tid(), "the main one");
	rt_thread_name(12345678, "nobody");
}

/* Ops that last about as long as the delay of announcements, on four threads. */
static void *racing_thread(void *arg)
{
	unsigned int seed = *(unsigned int *)arg;
	struct rt_op_args args = { .step = -1, .name = rt_name(TFT_NAME_OP, "racing") };

	for (int i = 0; i < 60; i++) {
		int64_t last = 8000000 + rand_r(&seed) % 16000000;
		uint64_t async = 0;

		rt_op_push(&args);
		if (i & 1)
			async = rt_async_start(&args);
		for (int64_t until = rt_now_ns() + last; rt_now_ns() < until;) {
			for (int k = 0; k < 20; k++) {
				rt_op_push(&args);
				rt_op_pop(0);
			}
			rt_mark(&args);
			test_pause();
		}
		rt_async_end(async);
		rt_op_pop(0);
	}
	return NULL;
}

static void racing(void)
{
	pthread_t t[4];
	unsigned int seed[4] = { 1, 2, 3, 4 };

	EXPECT(test_join());
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&t[i], NULL, racing_thread, &seed[i]) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* ---- calls and levels ---- */

static void set_level(uint32_t level)
{
	test_control()->level = level;
	WAIT_FOR(rt_level() == (level > TFT_LEVEL_FULL ? TFT_LEVEL_FULL : level));
}

/* Threads that start and end with unsent events, in bursts of different sizes. */
static void *bursts(void *arg)
{
	struct rt_op_args args = { .step = -1, .name = *(uint32_t *)arg };
	unsigned int seed = rt_tid();

	for (int left = 1000; left > 0;) {
		int n = 1 + rand_r(&seed) % 100;

		for (; n && left; n--, left--) {
			rt_op_push(&args);
			rt_op_pop(0);
		}
		if (!(rand_r(&seed) % 4))
			test_pause();
	}
	return NULL;
}

static void four_threads(uint32_t name)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&t[i], NULL, bursts, &name) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void churn(void)
{
	uint32_t counted, toggled;

	EXPECT(test_join());
	counted = rt_name(TFT_NAME_OP, "counted");
	toggled = rt_name(TFT_NAME_OP, "toggled");
	for (int i = 0; i < 8; i++)
		four_threads(counted);
	for (int i = 0; i < 6; i++) {
		test_control()->level = (uint32_t)i % 3;
		four_threads(toggled);
	}
	set_level(TFT_LEVEL_DEFAULT);
	four_threads(counted);
}

static void one_of_each(const char *name)
{
	uint32_t fn = rt_name(TFT_NAME_CALL, name);
	struct tft_command command = { .name = fn, .kind = TFT_KIND_KERNEL };
	struct tft_launch launch = { .name = fn, .kind = TFT_KIND_GRAPH, .flags = TFT_CMD_MANY };
	struct tft_run run = { .name = fn, .kind = TFT_KIND_KERNEL, .start_ticks = 7 };
	struct tft_flow flow = { .key = fn, .at_ns = rt_now_ns(), .phase = TFT_FLOW_RECEIVED };
	struct tft_stages stages = { .stage = 1, .elements = 2, .total_ns = 9 };
	struct tft_counter counter = { .series = 1, .at_ns = rt_now_ns(), .value = -4 };
	struct tft_region region = { .allocator = fn, .address = 4096, .bytes = 1 << 20 };
	struct tft_step step = { .name = fn, .number = 1, .start_ns = rt_now_ns(), .dur_ns = 5 };
	int64_t now = rt_now_ns();

	test_push(name, 0, 0);
	rt_emit_command(&command);
	rt_emit_launch(&launch);
	rt_emit_run(&run);
	rt_emit_flow(&flow);
	rt_emit_stages(&stages);
	rt_emit_counter(&counter);
	rt_emit_region(&region);
	rt_emit_step(&step);
	rt_op_pop(0);
	rt_call(fn, now, now + 50000, 0, 0);
	rt_call(fn, now, now + 100, 0, -3);
	rt_call(fn, now, now + 300, 0, 0);
	rt_count(fn, 0);
}

static void levels(void)
{
	EXPECT(test_join());
	one_of_each("at default");
	set_level(TFT_LEVEL_MIN);
	one_of_each("at min");
	set_level(TFT_LEVEL_OFF);
	one_of_each("at off");
	/* a range that was pushed while the level was off is not on the stack afterwards */
	test_push("unseen", 0, 0);
	set_level(17);
	EXPECT(rt_op_pop(0) == -1);
	one_of_each("at full");
	/* a range that is open when the level goes off is dropped */
	test_push("cut off", 0, 0);
	set_level(TFT_LEVEL_OFF);
	set_level(TFT_LEVEL_DEFAULT);
	EXPECT(rt_op_depth(0) == 0);
	WAIT_FOR(test_levels == 5);
}

static void dump_request(void)
{
	EXPECT(test_join());
	test_push("open", 0, 0);
	test_control()->dump_generation++;
	WAIT_FOR(test_dumps == 1);
	rt_op_pop(0);
}

static void dead_tftop(void)
{
	struct tft_control *c = test_control();

	c->alive_ns = rt_now_ns();
	EXPECT(test_join());
	EXPECT(rt_level() == TFT_LEVEL_DEFAULT);
	c->alive_ns = rt_now_ns() - 6000000000;
	WAIT_FOR(rt_level() == TFT_LEVEL_OFF && !rt_armed);
	rt_name(TFT_NAME_OTHER, "while dead");
	c->alive_ns = rt_now_ns();
	WAIT_FOR(rt_level() == TFT_LEVEL_DEFAULT);
	WAIT_FOR(test_dumps == 1);
	test_push("alive again", 0, 0);
	rt_op_pop(0);
	c->closed = 1;
	WAIT_FOR(rt_level() == TFT_LEVEL_OFF);
	test_push("after the end", 0, 0);
	rt_op_pop(0);
}

/* With invalid control pages, the probe stays inactive. */
static void no_tftop(void)
{
	int64_t start = rt_now_ns();
	uint64_t op;

	EXPECT(!test_join());
	EXPECT(rt_level() == TFT_LEVEL_OFF);
	op = test_push("nobody listens", 0, 0);
	EXPECT(op == 0 && rt_op_pop(0) == -1 && rt_op_launch().instance == 0);
	rt_count(1, 0);
	EXPECT(rt_now_ns() - start < 500000000);
}

static void wire(void)
{
	struct tft_command c = {
		.tid = rt_tid(), .queue = 1, .name = 2, .shape = 3, .kind = TFT_KIND_KERNEL,
		.status = -5, .how = TFT_HOW_EVENT, .bytes = 1 << 20,
	};

	EXPECT(test_join());
	for (int i = 0; i < 20000; i++) {
		c.correlation = rt_correlation();
		rt_emit_command(&c);
	}
}

/* Ops of a framework: a type, a step, one op inside of the other. */
static void wire_ops(void)
{
	struct rt_op_args args = { .framework = TFT_FW_TENSORFLOW };

	EXPECT(test_join());
	args.name = rt_name(TFT_NAME_OP, "conv/Conv2D");
	args.type = rt_name(TFT_NAME_OP_TYPE, "Conv2D");
	for (int i = 0; i < 10000; i++) {
		args.step = i / 100;
		EXPECT(rt_op_push(&args) != 0);
		EXPECT(rt_op_push(&args) != 0);
		rt_op_pop(0);
		rt_op_pop(0);
	}
}

/* The memory for names is bounded; names that are known stay known. */
static void long_names(void)
{
	uint32_t known = rt_name(TFT_NAME_OTHER, "known");
	char text[4000];
	int kept = 0;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 20000; i++) {
		snprintf(text, 6, "%05d", i);
		text[5] = 'x';
		kept += rt_name(TFT_NAME_OTHER, text) != 0;
	}
	EXPECT(kept > 16000 && kept < 17000);
	EXPECT(rt_name(TFT_NAME_OTHER, "known") == known);
}

/* The counter's time lies between two readings of the clock, and never decreases. */
static void counter(void)
{
	int64_t last = 0, now, before, after, until = rt_now_ns() + 300000000;
	struct rt_quick quick = { 0 };
	bool counted = false;

	EXPECT(test_join());
	do {
		before = rt_now_ns();
		now = rt_quick_ns(&quick);
		after = rt_now_ns();
		EXPECT(now >= last && now >= before - 200 && now <= after + 200);
		counted |= quick.span != 0;
		last = now;
	} while (after < until);
	printf("counted=%d\n", counted);
}

/* Kernels whose duration is longer than the time since their start, because their clock is
 * coarse. */
static void coarse(void)
{
	struct rt_cpu_kernel kernel = { .name = 0 };
	int64_t begun_ns;
	uint32_t kind;

	EXPECT(test_join());
	kind = rt_name(TFT_NAME_KERNEL, "kind");
	kernel.name = rt_name(TFT_NAME_KERNEL, "coarse");
	test_push("op", 0, 0);
	for (int i = 0; i < 100; i++) {
		rt_cpu_begin(RT_LIBRARY_ONEDNN, kind, "kind");
		begun_ns = rt_now_ns();
		kernel.dur_ns = rt_now_ns() - begun_ns + 1000;
		rt_cpu_ran(RT_LIBRARY_ONEDNN, &kernel);
		rt_cpu_end(RT_LIBRARY_ONEDNN);
	}
	rt_op_pop(0);
}

const struct test_case test_ops[] = {
	{ "ops", ops }, { "compiled", compiled }, { "handed", handed }, { "ran", ran },
	{ "domains", domains },
	{ "deep", deep }, { "million", million },
	{ "open", open_long }, { "names", names }, { "long_names", long_names },
	{ "threads", threads },
	{ "racing", racing }, { "churn", churn }, { "levels", levels }, { "dump", dump_request },
	{ "dead", dead_tftop }, { "none", no_tftop }, { "wire", wire },
	{ "wire_ops", wire_ops }, { "counter", counter }, { "coarse", coarse },
	{ NULL, NULL },
};
