/* SPDX-License-Identifier: MIT */
/* Several hosts: their times on host 0's clock, by wall clocks, then messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/report/report.h"

__extension__ typedef __int128 wide;

enum { HOSTS = 3 };

static const int64_t offset[HOSTS] = { 0, INT64_C(86400000000000), -400000000 };
static const int64_t drift_ppb[HOSTS] = { 0, 31000, -17000 };
/* How wrong their wall clocks are. */
static const int64_t wall_off[HOSTS] = { 0, 2700000, -4100000 };

/* A host's CLOCK_MONOTONIC at a time of host 0's. */
static int64_t mono(int host, int64_t t)
{
	return t + offset[host] + (int64_t)((wide)(t - BASE) * drift_ppb[host] / 1000000000);
}

static struct event on(int host, struct event event)
{
	event.host = (uint16_t)host;
	return event;
}

static void begin(struct model *model)
{
	for (int h = 0; h < HOSTS; h++) {
		struct event process = ev_process(PID, "rank");

		process.time_ns = process.u.process.mono_ns = mono(h, BASE);
		process.u.process.start_ns = mono(h, BASE);
		process.u.process.real_ns = INT64_C(1700000000000000000) + BASE + wall_off[h];
		apply_one(model, on(h, process));
		apply_one(model, on(h, ev_name(1, NAME_OP, "op")));
	}
}

static void op(struct model *model, int host, uint64_t instance, int64_t t)
{
	struct event event = ev_op(1, instance, 0, 0, 1000, 0);

	event.u.op.start_ns = mono(host, t);
	event.u.op.dur_ns = mono(host, t + 5000) - mono(host, t);
	event.time_ns = mono(host, t + 6000);
	apply_one(model, on(host, event));
}

static void flow(struct model *model, int host, uint64_t key, int64_t t, bool received)
{
	struct event event = {
		.type = EVENT_FLOW, .pid = PID, .tid = PID, .time_ns = mono(host, t)
	};

	event.u.flow = (struct event_flow) {
		.key = key, .bytes = 1, .at_ns = mono(host, t), .phase = received,
	};
	apply_one(model, on(host, event));
}

/* Ops of that host start at the truth, give or take `most`. */
static void check_ops(struct model *model, int host, int64_t from, int64_t until, int64_t every,
		      int64_t most)
{
	struct model_row *rows;
	size_t n, seen = 0;

	model_lock(model);
	n = model_rows(model, &rows);
	for (size_t i = 0; i < n; i++) {
		struct span_ref ref;
		struct span span;
		int64_t at = 0;

		if (rows[i].kind != ROW_THREAD || rows[i].host != host)
			continue;
		while (model_span_next(model, rows[i].id, 0, at, &ref)) {
			int64_t t;

			CHECK(model_span(model, ref, &span));
			at = span.start_ns;
			t = BASE + (int64_t)span.instance * every;
			if (t < from || t >= until)
				continue;
			seen++;
			CHECK(llabs(span.start_ns - t) <= most);
			CHECK(llabs(span.end_ns - span.start_ns - 5000) <= 110);
		}
	}
	model_unlock(model);
	free(rows);
	CHECK(seen > 100);
}

static void check_report(struct model *model, const char *line)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	report_trust_text(model, out);
	fclose(out);
	CHECK(strstr(text, line));
	free(text);
}

TEST(model_hosts_on_one_clock)
{
	for (int told = 0; told < 2; told++) {
		struct model *model = model_new(NULL);
		const int64_t every = 500000;
		struct host_row *hosts;
		uint64_t key = 1;

		begin(model);
		for (int64_t i = 1; i < 4000; i++) {
			int64_t t = BASE + i * every;
			int a = (int)test_below(HOSTS),
			    b = (a + 1 + (int)test_below(HOSTS - 1)) % HOSTS;
			int64_t wire = 20000 + (int64_t)test_below(150000);

			for (int h = 0; h < HOSTS; h++)
				op(model, h, (uint64_t)i, t);
			if (!told)
				continue;
			/* Either side may be lost, or come first, or twice. */
			if (test_below(10))
				flow(model, a, key, t, false);
			if (test_below(10))
				flow(model, b, key, t + wire, true);
			if (test_below(20) == 0)
				flow(model, b, key, t + wire, true);
			key++;
		}
		/* Host 0's are its own; the others' by their wall clocks, then better. */
		check_ops(model, 0, BASE, INT64_MAX, every, 0);
		for (int h = 1; h < HOSTS; h++) {
			check_ops(model, h, BASE, BASE + 1000 * every, every, 5000000);
			check_ops(model, h, BASE + 1000 * every, INT64_MAX, every,
				  told ? 150000 : 5000000);
		}
		model_lock(model);
		CHECK_INT(model_hosts(model, &hosts), HOSTS - 1);
		CHECK_INT(model_host_violations(model), 0);
		model_unlock(model);
		for (int h = 1; h < HOSTS; h++) {
			CHECK_INT(hosts[h - 1].host, h);
			CHECK_STR(hosts[h - 1].name, "here");
			CHECK(hosts[h - 1].clock_known);
			CHECK_INT(hosts[h - 1].by_messages, told);
			CHECK(hosts[h - 1].clock_error_ns >= (told ? 1000 : 100000000));
			CHECK(hosts[h - 1].clock_error_ns <= (told ? 150000 : 100000000));
		}
		CHECK_INT(status_of(model).bad, 0);
		check_report(model, told ? "  clock         host 2 here: by messages, ±"
					 : "  clock         host 2 here: by wall clock, ±100 ms\n");
		free(hosts);
		model_free(model);
	}
}

/* Nobody says what time it is there: its times stay its own, and that is said. */
TEST(model_hosts_without_any_clock)
{
	struct model *model = model_new(NULL);
	struct host_row *hosts;

	apply_one(model, ev_process(PID, "p"));
	apply_one(model, on(1, ev_process(PID, "p")));
	apply_one(model, on(1, ev_name(1, NAME_OP, "op")));
	op(model, 1, 1, BASE);
	for (uint64_t key = 1; key < 50000; key++)
		flow(model, 1, key, BASE + (int64_t)key, false);
	model_lock(model);
	CHECK_INT(model_hosts(model, &hosts), 1);
	CHECK(!hosts[0].clock_known && !hosts[0].by_messages);
	model_unlock(model);
	check_report(model, "  ! clock       host 1 here: unknown, its times are its own\n");
	free(hosts);
	model_free(model);
}
