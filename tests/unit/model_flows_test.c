/* SPDX-License-Identifier: MIT */
/* Messages between processes: totals, both ends, ops at them, and what they cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/acts/act.h"
#include "model/analyses/thresholds.h"
#include "model/core/model.h"
#include "model/flows/flows.h"
#include "model/query/findings.h"
#include "model/query/flows.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/draw/page_call.h"

#define MS INT64_C(1000000)

enum { PROCESSES = 3, NAMES = 5, MESSAGES = 1500 };

static struct event flow_of(int process, enum flow_phase phase, uint32_t name, uint64_t key,
			    int64_t at_ns)
{
	return (struct event) {
		.type = EVENT_FLOW, .pid = PID + (uint32_t)process, .tid = PID, .time_ns = at_ns,
		.u.flow = { .name = name, .key = key, .at_ns = at_ns, .dur_ns = -1,
			    .phase = (uint8_t)phase },
	};
}

static const char *name_text(uint32_t name)
{
	static const char *const texts[NAMES] = {
		"/job:a/replica:0/task:0/device:CPU:0;1f;/job:b/replica:0/task:0/device:CPU:0;"
		"edge_3_pool;", "a -> b: c -> d: e", "a -> a: here",
		"no arrow: at all", "->",
	};

	return texts[name - 1];
}

static struct event name_of(int process, uint32_t name)
{
	struct event event = ev_name(name, NAME_KEY, name_text(name));

	event.pid = PID + (uint32_t)process;
	return event;
}

static size_t flows_of(struct model *model, struct flow_row **rows)
{
	size_t n;

	model_lock(model);
	n = model_flows(model, rows);
	model_unlock(model);
	return n;
}

/* ---- against plain sums ---- */

struct sums {
	uint64_t sent, received, bytes, joined, encoded, decoded;
	int64_t encode_ns, decode_ns, wait_ns, wire_ns;
	bool local;
};

static size_t put(struct event *events, size_t n, struct event event)
{
	events[n] = event;
	return n + 1;
}

/* One message, of which some is lost; what is left is in the sums. */
static size_t message(struct event *events, size_t n, uint64_t key, struct sums *all)
{
	uint32_t name = 1 + (uint32_t)test_below(NAMES);
	struct sums *sums = &all[name];
	int from = (int)test_below(PROCESSES), to = name == 3 ? from : (from + 1) % PROCESSES;
	int64_t asked = BASE + (int64_t)test_below(1000000),
		sent = BASE + (int64_t)test_below(1000000);
	int64_t ready = asked > sent ? asked : sent, end = ready + (int64_t)test_below(100000);
	uint64_t bytes = test_below(100000);
	bool has_sent = test_below(8), has_received = test_below(8);
	struct event event;

	if (has_sent) {
		event = flow_of(from, FLOW_SENT, name, key, sent);
		event.u.flow.bytes = bytes;
		n = put(events, n, event);
		sums->sent++;
		sums->bytes += bytes;
	}
	if (has_received) {
		event = flow_of(to, FLOW_RECEIVED, name, key, end);
		event.u.flow.dur_ns = end - asked;
		n = put(events, n, event);
		sums->received++;
		sums->wait_ns += end - asked;
	}
	if (has_sent && has_received) {
		sums->joined++;
		sums->wire_ns += end - ready;
	}
	if (test_below(3)) {
		event = flow_of(from, FLOW_ENCODED, name, key, sent);
		event.u.flow.dur_ns = 70;
		n = put(events, n, event);
		sums->encoded++;
		sums->encode_ns += 70;
	}
	if (test_below(3)) {
		event = flow_of(to, FLOW_DECODED, name, key, end);
		event.u.flow.dur_ns = 30;
		n = put(events, n, event);
		sums->decoded++;
		sums->decode_ns += 30;
	}
	return n;
}

static void shuffle(struct event *events, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = test_below(i);
		struct event swap = events[i - 1];

		events[i - 1] = events[k];
		events[k] = swap;
	}
}

