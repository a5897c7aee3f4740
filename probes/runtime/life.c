/* SPDX-License-Identifier: MIT */
/* From the first probe to the end of the process: control page, start, fork, exit. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lttng/ust-fork.h>

#include "probes/runtime/internal.h"

#define ARM_WAIT_NS 1000000000
#define ALIVE_NS 5000000000
#define FORK_LIBRARY "liblttng-ust-fork.so"

volatile uint32_t tft_rt_level_now;
_Atomic uint32_t rt_armed;
_Atomic uint32_t rt_child_pending;

static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static bool life_held;			/* over a fork */
static const struct tft_control *control;	/* mapped for good, NULL: no tftop */
static bool control_tried, started, was_enabled;
static uint32_t dump_seen;
static const struct rt_probe *probes[RT_PROBES_MAX];
static _Atomic int probe_count;
static _Atomic uint32_t ended;
static bool ust_fork;			/* liblttng-ust-fork does LTTng's part */
static __thread sigset_t fork_signals;

const struct rt_probe *const *rt_probes(int *n)
{
	*n = GET_ACQ(probe_count);
	return probes;
}

static void control_map(void)
{
	const char *path = getenv(TFT_CONTROL_ENV);
	struct stat st;
	void *p;
	int fd;

	if (control_tried)
		return;
	control_tried = true;
	if (!path || !*path)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= TFT_CONTROL_BYTES) {
		p = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED)
			control = p;
	}
	close(fd);
}

#define PAGE(field) __atomic_load_n(&control->field, __ATOMIC_RELAXED)

/* tftop is there and has not let go. */
static bool control_lives(int64_t now_ns)
{
	int64_t alive;

	if (!control || PAGE(magic) != TFT_CONTROL_MAGIC ||
	    PAGE(version) != TFT_CONTROL_VERSION || PAGE(closed))
		return false;
	alive = PAGE(alive_ns);
	return alive == 0 || now_ns - alive < ALIVE_NS;
}

static void set_level(enum tft_level level)
{
	if (level != TFT_LEVEL_OFF && rt_level() == TFT_LEVEL_OFF)
		atomic_fetch_add_explicit(&rt_epoch, 1, memory_order_relaxed);
	if (level != rt_level())
		tft_rt_level_now = level;
}

void rt_control_refresh(int64_t now_ns)
{
	bool lives = control_lives(now_ns), was = GET(rt_armed), enabled;
	uint32_t level = lives ? PAGE(level) : TFT_LEVEL_OFF;
	uint32_t dump = lives ? PAGE(dump_generation) : dump_seen;

	if (level > TFT_LEVEL_FULL)
		level = TFT_LEVEL_FULL;
	SET(rt_armed, lives);
	enabled = lives && rt_enabled();
	if (enabled && (!was || !was_enabled || dump != dump_seen))
		rt_dump_all();
	was_enabled = enabled;
	dump_seen = dump;
	set_level((enum tft_level)level);
}

void rt_dump_all(void)
{
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);

	rt_process_introduce();
	for (int i = 0; i < n; i++) {
		struct tft_probe r = {
			.name = probe[i]->name ? probe[i]->name : "",
			.version = probe[i]->version ? probe[i]->version : "",
			.blind = probe[i]->blind ? probe[i]->blind : "",
		};

		rt_emit_probe(&r);
	}
	rt_threads_dump();
	rt_names_dump();
	for (int i = 0; i < n; i++)
		if (probe[i]->dump)
			probe[i]->dump();
}

/* ---- exit ---- */

static void finish(int32_t reason, int32_t status)
{
	struct tft_exit r = { .reason = reason, .status = status };
	int saved = errno, n;
	const struct rt_probe *const *probe = rt_probes(&n);

	if (!started || GET(rt_child_pending) || !GET(rt_armed))
		return;
	if (!atomic_exchange(&ended, 1) && rt_loop_stop()) {
		for (int i = 0; i < n; i++)
			if (probe[i]->fini)
				probe[i]->fini();
	}
	rt_loop_last_beat();
	rt_emit_exit(&r);
	errno = saved;
}

static void at_exit(int status, void *arg)
{
	(void)arg;
	finish(0, status);
}

/* Called by libtftop-start before _exit and exec; never in a vfork child. */
static void early_exit(int reason, int status)
{
	finish(reason, status);
}

