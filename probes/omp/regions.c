/* SPDX-License-Identifier: MIT */
/*
 * The functions that are called instead of those that begin a parallel region. All of these take
 * the region's function and its data first, and run that function on each thread of the team
 * before they return. They are given a function of ours, which calls the region's own.
 *
 * The region is a kernel of the thread that began it, and each other thread has a part of it. The
 * kernels of a thread are not nested: a region within a region, or within a kernel that is
 * recorded, is not recorded, and neither is a region in which kernels were recorded.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/imports/alike.h"
#include "probes/omp/probe.h"
#include "probes/runtime/cpu.h"

#define ROWS 256
#define NAMES 4096u		/* a power of two */
#define NAME_BYTES 1024

#define PARAMETERS \
	void (*function)(void *), void *data, uintptr_t c, uintptr_t d, uintptr_t e, \
	uintptr_t f, uintptr_t g, uintptr_t h

typedef uintptr_t omp_function(PARAMETERS);

static struct omp_row {
	_Atomic(void *) original;
	void **at;		/* the only place, while the dynamic linker has not filled it in */
} rows[ROWS];
static _Atomic unsigned int row_count;

/* ---- names ---- */

static struct {
	_Atomic uintptr_t function;
	_Atomic uint64_t ids;	/* names of the region and of its parts */
} names[NAMES];

static uint64_t make_ids(const void *function)
{
	char text[NAME_BYTES], part[NAME_BYTES + 8];
	uint64_t ids;

	omp_function_name(function, text, sizeof(text));
	snprintf(part, sizeof(part), "%s, part", text);
	ids = (uint64_t)rt_name(TFT_NAME_KERNEL, text) << 32;
	return ids | rt_name(TFT_NAME_KERNEL, part);
}

static uint64_t omp_ids_of(void (*function)(void *))
{
	uintptr_t key = (uintptr_t)function;
	uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) & (NAMES - 1);
	uint64_t ids;

	if (atomic_load_explicit(&names[at].function, memory_order_acquire) == key) {
		ids = atomic_load_explicit(&names[at].ids, memory_order_relaxed);
		rt_fence(memory_order_acquire);
		if (atomic_load_explicit(&names[at].function, memory_order_relaxed) == key)
			return ids;
	}
	ids = make_ids((const void *)key);
	atomic_store_explicit(&names[at].function, 0, memory_order_relaxed);
	rt_fence(memory_order_release);
	atomic_store_explicit(&names[at].ids, ids, memory_order_relaxed);
	atomic_store_explicit(&names[at].function, key, memory_order_release);
	return ids;
}

/* ---- a region ---- */

struct omp_team_region {
	void (*function)(void *);
	void *data;
	uint64_t ids;
	struct rt_top top;
	int64_t start_ns;
	uint32_t told;	/* how many kernels the thread that started it had recorded before */
};

static uint32_t told_so_far(void)
{
	const struct rt_cpu_thread *thread = rt_cpu_thread();

	return thread ? thread->told : 0;
}

static bool is_free(void)
{
	const struct rt_cpu_thread *thread = rt_level() == TFT_LEVEL_OFF ? NULL : rt_cpu_thread();

	return thread && !thread->within && thread->depth == 0;
}

__attribute__((tls_model("initial-exec")))
static _Thread_local const struct omp_team_region *inside;

static void tell(uint32_t name, const struct omp_team_region *r, int64_t start_ns)
{
	struct rt_cpu_kernel kernel = {
		.name = name, .start_ns = start_ns, .dur_ns = rt_now_ns() - start_ns,
		.op = r->top.instance, .op_name = r->top.name,
	};

	rt_cpu_ran(RT_LIBRARY_OPENMP, &kernel);
}

/* Runs on each thread of the team. */
static void omp_run_member(void *arg)
{
	const struct omp_team_region *r = arg, *outer = inside;
	int64_t start_ns;
	uint32_t told;

	if (outer) {		/* this thread started the region, or is busy with another one */
		r->function(r->data);
		return;
	}
	inside = r;
	told = told_so_far();
	start_ns = rt_now_ns();
	r->function(r->data);
	inside = NULL;
	if (told_so_far() == told)
		tell((uint32_t)r->ids, r, start_ns);
}

static void begin(struct omp_team_region *r, void (*function)(void *), void *data)
{
	int saved = errno;

	*r = (struct omp_team_region){
		.function = function, .data = data, .ids = omp_ids_of(function),
		.top = rt_op_launch(), .told = told_so_far(),
	};
	inside = r;
	r->start_ns = rt_now_ns();
	errno = saved;
}

static void end(struct omp_team_region *r)
{
	int saved = errno;

	inside = NULL;
	if (told_so_far() == r->told)
		tell((uint32_t)(r->ids >> 32), r, r->start_ns);
	errno = saved;
}

static void bound(struct omp_row *row);

__attribute__((noinline))
static uintptr_t omp_run_region(struct omp_row *row, PARAMETERS)
{
	omp_function *original =
		(omp_function *)atomic_load_explicit(&row->original, memory_order_acquire);
	bool told = !inside && is_free();
	struct omp_team_region region;
	uintptr_t result;

	if (told) {
		begin(&region, function, data);
		function = omp_run_member;
		data = &region;
	}
	result = original(function, data, c, d, e, f, g, h);
	if (told)
		end(&region);
	if (row->at)
		bound(row);
	return result;
}

#define CALL(number) \
static uintptr_t call_##number(PARAMETERS) \
{ \
	return omp_run_region(&rows[0x##number], function, data, c, d, e, f, g, h); \
}
#define NAME(number) call_##number,

ALIKE_256(CALL)

static omp_function *const functions[ROWS] = { ALIKE_256(NAME) };

/* The first call has put the runtime's function into the place. */
static void bound(struct omp_row *row)
{
	void *now = __atomic_load_n(row->at, __ATOMIC_ACQUIRE);
	void *ours = (void *)functions[row - rows];

	if (now == ours)
		return;
	atomic_store_explicit(&row->original, now, memory_order_release);
	__atomic_store_n(row->at, ours, __ATOMIC_RELEASE);
}

void *omp_region(const struct tft_import *import)
{
	unsigned int n = row_count;

	for (unsigned int i = 0; i < n; i++)
		if ((void *)functions[i] == import->now)
			return NULL;
	for (unsigned int i = 0; i < n && !import->unbound; i++)
		if (rows[i].original == import->now && !rows[i].at)
			return (void *)functions[i];
	if (n == ROWS)
		return NULL;
	rows[n].original = import->now;
	rows[n].at = import->unbound ? import->at : NULL;
	row_count = n + 1;
	return (void *)functions[n];
}
