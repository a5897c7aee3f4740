/* SPDX-License-Identifier: MIT */
/* Findings before the eye: pane 6, the header's line, the report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/base/util.h"
#include "tests/unit/command_call.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/base/json_read.h"
#include "tui/terminal/output.h"
#include "tui/draw/places.h"
#include "tui/report/report.h"
#include "tui/run/synth.h"
#include "tui/panes/pane_table.h"
#include "tui/loop/header.h"

#define SECOND INT64_C(1000000000)

struct stage {
	struct model *model;
	struct synth *synth;
	struct program_output *output;
	struct pane *pane;
	struct header *header;
	struct view view;
	struct grid grid;
	char *text;			/* owned; of the last picture */
	size_t size;
};

static const struct finding input_bound = {
	.id = "input-bound", .subject = 1, .severity = SEVERITY_WARNING, .cost_ns = 18500000,
	.title = "input-bound: 23 % of each step waits for IteratorGetNext",
	.lines = { "Iterator::Root::Batch::Map runs on one thread and accounts for 96 % of that "
		   "wait" },
	.advice = "with num_parallel_calls=8 the stage would need about 2.9 ms; prefetch(1) would "
		  "hide it behind the step",
	.evidence = { .kind = EVIDENCE_TIME, .t0 = SECOND, .t1 = SECOND + 20000000, .row = 3 },
};

static const struct finding copy_bound = {
	.id = "copy-bound",
	.subject = 1,
	.severity = SEVERITY_WARNING,
	.cost_ns = 4100000,
	.title = "copy on the critical path: 51 380 224 bytes host→device per step, pageable, "
		 "before conv2d_1 (12.5 GB/s)",
	.advice =
		"pinned memory or a copy on another stream during the previous step would hide it",
	.evidence = { .kind = EVIDENCE_COPIES, .key = "h2d" },
};

static const struct finding small_kernels = {
	.id = "small-kernels", .subject = 7, .severity = SEVERITY_NOTE, .cost_ns = 2200000,
	.title = "small kernels: 212 under 5 µs per step on stream 7, gaps between launches take "
		 "38 % of that time",
};

/* Two reviews that see these. */
static void see(struct stage *stage, int reviews, const struct finding *a, const struct finding *b,
		const struct finding *c)
{
	struct findings *findings = analyses_findings(stage->model);

	for (; reviews; reviews--) {
		findings_begin(findings);
		if (a)
			finding_add(findings, a);
		if (b)
			finding_add(findings, b);
		if (c)
			finding_add(findings, c);
		findings_end(findings, false);
	}
}

static void begin(struct stage *stage)
{
	memset(stage, 0, sizeof(*stage));
	stage->model = model_new(NULL);
	stage->synth = synth_new(7, "", stage->model);
	stage->output = output_new();
	synth_advance(stage->synth, 2 * SECOND, stage->output);
	stage->view.model = stage->model;
	stage->view.output = stage->output;
	stage->pane = pane_findings.open(&stage->view);
	stage->pane->ops = &pane_findings;
	stage->header = header_new();
}

static void finish(struct stage *stage)
{
	pane_findings.close(stage->pane);
	header_free(stage->header);
	grid_release(&stage->grid);
	synth_free(stage->synth);
	output_free(stage->output);
	model_free(stage->model);
	free(stage->text);
}

static const char *picture(struct stage *stage)
{
	FILE *file;

	free(stage->text);
	file = open_memstream(&stage->text, &stage->size);
	if (stage->view.ascii)
		grid_to_ascii(&stage->grid);
	grid_save(&stage->grid, file, false);
	fclose(file);
	return stage->text;
}

static void new_grid(struct stage *stage, int width, int height)
{
	grid_release(&stage->grid);
	grid_init(&stage->grid, width, height);
}

