/* SPDX-License-Identifier: MIT */
/*
 * All panes and the header on a made-up run: at any size, after any commands,
 * nothing is drawn outside of the area that was given, nothing crashes, and
 * ASCII means ASCII.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/setting.h"
#include "keymap/words.h"
#include "tests/unit/command_call.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/terminal/output.h"
#include "tui/draw/pane.h"
#include "tui/panes/pane_table.h"
#include "tui/timeline/sentence.h"
#include "tui/run/synth.h"
#include "tui/draw/window.h"
#include "tui/loop/header.h"

#define SECOND INT64_C(1000000000)
#define PANES 16

struct stage {
	struct model *model;
	struct synth *synth;
	struct program_output *output;
	struct header *header;
	struct pane *panes[PANES];
	struct view view;
	struct settings settings;
	struct model_status status;
	struct grid grid;
};

static void stage_open(struct stage *stage, int64_t until_ns)
{
	struct model_options options = {0};
	size_t i;

	memset(stage, 0, sizeof(*stage));
	stage->model = model_new(&options);
	stage->synth = synth_new(7, "", stage->model);
	stage->output = output_new();
	if (until_ns >= 0)
		synth_advance(stage->synth, until_ns, stage->output);
	stage->view.model = stage->model;
	stage->view.output = stage->output;
	stage->view.minimap = true;
	settings_init(&stage->settings);
	stage->view.settings = &stage->settings;
	stage->header = header_new();
	for (i = 0; i < pane_count && i < PANES; i++) {
		if (!pane_table[i])
			continue;
		stage->panes[i] = pane_table[i]->open(&stage->view);
		stage->panes[i]->ops = pane_table[i];
	}
	model_lock(stage->model);
	model_status(stage->model, &stage->status);
	model_unlock(stage->model);
	stage->view.now_ns = stage->status.live_ns;
}

static void stage_close(struct stage *stage)
{
	size_t i;

	for (i = 0; i < PANES; i++)
		if (stage->panes[i])
			stage->panes[i]->ops->close(stage->panes[i]);
	header_free(stage->header);
	grid_release(&stage->grid);
	synth_free(stage->synth);
	output_free(stage->output);
	model_free(stage->model);
}

static void look_at(struct stage *stage, int width, int level, int percent)
{
	struct window window = {level, 1, 0};

	stage->view.gutter = width < 100 ? (width < 32 ? width / 2 : 16) : 18;
	stage->view.columns = width - stage->view.gutter > 0 ? width - stage->view.gutter : 1;
	window_resize(&window, stage->view.columns);
	window_place(&window, stage->view.now_ns, percent);
	stage->view.t0_ns = window.t0_ns;
	stage->view.t1_ns = window_end_ns(&window);
}

static void frame_clear(struct stage *stage, int width, int height)
{
	grid_release(&stage->grid);
	grid_init(&stage->grid, width + 2, height + 2);
	area_fill(grid_area(&stage->grid), 0, 0, width + 2, height + 2, '@', ROLE_LOST,
		  ROLE_DEFAULT, 0);
	area_fill(grid_area(&stage->grid), 1, 1, width, height, ' ', ROLE_DEFAULT,
		  ROLE_DEFAULT, 0);
}

static void check_frame(const struct stage *stage)
{
	const struct grid *grid = &stage->grid;
	int x, y;

	for (y = 0; y < grid->height; y++)
		for (x = 0; x < grid->width; x++) {
			const struct cell *cell = &grid->cells[y * grid->width + x];

			if (!x || !y || x == grid->width - 1 || y == grid->height - 1)
				CHECK(cell->ch == '@' && cell->fg == ROLE_LOST);
			CHECK(cell->fg < ROLE_COUNT && cell->bg < ROLE_COUNT);
		}
}

static void show(struct stage *stage, size_t i, int width, int height)
{
	struct area area;

	model_lock(stage->model);
	if (stage->panes[i]->ops->update)
		stage->panes[i]->ops->update(stage->panes[i], &stage->view, width, height);
	model_unlock(stage->model);
	frame_clear(stage, width, height);
	area = area_sub(grid_area(&stage->grid), 1, 1, width, height);
	stage->panes[i]->ops->draw(stage->panes[i], &stage->view, area, i % 2 == 0);
	check_frame(stage);
}

static void show_header(struct stage *stage, int width, int height)
{
	int lines;

	model_lock(stage->model);
	lines = header_update(stage->header, &stage->view, width, height);
	model_unlock(stage->model);
	CHECK(lines >= 0 && lines <= height);
	frame_clear(stage, width, height);
	header_draw(stage->header, &stage->view,
		    area_sub(grid_area(&stage->grid), 1, 1, width, lines));
	check_frame(stage);
}

static const int widths[] = { 1, 2, 3, 7, 16, 31, 60, 80, 121, 300 };
static const int heights[] = { 1, 2, 3, 4, 5, 6, 11, 24, 100 };

static void all_sizes(struct stage *stage)
{
	size_t w, h, i;

	for (w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
		for (h = 0; h < sizeof(heights) / sizeof(heights[0]); h++) {
			stage->view.ascii = (w + h) % 3 == 0;
			stage->view.colour = (w + h) % 2 == 0;
			stage->view.following = h % 2 == 0;
			stage->view.shades = stage->view.colour && h % 3;
			stage->settings.value[SETTING_COLOUR_BY] = (int)(w * 3 + h) % 5;
			stage->settings.value[SETTING_DENSITY] = w % 2;
			stage->settings.value[SETTING_COUNTER_LINES] = 1 + (int)(w + h) % 4;
			look_at(stage, widths[w], 30 + (int)(w * 5 + h), 80);
			show_header(stage, widths[w], heights[h] < 7 ? heights[h] : 7);
			for (i = 0; i < PANES; i++)
				if (stage->panes[i])
					show(stage, i, widths[w], heights[h]);
		}
}

TEST(panes_at_all_sizes)
{
	static const int64_t times[] = { -1, 0, 900000000, 6 * SECOND };
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct stage stage;

		stage_open(&stage, times[i]);
		all_sizes(&stage);
		if (i == 3) {
			model_finish(stage.model, false);
			all_sizes(&stage);
		}
		stage_close(&stage);
	}
}

/* How a pane is drawn: each of the five by colour, ASCII and shades, in turn. */
static void show_as(struct stage *stage, int width, int height, int turn)
{
	stage->view.ascii = turn % 3 == 0;
	stage->view.colour = turn % 2 == 0;
	stage->view.shades = turn % 4 == 0;
	stage->view.following = turn % 5 == 0;
	stage->settings.value[SETTING_COUNTER_LINES] = 1 + turn % 4;
	look_at(stage, width, 30 + turn % 20, 80);
	show_header(stage, width, height < 7 ? height : 7);
	for (size_t i = 0; i < PANES; i++)
		if (stage->panes[i])
			show(stage, i, width, height);
}

