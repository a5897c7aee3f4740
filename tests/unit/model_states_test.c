/* SPDX-License-Identifier: MIT */
/* What a thread did in columns and at a moment, against a count of all parts one by one. */
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "model/host/doings.h"
#include "model/query/host.h"
#include "probes/schema/records.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)
#define LINES 6u
#define PARTS 400
#define COLUMNS 50

static uint32_t seed;

static uint32_t any_below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void add_lines(struct model *model)
{
	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/loader.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "load"));
	for (uint32_t line = 1; line < LINES; line++)
		apply_one(model, ev_frame(line, 0, 30, 31, line));
}

/* Times with one state, with several, with looks that stand for their moment, and with nothing. */
static struct model *random_model(void)
{
	struct model *model = model_with_device();
	int64_t start_ns = 10 * MS;

	add_lines(model);
	for (int i = 0; i < PARTS;) {
		int64_t dur_ns = 1 + any_below(20000000), left_ns = dur_ns;

		for (uint32_t n = 1 + any_below(4); n && left_ns > 0; n--, i++) {
			struct event event = ev_doing(PID, any_below(DOING_COUNT),
						      any_below(LINES), 0, start_ns, dur_ns);

			event.u.doing.ns = n > 1 ? 1 + any_below((uint32_t)left_ns) : left_ns;
			left_ns -= event.u.doing.ns;
			if (!any_below(3))
				event.u.doing.at_ns = BASE + start_ns +
						      any_below((uint32_t)dur_ns + 1);
			apply_one(model, event);
		}
		start_ns += dur_ns + (any_below(3) ? 0 : any_below(5000000));
	}
	model_finish(model, false);
	return model;
}

static const struct doings *doings_of(const struct model *model)
{
	return &thread_at(model, thread_find(model, 0, PID))->doings;
}

static uint32_t thread_row(struct model *model)
{
	struct model_row *rows;
	size_t n = model_rows(model, &rows);
	uint32_t row = 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].kind == ROW_THREAD && rows[i].tid == PID) {
			CHECK(rows[i].looked_at);
			row = rows[i].id;
		}
	free(rows);
	return row;
}

/* How much time each state and line has in [from, to), by looking at all parts. */
static void count_all(const struct model *model, int64_t from, int64_t to,
		      int64_t ns[DOING_COUNT][LINES])
{
	const struct doings *doings = doings_of(model);

	memset(ns, 0, sizeof(int64_t) * DOING_COUNT * LINES);
	for (size_t i = 0; i < doings->n; i++) {
		const struct doing *at = &doings->list[i];
		int64_t a = at->start_ns > from ? at->start_ns : from;
		int64_t b = at->end_ns < to ? at->end_ns : to;
		int64_t seen = at->at_ns < at->end_ns ? at->at_ns : at->end_ns - 1;

		if (at->at_ns)
			ns[at->kind][at->frame] += seen >= from && seen < to ? at->ns : 0;
		else if (a < b)
			ns[at->kind][at->frame] += (int64_t)((__int128)at->ns * (b - a) /
							     (at->end_ns - at->start_ns));
	}
}

static void check_column(const struct model *model, const struct host_state *state, int64_t from,
			 int64_t to)
{
	int64_t ns[DOING_COUNT][LINES], most = 0, of_line = 0, kinds[DOING_COUNT] = { 0 };

	count_all(model, from, to, ns);
	for (int kind = 0; kind < DOING_COUNT; kind++) {
		for (uint32_t line = 0; line < LINES; line++)
			kinds[kind] += ns[kind][line];
		most = kinds[kind] > most ? kinds[kind] : most;
	}
	CHECK_INT(state->ns, most);
	if (!most)
		return;
	CHECK_INT(kinds[state->doing], most);
	for (uint32_t line = 0; line < LINES; line++)
		if (ns[state->doing][line] > of_line)
			of_line = ns[state->doing][line];
	CHECK_INT(ns[state->doing][state->line], of_line);
	CHECK_STR(state->function, state->line ? "load" : "");
}