static const char *pane_at(struct stage *stage, int width, int height)
{
	model_lock(stage->model);
	model_findings(stage->model, &stage->view.findings, NULL);
	pane_findings.update(stage->pane, &stage->view, width, height);
	model_unlock(stage->model);
	new_grid(stage, width, height);
	pane_findings.draw(stage->pane, &stage->view, grid_area(&stage->grid), true);
	return picture(stage);
}

static const char *header_at(struct stage *stage, int width, int most, int *lines)
{
	model_lock(stage->model);
	model_findings(stage->model, &stage->view.findings, NULL);
	*lines = header_update(stage->header, &stage->view, width, most);
	model_unlock(stage->model);
	new_grid(stage, width, *lines);
	header_draw(stage->header, &stage->view, grid_area(&stage->grid));
	return picture(stage);
}

static unsigned command(struct stage *stage, const char *name)
{
	const char *argv[] = { name };
	struct command_call call = call_of(1, argv);

	return pane_findings.command(stage->pane, &stage->view, &call);
}

TEST(findings_pane_says_what_costs_what)
{
	struct stage stage;
	const char *text;
	char tab[64];

	begin(&stage);
	text = pane_at(&stage, 120, 12);
	CHECK(strstr(text, "nothing found"));
	pane_findings.tab(stage.pane, &stage.view, tab, sizeof(tab));
	CHECK_STR(tab, "6 findings");
	see(&stage, 2, &copy_bound, &small_kernels, &input_bound);
	text = pane_at(&stage, 120, 12);
	CHECK(strstr(text, " findings  "));
	CHECK(strstr(text, "▸! input-bound: 23 % of each step waits for IteratorGetNext  "));
	CHECK(strstr(text, "costs 18.5 ms\n"));
	CHECK(strstr(text, "\n       Iterator::Root::Batch::Map runs on one thread and accounts "
			   "for 96 % of that wait "));
	CHECK(strstr(text, "→ show\n"));
	CHECK(strstr(text, " · small kernels: 212"));
	pane_findings.tab(stage.pane, &stage.view, tab, sizeof(tab));
	CHECK_STR(tab, "6 findings 3!");
	see(&stage, 3, &small_kernels, NULL, NULL);
	pane_at(&stage, 120, 12);
	pane_findings.tab(stage.pane, &stage.view, tab, sizeof(tab));
	CHECK_STR(tab, "6 findings 1");
	finish(&stage);
}

/* Every word of each finding is there, however narrow the screen. */
TEST(findings_pane_breaks_lines_and_scrolls)
{
	static const char *const words[] = { "IteratorGetNext", "num_parallel_calls=8", "(12.5",
					     "stream", "gaps", "2.20 ms" };
	static const int widths[] = { 40, 60, 69, 70, 80, 200 };
	struct stage stage;

	begin(&stage);
	see(&stage, 2, &copy_bound, &small_kernels, &input_bound);
	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
		const char *text = pane_at(&stage, widths[w], 60);

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (!strstr(text, words[i]))
				test_fail(__FILE__, __LINE__, "no '%s' at %d", words[i], widths[w]);
	}
	/* four lines: the cursor's finding is what is seen */
	CHECK(strstr(pane_at(&stage, 120, 5), "input-bound"));
	command(&stage, "last-row");
	CHECK(strstr(pane_at(&stage, 120, 5), "small kernels"));
	CHECK(!strstr(stage.text, "input-bound"));
	command(&stage, "row-up");
	CHECK(strstr(pane_at(&stage, 120, 5), "▸! copy on"));
	stage.view.ascii = true;
	for (const char *p = pane_at(&stage, 80, 20); *p; p++)
		CHECK(*p > 0);
	CHECK(strstr(stage.text, ">! copy on the critical path"));
	CHECK(strstr(stage.text, "> show"));
	finish(&stage);
}

