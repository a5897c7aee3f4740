/* SPDX-License-Identifier: MIT */
#include "tui/timeline/when.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/timeline/marks.h"
#include "tui/draw/pane.h"
#include "tui/table/steps.h"
#include "tui/draw/places.h"
#include "tui/draw/step_ranks.h"

static const char *const step_words[] = {
	"slowest", "fastest", "median", "first", "last", "here", "next", "previous",
};
enum { SLOWEST, FASTEST, MEDIAN, FIRST, LAST, HERE, NEXT, PREVIOUS, STEP_WORDS };

static const char *const range_words[] = { "step", "window", "selection", "measured", "run" };
static const char *const moment_words[] = { "start", "end", "live", "cursor", "mark", "gap" };

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

const char *when_word(enum when_words which, size_t i)
{
	switch (which) {
	case WHEN_STEPS: return i < COUNT(step_words) ? step_words[i] : NULL;
	case WHEN_RANGES: return i < COUNT(range_words) ? range_words[i] : NULL;
	default: return i < COUNT(moment_words) ? moment_words[i] : NULL;
	}
}

static bool is_one_of(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(text, list[i]) == 0)
			return true;
	return false;
}

bool when_is_word(const char *text)
{
	int64_t ns;

	return parse_time_ns(text, &ns) || is_one_of(text, step_words, COUNT(step_words)) ||
	       is_one_of(text, range_words, COUNT(range_words)) ||
	       is_one_of(text, moment_words, COUNT(moment_words));
}

static struct model_status status_of(const struct when_asks *asks)
{
	struct model_status status;

	model_lock(asks->model);
	model_status(asks->model, &status);
	model_unlock(asks->model);
	return status;
}

/* ---- moments ---- */

bool when_moment(const struct when_asks *asks, const char *text, int64_t *ns, char *error,
		 size_t size)
{
	struct model_status status = status_of(asks);
	const struct time_mark *mark = asks->view && asks->view->marks ?
		marks_find(asks->view->marks, text) : NULL;

	if (status.first_ns > status.last_ns) {
		snprintf(error, size, "nothing has happened yet");
		return false;
	}
	if (mark) {
		*ns = mark->start_ns;
	} else if (!strcmp(text, "start")) {
		*ns = status.first_ns;
	} else if (!strcmp(text, "end") || !strcmp(text, "live")) {
		*ns = status.finished || status.last_ns > status.live_ns ? status.last_ns :
									   status.live_ns;
	} else if (!strcmp(text, "cursor") && asks->view) {
		*ns = asks->view->cursor_ns;
	} else if (parse_time_ns(text, ns) && *ns >= 0) {
		*ns = *ns > INT64_MAX - status.first_ns ? INT64_MAX : status.first_ns + *ns;
	} else {
		snprintf(error, size,
			 "'%.60s' is neither a time nor a mark: give a time since the "
			 "start (1.5s, 300ms), start, end, cursor or a mark ('marks' lists them)",
			 text);
		return false;
	}
	return true;
}

/* ---- steps ---- */

/* The step that contains the cursor, else the last one that started before it. */
static size_t around(const struct when_asks *asks, const struct step_row *rows, size_t n, int which)
{
	int64_t cursor = asks->view ? asks->view->cursor_ns : 0;
	size_t after = FIRST_FROM(rows, n, cursor + 1);

	if (which == NEXT)
		return after;
	if (which == PREVIOUS && after && rows[after - 1].start_ns < cursor)
		return after - 1;
	if (which == PREVIOUS)
		return after > 1 ? after - 2 : n;
	return after ? after - 1 : 0;
}

static size_t numbered(const struct step_row *rows, size_t n, const char *which)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(which, &end, 10);
	for (size_t i = 0; i < n && *which && !*end && !errno; i++)
		if (rows[i].number == number)
			return i;
	return n;
}

static int word_of(const char *which)
{
	int word = 0;

	while (word < STEP_WORDS && strcmp(which, step_words[word]))
		word++;
	return word;
}

static size_t when_find_step(const struct when_asks *asks, const struct step_row *rows, size_t n,
			     const struct step_ranks *ranks, const char *which)
{
	int word = word_of(which);

	switch (word) {
	case SLOWEST:
		return ranks->slowest;
	case FASTEST:
		return ranks->fastest;
	case MEDIAN:
		return ranks->median;
	case FIRST:
		return 0;
	case LAST:
		return n - 1;
	case HERE: case NEXT: case PREVIOUS:
		return around(asks, rows, n, word);
	default:
		return numbered(rows, n, which);
	}
}

static void no_step(const struct step_row *rows, size_t n, const char *which, char *error,
		    size_t size)
{
	int word = word_of(which);

	if (word == NEXT || word == PREVIOUS)
		snprintf(error, size, "no %s step", word == NEXT ? "later" : "earlier");
	else
		snprintf(error, size, "no step '%.40s': a number from %" PRId64 " to %" PRId64
			 ", slowest, fastest, median, first, last or here", which, rows[0].number,
			 rows[n - 1].number);
}

