/* SPDX-License-Identifier: MIT */
#include "tui/draw/timeline_cells.h"

#define BLOCK_FULL 0x2588
#define BLOCK_RIGHT_HALF 0x2590
#define BLOCK_RIGHT_EIGHTH 0x2595
#define BLOCK_LEFT_EIGHTH 0x258f
#define SHADE_MEDIUM 0x2592

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

int cells_eighths(uint64_t part, uint64_t whole)
{
	uint64_t n;

	if (!part || !whole)
		return 0;
	if (part >= whole)
		return 8;
	n = (uint64_t)(((__uint128_t)part * 8 + whole / 2) / whole);
	return n < 1 ? 1 : n > 8 ? 8 : (int)n;
}

static int clamped_eighths(int64_t part, int64_t whole)
{
	int n = cells_eighths(part > 0 ? (uint64_t)part : 0, (uint64_t)whole);

	return n < 1 ? 1 : n;
}

enum cell_shape cells_classify(const struct column *column, int64_t start_ns, int64_t w_ns,
			       int *eighths)
{
	int64_t edge = column->first_edge_ns - start_ns;
	int64_t busy = column->busy_ns;

	*eighths = 0;
	if (!column->count || w_ns <= 0)
		return SHAPE_EMPTY;
	*eighths = 8;
	if (column->edges == 0)
		return SHAPE_FULL;
	if (edge < 0 || edge > w_ns)
		edge = edge < 0 ? 0 : w_ns;
	if (column->count == 1 && column->edges == 1) {
		/* Which side of the cell is filled: the one whose length is nearer to the busy
		 * time. */
		bool ends = distance(busy, edge) <= distance(busy, w_ns - edge);

		*eighths = clamped_eighths(ends ? edge : w_ns - edge, w_ns);
		return ends ? SHAPE_ENDS : SHAPE_STARTS;
	}
	if (column->count == 2 && column->edges == 2 && w_ns - busy <= w_ns / 16 &&
	    column->last_edge_ns - column->first_edge_ns <= w_ns / 16) {
		*eighths = cells_eighths((uint64_t)edge, (uint64_t)w_ns);
		return SHAPE_MEET;
	}
	*eighths = clamped_eighths(busy, w_ns);
	return SHAPE_DENSE;
}

static bool same_event(const struct column *a, const struct column *b)
{
	return a && a->count && a->longest.id == b->longest.id;
}

/* An edge in the very middle fits both sides: the neighbouring columns decide. before, after: NULL
 * at the ends of the row. */
static enum cell_shape cells_classify_between(const struct column *before,
					      const struct column *column,
					      const struct column *after, int64_t start_ns,
					      int64_t w_ns, int *eighths)
{
	enum cell_shape shape = cells_classify(column, start_ns, w_ns, eighths);

	if (shape != SHAPE_ENDS || w_ns % 2 || column->busy_ns != w_ns / 2 ||
	    column->first_edge_ns - start_ns != w_ns / 2)
		return shape;
	if (same_event(after, column))
		return SHAPE_STARTS;
	return before && before->count ? SHAPE_ENDS : SHAPE_STARTS;
}

/* The class of work that took most of the column's time. */
static enum work cells_dominant(const struct column *column)
{
	enum work best = WORK_NONE;
	int64_t most = 0;
	int i;

	for (i = 1; i < WORK_COUNT; i++) {
		if (column->work_ns[i] > most) {
			most = column->work_ns[i];
			best = (enum work)i;
		}
	}
	return best;
}

enum role cells_role(enum work work)
{
	if (work <= WORK_NONE || work >= WORK_COUNT)
		return ROLE_WORK_OTHER;
	return (enum role)(ROLE_WORK_MATMUL + (work - WORK_MATMUL));
}

uint32_t cells_height(int eighths, bool ascii)
{
	static const char density[] = " ..:--==#";

	if (eighths <= 0)
		return ' ';
	if (eighths > 8)
		eighths = 8;
	return ascii ? (unsigned char)density[eighths] : 0x2580 + (uint32_t)eighths;
}

uint32_t cells_left(int eighths, bool ascii)
{
	if (eighths <= 0)
		return ' ';
	if (eighths > 8)
		eighths = 8;
	if (ascii)
		return eighths == 8 ? '#' : eighths >= 4 ? '=' : '-';
	return 0x2590 - (uint32_t)eighths;
}

uint32_t cells_letter(enum work work, enum direction direction)
{
	static const char of_work[WORK_COUNT] = {
		[WORK_NONE] = 'x', [WORK_MATMUL] = 'm', [WORK_ELEMENTWISE] = 'e',
		[WORK_REDUCE] = 'r', [WORK_COPY] = '=', [WORK_COMM] = 'c',
		[WORK_INPUT] = 'i', [WORK_OTHER] = 'k', [WORK_OP] = 'o', [WORK_RANGE] = 'u',
	};

	if (work == WORK_COPY && (direction == DIR_H2D || direction == DIR_SEND))
		return '>';
	if (work == WORK_COPY && (direction == DIR_D2H || direction == DIR_RECV))
		return '<';
	return (unsigned char)of_work[work < WORK_COUNT ? work : WORK_NONE];
}

