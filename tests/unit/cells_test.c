/* SPDX-License-Identifier: MIT */
/* The timeline's cells: exactness, that nothing vanishes, labels, ASCII. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tui/draw/labels.h"
#include "tui/draw/timeline_cells.h"

#define N 64
#define W 1000

static const struct cell_style coloured = {.colour = true};
static const struct cell_style plain = {.colour = false};
static const struct cell_style ascii = {.ascii = true};

struct bar {
	int64_t start, end;
	enum work work;
};

static uint64_t state = 1;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void add_edge(struct column *column, int64_t at)
{
	if (!column->edges || at < column->first_edge_ns)
		column->first_edge_ns = at;
	if (!column->edges || at > column->last_edge_ns)
		column->last_edge_ns = at;
	column->edges++;
}

/* The definition of model_columns(), for bars that do not overlap. */
static void columns_of(const struct bar *bars, size_t n_bars, struct column *columns, size_t n)
{
	size_t b, c;

	memset(columns, 0, n * sizeof(*columns));
	for (b = 0; b < n_bars; b++)
		for (c = 0; c < n; c++) {
			int64_t begin = (int64_t)c * W, end = begin + W;
			int64_t from = bars[b].start > begin ? bars[b].start : begin;
			int64_t to = bars[b].end < end ? bars[b].end : end;

			if (bars[b].start >= end || bars[b].end < begin ||
			    (bars[b].end == begin && bars[b].start < begin))
				continue;
			columns[c].count++;
			columns[c].busy_ns += to - from;
			columns[c].work_ns[bars[b].work] += to - from;
			if (bars[b].start > begin)
				add_edge(&columns[c], bars[b].start);
			if (bars[b].end > begin && bars[b].end < end)
				add_edge(&columns[c], bars[b].end);
			columns[c].longest = (struct span_ref){1, 0, b + 1};
		}
}

static size_t random_bars(struct bar *bars, size_t max)
{
	int64_t at = (int64_t)(next_random() % 500);
	size_t n = 0;

	while (n < max && at < N * W) {
		static const int64_t lengths[] = { 20, 700, 3000, 15000 };
		static const int64_t gaps[] = { 0, 0, 40, 900, 4000 };

		bars[n].start = at;
		at += 1 + (int64_t)(next_random() % (uint64_t)lengths[next_random() % 4]);
		bars[n].end = at;
		bars[n++].work = (enum work)(1 + next_random() % (WORK_COUNT - 1));
		at += (int64_t)(next_random() % (uint64_t)(gaps[next_random() % 5] + 1));
	}
	return n;
}

TEST(cells_edges_are_exact_to_the_eighth)
{
	struct column columns[1];
	int k, eighths;

	for (k = 1; k < W; k++) {
		struct bar ends = {-W, k, WORK_OTHER}, starts = {k, 5 * W, WORK_OTHER};

		columns_of(&ends, 1, columns, 1);
		CHECK(cells_classify(columns, 0, W, &eighths) == SHAPE_ENDS || k * 2 == W);
		CHECK(eighths == (k * 8 + W / 2) / W || (eighths == 1 && k * 16 < W));
		columns_of(&starts, 1, columns, 1);
		CHECK(cells_classify(columns, 0, W, &eighths) == SHAPE_STARTS || k * 2 == W);
		CHECK(eighths == ((W - k) * 8 + W / 2) / W || (eighths == 1 && (W - k) * 16 < W));
	}
}

TEST(cells_heights_are_shares)
{
	CHECK(cells_eighths(0, 100) == 0);
	CHECK(cells_eighths(1, 1000000) == 1);
	CHECK(cells_eighths(50, 100) == 4);
	CHECK(cells_eighths(999, 1000) == 8);
	CHECK(cells_eighths(2000, 1000) == 8);
	CHECK(cells_eighths(UINT64_MAX, UINT64_MAX) == 8);
	CHECK(cells_eighths(5, 0) == 0);
	CHECK(cells_height(8, false) == 0x2588 && cells_height(1, false) == 0x2581);
	CHECK(cells_left(8, false) == 0x2588 && cells_left(1, false) == 0x258f);
	CHECK(cells_left(4, false) == 0x258c);
}

