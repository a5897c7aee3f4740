/* SPDX-License-Identifier: MIT */
/*
 * Launches whose record has not come yet.
 *
 * A long kernel is announced (TFT_CMD_OPEN): after 10 ms the oldest launch of each stream, which is
 * the one that runs; after a second all launches, so that the settled time does not wait for them.
 * A launch that later launches of its stream have overtaken is given up after two seconds. Its
 * record may still come, with its op, because CUPTI holds back everything in a buffer with a
 * running kernel, and other threads have other buffers. So the launch counts as lost only when no
 * record has come for ten more seconds, or when the process ends. When the program launches and no
 * record at all comes for two seconds, a message says so, with the likely causes.
 */
#include "probes/cuda/probe.h"

#define ALL_AGE_NS 1000000000
#define OTHERS_AGE_NS 300000000	/* work that is not a kernel is not waited for longer than this */
#define SETTLED_NS 1000000000
#define LOST_AGE_NS 10000000000
#define STREAMS 64

static uint64_t given_up, came_late, said_lost;	/* numbers of kernels */
static int64_t owed_since_ns;
_Atomic int64_t overdue_waited_ns;
static int64_t silent_since_ns;		/* time since which records are missing */
static _Atomic int64_t scanned_ns;
static int64_t uncorrelated_ns;		/* calls from before this time are not awaited */
bool overdue_met;
static struct {
	uint64_t n;
	int64_t since_ns, at_ns;
	bool over;		/* the latest record had a correlation id again */
} uncorrelated;

static bool is_kernel(const struct cuda_call *c)
{
	return c->class == CUPTI_CLASS_LAUNCH || c->class == CUPTI_CLASS_LAUNCH_CONFIG;
}

/* Up to when it delays the settled time; INT64_MAX: not at all. */
static int64_t overdue_holds_since(uint32_t correlation, int64_t now_ns, int64_t before_ns)
{
	struct cuda_call c;
	uint64_t state = calls_state(correlation);
	int64_t age_ns;

	if (!(state & (CALL_AWAITED | CALL_FILLING)))
		return INT64_MAX;
	if (call_find(correlation, &c, &state) == CALL_NONE)
		return INT64_MAX;
	if (state & CALL_FILLING || !c.call_ns)
		return before_ns;
	age_ns = now_ns - c.call_ns;
	/* Once it is announced, its end may come late, but its launch must be known. */
	if (state & CALL_TOLD && age_ns > ALL_AGE_NS)
		return INT64_MAX;
	if (age_ns > (is_kernel(&c) || c.class == CUPTI_CLASS_GRAPH ? OVERDUE_AGE_NS :
								     OTHERS_AGE_NS))
		return INT64_MAX;
	return c.call_ns;
}

int64_t overdue_pending_ns(void)
{
	int64_t now_ns = rt_now_ns(), oldest = INT64_MAX;
	int64_t before_ns = atomic_exchange(&scanned_ns, now_ns);
	uint32_t at, last;

	if (atomic_load(&cuda_dead) || rt_level() == TFT_LEVEL_OFF)
		return INT64_MAX;
	/* the launch is not recorded: everything that had ended by the last flush has been
	 * written */
	if (rt_level() == TFT_LEVEL_MIN)
		return atomic_load(&collect_flush_ns);
	for (calls_range(&at, &last); (int32_t)(last - at) >= 0; at++) {
		int64_t held = overdue_holds_since(at, now_ns, before_ns ? before_ns : now_ns);

		if (held < oldest)
			oldest = held;
	}
	return oldest;
}

static void overdue_announce(const struct cuda_call *c, uint32_t correlation,
			     struct cuda_queue *queue)
{
	struct tft_command command = {
		.tid = c->tid, .queue = atomic_load(&queue->id), .name = call_kernel(c),
		.correlation = correlation | TFT_CORRELATION_CUPTI, .op = c->op,
		.op_name = c->op_name, .call_dur_ns = c->call_dur_ns, .call_ns = c->call_ns,
		.kind = TFT_KIND_KERNEL, .how = TFT_HOW_EXACT, .flags = TFT_CMD_OPEN,
	};