static void hook_start_library(void)
{
	void (*set)(void (*)(int, int)) =
		(void (*)(void (*)(int, int)))dlsym(RTLD_DEFAULT, "tft_start_hook");

	if (set)
		set(early_exit);
}

/* ---- fork ---- */

static void fork_locks(enum rt_fork stage)
{
	rt_fork_lock(&life_lock, &life_held, stage);
	rt_async_fork(stage);
	rt_names_fork(stage);
	rt_threads_fork(stage);
}

static void before_fork(void)
{
	fork_locks(RT_FORK_BEFORE);
	if (!ust_fork)
		lttng_ust_before_fork(&fork_signals);
}

static void parent_after_fork(void)
{
	if (!ust_fork)
		lttng_ust_after_fork_parent(&fork_signals);
	fork_locks(RT_FORK_PARENT);
}

static void child_after_fork(void)
{
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);

	if (!ust_fork)
		lttng_ust_after_fork_child(&fork_signals);
	fork_locks(RT_FORK_CHILD);
	rt_loop_fork_child();
	SET(rt_totals.dropped, 0);
	SET(rt_totals.vendor_dropped, 0);
	SET(rt_totals.own_ns, 0);
	SET(rt_totals.instances, 0);
	SET(rt_totals.correlations, 0);
	SET(ended, 0);
	SET(rt_child_pending, started);
	for (int i = 0; i < n; i++)
		if (probe[i]->fork_child)
			probe[i]->fork_child();
}

/* The child's first event: it introduces itself and gets its own thread. */
void rt_child_start(void)
{
	if (!rt_lock(&life_lock))
		return;
	if (GET(rt_child_pending)) {
		SET(rt_child_pending, 0);
		hook_start_library();
		rt_dump_all();
		rt_loop_start();
	}
	rt_unlock(&life_lock);
}

/* ---- start ---- */

static void wait_enabled(void)
{
	int64_t until = rt_now_ns() + ARM_WAIT_NS;
	struct timespec ms = { 0, 1000000 };

	while (!rt_enabled() && rt_now_ns() < until)
		nanosleep(&ms, NULL);
}

static void start(void)
{
	void *h = dlopen(FORK_LIBRARY ".1", RTLD_LAZY | RTLD_NOLOAD);

	if (!h)
		h = dlopen(FORK_LIBRARY ".0", RTLD_LAZY | RTLD_NOLOAD);
	ust_fork = h != NULL;
	rt_barrier_init();
	started = true;
	SET(rt_armed, 1);
	wait_enabled();
	was_enabled = rt_enabled();
	dump_seen = PAGE(dump_generation);
	set_level(PAGE(level) > TFT_LEVEL_FULL ? TFT_LEVEL_FULL : (enum tft_level)PAGE(level));
	rt_loop_level(rt_level());
	rt_process_introduce();
	pthread_atfork(before_fork, parent_after_fork, child_after_fork);
	on_exit(at_exit, NULL);
	hook_start_library();
}

static bool add(const struct rt_probe *probe)
{
	int n = GET(probe_count);

	for (int i = 0; i < n; i++)
		if (probes[i] == probe)
			return false;
	if (n == RT_PROBES_MAX) {
		rt_dropped(1);
		return false;
	}
	probes[n] = probe;
	SET_REL(probe_count, n + 1);
	return true;
}

bool rt_probe_register(const struct rt_probe *probe)
{
	int saved = errno;
	bool ok = false;

	if (GET(rt_child_pending))
		rt_self();	/* introduces the child, outside our lock */
	if (!rt_lock(&life_lock))
		return false;
	control_map();
	if (started || control_lives(rt_now_ns())) {
		if (!started)
			start();
		if (add(probe)) {
			struct tft_probe r = {
				.name = probe->name ? probe->name : "",
				.version = probe->version ? probe->version : "",
				.blind = probe->blind ? probe->blind : "",
			};

			rt_emit_probe(&r);
		}
		rt_loop_start();
		ok = true;
	}
	rt_unlock(&life_lock);
	errno = saved;
	return ok;
}

/* After atexit handlers that came later than ours: what they did is said too. */
__attribute__((destructor)) static void at_unload(void)
{
	if (started && GET(ended) && !GET(rt_child_pending) && GET(rt_armed))
		rt_loop_last_beat();
}
