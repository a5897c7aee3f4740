/* SPDX-License-Identifier: MIT */
/* Marks, times as they are typed, and the pages that are made of them: range, diff, marks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/query/range.h"
#include "tests/unit/model_events.h"
#include "tests/unit/page_text.h"
#include "tui/timeline/marks.h"
#include "tui/draw/pane.h"
#include "tui/report/report.h"
#include "tui/base/json_read.h"
#include "tui/pages/side.h"
#include "tui/timeline/when.h"

#define MS INT64_C(1000000)
#define STEPS 20
#define SLOW 7				/* its input takes longer */
#define STEP0 40u			/* names of steps */

/* Steps of 10 ms: 2 ms of input, then 3 ms of kernel1; the slow one waits 6 ms more, and runs
 * kernel2 for 1 ms, too. */
static struct model *train(void)
{
	struct model *model = model_with_device();
	char text[24];
	int64_t at = 0;

	for (uint32_t i = 0; i < STEPS; i++) {
		int64_t more = i == SLOW ? 6 * MS : 0, dur = 10 * MS + more + i * 1000;
		uint64_t step = i + 1;

		snprintf(text, sizeof(text), "step %u", i);
		apply_one(model, ev_name(STEP0 + i, NAME_RANGE, text));
		apply_one(model, ev_op(STEP0 + i, step, 0, at, dur, OP_RANGE));
		apply_one(model, ev_kernel(1, 1, i * 4 + 1, at + 2 * MS + more, 3 * MS));
		if (more)
			apply_one(model, ev_kernel(2, 2, i * 4 + 2, at + 6 * MS + more, MS));
		apply_one(model, ev_copy(1, DIR_H2D, 1000000, at + 5 * MS + more, MS / 2));
		at += dur;
	}
	model_finish(model, false);
	return model;
}

static bool ask(struct model *model, const struct view *view, int argc, const char *const *argv,
		struct when *out, char error[300])
{
	struct when_asks asks = { model, view };
	int at = 0;

	error[0] = '\0';
	return when_range(&asks, argc, argv, &at, out, error, 300) && at == argc;
}

#define ASK(...) ({ \
	const char *const argv_[] = { __VA_ARGS__ }; \
	ask(model, &view, (int)(sizeof(argv_) / sizeof(argv_[0])), argv_, &when, error); \
})

TEST(marks_are_kept_in_order)
{
	struct marks marks = { .list = NULL }, again = { .list = NULL };
	const struct time_mark *mark;
	char error[300], *text;
	int64_t last = INT64_MIN;

	for (int i = 0; i < 26; i++)
		CHECK(marks_set(&marks, NULL, (int64_t)test_below(1000), i ? "a note" : "", &mark,
				error, sizeof(error)));
	CHECK(!marks_set(&marks, NULL, 5, "", &mark, error, sizeof(error)));
	CHECK_STR(error, "the marks a to z are all set: name this one, or remove one with unmark");
	CHECK(marks_set(&marks, "c", -7, "with\nbreak", &mark, error, sizeof(error)));
	CHECK(mark == &marks.list[0] && marks.n == 26);
	CHECK_STR(mark->note, "with break");
	for (size_t i = 0; i < marks.n; last = marks.list[i++].start_ns)
		CHECK(marks.list[i].start_ns >= last);
	CHECK_INT(marks_from(&marks, -6), 1);
	CHECK(marks_remove(&marks, "d") && !marks_remove(&marks, "d") && !marks_find(&marks, "d"));
	text = marks_text(&marks);
	CHECK(marks_write(text, test_folder(), error, sizeof(error)));
	CHECK(marks_read(&again, test_folder(), error, sizeof(error)));
	CHECK_INT(again.n, 25);
	for (size_t i = 0; i < again.n; i++) {
		CHECK_STR(again.list[i].name, marks.list[i].name);
		CHECK_STR(again.list[i].note, marks.list[i].note);
		CHECK_INT(again.list[i].start_ns, marks.list[i].start_ns);
	}
	CHECK(marks_write("", test_folder(), error, sizeof(error)));
	marks_release(&again);
	CHECK(marks_read(&again, test_folder(), error, sizeof(error)) && !again.n);
	free(text);
	marks_release(&marks);
	marks_release(&again);
}