static const char *text_or(const char *text)
{
	return text ? text : "";
}

/* From, to and what, by name. */
static const char *const parts[NAMES][3] = {
	{ "job:a/task:0", "job:b/task:0", "pool (edge 3)" }, { "a", "b", "c -> d: e" },
	{ "a", "a", "here" }, { "", "", "no arrow: at all" }, { "", "", "->" },
};

static void check_row(const struct flow_row *row, const struct sums *sums, uint32_t name)
{
	CHECK_STR(text_or(row->source), parts[name - 1][0]);
	CHECK_STR(text_or(row->destination), parts[name - 1][1]);
	CHECK_STR(text_or(row->key), parts[name - 1][2]);
	CHECK_INT(row->sent, sums->sent);
	CHECK_INT(row->received, sums->received);
	CHECK_INT(row->bytes, sums->bytes);
	CHECK_INT(row->joined, sums->joined);
	CHECK_INT(row->wire_ns, sums->wire_ns);
	CHECK_INT(row->wait_ns, sums->wait_ns);
	CHECK_INT(row->encoded, sums->encoded);
	CHECK_INT(row->encode_ns, sums->encode_ns);
	CHECK_INT(row->decoded, sums->decoded);
	CHECK_INT(row->decode_ns, sums->decode_ns);
	CHECK(row->local == (name == 3));
	CHECK_INT(row->error_ns, 0);
}

/* In any order, names before or after their first use, ends lost. */
TEST(flows_are_plain_sums)
{
	static struct event events[MESSAGES * 4 + PROCESSES * NAMES];
	struct sums all[NAMES + 1] = { { .sent = 0 } };
	struct model *model = model_new(NULL);
	struct flow_row *rows;
	size_t n = 0, found = 0, count;

	for (uint64_t key = 1; key <= MESSAGES; key++)
		n = message(events, n, key, all);
	for (int p = 0; p < PROCESSES; p++)
		for (uint32_t name = 1; name <= NAMES; name++)
			n = put(events, n, name_of(p, name));
	shuffle(events, n);
	model_apply(model, events, n);
	model_finish(model, false);
	count = flows_of(model, &rows);
	CHECK_INT(count, NAMES);
	for (size_t i = 0; i < count; i++) {
		CHECK(!i || rows[i - 1].bytes >= rows[i].bytes);
		for (uint32_t name = 1; name <= NAMES; name++)
			if (!strcmp(parts[name - 1][2], rows[i].key) &&
			    rows[i].bytes == all[name].bytes) {
				check_row(&rows[i], &all[name], name);
				found++;
			}
	}
	CHECK_INT(found, NAMES);
	CHECK_INT(status_of(model).bad, 0);
	free(rows);
	model_free(model);
}

