/* SPDX-License-Identifier: MIT */
/*
 * The time window of the timeline, as pure arithmetic: no model, no screen.
 *
 * A window is a zoom level, a first column and a number of columns. One column
 * lasts 2^(level/2) ns (odd levels: 181/128 of the power below, so that a
 * press zooms by the square root of 2), and the window begins at a multiple of
 * its column, so that columns neither shimmer nor shift while panning: panning
 * is by whole columns only.
 *
 * Always true after any function: 1 ≤ columns ≤ WINDOW_COLUMNS_MAX, 0 ≤ level ≤ WINDOW_LEVEL_MAX,
 * t0_ns is a multiple of the column, t1 - t0 = columns · column, and nothing
 * overflows for times within ±2^62.
 *
 * Following by sweep: the window stands still while the live edge moves to the
 * right and jumps when it reaches `jump_at` per cent, so that a frame changes
 * a few cells and not all of them.
 *
 * Threads: no state.
 */
#ifndef TUI_WINDOW_H
#define TUI_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_LEVEL_MAX 92		/* a column of 2^46 ns is 19 hours */
#define WINDOW_COLUMNS_MAX 16384	/* 2^14 columns of 2^46 ns do not overflow */

struct window {
	int level;
	int columns;
	int64_t t0_ns;
};

int64_t window_level_ns(int level);	/* one column's duration */
int64_t window_column_ns(const struct window *window);
int64_t window_end_ns(const struct window *window);
/* Column of a time, negative or ≥ columns when outside. */
int64_t window_column_of(const struct window *window, int64_t t_ns);

/* The smallest window of so many columns that shows [first, last] whole. */
void window_fit(struct window *window, int columns, int64_t first_ns, int64_t last_ns);
/* Keeps level and start. */
void window_resize(struct window *window, int columns);
/* steps < 0 zooms in; the anchor stays in its column as far as it can. */
void window_zoom(struct window *window, int steps, int64_t anchor_ns);
/* By per cent of the window, at least one column; negative: earlier. */
void window_pan(struct window *window, int percent);
/* By columns; negative: earlier. */
void window_shift(struct window *window, int columns);
/* Moves the least so that the time has its place inside, a margin of an eighth
 * of the window around it. Returns whether it moved. */
bool window_show(struct window *window, int64_t t_ns);
/* Puts the time at so many per cent of the window. */
void window_place(struct window *window, int64_t t_ns, int percent);
/* Not entirely outside of [first, last]: at least one column of it stays. */
void window_clamp(struct window *window, int64_t first_ns, int64_t last_ns);
/* The sweep: jumps so that the live edge stands at jump_to per cent when it is
 * outside or past jump_at. Returns whether it jumped. */
bool window_follow(struct window *window, int64_t live_ns, int jump_at, int jump_to);

#endif
