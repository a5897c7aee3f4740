/* SPDX-License-Identifier: MIT */
/* See cpu.h. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/runtime/cpu.h"
#include "probes/runtime/internal.h"

#define QUEUES_MAX 2048u
#define RUNNING_MAX 64u
#define PARTS_MAX 64u
#define OWN_MAX_NS 100000	/* a longer gap was not caused by the probe */
#define CLOCK_NS 2000	/* a library that counts in microseconds may report this much more */

static const char *const libraries[RT_LIBRARY_COUNT] = {
	"oneDNN", "Eigen", "XLA", "XLA async", "BLAS", "OpenMP",
};

static _Atomic uint32_t device_state;	/* 0: not defined, 1: being defined, 2: defined */
static _Atomic uint32_t generation = 1;	/* raised in a child of a fork, which needs new ids */
static _Atomic uint32_t queue_count;
static struct {
	_Atomic uint32_t library;	/* library plus 1; 0: not complete yet */
	uint32_t tid;
	bool main;
} queues[QUEUES_MAX];

/* Kernels that are running, for their parts on other threads. A slot belongs to its thread while
 * `kind` is not 0. */
static struct {
	_Atomic uint32_t kind, op_name;
	_Atomic uint64_t op;
} running[RUNNING_MAX];
static _Atomic uint32_t running_top;

/* Names of parts, by the kind's name. */
static _Atomic uint64_t parts[PARTS_MAX];	/* kind << 32 | name */

/* ---- definitions ---- */

static void rt_cpu_model_name(char *buf, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256], *colon;

	snprintf(buf, size, "processor");
	while (f && fgets(line, sizeof(line), f)) {
		colon = strncmp(line, "model name", 10) ? NULL : strchr(line, ':');
		if (!colon || !colon[1])
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(buf, size, "%s", colon + 2);
		break;
	}
	if (f)
		fclose(f);
}

static uint32_t cores(void)
{
	cpu_set_t set;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (uint32_t)CPU_COUNT(&set);
	return n > 0 ? (uint32_t)n : 0;
}

static void rt_cpu_send_device(void)
{
	struct tft_device d = {
		.id = TFT_OWN_IDS, .gpu = 0, .units = cores(), .api = "cpu", .platform = "cpu",
	};
	struct tft_clock clock = { .device = TFT_OWN_IDS, .quality = TFT_CLOCK_KNOWN };
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	char name[128];

	rt_cpu_model_name(name, sizeof(name));
	d.name = name;
	if (pages > 0 && bytes > 0)
		d.memory_bytes = (uint64_t)pages * (uint64_t)bytes;
	rt_emit_device(&d);
	clock.host_ns = rt_now_ns();
	clock.ticks = (uint64_t)clock.host_ns;
	rt_emit_clock(&clock);
}

static void rt_cpu_send_queue(uint32_t i, uint32_t library)
{
	struct tft_queue q = {
		.id = TFT_OWN_IDS + 1 + i, .device = TFT_OWN_IDS,
		.flags = TFT_QUEUE_IN_ORDER | TFT_QUEUE_PROFILED,
	};
	char name[64];

	if (queues[i].main)
		snprintf(name, sizeof(name), "%s main", libraries[library]);
	else
		snprintf(name, sizeof(name), "%s %u", libraries[library], queues[i].tid);
	q.name = name;
	rt_emit_queue(&q);
}

uint32_t rt_cpu_device(void)
{
	uint32_t none = 0;
	int saved;

	if (GET_ACQ(device_state) == 0 && atomic_compare_exchange_strong(&device_state, &none, 1)) {
		saved = errno;
		rt_cpu_send_device();
		SET_REL(device_state, 2);
		errno = saved;
	}
	return TFT_OWN_IDS;
}

void rt_cpu_dump(void)
{
	uint32_t n = GET_ACQ(queue_count);

	if (GET_ACQ(device_state) != 2)
		return;
	rt_cpu_send_device();
	for (uint32_t i = 0; i < n && i < QUEUES_MAX; i++)
		if (GET_ACQ(queues[i].library))
			rt_cpu_send_queue(i, GET(queues[i].library) - 1);
}

void rt_cpu_fork_child(void)
{
	SET(device_state, 0);
	SET(generation, GET(generation) + 1);
	SET(queue_count, 0);
	memset(queues, 0, sizeof(queues));
	memset(running, 0, sizeof(running));
	SET(running_top, 0);
}

