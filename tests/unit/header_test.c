/* SPDX-License-Identifier: MIT */
/* Strips (the header's lines, the sentence), the minimap's axis, sentences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/cost.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/draw/labels.h"
#include "tui/timeline/minimap.h"
#include "tui/table/steps.h"
#include "tui/draw/places.h"
#include "tui/timeline/sentence.h"
#include "tui/draw/strip.h"

static void drawn(struct strip *strip, int width, uint32_t rule, char *out, size_t size)
{
	struct grid grid;
	FILE *file = tmpfile();
	int x;

	grid_init(&grid, width + 2, 1);
	area_fill(grid_area(&grid), 0, 0, width + 2, 1, '@', ROLE_DEFAULT, ROLE_DEFAULT, 0);
	strip_draw(strip, area_sub(grid_area(&grid), 1, 0, width, 1), 0, ROLE_DEFAULT, rule, false);
	CHECK(grid.cells[0].ch == '@' && grid.cells[width + 1].ch == '@');
	for (x = 0; x < width; x++)
		grid.cells[x] = grid.cells[x + 1];
	grid.cells[width].ch = grid.cells[width + 1].ch = ' ';
	grid_save(&grid, file, false);
	rewind(file);
	if (!fgets(out, (int)size, file))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
	grid_release(&grid);
}

static void fill(struct strip *strip)
{
	strip_clear(strip);
	strip_add(strip, 8, 1, ROLE_TITLE, 0, "luxury");
	strip_add(strip, 0, 2, ROLE_TITLE, 0, "model/conv2d")->least = 6;
	strip_add(strip, 2, 1, ROLE_DEFAULT, 0, "13.41 ms");
	strip_add(strip, 4, 1, ROLE_DEFAULT, 0, "waited")->right = true;
}

TEST(strip_drops_the_least_needed_first)
{
	struct strip strip;
	char line[256];

	fill(&strip);
	drawn(&strip, 40, 0, line, sizeof(line));
	CHECK_STR(line, "luxury  model/conv2d 13.41 ms     waited");
	fill(&strip);
	drawn(&strip, 30, 0, line, sizeof(line));
	CHECK_STR(line, "model/conv2d 13.41 ms   waited");
	fill(&strip);
	drawn(&strip, 23, 0, line, sizeof(line));
	CHECK_STR(line, "conv2d 13.41 ms  waited");
	fill(&strip);
	drawn(&strip, 16, 0, line, sizeof(line));
	CHECK_STR(line, "conv2d 13.41 ms");
	fill(&strip);
	drawn(&strip, 9, 0, line, sizeof(line));
	CHECK_STR(line, "conv2d");
	fill(&strip);
	drawn(&strip, 44, '-', line, sizeof(line));
	CHECK_STR(line, "- luxury  model/conv2d 13.41 ms --- waited -");
}

TEST(strip_stays_in_its_area_at_any_width)
{
	struct strip strip;
	char line[1024];
	int width;

	for (width = 0; width < 120; width++) {
		fill(&strip);
		drawn(&strip, width, width % 2 ? '-' : 0, line, sizeof(line));
		CHECK(text_width(line) <= width);
	}
}

TEST(strip_takes_no_more_than_it_has)
{
	struct strip strip;
	int i;

	strip_clear(&strip);
	for (i = 0; i < STRIP_PIECES * 2; i++)
		CHECK(strip_add(&strip, 1, 1, ROLE_DEFAULT, 0, "%d", i) != NULL);
	CHECK(strip.count == STRIP_PIECES);
}

TEST(minimap_axis_grows_in_steps)
{
	int64_t length, span, last = 0;
	int changes = 0;

	for (length = 0; length < INT64_C(100000000000); length += 50000000) {
		span = minimap_span(length);
		CHECK(span >= length && span >= last);
		CHECK(length < INT64_C(2000000000) || span <= length + length / 4);
		changes += span != last;
		last = span;
	}
	CHECK(changes < 40);
}

static void sentence(const struct span *span, char *line, size_t size)
{
	struct strip strip;

	sentence_of_span(&strip, span, 0);
	drawn(&strip, 200, 0, line, size);
}

TEST(sentence_says_what_is_known)
{
	struct span span;
	char line[1024];

	memset(&span, 0, sizeof(span));
	span.kind = COMMAND_KERNEL;
	span.name = "conv2d";
	span.queue = "queue 7";
	span.start_ns = INT64_C(27823200000);
	span.end_ns = span.start_ns + 13410000;
	span.op = "model/Conv2D";
	span.how = HOW_EXACT;
	span.queued_ns = span.start_ns - 3100000;
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "queue 7   conv2d   13.41 ms at 27.8232 s   op model/Conv2D (exact)   "
			"waited 3.10 ms");
	span.approx = true;
	span.op = NULL;
	span.queued_ns = 0;
	span.status = -5;
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "queue 7   conv2d   ~13.41 ms at ~27.8232 s   failed (-5)");
	memset(&span, 0, sizeof(span));
	span.kind = COMMAND_COPY;
	span.direction = DIR_H2D;
	span.name = "h2d";
	span.bytes = 51380224;
	span.end_ns = 4000000;
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "h2d   4.000 ms at 0.0000 s   51 380 224 bytes   12.8 GB/s");
	memset(&span, 0, sizeof(span));
	span.name = "step";
	span.thread = "main";
	span.open = true;
	span.end_ns = 5000;
	span.kernels = 1;
	span.device_ns = 2000;
	span.step = 12;
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "main   step   5.000 µs so far at 0.000000 s   "
			"1 kernel, 2.00 µs on the device   step 12");
}

/* A geometry in the words of the API that it was launched by, and what the name tells. */
/* What a thread did, and in which task of asyncio. */
TEST(sentence_about_a_thread)
{
	struct model *model = model_with_device();
	struct model_row *rows;
	size_t n;
	uint32_t row = 0;
	struct strip strip;
	char line[512];

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/loader.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "load"));
	apply_one(model, ev_name(32, NAME_SOURCE, "asyncio"));
	apply_one(model, ev_name(33, NAME_SOURCE, "task fetch"));
	apply_one(model, ev_frame(1, 0, 32, 33, 0));
	apply_one(model, ev_frame(2, 1, 30, 31, 25));
	apply_one(model, ev_doing(4711, DOING_SLEEP, 2, 2, 0, 100000000));
	n = model_rows(model, &rows);
	for (size_t i = 0; i < n; i++)
		if (rows[i].kind == ROW_THREAD && rows[i].tid == 4711)
			row = rows[i].id;
	free(rows);
	strip_clear(&strip);
	sentence_add_states(&strip, model, row, BASE, BASE, 1000000, false);
	drawn(&strip, 200, 0, line, sizeof(line));
	CHECK_STR(line, "sleeps, loader.py:25 in load, task fetch (100 ms)");
	model_free(model);
}