	rt_emit_command(&command);
	call_mark(correlation, 0, CALL_TOLD);
	if (c->twin)
		call_mark(c->twin, 0, CALL_TOLD);
}

/* The streams whose oldest launch was found in this walk. */
struct overdue_walk {
	const struct cuda_queue *seen[STREAMS];
	unsigned n_seen;
	int64_t now_ns, oldest_ns;
	uint32_t oldest;		/* a kernel; 0: none */
	uint32_t owed;
};

static bool first_of(struct overdue_walk *w, const struct cuda_queue *queue)
{
	for (unsigned i = 0; i < w->n_seen; i++)
		if (w->seen[i] == queue)
			return false;
	if (w->n_seen < STREAMS)
		w->seen[w->n_seen++] = queue;
	return true;
}

/* true: it is not awaited any more. */
static bool overdue_look_at(struct overdue_walk *w, uint32_t correlation, const struct cuda_call *c,
			    uint64_t state)
{
	uint64_t key = c->own_stream && !c->stream ? 2 | (uint64_t)c->tid << 32 : c->stream;
	struct cuda_queue *queue = cuda_queue_of(c->context, key);
	int64_t age_ns = w->now_ns - c->call_ns;
	bool overtaken = queue && atomic_load(&queue->flags) & TFT_QUEUE_IN_ORDER &&
			 queue->done_call_ns > c->call_ns;

	/* its record may have come without a correlation id; a word of 0 would be no entry */
	if (c->call_ns < uncorrelated_ns) {
		call_mark(correlation, CALL_AWAITED, CALL_LEFT);
		return true;
	}
	if (age_ns > OVERDUE_AGE_NS && (overtaken || !is_kernel(c))) {
		call_mark(correlation, CALL_AWAITED, CALL_GIVEN_UP);
		if (c->twin)
			call_mark(c->twin, CALL_AWAITED, CALL_GIVEN_UP);
		given_up += is_kernel(c);
		return true;
	}
	if (!is_kernel(c))
		return false;
	w->owed++;
	if (!w->oldest || c->call_ns < w->oldest_ns) {
		w->oldest = correlation;
		w->oldest_ns = c->call_ns;
	}
	if (queue && first_of(w, queue) + (age_ns > ALL_AGE_NS) && !overtaken &&
	    age_ns > ANNOUNCE_AGE_NS && !(state & CALL_TOLD))
		overdue_announce(c, correlation, queue);
	return false;
}

static void overdue_walk(struct overdue_walk *w)
{
	uint32_t at, last;
	bool awaited_before = false;

	for (calls_range(&at, &last); (int32_t)(last - at) >= 0; at++) {
		uint64_t state = calls_state(at);
		struct cuda_call c;

		if (state & (CALL_AWAITED | CALL_FILLING | CALL_RUNNING)) {
			/* it is examined when the call has returned */
			if (call_find(at, &c, &state) == CALL_THERE && state & CALL_AWAITED &&
			    (!c.twin || c.twin > at) && overdue_look_at(w, at, &c, state))
				continue;
			awaited_before = true;
		} else if (!awaited_before && (int32_t)(last - at) > 256) {
			calls_low(at + 1);	/* the entries beside it may still be written */
		}
	}
}

/* Reports that work is launched and no records arrive. */
static void overdue_tell_silence(const struct overdue_walk *w, uint64_t records)
{
	const struct cuda_queue *queue;
	struct cuda_call c;
	uint64_t state;

	if (records || !w->owed) {
		silent_since_ns = 0;
		return;
	}
	if (!silent_since_ns)
		silent_since_ns = w->now_ns;
	if (w->now_ns - silent_since_ns < OVERDUE_AGE_NS ||
	    call_find(w->oldest, &c, &state) == CALL_NONE)
		return;
	queue = cuda_queue_of(c.context, c.stream);
	if (atomic_load(&overdue_waited_ns) > c.call_ns ||
	    (queue && atomic_load(&queue->waited_ns) > c.call_ns))
		cuda_say(SAID_SILENT, 1,
			 "no record of the device for two seconds, though the program has "
			 "waited for its work (%u launches): another client of CUPTI has taken the "
			 "records, or CUPTI has stopped", w->owed);
	else
		cuda_say(SAID_SILENT, 0,
			 "no record of the device for two seconds: of %u launches the "
			 "oldest, which is shown as open, was %.1f s ago; while a kernel runs "
			 "for so long, CUPTI may keep finished records, too", w->owed,
			 (double)(w->now_ns - w->oldest_ns) / 1e9);
}