/* Where there is an event there is something to see, and nowhere else. */
static void check_presence(const struct cell_style *style)
{
	struct bar bars[400];
	struct column columns[N];
	struct cell cells[N];
	uint64_t owners[N];
	size_t n = random_bars(bars, 400), c;

	columns_of(bars, n, columns, N);
	cells_draw(columns, N, 0, W, style, cells, owners);
	for (c = 0; c < N; c++) {
		CHECK((cells[c].ch != ' ') == (columns[c].count > 0));
		CHECK(!owners[c] || (columns[c].count == 1 && owners[c] <= n));
		if (columns[c].count == 1 && columns[c].edges == 0)
			CHECK(owners[c] == columns[c].longest.id);
		if (style->ascii)
			CHECK(cells[c].ch >= 0x20 && cells[c].ch < 0x7f);
	}
}

TEST(cells_nothing_vanishes)
{
	int i;

	for (i = 0; i < 300; i++) {
		check_presence(&coloured);
		check_presence(&plain);
		check_presence(&ascii);
	}
}

/* Without colours a background is reversed video: only text may have one. */
TEST(cells_without_colour_have_no_background)
{
	struct bar bars[400];
	struct column columns[N];
	struct cell cells[N];
	int i;

	for (i = 0; i < 100; i++) {
		size_t n = random_bars(bars, 400), c;

		columns_of(bars, n, columns, N);
		cells_draw(columns, N, 0, W, &plain, cells, NULL);
		for (c = 0; c < N; c++)
			if (cells[c].bg != ROLE_DEFAULT)
				CHECK(cells[c].attr & ATTR_REVERSE && cells[c].ch != 0x2588);
	}
}

TEST(cells_meeting_events_keep_their_sides)
{
	struct bar bars[] = {{0, 2300, WORK_MATMUL}, {2300, 5000, WORK_COPY}};
	struct column columns[5];
	struct cell cells[5];
	uint64_t owners[5];

	columns_of(bars, 2, columns, 5);
	cells_draw(columns, 5, 0, W, &coloured, cells, owners);
	CHECK(cells[2].ch == cells_left(2, false));
	CHECK(cells[2].fg == ROLE_WORK_MATMUL && cells[2].bg == ROLE_WORK_COPY);
	CHECK(owners[1] == 1 && owners[2] == 0 && owners[3] == 2);
	/* One kind on both sides: a thin gap between them. */
	bars[1].work = WORK_MATMUL;
	columns_of(bars, 2, columns, 5);
	cells_draw(columns, 5, 0, W, &coloured, cells, owners);
	CHECK(cells[2].ch == 0x258f && cells[2].attr == ATTR_REVERSE);
	CHECK(cells[2].fg == ROLE_WORK_MATMUL && cells[2].bg == ROLE_DEFAULT);
	cells_draw(columns, 5, 0, W, &ascii, cells, owners);
	CHECK(cells[2].ch == '|');
}

TEST(cells_near_enough_is_meeting)
{
	struct bar bars[] = {{0, 500, WORK_OP}, {500 + W / 16, 3000, WORK_OP}};
	struct column columns[3];
	int eighths;

	columns_of(bars, 2, columns, 3);
	CHECK(cells_classify(&columns[0], 0, W, &eighths) == SHAPE_MEET && eighths == 4);
	bars[1].start += 2;
	columns_of(bars, 2, columns, 3);
	CHECK(cells_classify(&columns[0], 0, W, &eighths) == SHAPE_DENSE && eighths == 7);
}

TEST(cells_announced_work_is_hatched)
{
	const struct cell_style style = {.colour = true, .hatch_open = true};
	struct bar bar = {0, 5000, WORK_COPY};
	struct column columns[5];
	struct cell cells[5];
	uint64_t owners[5];

	columns_of(&bar, 1, columns, 5);
	columns[1].flags |= COLUMN_OPEN;
	cells_draw(columns, 5, 0, W, &style, cells, owners);
	CHECK(cells[0].ch == 0x2588 && cells[1].ch == 0x2592 && cells[1].fg == ROLE_WORK_COPY);
	cells_draw(columns, 5, 0, W, &coloured, cells, owners);
	CHECK(cells[1].ch == 0x2588);
}

