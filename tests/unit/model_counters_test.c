/* SPDX-License-Identifier: MIT */
/* Counters over time, against plain sums; what they are on the screen and in the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording/export.h"
#include "model/query/counters.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"
#include "tui/timeline/timeline_row.h"

#define MS 1000000

static struct event ev_series(uint32_t id, uint32_t device, const char *name, const char *unit)
{
	struct event event = { .type = EVENT_SERIES, .pid = PID, .time_ns = BASE };

	event.u.series = (struct event_series) { id, device, name, unit };
	return event;
}

static struct event ev_counter(uint32_t id, int64_t at_ns, int64_t value)
{
	struct event event = { .type = EVENT_COUNTER, .pid = PID, .time_ns = BASE + at_ns };

	event.u.counter = (struct event_counter) { id, BASE + at_ns, value };
	return event;
}

static struct counter_row *rows_of(struct model *model, size_t *n)
{
	struct counter_row *rows;

	model_lock(model);
	*n = model_counters(model, &rows);
	model_unlock(model);
	return rows;
}

static struct counter_column columns_of(struct model *model, uint32_t series, int64_t from_ns,
					int64_t to_ns)
{
	struct counter_column column;

	model_lock(model);
	model_counter_columns(model, series, BASE + from_ns, BASE + to_ns, 1, &column);
	model_unlock(model);
	return column;
}

#define VALUES 3000

/* The values at times 0, 1, 2 ... ms come in any order within what is not settled. */
static void feed_mixed(struct model *model, const int64_t *values, bool settle)
{
	size_t order[VALUES];

	for (size_t i = 0; i < VALUES; i++)
		order[i] = i;
	for (size_t i = 0; i < VALUES; i++) {
		size_t other = i - i % 50 + test_below(50), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (size_t i = 0; i < VALUES; i++) {
		struct event event = ev_counter(1, (int64_t)order[i] * MS, values[order[i]]);

		event.time_ns += 100 * (int64_t)MS;
		apply_one(model, event);
		if (settle && i % 200 == 199)
			apply_one(model, ev_alive(BASE + ((int64_t)i - 50) * MS));
	}
}

static void check_all(bool settle)
{
	struct model *model = model_with_device();
	int64_t values[VALUES], min = INT64_MAX, max = INT64_MIN, sum = 0;
	struct counter_row *rows;
	size_t n;

	for (size_t i = 0; i < VALUES; i++) {
		values[i] = (int64_t)test_below(2000) - 700;
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
		sum += i + 1 < VALUES ? values[i] : 0;
	}
	apply_one(model, ev_series(1, 1, "level", "m"));
	feed_mixed(model, values, settle);
	rows = rows_of(model, &n);
	CHECK_INT(n, 1);
	CHECK_STR(rows[0].name, "level");
	CHECK_STR(rows[0].unit, "m");
	CHECK_INT(rows[0].device, 0);
	CHECK_INT(rows[0].count, VALUES);
	CHECK_INT(rows[0].min, min);
	CHECK_INT(rows[0].max, max);
	CHECK_INT(rows[0].mean, sum / (VALUES - 1));
	CHECK_INT(rows[0].last, values[VALUES - 1]);
	CHECK_INT(rows[0].late, 0);
	for (size_t i = VALUES - 1000; i + 3 < VALUES; i += 17) {
		struct counter_column c = columns_of(model, rows[0].series, (int64_t)i * MS,
						     (int64_t)(i + 2) * MS);
		int64_t a = values[i], b = values[i + 1];

		CHECK(c.known && !c.approx);
		CHECK_INT(c.min, a < b ? a : b);
		CHECK_INT(c.max, a > b ? a : b);
		CHECK_INT(c.mean, (a + b + 2 * ((int64_t)1 << 60)) / 2 - ((int64_t)1 << 60));
	}
	/* Before the first value there is none. */
	CHECK(!columns_of(model, rows[0].series, -5 * MS, -MS).known);
	free(rows);
	model_free(model);
}

TEST(counters_waiting)
{
	check_all(false);
}

TEST(counters_settled)
{
	check_all(true);
}

TEST(counters_late_odd_and_many)
{
	struct model *model = model_with_device();
	struct counter_row *rows;
	size_t n;

	apply_one(model, ev_counter(7, MS, 5));		/* not defined yet */
	rows = rows_of(model, &n);
	CHECK_INT(n, 0);
	free(rows);
	apply_one(model, ev_series(7, 0, "queued", ""));
	apply_one(model, ev_counter(7, 3 * MS, 9));
	apply_one(model, ev_counter(0, MS, 1));		/* no id */
	apply_one(model, ev_counter(7, MS, INT64_MAX));	/* no such value */
	apply_one(model, ev_counter(7, MS, INT64_MIN));
	apply_one(model, ev_alive(BASE + 10 * MS));
	apply_one(model, ev_counter(7, 2 * MS, -1));	/* its time was final */
	rows = rows_of(model, &n);
	CHECK_INT(n, 1);
	CHECK_INT(rows[0].device, UINT32_MAX);
	CHECK_INT(rows[0].pid, PID);
	CHECK_INT(rows[0].count, 3);
	CHECK_INT(rows[0].late, 1);
	CHECK_INT(rows[0].min, -1);
	CHECK_INT(rows[0].mean, 5);
	CHECK_INT(rows[0].last, 9);
	free(rows);
	CHECK_INT(status_of(model).bad, 3);
	for (uint32_t id = 100; id < 6000; id++)
		apply_one(model, ev_series(id, 0, "many", ""));
	for (uint32_t id = 100; id < 6000; id++)
		apply_one(model, ev_counter(id, 11 * MS, 1));
	rows = rows_of(model, &n);
	CHECK_INT(n, 4096);
	free(rows);
	model_free(model);
}

TEST(counters_rows_of_timeline)
{
	struct model *model = model_with_device();
	struct model_row row, other;
	struct column columns[4];

	apply_one(model, ev_series(1, 1, "temperature", "C"));
	apply_one(model, ev_series(2, 0, "balance", "bytes"));
	for (int i = 0; i < 4; i++) {
		apply_one(model, ev_counter(1, i * 10 * MS, 40 + i));
		apply_one(model, ev_counter(2, i * 10 * MS, 100 * i - 150));
	}
	apply_one(model, ev_alive(BASE + 40 * MS));
	/* A device on which nothing ran is there for its counter. */
	other = row_of(model, ROW_COUNTER, 0);
	CHECK_STR(other.label, "balance");
	CHECK_INT(other.pid, PID);
	CHECK_INT(other.parent, row_of(model, ROW_PROCESS, 0).id);
	CHECK_INT(other.base, -150);
	CHECK_INT(other.peak, 300);
	row = row_of(model, ROW_COUNTER, 1);
	CHECK_STR(row.label, "temperature");
	CHECK_INT(row.parent, row_of(model, ROW_DEVICE, 0).id);
	CHECK_INT(row.base, 0);
	CHECK_INT(row.peak, 43);
	CHECK_STR(row.unit, "C");
	model_lock(model);
	model_columns(model, row.id, LANE_ALL, BASE, BASE + 40 * MS, 4, columns);
	for (int i = 0; i < 4; i++)
		CHECK_INT(columns[i].value, 40 + i);
	model_columns(model, other.id, LANE_ALL, BASE - 20 * MS, BASE + 20 * MS, 4, columns);
	model_unlock(model);
	CHECK_INT(columns[1].count, 0);
	CHECK_INT(columns[2].count, 1);
	CHECK_INT(columns[2].value_max, 0);
	CHECK_INT(columns[3].value_max, 100);
	model_free(model);
}

/* Counts the lines of counters. */
static size_t lines_of(struct model *model, const struct fold_set *folds)
{
	struct line_list list = { .count = 0 };
	struct model_row *rows;
	size_t n, lines = 0;

	model_lock(model);
	n = model_rows(model, &rows);
	model_unlock(model);
	line_list_build(&list, rows, n, 0, folds);
	for (size_t i = 0; i < list.count; i++)
		lines += list.lines[i].kind == ROW_COUNTER;
	line_list_release(&list);
	free(rows);
	return lines;
}

/* What a process takes of its machine is one line, until it is unfolded. */
TEST(counters_usage_below_the_first)
{
	struct model *model = model_new(NULL);
	struct fold_set folds = { .list = NULL };
	struct model_row first, row, *rows;
	struct counter_row *counters;
	size_t n;

	apply_one(model, ev_process(PID, "python3 train.py"));
	apply_one(model, ev_series(5, EVENT_SERIES_USAGE, "processor", "1/1000"));
	apply_one(model, ev_series(6, EVENT_SERIES_USAGE, "resident memory", "bytes"));
	apply_one(model, ev_series(7, EVENT_SERIES_USAGE, "faults", "/s"));
	apply_one(model, ev_series(8, 0, "balance", "bytes"));
	apply_one(model, ev_counter(6, 0, 4096));
	apply_one(model, ev_counter(5, 0, 980));
	/* no reason to list a process */
	model_lock(model);
	CHECK_INT(model_rows(model, &rows), 0);
	model_unlock(model);
	free(rows);
	apply_one(model, ev_counter(7, 0, 3));
	apply_one(model, ev_counter(8, 0, 9));
	row = row_of(model, ROW_COUNTER, 0);
	CHECK_STR(row.label, "balance");
	CHECK_INT(row.parent, row_of(model, ROW_PROCESS, 0).id);
	first = row_of(model, ROW_COUNTER, 1);
	CHECK_STR(first.label, "processor");
	CHECK_INT(first.parent, row_of(model, ROW_PROCESS, 0).id);
	for (int i = 2; i < 4; i++) {
		row = row_of(model, ROW_COUNTER, i);
		CHECK_STR(row.label, i == 2 ? "resident memory" : "faults");
		CHECK_INT(row.parent, first.id);
	}
	CHECK_INT(lines_of(model, &folds), 2);
	fold_put(&folds, first.id, FOLD_OPEN);
	CHECK_INT(lines_of(model, &folds), 4);
	fold_put(&folds, first.id, FOLD_CLOSED);
	CHECK_INT(lines_of(model, &folds), 2);
	fold_set_release(&folds);
	/* in lists they come behind what probes and sensors say */
	counters = rows_of(model, &n);
	CHECK_INT(n, 4);
	CHECK_STR(counters[0].name, "balance");
	CHECK_STR(counters[1].name, "processor");
	CHECK(!counters[0].usage && counters[1].usage && counters[3].usage);
	CHECK_INT(counters[1].device, UINT32_MAX);
	free(counters);
	model_free(model);
}

/* The model gives back what it took. */
TEST(counters_saved)
{
	struct model *model = model_with_device(), *copy = model_new(NULL);
	struct model_export *export;
	struct counter_row *rows, *copies;
	struct event events[64];
	size_t n, m, got;

	apply_one(model, ev_series(3, 1, "power", "W"));
	apply_one(model, ev_series(9, 0, "queued", ""));
	apply_one(model, ev_series(11, EVENT_SERIES_USAGE, "processor", "1/1000"));
	for (int i = 0; i < 500; i++) {
		apply_one(model, ev_counter(3, i * (int64_t)MS, (int64_t)test_below(900) - 100));
		apply_one(model, ev_counter(9, i * (int64_t)MS + 5, (int64_t)test_below(20)));
		apply_one(model, ev_counter(11, i * (int64_t)MS + 9, (int64_t)test_below(20)));
	}
	apply_one(model, ev_alive(BASE + 300 * MS));
	export = model_export_new(model, INT64_MIN);
	while ((got = model_export_next(export, events, 64)) > 0)
		model_apply(copy, events, got);
	model_export_free(export);
	model_finish(copy, false);
	rows = rows_of(model, &n);
	copies = rows_of(copy, &m);
	CHECK_INT(n, 3);
	CHECK_INT(m, n);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(copies[i].usage, i == 2);
		CHECK_STR(copies[i].name, rows[i].name);
		CHECK_STR(copies[i].unit, rows[i].unit);
		CHECK_INT(copies[i].device, rows[i].device);
		CHECK_INT(copies[i].count, 500);
		CHECK_INT(copies[i].min, rows[i].min);
		CHECK_INT(copies[i].mean, rows[i].mean);
		CHECK_INT(copies[i].max, rows[i].max);
		CHECK_INT(copies[i].last, rows[i].last);
	}
	free(rows);
	free(copies);
	model_free(model);
	model_free(copy);
}