TEST(marks_with_bad_names_and_lines)
{
	static const char *const bad[] = { "", "a b", "a..b", "12", "1.5s", "step", "median", "run",
					   "start", "averyveryverylongnameofamark", "ä" };
	struct marks marks = { .list = NULL };
	const struct time_mark *mark;
	char error[700];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error[0] = '\0';
		CHECK(!marks_set(&marks, bad[i], 0, "", &mark, error, sizeof(error)) && error[0]);
	}
	CHECK(marks_write("good 12 note\nbad\nx 1y\nstep 3\ny -5\n", test_folder(), error,
			  sizeof(error)));
	CHECK(!marks_read(&marks, test_folder(), error, sizeof(error)));
	CHECK(strstr(error, "/marks:2 is not 'NAME TIME NOTE' and was skipped"));
	CHECK_INT(marks.n, 2);
	CHECK_STR(marks.list[0].name, "y");
	marks_release(&marks);
}

TEST(when_ranges_and_steps)
{
	struct model *model = train();
	struct marks marks = { .list = NULL };
	struct view view = { .marks = &marks, .t0_ns = BASE + 5, .t1_ns = BASE + 25,
			     .cursor_ns = BASE + 35 * MS };
	const struct time_mark *mark;
	struct when when;
	char error[300];

	CHECK(marks_set(&marks, "a", BASE + 3 * MS, "", &mark, error, sizeof(error)));
	CHECK(ASK("1ms", "2ms") && when.t0 == BASE + MS && when.t1 == BASE + 2 * MS &&
	      !when.is_step);
	CHECK(ASK("a..50ms") && when.t0 == BASE + 3 * MS && when.t1 == BASE + 50 * MS);
	CHECK(ASK("start", "cursor") && when.t0 == BASE && when.t1 == BASE + 35 * MS);
	CHECK(ASK("window") && when.t0 == BASE + 5 && when.t1 == BASE + 25);
	CHECK(ASK("run") && when.t0 == BASE);
	CHECK(ASK("step", "3") && when.is_step && when.step == 3 &&
	      when.t1 - when.t0 == 10 * MS + 3000);
	CHECK_STR(when.title, "step 3");
	CHECK(ASK("slowest") && when.step == SLOW);
	CHECK_STR(when.title, "step 7 (slowest)");
	CHECK(ASK("step", "here") && when.step == 3);
	CHECK(ASK("next") && when.step == 4);
	CHECK(ASK("previous") && when.step == 3);
	CHECK(ASK("last") && when.step == STEPS - 1);
	CHECK(ASK("first") && when.step == 0);
	CHECK(ASK("median") && strstr(when.title, " (median)"));
	model_free(model);
	marks_release(&marks);
}

TEST(when_wrong)
{
	struct model *model = train(), *empty = model_with_device();
	struct view view = { .cursor_ns = 0 };
	struct when when;
	char error[300];

	CHECK(!ASK("2ms", "1ms"));
	CHECK_STR(error, "the range ends before it starts: '1ms' is not after '2ms'");
	CHECK(!ASK("20s", "30s"));
	CHECK(strstr(error, "the run ends before '20s': it is 206"));
	CHECK(!ASK("nomark", "30s"));
	CHECK(strstr(error, "'nomark' is neither a time nor a mark"));
	CHECK(!ASK("1ms"));
	CHECK(strstr(error, "a range has two ends: after '1ms'"));
	CHECK(!ASK("step"));
	CHECK(!ASK("step", "99"));
	CHECK_STR(error,
		  "no step '99': a number from 0 to 19, slowest, fastest, median, first, last or "
		  "here");
	CHECK(!ASK("step", "previous"));
	CHECK_STR(error, "no earlier step");
	CHECK(!ASK("selection"));
	CHECK(!ASK("measured"));
	CHECK_STR(error, "nothing is measured: v begins at the cursor");
	model_free(model);
	model = empty;
	CHECK(!ASK("slowest"));
	CHECK_STR(error,
		  "no steps yet: mark them with NVTX or ITT ranges named 'step', or 'step 12'");
	CHECK(!ASK("1ms", "2ms"));
	CHECK_STR(error, "nothing has happened yet");
	model_free(model);
}