/* What was open when the level went off, or in the parent, never ends. */
static inline void rt_cpu_refresh(struct rt_thread *th)
{
	if (__builtin_expect(th->cpu.self.generation != GET(generation), 0)) {
		memset(&th->cpu, 0, sizeof(th->cpu));
		th->cpu.self.generation = GET(generation);
		th->cpu.self.epoch = GET(rt_epoch);
	}
	if (__builtin_expect(th->cpu.self.epoch == GET(rt_epoch), 1))
		return;
	th->cpu.self.epoch = GET(rt_epoch);
	for (int i = 0; i < th->cpu.self.depth && i < RT_CPU_OPEN_MAX; i++)
		if (th->cpu.open[i].slot >= 0)
			SET_REL(running[th->cpu.open[i].slot].kind, 0);
	th->cpu.self.depth = 0;
	th->cpu.self.within = false;
}

/* A state is used by one thread after another, and so are its queues. */
static uint32_t rt_cpu_queue_of(struct rt_thread *th, enum rt_library library)
{
	uint32_t i;

	if (__builtin_expect(th->cpu.queue[library] != 0, 1))
		return th->cpu.queue[library];
	rt_cpu_device();
	i = atomic_fetch_add(&queue_count, 1);
	if (i >= QUEUES_MAX) {
		SET(queue_count, QUEUES_MAX);
		return 0;
	}
	queues[i].tid = GET(th->tid);
	queues[i].main = GET(th->tid) == (uint32_t)getpid();
	SET_REL(queues[i].library, (uint32_t)library + 1);
	rt_cpu_send_queue(i, (uint32_t)library);
	return th->cpu.queue[library] = TFT_OWN_IDS + 1 + i;
}

/* ---- kernels ---- */

static inline void emit(struct rt_thread *th, enum rt_library library, struct rt_kernel *k)
{
	k->queue = rt_cpu_queue_of(th, library);
	if (__builtin_expect(!k->queue, 0)) {
		rt_dropped(1);
		return;
	}
	th->cpu.self.told++;
	rt_batch_kernel(th, k);
}

/* It is known how long the kernel ran, not when; it may be one that has been begun. */
static void ran_now(struct rt_thread *th, enum rt_library library, struct rt_kernel *k, int64_t dur)
{
	struct rt_cpu_open *open = th->cpu.self.depth > 0 && th->cpu.self.depth <= RT_CPU_OPEN_MAX ?
				   &th->cpu.open[th->cpu.self.depth - 1] : NULL;
	int64_t now = rt_quick_ns(&th->clock);

	if (open && (open->told || open->start_ns + dur > now + CLOCK_NS))
		open = NULL;	/* it is another one */
	if (open && open->start_ns + dur > now)
		dur = now - open->start_ns;
	k->start_ns = open ? open->start_ns : now - dur;
	k->end_ns = k->start_ns + dur;
	emit(th, library, k);
	if (!open)
		return;
	open->told = true;
	/* the time that was spent on writing before this function was called */
	if (now - k->end_ns < OWN_MAX_NS)
		rt_own_time(now - k->end_ns);
}

void rt_cpu_ran(enum rt_library library, const struct rt_cpu_kernel *ran)
{
	struct rt_thread *th = rt_level() == TFT_LEVEL_OFF ? NULL : rt_self();
	struct rt_kernel k = {
		.name = ran->name, .shape = ran->shape, .op = ran->op, .op_name = ran->op_name,
		.start_ns = ran->start_ns, .end_ns = ran->start_ns + ran->dur_ns,
	};

	if (!th || ran->dur_ns < 0)
		return;
	rt_cpu_refresh(th);
	if (!k.op) {
		struct rt_top top = rt_op_launch();

		k.op = top.instance;
		k.op_name = top.name;
	}
	if (__builtin_expect(k.start_ns != 0, 1))
		emit(th, library, &k);
	else
		ran_now(th, library, &k, ran->dur_ns);
}

