/* SPDX-License-Identifier: MIT */
#include "tui/draw/layout.h"

#include <string.h>

#define LEAST_PART 5			/* fewest lines in which a pane is useful */

int layout_header_max(int height)
{
	return height < 20 ? 2 : height < LAYOUT_SPLIT_ROWS ? 3 : height < 40 ? 5 : 7;
}

static int gutter_for(const struct layout_wish *wish)
{
	int gutter = wish->label_width;

	if (!gutter)
		gutter = wish->width < 100   ? 16
			 : wish->width < 140 ? 18
			 : wish->width < 160 ? 22
					     : 28;
	if (gutter > wish->width / 2)
		gutter = wish->width / 2;
	return gutter;
}

void layout_compute(struct screen_layout *layout, const struct layout_wish *wish)
{
	int header = wish->header, rest;

	memset(layout, 0, sizeof(*layout));
	layout->width = wish->width;
	layout->height = wish->height;
	layout->gutter = gutter_for(wish);
	layout->columns = wish->width - layout->gutter;
	if (layout->columns < 1)
		layout->columns = 1;
	if (wish->width < LAYOUT_LEAST_COLUMNS || wish->height < LAYOUT_LEAST_ROWS) {
		layout->too_small = true;
		return;
	}
	if (header > layout_header_max(wish->height))
		header = layout_header_max(wish->height);
	if (header < 0)
		header = 0;
	layout->header.height = header;
	rest = wish->height - header - 1 - (wish->bottom ? 1 : 0);
	layout->split = wish->height >= LAYOUT_SPLIT_ROWS && !wish->full;
	if (layout->split) {
		int lower = rest * wish->lower_percent / 100;

		if (wish->timeline_lines && lower < rest - wish->timeline_lines)
			lower = rest - wish->timeline_lines;
		if (lower < LEAST_PART)
			lower = LEAST_PART;
		if (lower > rest - LEAST_PART)
			lower = rest - LEAST_PART;
		layout->lower.height = lower;
		layout->timeline.height = rest - lower;
	} else if (wish->focus_lower) {
		layout->lower.height = rest;
	} else {
		layout->timeline.height = rest;
	}
	layout->timeline.y = header;
	layout->tabs = (struct layout_part){header + layout->timeline.height, 1};
	layout->lower.y = layout->tabs.y + 1;
	layout->bottom = (struct layout_part){wish->height - 1, wish->bottom ? 1 : 0};
}
