/* SPDX-License-Identifier: MIT */
/*
 * Copies from one device of the CPU client to another. A Python thread requests them by
 * ScheduleCopyTo() of CommonPjRtRawBuffer, since 0.12 of CommonPjRtRawBufferImpl. A thread of XLA
 * makes them when the array is ready, by CpuRawBuffer::CopyRawHostToDeviceAndReturnEvent() of the
 * destination buffer.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"
#include "probes/runtime/cpu.h"

#define ASKED 64u		/* how many may be requested at once */
#define PENDING_NS 2000000000	/* after this long, it will not come any more */

/* RCReference<CommonPjRtRawBuffer>, the promises and what they wait for are passed by address. */
typedef void schedule_function(void *from, void *runner, void *after, void *const *into,
			       void *allocated, void *copied, void *done);
typedef void *copy_function(void *result, void *into, const void *from, int64_t offset,
			    int64_t bytes);
/* since 0.12: RCReference<PjRtRawBufferInterface>, a base of the buffer, see BUFFER_BASE */
typedef void schedule_0_12(void *from, void *after, void *const *into, void *allocated,
			   void *copied, void *done);
typedef void *copy_0_12(void *result, void *into, const void *from, int64_t offset, int64_t bytes,
			const uintptr_t *after);

#define BUFFER_BASE 8u			/* offset in CpuRawBuffer */
#define AFTER_WORDS 3			/* of an array; all are 0 in an empty one */

static schedule_function *schedule;
static copy_function *copy;
static schedule_0_12 *schedule_new;
static copy_0_12 *copy_new;
static uint32_t op_name, op_type, names[2];

static struct jax_asked {
	_Atomic uint32_t busy;		/* it is being written or taken */
	_Atomic(const void *) into;	/* NULL: unused */
	_Atomic int64_t start_ns;
	struct rt_top op;
} asked[ASKED];

static bool enter(struct jax_asked *a)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong(&a->busy, &free, 1);
}

static void leave(struct jax_asked *a)
{
	atomic_store_explicit(&a->busy, 0, memory_order_release);
}

static void jax_asked_put(const void *into, struct rt_top op)
{
	int64_t now = rt_now_ns();

	for (uint32_t i = 0; i < ASKED; i++) {
		struct jax_asked *a = &asked[i];
		bool ours;

		if ((atomic_load(&a->into) && now - atomic_load(&a->start_ns) < PENDING_NS) ||
		    !enter(a))
			continue;
		ours = !a->into || now - a->start_ns >= PENDING_NS;
		if (ours) {
			a->op = op;
			a->start_ns = now;
			a->into = into;
		}
		leave(a);
		if (ours)
			return;
	}
}

static bool jax_asked_take(const void *into, struct rt_top *op)
{
	for (uint32_t i = 0; i < ASKED; i++) {
		struct jax_asked *a = &asked[i];
		bool ours;

		if (atomic_load(&a->into) != into || !enter(a))
			continue;
		ours = a->into == into;
		if (ours) {
			*op = a->op;
			a->into = NULL;
		}
		leave(a);
		if (ours)
			return true;
	}
	return false;
}

int64_t jax_between_pending_ns(void)
{
	int64_t oldest = INT64_MAX, now = rt_now_ns();

	for (uint32_t i = 0; i < ASKED; i++) {
		int64_t start_ns = atomic_load(&asked[i].start_ns);

		if (atomic_load(&asked[i].into) && start_ns < oldest && now - start_ns < PENDING_NS)
			oldest = start_ns;
	}
	return oldest;
}

void jax_between_fork_child(void)
{
	memset(asked, 0, sizeof(asked));
}

/* ---- hooks ---- */

/* A copy into that buffer is about to be requested: pushes an op. false: nothing is. */
static bool schedule_begins(const void *into)
{
	struct rt_op_args args = {
		.step = -1, .framework = TFT_FW_JAX, .name = op_name, .type = op_type,
	};
	struct jax_thread *t = rt_level() >= TFT_LEVEL_DEFAULT ? jax_self() : NULL;
	struct py_where where;
	struct rt_top top;
	int saved = errno;

	if (!t)
		return false;
	py_where(&where, NULL);
	args.source = where.source;
	rt_op_push(&args);
	top = rt_op_launch();
	if (t->blocks)
		jax_memory_for(t, top.instance, top.name);
	jax_asked_put(into, top);
	errno = saved;
	return true;
}

