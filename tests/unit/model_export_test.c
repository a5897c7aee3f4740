/* SPDX-License-Identifier: MIT */
/* What the model gives back makes another model that says the same. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording/export.h"
#include "model/query/flows.h"
#include "model/query/memory.h"
#include "model/query/time.h"
#include "model/synth/synth.h"
#include "model/core/model.h"
#include "model/query/requests.h"
#include "model/steps/steps.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/report/report.h"

static struct model_export_gap gap;

/* Also: times never go back, strings are there. */
static struct model *again(struct model *model, int64_t from_ns, bool partial)
{
	struct model_export *export = model_export_new(model, from_ns);
	struct model *copy = model_new(NULL);
	struct event events[64];
	int64_t last_ns = 0;
	size_t n;

	while ((n = model_export_next(export, events, 64)) > 0) {
		for (size_t i = 0; i < n; i++) {
			CHECK(events[i].time_ns >= last_ns);
			last_ns = events[i].time_ns;
		}
		model_apply(copy, events, n);
	}
	model_export_gap(export, &gap);
	model_export_free(export);
	model_finish(copy, partial);
	return copy;
}

/*
 * The report without what a copy may say otherwise: how many events, how many late, how
 * sure of the clock; and unless `analyses` what follows from the order of arrival: an
 * analysis does not look back at what came later than its process had said.
 */
static char *report_of(struct model *model, bool analyses)
{
	static const struct report_run run = { .wall_ns = -1, .exit_status = -1 };
	char *text = NULL, *line, *to, *next;
	bool block = false;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	report_json(model, &run, out);
	fclose(out);
	for (line = to = text; *line; line = next) {
		char *rest = strstr(line, ", \"idle\": {"), *launch;

		next = strchr(line, '\n') + 1;
		launch = strstr(line, ", \"launch\": {");
		if (launch && (!rest || launch < rest))
			rest = launch;
		block = !strncmp(line, "  \"findings\": [", 15) ||
			!strncmp(line, "  \"critical_path\": {", 20) ||
			(block && strncmp(line, "  ]", 3) && strncmp(line, "  }", 3));
		if (!analyses && (block || !strncmp(line, "    \"breakdown\":", 16) ||
				  !strncmp(line, "    \"between\":", 14)))
			continue;
		if (!analyses && rest && rest < next) {
			memmove(to, line, (size_t)(rest - line));
			to += rest - line;
			*to++ = '\n';
			continue;
		}
		if (strncmp(line, "    \"events\":", 13) && strncmp(line, "    \"clock\":", 12) &&
		    strncmp(line, "    \"late\":", 11)) {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
		}
	}
	*to = '\0';
	return text;
}