/* What cannot be is counted; what is too much is left out. */
TEST(flows_have_bounds)
{
	struct model *model = model_new(NULL);
	struct event event = flow_of(0, FLOW_SENT, 1, 1, BASE);
	struct flow_row *rows;
	size_t before;

	event.u.flow.bytes = UINT64_MAX;
	apply_one(model, event);
	event = flow_of(0, FLOW_RECEIVED, 1, 1, -5);
	apply_one(model, event);
	event = flow_of(0, FLOW_RECEIVED, 1, 1, BASE);
	event.u.flow.dur_ns = -2;
	apply_one(model, event);
	event.u.flow.dur_ns = INT64_MAX;
	apply_one(model, event);
	event = flow_of(0, FLOW_PHASE_COUNT, 1, 1, BASE);
	apply_one(model, event);
	CHECK_INT(status_of(model).bad, 5);
	CHECK_INT(flows_of(model, &rows), 0);
	free(rows);
	for (uint64_t key = 1; key <= 2 * FLOWS_WAIT; key++)
		apply_one(model, flow_of(0, FLOW_SENT, 1, key, BASE));
	before = flows_bytes(model);
	for (uint64_t key = 1; key <= 2 * FLOWS_WAIT; key++)
		apply_one(model, flow_of(0, FLOW_SENT, 1, key, BASE));
	CHECK(flows_bytes(model) <= before);
	/* The newest wait for their other end, the oldest no more. */
	apply_one(model, flow_of(1, FLOW_RECEIVED, 1, 2 * FLOWS_WAIT, BASE + 10));
	apply_one(model, flow_of(1, FLOW_RECEIVED, 1, 1, BASE + 10));
	for (uint32_t name = 2; name <= FLOW_TOTALS_MAX + 9; name++)
		apply_one(model, flow_of(0, FLOW_SENT, name, 0, BASE));
	CHECK_INT(flows_of(model, &rows), FLOW_TOTALS_MAX);
	free(rows);
	apply_one(model, name_of(0, 1));
	apply_one(model, name_of(1, 1));
	CHECK_INT(flows_of(model, &rows), FLOW_TOTALS_MAX - 1);
	CHECK_INT(rows[0].sent, 4 * FLOWS_WAIT);
	CHECK_INT(rows[0].received, 2);
	CHECK_INT(rows[0].joined, 1);
	CHECK_INT(rows[0].latency_p50_ns, 10);
	free(rows);
	model_free(model);
}

static int64_t odd_time(void)
{
	static const int64_t odd[] = { 0, -1, INT64_MIN, INT64_MAX, BASE };

	return test_below(4) ? BASE + (int64_t)test_below(1000000) : odd[test_below(5)];
}

/* Ends that do not fit together, times that cannot be, names of nobody. */
TEST(flows_of_random_events)
{
	struct model *model = model_new(NULL);

	for (int i = 0; i < 20000; i++) {
		struct event event = flow_of((int)test_below(PROCESSES), FLOW_SENT,
					     (uint32_t)test_below(9), test_below(40), odd_time());
		struct flow_row *rows;
		size_t n;

		event.host = (uint16_t)test_below(3);
		event.u.flow.phase = (uint8_t)test_below(FLOW_PHASE_COUNT + 1);
		event.u.flow.dur_ns = odd_time();
		event.u.flow.bytes = test_below(4) ? 100 : test_random();
		event.u.flow.op = test_below(50);
		apply_one(model, event);
		if (i % 2000)
			continue;
		n = flows_of(model, &rows);
		for (size_t k = 0; k < n; k++)
			CHECK(rows[k].joined <= rows[k].sent && rows[k].wire_ns >= 0);
		free(rows);
	}
	CHECK(status_of(model).bad > 0);
	model_free(model);
}

/* From the op that sent to the one that received, and back. */
TEST(flows_lead_from_op_to_op)
{
	struct model *model = model_with_device();
	struct event send = ev_op(1, 5, 0, 1000, 500, 0),
		     recv = ev_op(2, 6, 0, 1200, 900, OP_ASYNC);
	struct event flow = flow_of(0, FLOW_SENT, 3, 77, BASE + 1100);
	struct model_row rows[2];
	struct span_ref from, to, back;
	struct span span;

	recv.pid = PID + 1;
	apply_one(model, send);
	apply_one(model, recv);
	flow.u.flow.op = 5;
	apply_one(model, flow);
	flow = flow_of(1, FLOW_RECEIVED, 3, 77, BASE + 2000);
	flow.u.flow.op = 6;
	apply_one(model, flow);
	rows[0] = row_of(model, ROW_THREAD, 0);
	rows[1] = row_of(model, ROW_THREAD, 1);
	model_lock(model);
	CHECK(model_span_next(model, rows[0].id, LANE_ALL, 0, &from));
	CHECK(model_span_peer(model, from, &to));
	CHECK(model_span(model, to, &span));
	CHECK_INT(span.instance, 6);
	CHECK_INT(span.pid, PID + 1);
	CHECK(model_span_peer(model, to, &back));
	CHECK(memcmp(&back, &from, sizeof(back)) == 0);
	model_unlock(model);
	CHECK_INT(rows[1].kind, ROW_THREAD);
	model_free(model);
}