/* ---- one cell ---- */

struct cell_look {
	enum role role;
	/* letter to draw where there are no colours or no blocks; 0: none */
	uint32_t letter;
	bool open;			/* drawn hatched */
};

/* tint is NULL to colour by class of work. */
static struct cell_look work_look(enum work work, const uint8_t *tint,
				  const struct cell_style *style)
{
	struct cell_look look = {style->grey ? ROLE_CONTEXT : cells_role(work), 0, false};

	if (tint)
		look.role = *tint ? (enum role)(ROLE_PALETTE_1 + *tint - 1) : ROLE_WORK_OTHER;
	if (style->ascii && !tint)
		look.letter = cells_letter(work, style->direction);
	else if (tint && (style->ascii || !style->colour))
		look.letter = *tint ? 'a' + *tint - 1u : 'x';
	return look;
}

static struct cell_look column_look(const struct column *column, const uint8_t *tint,
				    const struct cell_style *style)
{
	struct cell_look look =
		work_look(cells_dominant(column), style->muted ? NULL : tint, style);

	look.open = style->hatch_open && (column->flags & COLUMN_OPEN) && column->count == 1;
	if (style->muted)
		look.role = ROLE_CONTEXT;
	else if (column->flags & COLUMN_FAILED)
		look.role = ROLE_BAD;
	return look;
}

static struct cell full_cell(struct cell_look look, const struct cell_style *style)
{
	struct cell cell = {BLOCK_FULL, (uint8_t)look.role, (uint8_t)look.role, 0};

	if (look.letter) {
		cell.ch = style->muted ? '#' : look.letter;
		cell.attr = style->ascii ? 0 : ATTR_REVERSE;
	}
	if (look.open) {
		cell.ch = style->ascii ? '-' : SHADE_MEDIUM;
		cell.bg = ROLE_DEFAULT;
	}
	/* Without colours, cells with a background are drawn reversed. */
	if (style->ascii || !style->colour)
		cell.bg = ROLE_DEFAULT;
	return cell;
}

/* A cell that is filled on the right: there are glyphs for a half and an eighth; the others are
 * drawn as the complementary left block, reversed. */
static struct cell right_cell(int eighths, struct cell_look look)
{
	struct cell cell = {' ', (uint8_t)look.role, ROLE_DEFAULT, 0};

	if (eighths == 4) {
		cell.ch = BLOCK_RIGHT_HALF;
	} else if (eighths == 1) {
		cell.ch = BLOCK_RIGHT_EIGHTH;
	} else {
		cell.ch = cells_left(8 - eighths, false);
		cell.attr = ATTR_REVERSE;
	}
	return cell;
}

/* The classes of two events that meet in a cell, the earlier one first. sides: the tints of the
 * neighbouring columns. */
static void meeting_looks(const struct column *column, const uint8_t *sides, int64_t before_ns,
			  int64_t after_ns, const struct cell_style *style, struct cell_look *left,
			  struct cell_look *right)
{
	enum work first = WORK_NONE, second = WORK_NONE;
	int i;

	for (i = 1; i < WORK_COUNT; i++) {
		if (!column->work_ns[i])
			continue;
		if (first == WORK_NONE)
			first = (enum work)i;
		else
			second = (enum work)i;
	}
	if (second == WORK_NONE) {
		second = first;
	} else if (distance(column->work_ns[first], before_ns) >
		   distance(column->work_ns[first], after_ns)) {
		enum work swap = first;

		first = second;
		second = swap;
	}
	*left = *right = column_look(column, sides, style);
	if (style->muted || (column->flags & COLUMN_FAILED))
		return;
	*left = work_look(first, sides, style);
	*right = work_look(second, sides ? sides + 1 : NULL, style);
}

/*
 * A cell in which two events meet. If both look the same (or there are no colours to distinguish
 * them), a gap of an eighth at the nearer side marks the border, provided that both neighbouring
 * cells are drawn: if borders were closer together, they would look like a comb.
 */
static struct cell meeting_cell(const struct column *column, const uint8_t *sides,
				int64_t start_ns, int64_t w_ns, int eighths, bool roomy,
				const struct cell_style *style)
{
	int64_t before = column->first_edge_ns - start_ns;
	struct cell_look left, right;
	struct cell cell;

	meeting_looks(column, sides, before, w_ns - before, style, &left, &right);
	if (style->ascii)
		return roomy ? (struct cell){'|', (uint8_t)right.role, ROLE_DEFAULT, 0}
			     : full_cell(left, style);
	if (eighths == 0 && left.role != right.role)
		return full_cell(right, style);
	if (eighths == 8 && left.role != right.role)
		return full_cell(left, style);
	if (left.role != right.role && style->colour) {
		cell.ch = cells_left(eighths, false);
		cell.fg = (uint8_t)left.role;
		cell.bg = (uint8_t)right.role;
		cell.attr = 0;
		return cell;
	}
	if (!roomy)
		return full_cell(left, style);
	/* A block with its left eighth missing is drawn as that eighth, reversed. */
	cell.ch = eighths <= 4 ? BLOCK_LEFT_EIGHTH : cells_left(7, false);
	cell.fg = (uint8_t)left.role;
	cell.bg = ROLE_DEFAULT;
	cell.attr = eighths <= 4 ? ATTR_REVERSE : 0;
	return cell;
}