/* An event that is open from column `from` to before column `to`, as it is drawn. */
static void draw_open(size_t from, size_t to, size_t n, const struct cell_style *style,
		      struct cell *cells, uint64_t *owners)
{
	struct bar bar = {(int64_t)from * W, (int64_t)n * W, WORK_OP};
	struct column columns[16];

	columns_of(&bar, 1, columns, n);
	for (size_t i = 0; i < n; i++) {
		if (i >= to)
			columns[i] = (struct column){0};
		else if (i >= from)
			columns[i].flags |= COLUMN_OPEN;
	}
	cells_draw(columns, n, 0, W, style, cells, owners);
	cells_fade(cells, columns, n, owners, style);
}

TEST(cells_what_is_open_fades_at_its_end)
{
	const struct cell_style hatched = {.colour = true, .hatch_open = true};
	struct cell cells[16];
	uint64_t owners[16];

	draw_open(2, 10, 12, &coloured, cells, owners);
	CHECK(cells[6].ch == 0x2588 && owners[6] && cells[6].bg == ROLE_WORK_OP);
	CHECK(cells[7].ch == 0x2593 && cells[8].ch == 0x2592 && cells[9].ch == 0x2591);
	for (size_t i = 7; i < 10; i++)
		CHECK(cells[i].fg == ROLE_WORK_OP && cells[i].bg == ROLE_DEFAULT && !owners[i]);
	CHECK(cells[10].ch == ' ');
	/* No room for a name in there. */
	cells_label(cells, 2, 10, "a/long/name", &coloured);
	CHECK(cells[2].ch != 0x2588 && cells[7].ch == 0x2593);
	draw_open(2, 10, 12, &plain, cells, owners);
	CHECK(cells[6].ch == 0x2588 && cells[7].ch == 0x2593 && cells[9].ch == 0x2591);
	draw_open(2, 10, 12, &ascii, cells, owners);
	CHECK(cells[6].ch == 'o' && cells[7].ch == '=' && cells[8].ch == '-' && cells[9].ch == '.');
	/* Announced work is hatched already: its end is. */
	draw_open(2, 10, 12, &hatched, cells, owners);
	CHECK(cells[6].ch == 0x2592 && cells[9].ch == 0x2591);
}

TEST(cells_what_goes_on_beyond_the_window_does_not_fade)
{
	struct bar bar = {2 * W, 6 * W, WORK_OP};
	struct column columns[8];
	struct cell cells[16];
	uint64_t owners[16];

	draw_open(2, 12, 12, &coloured, cells, owners);
	CHECK(cells[11].ch == 0x2588 && owners[11]);
	/* Nor what ended. */
	columns_of(&bar, 1, columns, 8);
	cells_draw(columns, 8, 0, W, &coloured, cells, owners);
	cells_fade(cells, columns, 8, owners, &coloured);
	CHECK(cells[5].ch == 0x2588 && owners[5]);
	/* Half of a short one stays. */
	draw_open(0, 2, 4, &coloured, cells, owners);
	CHECK(cells[0].ch == 0x2588 && cells[1].ch == 0x2593);
	draw_open(0, 1, 4, &coloured, cells, owners);
	CHECK(cells[0].ch == 0x2593 && cells[1].ch == ' ');
}

TEST(cells_dense_is_a_share_of_the_cell)
{
	struct bar bars[] = {{100, 200, WORK_REDUCE}, {300, 450, WORK_REDUCE}};
	struct column columns[1];
	struct cell cells[1];
	uint64_t owners[1];

	columns_of(bars, 2, columns, 1);
	cells_draw(columns, 1, 0, W, &coloured, cells, owners);
	CHECK(cells[0].ch == 0x2582 && cells[0].fg == ROLE_WORK_REDUCE && owners[0] == 0);
	cells_draw(columns, 1, 0, W, &ascii, cells, owners);
	CHECK(cells[0].ch == '.');
}

