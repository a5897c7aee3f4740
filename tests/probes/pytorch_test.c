/* SPDX-License-Identifier: MIT */
/*
 * pytorch_test LIBRARY [levels|many|cost [HOW]]: a program that uses the look-alike as Python uses
 * PyTorch, with a profiler of its own, and says what it saw: the same with the probe as
 * without. Levels: how many callbacks there are at which level. Many: small ops. Cost: many steps
 * of few ops each; HOW: of a training, of two threads that train, or without a backward pass.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct callback {
	void *(*start)(void **context, const void *rf);
	void (*end)(const void *rf, void *context);
	double probability;
	uint8_t scopes[10], needs_inputs, needs_outputs, needs_ids;
};

static void *(*begin)(const char *, bool, uint8_t, int64_t, uint64_t, int);
static void (*end)(void *);
static int begins, ends;

static void *on_begin(void **context, const void *rf)
{
	(void)rf;
	*context = NULL;
	begins++;
	return context;
}

static void on_end(const void *rf, void *context)
{
	(void)rf, (void)context;
	ends++;
}

static void op(const char *name)
{
	end(begin(name, true, 0, -1, 0, 0));
}

static void *elsewhere(void *record)
{
	end(record);
	return NULL;
}

static void train(void)
{
	pthread_t thread;
	void *a, *b;

	for (int i = 0; i < 3; i++) {
		a = begin("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", false, 7,
			  -1, 0, 0);
		op("aten::stack");
		end(a);
		a = begin("my_range", false, 7, -1, 0, 0);
		b = begin("aten::linear", true, 0, i, 0, 1);
		op("aten::addmm");
		end(b);
		end(a);
		a = begin("AddmmBackward0", false, 1, i, 1, 0);
		op("aten::mm");
		end(a);
		a = begin("Optimizer.step#SGD.step", false, 7, -1, 0, 0);
		end(begin("aten::add_", true, 0, -1, 0, 3));
		end(a);
	}
	end(begin("aten::nested", true, 0, -1, 0, 2));
	for (int tensors = 4; tensors <= 6; tensors++)
		for (int i = 0; i < 3; i++)
			end(begin("aten::_to_copy", true, 0, -1, 0, tensors));
	/* as TorchScript's fork does */
	a = begin("forked", false, 2, -1, 0, 0);
	pthread_create(&thread, NULL, elsewhere, a);
	pthread_join(thread, NULL);
	op("aten::after");
}

/* How many callbacks there are around functions, nodes of a backward pass, and ranges. */
static void say_callbacks(const char *level, int (*count)(int scope))
{
	printf("%s %d %d %d\n", level, count(0), count(1), count(7));
}

static void levels(int (*count)(int scope))
{
	void *runtime = dlopen("libtftop-runtime.so", RTLD_LAZY | RTLD_NOLOAD), *open;
	void (*level)(int) = runtime ? (void (*)(int))dlsym(runtime, "rt_text_level") : NULL;

	if (!level)
		return;
	say_callbacks("default", count);
	open = begin("aten::open", true, 0, -1, 0, 0);
	level(0);
	op("aten::unseen");
	say_callbacks("off", count);
	end(open);
	level(1);
	say_callbacks("min", count);
	op("aten::untold");
	end(begin("AddmmBackward0", false, 1, 0, 1, 0));
	level(2);
	op("aten::again");
	say_callbacks("default", count);
	level(1);
	say_callbacks("min of a training", count);
	level(2);
}

/* The times are made up, so that there are many ops on a slow machine too. */
static void many(void (*tick)(long))
{
	static const int ops[] = { 1, 600000, 600000, 1, 1, 1 };
	static const long ms[] = { 3000, 250, 250, 11000, 2500, 250 };
	long now = 1000000000000;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		for (int n = 0; n < ops[i]; n++) {
			void *outer = begin("aten::tiny", true, 0, -1, 0, 0);

			if (ops[i] == 1)
				op("aten::within");
			end(outer);
		}
		now += ms[i] * 1000000;
		if (tick)
			tick(now);
	}
}

#define COST_STEPS 400

static void step(void (*tick)(void), bool trains)
{
	void *o;

	end(begin("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", false, 7, -1, 0,
		  0));
	op("aten::linear");
	if (trains) {
		end(begin("AddmmBackward0", false, 1, -1, 0, 0));
		o = begin("Optimizer.step#SGD.step", false, 7, -1, 0, 0);
		op("aten::add_");
		end(o);
	}
	if (tick)
		tick();
}

static void *steps(void *tick)
{
	for (int i = 0; i < COST_STEPS; i++)
		step((void (*)(void))tick, true);
	return NULL;
}

/* Two threads take turns, so that each ends steps between those of the other. */
static pthread_barrier_t turn;

static void *in_turns(void *which)
{
	for (int i = 0; i < COST_STEPS; i++) {
		pthread_barrier_wait(&turn);
		if (i % 2 == (which != NULL))
			step(NULL, true);
	}
	return NULL;
}

static void cost(const char *how, void (*tick)(void))
{
	pthread_t thread;

	if (!strcmp(how, "threads")) {
		pthread_barrier_init(&turn, NULL, 2);
		pthread_create(&thread, NULL, in_turns, NULL);
		in_turns(&turn);
		pthread_join(thread, NULL);
	} else if (!strcmp(how, "infer")) {
		for (int i = 0; i < COST_STEPS; i++)
			step(tick, false);
	} else {
		steps((void *)tick);
	}
}

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW), *runtime;
	const char *how = argc > 2 ? argv[2] : "";
	struct callback mine = {
		.start = on_begin, .end = on_end, .probability = 1,
		.scopes = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	};
	uint64_t (*add)(struct callback);
	void *(*import)(void);
	int (*memory)(void);

	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	*(void **)&import = dlsym(library, "fake_import");
	*(void **)&begin = dlsym(library, "fake_begin");
	*(void **)&end = dlsym(library, "fake_end");
	*(void **)&memory = dlsym(library, "fake_memory");
	*(void **)&add = dlsym(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
	printf("import %d\n", import() != NULL);
	if (!strcmp(how, "levels")) {
		levels((int (*)(int))dlsym(library, "fake_callbacks"));
		return 0;
	}
	if (!strcmp(how, "many")) {
		runtime = dlopen("libtftop-runtime.so", RTLD_LAZY | RTLD_NOLOAD);
		many(runtime ? (void (*)(long))dlsym(runtime, "rt_text_tick_at") : NULL);
		return 0;
	}
	if (!strcmp(how, "cost")) {
		runtime = dlopen("libtftop-runtime.so", RTLD_LAZY | RTLD_NOLOAD);
		cost(argc > 3 ? argv[3] : "train",
		     runtime ? (void (*)(void))dlsym(runtime, "rt_text_tick") : NULL);
		return 0;
	}
	add(mine);
	train();
	printf("reports %d\n", memory());
	printf("own callbacks %d %d\n", begins, ends);
	return 5;
}