TEST(states_random)
{
	static const int64_t widths[] = { 1, 1000, MS / 3, 2 * MS, 30 * MS, 500 * MS };
	struct host_state states[COLUMNS];

	for (seed = 1; seed < 8; seed++) {
		struct model *model = random_model();
		const struct doings *doings = doings_of(model);
		int64_t end_ns = doings->list[doings->n - 1].end_ns;
		uint32_t row = thread_row(model);

		for (size_t k = 0; k < sizeof(widths) / sizeof(widths[0]); k++)
			for (int turn = 0; turn < 6; turn++) {
				int64_t t0 = BASE + any_below((uint32_t)((end_ns - BASE) / 1000)) *
					     INT64_C(1000) - any_below(3) * 10 * MS;

				model_host_states(model, row, t0, widths[k], COLUMNS, states);
				for (int i = 0; i < COLUMNS; i++)
					check_column(model, &states[i], t0 + i * widths[k],
						     t0 + (i + 1) * widths[k]);
			}
		model_free(model);
	}
}

TEST(states_saved)
{
	struct host_state states[COLUMNS], again[COLUMNS];
	struct model *model, *copy;

	seed = 5;
	model = random_model();
	copy = saved_again(model);
	model_host_states(model, thread_row(model), BASE, 40 * MS, COLUMNS, states);
	model_host_states(copy, thread_row(copy), BASE, 40 * MS, COLUMNS, again);
	for (int i = 0; i < COLUMNS; i++) {
		CHECK_INT(states[i].ns, again[i].ns);
		CHECK_INT(states[i].doing, again[i].doing);
		CHECK_INT(states[i].line, again[i].line);
		CHECK_STR(states[i].function, again[i].function);
	}
	model_free(model);
	model_free(copy);
}

/* All that it did in some time adds up, most of it first. */
TEST(states_at_moments)
{
	struct host_state states[DOING_COUNT * LINES];

	for (seed = 1; seed < 5; seed++) {
		struct model *model = random_model();
		uint32_t row = thread_row(model);

		for (int turn = 0; turn < 200; turn++) {
			int64_t t = BASE + any_below(3000) * MS, from = t, to = t + 1 +
				    any_below(40000000), sum = 0, others;
			int64_t ns[DOING_COUNT][LINES], all = 0;
			int64_t wide = to - from;
			size_t max = 1 + any_below(DOING_COUNT * LINES), n;

			n = model_host_doing(model, row, t, &from, &to, states, max, &others);
			CHECK(from <= t && to > t && to - from >= wide);
			count_all(model, from, to, ns);
			for (int kind = 0; kind < DOING_COUNT; kind++)
				for (uint32_t line = 0; line < LINES; line++)
					all += ns[kind][line];
			for (size_t i = 0; i < n; i++) {
				CHECK(!i || states[i].ns <= states[i - 1].ns);
				CHECK_INT(states[i].ns, ns[states[i].doing][states[i].line]);
				sum += states[i].ns;
			}
			CHECK_INT(sum + others, all);
			CHECK(n == max || !others);
		}
		model_free(model);
	}
}

TEST(states_of_odd_parts)
{
	struct model *model = model_with_device();
	struct host_state states[4];
	int64_t from = BASE, to = BASE + MS, others;
	struct event event;
	uint32_t row;

	add_lines(model);
	/* 62 and 30 of 100 ms side by side; overlapping and too long ones are refused */
	event = ev_doing(PID, DOING_SLEEP, 1, 0, 0, 100 * MS);
	event.u.doing.ns = 62 * MS;
	apply_one(model, event);
	event = ev_doing(PID, DOING_PYTHON, 2, 0, 0, 100 * MS);
	event.u.doing.ns = 30 * MS;
	apply_one(model, event);
	apply_one(model, ev_doing(PID, DOING_LOCK, 1, 0, 50 * MS, 100 * MS));
	apply_one(model, ev_doing(PID, DOING_LOCK, 1, 0, 0, 100 * MS));
	/* a look at the very end of its time */
	event = ev_doing(PID, DOING_GIL, 3, 0, 100 * MS, 10 * MS);
	event.u.doing.at_ns = BASE + 110 * MS;
	apply_one(model, event);
	row = thread_row(model);
	model_host_states(model, row, BASE + 40 * MS, 10 * MS, 1, states);
	CHECK_INT(states[0].doing, DOING_SLEEP);
	CHECK_INT(states[0].ns, 6200000);
	CHECK_INT(model_host_doing(model, row, BASE, &from, &to, states, 1, &others), 1);
	CHECK_INT(to - from, 100 * MS);
	CHECK_INT(states[0].ns, 62 * MS);
	CHECK_INT(states[0].line, 1);
	CHECK_INT(others, 30 * MS);
	model_host_states(model, row, BASE + 100 * MS, 5 * MS, 3, states);
	CHECK_INT(states[0].ns, 0);
	CHECK_INT(states[1].ns, 10 * MS);
	CHECK_INT(states[1].at_ns, BASE + 110 * MS);
	CHECK_INT(states[2].ns, 0);
	/* rows that are no threads, and none at all */
	for (uint32_t other = 0; other < 12; other++) {
		model_host_states(model, other, BASE, MS, 4, states);
		CHECK(other == row || !states[0].ns);
		CHECK_STR(states[3].file, other == row ? states[3].file : "");
	}
	from = BASE;
	to = BASE + MS;
	CHECK_INT(model_host_doing(model, 999, BASE, &from, &to, states, 4, &others), 0);
	model_free(model);
}

