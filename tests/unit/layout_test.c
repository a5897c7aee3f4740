/* SPDX-License-Identifier: MIT */
/* Every size from 1x1 on: parts inside, no overlap, nothing shown is empty. */
#include "tests/unit/test.h"
#include "tui/draw/layout.h"

static void check_parts(const struct screen_layout *layout, const struct layout_wish *wish)
{
	const struct layout_part *parts[] = {
		&layout->header, &layout->timeline, &layout->tabs, &layout->lower, &layout->bottom,
	};
	int i, y = 0, lines = 0;

	for (i = 0; i < 5; i++) {
		CHECK(parts[i]->height >= 0);
		if (!parts[i]->height)
			continue;
		CHECK(parts[i]->y == y);
		y += parts[i]->height;
		lines += parts[i]->height;
	}
	CHECK(lines == wish->height);
	CHECK(layout->tabs.height == 1);
	CHECK(layout->timeline.height >= 5 || layout->lower.height >= 5);
	CHECK(layout->columns >= 1 && layout->gutter + layout->columns == wish->width);
}

TEST(layout_at_all_sizes)
{
	struct screen_layout layout;
	struct layout_wish wish;
	int n;

	for (wish.width = 1; wish.width <= 300; wish.width += wish.width < 70 ? 1 : 23)
		for (wish.height = 1; wish.height <= 100; wish.height++)
			for (n = 0; n < 64; n++) {
				wish.header = n & 1 ? 9 : 2;
				wish.lower_percent = n & 2 ? 80 : 20;
				wish.label_width = n & 4 ? 60 : 0;
				wish.focus_lower = n & 8;
				wish.bottom = n & 16;
				wish.timeline_lines = n & 32 ? 9 : 0;
				layout_compute(&layout, &wish);
				CHECK(layout.too_small == (wish.width < 60 || wish.height < 12));
				CHECK(layout.columns >= 1);
				if (!layout.too_small)
					check_parts(&layout, &wish);
			}
}

TEST(layout_splits_from_thirty_rows_on)
{
	struct screen_layout layout;
	struct layout_wish wish = {
		.width = 80, .height = 29, .header = 2, .lower_percent = 40, .bottom = true,
	};

	layout_compute(&layout, &wish);
	CHECK(!layout.split && layout.timeline.height && !layout.lower.height);
	wish.focus_lower = true;
	layout_compute(&layout, &wish);
	CHECK(!layout.timeline.height && layout.lower.height);
	wish.height = 30;
	layout_compute(&layout, &wish);
	CHECK(layout.split && layout.timeline.height && layout.lower.height);
}

/* Few rows: the lower pane has what the timeline has no use for, and never less than
 * its share. */
TEST(layout_of_a_short_timeline)
{
	struct screen_layout layout;
	struct layout_wish wish = {
		.width = 160, .height = 48, .header = 3, .lower_percent = 40, .bottom = true,
		.timeline_lines = 9,
	};

	layout_compute(&layout, &wish);
	CHECK_INT(layout.timeline.height, 9);
	CHECK_INT(layout.lower.height, 48 - 3 - 9 - 1 - 1);
	wish.timeline_lines = 2;
	layout_compute(&layout, &wish);
	CHECK_INT(layout.timeline.height, 5);
	wish.timeline_lines = 40;
	layout_compute(&layout, &wish);
	CHECK_INT(layout.lower.height, (48 - 3 - 1 - 1) * 40 / 100);
}