/* Two hosts whose clocks have nothing in common: the latency is right within what
 * is said of it. */
TEST(flows_between_hosts)
{
	const int64_t ahead = INT64_C(50000000000);
	struct model *model = model_new(NULL);
	struct flow_row *rows;

	for (int h = 0; h < 2; h++) {
		struct event process = ev_process(PID, "rank");

		process.host = (uint16_t)h;
		process.time_ns = process.u.process.mono_ns = BASE + h * ahead;
		process.u.process.real_ns = INT64_C(1700000000000000000) + h * 3000000;
		apply_one(model, process);
	}
	for (uint64_t i = 0; i < 400; i++) {
		int from = (int)(i % 2);
		int64_t t = BASE + (int64_t)i * MS;
		struct event event = flow_of(0, FLOW_SENT, 1 + (uint32_t)from, i + 1,
					     t + from * ahead);

		event.host = (uint16_t)from;
		apply_one(model, event);
		event = flow_of(0, FLOW_RECEIVED, 1 + (uint32_t)from, i + 1,
				t + 200000 + !from * ahead);
		event.host = (uint16_t)!from;
		apply_one(model, event);
	}
	CHECK_INT(flows_of(model, &rows), 4);	/* names of two processes, not defined */
	for (size_t i = 0; i < 4; i++) {
		if (!rows[i].joined)
			continue;
		CHECK_INT(rows[i].joined, 200);
		CHECK(rows[i].error_ns > 0);
		CHECK(llabs(rows[i].latency_p50_ns - 200000) <= 200000);
	}
	free(rows);
	model_free(model);
}

/* ---- what they cost ---- */

static void output(struct bench *bench, uint32_t name, uint64_t bytes)
{
	struct event event = flow_of(1, FLOW_MADE, name, 0, BASE);

	event.u.flow.bytes = bytes;
	apply_one(bench->model, event);
}

/* A step of 10 ms: sent at 2, asked for at 1, there at 5; then "pool" on the
 * receiver. `meanwhile`: it works from 3 to 4. */
static void step(struct bench *bench, int64_t i, bool meanwhile)
{
	int64_t t = BASE + i * 10 * MS;
	struct event event = flow_of(0, FLOW_SENT, 1, (uint64_t)i + 1, t + 2 * MS);
	struct act *act;

	event.u.flow.bytes = 8000;
	apply_one(bench->model, event);
	event = flow_of(1, FLOW_RECEIVED, 1, (uint64_t)i + 1, t + 5 * MS);
	event.u.flow.dur_ns = 4 * MS;
	apply_one(bench->model, event);
	act = bench_act(bench, ACT_OP, t + 5 * MS + 1000, t + 6 * MS);
	act->process = 1;
	act->name = bench_name(bench, "conv");
	act = bench_act(bench, ACT_OP, t + 6 * MS, t + 6 * MS + 1000);
	act->process = 1;
	act->name = bench_name(bench, "gradients/dense_grad/MatMul");
	act = bench_act(bench, ACT_OP, t + 6 * MS + 1000, t + 7 * MS);
	act->process = 1;
	act->name = bench_name(bench, "pool");
	act = bench_act(bench, ACT_OP, t + 7 * MS, t + 8 * MS);
	act->process = 1;
	act->name = bench_name(bench, "loss");
	/* what is no work: the step itself, the receive, and the other process */
	act = bench_act(bench, ACT_OP, t, t + 10 * MS);
	act->process = 1;
	act = bench_act(bench, ACT_OP, t + MS, t + 5 * MS);
	act->process = 1;
	act->flags = ACT_ASYNC;
	bench_act(bench, ACT_OP, t, t + 5 * MS);
	if (meanwhile) {
		act = bench_act(bench, ACT_OP, t + 3 * MS, t + 4 * MS);
		act->process = 1;
	}
	bench_step(bench, t, t + 10 * MS);
}