void rt_cpu_copied(enum rt_library library, const struct rt_cpu_copy *k)
{
	struct rt_thread *th = rt_level() == TFT_LEVEL_OFF ? NULL : rt_self();
	struct tft_command c = {
		.name = k->name, .shape = k->place, .op = k->op, .op_name = k->op_name,
		.bytes = k->bytes, .kind = TFT_KIND_COPY, .direction = k->direction,
		.start_ticks = (uint64_t)k->start_ns,
		.end_ticks = (uint64_t)(k->start_ns + k->dur_ns),
		.how = k->op ? TFT_HOW_EXACT : TFT_HOW_NONE,
	};

	if (!th || k->dur_ns < 0)
		return;
	rt_cpu_refresh(th);
	c.tid = GET(th->tid);
	c.queue = rt_cpu_queue_of(th, library);
	if (c.queue)
		rt_emit_command(&c);
	else
		rt_dropped(1);
}

struct rt_cpu_thread *rt_cpu_thread(void)
{
	struct rt_thread *th = rt_level() == TFT_LEVEL_OFF ? NULL : rt_self();

	if (th)
		rt_cpu_refresh(th);
	return th ? &th->cpu.self : NULL;
}

/* ---- kernels that begin and end ---- */

static uint32_t part_name(uint32_t kind, const char *text)
{
	_Atomic uint64_t *slot = &parts[kind % PARTS_MAX];
	uint64_t have = GET(*slot);
	char buf[128];

	if (have >> 32 != kind) {
		snprintf(buf, sizeof(buf), "%.100s, part", text ? text : "");
		have = (uint64_t)kind << 32 | rt_name(TFT_NAME_KERNEL, buf);
		SET(*slot, have);
	}
	return (uint32_t)have;
}

static int run_slot(uint32_t kind, struct rt_top top)
{
	for (uint32_t i = 0; i < RUNNING_MAX; i++) {
		uint32_t none = 0, n = GET(running_top);

		if (GET(running[i].kind) ||
		    !atomic_compare_exchange_strong(&running[i].kind, &none, UINT32_MAX))
			continue;
		SET(running[i].op, top.instance);
		SET(running[i].op_name, top.name);
		SET_REL(running[i].kind, kind);
		while (n <= i && !atomic_compare_exchange_weak(&running_top, &n, i + 1))
			;
		return (int)i;
	}
	return -1;
}

/* The op of the kernel of that kind that is running; none if several are running. */
static struct rt_top sole_op(uint32_t kind)
{
	struct rt_top top = { .step = -1 };
	uint32_t n = GET(running_top), found = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (GET_ACQ(running[i].kind) != kind)
			continue;
		top.instance = GET(running[i].op);
		top.name = GET(running[i].op_name);
		found++;
	}
	return found == 1 ? top : (struct rt_top){ .step = -1 };
}

void rt_cpu_begin(enum rt_library library, uint32_t kind, const char *text)
{
	struct rt_thread *th = rt_level() == TFT_LEVEL_OFF ? NULL : rt_self();
	int saved = errno;
	struct rt_cpu_open *open;

	if (!th)
		return;
	rt_cpu_refresh(th);
	rt_cpu_queue_of(th, library);
	if (++th->cpu.self.depth > RT_CPU_OPEN_MAX)
		return;
	open = &th->cpu.open[th->cpu.self.depth - 1];
	*open = (struct rt_cpu_open){ .name = kind, .slot = -1 };
	if (th->cpu.self.depth == 1) {
		open->top = rt_op_current();
		if (open->top.instance) {
			open->slot = run_slot(kind, open->top);
		} else {
			open->name = part_name(kind, text);
			open->top = sole_op(kind);
		}
	}
	open->start_ns = rt_quick_ns(&th->clock);
	errno = saved;
}

void rt_cpu_end(enum rt_library library)
{
	struct rt_thread *th = rt_level() == TFT_LEVEL_OFF ? NULL : rt_self();
	struct rt_cpu_open *open;
	struct rt_kernel k;

	if (!th)
		return;
	rt_cpu_refresh(th);
	if (th->cpu.self.depth < 1 || th->cpu.self.depth-- > RT_CPU_OPEN_MAX)
		return;
	open = &th->cpu.open[th->cpu.self.depth];
	if (open->slot >= 0)
		SET_REL(running[open->slot].kind, 0);
	/* within another kernel: this is its own thread's share of it */
	if (open->told || th->cpu.self.depth)
		return;
	if (open->slot >= 0)
		rt_op_launch();
	k = (struct rt_kernel){
		.name = open->name, .op = open->top.instance, .op_name = open->top.name,
		.start_ns = open->start_ns, .end_ns = rt_quick_ns(&th->clock),
	};
	emit(th, library, &k);
}