/* Each width from 1 to 500 and each height from 1 to 200, at some of the other. */
TEST(panes_at_every_width_and_height)
{
	struct stage stage;

	stage_open(&stage, 3 * SECOND);
	stage.view.compare.shown = stage.view.compare.previous = true;
	for (int width = 1; width <= 500; width++)
		show_as(&stage, width, 1 + width * 67 % 200, width);
	for (int height = 1; height <= 200; height++)
		for (int i = 0; i < 2; i++)
			show_as(&stage, 1 + (height * 131 + i * 83) % 500, height, height + i);
	stage_close(&stage);
}

TEST(panes_at_all_zooms)
{
	struct stage stage;
	int level;

	stage_open(&stage, 5 * SECOND);
	stage.view.colour = true;
	for (level = 0; level <= WINDOW_LEVEL_MAX; level++) {
		look_at(&stage, 120, level, 50);
		show(&stage, 0, 120, 24);
	}
	stage_close(&stage);
}

static const char *const commands[] = {
	"row-down", "row-up", "page-down", "page-up", "first-row", "last-row", "next-event",
	"prev-event", "longest-event", "to-op", "to-kernel", "open", "fold", "unfold",
	"toggle-fold", "deselect", "next-sort", "reverse", "zoom-in", "rows pin", "rows up",
	"rows down", "rows hide", "rows reset", "rows order name", "rows order start",
	"rows hide queue", "rows only main|gpu", "rows show h2d", "rows find copy",
};

/* What a pane answers to a command is what pane.h allows, and the cursor is
 * always on a row that there is. */
