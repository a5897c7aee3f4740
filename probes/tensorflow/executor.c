/* SPDX-License-Identifier: MIT */
/*
 * Thread pools: which op waited for a thread, and for how long.
 *
 * What TensorFlow hands to one of its pools is a closure: the executor's run of ops that became
 * ready, or a part of a parallel loop. TSL gives it an id, and tells a collector when it is handed
 * over, on that thread, and when a thread of the pool begins and ends it (EventCollector in
 * tsl/platform/tracing.h, EigenEnvironment in threadpool.cc). The collector is an object with
 * virtual functions; ours has a hand-made table of them, in the order of the Itanium C++ ABI. The
 * first op that begins in a closure has waited as long as the closure (rt_op_handed); later ones
 * run inline and waited for no thread.
 *
 * The program's own profiler has a collector too, and does not start that part if it finds another
 * one. So ours is removed while the profiler's session is on.
 *
 * From TensorFlow 2.18 on; before, the calls are not compiled in.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "probes/runtime/quick.h"
#include "probes/tensorflow/probe.h"

#define LISTENER "_ZN3tsl8profiler19threadpool_listener"
#define SET_COLLECTOR \
	"_ZN3tsl7tracing17SetEventCollectorENS0_13EventCategoryEPKNS0_14EventCollectorE"

#define GET(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define SET(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

/* Closures in queues at one time whose waiting time can be known, a power of two; ids are counted.
 * Neighbouring ids come from several threads, so they are a stride apart. */
#define SLOTS 8192u
#define STRIDE 5u
#define TELL_NS 1000000000

enum { SCHEDULE_CLOSURE, RUN_CLOSURE };		/* enum EventCategory */

/* ---- closures that were handed over ---- */

struct handed {
	_Atomic uint64_t id;	/* written last; 0: being written */
	_Atomic int64_t at_ns;
	_Atomic uint32_t tid;
};

static struct handed slots[SLOTS];

/* The entry may have been replaced: then its id has changed. */
static bool handed_take(uint64_t id, int64_t *at_ns, uint32_t *tid)
{
	struct handed *h = &slots[id * STRIDE % SLOTS];

	if (!id || atomic_load_explicit(&h->id, memory_order_acquire) != id)
		return false;
	*at_ns = GET(h->at_ns);
	*tid = GET(h->tid);
	rt_fence(memory_order_acquire);
	return GET(h->id) == id;
}

/* ---- threads of pools ---- */

/* Written by its thread, read by the runtime's; released when the thread has ended and its sums
 * were sent. */
struct pool_worker {
	struct pool_worker *next;
	_Atomic uint32_t tid;			/* 0: unused */
	_Atomic uint32_t gone;
	_Atomic uint64_t closures, with_ops, timed;
	_Atomic int64_t wait_ns, max_wait_ns, busy_ns;
	struct tft_pool told;	/* used by the runtime's thread: sums up to end_ns */
	_Atomic int64_t since_ns;		/* when its first closure started */
	/* Used by its own thread. */
	uint32_t generation, depth;
	int64_t begin_ns, waited_ns;		/* of the current closure; 0: unknown */
};

static struct pool_worker *_Atomic workers;		/* the list only grows */
static _Thread_local struct pool_worker *self;
static pthread_key_t key;
static bool have_key;
/* Raised when the collector is installed, because regions that were open before are not seen. */
static _Atomic uint32_t generation;

static void worker_ends(void *arg)
{
	struct pool_worker *w = arg;

	atomic_store_explicit(&w->gone, 1, memory_order_release);
	self = NULL;
}

static struct pool_worker *worker_new(void)
{
	struct pool_worker *w;
	uint32_t nobody;

	for (w = atomic_load(&workers); w; w = w->next) {
		nobody = 0;
		if (atomic_compare_exchange_strong(&w->tid, &nobody, rt_tid()))
			return w;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	atomic_init(&w->tid, rt_tid());
	w->next = atomic_load(&workers);
	while (!atomic_compare_exchange_weak(&workers, &w->next, w))
		;
	return w;
}

static struct pool_worker *worker_self(void)
{
	int saved = errno;

