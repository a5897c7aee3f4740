/* SPDX-License-Identifier: MIT */
/*
 * The stack of open ops of each thread, and its scan by the runtime's thread.
 *
 * Owner and scanner meet in four places, all without locks:
 *  - A frame is copied consistently with the help of its instance (see rt_frame).
 *  - An op is announced (dur_ns -1) only before its final event: the scanner writes `claim`, passes
 *    the heavy barrier and reads `closing`; the owner writes `closing`, passes the light barrier
 *    and reads `claim`. At least one of the two sees the other. A pop that finds a claim waits for
 *    that one event, at most about a millisecond.
 *  - What has ended is first gathered (batch.c) and only then leaves its frame, so that a scan that
 *    reads the frames first misses nothing.
 *  - `section` is odd while the owner holds a time that no other thread can see yet, so that the
 *    settled line never overtakes it.
 *
 * Domains have stacks of their own (NVTX), so a pop may close an op below the top. The hole is
 * released when the frames above it have been popped, or squeezed out when the array is full.
 */
#include <sched.h>

#include "probes/runtime/internal.h"

#define INSTANCE_BLOCK 64
/* One of this many pushes and pops is measured for own_ns of the beat; a prime number, so that each
 * place of a batch is measured equally often. */
#define SAMPLE 61

_Atomic uint32_t rt_epoch;

static inline bool sampled(uint32_t *left)
{
	if (__builtin_expect((*left)-- != 0, 1))
		return false;
	*left = SAMPLE - 1;
	return true;
}

/* Ids are given to threads in blocks, so that they are dense and no cache line is shared. */
uint64_t rt_instance(struct rt_thread *th)
{
	if (th->instance_next == th->instance_end) {
		th->instance_next = atomic_fetch_add_explicit(&rt_totals.instances,
			INSTANCE_BLOCK, memory_order_relaxed) + 1;
		th->instance_end = th->instance_next + INSTANCE_BLOCK;
	}
	return th->instance_next++;
}

static void set_visible(struct rt_thread *th)
{
	SET_REL(th->visible, th->top);
}

/* Drops what was open while the level was off, because its end was not seen. */
static void stack_clear(struct rt_thread *th)
{
	for (int i = 0; i < th->top; i++) {
		SET(th->frame[i].instance, 0);
		th->frame[i].open = 0;
	}
	th->top = th->depth = th->over = 0;
	th->handed = 0;
	set_visible(th);
}

static inline void epoch_check(struct rt_thread *th)
{
	uint32_t now = GET(rt_epoch);

	if (__builtin_expect(GET(th->epoch) != now, 0)) {
		stack_clear(th);
		SET_REL(th->epoch, now);
	}
}

static void frame_move(struct rt_frame *to, struct rt_frame *from)
{
	uint64_t instance = GET(from->instance);

	SET(to->instance, 0);
	rt_fence(memory_order_release);
	SET(to->announced, GET(from->announced));
	SET(to->cut, GET(from->cut));
	SET(to->parent, GET(from->parent));
	SET(to->payload, GET(from->payload));
	SET(to->forward, GET(from->forward));
	SET(to->handed, GET(from->handed));
	SET(to->start_ns, GET(from->start_ns));
	SET(to->step, GET(from->step));
	SET(to->name, GET(from->name));
	SET(to->type, GET(from->type));
	SET(to->domain, GET(from->domain));
	SET(to->argb, GET(from->argb));
	SET(to->source, GET(from->source));
	SET(to->shapes, GET(from->shapes));
	SET(to->depth, GET(from->depth));
	SET(to->framework, GET(from->framework));
	SET(to->flags, GET(from->flags));
	to->open = from->open;
	SET_REL(to->instance, instance);
	SET(from->instance, 0);
	from->open = 0;
}

static void rt_stack_squeeze(struct rt_thread *th)
{
	int to = 0;

	for (int i = 0; i < th->top; i++) {
		if (!th->frame[i].open)
			continue;
		if (i != to)
			frame_move(&th->frame[to], &th->frame[i]);
		to++;
	}
	th->top = to;
	set_visible(th);
}

/* The nearest open frame below index i; NULL: none. */
static struct rt_frame *open_below(struct rt_thread *th, int i)
{
	while (--i >= 0)
		if (th->frame[i].open)
			return &th->frame[i];
	return NULL;
}