TEST(panes_after_any_commands)
{
	const unsigned known = OUT_RUN_COMMAND | OUT_UNKNOWN | OUT_REDRAW | OUT_LAYOUT |
			       OUT_FREEZE | OUT_FOLLOW | OUT_SHOW_CURSOR | OUT_FOCUS_TIMELINE |
			       OUT_SHOW_RANGE | OUT_SHOW_PANE | OUT_RUN_COMMAND;
	struct stage stage;
	char error[200];
	int i;

	stage_open(&stage, 4 * SECOND);
	look_at(&stage, 100, 40, 60);
	for (i = 0; i < 3000; i++) {
		size_t pane = test_random() % PANES;
		const char *name = commands[test_random() %
					    (sizeof(commands) / sizeof(commands[0]))];
		struct words words;
		struct command_call call;
		unsigned out;

		if (!stage.panes[pane])
			continue;
		if (test_random() % 50 == 0)
			look_at(&stage, 100, 36 + (int)(test_random() % 30), 60);
		CHECK(words_split(&words, name, error, sizeof(error)));
		call = call_of(words.argc, words.argv);
		stage.settings.value[SETTING_COUNTER_LINES] = 1 + (int)(test_random() % 4);
		out = stage.panes[pane]->ops->command(stage.panes[pane], &stage.view, &call);
		words_release(&words);
		CHECK((out & ~known) == 0);
		if (strcmp(name, "zoom-in") == 0)
			CHECK(out == OUT_UNKNOWN);
		if (out & OUT_FREEZE)
			stage.view.following = false;
		if (out & OUT_SHOW_RANGE)
			stage.panes[0]->ops->reveal(stage.panes[0], &stage.view, NULL);
		show(&stage, pane, 100, 20);
		show(&stage, 0, 100, 20);
		CHECK(stage.view.cursor_row != 0);
	}
	stage_close(&stage);
}

/* From a kernel to the op that launched it and back to the op's first work. */
TEST(panes_jump_between_kernel_and_op)
{
	static const char *const steps[] = { "longest-event", "to-op", "to-kernel" };
	struct stage stage;
	struct span span;
	int i;

	stage_open(&stage, 5 * SECOND);
	/* Not at the live edge, where things are still announced. */
	stage.view.now_ns -= SECOND;
	look_at(&stage, 120, 42, 90);
	show(&stage, 0, 120, 24);
	for (i = 0; i < 3; i++) {
		struct command_call call = call_of(1, &steps[i]);
		bool found;
		unsigned out = stage.panes[0]->ops->command(stage.panes[0], &stage.view, &call);

		CHECK_STR(stage.view.status, "");
		CHECK(out & OUT_SHOW_CURSOR);
		model_lock(stage.model);
		found = model_span(stage.model, stage.view.selected, &span);
		model_unlock(stage.model);
		CHECK(found);
		CHECK((span.kind == COMMAND_NONE) == (i == 1));
		CHECK(stage.view.cursor_row == span.ref.row);
		show(&stage, 0, 120, 24);
		CHECK(stage.view.cursor_row == span.ref.row);
	}
	stage_close(&stage);
}

/* What the row did stays, what it waited for gives way, then how many events it had. */
TEST(sentence_on_narrow_screens)
{
	static const struct { int width; const char *text;
	} seen[] = {
		{ 120, "queue 0   busy 71 % of the window   1 440 events in all   idle 235 "
		       "\u00b5s: input "
		       "98.6 \u00b5s \u00b7 launch 86.7 \u00b5s\n" },
		{ 78,
		  "queue 0   busy 71 % of the window   idle 235 \u00b5s: input 98.6 \u00b5s \u00b7 "
		  "launch 86.7 \u2026\n" },
		{ 40, "queue 0   busy 71 % of the window\n" },
		{ 20, "queue 0\n" },
	};
	struct idle_gap gap = {.end_ns = 235000};
	struct strip strip;

	gap.ns[IDLE_INPUT] = 98600;
	gap.ns[IDLE_LAUNCH] = 86700;
	for (size_t i = 0; i < sizeof(seen) / sizeof(*seen); i++) {
		char *text = NULL;
		struct grid grid;
		size_t size;
		FILE *file = open_memstream(&text, &size);

		sentence_of_row(&strip, "queue 0", 71, 100, 1440);
		sentence_add_idle(&strip, &gap, false);
		grid_init(&grid, seen[i].width, 1);
		strip_draw(&strip, grid_area(&grid), 0, ROLE_DEFAULT, 0, false);
		grid_save(&grid, file, false);
		fclose(file);
		CHECK_STR(text, seen[i].text);
		free(text);
		grid_release(&grid);
	}
}

/* The header's lines as text, one after the other. */
static void header_text(struct header *header, struct view *view, char *text, size_t size)
{
	FILE *file = tmpfile();
	struct grid grid;
	size_t length;

	model_lock(view->model);
	header_update(header, view, 120, 5);
	model_unlock(view->model);
	grid_init(&grid, 120, 5);
	header_draw(header, view, grid_area(&grid));
	grid_save(&grid, file, false);
	rewind(file);
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
	grid_release(&grid);
}

