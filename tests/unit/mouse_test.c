/* SPDX-License-Identifier: MIT */
/* How terminals write down what the mouse does, and what can be clicked. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tui/draw/hits.h"
#include "tui/draw/mouse.h"

static bool is(const struct mouse *mouse, enum mouse_what what, int button, int x, int y,
	       unsigned mods)
{
	return mouse->what == what && mouse->button == button && mouse->x == x &&
	       mouse->y == y && mouse->mods == mods;
}

TEST(mouse_reads_what_xterm_writes)
{
	struct mouse mouse;

	CHECK(mouse_from_sgr("0;1;1", 'M', &mouse) && is(&mouse, MOUSE_PRESS, 1, 0, 0, 0));
	CHECK(mouse_from_sgr("2;200;50", 'm', &mouse) && is(&mouse, MOUSE_RELEASE, 3, 199, 49, 0));
	CHECK(mouse_from_sgr("32;3;4", 'M', &mouse) && is(&mouse, MOUSE_DRAG, 1, 2, 3, 0));
	CHECK(mouse_from_sgr("65;3;4", 'M', &mouse) && is(&mouse, MOUSE_WHEEL_DOWN, 0, 2, 3, 0));
	CHECK(mouse_from_sgr("80;3;4", 'M', &mouse) &&
	      is(&mouse, MOUSE_WHEEL_UP, 0, 2, 3, MOD_CTRL));
	CHECK(mouse_from_sgr("12;300;1", 'M', &mouse) &&
	      is(&mouse, MOUSE_PRESS, 1, 299, 0, MOD_SHIFT | MOD_ALT));
	CHECK(mouse_from_bytes((const unsigned char *)" !!", &mouse) &&
	      is(&mouse, MOUSE_PRESS, 1, 0, 0, 0));
	CHECK(mouse_from_bytes((const unsigned char *)"#+,", &mouse) &&
	      is(&mouse, MOUSE_RELEASE, 0, 10, 11, 0));
	CHECK(mouse_from_bytes((const unsigned char *)"a+,", &mouse) &&
	      is(&mouse, MOUSE_WHEEL_DOWN, 0, 10, 11, 0));
}

TEST(mouse_takes_no_nonsense)
{
	static const char *const bad[] = {"", "0", "0;1", "0;0;1", "0;1;0", "0;1;1;1", "0;1;1x",
		"128;1;1", ";;", "99999;1;1", "0;99999;1", "0;-1;1"};
	struct mouse mouse;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!mouse_from_sgr(bad[i], 'M', &mouse));
	CHECK(!mouse_from_sgr("0;1;1", 'X', &mouse));
	CHECK(!mouse_from_sgr("64;1;1", 'm', &mouse));	/* a wheel is not let go */
	CHECK(!mouse_from_bytes((const unsigned char *)"\001!!", &mouse));
	CHECK(!mouse_from_bytes((const unsigned char *)"  !", &mouse));
	CHECK(!mouse_from_bytes((const unsigned char *)"!! ", &mouse));
}

TEST(mouse_is_read_back_as_written)
{
	struct mouse in = {0}, out;
	char text[32], last;
	int what, button, mods;
	size_t n;

	for (what = MOUSE_PRESS; what <= MOUSE_WHEEL_RIGHT; what++)
		for (button = 1; button <= 3; button++)
			for (mods = 0; mods < 8; mods++) {
				in = (struct mouse){(enum mouse_what)what, button, 7 * what, 900,
						    (unsigned)mods};
				if (mouse_is_wheel(&in))
					in.button = 0;
				n = mouse_to_sgr(&in, text, sizeof(text));
				CHECK(n > 6 && n == strlen(text) && !strncmp(text, "\033[<", 3));
				last = text[n - 1];
				text[n - 1] = '\0';
				CHECK(mouse_from_sgr(text + 3, last, &out));
				if (in.what == MOUSE_DOUBLE)
					in.what = MOUSE_PRESS;	/* a terminal knows no more */
				CHECK(is(&out, in.what, in.button, in.x, in.y, in.mods));
			}
}

/* The older form tells no button of a release, and no place beyond what a byte can. */
TEST(mouse_is_read_back_as_bytes)
{
	struct mouse in = {0}, out;
	char bytes[6];

	for (int what = MOUSE_PRESS; what <= MOUSE_WHEEL_RIGHT; what++)
		for (int button = 1; button <= 3; button++)
			for (int mods = 0; mods < 8; mods++) {
				in = (struct mouse){(enum mouse_what)what, button, 222, 7 * what,
						    (unsigned)mods};
				if (mouse_is_wheel(&in))
					in.button = 0;
				CHECK(mouse_to_bytes(&in, bytes) == 6 &&
				      !strncmp(bytes, "\033[M", 3));
				CHECK(mouse_from_bytes((unsigned char *)bytes + 3, &out));
				if (in.what == MOUSE_DOUBLE)
					in.what = MOUSE_PRESS;
				CHECK(is(&out, in.what, in.what == MOUSE_RELEASE ? 0 : in.button,
					 in.x, in.y, in.mods));
			}
	in.x = 223;
	CHECK(!mouse_to_bytes(&in, bytes));
}

TEST(hits_are_where_they_were_drawn)
{
	struct grid grid;
	struct area area;
	struct hits hits = {0};
	int i;

	grid_init(&grid, 80, 10);
	area = area_sub(grid_area(&grid), 5, 2, 20, 3);
	hits_add(&hits, area, 3, 1, 4, "pane 1");
	hits_add(&hits, area, 18, 1, 10, "pane 2");	/* cut at the area's end */
	hits_add(&hits, area, 3, 3, 4, "outside");
	hits_add(&hits, area, 25, 0, 4, "outside");
	CHECK(hits.count == 2);
	CHECK(!hits_find(&hits, 7, 3) && !hits_find(&hits, 12, 3) && !hits_find(&hits, 8, 2));
	CHECK(!strcmp(hits_find(&hits, 8, 3), "pane 1") &&
	      !strcmp(hits_find(&hits, 11, 3), "pane 1"));
	CHECK(!strcmp(hits_find(&hits, 24, 3), "pane 2") && !hits_find(&hits, 25, 3));
	for (i = 0; i < 3 * HITS_MAX; i++)
		hits_add(&hits, area, 0, 0, 1, "many");
	CHECK(hits.count == HITS_MAX);
	hits_clear(&hits);
	CHECK(!hits_find(&hits, 8, 3));
	grid_release(&grid);
}