uint64_t rt_op_push(const struct rt_op_args *args)
{
	struct rt_thread *th;
	struct rt_frame *f, *below;
	uint64_t instance;
	int64_t start_ns;

	if (rt_watching())
		rt_trigger_push(args);
	if (rt_level() == TFT_LEVEL_OFF || !(th = rt_self()))
		return 0;
	epoch_check(th);
	if (th->top == RT_DEPTH_MAX && th->depth < RT_DEPTH_MAX)
		rt_stack_squeeze(th);
	if (th->top == RT_DEPTH_MAX) {
		th->over++;
		rt_dropped(1);
		return 0;
	}
	f = &th->frame[th->top];
	below = open_below(th, th->top);
	instance = rt_instance(th);
	rt_section_enter(th);
	rt_fence(memory_order_release);
	start_ns = rt_quick_ns(&th->clock);
	SET(f->start_ns, start_ns);
	SET(f->parent, below ? GET(below->instance) : 0);
	SET(f->payload, args->payload);
	SET(f->forward, args->forward);
	SET(f->handed, th->handed);
	th->handed = 0;
	SET(f->step, args->step);
	SET(f->name, args->name);
	SET(f->type, args->type);
	SET(f->domain, args->domain);
	SET(f->argb, args->argb);
	SET(f->source, args->source);
	SET(f->shapes, args->shapes);
	SET(f->depth, (uint16_t)th->depth);
	SET(f->framework, args->framework);
	SET(f->flags, args->flags & ~(TFT_OP_INNER | TFT_OP_ASYNC | TFT_OP_MARK));
	f->open = 1;
	SET_REL(f->instance, instance);
	th->top++;
	th->depth++;
	set_visible(th);
	rt_section_leave(th);
	if (__builtin_expect(GET(rt_tap_now), 0) && args->type)
		rt_tap_op(args->name, args->type);
	if (__builtin_expect(sampled(&th->push_sample), 0))
		rt_own_time((rt_quick_ns(&th->clock) - start_ns) * SAMPLE);
	return instance;
}

static void frame_read(struct tft_op *op, struct rt_frame *f)
{
	uint64_t handed = GET(f->handed);

	op->instance = GET(f->instance);
	op->parent = GET(f->parent);
	op->payload = GET(f->payload);
	op->forward = GET(f->forward);
	op->wait_ns = (int64_t)handed & TFT_WAIT_MAX;
	op->waker = (uint32_t)(handed >> TFT_WAKER_SHIFT);
	op->start_ns = GET(f->start_ns);
	op->step = GET(f->step);
	op->name = GET(f->name);
	op->type = GET(f->type);
	op->domain = GET(f->domain);
	op->argb = GET(f->argb);
	op->frame = GET(f->source);
	op->shapes = GET(f->shapes);
	op->depth = GET(f->depth);
	op->framework = GET(f->framework);
	op->flags = GET(f->flags);
}

/* Waits for the announcement of this very op, if one is being written. */
static void wait_claim(struct rt_thread *th, uint64_t instance)
{
	for (int i = 0; GET_ACQ(th->claim) == instance && i < 2000; i++) {
		if (i > 100)
			sched_yield();
	}
}

static void frame_close(struct rt_thread *th, int i, int64_t end_ns, uint8_t how)
{
	struct rt_frame *f = &th->frame[i], *below = open_below(th, i);
	uint8_t flags = GET(f->flags);
	struct tft_op op;

	if (below && (!(flags & TFT_OP_RANGE) || (flags & TFT_OP_INNER)))
		SET(below->flags, GET(below->flags) | TFT_OP_INNER);
	/* a frame that was inherited by a fork has no instance and no event */
	if (GET(f->instance)) {
		frame_read(&op, f);
		op.tid = GET(th->tid);
		op.dur_ns = end_ns - op.start_ns;
		op.flags |= how;
		SET(th->closing, op.instance);
		rt_barrier_light();
		if (__builtin_expect(GET(th->claim) == op.instance, 0))
			wait_claim(th, op.instance);
		if (__builtin_expect(GET(f->cut) != op.instance, 1))
			rt_batch_add(th, &op, end_ns);
	}
	SET_REL(f->instance, 0);
	SET_REL(th->closing, 0);
	f->open = 0;
	th->depth--;
	while (th->top > 0 && !th->frame[th->top - 1].open)
		th->top--;
	set_visible(th);
}

int rt_op_pop(uint32_t domain)
{
	static const struct rt_ask nothing = { .longer_ns = INT64_MAX };

	return rt_op_pop_asking(domain, &nothing);
}

static void ask_source(struct rt_frame *f, int64_t dur_ns, const struct rt_ask *ask)
{
	uint32_t source = ask->source(dur_ns, ask->arg);

	if (source)
		SET(f->source, source);
}

