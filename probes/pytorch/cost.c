/* SPDX-License-Identifier: MIT */
/*
 * What the callbacks around ops cost a training step, measured in the program itself, and --budget,
 * which keeps this cost below a share of the program's time.
 *
 * Idea: a few single steps run without callbacks around ops ("bare"; callbacks for functions of
 * optimizers and loaders, and for ranges, stay, so that the step ends as always). Such a step is
 * compared with the mean of the one before and the one after it, so that what changes slowly in the
 * program cancels out. The cost is the median of these differences; interval.c gives the ends of
 * its confidence interval. This is measured in wall time and in the processor time of the process:
 * where other programs disturb the steps, the latter is the more exact one, where a step waits for
 * a GPU, the former.
 *
 * With a budget it is the other way round as soon as the cost is above it: most steps are bare,
 * and ops are looked at in one of `every` steps, so that cost / every is within the budget. `every`
 * follows the upper end of the interval. The pairs are the same, with the other sign.
 *
 * Always true: no step is bare among the first FIRST of a thread, whose ops are met for the first
 * time. The distance between two steps of the rare kind is random, so that nothing that the
 * program repeats (a log each 10 steps) always meets one. Only while one thread trains: the
 * callbacks are the process's. Not at level min, which has no callbacks around ops.
 *
 * Limit: what a bare step pays too is not in the cost: events of steps, ranges and memory blocks,
 * and the runtime's thread.
 *
 * The state belongs to whoever has set `busy`: the thread that trains, at the end of its step, or
 * the runtime's thread. Neither waits for the other.
 */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "probes/pytorch/interval.h"
#include "probes/pytorch/probe.h"

#define FIRST 64	/* steps at the beginning in which ops are always looked at */
/* one of so many steps is bare; with a budget, until the cost is known, has callbacks */
#define EVERY 32
#define EVERY_MOST 1000
#define PAIRS 128u	/* the last ones count */
#define SURE 64u	/* from this many on, bare steps become rarer ... */
#define RARER 4		/* ... by this factor */
#define ALONE_NS INT64_C(5000000000)	/* another thread has not trained for so long */
#define TELL_NS INT64_C(1000000000)
#define LONG 8		/* a bare step that lasts so many times the usual is given up ... */
#define LONG_NS INT64_C(100000000)	/* ... but not before this time */

struct cost_step {
	int64_t wall_ns, cpu_ns;
	uint32_t registered;	/* torch_ops_registered() of the whole step; 0: it changed */
	bool bare;
};

static struct {
	const struct torch_thread *owner;	/* the thread that trains */
	int64_t owner_ns, other_ns;	/* when it ended a step; when another one did */
	int64_t from_ns, from_cpu_ns;	/* where the step that goes on now began */
	bool gave_up;		/* that one was bare, but is not any more */
	uint32_t registered;
	struct cost_step before[2];	/* the steps before it, the latest last */
	uint64_t steps, bare;
	int32_t left;		/* steps until the next one of the rare kind */
	uint32_t rare;		/* 2: that is the next step, 1: it is the one after */
	uint32_t every, random;
	enum tft_level level;	/* at which the pairs were measured */
	struct {
		int64_t wall_ns, cpu_ns, bare_ns;
	} pairs[PAIRS];
	uint64_t n_pairs, told_pairs;
	uint32_t told_every, told_budget;
	int64_t looked_ns;	/* when the estimate was made last */
} cost = { .every = 1 };
static atomic_flag busy = ATOMIC_FLAG_INIT;

static int64_t cpu_now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
		return 0;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint32_t cost_random(uint32_t below)
{
	cost.random = cost.random ? cost.random : 2463534242u;	/* Marsaglia's xorshift */
	cost.random ^= cost.random << 13;
	cost.random ^= cost.random >> 17;
	cost.random ^= cost.random << 5;
	return cost.random % below;
}

/* ---- pairs ---- */

static void pairs_forget(void)
{
	cost.n_pairs = cost.told_pairs = 0;
	memset(cost.before, 0, sizeof(cost.before));
}