static void begin(struct bench *bench)
{
	bench_init(bench, &analysis_wire);
	apply_one(bench->model, name_of(0, 1));
	apply_one(bench->model, name_of(1, 1));
	for (uint32_t i = 0; i < 4; i++) {
		static const char *const ops[] = {
			"conv", "pool", "loss", "gradients/dense_grad/MatMul",
		};
		struct event event = ev_name(10 + i, NAME_OP, ops[i]);

		event.pid = PID + 1;
		apply_one(bench->model, event);
	}
}

TEST(flows_that_a_step_waits_for)
{
	struct bench bench;
	struct finding finding;

	begin(&bench);
	output(&bench, 10, 16000);
	output(&bench, 11, 4000);
	output(&bench, 12, 4);
	output(&bench, 13, 2000);
	for (int64_t i = 0; i < 8; i++)
		step(&bench, i, i % 2);
	CHECK_INT(bench_review(&bench, NULL, &finding), 1);
	CHECK_STR(finding.id, "wire-bound");
	CHECK_INT(finding.severity, SEVERITY_WARNING);
	CHECK_INT(finding.cost_ns, 5 * MS / 2);
	CHECK_STR(finding.title, "wire-bound: pool (edge 3) carries 8 000 bytes per step to "
		  "job:b/task:0, which waits for it");
	CHECK_STR(finding.lines[2], "pool, which the receiver runs next, reduces it to 4 000 "
		  "bytes");
	CHECK_STR(finding.advice, "cut after pool instead: 4 000 bytes per step on the wire "
		  "instead of 8 000 bytes");
	bench_release(&bench);
}

/* Each row leads to what else is known of the tensor, where it has a name. */
TEST(flows_page_leads_to_tensors)
{
	struct model *model = model_new(NULL);
	char error[200];
	const struct page_call call = { .model = model,
					.error = error,
					.error_size = sizeof(error) };
	struct page page, tensor;

	apply_one(model, name_of(0, 1));
	apply_one(model, name_of(0, 5));
	apply_one(model, flow_of(0, FLOW_SENT, 1, 7, BASE));
	apply_one(model, flow_of(0, FLOW_SENT, 5, 8, BASE));
	page_init(&page);
	CHECK(page_flows(&call, &page));
	for (size_t line = 0, n = 0; line < page.n_lines; line++)
		if (page_links(&page, line)) {
			struct page_call of = call;
			struct words words;

			CHECK(words_split(&words, page_command(&page, line, 0), error,
					  sizeof(error)));
			CHECK_STR(words.argv[0], "pt");
			of.argc = words.argc;
			of.argv = words.argv;
			page_init(&tensor);
			CHECK(page_tensor(&of, &tensor));
			page_release(&tensor);
			words_release(&words);
			CHECK(++n <= 4);
		} else {
			CHECK(line + 1 < page.n_lines || n >= 2);
		}
	page_release(&page);
	model_free(model);
}

/* Too few steps, nothing to wait for, no smaller output: nothing is made up. */
TEST(flows_that_cost_nothing)
{
	struct bench bench;
	struct finding finding;

	begin(&bench);
	output(&bench, 11, 8000);
	output(&bench, 12, 4);
	for (int64_t i = 0; i < 4; i++)
		step(&bench, i, false);
	CHECK_INT(bench_review(&bench, NULL, &finding), 0);
	step(&bench, 4, false);
	CHECK_INT(bench_review(&bench, NULL, &finding), 1);
	CHECK_STR(finding.lines[2], "");
	CHECK(strstr(finding.advice, "send less ("));
	CHECK(model_threshold_set(bench.model, THRESHOLD_WIRE_SHARE, 31));
	CHECK_INT(bench_review(&bench, NULL, &finding), 0);
	bench_release(&bench);
}
