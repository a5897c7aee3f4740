/* SPDX-License-Identifier: MIT */
/* Work in turns, and what is found so: one event after the other, however often it rests. */
#include <stdlib.h>
#include <string.h>

#include "model/filter/filter.h"
#include "model/query/executions.h"
#include "model/synth/synth.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/timeline/find.h"
#include "tui/base/turns.h"

struct count {
	unsigned to, reached, rests;
	bool ended;
};

static void count_up(struct turns *turns, void *arg)
{
	struct count *count = arg;

	for (; count->reached < count->to && !count->ended; count->rests++) {
		count->reached++;
		count->ended = !turns_rest(turns, count->reached * 1000 / count->to);
	}
}

TEST(turns_rest_when_their_time_is_over)
{
	struct count count = { .to = 10 };
	struct turns *turns = turns_new(count_up, &count);

	CHECK_INT(count.reached, 0);
	for (unsigned i = 1; i <= 10; i++) {
		CHECK(!turns_go(turns, 0));
		CHECK_INT(count.reached, i);
		CHECK_INT(turns_permille(turns), i * 100);
	}
	CHECK(turns_go(turns, 0));
	CHECK(turns_go(turns, 0));
	CHECK(!count.ended);
	turns_free(turns);
}

TEST(turns_go_to_the_end_at_once)
{
	struct count count = { .to = 1000 };
	struct turns *turns = turns_new(count_up, &count);

	CHECK(turns_go(turns, INT64_MAX));
	CHECK_INT(count.reached, 1000);
	turns_free(turns);
}

TEST(turns_end_where_they_rest)
{
	struct count count = { .to = 1000 }, unborn = { .to = 1000 };
	struct turns *turns = turns_new(count_up, &count);

	CHECK(!turns_go(turns, 0));
	turns_free(turns);
	CHECK(count.ended);
	CHECK_INT(count.reached, 1);
	turns_free(turns_new(count_up, &unborn));
	CHECK_INT(unborn.reached, 0);
	turns_free(NULL);
}

/* ---- find ---- */

#define EXPR "(kernel | copy | op) & dur > 60us & name ~ /[135]/"

struct search_run {
	struct model *model;
	struct find find;
};

static void feed(void *arg, const struct event *events, size_t count)
{
	model_apply(arg, events, count);
}

static struct model *make_model(void)
{
	struct model *model = model_new(NULL);
	struct model_synth *synth = model_synth_new(3, &model_synth_default, 1000000000);

	model_synth_advance(synth, 1600000000, feed, model);
	model_synth_end(synth, feed, model);
	model_synth_free(synth);
	model_finish(model, false);
	return model;
}

static void go(struct turns *turns, void *arg)
{
	struct search_run *run = arg;

	find_go(&run->find, run->model, turns);
}

/* What a filter wants, looked at one by one. */
static size_t count_all(struct model *model, const char *text, struct span **out)
{
	struct execution_want want = {
		.kinds = EXECUTION_ALL, .dur_ns = EXECUTION_ANY, .start_ns = EXECUTION_ANY,
		.bytes = EXECUTION_ANY, .order = EXECUTIONS_BY_START, .rising = true,
		.most = EXECUTIONS_MAX,
	};
	struct executions all;
	size_t n = 0;

	model_executions(model, &want, &all);
	for (size_t i = 0; i < all.n; i++) {
		const struct span *span = &all.spans[i];

		if ((execution_kind(span) & (EXECUTION_KERNEL | EXECUTION_COPY | EXECUTION_OP)) &&
		    span->end_ns - span->start_ns > 60000 &&
		    (strpbrk(span->name, "135") || strpbrk(span->raw_name, "135")))
			all.spans[n++] = *span;
	}
	CHECK(!all.more);
	CHECK(n > 20);
	*out = all.spans;
	return n;
}

static void walk(bool forward, bool rests)
{
	struct search_run run = { .model = make_model() };
	struct find_from from = { .start_ns = forward ? 0 : INT64_MAX };
	char error[FILTER_ERROR_MAX];
	struct span *all;
	size_t n = count_all(run.model, EXPR, &all);

	find_set_filter(&run.find, run.model, filter_parse(EXPR, NULL, error, sizeof(error)));
	for (size_t i = 0; i <= n; i++) {
		const struct span *want = &all[forward ? i % n : n - 1 - i % n];
		struct turns *turns;
		struct span span;

		find_begin(&run.find, run.model, &from, forward);
		/* A step that is ended goes on where it was. */
		for (int stops = 0; rests && stops < 3; stops++) {
			turns = turns_new(go, &run);
			if (!turns_go(turns, 0))
				CHECK(!run.find.step.over);
			turns_free(turns);
			find_begin(&run.find, run.model, &from, forward);
		}
		go(NULL, &run);
		CHECK(run.find.step.over && run.find.step.found);
		CHECK_INT(run.find.step.around, i == n);
		CHECK(model_span(run.model, run.find.step.ref, &span));
		CHECK_INT(span.start_ns, want->start_ns);
		from = (struct find_from) { span.start_ns, span.ref.row, span.ref.lane };
	}
	find_release(&run.find);
	free(all);
	model_free(run.model);
}

TEST(find_goes_from_one_to_the_next)
{
	walk(true, false);
	walk(false, false);
}

TEST(find_goes_on_after_a_rest)
{
	walk(true, true);
	walk(false, true);
}

TEST(find_says_when_there_is_none)
{
	struct search_run run = { .model = make_model() };
	struct find_from from = { .start_ns = 1300000000 };
	char error[FILTER_ERROR_MAX];

	find_set_filter(&run.find, run.model, filter_parse("dur > 100s", NULL, error,
							   sizeof(error)));
	find_begin(&run.find, run.model, &from, true);
	go(NULL, &run);
	CHECK(run.find.step.over && !run.find.step.found);
	find_release(&run.find);
	model_free(run.model);
}

#define CROWD 1500u

/* More than are asked for at first begin in one moment. */
TEST(find_tells_a_crowd_apart)
{
	struct search_run run = { .model = model_new(NULL) };
	struct find_from from = { .start_ns = BASE };
	char error[FILTER_ERROR_MAX];
	struct model_row *rows;
	size_t n;

	apply_one(run.model, ev_process(PID, "crowd"));
	apply_one(run.model, ev_name(1, NAME_OP, "crowd"));
	for (uint32_t i = 0; i < CROWD; i++) {
		struct event event = ev_op(1, i + 1, 0, 0, 1000, 0);

		event.u.op.tid = PID + i;
		apply_one(run.model, event);
	}
	model_lock(run.model);
	n = model_rows(run.model, &rows);
	model_unlock(run.model);
	CHECK(n >= CROWD);
	from.row = rows[n - 2].id;
	find_set_filter(&run.find, run.model, filter_parse("op", NULL, error, sizeof(error)));
	find_begin(&run.find, run.model, &from, true);
	go(NULL, &run);
	CHECK(run.find.step.found && !run.find.step.around);
	CHECK_INT(run.find.step.ref.row, rows[n - 1].id);
	find_release(&run.find);
	free(rows);
	model_free(run.model);
}
