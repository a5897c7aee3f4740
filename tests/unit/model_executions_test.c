/* SPDX-License-Identifier: MIT */
/*
 * The most of something against a plain scan: all spans that model_spans() gives, kept when they
 * are wanted, sorted, cut. Of made-up programs with several rows, open spans, equal times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/executions.h"
#include "model/synth/synth.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define SPANS_MAX 200000

struct oracle {
	struct span *all, *kept;	/* owned */
	size_t n, n_kept;
};

static void take_all(struct model *model, struct oracle *oracle)
{
	struct span_edge *edges = malloc(SPANS_MAX * sizeof(*edges));
	struct model_row *rows;
	size_t n_rows, n;

	oracle->all = calloc(SPANS_MAX, sizeof(*oracle->all));
	oracle->kept = calloc(SPANS_MAX, sizeof(*oracle->kept));
	model_lock(model);
	n_rows = model_rows(model, &rows);
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].kind != ROW_THREAD && rows[i].kind != ROW_QUEUE &&
		    rows[i].kind != ROW_COPY && rows[i].kind != ROW_COMPILE &&
		    rows[i].kind != ROW_GRAPH)
			continue;
		for (uint32_t lane = 0; lane < rows[i].lanes; lane++) {
			n = model_spans(model, rows[i].id, lane, INT64_MIN, INT64_MAX, SPANS_MAX,
					edges);
			CHECK(oracle->n + n <= SPANS_MAX);
			for (size_t k = 0; k < n; k++)
				CHECK(model_span(model, edges[k].ref, &oracle->all[oracle->n++]));
		}
	}
	model_unlock(model);
	free(rows);
	free(edges);
}

static const struct execution_want *sorted_by;

static int64_t key(const struct span *span)
{
	int64_t key = sorted_by->order == EXECUTIONS_BY_START ? span->start_ns :
		      sorted_by->order == EXECUTIONS_BY_BYTES ? (int64_t)span->bytes :
		      span->end_ns - span->start_ns;

	return sorted_by->rising ? key : -key;
}

static int compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (key(x) != key(y))
		return key(x) < key(y) ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->ref.row != y->ref.row)
		return x->ref.row < y->ref.row ? -1 : 1;
	return (x->ref.id > y->ref.id) - (x->ref.id < y->ref.id);
}

static char one[] = "1", three[] = "3";

static bool has_digit(void *arg, const char *name, const char *raw)
{
	return strchr(name, *(const char *)arg) || strchr(raw, *(const char *)arg);
}

static bool even(void *arg, const struct span *span)
{
	return span->ref.id % 2 == 0;
}

static bool is_wanted(const struct execution_want *want, const struct span *span)
{
	int64_t dur = span->end_ns - span->start_ns;
	bool bytes = want->bytes.least > INT64_MIN || want->bytes.most < INT64_MAX;

	return (want->kinds & execution_kind(span)) && dur >= want->dur_ns.least &&
	       dur <= want->dur_ns.most && span->start_ns >= want->start_ns.least &&
	       span->start_ns <= want->start_ns.most &&
	       (!bytes ||
		(span->row_kind == ROW_COPY && (int64_t)span->bytes >= want->bytes.least &&
		 (int64_t)span->bytes <= want->bytes.most)) &&
	       (!want->name || has_digit(three, span->name, span->raw_name)) &&
	       (!want->op || has_digit(one,
				       span->op			      ? span->op
				       : span->row_kind == ROW_THREAD ? span->name
								      : "",
				       "")) &&
	       (!want->span || even(NULL, span));
}

static void compare_all(struct model *model, struct oracle *oracle,
			const struct execution_want *want)
{
	struct executions found;
	size_t n;

	oracle->n_kept = 0;
	for (size_t i = 0; i < oracle->n; i++)
		if (is_wanted(want, &oracle->all[i]))
			oracle->kept[oracle->n_kept++] = oracle->all[i];
	sorted_by = want;
	qsort(oracle->kept, oracle->n_kept, sizeof(*oracle->kept), compare);
	n = oracle->n_kept < want->most ? oracle->n_kept : want->most;
	model_executions(model, want, &found);
	CHECK_INT(found.n, n);
	CHECK_INT(found.more, oracle->n_kept > want->most);
	CHECK(!found.stopped);
	CHECK_INT(found.folded, 0);
	for (size_t i = 0; i < n; i++) {
		const struct span *a = &found.spans[i], *b = &oracle->kept[i];

		/* Of equal keys at the end it does not matter which were kept. */
		CHECK_INT(key(a), key(b));
		if (oracle->n_kept == n)
			CHECK(a->ref.row == b->ref.row && a->ref.id == b->ref.id &&
			      a->start_ns == b->start_ns && !strcmp(a->name, b->name));
	}
	free(found.spans);
}