static void schedule_ends(bool begun)
{
	int saved = errno;

	if (begun)
		rt_op_pop(0);
	errno = saved;
}

static void on_schedule(void *from, void *runner, void *after, void *const *into, void *allocated,
			void *copied, void *done)
{
	bool begun = schedule_begins(*into);

	schedule(from, runner, after, into, allocated, copied, done);
	schedule_ends(begun);
}

static void on_schedule_0_12(void *from, void *after, void *const *into, void *allocated,
			     void *copied, void *done)
{
	bool begun = schedule_begins((const char *)*into - BUFFER_BASE);

	schedule_new(from, after, into, allocated, copied, done);
	schedule_ends(begun);
}

/* A copy that was not requested in this way comes from the host. */
static void copy_ends(const void *into, int64_t bytes, int64_t start_ns)
{
	struct rt_cpu_copy c = { .bytes = bytes > 0 ? (uint64_t)bytes : 0, .start_ns = start_ns };
	struct rt_top op = { .step = -1 };
	int saved = errno;
	bool between;

	c.dur_ns = rt_now_ns() - start_ns;
	between = jax_asked_take(into, &op);
	if (!between)
		op = rt_op_launch();
	c.op = op.instance;
	c.op_name = op.name;
	c.name = names[between];
	c.direction = between ? TFT_DIR_D2D : TFT_DIR_H2D;
	rt_cpu_copied(RT_LIBRARY_XLA, &c);
	errno = saved;
}

static void *on_copy(void *result, void *into, const void *from, int64_t offset, int64_t bytes)
{
	bool seen = rt_level() != TFT_LEVEL_OFF;
	int64_t start_ns = seen ? rt_now_ns() : 0;

	copy(result, into, from, offset, bytes);
	if (seen)
		copy_ends(into, bytes, start_ns);
	return result;
}

/* One that has to wait for something is made by another thread, later: it is not known when. */
static void *on_copy_0_12(void *result, void *into, const void *from, int64_t offset,
			  int64_t bytes, const uintptr_t *after)
{
	bool seen = rt_level() != TFT_LEVEL_OFF;
	int64_t start_ns = seen ? rt_now_ns() : 0;

	for (int i = 0; i < AFTER_WORDS; i++)
		seen &= !after[i];
	copy_new(result, into, from, offset, bytes, after);
	if (seen)
		copy_ends(into, bytes, start_ns);
	return result;
}

/* One version's function that requests copies and the one that makes them. false: not both are
 * hooked. */
static bool hook_copies(const struct patch_symbol *requests, void **schedule_of,
			const void *our_schedule, const struct patch_symbol *makes, void **copy_of,
			const void *our_copy)
{
	if (!requests->at || !makes->at)
		return false;
	*schedule_of = patch_original(requests);
	*copy_of = patch_original(makes);
	return *schedule_of && *copy_of && patch_replace(requests, our_schedule) &&
	       patch_replace(makes, our_copy);
}

void jax_between_start(const struct patch_symbol *s)
{
	op_name = rt_name(TFT_NAME_OP, "device_put");
	op_type = rt_name(TFT_NAME_OP_TYPE, "transfer");
	names[false] = rt_name(TFT_NAME_CALL, "host array to device");
	names[true] = rt_name(TFT_NAME_CALL, "device to device");
	if (!hook_copies(&s[JAX_SCHEDULE_COPY], (void **)&schedule, (void *)on_schedule,
			 &s[JAX_RAW_COPY], (void **)&copy, (void *)on_copy) &&
	    !hook_copies(&s[JAX_SCHEDULE_0_12], (void **)&schedule_new, (void *)on_schedule_0_12,
			 &s[JAX_RAW_COPY_0_12], (void **)&copy_new, (void *)on_copy_0_12))
		jax_blind("copies between devices: how this jaxlib makes them is unknown");
}
