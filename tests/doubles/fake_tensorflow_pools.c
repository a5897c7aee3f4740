/* SPDX-License-Identifier: MIT */
/*
 * A thread pool that looks like TSL's since 2.18; used with fake_tensorflow.c. A collector is
 * called for each closure, and the program's own profiler has one too.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#if PARAMS == 24	/* the newer of the two versions */
#define API __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define COLLECTOR "_ZN3tsl7tracing17SetEventCollectorENS0_13EventCategoryEPKNS0_14EventCollectorE"
#define LISTENER "_ZN3tsl8profiler19threadpool_listener"
#define POOLS "_ZN3tsl8profiler27ThreadpoolProfilerInterface"

struct kernel;
int fake_run(struct kernel *k, int64_t step);

struct functions {
	void (*destroy)(void *), (*destroy_delete)(void *);
	void (*scheduled)(const void *, uint64_t), (*begins)(const void *, uint64_t);
	void (*ends)(const void *);
};
struct collector {
	const struct functions *functions;
};

API void set_collector(int category, const struct collector *collector) NAMED(COLLECTOR);
API void listener_on(void) NAMED(LISTENER "8ActivateEv");
API void listener_off(void) NAMED(LISTENER "10DeactivateEv");
API bool listener_enabled(void) NAMED(LISTENER "9IsEnabledEv");
API void *pools_start(void **status, void *profiler) NAMED(POOLS "5StartEv");
API void *pools_stop(void **status, void *profiler) NAMED(POOLS "4StopEv");
API void *const fake_pools_vtable[] = { (void *)pools_start, (void *)pools_stop };

static const struct collector *collectors[2];
static bool listening;
static int theirs[3];

void set_collector(int category, const struct collector *collector)
{
	collectors[category] = collector;
}

void listener_on(void)
{
	listening = true;
}

void listener_off(void)
{
	listening = false;
}

bool listener_enabled(void)
{
	return listening;
}

static void their_schedule(const void *collector, uint64_t id)
{
	(void)collector;
	theirs[0] += id != 0;
}

static void their_begin(const void *collector, uint64_t id)
{
	(void)collector;
	theirs[1] += id != 0;
}

static void their_end(const void *collector)
{
	(void)collector;
	theirs[2]++;
}

/* If another collector is installed, its own is not. */
void *pools_start(void **status, void *profiler)
{
	static const struct functions functions = {
		.scheduled = their_schedule, .begins = their_begin, .ends = their_end,
	};
	static const struct collector own = { &functions };

	*status = profiler == (void *)5 && !listener_enabled() ? NULL : (void *)0x88;
	if (!*status) {
		set_collector(0, &own);
		set_collector(1, &own);
		listener_on();
	}
	return status;
}

void *pools_stop(void **status, void *profiler)
{
	*status = profiler == (void *)5 && listener_enabled() ? NULL : (void *)0x88;
	listener_off();
	set_collector(0, NULL);
	set_collector(1, NULL);
	return status;
}

struct closure {
	uint64_t id;
	struct kernel *kernels[2];
	int64_t step;
	int ran;		/* number of runs so far */
};

static void *pool_thread(void *arg)
{
	struct closure *c = arg;
	const struct collector *now = listener_enabled() ? collectors[1] : NULL;

	if (now)
		now->functions->begins(now, c->id);
	for (int i = 0; i < 2 && c->kernels[i]; i++)
		c->ran = fake_run(c->kernels[i], c->step);
	if (now && listener_enabled())
		now->functions->ends(now);
	return NULL;
}

/* A closure of up to two ops that waits for its thread for at least ms. */
API int fake_pool(struct kernel *a, struct kernel *b, int64_t step, int ms);
int fake_pool(struct kernel *a, struct kernel *b, int64_t step, int ms)
{
	static uint64_t ids;
	struct closure c = { .kernels = { a, b }, .step = step };
	struct timespec wait = { 0, ms * 1000000L };
	pthread_t thread;

	if (listener_enabled()) {
		c.id = ++ids;
		if (collectors[0])
			collectors[0]->functions->scheduled(collectors[0], c.id);
	}
	nanosleep(&wait, NULL);
	if (pthread_create(&thread, NULL, pool_thread, &c) || pthread_join(thread, NULL))
		return -1;
	return c.ran;
}

/* The program's own session: what it recorded of a closure, and whether it started and ended. */
API int fake_pool_profile(struct kernel *a);
int fake_pool_profile(struct kernel *a)
{
	void *began = (void *)1, *ended = (void *)1;

	memset(theirs, 0, sizeof(theirs));
	((void *(*)(void **, void *))fake_pools_vtable[0])(&began, (void *)5);
	fake_pool(a, NULL, 3, 0);
	((void *(*)(void **, void *))fake_pools_vtable[1])(&ended, (void *)5);
	return began || ended ? -1 : theirs[0] * 100 + theirs[1] * 10 + theirs[2];
}
#endif