static int64_t some_time(const struct oracle *oracle)
{
	return oracle->all[test_below((int)oracle->n)].start_ns;
}

static int64_t some_length(const struct oracle *oracle)
{
	const struct span *span = &oracle->all[test_below((int)oracle->n)];

	return span->end_ns - span->start_ns;
}

static struct execution_bounds some_bounds(int64_t a, int64_t b)
{
	struct execution_bounds bounds = EXECUTION_ANY;

	if (test_below(3) == 0)
		bounds.least = a;
	if (test_below(3) == 0)
		bounds.most = b;
	return bounds;
}

static void try_many(struct model *model, int times)
{
	static const size_t most[] = { 1, 7, 100, 10000 };
	struct oracle oracle = { .n = 0 };

	take_all(model, &oracle);
	CHECK(oracle.n > 5000);
	for (int i = 0; i < times; i++) {
		struct execution_want want = {
			.kinds = test_below(3) ? EXECUTION_ALL : 1u << test_below(8),
			.dur_ns = some_bounds(some_length(&oracle), some_length(&oracle)),
			.start_ns = some_bounds(some_time(&oracle), some_time(&oracle)),
			.bytes = EXECUTION_ANY,
			.order = (enum execution_order)test_below(3),
			.rising = test_below(2), .most = most[test_below(4)],
			.span = test_below(4) ? NULL : even,
		};

		if (test_below(3) == 0)
			want.name = search_new(model, SEARCH_NAME, has_digit, three);
		if (test_below(4) == 0)
			want.op = search_new(model, SEARCH_OP, has_digit, one);
		if (test_below(4) == 0)
			want.bytes = (struct execution_bounds){ 4096, 100 << 20 };
		compare_all(model, &oracle, &want);
		search_free(want.name);
		search_free(want.op);
	}
	free(oracle.all);
	free(oracle.kept);
}

static struct model *made_up(bool busy)
{
	struct model_synth_profile profile = model_synth_default;
	struct model *model = model_new(NULL);
	struct model_synth *synth;

	profile.processes = 2;
	profile.queues = 3;
	if (busy) {
		profile.kernel_ns = 20000;
		profile.late_permille = 20;
		profile.fail_permille = 5;
		profile.opens = true;
	}
	synth = model_synth_new(7, &profile, BASE);
	model_synth_advance(synth, BASE + (busy ? 100000000 : 1000000000), feed_model, model);
	model_synth_free(synth);
	return model;
}

TEST(executions_against_a_scan)
{
	struct model *model = made_up(false);

	try_many(model, 150);
	model_free(model);
}

TEST(executions_of_a_busy_program)
{
	struct model *model = made_up(true);

	try_many(model, 100);
	model_free(model);
}

/* What was folded away is counted, and all that is left is found. */
TEST(executions_when_memory_is_short)
{
	struct model_options options = { .memory_limit = 6 << 20 };
	struct model_synth_profile profile = model_synth_default;
	struct model *model = model_new(&options);
	struct execution_want want = {
		.kinds = EXECUTION_KERNEL, .dur_ns = EXECUTION_ANY, .start_ns = EXECUTION_ANY,
		.bytes = EXECUTION_ANY, .order = EXECUTIONS_BY_START, .rising = true, .most = 10,
	};
	struct executions found;
	struct model_synth *synth;

	profile.kernel_ns = 5000;
	synth = model_synth_new(7, &profile, BASE);
	model_synth_advance(synth, BASE + INT64_C(2000000000), feed_model, model);
	model_synth_free(synth);
	model_executions(model, &want, &found);
	CHECK_INT(found.n, 10);
	CHECK(found.folded > 1000 && found.folded < found.events);
	CHECK(found.spans[0].start_ns > BASE + 10000000);
	free(found.spans);
	model_free(model);
}

struct stop { unsigned rests, after; unsigned permille; };

static bool stop_after(void *arg, unsigned permille)
{
	struct stop *stop = arg;

	CHECK(permille >= stop->permille && permille <= 1000);
	stop->permille = permille;
	return ++stop->rests < stop->after;
}

static bool slow_none(void *arg, const struct span *span)
{
	for (volatile int i = 0; i < 20000; i++)
		;
	return span->end_ns < span->start_ns;
}

TEST(executions_end_when_they_are_told)
{
	struct stop stop = { .after = 3 };
	struct execution_want want = {
		.kinds = EXECUTION_ALL, .dur_ns = EXECUTION_ANY, .start_ns = EXECUTION_ANY,
		.bytes = EXECUTION_ANY, .span = slow_none, .rest = stop_after, .arg = &stop,
		.most = 10,
	};
	struct executions found;
	struct model *model = made_up(true);

	model_executions(model, &want, &found);
	CHECK(found.stopped);
	CHECK_INT(stop.rests, 3);
	CHECK_INT(found.n, 0);
	free(found.spans);
	model_free(model);
}