/* What it waits for is told if it is one thing. */
TEST(states_wait_for_something)
{
	struct model *model = model_with_device();
	struct host_state states[2];
	uint32_t row;

	add_lines(model);
	apply_one(model, ev_name(40, NAME_SOURCE, "/a"));
	apply_one(model, ev_name(41, NAME_SOURCE, "/b"));
	for (uint32_t i = 0; i < 3; i++) {
		struct event event = ev_doing(PID, DOING_FILE, 4, 0, i * 10 * MS, 10 * MS);

		event.u.doing.what = i < 2 ? 40 : 41;
		apply_one(model, event);
	}
	row = thread_row(model);
	model_host_states(model, row, BASE, 20 * MS, 2, states);
	CHECK_STR(states[0].what, "/a");
	CHECK_STR(states[1].what, "/b");
	model_host_states(model, row, BASE, 30 * MS, 1, states);
	CHECK_STR(states[0].what, "");
	CHECK_INT(states[0].ns, 30 * MS);
	model_free(model);
}

/* The task is told as long as it is one. */
TEST(states_of_tasks)
{
	struct model *model = model_with_device();
	static const char *const want[] = { "task a", "task a", "", "" };
	struct host_state state;
	int64_t from, to, others;
	uint32_t row;

	add_lines(model);
	apply_one(model, ev_name(40, NAME_SOURCE, TFT_FRAME_TASK));
	apply_one(model, ev_name(41, NAME_SOURCE, "task a"));
	apply_one(model, ev_name(42, NAME_SOURCE, "task b"));
	apply_one(model, ev_frame(20, 1, 40, 41, 0));
	apply_one(model, ev_frame(21, 20, 30, 31, 4));
	apply_one(model, ev_frame(22, 1, 40, 42, 0));
	apply_one(model, ev_frame(23, 22, 30, 31, 4));
	apply_one(model, ev_frame(24, 21, 30, 31, 5));	/* a call, within a */
	for (uint32_t i = 0; i < 3; i++)
		apply_one(model, ev_doing(PID, DOING_PYTHON, 4, (uint32_t[]) { 21, 24, 23 }[i],
					  i * 10 * MS, 10 * MS));
	apply_one(model, ev_doing(PID, DOING_PYTHON, 4, 1, 40 * MS, 10 * MS));
	row = thread_row(model);
	for (uint32_t i = 0; i < 4; i++) {
		/* a part; two of one task; of two; of none */
		from = BASE + (int64_t[]) { 0, 0, 0, 40 }[i] * MS;
		to = BASE + (int64_t[]) { 10, 20, 30, 50 }[i] * MS;
		CHECK_INT(model_host_doing(model, row, from, &from, &to, &state, 1, &others), 1);
		CHECK_STR(state.task, want[i]);
		CHECK_INT(state.line, 4);
	}
	model_free(model);
}

/* The older half is forgotten; a column with more lines than are told apart has its state. */
TEST(states_bounded)
{
	struct model *model = model_with_device();
	struct host_state states[2];
	uint32_t row;

	add_lines(model);
	for (uint32_t i = 0; i < DOINGS_MAX + 1; i++)
		apply_one(model, ev_doing(PID, DOING_LOCK, 10 + i, 0, i * 1000, 1000));
	row = thread_row(model);
	model_host_states(model, row, BASE, DOINGS_MAX / 2 * 1000, 2, states);
	CHECK_INT(states[0].ns, 0);
	CHECK_INT(states[1].ns, DOINGS_MAX / 2 * 1000);
	CHECK_INT(states[1].doing, DOING_LOCK);
	model_free(model);
}