/* ---- pages ---- */

#undef PAGE
#define PAGE(make, ...) \
	PAGE_OF(make, (&(struct view){ .cursor_ns = BASE + 35 * MS }), __VA_ARGS__)

/* A page that is looked at once. */
static bool says(char *text, const char *part)
{
	bool found = has(text, part);

	free(text);
	return found;
}

TEST(page_diff_of_steps)
{
	struct model *model = train();
	char error[PAGE_ERROR], *text = PAGE(page_diff, "diff", "slowest");

	CHECK(text && strstr(text, "step 7 (slowest) took 6.00 ms longer than step "));
	CHECK(text && strstr(text, "  –   1.00 ms   +1.00 ms     new        0→1  kernel2\n"));
	CHECK(text && !strstr(text, "kernel1"));	/* as long in both */
	free(text);
	CHECK(says(PAGE(page_diff, "diff", "7", "step", "7"),
		   "step 7 (slowest) took as long as step 7"));
	/* what was new is gone, the other way round */
	CHECK(says(PAGE(page_diff, "diff", "7", "3"), "gone        1→0  kernel2\n"));
	CHECK(says(PAGE(page_diff, "diff"), "step 3 took "));
	CHECK(!PAGE(page_diff, "diff", "1", "2", "3"));
	CHECK_STR(error, "diff compares two, not also '3'");
	CHECK(!PAGE(page_diff, "diff", "/nowhere/report.json"));
	CHECK_STR(error, "cannot read '/nowhere/report.json': No such file or directory");
	CHECK(!PAGE(page_diff, "diff", "99"));
	model_free(model);
}

TEST(page_diff_of_runs)
{
	static const struct report_run run = { .wall_ns = -1, .exit_status = -1 };
	struct model *model = train();
	char path[TEST_PATH_MAX + 20], error[PAGE_ERROR];
	FILE *file;

	snprintf(path, sizeof(path), "%s/run.json", test_folder());
	file = fopen(path, "w");
	CHECK(file);
	report_json(model, &run, file);
	fclose(file);
	CHECK(says(PAGE(page_diff, "diff", path), "this run took as long as run.json\n"));
	CHECK(!PAGE(page_diff, "diff", path, "slowest"));
	CHECK(strstr(error, "cannot be compared with another run"));
	file = fopen(path, "w");
	CHECK(file && fputs("{ \"tftop\": 1 }", file) >= 0 && !fclose(file));
	CHECK(!PAGE(page_diff, "diff", path));
	CHECK(strstr(error, "is no report of tftop (--json=FILE writes one)"));
	file = fopen(path, "w");
	CHECK(file && fputs("hello", file) >= 0 && !fclose(file));
	CHECK(!PAGE(page_diff, "diff", path));
	CHECK(strstr(error, "is not JSON"));
	unlink(path);
	model_free(model);
}

TEST(page_range_of_a_step)
{
	struct model *model = train();
	char error[PAGE_ERROR];

	CHECK(says(PAGE(page_range, "range", "step", "7"),
		   "   1.00 ms    25 %        1  kernel2\n"));
	CHECK(says(PAGE(page_range, "range", "0s", "15ms"), "steps    0 1 \n"));
	CHECK(says(PAGE(page_range, "range", "0s", "15ms"), "h2d  2.00 GB/s  977 KiB\n"));
	CHECK(!PAGE(page_range, "range", "2ms", "1ms"));
	CHECK(!PAGE(page_range, "range", "step", "3", "4"));
	CHECK_STR(error, "one range only, not also '4'");
	model_free(model);
}

