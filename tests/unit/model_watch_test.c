/* SPDX-License-Identifier: MIT */
/* Events as they become known: each is told once, and all about it is what a walk over the
 * lanes finds when nothing more comes. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/watch.h"
#include "model/synth/synth.h"
#include "tests/unit/test.h"

#define BASE INT64_C(1000000000)

struct seen {
	struct model *model;
	int64_t longer_ns;		/* only these are wanted */
	const char *part;		/* of a name; "": any */
	uint64_t n, sum, asked;
	uint64_t stop_after;
};

static bool may_name(void *arg, enum row_kind row, const char *name, const char *raw)
{
	struct seen *seen = arg;

	seen->asked++;
	return strstr(name, seen->part) != NULL;
}

static bool may_time(void *arg, int64_t start_ns, int64_t dur_ns)
{
	return dur_ns > ((struct seen *)arg)->longer_ns;
}

/* An event is told by its place; times may move with a better clock. */
static uint64_t sum_of(const struct span *span)
{
	return (uint64_t)span->ref.row * 1000003u * (span->ref.id + 1);
}

static bool take(void *arg, const struct span *span)
{
	struct seen *seen = arg;

	seen->n++;
	seen->sum += sum_of(span);
	return seen->n == seen->stop_after;
}

static void feed(void *arg, const struct event *events, size_t count)
{
	struct seen *seen = arg;
	uint64_t missed;

	model_apply(seen->model, events, count);
	model_lock(seen->model);
	model_watched(seen->model, 100, take, seen, &missed);
	model_unlock(seen->model);
	CHECK_INT(missed, 0);
}

/* What is there, by walking over every row. */
static void walk(const struct seen *wanted, uint64_t *n, uint64_t *sum)
{
	struct model *model = wanted->model;
	struct model_row *rows;
	size_t n_rows;

	model_lock(model);
	n_rows = model_rows(model, &rows);
	for (size_t i = 0; i < n_rows; i++) {
		int64_t t = INT64_MIN;

		if (rows[i].kind == ROW_PROCESS || rows[i].kind == ROW_DEVICE ||
		    rows[i].kind == ROW_POOL || rows[i].kind == ROW_BANDWIDTH ||
		    rows[i].kind == ROW_MEMORY || rows[i].kind == ROW_COUNTER)
			continue;
		for (uint32_t lane = 0; lane < rows[i].lanes; lane++) {
			struct span_edge *edges = xreallocarray(NULL, 100000, sizeof(*edges));
			size_t m =
				model_spans(model, rows[i].id, lane, t, INT64_MAX, 100000, edges);

			for (size_t e = 0; e < m; e++) {
				struct span span;

				CHECK(model_span(model, edges[e].ref, &span));
				if (span.open || span.end_ns - span.start_ns <= wanted->longer_ns ||
				    (!strstr(span.name, wanted->part) && rows[i].kind != ROW_COPY))
					continue;
				++*n;
				*sum += sum_of(&span);
			}
			free(edges);
		}
	}
	free(rows);
	model_unlock(model);
}

static void run_case(int64_t longer_ns, const char *part)
{
	struct model_options options = { .memory_limit = (size_t)1 << 40 };
	struct seen seen = { .model = model_new(&options), .longer_ns = longer_ns, .part = part };
	struct watch_sort sort = { may_name, may_time, &seen };
	struct model_synth_profile profile = model_synth_default;
	struct model_synth *synth;
	uint64_t n = 0, sum = 0, missed;

	profile.late_permille = 100;
	profile.lose_every = 0;
	synth = model_synth_new(test_random(), &profile, BASE);
	model_lock(seen.model);
	model_watch(seen.model, &sort);
	model_unlock(seen.model);
	model_synth_advance(synth, BASE + 300000000, feed, &seen);
	model_synth_end(synth, feed, &seen);
	model_finish(seen.model, false);
	model_lock(seen.model);
	model_watched(seen.model, UINT32_MAX, take, &seen, &missed);
	model_unlock(seen.model);
	walk(&seen, &n, &sum);
	CHECK_INT(missed, 0);
	CHECK(n > 10);
	CHECK_INT(seen.n, n);
	CHECK_INT((int64_t)seen.sum, (int64_t)sum);
	CHECK(seen.asked < 1000);	/* names, not events */
	model_synth_free(synth);
	model_free(seen.model);
}

TEST(watch_tells_each_event_once)
{
	run_case(-1, "");
}

TEST(watch_tells_what_is_wanted)
{
	run_case(100000, "conv");
}

TEST(watch_ends_and_counts_what_it_missed)
{
	struct model_options options = { .memory_limit = (size_t)1 << 40 };
	struct seen seen = { .model = model_new(&options), .longer_ns = -1, .part = "" };
	struct watch_sort sort = { may_name, may_time, &seen };
	struct event name = { .type = EVENT_PROCESS, .pid = 1, .time_ns = BASE };
	uint64_t missed;

	model_apply(seen.model, &name, 1);
	model_lock(seen.model);
	model_watch(seen.model, &sort);
	model_unlock(seen.model);
	for (uint32_t i = 0; i < WATCH_NOTES + 10; i++) {
		struct event op = { .type = EVENT_OP, .pid = 1, .time_ns = BASE + (i + 1) * 1000 };

		op.u.op.tid = 1;
		op.u.op.instance = i + 1;
		op.u.op.start_ns = BASE + i * 1000;
		op.u.op.dur_ns = 500;
		model_apply(seen.model, &op, 1);
	}
	model_finish(seen.model, false);
	seen.stop_after = 5;
	model_lock(seen.model);
	CHECK(model_watched(seen.model, UINT32_MAX, take, &seen, &missed));
	CHECK_INT(seen.n, 5);
	CHECK_INT(missed, 10);
	CHECK(!model_watched(seen.model, 7, take, &seen, &missed));
	CHECK_INT(seen.n, 12);
	model_watch(seen.model, NULL);
	CHECK(!model_watched(seen.model, 7, take, &seen, &missed));
	CHECK_INT(seen.n, 12);
	model_unlock(seen.model);
	model_free(seen.model);
}
