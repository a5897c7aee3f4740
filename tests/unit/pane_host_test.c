/* SPDX-License-Identifier: MIT */
/* At which lines devices wait for the host: the rows of the model, pane 9, and CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/columns/host.h"
#include "model/export/foreign.h"
#include "tests/unit/command_call.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"

#define MS INT64_C(1000000)
#define WIDTH 100
#define HEIGHT 12

static struct event doing(uint32_t pid, enum doing_kind kind, uint32_t frame, int64_t start_ns,
			  int64_t dur_ns)
{
	struct event event = {
		.type = EVENT_DOING, .pid = pid, .tid = pid, .time_ns = BASE + start_ns + dur_ns,
	};

	event.u.doing = (struct event_doing) {
		.tid = pid, .looks = 2, .start_ns = BASE + start_ns, .dur_ns = dur_ns,
		.ns = dur_ns, .frame = frame, .doing = (uint8_t)kind,
	};
	return event;
}

static void frame_of(struct model *model, uint32_t id, uint32_t file, uint32_t line)
{
	struct event event = { .type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE };

	event.u.frame = (struct event_frame) {
		.id = id, .file = file, .function = 31, .line = line,
	};
	apply_one(model, event);
}

/* Turns of 100 ms. The thread sleeps at line 25 for 55 ms and waits for a file for 20, in no line
 * that is known; it runs Python at line 40 for the last 20. With kernels, the first 10 ms of each
 * turn are those of the device, which waits for the rest. */
static struct model *turns_of(int turns, bool kernels)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/loader.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "load"));
	apply_one(model, ev_name(32, NAME_SOURCE, "/data/batches"));
	frame_of(model, 1, 30, 25);
	frame_of(model, 2, 30, 40);
	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 10000);
		struct event file = doing(PID, DOING_FILE, 0, at + 60 * MS, 20 * MS);

		if (kernels)
			apply_one(model, kernel);
		file.u.doing.what = 32;
		apply_one(model, doing(PID, DOING_SLEEP, 1, at + 5 * MS, 55 * MS));
		apply_one(model, file);
		apply_one(model, doing(PID, DOING_PYTHON, 2, at + 80 * MS, 20 * MS));
	}
	return model;
}

TEST(host_lines_of_the_run)
{
	struct model *model = turns_of(50, true), *again;
	struct host_line_row *rows;

	apply_one(model, ev_process(77, "other"));
	apply_one(model, doing(77, DOING_SLEEP, 0, 0, 30 * MS));
	model_finish(model, false);
	again = saved_again(model);
	for (int k = 0; k < 2; k++) {
		CHECK_INT(model_host_lines(k ? again : model, &rows), 4);
		CHECK_INT(rows[0].doing, DOING_SLEEP);
		CHECK_STR(rows[0].file, "/home/me/loader.py");
		CHECK_STR(rows[0].function, "load");
		CHECK_INT(rows[0].line, 25);
		CHECK_INT(rows[0].pid, PID);
		CHECK_INT(rows[0].ns, 50 * 55 * MS);
		CHECK_INT(rows[0].looks, 100);
		/* of 49 gaps; the first 5 ms of each sleep are under the kernel */
		CHECK(rows[0].waited_ns > 47 * 50 * MS && rows[0].waited_ns <= 49 * 50 * MS);
		CHECK_INT(rows[1].doing, DOING_FILE);
		CHECK_STR(rows[1].what, "/data/batches");
		CHECK_STR(rows[1].file, "");
		CHECK_INT(rows[1].line, 0);
		CHECK_INT(rows[2].line, 40);
		CHECK(rows[1].waited_ns >= rows[2].waited_ns && rows[2].waited_ns > 0);
		/* no device waited for the other process */
		CHECK_INT(rows[3].pid, 77);
		CHECK_INT(rows[3].waited_ns, 0);
		CHECK_INT(rows[3].ns, 30 * MS);
		free(rows);
	}
	model_free(model);
	model_free(again);
	model = model_with_device();
	CHECK_INT(model_host_lines(model, &rows), 0);
	CHECK(!rows);
	model_free(model);
}

/* ---- the pane ---- */

static struct pane *pane_on(struct view *view, struct model *model)
{
	struct pane *pane;

	*view = (struct view) { .model = model };
	pane = pane_host.open(view);
	pane->ops = &pane_host;
	model_lock(model);
	pane_host.update(pane, view, WIDTH, HEIGHT);
	model_unlock(model);
	return pane;
}