TEST(findings_pane_cursor_stays_with_its_finding)
{
	struct finding dear = copy_bound;
	struct stage stage;

	begin(&stage);
	dear.cost_ns = 40000000;
	see(&stage, 2, &copy_bound, &small_kernels, &input_bound);
	pane_at(&stage, 120, 20);
	command(&stage, "row-down");
	CHECK(strstr(pane_at(&stage, 120, 20), "▸! copy on"));
	see(&stage, 1, &dear, &small_kernels, &input_bound);
	CHECK(strstr(pane_at(&stage, 120, 20), "▸! copy on"));
	CHECK(strstr(stage.text, "costs 40.0 ms"));
	CHECK(strstr(stage.text, "copy on") < strstr(stage.text, "input-bound"));
	/* gone: another one has it, and never none */
	see(&stage, 3, &small_kernels, NULL, NULL);
	CHECK(strstr(pane_at(&stage, 120, 20), "▸· small"));
	see(&stage, 3, NULL, NULL, NULL);
	pane_at(&stage, 120, 20);
	CHECK(command(&stage, "open") == OUT_NONE);
	finish(&stage);
}

TEST(findings_pane_shows_those_that_are_wanted)
{
	const char *const argv[] = { "where", "cost > 5ms & name !~ /copy/" };
	struct command_call call = call_of(2, argv);
	const char *const none[] = { "where", "dur > 1ms" };
	const char *const all[] = { "where" };
	struct stage stage;

	begin(&stage);
	see(&stage, 2, &copy_bound, &small_kernels, &input_bound);
	pane_at(&stage, 120, 20);
	pane_findings.command(stage.pane, &stage.view, &call);
	CHECK(strstr(pane_at(&stage, 120, 20), "1 of 3 where cost > 5ms"));
	CHECK(strstr(stage.text, "input-bound"));
	CHECK(!strstr(stage.text, "copy on"));
	/* of new ones too */
	see(&stage, 3, &input_bound, &small_kernels, NULL);
	CHECK(strstr(pane_at(&stage, 120, 20), "1 of 2 where cost > 5ms"));
	call.argv = none;
	pane_findings.command(stage.pane, &stage.view, &call);
	CHECK(strstr(pane_at(&stage, 120, 20), "no row here has 'dur'"));
	call = call_of(1, all);
	pane_findings.command(stage.pane, &stage.view, &call);
	CHECK(strstr(pane_at(&stage, 120, 20), "small"));
	CHECK(!strstr(stage.text, "where"));
	finish(&stage);
}

TEST(findings_pane_opens_the_evidence)
{
	struct stage stage;
	unsigned out;

	begin(&stage);
	see(&stage, 2, &copy_bound, &small_kernels, &input_bound);
	pane_at(&stage, 120, 20);
	out = command(&stage, "open");
	CHECK(out == (OUT_REDRAW | OUT_FREEZE | OUT_SHOW_RANGE | OUT_FOCUS_TIMELINE));
	CHECK_INT(stage.view.range_t0_ns, SECOND);
	CHECK_INT(stage.view.range_t1_ns, SECOND + 20000000);
	CHECK_INT(stage.view.cursor_row, 3);
	command(&stage, "row-down");
	CHECK(command(&stage, "open") == (OUT_REDRAW | OUT_SHOW_PANE));
	CHECK_STR(stage.view.show_pane, "copies");
	CHECK_STR(stage.view.show_key, "h2d");
	command(&stage, "row-down");
	CHECK(command(&stage, "open") == OUT_REDRAW);
	CHECK(stage.view.status_error && stage.view.status[0]);
	CHECK(command(&stage, "zoom-in") & OUT_UNKNOWN);
	finish(&stage);
}

/* The line comes with the first finding, has a place of its own from then on,
 * and the same numbers make the same picture. */
