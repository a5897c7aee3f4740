/* SPDX-License-Identifier: MIT */
#include "model/core/pauses.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "model/core/model.h"

#define PAUSED_PART 16	/* if pauses take at least this part of a time, they count */

static int by_length(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Drops the shorter half of the pauses, but not the last one, which may be open. */
static void forget_short(struct pauses *pauses)
{
	int64_t *lengths = xcalloc(pauses->n, sizeof(*lengths)), least;
	size_t n = pauses->n - 1, to = 0;

	for (size_t i = 0; i < n; i++)
		lengths[i] = pauses->list[i].end_ns - pauses->list[i].begin_ns;
	qsort(lengths, n, sizeof(*lengths), by_length);
	least = lengths[n / 2];
	free(lengths);
	for (size_t i = 0; i < n; i++)
		if (pauses->list[i].end_ns - pauses->list[i].begin_ns > least)
			pauses->list[to++] = pauses->list[i];
	pauses->list[to++] = pauses->list[n];
	pauses->n = to;
}

/* The pause that lasts ends, or another one begins, at at_ns. */
static void pause_change(struct model *model, struct pauses *pauses, int64_t at_ns, bool off,
			 bool taken)
{
	struct model_pause *last = pauses->n ? &pauses->list[pauses->n - 1] : NULL;
	bool lasts = last && last->end_ns == INT64_MAX, pauses_now = off || taken;

	if (!time_ok(at_ns)) {
		model_bad(model, BAD_FAR);
		return;
	}
	/* the same again, or a change between two levels that are not off */
	if (lasts == pauses_now && (!lasts || last->taken == !off)) {
		pauses->off = off;
		pauses->taken = taken;
		return;
	}
	if (last && at_ns < (lasts ? last->begin_ns : last->end_ns)) {
		model_bad(model, BAD_END);
		return;
	}
	pauses->off = off;
	pauses->taken = taken;
	if (lasts)
		last->end_ns = at_ns;
	if (!pauses_now)
		return;
	if (pauses->n >= PAUSES_MAX)
		forget_short(pauses);
	grow(&pauses->list, &pauses->cap, pauses->n, sizeof(*pauses->list));
	pauses->list[pauses->n++] = (struct model_pause) { at_ns, INT64_MAX, !off };
	model->paused = true;
}

void apply_level(struct model *model, const struct arrival *in)
{
	const struct event_level_now *level = &in->event->u.level_now;
	struct pauses *pauses = &in->process->pauses;

	pause_change(model, pauses, level->at_ns, level->level == 0, pauses->taken);
}

void apply_taken(struct model *model, const struct arrival *in)
{
	const struct event_taken *taken = &in->event->u.taken;
	struct pauses *pauses = &in->process->pauses;

	pause_change(model, pauses, taken->at_ns, pauses->off, taken->taken);
}

/* ---- of several processes ---- */

/* A process starts or stops being observed, or its pause starts or ends. */
struct pause_turn { int64_t at_ns; int looking, paused, taken; };

struct pause_turns { struct pause_turn *list; size_t n, cap; };

static void add_turn(struct pause_turns *turns, struct pause_turn turn)
{
	grow(&turns->list, &turns->cap, turns->n, sizeof(*turns->list));
	turns->list[turns->n++] = turn;
}

static size_t first_touching(const struct pauses *pauses, int64_t t0)
{
	return FIRST_NOT(i, 0, pauses->n, pauses->list[i].end_ns <= t0);
}

static int64_t within(int64_t ns, int64_t t0, int64_t t1)
{
	return ns < t0 ? t0 : ns > t1 ? t1 : ns;
}

/* which: the pauses that are asked for; a device is not looked at in all of them. */
enum pauses_which { PAUSES_OFF, PAUSES_TAKEN, PAUSES_BOTH };

static void pauses_add_process(struct pause_turns *turns, const struct process *p,
			       enum pauses_which which, int64_t t0, int64_t t1)
{
	const struct pauses *pauses = &p->pauses;
	int64_t begin = within(p->start_ns, t0, t1);
	int64_t end = within(p->exited ? p->seen_ns : INT64_MAX, begin, t1);

	if (begin == end)
		return;
	add_turn(turns, (struct pause_turn) { begin, which != PAUSES_TAKEN, 0, 0 });
	add_turn(turns, (struct pause_turn) { end, -(which != PAUSES_TAKEN), 0, 0 });
	for (size_t i = first_touching(pauses, begin);
	     i < pauses->n && pauses->list[i].begin_ns < end; i++) {
		const struct model_pause *pause = &pauses->list[i];
		int64_t from = within(pause->begin_ns, begin, end);
		int64_t to = within(pause->end_ns, begin, end);

		if (which != PAUSES_BOTH && pause->taken != (which == PAUSES_TAKEN))
			continue;
		add_turn(turns, (struct pause_turn) { from, -1, 1, pause->taken });
		add_turn(turns, (struct pause_turn) { to, 1, -1, -pause->taken });
	}
}

static int by_time(const void *a, const void *b)
{
	const struct pause_turn *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* The times at which some process pauses and none is observed. */
static size_t pauses_sweep(const struct pause_turns *turns, struct model_pause *out)
{
	int looking = 0, paused = 0, taken = 0;
	bool was = false;
	size_t n = 0;

	for (size_t i = 0; i < turns->n; i++) {
		const struct pause_turn *turn = &turns->list[i];
		bool is;

		looking += turn->looking;
		paused += turn->paused;
		taken += turn->taken;
		if (i + 1 < turns->n && turns->list[i + 1].at_ns == turn->at_ns)
			continue;
		is = paused > 0 && looking <= 0;
		if (was && (!is || out[n].taken != (taken > 0)))
			out[n++].end_ns = turn->at_ns;
		else if (was == is)
			continue;
		if (is)
			out[n] = (struct model_pause) { turn->at_ns, turn->at_ns, taken > 0 };
		was = is;
	}
	return n;
}

static size_t pauses_list(struct model *model, uint32_t device, enum pauses_which which,
			  int64_t t0, int64_t t1, struct model_pause **out)
{
	int64_t known_ns = model->live_ns > model->last_ns ? model->live_ns : model->last_ns;
	struct pause_turns turns = { .n = 0 };
	size_t n;

	*out = NULL;
	t1 = t1 < known_ns ? t1 : known_ns;
	if (!model->paused || t1 <= t0)
		return 0;
	for (uint32_t i = 0; device == NONE && i < model->processes.n; i++)
		pauses_add_process(&turns, process_at(model, i), which, t0, t1);
	for (uint32_t i = 0; device != NONE && i < model->views.n; i++)
		if (view_at(model, i)->device == device)
			pauses_add_process(&turns, process_at(model, view_at(model, i)->process),
					   which, t0, t1);
	if (turns.n)
		qsort(turns.list, turns.n, sizeof(*turns.list), by_time);
	*out = xcalloc(turns.n + 1, sizeof(**out));
	n = pauses_sweep(&turns, *out);
	free(turns.list);
	return n;
}

size_t model_pauses(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		    struct model_pause **out)
{
	return pauses_list(model, device, device == NONE ? PAUSES_OFF : PAUSES_BOTH, t0, t1, out);
}

size_t model_taken(struct model *model, int64_t t0, int64_t t1, struct model_pause **out)
{
	return pauses_list(model, NONE, PAUSES_TAKEN, t0, t1, out);
}

static int64_t sum_within(struct model *model, enum pauses_which which, int64_t t0, int64_t t1)
{
	struct model_pause *list;
	size_t n = pauses_list(model, NONE, which, t0, t1, &list);
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += list[i].end_ns - list[i].begin_ns;
	free(list);
	return ns;
}

int64_t pauses_within(struct model *model, int64_t t0, int64_t t1)
{
	return sum_within(model, PAUSES_OFF, t0, t1);
}

bool pauses_count(struct model *model, int64_t t0, int64_t t1)
{
	return sum_within(model, PAUSES_OFF, t0, t1) + sum_within(model, PAUSES_TAKEN, t0, t1) >
	       (t1 - t0) / PAUSED_PART;
}