/* A kernel of half a minute is work from its launch on. */
TEST(header_knows_what_has_not_ended)
{
	struct view view = {.model = model_with_device(), .following = true, .ascii = true};
	struct event open = ev_kernel(1, 1, 2, 10, 1000);
	struct header *header = header_new();
	char text[4096];

	open.u.command.flags = CMD_OPEN;
	apply_one(view.model, open);
	apply_one(view.model, ev_alive(BASE + 30 * SECOND));
	header_text(header, &view, text, sizeof(text));
	CHECK(strstr(text, "idle   0 %"));
	apply_one(view.model, ev_kernel(1, 1, 1, 0, 1000));
	header_text(header, &view, text, sizeof(text));
	CHECK(!strstr(text, "nothing has happened"));
	/* When it has ended, nothing happens any more. */
	apply_one(view.model, ev_kernel(1, 1, 2, 10, 1000));
	header_text(header, &view, text, sizeof(text));
	CHECK(strstr(text, "nothing has happened"));
	/* Nor does what nobody looks at. */
	apply_one(view.model, (struct event) { .type = EVENT_LEVEL, .pid = PID, .tid = PID,
			.time_ns = BASE + 31 * SECOND, .u.level_now = { BASE + 31 * SECOND, 0 } });
	apply_one(view.model, ev_alive(BASE + 60 * SECOND));
	header_text(header, &view, text, sizeof(text));
	CHECK(strstr(text, "the level has been off for 29 s") &&
	      !strstr(text, "nothing has happened"));
	header_free(header);
	model_free(view.model);
}

static void busy(struct model *model, int64_t at_s, int64_t percent)
{
	struct event event = { .type = EVENT_COUNTER, .pid = PID, .time_ns = BASE + at_s * SECOND };

	event.u.counter = (struct event_counter) { 7, BASE + at_s * SECOND, percent };
	apply_one(model, event);
}

/* Launches go on, or a sensor says that the device works, and no kernel is heard of. */
TEST(header_knows_when_it_is_deaf)
{
	struct view view = {.model = model_with_device(), .following = true, .ascii = true};
	struct event series = { .type = EVENT_SERIES, .pid = PID, .time_ns = BASE };
	struct header *header = header_new();
	char text[4096];

	series.u.series = (struct event_series) { 7, 1, "gpu utilisation", "%" };
	apply_one(view.model, series);
	apply_one(view.model, ev_kernel(1, 1, 1, 0, 1000));
	header_text(header, &view, text, sizeof(text));
	for (uint32_t i = 2; i < 12; i++) {
		struct event open = ev_kernel(1, 1, i, SECOND, 1000);

		open.u.command.flags = CMD_OPEN;
		open.u.command.call_ns = BASE + SECOND;
		apply_one(view.model, open);
		apply_one(view.model, ev_alive(BASE + (i == 11 ? 5 : 1) * SECOND));
		header_text(header, &view, text, sizeof(text));
		CHECK(!strstr(text, "no kernel ended for 4 s, 10 launched") == (i < 11));
	}
	for (uint32_t i = 2; i < 12; i++)
		apply_one(view.model, ev_kernel(1, 1, i, 2 * SECOND, 1000));
	header_text(header, &view, text, sizeof(text));
	CHECK(!strstr(text, "no kernel ended"));
	busy(view.model, 8, 12);
	apply_one(view.model, ev_alive(BASE + 9 * SECOND));
	header_text(header, &view, text, sizeof(text));
	CHECK(!strstr(text, "no kernel ended"));
	busy(view.model, 9, 73);
	header_text(header, &view, text, sizeof(text));
	CHECK(strstr(text, "a GPU is 73 % busy, but no kernel ended for 4 s"));
	header_free(header);
	model_free(view.model);
}

/* Whoever does not look at pane 8 sees that it has something to say. */
TEST(panes_tab_of_messages_counts_warnings)
{
	struct view view = {.model = model_new(NULL)};
	struct model_status status;
	char text[32];

	model_message(view.model, 0, "news");
	model_message(view.model, 1, "a warning");
	model_message(view.model, 2, "an error");
	model_lock(view.model);
	model_status(view.model, &status);
	model_unlock(view.model);
	view.warnings = status.warnings;
	pane_messages.tab(NULL, &view, text, sizeof(text));
	CHECK_STR(text, "8 messages 2!");
	model_free(view.model);
}
