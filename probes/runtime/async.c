/* SPDX-License-Identifier: MIT */
/*
 * Ranges that may start and end on any thread: a fixed table in shards, each under its own lock.
 * Events of a shard's ranges are written under that lock, so that an announcement never follows the
 * final event.
 */
#include "probes/runtime/internal.h"

#define SHARDS 16u
#define SHARD_SLOTS 512u	/* a power of two; half of them may be in use */

struct async_slot {
	struct tft_op op;	/* instance 0: unused */
	uint32_t announced;
};

struct shard {
	pthread_mutex_t lock;
	bool fork_held;
	uint32_t used;
	struct async_slot *slot;	/* owned, SHARD_SLOTS, mapped at first use */
};

static struct shard shards[SHARDS] = {
	[0 ... SHARDS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER },
};

static struct shard *shard_of(uint64_t instance)
{
	return &shards[instance % SHARDS];
}

static uint32_t home(uint64_t instance)
{
	return (uint32_t)(instance / SHARDS) & (SHARD_SLOTS - 1);
}

static bool rt_async_insert(struct shard *s, const struct tft_op *op)
{
	uint32_t i;

	if (!s->slot)
		s->slot = rt_pages(SHARD_SLOTS * sizeof(*s->slot));
	if (!s->slot || s->used >= SHARD_SLOTS / 2)
		return false;
	for (i = home(op->instance); s->slot[i].op.instance; i = (i + 1) & (SHARD_SLOTS - 1))
		;
	s->slot[i].op = *op;
	s->slot[i].announced = 0;
	s->used++;
	return true;
}

static struct async_slot *find(struct shard *s, uint64_t instance)
{
	if (!s->slot)
		return NULL;
	for (uint32_t i = home(instance); s->slot[i].op.instance; i = (i + 1) & (SHARD_SLOTS - 1))
		if (s->slot[i].op.instance == instance)
			return &s->slot[i];
	return NULL;
}

/* Linear probing without tombstones: the following entries move up. */
static void rt_async_erase(struct shard *s, uint32_t hole)
{
	uint32_t i = hole;

	for (;;) {
		uint32_t at;

		s->slot[hole].op.instance = 0;
		do {
			i = (i + 1) & (SHARD_SLOTS - 1);
			if (!s->slot[i].op.instance) {
				s->used--;
				return;
			}
			at = home(s->slot[i].op.instance);
		} while (((i - at) & (SHARD_SLOTS - 1)) < ((i - hole) & (SHARD_SLOTS - 1)));
		s->slot[hole] = s->slot[i];
		hole = i;
	}
}

static uint64_t rt_async_start_op(const struct rt_op_args *args)
{
	struct rt_thread *th;
	struct shard *s;
	struct tft_op op;
	bool kept = false;

	if (rt_level() == TFT_LEVEL_OFF || !(th = rt_self()))
		return 0;
	op = rt_op_of(args);
	op.tid = GET(th->tid);
	op.instance = rt_instance(th);
	op.dur_ns = -1;
	op.wait_ns = (int64_t)th->handed & TFT_WAIT_MAX;
	op.waker = (uint32_t)(th->handed >> TFT_WAKER_SHIFT);
	th->handed = 0;
	op.flags = (uint8_t)((args->flags & ~(TFT_OP_INNER | TFT_OP_MARK)) | TFT_OP_ASYNC);
	s = shard_of(op.instance);
	if (rt_lock(&s->lock)) {
		/* the clock is read under the lock: a scan that did not see this range has an
		 * earlier time */
		op.start_ns = rt_now_ns();
		kept = rt_async_insert(s, &op);
		rt_unlock(&s->lock);
	}
	if (!kept) {
		rt_dropped(1);
		return 0;
	}
	return op.instance;
}

uint64_t rt_async_start(const struct rt_op_args *args)
{
	bool triggers = rt_watching() && rt_trigger_async(args);
	uint64_t instance = rt_async_start_op(args);

	if (triggers)
		rt_trigger_async_is(instance);
	return instance;
}

static void rt_async_end_op(uint64_t instance)
{
	struct shard *s = shard_of(instance);
	struct async_slot *slot;

	if (!instance || !GET(rt_armed) || !rt_lock(&s->lock))
		return;
	slot = find(s, instance);
	if (slot) {
		slot->op.dur_ns = rt_now_ns() - slot->op.start_ns;
		rt_emit_op(&slot->op);
		rt_async_erase(s, (uint32_t)(slot - s->slot));
	}
	rt_unlock(&s->lock);
}

void rt_async_end(uint64_t instance)
{
	rt_async_end_op(instance);
	if (rt_watching() && instance)
		rt_trigger_async_end(instance);
}

int64_t rt_async_scan(int64_t now_ns, bool may_announce)
{
	int64_t oldest = INT64_MAX;

	for (uint32_t n = 0; n < SHARDS; n++) {
		struct shard *s = &shards[n];

		if (!rt_lock(&s->lock))
			continue;
		for (uint32_t i = 0; s->used && i < SHARD_SLOTS; i++) {
			struct async_slot *slot = &s->slot[i];

			if (!slot->op.instance || slot->announced)
				continue;
			if (may_announce && now_ns - slot->op.start_ns > RT_OPEN_NS) {
				slot->op.dur_ns = -1;
				rt_emit_op(&slot->op);
				slot->announced = 1;
			} else if (slot->op.start_ns < oldest) {
				oldest = slot->op.start_ns;
			}
		}
		rt_unlock(&s->lock);
	}
	return oldest;
}

void rt_async_cut(int64_t now_ns)
{
	for (uint32_t n = 0; n < SHARDS; n++) {
		struct shard *s = &shards[n];

		if (!rt_lock(&s->lock))
			continue;
		for (uint32_t i = 0; s->used && i < SHARD_SLOTS; i++) {
			struct tft_op *op = &s->slot[i].op;

			if (op->instance && s->slot[i].announced) {
				op->dur_ns = now_ns - op->start_ns;
				op->flags |= TFT_OP_CUT;
				rt_emit_op(op);
			}
			op->instance = 0;
		}
		s->used = 0;
		rt_unlock(&s->lock);
	}
}

void rt_async_fork(enum rt_fork stage)
{
	for (uint32_t n = 0; n < SHARDS; n++) {
		struct shard *s = &shards[n];

		rt_fork_lock(&s->lock, &s->fork_held, stage);
		if (stage == RT_FORK_CHILD && s->used) {
			for (uint32_t i = 0; i < SHARD_SLOTS; i++)
				s->slot[i].op.instance = 0;
			s->used = 0;
		}
	}
}