TEST(cells_union_has_no_borders)
{
	const struct cell_style muted = {.colour = true, .muted = true};
	struct bar bars[] = {{0, 500, WORK_MATMUL}, {500, 1000, WORK_COPY}};
	struct column columns[1];
	struct cell cells[1];

	columns_of(bars, 2, columns, 1);
	cells_draw(columns, 1, 0, W, &muted, cells, NULL);
	CHECK(cells[0].ch == 0x2588 && cells[0].fg == ROLE_CONTEXT);
}

/* ---- labels ---- */

static void text_of(const struct cell *cells, size_t n, char *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		char glyph[5];

		text_encode(cells[i].ch, glyph);
		memcpy(out, glyph, strlen(glyph));
		out += strlen(glyph);
	}
	*out = '\0';
}

static void labelled(int64_t start, int64_t end, const char *name, const struct cell_style *style,
		     char *out)
{
	struct bar bar = {start, end, WORK_MATMUL};
	struct column columns[16];
	struct cell cells[16];
	uint64_t owners[16];
	size_t begin = 0, stop = 0;

	columns_of(&bar, 1, columns, 16);
	cells_draw(columns, 16, 0, W, style, cells, owners);
	while (cells_next_bar(owners, 16, &begin, &stop)) {
		if (stop - begin >= CELLS_LABEL_MIN)
			cells_label(cells, begin, stop, name, style);
		begin = stop;
	}
	text_of(cells, 16, out);
}

TEST(cells_labels_stand_in_their_bars)
{
	char text[128];

	labelled(2000, 14000, "conv", &coloured, text);
	CHECK_STR(text, "  conv████████  ");
	labelled(2500, 14000, "conv", &coloured, text);
	CHECK_STR(text, "  ▐conv███████  ");
	labelled(2000, 8000, "conv2d_fprop", &coloured, text);
	CHECK_STR(text, "  conv2…        ");
	/* Sticky: the bar began before what is seen. */
	labelled(-90000, 8000, "relu", &coloured, text);
	CHECK_STR(text, "relu████        ");
	/* Three cells are too few. */
	labelled(2000, 5000, "relu", &coloured, text);
	CHECK_STR(text, "  ███           ");
	labelled(2000, 14000, "conv", &ascii, text);
	CHECK_STR(text, "  conv mmmmmmm  ");
	labelled(2500, 8000, "convolution", &ascii, text);
	CHECK_STR(text, "  |con..        ");
}

TEST(cells_labels_have_the_bars_background)
{
	struct bar bar = {0, 8000, WORK_COPY};
	struct column columns[8];
	struct cell cells[8];
	int i;

	columns_of(&bar, 1, columns, 8);
	cells_draw(columns, 8, 0, W, &coloured, cells, NULL);
	cells_label(cells, 0, 8, "h2d", &coloured);
	for (i = 0; i < 8; i++)
		CHECK(cells[i].bg == ROLE_WORK_COPY);
	CHECK(cells[0].fg == ROLE_DEFAULT && cells[0].ch == 'h');
}

TEST(cells_unsettled_and_lost_fill_only_what_is_empty)
{
	struct bar bars[400];
	struct column columns[N];
	struct cell cells[N], before[N];
	size_t n = random_bars(bars, 60), c;

	columns_of(bars, n, columns, N);
	columns[3].flags |= COLUMN_LOST;
	cells_draw(columns, N, 0, W, &coloured, before, NULL);
	memcpy(cells, before, sizeof(cells));
	cells_lost(cells, columns, N, &coloured);
	cells_unsettled(cells, 20, N, &coloured);
	for (c = 0; c < N; c++) {
		if (before[c].ch != ' ')
			CHECK(memcmp(&cells[c], &before[c], sizeof(cells[c])) == 0);
		else if (c == 3)
			CHECK(cells[c].ch == 0x2592);
		else
			CHECK(cells[c].ch == (c >= 20 ? 0x2591u : (unsigned)' '));
	}
}