TEST(page_gaps_of_a_queue)
{
	struct model *model = train();
	struct model_row row = row_of(model, ROW_QUEUE, 0);
	char id[16], error[PAGE_ERROR];

	snprintf(id, sizeof(id), "%u", row.id);
	CHECK(says(PAGE(page_gaps, "gaps", "run", "-r", id, "-n", "2"), "   13.0 ms  "));
	CHECK(says(PAGE(page_gaps, "gaps", "run", "-r", id, "-n", "2"), "… and shorter ones"));
	CHECK(says(PAGE(page_gaps, "gaps", "0ns", "1ms", "-r", id), "no gap between two events"));
	CHECK(!PAGE(page_gaps, "gaps", "run"));
	CHECK_STR(error, "no row under the cursor: -r ROW, or j and k");
	CHECK(!PAGE(page_gaps, "gaps", "run", "-r", "999"));
	CHECK(!PAGE(page_gaps, "gaps", "run", "-r", id, "-n", "0"));
	CHECK_STR(error, "not a number from 1 to 1000: '0'");
	CHECK(!PAGE(page_gaps, "gaps", "run", "-x"));
	model_free(model);
}

/* Of a report, what the host did counts by state and function, whatever the lines. */
TEST(side_of_a_report_has_the_host)
{
	static const char report[] =
		"{\"tftop\": \"1\", \"kernels\": [], \"steps\": {\"count\": 10, \"mean_ns\": 900, "
		"\"breakdown\": {\"host_ns\": 800, \"host\": ["
		"{\"state\": \"sleep\", \"ns\": 300, \"file\": \"/a/load.py\", \"line\": 3, "
		"\"function\": \"load\"},"
		"{\"state\": \"sleep\", \"ns\": 200, \"file\": \"/a/load.py\", \"line\": 5, "
		"\"function\": \"load\", \"what\": \"nothing\"},"
		"{\"state\": \"native\", \"ns\": 50, \"what\": \"gemm in libm.so\"},"
		"{\"state\": \"no CPU\", \"ns\": 7}, {\"ns\": 1}, 3]}}}";
	static const struct { const char *name; int64_t ns; } wanted[] = {
		{ "", 1 }, { "native in gemm in libm.so", 50 }, { "no CPU", 7 },
		{ "sleep in load, load.py", 500 },
	};
	struct side side;
	char error[128];
	size_t k = 0;

	CHECK(side_of_report(&side, json_read(report, strlen(report)), "r", error, sizeof(error)));
	for (size_t i = 0; i < side.n; i++) {
		const struct side_item *item = &side.items[i];

		if (item->table != SIDE_HOST || (!*item->name && !item->ns))
			continue;
		CHECK(k < 4);
		CHECK_STR(item->name, wanted[k].name);
		CHECK_INT(item->ns, wanted[k].ns);
		k++;
	}
	CHECK_INT(k, 4);
	side_release(&side);
}

/* The sides of a range are the parts of the walk: kernels' and ops' time add up. */
TEST(side_adds_up)
{
	struct model *model = train();
	struct when when = { .t0 = BASE + 12 * MS, .t1 = BASE + 97 * MS + 1 };
	struct side side, a, b;

	side_of_range(&side, model, &when, NULL);
	when.t1 = BASE + 51 * MS;
	side_of_range(&a, model, &when, NULL);
	when.t0 = when.t1;
	when.t1 = BASE + 97 * MS + 1;
	side_of_range(&b, model, &when, NULL);
	for (int table = 0; table < SIDE_TABLES; table++)
		CHECK_INT(side_sum(&side, (enum side_table)table),
			  side_sum(&a, (enum side_table)table) +
				  side_sum(&b, (enum side_table)table));
	CHECK(side_sum(&side, SIDE_KERNEL) > 0 && side_sum(&side, SIDE_DEVICE) == side.length_ns);
	CHECK_INT(side_sum(&side, SIDE_OP_DEVICE),
		  side_sum(&side, SIDE_KERNEL) + side_sum(&side, SIDE_COPY));
	side_release(&side);
	side_release(&a);
	side_release(&b);
	model_free(model);
}
