/* SPDX-License-Identifier: MIT */
#include "model/analyses/period.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/map.h"
#include "model/base/util.h"
#include "model/core/things.h"
#include "model/lanes/cover.h"
#include "model/steps/steps.h"

#define LOOKS 8u			/* processes, and threads that run ops */
#define NAMES_MAX_PERIOD 256u
#define HISTORY 128u			/* how many runs of a name are kept */
#define PERIODS 8u			/* minimum number of stretches */
#define K_MAX 12u
#define LOOK 128u			/* runs between two searches, doubled after each ... */
#define LOOK_MAX 4096u			/* ... that found nothing, up to this */
#define ALIKE 75	/* percentage of the stretches that must have the same content */
#define LONG 4				/* in periods: a longer stretch is not a step */
#define LOST 64				/* in periods: without a step for this long, search again */
#define LOOPS 8u	/* how many loops of a process are recognised when they return */

/* A run of a name, and what ran before it. */
struct period_mark {
	int64_t start_ns, rest_ns;	/* rest: time since anything else ran */
	uint64_t content;		/* sum of the hashes of all runs before */
	uint64_t runs;			/* number of all runs before */
};

struct period_name {
	uint32_t name;
	bool tunes;			/* an autotuner runs it between its attempts */
	uint64_t count;			/* number of all runs; the last HISTORY are in marks */
	int64_t total_ns;
	struct period_mark *marks;		/* owned; a ring */
};

struct period_look {
	uint32_t process, thread;	/* thread: NONE if it looks at what ran on devices */
	uint64_t content, runs, since_look, look_after;
	int64_t until_ns;		/* something ran up to this time */
	struct period_name *list;		/* owned */
	uint32_t n;
	struct map by_name;
	/* The loop that was found. */
	bool found;
	uint32_t anchor, k, series;	/* series: the name of the loop's steps */
	struct {
		uint64_t content;
		uint32_t series;
	} loops[LOOPS];			/* loops found so far, a ring */
	uint32_t n_loops;
	uint64_t phase;			/* a step starts when the count modulo k is this */
	/* duration of a period; the last anchor; end of the last step */
	int64_t period_ns, last_ns, step_ns;
};

struct period {
	struct period_look looks[LOOKS];
	uint32_t n;
};

struct period *period_new(void)
{
	return xcalloc(1, sizeof(struct period));
}

void period_free(struct period *period)
{
	for (uint32_t p = 0; p < period->n; p++) {
		struct period_look *looked = &period->looks[p];

		for (uint32_t i = 0; i < looked->n; i++)
			free(looked->list[i].marks);
		free(looked->list);
		map_release(&looked->by_name);
	}
	free(period);
}

size_t period_bytes(const struct period *period)
{
	size_t bytes = sizeof(*period);

	for (uint32_t p = 0; p < period->n; p++)
		bytes += period->looks[p].n * (sizeof(struct period_name) +
						   HISTORY * sizeof(struct period_mark));
	return bytes;
}

/* thread: NONE for what ran on the devices of the process. */
static struct period_look *looked_of(struct period *period, uint32_t process, uint32_t thread)
{
	struct period_look *looked;

	for (uint32_t p = 0; p < period->n; p++)
		if (period->looks[p].process == process && period->looks[p].thread == thread)
			return &period->looks[p];
	if (period->n == LOOKS)
		return NULL;
	looked = &period->looks[period->n++];
	looked->process = process;
	looked->thread = thread;
	looked->list = xcalloc(NAMES_MAX_PERIOD, sizeof(*looked->list));
	return looked;
}

static struct period_name *named_of(struct model *model, struct period_look *looked,
				    uint32_t name)
{
	uint32_t index = map_get(&looked->by_name, name);
	struct period_name *named;
	const char *text;

	if (index != MAP_NONE)
		return &looked->list[index];
	if (looked->n == NAMES_MAX_PERIOD)
		return NULL;
	named = &looked->list[looked->n++];
	named->name = name;
	/* XLA's autotuner looks for writes beyond the results of each attempt */
	text = names_raw(&model->names, name);
	named->tunes = text && strcasestr(text, "redzone");
	named->marks = xcalloc(HISTORY, sizeof(*named->marks));
	map_set(&looked->by_name, name, looked->n - 1);
	return named;
}

/* The i-th of the kept runs, from the oldest on. */
static const struct period_mark *mark_at(const struct period_name *named, uint64_t i)
{
	uint64_t first = named->count > HISTORY ? named->count - HISTORY : 0;

	return &named->marks[(first + i) % HISTORY];
}