TEST(sentence_about_a_launch)
{
	struct span span;
	char line[1024];

	memset(&span, 0, sizeof(span));
	span.kind = COMMAND_KERNEL;
	span.name = "gemm";
	span.queue = "stream 7";
	span.end_ns = 20000;
	span.dims = 2;
	span.global[0] = 132 * 384;
	span.global[1] = 4;
	span.local[0] = 384;
	span.local[1] = 1;
	span.api = "opencl";
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "stream 7   gemm   20.00 µs at 0.000000 s   global 50688×4 local 384×1");
	span.api = "cuda";
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "stream 7   gemm   20.00 µs at 0.000000 s   grid 132×4 block 384");
	span.dims = 3;
	span.global[1] = 1;
	span.global[2] = 9;
	span.local[2] = 2;
	span.class = (struct kernel_class) { .kind = KERNEL_MATMUL, .type = NUMBER_BF16,
					     .tensor = TENSOR_USED };
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "stream 7   gemm   20.00 µs at 0.000000 s   grid 132×1×5 block 384×1×2   "
			"matmul bf16 tensor cores");
	/* where a launch chose nothing there is nothing to divide by */
	memset(span.local, 0, sizeof(span.local));
	span.class = (struct kernel_class) { .kind = KERNEL_OTHER };
	sentence(&span, line, sizeof(line));
	CHECK_STR(line, "stream 7   gemm   20.00 µs at 0.000000 s   global 50688×1×9");
}

TEST(header_shares_are_never_nothing)
{
	char text[24];

	places_share(text, sizeof(text), 1, 1000000);
	CHECK_STR(text, "<0.1 %");
	places_share(text, sizeof(text), 0, 1000000);
	CHECK_STR(text, "0.0 %");
	places_share(text, sizeof(text), 1000, 1000000);
	CHECK_STR(text, "0.1 %");
	places_share(text, sizeof(text), 5, 0);
	CHECK_STR(text, "-");
}

TEST(header_numbered_steps_have_one_name)
{
	struct step_stats ranges = { .count = 3, .source = "range step #" },
			  plain = { .count = 3, .source = "range step" };
	struct step_stats marks = {.count = 3, .source = "step"}, none = {.count = 0};
	const char *all = NULL;

	CHECK(steps_name(&ranges, "step 12", &all));
	CHECK_STR(all, "step #");
	CHECK(!steps_name(&ranges, "step", &all) && !steps_name(&ranges, "step x", &all));
	CHECK(!steps_name(&ranges, "step 1a", &all) && !steps_name(&ranges, "conv", &all));
	CHECK(!steps_name(&plain, "step 12", &all) && !steps_name(&marks, "step 12", &all));
	CHECK(!steps_name(&none, "step 12", &all) && !steps_name(&ranges, NULL, &all));
}

/* With the longer side of its interval; one that cannot be told from none is below a bound. */
TEST(header_own_cost)
{
	static const struct { int64_t ns, low_ns, high_ns; const char *text; } known[] = {
		{ 330, 310, 360, "33 % ± 3" }, { 330, 300, 340, "33 % ± 3" },
		{ 335, 330, 340, "33.5 % ± 0.5" }, { 8, 5, 11, "0.8 % ± 0.3" },
		{ 1500, 1400, 1600, "150 % ± 10" }, { 0, -20, 12, "< 2.0 %" },
		{ -30, -50, -10, "< 0.1 %" }, { 20, -10, 40, "2.0 % ± 3.0" },
	};
	struct own_cost cost = { .step_ns = 1000, .pairs = 9 };
	char text[32];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		cost.ns = known[i].ns;
		cost.low_ns = known[i].low_ns;
		cost.high_ns = known[i].high_ns;
		CHECK_STR(fmt_own_cost(text, sizeof(text), &cost), known[i].text);
	}
}