/* Draws how busy the column was, as a shade. */
static struct cell heat_cell(const struct column *column, int64_t w_ns)
{
	int eighths = clamped_eighths(column->busy_ns, w_ns);

	return (struct cell){' ', ROLE_DEFAULT, (uint8_t)(ROLE_HEAT_1 + eighths - 1), 0};
}

static struct cell cells_draw_column(const struct column *before, const struct column *column,
				     const struct column *after, const uint8_t *tint,
				     int64_t start_ns, int64_t w_ns, const struct cell_style *style,
				     bool *alone)
{
	struct cell_look look = column_look(column, tint, style);
	uint8_t sides[2] = {
		tint ? tint[before ? -1 : 0] : 0, tint ? tint[after ? 1 : 0] : 0,
	};
	int eighths;
	enum cell_shape shape = cells_classify_between(before, column, after, start_ns, w_ns,
						       &eighths);
	struct cell cell = {' ', (uint8_t)look.role, ROLE_DEFAULT, 0};

	if (style->heat && (style->muted || shape == SHAPE_DENSE) && shape != SHAPE_EMPTY) {
		*alone = false;
		return heat_cell(column, w_ns);
	}
	*alone = shape == SHAPE_FULL || shape == SHAPE_ENDS || shape == SHAPE_STARTS;
	switch (shape) {
	case SHAPE_EMPTY:
		cell.fg = ROLE_DEFAULT;
		return cell;
	case SHAPE_FULL:
		/* One event is drawn as a bar; several events that pass through are drawn as a
		 * share. */
		*alone = column->count == 1;
		return full_cell(look, style);
	case SHAPE_MEET:
		/* A union shows no borders between its events. */
		if (style->muted)
			return full_cell(look, style);
		return meeting_cell(column, tint ? sides : NULL, start_ns, w_ns, eighths,
				    (!before || !before->edges) && (!after || !after->edges),
				    style);
	case SHAPE_ENDS:
	case SHAPE_STARTS:
		if (style->ascii) {
			cell.ch = '|';
			return cell;
		}
		if (eighths == 8)
			return full_cell(look, style);
		if (shape == SHAPE_STARTS)
			return right_cell(eighths, look);
		cell.ch = cells_left(eighths, false);
		return cell;
	case SHAPE_DENSE:
		break;
	}
	if (eighths == 8 && !style->ascii)
		return full_cell(look, style);
	cell.ch = cells_height(eighths, style->ascii);
	return cell;
}

void cells_draw(const struct column *columns, size_t n, int64_t t0_ns, int64_t w_ns,
		const struct cell_style *style, struct cell *cells, uint64_t *owners)
{
	size_t i;

	for (i = 0; i < n; i++) {
		bool alone;

		cells[i] = cells_draw_column(i ? &columns[i - 1] : NULL, &columns[i],
					     i + 1 < n ? &columns[i + 1] : NULL,
					     style->tints ? &style->tints[i] : NULL,
					     t0_ns + (int64_t)i * w_ns, w_ns, style, &alone);
		if (owners)
			owners[i] = alone ? columns[i].longest.id : 0;
	}
}

/* The height of a plot of `lines` lines, in eighths of a line; a value above 0 has at least one
 * eighth. */
static int plot_eighths(uint64_t value, uint64_t peak, int lines)
{
	int eighths;

	if (!value)
		return 0;
	if (!peak || value >= peak)
		return 8 * lines;
	eighths = (int)(((__uint128_t)value * 8 * (unsigned)lines + peak / 2) / peak);
	return eighths < 1 ? 1 : eighths;
}

void cells_plot(const struct column *columns, size_t n, uint64_t peak, int lines,
		const struct cell_style *style, struct cell *cells)
{
	for (size_t i = 0; i < n; i++) {
		int eighths = plot_eighths(columns[i].value, peak, lines);

		for (int line = 0; line < lines; line++) {
			int here = eighths - 8 * (lines - 1 - line);

			cells[(size_t)line * n + i] = (struct cell){
				cells_height(here, style->ascii),
				(uint8_t)(here <= 0 ? ROLE_DEFAULT : style->muted ? ROLE_CONTEXT :
					  ROLE_WORK_COPY), ROLE_DEFAULT, 0,
			};
		}
	}
}