static int rt_stack_pop(uint32_t domain, const struct rt_ask *ask)
{
	struct rt_thread *th;
	int64_t end_ns, dur_ns;
	bool sample;
	int i;

	if (rt_level() == TFT_LEVEL_OFF || !(th = rt_self()))
		return -1;
	epoch_check(th);
	if (th->over) {
		/* the innermost ops never got a frame */
		th->over--;
		return th->depth + th->over;
	}
	for (i = th->top - 1; i >= 0; i--)
		if (th->frame[i].open && GET(th->frame[i].domain) == domain)
			break;
	if (i < 0)
		return -1;
	sample = sampled(&th->pop_sample);
	end_ns = rt_quick_ns(&th->clock);
	dur_ns = end_ns - GET(th->frame[i].start_ns);
	if (__builtin_expect(dur_ns > ask->longer_ns, 0))
		ask_source(&th->frame[i], dur_ns, ask);
	frame_close(th, i, end_ns, 0);
	if (__builtin_expect(sample, 0))
		rt_own_time((rt_quick_ns(&th->clock) - end_ns) * SAMPLE);
	return th->depth;
}

int rt_op_pop_asking(uint32_t domain, const struct rt_ask *ask)
{
	int depth = rt_stack_pop(domain, ask);

	if (rt_watching())
		rt_trigger_pop(domain);
	return depth;
}

void rt_op_rename(uint32_t name)
{
	struct rt_thread *th;
	struct rt_frame *f;

	if (rt_level() == TFT_LEVEL_OFF || !(th = rt_self()))
		return;
	epoch_check(th);
	f = open_below(th, th->top);
	if (f && !th->over)
		SET(f->name, name);
}

uint64_t rt_op_instance(void)
{
	struct rt_thread *th = rt_level() == TFT_LEVEL_OFF ? NULL : rt_self();

	return th ? rt_instance(th) : 0;
}

void rt_op_ran(const struct rt_op_args *args, const struct rt_ran *ran)
{
	struct rt_thread *th;
	struct rt_frame *below;
	struct tft_op op;

	if (rt_level() < TFT_LEVEL_DEFAULT || ran->dur_ns < 0 || !(th = rt_self()))
		return;
	epoch_check(th);
	below = ran->parent ? NULL : open_below(th, th->top);
	if (below && !(args->flags & TFT_OP_RANGE))
		SET(below->flags, GET(below->flags) | TFT_OP_INNER);
	op = rt_op_of(args);
	op.tid = GET(th->tid);
	op.instance = ran->instance ? ran->instance : rt_instance(th);
	op.parent = below ? GET(below->instance) : ran->parent;
	op.start_ns = ran->start_ns;
	op.dur_ns = ran->dur_ns;
	op.depth = below ? (uint16_t)th->depth : 0;
	op.flags = args->flags & (uint8_t)~(TFT_OP_ASYNC | TFT_OP_MARK);
	rt_batch_add(th, &op, ran->start_ns + ran->dur_ns);
}

int rt_op_depth(uint32_t domain)
{
	struct rt_thread *th;
	int n;

	if (rt_level() == TFT_LEVEL_OFF || !(th = rt_self()))
		return 0;
	epoch_check(th);
	n = th->over;
	for (int i = 0; i < th->top; i++)
		if (th->frame[i].open && GET(th->frame[i].domain) == domain)
			n++;
	return n;
}

static struct rt_top top_op(uint8_t mark)
{
	struct rt_top top = { .step = -1 };
	struct rt_thread *th;
	struct rt_frame *f;

	if (rt_level() == TFT_LEVEL_OFF || !(th = rt_self()))
		return top;
	epoch_check(th);
	f = open_below(th, th->top);
	if (!f || !GET(f->instance))
		return top;
	if (mark)
		SET(f->flags, GET(f->flags) | mark);
	top.instance = GET(f->instance);
	top.name = GET(f->name);
	top.type = GET(f->type);
	top.source = GET(f->source);
	top.step = GET(f->step);
	return top;
}

struct rt_top rt_op_launch(void)
{
	return top_op(TFT_OP_INNER);
}

struct rt_top rt_op_current(void)
{
	return top_op(0);
}

uint32_t rt_op_of_type(uint32_t type)
{
	struct rt_thread *th;

	if (rt_level() == TFT_LEVEL_OFF || !type || !(th = rt_self()))
		return 0;
	epoch_check(th);
	for (int i = th->top - 1; i >= 0; i--)
		if (th->frame[i].open && GET(th->frame[i].type) == type)
			return GET(th->frame[i].name);
	return 0;
}

