/* SPDX-License-Identifier: MIT */
/*
 * Steps from one matching event to the next. The run is searched part by part, for the matching
 * event of a part that starts first (or last).
 */
#include "tui/timeline/find.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/executions.h"
#include "tui/filters/filters_span.h"
#include "tui/draw/places.h"
#include "tui/base/turns.h"

/* divisor of the run for the first part; each part is twice as long as the one before, */
#define PART_LEAST 4096
#define PART_MOST 64			/* ... up to this divisor */
#define AT_ONCE 1024u			/* more events than usually start at the same time */

/* The argument of the callback of model_executions(). */
struct asker {
	struct find *find;
	struct turns *turns;		/* NULL: it never pauses */
};

/* Limits a time to the run. */
static int64_t inside(const struct find_step *step, int64_t t)
{
	return t < step->first_ns ? step->first_ns : t > step->last_ns ? step->last_ns : t;
}

static unsigned permille(const struct find_step *step)
{
	double all = (double)(step->last_ns - step->first_ns), done;

	if (all <= 0)
		return 0;
	done = (double)(inside(step, step->edge_ns) - inside(step, step->from.start_ns));
	if (!step->forward)
		done = -done;
	if (step->around)
		done += all;
	return done < 0 ? 0 : done > all ? 1000 : (unsigned)(done * 1000 / all);
}

static bool rest(void *arg, unsigned of_part)
{
	const struct asker *asker = arg;

	(void)of_part;
	return !asker->turns || turns_rest(asker->turns, permille(&asker->find->step));
}

static bool row_may(void *arg, const struct model_row *row)
{
	const struct find *find = ((const struct asker *)arg)->find;

	return !find->filter || filters_may_name(find->filter, row->kind, NULL, NULL);
}

static bool is_wanted(void *arg, const struct span *span)
{
	const struct find *find = ((const struct asker *)arg)->find;

	return filters_span(find->filter, span, find->base_ns);
}

/* Finds up to `most` events that start from t0 to t1, both included, in the order of the direction.
 * Returns false if the search is to end. */
static bool find_ask(struct asker *asker, struct model *model, int64_t t0, int64_t t1, size_t most,
		     struct executions *out)
{
	const struct find *find = asker->find;
	struct execution_want want = {
		.kinds = EXECUTION_ALL, .name = find->search, .start_ns = { t0, t1 },
		.bytes = EXECUTION_ANY, .row = row_may, .span = find->filter ? is_wanted : NULL,
		.rest = rest, .arg = asker, .order = EXECUTIONS_BY_START,
		.rising = find->step.forward, .most = most,
	};
	int64_t least, last;

	filter_bounds(find->filter, FILTER_BY_DUR, &want.dur_ns.least, &want.dur_ns.most);
	filter_bounds(find->filter, FILTER_BY_START, &least, &last);
	if (least != INT64_MIN && find->base_ns + least > want.start_ns.least)
		want.start_ns.least = find->base_ns + least;
	if (last != INT64_MAX && find->base_ns + last < want.start_ns.most)
		want.start_ns.most = find->base_ns + last;
	*out = (struct executions) { .n = 0 };
	if (want.start_ns.least > want.start_ns.most)
		return true;
	model_executions(model, &want, out);
	return !out->stopped;
}

/* A position among rows: of events that start at the same time, the upper one comes first. */
struct find_place { size_t row; uint32_t lane; };

static struct find_place place_of(const struct model_row *rows, size_t n, uint32_t row,
				  uint32_t lane)
{
	struct find_place place = { 0, lane };

	while (place.row < n && rows[place.row].id != row)
		place.row++;
	return place;
}

static bool is_above(const struct find_place *a, const struct find_place *b)
{
	return a->row != b->row ? a->row < b->row : a->lane < b->lane;
}

/* Chooses the first (last) of the events that start at that time; beyond `from` if that is not
 * NULL. */