static char *page_of(struct model *model, const char *name, bool *made)
{
	const char *const argv[] = { "counters", name };
	char error[100] = "";
	struct page_call call = {
		.model = model, .argc = name ? 2 : 1, .argv = argv, .error = error,
		.error_size = sizeof(error),
	};
	struct page page;
	char *text = NULL;
	size_t size;
	FILE *out;

	page_init(&page);
	*made = page_counters(&call, &page);
	out = open_memstream(&text, &size);
	page_write(&page, out);
	fputs(error, out);
	fclose(out);
	page_release(&page);
	return text;
}

TEST(counters_report_and_page)
{
	static const struct report_run run = { .wall_ns = -1, .exit_status = -1 };
	struct model *model = model_with_device();
	char *text = NULL;
	size_t size;
	bool made;
	FILE *out;

	text = page_of(model, NULL, &made);
	CHECK(made && strstr(text, "no counter has been seen"));
	free(text);
	apply_one(model, ev_series(1, 0, "pool fragmentation", "1/1000"));
	apply_one(model, ev_counter(1, 0, 125));
	apply_one(model, ev_counter(1, MS, 250));
	apply_one(model, ev_counter(1, 2 * MS, 0));
	out = open_memstream(&text, &size);
	report_json(model, &run, out);
	fclose(out);
	CHECK(strstr(text,
		     "{\"name\": \"pool fragmentation\", \"pid\": 4121, \"unit\": \"1/1000\", "
		     "\"count\": 3, \"min\": 0, \"mean\": 187, \"max\": 250, \"last\": 0}"));
	free(text);
	text = page_of(model, "frag", &made);
	CHECK(made && strstr(text, "12.5 %") == NULL && strstr(text, "18.7 %"));
	CHECK(strstr(text, "25.0 % ") && strstr(text, "█"));
	free(text);
	text = page_of(model, "nothing", &made);
	CHECK(!made && strstr(text, "'nothing'"));
	free(text);
	model_free(model);
}