	if (__builtin_expect(self != NULL, 1))
		return self;
	if (!have_key || !(self = worker_new())) {
		errno = saved;
		return NULL;
	}
	if (pthread_setspecific(key, self))
		worker_ends(self);
	errno = saved;
	return self;
}

/* ---- the collector ---- */

static void on_scheduled(const void *collector, uint64_t id)
{
	struct handed *h = &slots[id * STRIDE % SLOTS];

	(void)collector;
	SET(h->id, 0);
	rt_fence(memory_order_release);
	SET(h->tid, rt_tid());
	SET(h->at_ns, rt_quick_now());
	atomic_store_explicit(&h->id, id, memory_order_release);
}

static inline void add(_Atomic int64_t *sum, int64_t ns)
{
	SET(*sum, GET(*sum) + ns);
}

static inline void count(_Atomic uint64_t *sum)
{
	SET(*sum, GET(*sum) + 1);
}

static void on_begin(const void *collector, uint64_t id)
{
	struct pool_worker *w = worker_self();
	uint32_t now = GET(generation), tid = 0;
	int64_t at_ns, wait_ns = 0;

	(void)collector;
	if (!w)
		return;
	if (w->generation != now) {
		w->generation = now;
		w->depth = 0;
	}
	/* if a queue is full, the closure runs at once, within another one */
	if (w->depth++)
		return;
	w->begin_ns = rt_quick_now();
	if (!GET(w->since_ns))
		SET(w->since_ns, w->begin_ns);
	if (handed_take(id, &at_ns, &tid)) {
		wait_ns = w->begin_ns > at_ns ? w->begin_ns - at_ns : 1;
		count(&w->timed);
		add(&w->wait_ns, wait_ns);
		if (wait_ns > GET(w->max_wait_ns))
			SET(w->max_wait_ns, wait_ns);
	}
	w->waited_ns = wait_ns;
	rt_op_handed(wait_ns, tid);
}

static void on_end(const void *collector)
{
	struct pool_worker *w = self;

	(void)collector;
	if (!w || w->generation != GET(generation) || !w->depth || --w->depth)
		return;
	add(&w->busy_ns, rt_quick_now() - w->begin_ns);
	count(&w->closures);
	if (rt_op_handed(0, 0) && w->waited_ns)
		count(&w->with_ops);
}

static void on_destroy(void *collector)
{
	(void)collector;	/* it has no owner */
}

/* As the compiler lays it out: two destructors, then the functions in the order of declaration. */
static const void *const functions[] = {
	(const void *)on_destroy, (const void *)on_destroy, (const void *)on_scheduled,
	(const void *)on_begin, (const void *)on_end,
};
static const struct {
	const void *const *functions;
} collector = { functions };

/* ---- installing the collector ---- */

static struct {
	void (*set)(int category, const void *collector);
	void (*activate)(void), (*deactivate)(void);
	bool (*enabled)(void);
} tsl;
static atomic_flag busy = ATOMIC_FLAG_INIT;	/* held around a few stores into TSL */
static bool there, wanted;
static int sessions;				/* sessions of the program's profiler */

static void hold(void)
{
	while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		;
}

static void release(void)
{
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* `busy` must be held. */
static void tf_pools_put(void)
{
	bool in = wanted && !sessions;

	if (in == there || !tsl.set || (in && tsl.enabled()))
		return;
	there = in;
	if (in) {
		atomic_fetch_add(&generation, 1);
		tsl.set(SCHEDULE_CLOSURE, &collector);
		tsl.set(RUN_CLOSURE, &collector);
		tsl.activate();
	} else {
		tsl.deactivate();
		tsl.set(SCHEDULE_CLOSURE, NULL);
		tsl.set(RUN_CLOSURE, NULL);
	}
}

void tf_pools_level(enum tft_level level)
{
	hold();
	wanted = level >= TFT_LEVEL_DEFAULT;
	tf_pools_put();
	release();
}

void tf_pools_start(void)
{
	if (tf_original(TFT_TF_POOLS_START) && tf_original(TFT_TF_POOLS_STOP)) {
		tsl.activate = (void (*)(void))tf_lib->find(LISTENER "8ActivateEv");
		tsl.deactivate = (void (*)(void))tf_lib->find(LISTENER "10DeactivateEv");
		tsl.enabled = (bool (*)(void))tf_lib->find(LISTENER "9IsEnabledEv");
		if (tsl.activate && tsl.deactivate && tsl.enabled)
			tsl.set = (void (*)(int, const void *))tf_lib->find(SET_COLLECTOR);
	}
	if (!tsl.set) {
		tf_blind("how long ops wait for a thread of a pool is not seen: TensorFlow reports "
			 "this from 2.18 on");
		return;
	}
	have_key = pthread_key_create(&key, worker_ends) == 0;
	tf_pools_level(rt_level());
}

/* ---- the program's own profiler ---- */

static void session(int change)
{
	hold();
	sessions += change;
	tf_pools_put();
	release();
}

void *tf_pools_profiler_start(void *status, void *profiler)
{
	void *result;

	session(1);
	result = ((void *(*)(void *, void *))tf_original(TFT_TF_POOLS_START))(status, profiler);
	/* it did not start, and will not be stopped */
	if (!tsl.enabled || !tsl.enabled())
		session(-1);
	return result;
}

void *tf_pools_profiler_stop(void *status, void *profiler)
{
	void *result = ((void *(*)(void *, void *))tf_original(TFT_TF_POOLS_STOP))(status,
										 profiler);

	hold();
	sessions = 0;	/* there is one collector, and so one session */
	tf_pools_put();
	release();
	return result;
}

/* ---- sending ---- */

static void tf_worker_tell(struct pool_worker *w, bool now)
{
	uint32_t gone = atomic_load_explicit(&w->gone, memory_order_acquire);
	struct tft_pool *told = &w->told, sum = {
		.tid = GET(w->tid), .closures = GET(w->closures), .with_ops = GET(w->with_ops),
		.timed = GET(w->timed), .wait_ns = GET(w->wait_ns), .busy_ns = GET(w->busy_ns),
		.max_wait_ns = GET(w->max_wait_ns), .begin_ns = told->end_ns,
	}, r;

	if (!sum.tid)
		return;
	/* what has started by now; the thread may be newer than the tick */
	sum.end_ns = rt_now_ns();
	r = sum;
	if (!r.begin_ns)
		r.begin_ns = GET(w->since_ns);
	r.closures -= told->closures;
	r.with_ops -= told->with_ops;
	r.timed -= told->timed;
	r.wait_ns -= told->wait_ns;
	r.busy_ns -= told->busy_ns;
	if (r.timed || r.closures || (now && sum.closures)) {
		rt_emit_pool(&r);
		*told = sum;
	}
	if (gone) {
		*told = (struct tft_pool){ 0 };
		SET(w->closures, 0);
		SET(w->with_ops, 0);
		SET(w->timed, 0);
		SET(w->wait_ns, 0);
		SET(w->max_wait_ns, 0);
		SET(w->busy_ns, 0);
		SET(w->since_ns, 0);
		SET(w->gone, 0);
		atomic_store_explicit(&w->tid, 0, memory_order_release);
	}
}

void tf_pools_tell(bool now)
{
	static int64_t last_ns;
	int64_t now_ns = rt_now_ns();

	if (!now && now_ns - last_ns < TELL_NS)
		return;
	last_ns = now_ns;
	for (struct pool_worker *w = atomic_load(&workers); w; w = w->next)
		tf_worker_tell(w, now);
}

/* Its threads belong to the parent, and so does what they did. */
void tf_pools_fork_child(void)
{
	for (struct pool_worker *w = atomic_load(&workers); w; w = w->next) {
		SET(w->gone, 1);
		w->told = (struct tft_pool){
			.tid = GET(w->tid), .closures = GET(w->closures),
			.with_ops = GET(w->with_ops), .timed = GET(w->timed),
			.wait_ns = GET(w->wait_ns), .busy_ns = GET(w->busy_ns),
		};
	}
	if (have_key)
		pthread_setspecific(key, NULL);
	self = NULL;
	atomic_flag_clear(&busy);
}