static int by_byte(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Line by line; the rows inside one may come in another order. */
static void same_report(struct model *a, struct model *b, bool analyses)
{
	char *x = report_of(a, analyses), *y = report_of(b, analyses), *p = x, *q = y;

	while (*p && *q) {
		size_t n = strcspn(p, "\n"), m = strcspn(q, "\n");
		char *was = strndup(p, n), *is = strndup(q, m), *u = strdup(was), *v = strdup(is);

		qsort(u, n, 1, by_byte);
		qsort(v, m, 1, by_byte);
		if (strcmp(u, v))
			test_fail(__FILE__, __LINE__, "is      %s\nwas     %s", is, was);
		free(was);
		free(is);
		free(u);
		free(v);
		p += n + 1;
		q += m + 1;
	}
	free(x);
	free(y);
}

/* One copy at a time, whatever came late: no faster than the fastest of them. */
static void possible_bandwidth(struct model *model)
{
	struct bandwidth_row *rows;
	size_t n = model_bandwidth(model, &rows);

	CHECK(n > 0);
	for (size_t i = 0; i < n; i++)
		CHECK(rows[i].mean_bytes_per_s <= rows[i].best_bytes_per_s);
	free(rows);
}

static void there_and_back(const struct model_synth_profile *profile, int64_t length_ns,
			   bool finish)
{
	struct model *model = model_new(NULL), *copy;
	struct model_synth *synth = model_synth_new(test_random(), profile, INT64_C(9000000000));

	for (int64_t t = 0; t < length_ns; t += 10000000)
		model_synth_advance(synth, INT64_C(9000000000) + t, feed_model, model);
	if (finish) {
		model_synth_end(synth, feed_model, model);
		model_finish(model, false);
	}
	copy = again(model, INT64_MIN, false);
	CHECK_INT(gap.spans_ns, INT64_MIN);
	if (!finish) {
		/* Only the copy knows that nothing more comes. */
		model_finish(model, false);
	}
	if (profile->processes == 1)
		possible_bandwidth(model);
	same_report(model, copy, !profile->late_permille);
	model_synth_free(synth);
	model_free(model);
	model_free(copy);
}

TEST(model_export_program)
{
	there_and_back(&model_synth_default, 500000000, true);
}

TEST(model_export_disorder)
{
	struct model_synth_profile profile = model_synth_default;

	profile.late_permille = 300;
	profile.fail_permille = 20;
	profile.lose_every = 7;
	profile.opens = true;
	profile.layer_bytes = 1 << 20;
	there_and_back(&profile, 500000000, true);
}

TEST(model_export_several)
{
	struct model_synth_profile profile = model_synth_default;

	profile.processes = 3;
	profile.devices = 2;
	profile.queues = 4;
	profile.input_threads = 3;
	there_and_back(&profile, 300000000, true);
}

/* Launches and runs come apart, and are given back as what they became. */
TEST(model_export_apart)
{
	struct model_synth_profile profile = model_synth_default;

	profile.apart_permille = 700;
	there_and_back(&profile, 300000000, true);
}

/* ---- one thread feeds, one exports, one asks ---- */

struct feeding { struct model *model; _Atomic bool stop; };

static void *keep_feeding(void *arg)
{
	struct feeding *feeding = arg;
	struct model_synth *synth = model_synth_new(3, &model_synth_default, INT64_C(9000000000));

	for (int64_t t = 0; !feeding->stop; t += 1000000)
		model_synth_advance(synth, INT64_C(9000000000) + t, feed_model, feeding->model);
	model_synth_free(synth);
	return NULL;
}

static void *keep_asking(void *arg)
{
	struct feeding *feeding = arg;
	struct model_status status;

	while (!feeding->stop) {
		model_lock(feeding->model);
		model_status(feeding->model, &status);
		model_unlock(feeding->model);
	}
	return NULL;
}

TEST(model_export_while_fed)
{
	struct feeding feeding = { .model = model_new(NULL) };
	struct model_status status, copied;
	struct model *copy;
	pthread_t feeder, asker;

	CHECK(!pthread_create(&feeder, NULL, keep_feeding, &feeding));
	CHECK(!pthread_create(&asker, NULL, keep_asking, &feeding));
	for (uint64_t round = 1; round <= 3; round++) {
		uint64_t before;

		do {
			model_lock(feeding.model);
			model_status(feeding.model, &status);
			model_unlock(feeding.model);
		} while (status.kernels < round * 200);
		before = status.kernels;
		copy = again(feeding.model, INT64_MIN, true);
		model_status(copy, &copied);
		model_lock(feeding.model);
		model_status(feeding.model, &status);
		model_unlock(feeding.model);
		CHECK(copied.kernels >= before && copied.kernels <= status.kernels);
		model_free(copy);
	}
	feeding.stop = true;
	pthread_join(feeder, NULL);
	pthread_join(asker, NULL);
	model_free(feeding.model);
}

/* ---- a window: a plain scan over the events says what is in it ---- */

struct scan { int64_t from_ns; uint64_t kernels, copies, ops; };

static struct scan scan;
static struct model *scanned;

static void scan_events(void *arg, const struct event *events, size_t count)
{
	(void)arg;
	model_apply(scanned, events, count);
	for (size_t i = 0; i < count; i++) {
		const struct event_command *command = &events[i].u.command;
		const struct event_op *op = &events[i].u.op;

		/* Ticks are 7000 s ahead. */
		if (events[i].type == EVENT_COMMAND && command->status >= 0 &&
		    (int64_t)command->end_ticks - INT64_C(7000000000000) >= scan.from_ns)
			*(command->kind == COMMAND_KERNEL ? &scan.kernels : &scan.copies) += 1;
		if (events[i].type == EVENT_OP && op->start_ns + op->dur_ns >= scan.from_ns)
			scan.ops++;
	}
}

TEST(model_export_window)
{
	struct model_synth_profile profile = model_synth_default;
	struct model_synth *synth;
	struct model *copy;
	struct queue_row *queues;
	struct op_row *ops;
	uint64_t kernels = 0, copies = 0, n_ops = 0;
	size_t n;

	profile.late_permille = 100;
	scan.from_ns = INT64_C(9000000000) + (int64_t)test_below(400000000);
	scanned = model_new(NULL);
	synth = model_synth_new(test_random(), &profile, INT64_C(9000000000));
	model_synth_advance(synth, INT64_C(9400000000), scan_events, NULL);
	model_synth_end(synth, scan_events, NULL);
	copy = again(scanned, scan.from_ns, true);
	n = model_queues(copy, &queues);
	for (size_t i = 0; i < n; i++) {
		kernels += queues[i].kernels;
		copies += queues[i].copies;
	}
	free(queues);
	n = model_ops(copy, &ops);
	for (size_t i = 0; i < n; i++)
		n_ops += ops[i].count;
	free(ops);
	CHECK_INT(kernels, scan.kernels);
	CHECK_INT(copies, scan.copies);
	CHECK_INT(n_ops, scan.ops);
	model_synth_free(synth);
	model_free(scanned);
	model_free(copy);
}

/* ---- several programs in one pid, what is open, what has no place ---- */

static void put(struct model *model, struct event event)
{
	model_apply(model, &event, 1);
}

static struct event of(uint32_t pid, enum event_type type, int64_t time_ns)
{
	return (struct event) { .type = (uint8_t)type, .pid = pid, .tid = pid,
				.time_ns = INT64_C(5000000000) + time_ns };
}

static void define(struct model *model, uint32_t pid, int64_t time_ns, const char *command)
{
	struct event event = of(pid, EVENT_PROCESS, time_ns);

	event.u.process = (struct event_process){
		.schema = EVENT_SCHEMA,
		.start_ns = event.time_ns,
		.rank = 3,
		.world = 8,
		.parent = 1, .starter = 5,
		.host = "here",
		.command = command,
	};
	put(model, event);
	event = of(pid, EVENT_NAME, time_ns);
	event.u.name = (struct event_name) { .id = 1, .kind = NAME_CALL, .text = command };
	put(model, event);
}

static void call(struct model *model, uint32_t pid, int64_t start_ns, int64_t dur_ns,
		 int32_t result)
{
	struct event event = of(pid, EVENT_CALL, start_ns + dur_ns);

	event.u.call = (struct event_call) {
		.name = 1, .start_ns = INT64_C(5000000000) + start_ns, .dur_ns = dur_ns,
		.result = result,
	};
	put(model, event);
}

/* One op's data goes to the next. */
static void edge(struct model *model, uint32_t pid, int64_t t_ns)
{
	struct event event;

	for (uint64_t i = 0; i < 2; i++) {
		event = of(pid, EVENT_OP, t_ns + 200 * (int64_t)i + 100);
		event.u.op = (struct event_op) { .instance = 20 + i, .name = 1, .tid = pid,
						 .step = -1, .start_ns = event.time_ns - 100,
						 .dur_ns = 90 };
		put(model, event);
	}
	event = of(pid, EVENT_EDGE, t_ns + 300);
	event.u.edge = (struct event_edge) { .from = 20, .to = 21, .bytes = 4096, .key = 1 };
	put(model, event);
}

/* A message, told by both its ends. */
static void message(struct model *model, uint32_t pid, int64_t t_ns)
{
	static const struct event_flow sides[] = {
		{ .name = 1, .key = 99, .bytes = 512, .op = (uint64_t)7 << 40 | 20, .dur_ns = -1,
		  .phase = FLOW_SENT },
		{ .name = 1, .key = 99, .bytes = 512, .dur_ns = 30, .phase = FLOW_ENCODED },
		{ .name = 1, .key = 99, .dur_ns = 20, .phase = FLOW_DECODED },
		{ .name = 1, .key = 99, .dur_ns = 500, .phase = FLOW_RECEIVED },
	};

	for (int i = 0; i < 4; i++) {
		struct event event = of(pid, EVENT_FLOW, t_ns + 100 * i);

		event.u.flow = sides[i];
		event.u.flow.at_ns = event.time_ns;
		put(model, event);
	}
}

static void check_message(struct model *copy)
{
	struct flow_row *flows;

	CHECK_INT(model_flows(copy, &flows), 1);
	CHECK_INT(flows[0].bytes, 512);
	CHECK_INT(flows[0].joined, 1);
	CHECK(llabs(flows[0].latency_p50_ns - 300) <= 5);
	CHECK_INT(flows[0].wire_ns, 300);
	CHECK_INT(flows[0].wait_ns, 500);
	CHECK_INT(flows[0].encode_ns, 30);
	CHECK_INT(flows[0].decode_ns, 20);
	free(flows);
}

/* Every field of the request, and that the pass is one in the copy as well. */
static void check_request(struct model *copy)
{
	struct request_row *rows;
	bool pass = false;

	CHECK_INT(model_requests(copy, &rows), 1);
	CHECK_INT(rows[0].requests, 1);
	CHECK_INT(rows[0].passes, 3);
	CHECK_INT(rows[0].tokens, 6);
	CHECK_INT(rows[0].total_ns, 800);
	CHECK_INT(rows[0].span_ns, 800);
	CHECK_INT(rows[0].token_ns, 200);
	CHECK(rows[0].first_p50_ns > 290 && rows[0].first_p50_ns <= 300);	/* a histogram's */
	free(rows);
	for (size_t i = 0; i < copy->n_steps; i++)
		pass |= copy->steps[i].source == STEPS_PASS && copy->steps[i].n == 1 &&
			copy->steps[i].list[0].dur_ns == 90;
	CHECK(pass);
}

TEST(model_export_odds)
{
	struct model *model = model_new(NULL), *copy;
	struct edge_row *edges;
	struct event event;

	define(model, 7, 0, "first");
	call(model, 7, 100, 50, 0);
	event = of(7, EVENT_CALLS, 500);
	event.u.calls = (struct event_calls) { .name = 1, .count = 9, .errors = 2,
					       .total_ns = 800, .max_ns = 300 };
	put(model, event);
	event = of(7, EVENT_EXIT, 600);
	event.u.exit = (struct event_exit) { .reason = 2, .status = -1 };
	put(model, event);
	define(model, 7, 60000000000, "second");
	call(model, 7, 60000000100, 70, -5);
	event = of(7, EVENT_COMPILE, 60000000900);
	event.u.compile = (struct event_compile) {
		.start_ns = event.time_ns - 500, .dur_ns = 400, .result = -11, .what = "program",
		.options = "-O2", .log = "\n  line 1: no\nline 2: neither",
	};
	put(model, event);
	event = of(7, EVENT_STEP, 60000002000);
	event.u.step = (struct event_step) { .name = 1, .number = 4,
					     .start_ns = event.time_ns - 900, .dur_ns = 900 };
	put(model, event);
	event = of(7, EVENT_REQUEST, 60000002500);
	event.u.request = (struct event_request) { .name = 1, .passes = 3, .sequences = 2,
						   .start_ns = event.time_ns - 900, .dur_ns = 800,
						   .first_ns = 300, .rest_ns = 400 };
	put(model, event);
	event = of(7, EVENT_STEP, 60000002600);
	event.u.step = (struct event_step) { .name = 1, .number = STEP_PASS,
					     .start_ns = event.time_ns - 900, .dur_ns = 90 };
	put(model, event);
	event = of(7, EVENT_OP, 60000003000);
	event.u.op = (struct event_op) { .instance = 5, .name = 1, .tid = 7, .step = -1,
					 .start_ns = event.time_ns - 100, .dur_ns = -1 };
	put(model, event);
	edge(model, 7, 60000003000);
	message(model, 7, 60000003000);
	event = of(7, EVENT_MESSAGE, 60000003400);
	event.u.message = (struct event_message) { .level = 1, .text = "a word" };
	put(model, event);
	event = of(7, EVENT_STAGE, 60000003500);
	event.u.stage = (struct event_stage) { .id = 2, .parallelism = -1, .buffer = 3,
					       .path = "Prefetch::Map", .what = "MapDataset:1" };
	put(model, event);
	event = of(7, EVENT_STAGES, 60000003500);
	event.u.stages = (struct event_stages) {
		.stage = 2, .parallelism = 4, .buffered = 2, .elements = 9, .bytes = 77,
		.total_ns = 900, .self_ns = 800, .busy_ns = 1700, .wait_ns = 600, .max_ns = 99,
		.begin_ns = event.time_ns - 1000, .end_ns = event.time_ns,
	};
	put(model, event);
	event = of(7, EVENT_BEAT, 60000004000);
	event.u.beat = (struct event_beat) { .calls = 20, .own_ns = 1000, .dropped = 3 };
	put(model, event);
	event = of(0, EVENT_LOST, 60000004000);
	event.u.lost = (struct event_lost) { event.time_ns - 50, event.time_ns, 0, false, 0 };
	put(model, event);
	copy = again(model, INT64_MIN, false);
	model_finish(model, false);
	same_report(model, copy, true);
	CHECK_INT(model_edges(copy, &edges), 1);
	check_request(copy);
	CHECK_INT(process_at(copy, 0)->starter, 5);
	check_message(copy);
	CHECK_INT(edges[0].bytes, 4096);
	CHECK_INT(edges[0].measured, 1);
	CHECK_INT(edges[0].latency_p50_ns, 110);
	free(edges);
	model_free(model);
	model_free(copy);
}

/* Before there is anything, and of nothing but a loss. */
TEST(model_export_nothing)
{
	struct model *model = model_new(NULL);

	model_free(again(model, INT64_MIN, false));
	put(model, of(0, EVENT_LOST, 10));
	model_free(again(model, INT64_MIN, false));
	model_free(again(model, 0, false));
	model_free(model);
}

/* The journal lets go of its oldest, and says so. */
TEST(model_export_journal)
{
	struct model_options options = { .memory_limit = 16 << 20 };
	struct model *model = model_new(&options), *copy;
	struct call_row *calls;

	define(model, 7, 0, "program");
	for (int i = 0; i < 100000; i++)
		call(model, 7, 100 + i * 100, 50, 0);
	copy = again(model, INT64_MIN, false);
	CHECK(gap.calls_ns > INT64_C(5000000000));
	/* Totals are whole all the same. */
	CHECK_INT(model_calls(copy, &calls), 1);
	CHECK_INT(calls[0].count, 100000);
	CHECK_INT(calls[0].total_ns, 5000000);
	free(calls);
	model_free(model);
	model_free(copy);
}

/* A free that comes before what it is of, as two threads may tell it, is behind it in
 * what is kept: nobody who reads that has to know. */
TEST(model_export_memory_in_order)
{
	struct model_options options = { .memory_limit = 16 << 20 };
	struct model *model = model_new(&options), *copy;
	struct memory_row *rows, *kept;
	struct event event;

	define(model, 7, 0, "program");
	event = ev_name(9, NAME_ALLOCATOR, "cpu");
	event.pid = 7;
	apply_one(model, event);
	for (int i = 0; i < 1000; i++) {
		event = (struct event) { .type = EVENT_FREE, .pid = 7, .tid = 7 };
		event.time_ns = BASE + 1000 + i * 100;
		event.u.free = (struct event_free) { 9, 1 + (unsigned)i % 3, event.time_ns - 10 };
		apply_one(model, event);
		event.type = EVENT_ALLOC;
		event.u.alloc = (struct event_alloc) {
			.allocator = 9, .address = 1 + (unsigned)i % 3, .bytes = 100,
			.at_ns = event.time_ns - 60,
		};
		event.time_ns += 20;
		apply_one(model, event);
	}
	copy = again(model, INT64_MIN, false);
	CHECK_INT(model_memory(model, &rows), 1);
	CHECK_INT(model_memory(copy, &kept), 1);
	CHECK_INT(rows[0].peak_bytes, 100);
	CHECK_INT(rows[0].unknown_frees, 0);
	CHECK_INT(kept[0].peak_bytes, 100);
	CHECK_INT(kept[0].allocations, 1000);
	CHECK_INT(kept[0].frees, 1000);
	CHECK_INT(kept[0].unknown_frees, 0);
	CHECK_INT(kept[0].missed_frees, 0);
	free(rows);
	free(kept);
	model_free(model);
	model_free(copy);
}