/* The step before the last one, if its neighbours are of the other kind. */
static void pair_add(const struct cost_step *last)
{
	const struct cost_step *one = &cost.before[0], *two = &cost.before[1];
	int64_t sign = two->bare ? 1 : -1;
	size_t i = cost.n_pairs % PAIRS;

	if (!one->registered || one->registered != two->registered ||
	    one->registered != last->registered || one->bare != last->bare ||
	    one->bare == two->bare)
		return;
	cost.pairs[i].wall_ns = sign * ((one->wall_ns + last->wall_ns) / 2 - two->wall_ns);
	cost.pairs[i].cpu_ns = sign * ((one->cpu_ns + last->cpu_ns) / 2 - two->cpu_ns);
	cost.pairs[i].bare_ns = two->bare ? two->wall_ns : (one->wall_ns + last->wall_ns) / 2;
	cost.n_pairs++;
}

/* untold: as many steps ended unseen since the last one, so that the time is not that of one. */
static void step_measured(int64_t now_ns, uint32_t untold)
{
	uint32_t registered = torch_ops_registered();
	struct cost_step step = { .bare = torch_ops_bare() };

	if (!untold && cost.from_ns && cost.from_cpu_ns && registered == cost.registered)
		step = (struct cost_step) {
			.wall_ns = now_ns - cost.from_ns,
			.cpu_ns = cpu_now_ns() - cost.from_cpu_ns,
			.registered = registered, .bare = step.bare,
		};
	pair_add(&step);
	cost.before[0] = cost.before[1];
	cost.before[1] = step;
	cost.steps += untold + 1;
	cost.bare += step.bare ? untold + 1 : cost.gave_up;
	cost.gave_up = false;
}

/* ---- the estimate ---- */

static bool cost_estimate(struct tft_cost *c)
{
	static int64_t wall[PAIRS], cpu[PAIRS], bare[PAIRS];
	size_t n = cost.n_pairs < PAIRS ? cost.n_pairs : PAIRS;
	struct interval in_wall, in_cpu;

	for (size_t i = 0; i < n; i++) {
		wall[i] = cost.pairs[i].wall_ns;
		cpu[i] = cost.pairs[i].cpu_ns;
		bare[i] = cost.pairs[i].bare_ns;
	}
	if (!interval_of(wall, n, &in_wall) || !interval_of(cpu, n, &in_cpu))
		return false;
	c->pairs = (uint32_t)n;
	c->step_ns = interval_median(bare, n);
	c->wall_ns = in_wall.median;
	c->wall_low_ns = in_wall.low;
	c->wall_high_ns = in_wall.high;
	c->cpu_ns = in_cpu.median;
	c->cpu_low_ns = in_cpu.low;
	c->cpu_high_ns = in_cpu.high;
	return c->step_ns > 0;
}

/* Upper end of the narrower interval; model/core/bares.c chooses in the same way. */
static int64_t high_ns(const struct tft_cost *c)
{
	return c->cpu_high_ns - c->cpu_low_ns < c->wall_high_ns - c->wall_low_ns ?
	       c->cpu_high_ns : c->wall_high_ns;
}

/* In one of how many steps ops may be looked at. */
static uint32_t every_within(const struct tft_cost *c, uint32_t percent)
{
	int64_t allowed_ns, every;

	if (!percent)
		return 1;
	if (!c->pairs)
		return EVERY;
	allowed_ns = c->step_ns * percent / 100;
	if (high_ns(c) <= allowed_ns)
		return 1;
	every = allowed_ns ? (high_ns(c) + allowed_ns - 1) / allowed_ns : EVERY_MOST;
	return every < EVERY_MOST ? (uint32_t)every : EVERY_MOST;
}