/* What it draws; the caller's to free. */
static char *drawn(struct pane *pane, struct view *view, int width)
{
	struct grid grid = { 0 };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	grid_init(&grid, width, HEIGHT);
	pane_host.draw(pane, view, grid_area(&grid), true);
	grid_save(&grid, out, false);
	fclose(out);
	grid_release(&grid);
	return text;
}

static unsigned run_in(struct pane *pane, struct view *view, const char *const *argv, int argc)
{
	struct command_call call = call_of(argc, argv);

	return pane_host.command(pane, view, &call);
}

TEST(host_pane_opens_the_line)
{
	static const char *const open[] = { "open" }, *const down[] = { "row-down" };
	struct model *model = turns_of(50, true);
	struct view view;
	struct pane *pane;
	char *text;

	model_finish(model, false);
	pane = pane_on(&view, model);
	text = drawn(pane, &view, WIDTH);
	CHECK(strstr(text, "sleep ") && strstr(text, "loader.py:25") && strstr(text, " load "));
	CHECK(strstr(text, "file /data/batches") && strstr(text, "loader.py:40"));
	CHECK(strstr(text, "waited ▾") && strstr(text, "2.75 s") && strstr(text, "3 rows"));
	/* there is only one process */
	CHECK(!strstr(text, "pid") && !strstr(text, "4121"));
	CHECK(!strstr(text, "no device has waited"));
	free(text);
	CHECK_INT(run_in(pane, &view, open, 1), OUT_RUN_COMMAND);
	CHECK(strstr(view.run_command, "ps ") && strstr(view.run_command, "/home/me/loader.py:25"));
	run_in(pane, &view, down, 1);
	view.run_command = NULL;
	CHECK_INT(run_in(pane, &view, open, 1), OUT_REDRAW);
	CHECK(!view.run_command);
	CHECK_STR(view.status, "the line of this row is unknown");
	pane_host.close(pane);
	model_free(model);
}

/* Of a program without devices the rows are in the order of their time. */
TEST(host_pane_without_devices)
{
	static const char *const where[] = { "where", "line = 40 && pid = 4121" };
	struct model *model = turns_of(3, false);
	struct view view;
	struct pane *pane;
	const struct host_line *line;
	char *text;

	apply_one(model, ev_process(77, "other"));
	apply_one(model, doing(77, DOING_LOCK, 0, 0, 200 * MS));
	model_finish(model, false);
	pane = pane_on(&view, model);
	line = table_current(pane_host.table(pane));
	CHECK(line && line->row.doing == DOING_LOCK && !line->waits);
	text = drawn(pane, &view, 120);
	CHECK(strstr(text, "no device has waited for the host"));
	CHECK(!strstr(text, "waited ▾") && strstr(text, "total ▾"));
	CHECK(strstr(text, "pid") && strstr(text, "4121") && strstr(text, "  77 "));
	/* the share is that of all time: 200 of 485 ms */
	CHECK(strstr(text, "41 %"));
	free(text);
	run_in(pane, &view, where, 2);
	line = table_current(pane_host.table(pane));
	CHECK(line && line->row.line == 40);
	pane_host.close(pane);
	model_free(model);
}

TEST(host_pane_says_why_it_is_empty)
{
	struct model *model = model_with_device();
	struct view view;
	struct pane *pane = pane_on(&view, model);
	char *text = drawn(pane, &view, 80);

	CHECK(strstr(text, "no thread was looked at yet: the probes do so at the levels default "
			   "and full"));
	free(text);
	pane_host.close(pane);
	model_free(model);
}

TEST(host_lines_as_csv)
{
	struct model *model = turns_of(3, false);
	struct foreign_options options = { .model = model, .from_ns = INT64_MIN };
	struct foreign_result result;
	char *text, error[320] = "";
	size_t size;

	model_finish(model, false);
	CHECK(foreign_parse("csv:host", &options.kind, error, sizeof(error)));
	options.out = open_memstream(&text, &size);
	CHECK(foreign_write(&options, &result, error, sizeof(error)));
	fclose(options.out);
	CHECK_INT(result.written, 3);
	CHECK_STR(text, "pid,state,what,file,line,function,waited,total,looks\r\n"
			"4121,sleep,,/home/me/loader.py,25,load,0,165000000,6\r\n"
			"4121,Python,,/home/me/loader.py,40,load,0,60000000,6\r\n"
			"4121,file,/data/batches,,,,0,60000000,6\r\n");
	free(text);
	model_free(model);
}