TEST(findings_header_line_is_calm)
{
	struct stage stage;
	char *before;
	int lines, again;

	begin(&stage);
	header_at(&stage, 120, 7, &lines);
	CHECK_INT(lines, 2);
	see(&stage, 2, &copy_bound, &small_kernels, &input_bound);
	before = xstrdup(header_at(&stage, 120, 7, &lines));
	CHECK_INT(lines, 3);
	CHECK(strstr(before, "\n ! input-bound: 23 % of each step waits for IteratorGetNext "));
	CHECK(strstr(before, "+2 more: 6\n"));
	CHECK_STR(header_at(&stage, 120, 7, &again), before);
	free(before);
	/* a narrow line says less and nothing overlaps; a wide one says all again */
	CHECK(strstr(header_at(&stage, 50, 7, &lines), "! input-bound: "));
	CHECK(!strstr(stage.text, "more: 6"));
	CHECK(strstr(header_at(&stage, 120, 7, &lines), "waits for IteratorGetNext ("));
	/* no room: the state and a device go before */
	header_at(&stage, 120, 2, &lines);
	CHECK(lines == 2 && !strstr(stage.text, "input-bound"));
	see(&stage, 3, NULL, NULL, NULL);
	CHECK(!strstr(header_at(&stage, 120, 7, &lines), "input-bound"));
	CHECK_INT(lines, 3);
	see(&stage, 2, &small_kernels, NULL, NULL);
	CHECK(strstr(header_at(&stage, 120, 7, &lines), "\n · small kernels"));
	CHECK_INT(lines, 3);
	CHECK(!strstr(stage.text, "more"));
	finish(&stage);
}

TEST(findings_costs_are_said_in_one_unit)
{
	char text[64];

	CHECK_STR(places_cost(text, sizeof(text), 18500000, 80600000), "18.5 of 80.6 ms");
	CHECK_STR(places_cost(text, sizeof(text), 850000, 80600000), "850 µs of 80.6 ms");
	CHECK_STR(places_cost(text, sizeof(text), 18500000, 0), "18.5 ms a second");
}

TEST(findings_report_is_at_most_as_wide_as_it_may_be)
{
	struct report_run run = { .wall_ns = -1, .exit_status = -1 };
	struct stage stage;
	size_t size;
	char *text;
	FILE *file;

	begin(&stage);
	file = open_memstream(&text, &size);
	report_text(stage.model, &run, file);
	fclose(file);
	CHECK(strstr(text, "\nfindings\n  none"));
	free(text);
	see(&stage, 2, &copy_bound, &small_kernels, &input_bound);
	file = open_memstream(&text, &size);
	report_text(stage.model, &run, file);
	fclose(file);
	CHECK(strstr(text,
		     "\nfindings\n  ! input-bound: 23 % of each step waits for IteratorGetNext"));
	CHECK(strstr(text, "\n  · small kernels"));
	for (char *line = strtok_r(text, "\n", &stage.text), *all = stage.text; line;
	     line = strtok_r(NULL, "\n", &all))
		CHECK(text_width(line) <= REPORT_WIDTH);
	stage.text = NULL;
	free(text);
	finish(&stage);
}

/* Whatever the sentences hold, the JSON is valid and has them whole. */
TEST(findings_report_as_json)
{
	struct report_run run = { .wall_ns = -1, .exit_status = -1 };
	struct finding odd = copy_bound;
	struct stage stage;
	char *text;
	size_t size;
	FILE *file;

	begin(&stage);
	snprintf(odd.title, sizeof(odd.title), "odd \"\\ \x01\xff title");
	odd.subject = 9;
	see(&stage, 2, &odd, &input_bound, &small_kernels);
	file = open_memstream(&text, &size);
	report_json(stage.model, &run, file);
	fclose(file);
	CHECK(strstr(text, "\"id\": \"input-bound\""));
	CHECK(strstr(text, "\"cost_ns_per_second\": 18500000") ||
	      strstr(text, "\"cost_ns_per_step\": 18500000"));
	CHECK(strstr(text, "\"kind\": \"copies\""));
	CHECK(strstr(text, "odd \\\"\\\\ \\u0001"));
	free(text);
	finish(&stage);
}
