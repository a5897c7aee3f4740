/* SPDX-License-Identifier: MIT */
/*
 * The line of times above the rows. Pure. Ticks are at multiples of a step that is 1, 2 or 5 times
 * a power of ten (from a minute on, a division of the clock), and at least RULER_GAP columns apart.
 * The first tick shows the time since the start of the run, the others how much later they are, all
 * in one unit, so that digits keep their places.
 */
#ifndef TUI_RULER_H
#define TUI_RULER_H

#include <stddef.h>
#include <stdint.h>

#include "tui/draw/grid.h"

#define RULER_GAP 12
#define RULER_TICKS 64
#define RULER_TEXT 32

struct ruler_tick {
	size_t column;
	int64_t time_ns;
	char text[RULER_TEXT];
};

struct ruler {
	int64_t step_ns;
	size_t count;
	struct ruler_tick ticks[RULER_TICKS];
};

/* The smallest step that is at least `least_ns`. */
int64_t ruler_step(int64_t least_ns);

/* Places the ticks in `columns` columns of w_ns from t0_ns on; base_ns is the start of the run. */
void ruler_layout(struct ruler *ruler, int64_t t0_ns, int64_t w_ns, size_t columns,
		  int64_t base_ns);

/* A time since the start of the run, as precise as `step_ns` needs: "27.800 s". */
void ruler_time(char *out, size_t size, int64_t ns, int64_t step_ns);

/* Marks the columns before `columns`, whose detail was discarded. */
void ruler_draw_folded(struct area area, int64_t columns, bool ascii);
/* Marks that a clock stepped at `column`: as much of "≠clock" as there is room for. */
void ruler_draw_clock(struct area area, int64_t column, bool ascii);
/* Marks that a step starts at `column`: "#29", if there is room beside the times. */
void ruler_draw_step(struct area area, int64_t column, int64_t number);
/* Draws into the first line of the area, only where that is blank. */
void ruler_draw(const struct ruler *ruler, struct area area, bool ascii);

#endif