static bool choose_at(struct asker *asker, struct model *model, int64_t start_ns,
		      const struct find_from *from)
{
	struct find_step *step = &asker->find->step;
	struct find_place limit = { 0, 0 }, best = { 0, 0 };
	struct model_row *rows;
	struct executions all;
	size_t n;

	for (size_t most = AT_ONCE; ; most = EXECUTIONS_MAX) {
		bool wanted = find_ask(asker, model, start_ns, start_ns, most, &all);

		if (wanted && (all.n < most || most == EXECUTIONS_MAX))
			break;
		free(all.spans);
		if (!wanted)
			return false;
	}
	model_lock(model);
	n = model_rows(model, &rows);
	model_unlock(model);
	if (from)
		limit = place_of(rows, n, from->row, from->lane);
	for (size_t i = 0; i < all.n; i++) {
		struct span_ref ref = all.spans[i].ref;
		struct find_place at = place_of(rows, n, ref.row, ref.lane);

		if (from && !(step->forward ? is_above(&limit, &at) : is_above(&at, &limit)))
			continue;
		if (step->found && !(step->forward ? is_above(&at, &best) : is_above(&best, &at)))
			continue;
		best = at;
		step->ref = ref;
		step->found = true;
	}
	free(rows);
	free(all.spans);
	return true;
}

static int64_t beyond(int64_t t, int64_t by, bool forward)
{
	int64_t sum;

	if (forward ? __builtin_add_overflow(t, by, &sum) : __builtin_sub_overflow(t, by, &sum))
		return forward ? INT64_MAX : INT64_MIN;
	return sum;
}

/* Searches the part that starts at the edge; returns false if the search is to end. */
static bool look_at_part(struct asker *asker, struct model *model)
{
	struct find_step *step = &asker->find->step;
	int64_t end_ns = beyond(inside(step, step->edge_ns), step->width_ns, step->forward);
	int64_t whole_ns = step->around ? step->from.start_ns :
			   step->forward ? INT64_MAX : INT64_MIN;
	int64_t limit_ns = inside(step, whole_ns);
	bool last = step->forward ? end_ns >= limit_ns : end_ns <= limit_ns;
	struct executions found;
	int64_t start_ns;

	if (last)
		end_ns = whole_ns;
	if (!(step->forward ? find_ask(asker, model, step->edge_ns, end_ns, 1, &found) :
			      find_ask(asker, model, end_ns, step->edge_ns, 1, &found))) {
		free(found.spans);
		return false;
	}
	if (found.n) {
		start_ns = found.spans[0].start_ns;
		free(found.spans);
		if (!choose_at(asker, model, start_ns, NULL))
			return false;
		step->over = step->found;
		/* the event may have moved meanwhile, because a clock was corrected */
		step->edge_ns = beyond(start_ns, 1, step->forward);
		return true;
	}
	free(found.spans);
	step->edge_ns = beyond(end_ns, 1, step->forward);
	step->width_ns = step->width_ns < (step->last_ns - step->first_ns) / PART_MOST ?
			 step->width_ns * 2 : step->width_ns;
	if (!last)
		return true;
	step->over = step->around;
	step->around = true;
	step->edge_ns = step->forward ? INT64_MIN : INT64_MAX;
	return true;
}

void find_begin(struct find *find, struct model *model, const struct find_from *from, bool forward)
{
	struct find_step *step = &find->step;
	struct model_status status;

	if (step->begun && !step->over && step->forward == forward && step->from.row == from->row &&
	    step->from.lane == from->lane && step->from.start_ns == from->start_ns)
		return;
	model_lock(model);
	model_status(model, &status);
	model_unlock(model);
	find->base_ns = places_base_ns(&status);
	*step = (struct find_step) {
		.from = *from, .forward = forward, .edge_ns = from->start_ns,
		.first_ns = status.first_ns, .last_ns = status.last_ns,
	};
	if (step->first_ns > step->last_ns)
		step->first_ns = step->last_ns = from->start_ns;
	step->width_ns = (step->last_ns - step->first_ns) / PART_LEAST + 1;
}

void find_go(struct find *find, struct model *model, struct turns *turns)
{
	struct asker asker = { find, turns };
	struct find_step *step = &find->step;

	if (!step->begun) {
		/* from an event: the events that start at the same time and follow it; from a time:
		 * all later (or all earlier) ones */
		if (step->from.row && !choose_at(&asker, model, step->from.start_ns, &step->from))
			return;
		step->over = step->found;
		if (step->from.row)
			step->edge_ns = beyond(step->from.start_ns, 1, step->forward);
		step->begun = true;
	}
	while (!step->over && look_at_part(&asker, model))
		;
}
