/* SPDX-License-Identifier: MIT */
/*
 * The time window of the timeline, as pure arithmetic: no model, no screen.
 *
 * A window is a zoom level, a first column and a number of columns. One column lasts 2^(level/2) ns
 * (odd levels: 181/128 of the power below, so that each key press zooms by the square root of 2).
 * The window starts at a multiple of its column, and panning is by whole columns, so that columns
 * neither shimmer nor shift.
 *
 * Always true after any function: 1 ≤ columns ≤ WINDOW_COLUMNS_MAX, 0 ≤ level ≤ WINDOW_LEVEL_MAX,
 * t0_ns is a multiple of the column, t1 - t0 = columns · column, and nothing overflows for times
 * within ±2^62.
 *
 * Following works by sweeping: the window stands still while the live edge moves to the right, and
 * jumps when the edge reaches `jump_at` per cent, so that a frame changes only a few cells.
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

int64_t window_level_ns(int level);	/* duration of one column */
int64_t window_column_ns(const struct window *window);
int64_t window_end_ns(const struct window *window);
/* The column of a time, which is negative or ≥ columns if the time is outside. */
int64_t window_column_of(const struct window *window, int64_t t_ns);

/* Sets the smallest window with this many columns that shows all of [first, last]. */
void window_fit(struct window *window, int columns, int64_t first_ns, int64_t last_ns);
/* Changes the number of columns; keeps level and start. */
void window_resize(struct window *window, int columns);
/* Zooms in if steps < 0, else out; the anchor stays in its column as far as possible. */
void window_zoom(struct window *window, int steps, int64_t anchor_ns);
/* Moves by per cent of the window, by at least one column; negative: to earlier times. */
void window_pan(struct window *window, int percent);
/* Moves by columns; negative: to earlier times. */
void window_shift(struct window *window, int columns);
/* Moves as little as possible to bring the time inside, with a margin of an eighth of the window
 * around it. Returns whether it moved. */
bool window_show(struct window *window, int64_t t_ns);
/* Puts the time at this percentage of the window. */
void window_place(struct window *window, int64_t t_ns, int percent);
/* Keeps the window from lying entirely outside of [first, last]: at least one column of that range
 * stays inside. */
void window_clamp(struct window *window, int64_t first_ns, int64_t last_ns);
/* Sweeps: if the live edge is outside or past jump_at, jumps so that it is at jump_to per cent.
 * Returns whether it jumped. */
bool window_follow(struct window *window, int64_t live_ns, int jump_at, int jump_to);

#endif
