/* SPDX-License-Identifier: MIT */
/* Requests against plain sums; impossible ones; forward passes beside other steps. */
#include <stdlib.h>
#include <string.h>

#include "model/query/query.h"
#include "model/query/requests.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)

static struct event request_of(uint32_t name, uint32_t passes, uint32_t sequences,
			       int64_t start_ns, int64_t dur_ns)
{
	return (struct event) {
		.type = EVENT_REQUEST, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + dur_ns,
		.u.request = { .name = name, .passes = passes, .sequences = sequences,
			       .start_ns = BASE + start_ns, .dur_ns = dur_ns,
			       .first_ns = dur_ns / 4, .rest_ns = dur_ns / 2 },
	};
}

static void apply_step_of(struct model *model, int64_t number, uint32_t name, int64_t start_ns)
{
	apply_one(model, (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + MS,
		.u.step = { .number = number, .name = name, .start_ns = BASE + start_ns,
			    .dur_ns = MS },
	});
}

TEST(requests_sums)
{
	struct model *model = model_new(NULL);
	struct request_rates rates;
	struct request_row *rows;

	apply_one(model, ev_name(1, NAME_OTHER, "GenerationMixin.generate"));
	apply_one(model, ev_name(2, NAME_OTHER, "ask"));
	CHECK(!model_request_rates(model, &rates));
	/* 8 tokens in 40 ms, 12 in 80; two of another function */
	apply_one(model, request_of(1, 4, 2, 0, 40 * MS));
	apply_one(model, request_of(1, 12, 1, 120 * MS, 80 * MS));
	apply_one(model, request_of(2, 1, 0, 50 * MS, 8 * MS));
	CHECK_INT(model_requests(model, &rows), 2);
	CHECK_STR(rows[0].name, "GenerationMixin.generate");
	CHECK_INT(rows[0].pid, PID);
	CHECK_INT(rows[0].requests, 2);
	CHECK_INT(rows[0].passes, 16);
	CHECK_INT(rows[0].tokens, 20);
	CHECK_INT(rows[0].span_ns, 200 * MS);
	CHECK_INT(rows[0].total_ns, 120 * MS);
	CHECK_INT(rows[0].requests_milli, 10000);
	CHECK_INT(rows[0].tokens_milli, 100000);
	/* 20 and 40 ms for 3 and 11 passes after the first */
	CHECK_INT(rows[0].token_ns, 60 * MS / 14);
	/* nothing is known of its sequences, and no pass follows its first */
	CHECK_STR(rows[1].name, "ask");
	CHECK_INT(rows[1].tokens, 0);
	CHECK_INT(rows[1].tokens_milli, -1);
	CHECK_INT(rows[1].token_ns, -1);
	free(rows);
	CHECK(model_request_rates(model, &rates));
	CHECK_INT(rates.requests, 3);
	CHECK_INT(rates.requests_milli, 15000);
	CHECK_INT(rates.tokens_milli, -1);
	model_free(model);
}

TEST(requests_impossible)
{
	static const struct event_request bad[] = {
		{ .name = 1, .passes = 0, .start_ns = BASE, .dur_ns = 9 },
		{ .name = 1, .passes = 1, .start_ns = BASE, .dur_ns = -9 },
		{ .name = 1, .passes = 1, .start_ns = BASE, .dur_ns = 9, .first_ns = 10 },
		{ .name = 1, .passes = 2, .start_ns = BASE, .dur_ns = 9, .first_ns = -1 },
		{ .name = 1, .passes = 2, .start_ns = BASE, .dur_ns = 9, .first_ns = 5,
		  .rest_ns = INT64_MAX },
		{ .name = 1, .passes = 2, .start_ns = INT64_MAX, .dur_ns = 9 },
	};
	struct model *model = model_new(NULL);
	struct model_status status;
	struct request_row *rows;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct event event = request_of(1, 1, 1, 0, 9);

		event.u.request = bad[i];
		apply_one(model, event);
		model_status(model, &status);
		CHECK_INT(status.bad, i + 1);
	}
	CHECK_INT(model_requests(model, &rows), 0);
	free(rows);
	model_free(model);
}

/* Passes are the steps unless an optimizer steps; they are called passes then. */
TEST(requests_passes)
{
	struct model *model = model_new(NULL);
	struct model_status status;
	struct step_stats stats;
	struct step_row *rows;

	apply_one(model, ev_name(1, NAME_OTHER, "Encoder"));
	apply_one(model, ev_name(2, NAME_OTHER, "Decoder"));
	apply_one(model, ev_name(3, NAME_OP, "Optimizer.step#SGD.step"));
	apply_step_of(model, STEP_PASS, 1, 0);
	for (int i = 1; i < 6; i++)
		apply_step_of(model, STEP_PASS, 2, i * 2 * MS);
	CHECK_INT(model_steps(model, &stats, &rows), 5);
	free(rows);
	CHECK(stats.passes);
	CHECK_STR(stats.source, "calls of Decoder");
	model_status(model, &status);
	CHECK(status.passes);
	CHECK_INT(status.steps, 5);
	apply_step_of(model, -1, 3, 20 * MS);
	CHECK_INT(model_steps(model, &stats, &rows), 1);
	free(rows);
	CHECK(!stats.passes);
	CHECK_STR(stats.source, "SGD.step");
	model_free(model);
}
