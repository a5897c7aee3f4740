/* SPDX-License-Identifier: MIT */
/*
 * The steps as a list that is kept up to date.
 *
 * Idea: the row of a step depends on the whole run only through a few numbers: the median and
 * the spread (for outliers), the end of the warm-up, and what was compiled. While these stay
 * the same, only new steps are judged and added; when one of them changes, all are judged
 * again. Percentiles come from histograms, so these numbers change rarely, by one bucket at a
 * time.
 *
 * Complexity: O(new steps + buckets), and O(all * log compilations) when the numbers change.
 */
#include "model/steps/steps.h"

#include <stdlib.h>

#include "model/analyses/thresholds.h"
#include "model/base/util.h"

/* a step that compiled for at least this part of its time counts as compiled */
#define COMPILED_PART 10

struct step_book {
	size_t series;			/* index in model->steps, and ... */
	uint64_t moved, compiled;
	int64_t p50_ns, mad_ns;
	size_t warm_up;
	struct hist away;		/* distances to p50_ns, for the steps after the warm-up */
	size_t n_away;			/* how many rows these include */
	size_t n_steady;
	int64_t steady_ns;		/* sum of their durations */
};

static size_t warm_up_of(const struct model *model, const struct steps *steps)
{
	size_t set = (size_t)model_threshold(model, THRESHOLD_WARM_UP);

	return set < steps->n ? set : steps->n;
}

static bool is_outlier(int64_t dur_ns, const struct step_stats *stats)
{
	int64_t more = dur_ns - stats->p50_ns;

	return stats->mad_ns >= 0 && more / 4 > stats->mad_ns && more > stats->p50_ns / 20;
}

/* The median of the distances to the median, over steps after the warm-up. */
static int64_t spread(struct step_book *book, const struct steps *steps)
{
	for (; book->n_away < steps->n; book->n_away++) {
		int64_t away = steps->list[book->n_away].dur_ns - book->p50_ns;

		hist_add(&book->away, away < 0 ? -away : away);
	}
	return hist_percentile(&book->away, 500);
}

static void step_list_judge(const struct model *model, const struct steps *steps,
			    struct step_list *list, size_t i)
{
	const struct step *step = &steps->list[i];
	struct step_stats *stats = &list->stats;
	struct step_row row = {
		.number = step->number >= 0 ? step->number : (int64_t)i,
		.start_ns = step->start_ns, .dur_ns = step->dur_ns,
		.warm_up = i < list->book->warm_up,
		.compiled = step_compiles(model, steps, step, COMPILED_PART),
		.outlier = is_outlier(step->dur_ns, stats),
	};

	list->rows[i] = row;
	if (row.warm_up)
		return;
	stats->outliers += row.outlier;
	stats->compiled += row.compiled;
	if (row.compiled)
		return;
	list->book->n_steady++;
	add_ns(&list->book->steady_ns, step->dur_ns);
}

/* Starts again if the list was made for another series, or if that series was reordered. */
static void take_series(const struct model *model, const struct steps *steps,
			struct step_list *list)
{
	struct step_book *book = list->book;
	size_t series = (size_t)(steps - model->steps);

	if (book && book->series == series && book->moved == steps->moved && list->n <= steps->n)
		return;
	if (!book)
		book = list->book = xcalloc(1, sizeof(*book));
	hist_release(&book->away);
	*book = (struct step_book) { .series = series, .moved = steps->moved, .p50_ns = -1 };
	list->n = 0;
}

static bool is_up_to_date(const struct model *model, const struct steps *steps,
			  const struct step_book *book)
{
	return book->compiled == process_at(model, steps->process)->compiled &&
	       book->warm_up == warm_up_of(model, steps);
}

static void take_stats(struct model *model, const struct steps *steps, struct step_list *list)
{
	struct step_book *book = list->book;
	struct step_stats *stats = &list->stats;
	uint64_t compiled = process_at(model, steps->process)->compiled;
	size_t warm_up = warm_up_of(model, steps);
	int64_t p50_ns = hist_percentile(&steps->hist, 500), mad_ns;
	bool moved = p50_ns != book->p50_ns || warm_up != book->warm_up;

	if (moved) {
		hist_release(&book->away);
		book->n_away = warm_up;
	}
	book->p50_ns = p50_ns;
	book->warm_up = warm_up;
	mad_ns = spread(book, steps);
	if (moved || mad_ns != book->mad_ns || compiled != book->compiled) {
		list->n = book->n_steady = 0;
		book->steady_ns = 0;
		stats->outliers = stats->compiled = 0;
	}
	book->mad_ns = mad_ns;
	book->compiled = compiled;
	stats->count = steps->n;
	stats->source = steps_source(model, steps);
	stats->passes = steps_are_passes(model);
	stats->mean_ns = steps->sum_ns / (int64_t)steps->n;
	stats->p50_ns = p50_ns;
	stats->p99_ns = hist_percentile(&steps->hist, 990);
	stats->period_ns = steps->n > 1 ? (steps->list[steps->n - 1].start_ns -
					   steps->list[0].start_ns) / (int64_t)(steps->n - 1) : -1;
	stats->mad_ns = mad_ns;
	stats->warm_up = warm_up;
}

bool model_steps_update(struct model *model, struct step_list *list)
{
	static const struct step_stats none = {
		.p50_ns = -1, .p99_ns = -1, .mad_ns = -1, .steady_ns = -1,
		.period_ns = -1,
	};
	const struct steps *steps = steps_best(model);
	size_t before = list->n;

	if (!steps) {
		step_list_release(list);
		list->stats = none;
		return before > 0;
	}
	take_series(model, steps, list);
	if (before && list->n == steps->n && is_up_to_date(model, steps, list->book))
		return false;
	take_stats(model, steps, list);
	if (list->cap < steps->n) {
		list->cap = steps->n + steps->n / 4;
		list->rows = xreallocarray(list->rows, list->cap, sizeof(*list->rows));
	}
	for (size_t i = list->n; i < steps->n; i++)
		step_list_judge(model, steps, list, i);
	list->n = steps->n;
	list->stats.steady_ns = list->book->n_steady ?
		list->book->steady_ns / (int64_t)list->book->n_steady : -1;
	return true;
}

void step_list_release(struct step_list *list)
{
	if (list->book)
		hist_release(&list->book->away);
	free(list->book);
	free(list->rows);
	*list = (struct step_list) { .rows = NULL };
}

size_t model_steps(struct model *model, struct step_stats *stats, struct step_row **out)
{
	struct step_list list = { .rows = NULL };
	size_t n;

	model_steps_update(model, &list);
	*stats = list.stats;
	*out = list.rows ? list.rows : xcalloc(1, sizeof(**out));
	n = list.n;
	list.rows = NULL;
	step_list_release(&list);
	return n;
}
