/* SPDX-License-Identifier: MIT */
/* What a thread did, in the empty cells of its row. */
#include <string.h>

#include "tests/unit/test.h"
#include "tui/draw/state_cells.h"

#define N 40

struct line {
	struct cell cells[N];
	struct column columns[N], above[N];
	struct host_state states[N];
};

/* A line without events, in which one state lasts from begin to end. */
static void line_set(struct line *line, size_t begin, size_t end, enum doing_kind doing)
{
	memset(line, 0, sizeof(*line));
	for (size_t i = 0; i < N; i++) {
		line->cells[i] = (struct cell) { ' ', ROLE_DEFAULT, ROLE_DEFAULT, 0 };
		line->above[i].count = 1;
		line->states[i] = (struct host_state) { .file = "", .function = "", .what = "" };
		if (i < begin || i >= end)
			continue;
		line->states[i] = (struct host_state) {
			.doing = doing, .file = "/home/me/loader.py", .function = "load",
			.line = 25, .what = "", .ns = 1000,
		};
	}
}

static unsigned line_draw(struct line *line, bool above, bool ascii)
{
	return cells_states(line->cells, line->columns, above ? line->above : NULL, line->states,
			    N, 1000, &(struct cell_style) { .ascii = ascii, .colour = !ascii });
}

static const char *line_text(const struct line *line)
{
	static char text[N + 1];

	for (size_t i = 0; i < N; i++) {
		uint32_t ch = line->cells[i].ch;

		text[i] = ch < 0x7f ? (char)ch : ch == 0x2500 ? '-' : ch == 0x254c ? '=' :
			  ch == 0x2508 ? '.' : ch == 0xa0 ? ' ' : '?';
	}
	return text;
}

/* Each state has words, and the looks of its family, which differ without colour, too. */
TEST(state_cells_families)
{
	static uint32_t seen[2][STATE_FAMILIES];
	unsigned all = 0;
	struct line line;

	for (int k = 0; k < 2 * DOING_COUNT; k++) {
		enum doing_kind doing = (enum doing_kind)(k / 2);
		bool ascii = k % 2;
		unsigned family;

		CHECK(*doing_verb(doing) && *doing_name(doing));
		line_set(&line, 4, 8, doing);
		family = line_draw(&line, true, ascii);
		CHECK(family && family < 1u << STATE_FAMILIES && !(family & (family - 1)));
		all |= family;
		family = (unsigned)__builtin_ctz(family);
		CHECK_INT(line.cells[5].fg, ROLE_STATE_RUN + family);
		CHECK(!seen[ascii][family] || seen[ascii][family] == line.cells[5].ch);
		CHECK(!ascii || line.cells[5].ch < 0x7f);
		seen[ascii][family] = line.cells[5].ch;
	}
	CHECK_INT(all, (1u << STATE_FAMILIES) - 1);
	for (int k = 0; k < 2; k++)
		CHECK(seen[k][0] != seen[k][1] && seen[k][1] != seen[k][2] &&
		      seen[k][0] != seen[k][2]);
	CHECK_STR(doing_verb(DOING_COUNT), "");
}

TEST(state_cells_names)
{
	struct line line;

	line_set(&line, 2, 38, DOING_SLEEP);
	CHECK_INT(line_draw(&line, true, false), 1u << STATE_SLEEPS);
	CHECK_STR(line_text(&line), "  .sleep load loader.py:25............  ");
	CHECK_INT(line.cells[5].fg, ROLE_STATE_SLEEP);
	line_set(&line, 2, 23, DOING_LOCK);
	line_draw(&line, true, true);
	CHECK_STR(line_text(&line), "  ,load loader.py:25,,,                 ");
	line_set(&line, 2, 9, DOING_PYTHON);
	line_draw(&line, true, false);
	CHECK_STR(line_text(&line), "  -load--                               ");
	line_set(&line, 2, 7, DOING_PYTHON);
	line_draw(&line, false, false);
	CHECK_STR(line_text(&line), "  -----                                 ");
	/* on several lines of one function */
	line_set(&line, 2, 30, DOING_PYTHON);
	line.states[20].line = 26;
	line_draw(&line, false, false);
	CHECK_STR(line_text(&line), "  -Python load loader.py------          ");
	/* without a line of the program */
	line_set(&line, 0, 12, DOING_FILE);
	for (size_t i = 0; i < N; i++)
		line.states[i].function = line.states[i].file = "";
	line_draw(&line, false, false);
	CHECK_STR(line_text(&line), "=file=======                            ");
}

/* Only where nothing else is drawn, and below an op. */
TEST(state_cells_places)
{
	struct line line;

	line_set(&line, 0, N, DOING_SLEEP);
	line.columns[3].count = 1;
	line.cells[9].ch = '?';
	line.above[14].count = 0;
	line.states[20].ns = 100;
	line.states[26].doing = DOING_GIL;
	CHECK_INT(line_draw(&line, true, false), 1u << STATE_SLEEPS | 1u << STATE_WAITS);
	CHECK_STR(line_text(&line), "... .....?.... ..... .....=.load........");
	line_set(&line, 0, N, DOING_SLEEP);
	line.cells[3].bg = ROLE_SELECTED;
	memset(line.above, 0, sizeof(line.above));
	CHECK_INT(line_draw(&line, true, false), 0);
	CHECK_STR(line_text(&line), "                                        ");
}

/* The name of a moment stands behind it, as far as nothing else is there. */
TEST(state_cells_moments)
{
	struct line line;

	line_set(&line, 0, N, DOING_SLEEP);
	for (size_t i = 0; i < N; i++) {
		line.states[i].at_ns = 1;
		line.states[i].ns = i == 1 || i == 22 || i == 29 ? 1000 : 0;
	}
	line.states[22].function = "train";
	line.columns[35].count = 1;
	line_draw(&line, true, false);
	CHECK_STR(line_text(&line), " .load loader.py:25   .train .load      ");
}

TEST(state_cells_place)
{
	struct host_state state = { .file = "/a/b/loader.py", .function = "load", .line = 7 };
	char text[64], small[8];

	CHECK_STR(state_place(text, sizeof(text), &state), "loader.py:7 in load");
	CHECK_STR(state_place(small, sizeof(small), &state), "loader.");
	state.function = "";
	CHECK_STR(state_place(text, sizeof(text), &state), "loader.py:7");
	state.line = 0;
	CHECK_STR(state_place(text, sizeof(text), &state), "");
	state.function = "load";
	CHECK_STR(state_place(text, sizeof(text), &state), "load");
}