TEST(cells_selected_event_is_marked)
{
	struct bar bars[] = {{0, 4000, WORK_MATMUL}, {5100, 5200, WORK_MATMUL}};
	struct column columns[8];
	struct cell cells[8];
	uint64_t owners[8];

	columns_of(bars, 2, columns, 8);
	cells_draw(columns, 8, 0, W, &coloured, cells, owners);
	cells_select(cells, owners, 5, 6, 2, "relu", &coloured);
	CHECK(!(cells[0].attr & ATTR_UNDERLINE));
	CHECK((cells[5].attr & ATTR_UNDERLINE) && cells[5].bg == ROLE_SELECTED);
}

/* Two queues' worth of work in one line: the selected event has its name. */
TEST(cells_selected_event_shows_where_others_cover_it)
{
	struct column columns[12];
	struct cell cells[12];
	uint64_t owners[12];
	char text[64];
	size_t i;

	memset(columns, 0, sizeof(columns));
	for (i = 0; i < 12; i++) {
		columns[i].count = 2;
		columns[i].busy_ns = W;
		columns[i].work_ns[WORK_MATMUL] = W;
		columns[i].longest.id = 1;
	}
	cells_draw(columns, 12, 0, W, &coloured, cells, owners);
	cells_select(cells, owners, 2, 10, 2, "wgrad", &coloured);
	text_of(cells, 12, text);
	CHECK_STR(text, "██wgrad█████");
	CHECK(cells[2].attr & ATTR_UNDERLINE);
	CHECK(!(cells[1].attr & ATTR_UNDERLINE));
}

/* ---- names ---- */

static void shortens(const char *name, int width, const char *want)
{
	char text[LABEL_MAX];

	label_shorten(text, sizeof(text), name, width, false);
	CHECK_STR(text, want);
	CHECK(text_width(text) <= width);
}

TEST(labels_are_shortened_from_the_inside_out)
{
	const char *cxx = "void ns::ops::conv<float, 3, ns::pair<int, int>>(float const*, int)";

	shortens("relu", 10, "relu");
	shortens(cxx, 80, cxx);
	shortens(cxx, 50, "void ns::ops::conv<float, 3, ns::pair<int, int>>");
	shortens(cxx, 30, "void ns::ops::conv");
	shortens(cxx, 14, "ns::ops::conv");
	shortens(cxx, 5, "conv");
	shortens(cxx, 3, "co…");
	shortens("model/conv2d_1/Conv2D", 10, "Conv2D");
	shortens("step 12", 5, "st…12");
	shortens("step 12", 4, "s…12");
	shortens("step 12", 3, "st…");
	shortens("(anonymous namespace)::run(int)", 10, "run");
	shortens("", 5, "");
}

TEST(labels_of_paths_keep_their_end)
{
	char text[LABEL_MAX];

	label_fit_end(text, sizeof(text), "/home/me/train.py:88", 20, false);
	CHECK_STR(text, "/home/me/train.py:88");
	label_fit_end(text, sizeof(text), "/home/me/train.py:88", 12, false);
	CHECK_STR(text, "…train.py:88");
	label_fit_end(text, sizeof(text), "/home/me/train.py:88", 12, true);
	CHECK_STR(text, "..rain.py:88");
}

TEST(labels_fit_any_width)
{
	static const char *const texts[] = {
		"a", "mot\xc3\xb6r", "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97", "\xff\xfe",
		"x<y>::z(w)", "////", "::::", "a b c d e f g",
	};
	char text[LABEL_MAX];
	size_t i;
	int width;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (width = -1; width < 20; width++) {
			label_shorten(text, sizeof(text), texts[i], width, false);
			CHECK(text_width(text) <= (width > 0 ? width : 0));
			label_fit_middle(text, sizeof(text), texts[i], width, true);
			CHECK(text_width(text) <= (width > 0 ? width : 0));
			label_fit_end(text, sizeof(text), texts[i], width, false);
			CHECK(text_width(text) <= (width > 0 ? width : 0));
		}
}