static uint64_t kept(const struct period_name *named)
{
	return named->count > HISTORY ? HISTORY : named->count;
}

/* The content that most stretches of k runs have, and their number of runs; *share: their
 * percentage. By majority vote and counting, without sorting. */
static uint64_t usual_content(const struct period_name *named, uint32_t k, unsigned *share,
			      uint64_t *runs)
{
	uint64_t n = kept(named) - k, usual = 0, votes = 0, alike = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t content = mark_at(named, i + k)->content - mark_at(named, i)->content;

		if (!votes)
			usual = content;
		if (content == usual)
			votes++;
		else
			votes--;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (mark_at(named, i + k)->content - mark_at(named, i)->content != usual)
			continue;
		alike++;
		*runs = mark_at(named, i + k)->runs - mark_at(named, i)->runs;
	}
	*share = (unsigned)(alike * 100 / n);
	return usual;
}

/* The smallest k that makes the name an anchor; 0: there is none. */
static uint32_t anchor_of(const struct period_name *named, uint64_t *content)
{
	for (uint32_t k = 1; k <= K_MAX && kept(named) >= k * PERIODS + 1; k++) {
		uint64_t runs = 0;
		unsigned share;

		*content = usual_content(named, k, &share, &runs);
		if (share < ALIKE)
			continue;
		/* One run repeated over and over is not a step. */
		return runs >= 2 ? k : 0;
	}
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* How long the process usually rests before such a run: the median. */
static int64_t rest_of(const struct period_name *named)
{
	int64_t rests[HISTORY];
	uint64_t n = kept(named);

	for (uint64_t i = 0; i < n; i++)
		rests[i] = mark_at(named, i)->rest_ns;
	qsort(rests, n, sizeof(rests[0]), by_ns);
	return rests[n / 2];
}

static void add_step(struct model *model, struct period_look *looked, int64_t from_ns,
		     int64_t to_ns)
{
	if (to_ns - from_ns > LONG * looked->period_ns || to_ns <= from_ns ||
	    from_ns < looked->step_ns)
		return;
	steps_period(model, looked->process, looked->series, from_ns, to_ns - from_ns);
	looked->step_ns = to_ns;
}

/* A loop that returns after something else continues its steps, whatever starts them now; another
 * loop has a series of its own. */
static void take_series(struct period_look *looked, uint64_t content)
{
	uint32_t kept_loops = looked->n_loops < LOOPS ? looked->n_loops : LOOPS;

	looked->series = looked->list[looked->anchor].name;
	for (uint32_t i = 0; i < kept_loops; i++)
		if (looked->loops[i].content == content) {
			looked->series = looked->loops[i].series;
			return;
		}
	looked->loops[looked->n_loops % LOOPS].content = content;
	looked->loops[looked->n_loops++ % LOOPS].series = looked->series;
}

/* Adds the steps that the kept runs contain. */
static void period_start_steps(struct model *model, struct period_look *looked)
{
	const struct period_name *named = &looked->list[looked->anchor];
	uint64_t n = kept(named), k = looked->k, best = 0, first;
	int64_t most = -1;

	/* Of the k ways to start a step, takes the one after the longest rest. */
	for (uint64_t phase = 0; phase < k; phase++) {
		int64_t sum = 0;

		for (uint64_t i = n - 1 - phase; i >= k && i < n; i -= k)
			add_ns(&sum, mark_at(named, i)->rest_ns);
		if (sum > most) {
			most = sum;
			best = phase;
		}
	}
	looked->phase = (named->count - 1 - best) % k;
	looked->period_ns = (mark_at(named, n - 1)->start_ns - mark_at(named, 0)->start_ns) *
			    (int64_t)k / (int64_t)(n - 1);
	looked->found = true;
	first = (n - 1 - best) % k;
	for (uint64_t i = first; i + k < n; i += k)
		add_step(model, looked, mark_at(named, i)->start_ns,
			 mark_at(named, i + k)->start_ns);
	looked->last_ns = mark_at(named, n - 1 - best)->start_ns;
}

static int by_total(const void *a, const void *b)
{
	const struct period_name *x = *(const struct period_name *const *)a;
	const struct period_name *y = *(const struct period_name *const *)b;

	return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

/* Finds the name with most time that is an anchor, then the best name that starts the same
 * stretch. */
static void period_find_anchor(struct model *model, struct period_look *looked)
{
	const struct period_name *by_cost[NAMES_MAX_PERIOD], *found = NULL;
	uint64_t content, other;
	int64_t rest = -1;

	looked->since_look = 0;
	for (uint32_t i = 0; i < looked->n; i++)
		by_cost[i] = &looked->list[i];
	qsort(by_cost, looked->n, sizeof(by_cost[0]), by_total);
	for (uint32_t i = 0; i < looked->n && !found; i++) {
		looked->k = anchor_of(by_cost[i], &content);
		if (looked->k)
			found = by_cost[i];
	}
	if (!found) {
		if (looked->look_after < LOOK_MAX)
			looked->look_after = looked->look_after ? looked->look_after * 2 : LOOK * 2;
		return;
	}
	looked->look_after = LOOK;
	for (uint32_t i = 0; i < looked->n; i++) {
		int64_t before;

		if (anchor_of(by_cost[i], &other) != 1 || other != content)
			continue;
		before = rest_of(by_cost[i]);
		if (before <= rest)
			continue;
		rest = before;
		found = by_cost[i];
		looked->k = 1;
	}
	looked->anchor = (uint32_t)(found - looked->list);
	take_series(looked, content);
	period_start_steps(model, looked);
}

/* Forgets what ran so far: a step is never made of it. */
static void period_break(struct period_look *looked)
{
	for (uint32_t i = 0; i < looked->n; i++) {
		looked->list[i].count = 0;
		looked->list[i].total_ns = 0;
	}
	looked->found = false;
	looked->since_look = 0;
}

static bool compiles_at(const struct model *model, uint32_t process, int64_t t_ns)
{
	const struct cover *compiling = &process_at(model, process)->compiling;

	return compiling->n && cover_window(compiling, t_ns, t_ns + 1) > 0;
}

/* name: 0 if it cannot begin a step. */
static void period_look_at(struct model *model, struct period_look *looked, const struct act *act,
			   uint32_t name, uint64_t content)
{
	struct period_name *named = name ? named_of(model, looked, name) : NULL;

	if ((named && named->tunes) || compiles_at(model, looked->process, act->kind == ACT_RUN &&
						   act->call_ns ? act->call_ns : act->start_ns)) {
		period_break(looked);
		return;
	}
	if (named) {
		named->marks[named->count++ % HISTORY] = (struct period_mark) {
			.start_ns = act->start_ns, .content = looked->content,
			.runs = looked->runs, .rest_ns = looked->until_ns &&
			act->start_ns > looked->until_ns ? act->start_ns - looked->until_ns : 0,
		};
		add_ns(&named->total_ns, act->end_ns - act->start_ns);
	}
	looked->content += content;
	looked->runs++;
	if (act->end_ns > looked->until_ns)
		looked->until_ns = act->end_ns;
	if (!looked->found) {
		if (++looked->since_look >= (looked->look_after ? looked->look_after : LOOK))
			period_find_anchor(model, looked);
		return;
	}
	if (named == &looked->list[looked->anchor] &&
	    (named->count - 1) % looked->k == looked->phase) {
		add_step(model, looked, looked->last_ns, act->start_ns);
		looked->last_ns = act->start_ns;
	}
	if (act->start_ns - looked->step_ns > LOST * looked->period_ns)
		looked->found = false;
}

static void period_run(struct model *model, struct period *period, const struct act *act)
{
	struct period_look *looked = looked_of(period, act->process, NONE);
	uint32_t name = names_resolve(&model->names, act->name);

	if (!looked || act->command == COMMAND_FILL || act->command == COMMAND_UNMAP)
		return;
	period_look_at(model, looked, act, act->command == COMMAND_KERNEL ? name : 0,
		       map_mix(((uint64_t)act->command << 40 | (uint64_t)act->direction << 32 |
				name) + 1));
}

static bool has_found(const struct period *period, uint32_t process)
{
	for (uint32_t p = 0; p < period->n; p++)
		if (period->looks[p].process == process && period->looks[p].thread == NONE &&
		    period->looks[p].found)
			return true;
	return false;
}

/* Outermost ops of a thread; nothing if the devices show the period already. */
static void period_op(struct model *model, struct period *period, const struct act *act)
{
	uint32_t name = names_resolve(&model->names, act->name);
	struct period_look *looked;

	if (act->command == FW_NONE || act->flags & (ACT_RANGE | ACT_ASYNC) || !name ||
	    act->thread == NONE || has_found(period, act->process))
		return;
	looked = looked_of(period, act->process, act->thread);
	if (looked && act->start_ns >= looked->until_ns)
		period_look_at(model, looked, act, name, map_mix(name + 1));
}

void period_act(struct model *model, struct period *period, const struct act *act)
{
	if (act->kind == ACT_RUN)
		period_run(model, period, act);
	else
		period_op(model, period, act);
}
