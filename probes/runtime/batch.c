/* SPDX-License-Identifier: MIT */
/*
 * Finished ops, kernels of the CPU and memory events on their way out, many in one event (tft_ops).
 *
 * A thread writes its own batch when it is full, or else with the first entry that ends YOUNG_NS
 * after the last writing; so a thread with few entries writes each at once. What a quiet thread
 * has left, the runtime's thread writes at its next tick. Until then the settled time waits at
 * oldest_ns.
 */
#include <sched.h>

#include "probes/runtime/internal.h"

#define YOUNG_NS 5000000		/* a small part of RT_TICK_NS: each write is a
					 * microsecond */
#define TRIES 8		/* how often to try to take the batches of threads that are using them */

static _Atomic int64_t young_ns = YOUNG_NS;

/* ---- gathering ---- */

static inline void begin(struct rt_batch *b, int64_t start_ns, uint64_t instance, int64_t end_ns)
{
	if (GET(b->count))
		return;
	rt_pack_begin(&b->pack, start_ns, instance);
	SET(b->since_ns, end_ns);
}

static inline void added(struct rt_batch *b, int64_t start_ns)
{
	uint32_t count = GET(b->count);

	if (!count || start_ns < GET(b->oldest_ns))
		SET_REL(b->oldest_ns, start_ns);
	SET(b->count, count + 1);
}

/* To be called by the thread that holds the batch. */
static void rt_batch_write_out(struct rt_batch *b, int64_t now_ns)
{
	struct tft_ops r = {
		.tid = b->tid, .count = GET(b->count), .n_words = b->pack.used,
		.base_ns = b->pack.base_ns, .instance = b->pack.first,
		.words = b->pack.words,
	};

	if (r.count)
		rt_emit_ops(&r);
	SET(b->count, 0);
	SET_REL(b->oldest_ns, 0);
	SET(b->written_ns, now_ns);
}

/* false: the runtime's thread holds the batch. */
static inline bool gather_enter(struct rt_batch *b)
{
	SET(b->gathering, 1);
	rt_barrier_light();
	if (__builtin_expect(GET_ACQ(b->taking) == 0, 1))
		return true;
	SET_REL(b->gathering, 0);
	return false;
}

static inline void gather_leave(struct rt_batch *b, int64_t end_ns)
{
	if (GET(b->count) == TFT_OPS_MAX || !rt_pack_has_room(&b->pack) ||
	    end_ns - GET(b->written_ns) >= GET(young_ns))
		rt_batch_write_out(b, end_ns);
	SET_REL(b->gathering, 0);
}

static inline void of_thread(struct rt_batch *b, uint32_t tid, int64_t end_ns)
{
	if (__builtin_expect(b->tid == tid, 1))
		return;
	if (GET(b->count))
		rt_batch_write_out(b, end_ns);
	b->tid = tid;
}

void rt_batch_add(struct rt_thread *th, struct tft_op *op, int64_t end_ns)
{
	struct rt_batch *b = &th->batch;

	if (rt_level() < TFT_LEVEL_DEFAULT)
		return;
	/* inside a tracepoint: counted there as dropped */
	if (__builtin_expect(th->emitting, 0) || !gather_enter(b)) {
		rt_emit_op(op);
		return;
	}
	of_thread(b, op->tid, end_ns);
	begin(b, op->start_ns, op->instance, end_ns);
	rt_pack_add(&b->pack, op);
	added(b, op->start_ns);
	gather_leave(b, end_ns);
}

/* Makes the command for a kernel that is not packed, or is kept by a tap, too. */
static struct tft_command __attribute__((noinline)) whole(struct rt_thread *th,
							  const struct rt_kernel *k)
{
	return (struct tft_command){
		.tid = GET(th->tid), .queue = k->queue, .name = k->name, .shape = k->shape,
		.op = k->op, .op_name = k->op_name, .start_ticks = (uint64_t)k->start_ns,
		.end_ticks = (uint64_t)k->end_ns, .kind = TFT_KIND_KERNEL,
		.how = k->op ? TFT_HOW_EXACT : TFT_HOW_NONE,
	};
}

