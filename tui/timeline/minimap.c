/* SPDX-License-Identifier: MIT */
#include "tui/timeline/minimap.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/timeline_cells.h"

#define ROWS_MAX 8		/* if there are very many devices, only the first ones are shown */
#define LEAST_NS 1000000000LL

void minimap_release(struct minimap *minimap)
{
	free(minimap->eighths);
	free(minimap->unseen);
	column_cache_release(&minimap->cache);
	free(minimap->busy_ns);
	memset(minimap, 0, sizeof(*minimap));
}

static void minimap_reserve(struct minimap *minimap, size_t width)
{
	if (width > minimap->cap) {
		minimap->cap = width;
		minimap->eighths = xreallocarray(minimap->eighths, width, 1);
		minimap->unseen = xreallocarray(minimap->unseen, width, 1);
		minimap->busy_ns = xreallocarray(minimap->busy_ns, width, sizeof(int64_t));
	}
	minimap->width = width;
	if (!width)
		return;
	memset(minimap->eighths, 0, width);
	memset(minimap->unseen, 0, width);
	memset(minimap->busy_ns, 0, width * sizeof(int64_t));
}

int64_t minimap_span(int64_t length_ns)
{
	int64_t unit = 1, times;

	if (length_ns < LEAST_NS)
		length_ns = LEAST_NS;
	while (unit < INT64_MAX / 16 && unit * 8 < length_ns)
		unit *= 2;
	times = (length_ns + unit - 1) / unit;
	return unit * (times < 4 ? 4 : times);
}

/* Rows that the map shows: devices, or threads where there are no devices. */
static bool shown(const struct model_row *row, bool devices)
{
	return row->kind == (devices ? ROW_DEVICE : ROW_THREAD);
}

static size_t add_rows(struct minimap *minimap, struct model *model,
		       const struct model_row *rows, size_t n_rows, bool devices,
		       int64_t begin, int64_t w)
{
	const struct column *columns;
	size_t i, c, used = 0;

	for (i = 0; i < n_rows && used < ROWS_MAX; i++) {
		if (!shown(&rows[i], devices))
			continue;
		used++;
		columns = column_cache_get(&minimap->cache, model, rows[i].id,
					   devices ? LANE_ALL : 0, begin, w, minimap->width);
		for (c = 0; c < minimap->width; c++) {
			minimap->busy_ns[c] += columns[c].busy_ns;
			if (columns[c].flags & (COLUMN_LOST | COLUMN_PAUSED))
				minimap->unseen[c] |= columns[c].flags;
		}
	}
	return used;
}

static int64_t column_of(int64_t t, int64_t begin, int64_t w)
{
	int64_t d = t - begin;

	return d / w - (d % w < 0);
}

static size_t within(int64_t column, int width)
{
	return column < 0 ? 0 : column > width ? (size_t)width : (size_t)column;
}

void minimap_update(struct minimap *minimap, struct model *model,
		    const struct model_status *status, const struct model_row *rows,
		    size_t n_rows, int width, int64_t t0_ns, int64_t t1_ns)
{
	int64_t begin = status->first_ns, end = status->live_ns, span, w;
	size_t used, c;

	column_cache_frame(&minimap->cache, status);
	minimap_reserve(minimap, width > 0 ? (size_t)width : 0);
	if (!minimap->width)
		return;
	minimap->view_begin = minimap->view_end = -1;
	minimap->w_ns = 0;
	minimap->settled = minimap->live = status->finished ? minimap->width : 0;
	if (status->first_ns > status->last_ns)
		return;
	if (end < status->last_ns)
		end = status->last_ns;
	span = status->finished ? end - begin + 1 : minimap_span(end - begin);
	w = span / width + (span % width != 0);
	if (w < 1)
		w = 1;
	minimap->begin_ns = begin;
	minimap->w_ns = w;
	used = add_rows(minimap, model, rows, n_rows, true, begin, w);
	if (!used)
		used = add_rows(minimap, model, rows, n_rows, false, begin, w);
	for (c = 0; used && c < minimap->width; c++)
		minimap->eighths[c] = (uint8_t)cells_eighths(
			(uint64_t)(minimap->busy_ns[c] > 0 ? minimap->busy_ns[c] : 0),
			(uint64_t)w * used);
	if (!status->finished) {
		minimap->settled = within(column_of(status->settled_ns, begin, w), width);
		minimap->live = within(column_of(end, begin, w) + 1, width);
	}
	minimap->view_begin = column_of(t0_ns, begin, w);
	minimap->view_end = column_of(t1_ns - 1, begin, w) + 1;
}

int minimap_column(const struct minimap *minimap, int64_t t_ns)
{
	int64_t column = minimap->w_ns > 0 ? column_of(t_ns, minimap->begin_ns, minimap->w_ns) : -1;

	return column < 0 || column >= (int64_t)minimap->width ? -1 : (int)column;
}

void minimap_draw(const struct minimap *minimap, struct area area, bool ascii,
		  bool colour)
{
	int64_t left = minimap->view_begin - 1, right = minimap->view_end;
	int64_t last = (int64_t)minimap->width - 1;
	size_t i;

	for (i = 0; i < minimap->width; i++) {
		bool inside = (int64_t)i > left && (int64_t)i < right;
		enum role role = inside ? ROLE_WORK_MATMUL : ROLE_CONTEXT;
		uint32_t ch = cells_height(minimap->eighths[i], ascii);
		bool full = ch == 0x2588 && colour;

		if (minimap->unseen[i] & COLUMN_LOST && ch == ' ') {
			ch = ascii ? '?' : 0x2592;
			role = ROLE_LOST;
		} else if (minimap->unseen[i] && ch == ' ') {
			ch = ascii ? '/' : 0x2571;
			role = ROLE_UNSETTLED;
		} else if (i >= minimap->settled && i < minimap->live && ch == ' ') {
			ch = ascii ? '~' : colour ? 0x2591 : 0xb7;
			role = ROLE_UNSETTLED;
		}
		area_put(area, (int)i, 0, ch, role, full ? role : ROLE_DEFAULT, 0);
	}
	if (minimap->view_end < 0 || last < 1)
		return;
	left = left < 0 ? 0 : left > last - 1 ? last - 1 : left;
	right = right > last ? last : right <= left ? left + 1 : right;
	area_put(area, (int)left, 0, '[', ROLE_TITLE, ROLE_DEFAULT, ATTR_BOLD);
	area_put(area, (int)right, 0, ']', ROLE_TITLE, ROLE_DEFAULT, ATTR_BOLD);
}