void overdue_came(const struct cuda_call *call, uint64_t state)
{
	came_late += state & CALL_GIVEN_UP && is_kernel(call);
}

static void say_lost(int64_t now_ns, bool last)
{
	/* records that CUPTI itself has counted are not counted twice */
	uint64_t known = came_late + said_lost + collect_dropped, owed = given_up - known;

	if (known >= given_up) {
		owed_since_ns = 0;
		return;
	}
	if (!owed_since_ns)
		owed_since_ns = now_ns;
	if (!last && now_ns - owed_since_ns < LOST_AGE_NS)
		return;
	said_lost += owed;
	rt_vendor_dropped(owed);
	cuda_say(SAID_NOTHING, 1,
		 "launches have no record, though later ones of their stream have: "
		 "dropped by CUPTI, or captured into a graph unseen; they are counted as lost");
}

/* The awaited calls of kernels that had returned before; `left`: they are not awaited any more. */
static unsigned overdue_before(int64_t before_ns, bool left)
{
	uint32_t at, last;
	unsigned n = 0;

	for (calls_range(&at, &last); (int32_t)(last - at) >= 0; at++) {
		uint64_t state = calls_state(at);
		struct cuda_call c;

		if (!(state & CALL_AWAITED) || call_find(at, &c, &state) == CALL_NONE)
			continue;
		n += is_kernel(&c) && !(state & CALL_RUNNING) && (!c.twin || c.twin > at) &&
		     c.call_ns + c.call_dur_ns < before_ns;
		if (left)
			call_mark(at, CALL_AWAITED, CALL_LEFT);
	}
	return n;
}

bool overdue_waits(int64_t before_ns)
{
	return overdue_before(before_ns, false) != 0;
}

void overdue_left(int64_t before_ns)
{
	unsigned n = overdue_before(before_ns, true);

	if (n)
		rt_vendor_dropped(n);
}

/* Some of CUPTI's releases may return correlations only while calls are recorded, too. */
void overdue_correlation(const struct cuda_record *r)
{
	overdue_met = true;
	if (r->correlation) {
		uncorrelated.over = uncorrelated.n != 0;
	} else if (rt_level() >= TFT_LEVEL_DEFAULT) {
		uncorrelated.n++;
		uncorrelated.over = false;
		uncorrelated.at_ns = rt_now_ns();
		if (!uncorrelated.since_ns)
			uncorrelated.since_ns = uncorrelated.at_ns;
		enable_correlations();
		if (r->what == CUDA_KERNEL)
			uncorrelated_ns = uncorrelated.at_ns;
	}
}

static void say_uncorrelated(int64_t now_ns, bool last)
{
	if (!uncorrelated.n)
		return;
	if (uncorrelated.over && (last || now_ns - uncorrelated.at_ns > SETTLED_NS))
		cuda_say(SAID_UNCORRELATED, 1,
			 "%llu commands of the first moments have no op: CUPTI gives "
			 "correlations only while calls are recorded, as they are now",
			 (unsigned long long)uncorrelated.n);
	else if (!uncorrelated.over && (last || now_ns - uncorrelated.since_ns > SETTLED_NS))
		cuda_say(SAID_UNCORRELATED, 1,
			 "CUPTI gives no correlations: no op is known for what the device does");
}

void overdue_look(int64_t now_ns, uint64_t records, bool last)
{
	struct overdue_walk w = { .now_ns = now_ns };

	if (rt_level() < TFT_LEVEL_DEFAULT)
		return;
	overdue_walk(&w);
	overdue_tell_silence(&w, records);
	say_lost(now_ns, last);
	say_uncorrelated(now_ns, last);
}
