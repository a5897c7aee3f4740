/* SPDX-License-Identifier: MIT */
/*
 * The whole run in one line: how busy the devices were, where the window is, and how far the data
 * has settled. Its time axis grows in steps of at most an eighth, so that it stands still while the
 * run grows into it.
 *
 * minimap_update() needs the model's lock, minimap_draw() does not. Owns its cells. Thread: the
 * loop's.
 */
#ifndef TUI_MINIMAP_H
#define TUI_MINIMAP_H

#include "model/query/query.h"
#include "tui/timeline/column_cache.h"
#include "tui/draw/grid.h"

struct minimap {
	size_t width, cap;
	uint8_t *eighths;		/* owned: height 0 … 8 per column */
	uint8_t *unseen;		/* owned: COLUMN_LOST, COLUMN_PAUSED */
	struct column_cache cache;
	int64_t *busy_ns;		/* owned */
	/* columns before `settled` are final; those from `live` on have not happened yet */
	size_t settled, live;
	/* start of the first column and a column's width; w_ns 0: there is none */
	int64_t begin_ns, w_ns;
	int64_t view_begin, view_end;	/* columns of the window, which may be outside */
};

void minimap_release(struct minimap *minimap);

/* The span that is shown for a run of this duration: the smallest one that is 4, 5, 6, 7 or 8 times
 * a power of two. */
int64_t minimap_span(int64_t length_ns);

void minimap_update(struct minimap *minimap, struct model *model,
		    const struct model_status *status, const struct model_row *rows,
		    size_t n_rows, int width, int64_t t0_ns, int64_t t1_ns);

/* The column of a time; -1: it is not on the minimap. */
int minimap_column(const struct minimap *minimap, int64_t t_ns);
void minimap_draw(const struct minimap *minimap, struct area area, bool ascii,
		  bool colour);

#endif