bool when_step(const struct when_asks *asks, const char *which, struct when *out, char *error,
	       size_t size)
{
	struct step_ranks ranks = {0};
	struct step_stats stats;
	struct step_row *rows;
	size_t n, at;

	model_lock(asks->model);
	n = model_steps(asks->model, &stats, &rows);
	model_unlock(asks->model);
	if (n)
		ranks = step_ranks(rows, n);
	at = n ? when_find_step(asks, rows, n, &ranks, which) : 0;
	if (!n)
		snprintf(error, size,
			 "no steps yet: mark them with NVTX or ITT ranges named 'step', "
			 "or 'step 12'");
	else if (at >= n)
		no_step(rows, n, which, error, size);
	if (at < n) {
		*out = (struct when) {
			.t0 = rows[at].start_ns, .t1 = rows[at].start_ns + rows[at].dur_ns,
			.is_step = true, .step = rows[at].number,
		};
		if (out->t1 <= out->t0)
			out->t1 = out->t0 + 1;
		snprintf(out->title, sizeof(out->title), "step %" PRId64 "%s", out->step,
			 at == ranks.slowest ? " (slowest)" :
			 at == ranks.median ? " (median)" :
			 at == ranks.fastest ? " (fastest)" : "");
	}
	free(rows);
	return at < n;
}

/* ---- ranges ---- */

static bool set_title(const struct when_asks *asks, struct when *out, const char *what)
{
	struct model_status status = status_of(asks);
	int64_t base = places_base_ns(&status);
	char a[FMT_MAX], b[FMT_MAX];

	snprintf(out->title, sizeof(out->title), "%s%s to %s", what,
		 fmt_time_fine(a, out->t0 - base), fmt_time_fine(b, out->t1 - base));
	return true;
}

static bool when_from_to(const struct when_asks *asks, const char *from, const char *to,
			 struct when *out, char *error, size_t size)
{
	struct model_status status = status_of(asks);
	char a[FMT_MAX];

	*out = (struct when) { .t0 = 0 };
	if (!when_moment(asks, from, &out->t0, error, size) ||
	    !when_moment(asks, to, &out->t1, error, size))
		return false;
	if (out->t1 <= out->t0) {
		snprintf(error, size,
			 "the range ends before it starts: '%.40s' is not after '%.40s'", to, from);
		return false;
	}
	if (out->t0 > status.last_ns && out->t0 > status.live_ns) {
		snprintf(error, size, "the run ends before '%.40s': it is %s long", from,
			 fmt_time_fine(a, status.last_ns - status.first_ns));
		return false;
	}
	return set_title(asks, out, "");
}

static bool of_selection(const struct when_asks *asks, struct when *out, char *error, size_t size)
{
	struct span span;
	bool found;

	model_lock(asks->model);
	found = asks->view && asks->view->selected.id &&
		model_span(asks->model, asks->view->selected, &span);
	model_unlock(asks->model);
	if (!found) {
		snprintf(error, size, "no event is selected: , and . go from event to event");
		return false;
	}
	*out = (struct when){.t0 = span.start_ns,
			     .t1 = span.end_ns > span.start_ns ? span.end_ns : span.start_ns + 1};
	snprintf(out->title, sizeof(out->title), "%.90s", span.name);
	return true;
}

static bool of_word(const struct when_asks *asks, const char *word, struct when *out, char *error,
		    size_t size)
{
	const struct view *view = asks->view;

	if (!strcmp(word, "run"))
		return when_from_to(asks, "start", "end", out, error, size);
	if (!strcmp(word, "selection"))
		return of_selection(asks, out, error, size);
	if (!view) {
		snprintf(error, size, "there is no screen, and so no %s", word);
		return false;
	}
	*out = (struct when) { .t0 = view->t0_ns, .t1 = view->t1_ns };
	if (!strcmp(word, "window"))
		return set_title(asks, out, "window ");
	if (!view->measure.shown) {
		snprintf(error, size, "nothing is measured: v begins at the cursor");
		return false;
	}
	out->t0 = view->measure.t0_ns;
	out->t1 = view->measure.t1_ns;
	return set_title(asks, out, "measured ");
}

bool when_range(const struct when_asks *asks, int argc, const char *const *argv, int *at,
		struct when *out, char *error, size_t size)
{
	const char *word = argv[*at], *dots = strstr(word, "..");
	char from[64];

	(*at)++;
	if (!strcmp(word, "step")) {
		if (*at == argc) {
			snprintf(error, size,
				 "name a step: a number, slowest, fastest, median, first, "
				 "last or here");
			return false;
		}
		return when_step(asks, argv[(*at)++], out, error, size);
	}
	if (is_one_of(word, step_words, COUNT(step_words)))
		return when_step(asks, word, out, error, size);
	if (is_one_of(word, range_words, COUNT(range_words)))
		return of_word(asks, word, out, error, size);
	if (dots) {
		snprintf(from, sizeof(from), "%.*s", (int)(dots - word), word);
		return when_from_to(asks, from, dots + 2, out, error, size);
	}
	if (*at == argc) {
		snprintf(error, size,
			 "a range has two ends: after '%.40s' a second time or mark, or "
			 "step N, window, selection, measured, run",
			 word);
		return false;
	}
	return when_from_to(asks, word, argv[(*at)++], out, error, size);
}
