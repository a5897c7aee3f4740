/* SPDX-License-Identifier: MIT */
#include "tui/draw/window.h"

#define TIME_MAX ((int64_t)1 << 62)

int64_t window_level_ns(int level)
{
	int64_t power;

	if (level < 0)
		level = 0;
	if (level > WINDOW_LEVEL_MAX)
		level = WINDOW_LEVEL_MAX;
	power = (int64_t)1 << (level / 2);
	if (level % 2 == 0)
		return power;
	/* there is no value between 1 and 2 and the next power */
	return power < 128 ? power + power * 53 / 128 : power / 128 * 181;
}

int64_t window_column_ns(const struct window *window)
{
	return window_level_ns(window->level);
}

int64_t window_end_ns(const struct window *window)
{
	return window->t0_ns + window->columns * window_column_ns(window);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t bound(int64_t t_ns)
{
	return t_ns > TIME_MAX ? TIME_MAX : t_ns < -TIME_MAX ? -TIME_MAX : t_ns;
}

/* Moves the window so that t_ns is in column `at`. */
static void begin(struct window *window, int64_t t_ns, int64_t at)
{
	int64_t column = window_column_ns(window);

	window->t0_ns = (floor_div(bound(t_ns), column) - at) * column;
}

int64_t window_column_of(const struct window *window, int64_t t_ns)
{
	return floor_div(bound(t_ns) - window->t0_ns, window_column_ns(window));
}

void window_fit(struct window *window, int columns, int64_t first_ns, int64_t last_ns)
{
	window_resize(window, columns);
	first_ns = bound(first_ns);
	last_ns = bound(last_ns);
	if (last_ns < first_ns)
		last_ns = first_ns;
	for (window->level = 0; window->level < WINDOW_LEVEL_MAX; window->level++) {
		begin(window, first_ns, 0);
		if (window_column_of(window, last_ns) < window->columns)
			break;
	}
	begin(window, first_ns, 0);
}

void window_resize(struct window *window, int columns)
{
	window->columns = columns < 1 ? 1 :
			  columns > WINDOW_COLUMNS_MAX ? WINDOW_COLUMNS_MAX : columns;
}

void window_zoom(struct window *window, int steps, int64_t anchor_ns)
{
	int64_t at = window_column_of(window, anchor_ns);
	int level = window->level;

	if (at < 0 || at >= window->columns) {
		at = window->columns / 2;
		anchor_ns = window->t0_ns + at * window_column_ns(window);
	}
	if (steps > WINDOW_LEVEL_MAX)
		steps = WINDOW_LEVEL_MAX;
	if (steps < -WINDOW_LEVEL_MAX)
		steps = -WINDOW_LEVEL_MAX;
	/* The lowest zoom levels are only a few ns apart; those that would change nothing are
	 * skipped. */
	do {
		level += steps;
		if (level < 0 || level > WINDOW_LEVEL_MAX)
			level = level < 0 ? 0 : WINDOW_LEVEL_MAX;
	} while (steps && level > 0 && level < WINDOW_LEVEL_MAX &&
		 window_level_ns(level) == window_column_ns(window));
	window->level = level;
	begin(window, anchor_ns, at);
}

static void move(struct window *window, int64_t columns)
{
	int64_t column = window_column_ns(window);

	begin(window, bound(window->t0_ns + columns * column), 0);
}

void window_pan(struct window *window, int percent)
{
	int64_t columns = (int64_t)window->columns * percent / 100;

	if (!columns && percent)
		columns = percent > 0 ? 1 : -1;
	move(window, columns);
}

void window_shift(struct window *window, int columns)
{
	move(window, columns);
}

bool window_show(struct window *window, int64_t t_ns)
{
	int64_t at = window_column_of(window, t_ns), margin = window->columns / 8;

	if (at < 0)
		begin(window, t_ns, margin);
	else if (at >= window->columns)
		begin(window, t_ns, window->columns - 1 - margin);
	else
		return false;
	return true;
}

void window_place(struct window *window, int64_t t_ns, int percent)
{
	begin(window, t_ns, (int64_t)window->columns * percent / 100);
}

void window_clamp(struct window *window, int64_t first_ns, int64_t last_ns)
{
	if (last_ns < first_ns)
		return;
	if (window_column_of(window, last_ns) < 0)
		begin(window, last_ns, 0);
	else if (window_column_of(window, first_ns) >= window->columns)
		begin(window, first_ns, window->columns - 1);
}

bool window_follow(struct window *window, int64_t live_ns, int jump_at, int jump_to)
{
	int64_t at = window_column_of(window, live_ns);
	int64_t limit = ((int64_t)window->columns * jump_at + 99) / 100;

	if (at >= 0 && at < window->columns && (at < limit || window->columns == 1))
		return false;
	window_place(window, live_ns, jump_to < jump_at ? jump_to : jump_at / 2);
	return true;
}