bool rt_op_handed(int64_t wait_ns, uint32_t waker)
{
	struct rt_thread *th;
	bool taken;

	if (rt_level() == TFT_LEVEL_OFF || !(th = rt_self()))
		return false;
	epoch_check(th);
	taken = !th->handed;
	if (wait_ns > TFT_WAIT_MAX)
		wait_ns = TFT_WAIT_MAX;
	th->handed = wait_ns <= 0 ? 0 : (uint64_t)wait_ns | (uint64_t)waker << TFT_WAKER_SHIFT;
	return taken;
}

void rt_mark(const struct rt_op_args *args)
{
	struct rt_thread *th;
	struct rt_frame *below;
	struct tft_op op;

	if (rt_level() < TFT_LEVEL_DEFAULT || !(th = rt_self()))
		return;
	epoch_check(th);
	below = open_below(th, th->top);
	rt_section_enter(th);
	op = rt_op_of(args);
	op.tid = GET(th->tid);
	op.instance = rt_instance(th);
	op.parent = below ? GET(below->instance) : 0;
	op.start_ns = rt_quick_ns(&th->clock);
	op.depth = (uint16_t)th->depth;
	op.flags = (uint8_t)((args->flags & ~TFT_OP_ASYNC) | TFT_OP_MARK);
	rt_batch_add(th, &op, op.start_ns);
	rt_section_leave(th);
}

void rt_stack_end(struct rt_thread *th)
{
	int64_t now = rt_quick_ns(&th->clock);

	if (rt_level() != TFT_LEVEL_OFF) {
		epoch_check(th);
		while (th->top > 0)
			frame_close(th, th->top - 1, now, TFT_OP_CUT);
	}
	stack_clear(th);
	rt_batch_end(th);
}

/* Frames stay so that the child's pops match, but without an instance: they are the parent's ops,
 * not the child's. */
void rt_stack_fork_child(struct rt_thread *th)
{
	for (int i = 0; i < th->top; i++)
		SET(th->frame[i].instance, 0);
}

/*
 * Writes an event of an op that is still open, on behalf of its owner: with dur_ns -1 its
 * announcement, else its end. false: the op was being closed.
 */
static bool write_for(struct rt_thread *th, struct rt_frame *f, struct tft_op *op)
{
	bool open;

	SET(th->claim, op->instance);
	rt_barrier_heavy();
	open = GET_ACQ(th->closing) != op->instance && GET(f->instance) == op->instance;
	if (open) {
		rt_emit_op(op);
		if (op->dur_ns >= 0)
			SET(f->cut, op->instance);
	}
	SET_REL(th->claim, 0);
	return open;
}

/* A consistent copy of an open frame of another thread. */
static bool frame_copy(struct rt_thread *th, struct rt_frame *f, struct tft_op *op)
{
	uint64_t instance = GET_ACQ(f->instance);

	if (!instance)
		return false;
	frame_read(op, f);
	rt_fence(memory_order_acquire);
	op->instance = instance;
	op->tid = GET(th->tid);
	return GET(f->instance) == instance;
}

int64_t rt_stack_scan(struct rt_thread *th, int64_t now_ns, bool may_announce)
{
	int64_t oldest = INT64_MAX, gathered;
	int top = GET_ACQ(th->epoch) == GET(rt_epoch) ? GET_ACQ(th->visible) : 0;
	struct tft_op op;

	for (int i = 0; i < top && i < RT_DEPTH_MAX; i++) {
		struct rt_frame *f = &th->frame[i];

		if (!frame_copy(th, f, &op) || GET(f->announced) == op.instance)
			continue;
		if (may_announce && now_ns - op.start_ns > RT_OPEN_NS) {
			op.dur_ns = -1;
			write_for(th, f, &op);
			SET(f->announced, op.instance);
		} else if (op.start_ns < oldest) {
			oldest = op.start_ns;
		}
	}
	/* read after the frames, so that what is not seen there any more is seen here */
	gathered = GET_ACQ(th->batch.oldest_ns);
	return gathered && gathered < oldest ? gathered : oldest;
}

void rt_stack_cut(struct rt_thread *th, int64_t now_ns)
{
	int top = GET_ACQ(th->visible);
	struct tft_op op;

	for (int i = 0; i < top && i < RT_DEPTH_MAX; i++) {
		struct rt_frame *f = &th->frame[i];

		if (!frame_copy(th, f, &op) || GET(f->announced) != op.instance)
			continue;
		op.dur_ns = now_ns - op.start_ns;
		op.flags |= TFT_OP_CUT;
		write_for(th, f, &op);
	}
}