void rt_batch_kernel(struct rt_thread *th, const struct rt_kernel *k)
{
	struct rt_batch *b = &th->batch;
	struct tft_command command;
	bool fits;

	if (rt_level() < TFT_LEVEL_MIN)
		return;
	if (__builtin_expect(th->emitting, 0) || !gather_enter(b)) {
		command = whole(th, k);
		rt_emit_command(&command);
		return;
	}
	of_thread(b, GET(th->tid), k->end_ns);
	begin(b, k->start_ns, k->op, k->end_ns);
	fits = rt_pack_kernel(&b->pack, k);
	if (fits)
		added(b, k->start_ns);
	gather_leave(b, k->end_ns);
	if (__builtin_expect(fits && !GET(rt_tap_now), 1))
		return;
	command = whole(th, k);
	if (fits)
		rt_tap_add(&command);
	else
		rt_emit_command(&command);
}

/* The time, which is compared with those of other threads, is taken while the batch is held. */
static struct rt_thread *memory_enter(uint64_t op, int64_t *now_ns)
{
	struct rt_thread *th = rt_level() < TFT_LEVEL_DEFAULT ? NULL : rt_self();

	if (!th || __builtin_expect(th->emitting, 0) || !gather_enter(&th->batch))
		return NULL;
	rt_section_enter(th);
	*now_ns = rt_now_ns();
	of_thread(&th->batch, GET(th->tid), *now_ns);
	begin(&th->batch, *now_ns, op, *now_ns);
	return th;
}

static void memory_leave(struct rt_thread *th, int64_t now_ns, bool fits)
{
	if (fits)
		added(&th->batch, now_ns);
	rt_section_leave(th);
	gather_leave(&th->batch, now_ns);
}

void rt_batch_alloc(struct tft_alloc *alloc)
{
	struct rt_thread *th = memory_enter(alloc->op, &alloc->at_ns);
	bool fits = th && rt_pack_alloc(&th->batch.pack, alloc);

	if (th)
		memory_leave(th, alloc->at_ns, fits);
	if (!fits)
		rt_emit_alloc(alloc);
}

void rt_batch_free(struct tft_free *gone)
{
	struct rt_thread *th = memory_enter(0, &gone->at_ns);
	bool fits = th && rt_pack_free(&th->batch.pack, gone);

	if (th)
		memory_leave(th, gone->at_ns, fits);
	if (!fits)
		rt_emit_free(gone);
}

void rt_batch_end(struct rt_thread *th)
{
	struct rt_batch *b = &th->batch;
	bool mine = false;

	if (th->emitting)
		return;
	/* while the runtime's thread holds it, for about a millisecond at most; what is left then,
	 * that thread will find */
	for (int i = 0; GET(b->count) && !(mine = gather_enter(b)) && i < 2000; i++)
		if (i > 100)
			sched_yield();
	if (!mine)
		return;
	rt_batch_write_out(b, rt_now_ns());
	SET_REL(b->gathering, 0);
}

static bool due(struct rt_batch *b, int64_t now_ns, bool young_too)
{
	return GET(b->count) && (young_too || now_ns - GET(b->since_ns) >= YOUNG_NS);
}

/* One barrier for all of them; false: some owner was using its batch. */
static bool write_due(int64_t now_ns, bool young_too)
{
	bool any = false, all = true;
	int64_t begin_ns;

	for (struct rt_thread *th = rt_threads(); th; th = th->next) {
		if (due(&th->batch, now_ns, young_too)) {
			SET(th->batch.taking, 1);
			any = true;
		}
	}
	if (!any)
		return true;
	rt_barrier_heavy();
	begin_ns = rt_now_ns();
	for (struct rt_thread *th = rt_threads(); th; th = th->next) {
		if (!GET(th->batch.taking))
			continue;
		if (!GET_ACQ(th->batch.gathering))
			rt_batch_write_out(&th->batch, begin_ns);
		else
			all = false;
		SET_REL(th->batch.taking, 0);
	}
	rt_own_time(rt_now_ns() - begin_ns);
	return all;
}

void rt_batch_write_all(int64_t now_ns, bool young_too)
{
	for (int i = 0; !write_due(now_ns, young_too) && young_too && i < TRIES; i++)
		sched_yield();
}

void rt_batch_at_once(bool at_once)
{
	SET(young_ns, at_once ? INT64_MIN : YOUNG_NS);
}

/* The entries belong to the parent. */
void rt_batch_fork_child(struct rt_thread *th)
{
	struct rt_batch *b = &th->batch;

	SET(b->gathering, 0);
	SET(b->taking, 0);
	SET(b->count, 0);
	SET(b->oldest_ns, 0);
	SET(b->written_ns, 0);
}
