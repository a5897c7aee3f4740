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

void apply_level(struct model *model, const struct arrival *in)
{
	const struct event_level_now *level = &in->event->u.level_now;
	struct pauses *pauses = &in->process->pauses;
	struct model_pause *last = pauses->n ? &pauses->list[pauses->n - 1] : NULL;
	bool lasts = last && last->end_ns == INT64_MAX;
	int64_t at_ns = level->at_ns;

	if (!time_ok(at_ns)) {
		model_bad(model, BAD_FAR);
		return;
	}
	if (lasts == (level->level == 0))
		return;	/* the same level again, or a change between two levels that are not off */
	if (last && at_ns < (lasts ? last->begin_ns : last->end_ns)) {
		model_bad(model, BAD_END);
		return;
	}
	if (lasts) {
		last->end_ns = at_ns;
		return;
	}
	if (pauses->n >= PAUSES_MAX)
		forget_short(pauses);
	grow(&pauses->list, &pauses->cap, pauses->n, sizeof(*pauses->list));
	pauses->list[pauses->n++] = (struct model_pause) { at_ns, INT64_MAX };
	model->paused = true;
}

/* ---- of several processes ---- */

/* A process starts or stops being observed, or its pause starts or ends. */
struct pause_turn { int64_t at_ns; int looking, paused; };

struct pause_turns { struct pause_turn *list; size_t n, cap; };

static void add_turn(struct pause_turns *turns, int64_t at_ns, int looking, int paused)
{
	grow(&turns->list, &turns->cap, turns->n, sizeof(*turns->list));
	turns->list[turns->n++] = (struct pause_turn) { at_ns, looking, paused };
}

static size_t first_touching(const struct pauses *pauses, int64_t t0)
{
	return FIRST_NOT(i, 0, pauses->n, pauses->list[i].end_ns <= t0);
}

static int64_t within(int64_t ns, int64_t t0, int64_t t1)
{
	return ns < t0 ? t0 : ns > t1 ? t1 : ns;
}

static void pauses_add_process(struct pause_turns *turns, const struct process *p, int64_t t0,
			       int64_t t1)
{
	const struct pauses *pauses = &p->pauses;
	int64_t begin = within(p->start_ns, t0, t1);
	int64_t end = within(p->exited ? p->seen_ns : INT64_MAX, begin, t1);

	if (begin == end)
		return;
	add_turn(turns, begin, 1, 0);
	add_turn(turns, end, -1, 0);
	for (size_t i = first_touching(pauses, begin);
	     i < pauses->n && pauses->list[i].begin_ns < end; i++) {
		add_turn(turns, within(pauses->list[i].begin_ns, begin, end), -1, 1);
		add_turn(turns, within(pauses->list[i].end_ns, begin, end), 1, -1);
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
	int looking = 0, paused = 0;
	bool was = false;
	size_t n = 0;

	for (size_t i = 0; i < turns->n; i++) {
		bool is;

		looking += turns->list[i].looking;
		paused += turns->list[i].paused;
		if (i + 1 < turns->n && turns->list[i + 1].at_ns == turns->list[i].at_ns)
			continue;
		is = paused > 0 && looking <= 0;
		if (is && !was)
			out[n].begin_ns = turns->list[i].at_ns;
		else if (was && !is)
			out[n++].end_ns = turns->list[i].at_ns;
		was = is;
	}
	return n;
}

size_t model_pauses(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		    struct model_pause **out)
{
	int64_t known_ns = model->live_ns > model->last_ns ? model->live_ns : model->last_ns;
	struct pause_turns turns = { .n = 0 };
	size_t n;

	*out = NULL;
	t1 = t1 < known_ns ? t1 : known_ns;
	if (!model->paused || t1 <= t0)
		return 0;
	for (uint32_t i = 0; device == NONE && i < model->processes.n; i++)
		pauses_add_process(&turns, process_at(model, i), t0, t1);
	for (uint32_t i = 0; device != NONE && i < model->views.n; i++)
		if (view_at(model, i)->device == device)
			pauses_add_process(&turns, process_at(model, view_at(model, i)->process),
					   t0, t1);
	if (turns.n)
		qsort(turns.list, turns.n, sizeof(*turns.list), by_time);
	*out = xcalloc(turns.n + 1, sizeof(**out));
	n = pauses_sweep(&turns, *out);
	free(turns.list);
	return n;
}

int64_t pauses_within(struct model *model, int64_t t0, int64_t t1)
{
	struct model_pause *list;
	size_t n = model_pauses(model, NONE, t0, t1, &list);
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += list[i].end_ns - list[i].begin_ns;
	free(list);
	return ns;
}

bool pauses_count(struct model *model, int64_t t0, int64_t t1)
{
	return pauses_within(model, t0, t1) > (t1 - t0) / PAUSED_PART;
}