static void cost_tell(int64_t now_ns, bool now)
{
	struct tft_cost c = { .budget = rt_budget() };

	if (!cost.steps || (!now && now_ns - cost.looked_ns < TELL_NS &&
			    c.budget == cost.told_budget))
		return;
	cost.looked_ns = now_ns;
	if (!cost_estimate(&c))
		c = (struct tft_cost){ .budget = c.budget };
	cost.every = every_within(&c, c.budget);
	if (cost.n_pairs == cost.told_pairs && cost.every == cost.told_every &&
	    c.budget == cost.told_budget && !now)
		return;
	cost.told_pairs = cost.n_pairs;
	cost.told_every = cost.every;
	cost.told_budget = c.budget;
	c.every = cost.every;
	c.steps = cost.steps;
	c.bare = cost.bare;
	rt_emit_cost(&c);
}

/* ---- which steps are bare ---- */

/* Steps until the next one of the rare kind: more than `every` on average, never the next one. */
static int32_t next_in(uint32_t every)
{
	return (int32_t)(every / 2 + 1 + cost_random(every));
}

static bool next_is_bare(int64_t now_ns)
{
	bool mostly = cost.every > 1, rare;
	uint32_t every = mostly ? cost.every : cost.n_pairs < SURE ? EVERY : EVERY * RARER;

	if (cost.steps < FIRST || (cost.other_ns && now_ns - cost.other_ns < ALONE_NS))
		return false;
	if (cost.left > (int32_t)every * 2)	/* it has become more frequent */
		cost.left = 0;
	rare = --cost.left <= 0;
	if (rare) {
		cost.left = next_in(every);
		cost.rare = 2;
	}
	/* inputs are read for a moment, which costs more */
	if (!mostly && torch_ops_reading())
		return false;
	return rare != mostly;
}

/* Whether this is the thread whose steps are measured; it becomes that one if there is none. */
static bool is_owner(const struct torch_thread *t, int64_t now_ns)
{
	if (cost.owner != t && cost.owner && now_ns - cost.owner_ns < ALONE_NS) {
		cost.other_ns = now_ns;
		return false;
	}
	if (cost.owner != t) {
		pairs_forget();
		cost.steps = cost.bare = 0;
		cost.from_ns = 0;
	}
	cost.owner = t;
	cost.owner_ns = now_ns;
	return true;
}

void torch_cost_step(struct torch_thread *t, int64_t now_ns)
{
	enum tft_level level = rt_level();
	bool bare;

	if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
		t->untold++;	/* the runtime's thread is at it */
		return;
	}
	/* a time at level off or min changes nothing of what was measured */
	if (level >= TFT_LEVEL_DEFAULT && level != cost.level) {
		pairs_forget();
		cost.level = level;
		cost.from_ns = 0;
	}
	if (level >= TFT_LEVEL_DEFAULT && is_owner(t, now_ns)) {
		step_measured(now_ns, t->untold);
		bare = next_is_bare(now_ns);
		torch_ops_set_bare(bare, now_ns);
		cost.registered = torch_ops_registered();
		/* reading that clock is a call of the kernel */
		cost.from_cpu_ns = cost.left <= 1 || cost.rare ? cpu_now_ns() : 0;
		cost.rare = cost.rare > 0 ? cost.rare - 1 : 0;
		cost.from_ns = rt_now_ns();
	}
	t->untold = 0;
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* Ends a bare step that lasts for too long, such as one that is followed by a validation. */
static void give_up(int64_t now_ns)
{
	int64_t most_ns = cost.before[1].wall_ns * LONG;

	if (!torch_ops_bare() || now_ns - cost.from_ns < LONG_NS ||
	    now_ns - cost.from_ns < most_ns)
		return;
	cost.from_ns = 0;
	torch_ops_set_bare(false, now_ns);
	cost.gave_up = !torch_ops_bare();
}

void torch_cost_tick(int64_t now_ns, bool last)
{
	if (rt_level() < TFT_LEVEL_DEFAULT && !last)
		return;
	if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		return;
	if (last)
		torch_ops_set_bare(false, now_ns);
	else
		give_up(now_ns);
	cost_tell(now_ns, last);
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

void torch_cost_dump(void)
{
	if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		return;
	cost_tell(rt_now_ns(), true);
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

void torch_cost_fork_child(void)
{
	memset(&cost, 0, sizeof(cost));
	cost.every = 1;
	atomic_flag_clear(&busy);
}
