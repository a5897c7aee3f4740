/* SPDX-License-Identifier: MIT */
/* Everything that is drawn over a row's cells: names, the selected event, links, losses. */
#include "tui/draw/timeline_cells.h"

#include "tui/draw/labels.h"

#define BLOCK_FULL 0x2588
#define SHADE_LIGHT 0x2591
#define MIDDLE_DOT 0xb7		/* used where shades cannot be dark and would be too bright */
#define SHADE_MEDIUM 0x2592
#define DIAGONAL 0x2571
#define SHADE_DARK 0x2593
#define FADE_MOST 3
#define ARROW_LEFT 0x25c2
#define ARROW_RIGHT 0x25b8

/* Whether a cell can take a letter: a cell with an edge cannot. */
static bool takes_text(const struct cell *cell)
{
	if (cell->ch == BLOCK_FULL)
		return true;
	return cell->ch < 0x7f && cell->ch != '|' && cell->ch != ' ' && cell->ch != '-';
}

void cells_label(struct cell *cells, size_t begin, size_t end, const char *name,
		 const struct cell_style *style)
{
	char text[LABEL_MAX];
	const char *at = text;

	while (begin < end && !takes_text(&cells[begin]))
		begin++;
	while (end > begin && !takes_text(&cells[end - 1]))
		end--;
	if (!name || end - begin < CELLS_LABEL_MIN - 1)
		return;
	label_shorten(text, sizeof(text), name, (int)(end - begin), style->ascii);
	while (*at && begin < end) {
		uint32_t ch = text_next(&at);
		int columns = text_columns(ch);

		if (columns <= 0)
			continue;
		if (columns == 2 && begin + 1 >= end)
			break;
		/* The role of the bar becomes the background; in ASCII it was only the
		 * foreground. */
		cells[begin].bg = cells[begin].fg;
		cells[begin].ch = style->ascii && ch > 0x7e ? (unsigned char)text_ascii(ch) : ch;
		cells[begin].fg = ROLE_DEFAULT;
		cells[begin].attr = style->colour ? 0 : ATTR_REVERSE;
		if (columns == 2) {
			cells[begin + 1] = cells[begin];
			cells[begin + 1].ch = 0;
		}
		begin += (size_t)columns;
	}
	/* Letters of a name and letters of a class need a separator. */
	if (style->ascii && begin < end) {
		cells[begin].bg = cells[begin].fg;
		cells[begin].ch = ' ';
		cells[begin].attr = style->colour ? 0 : ATTR_REVERSE;
	}
}

bool cells_next_bar(const uint64_t *owners, size_t n, size_t *begin, size_t *end)
{
	while (*begin < n && !owners[*begin])
		(*begin)++;
	if (*begin >= n)
		return false;
	*end = *begin + 1;
	while (*end < n && owners[*end] == owners[*begin])
		(*end)++;
	return true;
}

static bool in_bar(const struct cell *cell)
{
	return cell->ch == BLOCK_FULL || (cell->fg == ROLE_DEFAULT && cell->bg != ROLE_DEFAULT);
}

/* If no cell of [begin, end) belongs to the event alone, its name is written over the first bar in
 * there with enough room. */
static void label_covered(struct cell *cells, const uint64_t *owners, size_t begin, size_t end,
			  uint64_t id, const char *name, const struct cell_style *style)
{
	size_t i, from;

	for (i = begin; i < end; i++)
		if (owners[i] == id)
			return;
	for (from = begin; from < end; from = i + 1) {
		for (i = from; i < end && in_bar(&cells[i]); i++)
			;
		if (i - from < CELLS_LABEL_MIN)
			continue;
		end = i;
		for (i = from; i < end; i++)
			if (cells[i].ch != BLOCK_FULL)
				cells[i] = (struct cell){BLOCK_FULL, cells[i].bg,
							 style->colour ? cells[i].bg : 0, 0};
		cells_label(cells, from, end, name, style);
		return;
	}
}

void cells_select(struct cell *cells, const uint64_t *owners, size_t begin, size_t end,
		  uint64_t id, const char *name, const struct cell_style *style)
{
	size_t i;

	label_covered(cells, owners, begin, end, id, name, style);
	for (i = begin; i < end; i++) {
		if (cells[i].ch == ' ' && cells[i].bg == ROLE_DEFAULT)
			continue;
		cells[i].attr |= ATTR_BOLD | ATTR_UNDERLINE;
		if (owners[i] == id || cells[i].bg != ROLE_DEFAULT)
			continue;
		if (style->colour)
			cells[i].bg = ROLE_SELECTED;
		else
			cells[i].attr |= ATTR_REVERSE;
	}
}

void cells_arrow(struct cell *cells, size_t at, bool back, const struct cell_style *style)
{
	struct cell *cell = &cells[at];

	cell->ch = style->ascii ? (back ? '<' : '>') : back ? ARROW_LEFT : ARROW_RIGHT;
	cell->fg = ROLE_ACCENT;
	cell->attr = ATTR_BOLD;
}

void cells_underline(struct cell *cells, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (cells[i].ch != ' ' || cells[i].bg != ROLE_DEFAULT)
			cells[i].attr |= ATTR_UNDERLINE;
}

void cells_link(struct cell *cells, size_t n, size_t begin, size_t end, bool back,
		const struct cell_style *style)
{
	size_t at = begin;

	cells_underline(cells, begin, end);
	/* Beside the event if that cell is empty, else on its first cell. */
	if (begin > 0 && cells[begin - 1].ch == ' ' && cells[begin - 1].bg == ROLE_DEFAULT)
		at = begin - 1;
	else if (end < n && cells[end].ch == ' ' && cells[end].bg == ROLE_DEFAULT)
		at = end;
	cells_arrow(cells, at, back, style);
}

void cells_match(struct cell *cells, const struct column *columns, size_t n,
		 const struct cell_style *style)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct cell *cell = &cells[i];

		if (!columns[i].count || (cell->ch == ' ' && cell->bg == ROLE_DEFAULT))
			continue;
		cell->attr |= ATTR_BOLD | ATTR_UNDERLINE;
		/* Letters of a name are kept; filled cells change. */
		if (cell->fg != ROLE_DEFAULT) {
			if (style->ascii && cell->ch != '|')
				cell->ch = '*';
			else if (!style->colour && cell->ch == BLOCK_FULL)
				cell->ch = SHADE_DARK;
			cell->fg = ROLE_MATCH;
		}
		if (cell->bg != ROLE_DEFAULT)
			cell->bg = ROLE_MATCH;
	}
}

/* Whether an event, or a union, passes through the column and is still open. Shades of the heat map
 * are kept. */
static bool goes_on(const struct column *column, const struct cell *cell)
{
	return (column->flags & COLUMN_OPEN) && !column->edges && cell->ch != ' ';
}

static void fade(struct cell *cell, size_t step, const struct cell_style *style)
{
	static const uint32_t shades[FADE_MOST] = {SHADE_DARK, SHADE_MEDIUM, SHADE_LIGHT};
	static const char ascii[FADE_MOST] = {'=', '-', '.'};

	cell->ch = style->ascii ? (unsigned char)ascii[step] : shades[step];
	cell->bg = ROLE_DEFAULT;
	cell->attr &= (uint8_t)~ATTR_REVERSE;
}

void cells_fade(struct cell *cells, const struct column *columns, size_t n, uint64_t *owners,
		const struct cell_style *style)
{
	for (size_t end = 1; end < n; end++) {
		size_t begin = end, most;

		if (columns[end].flags & COLUMN_OPEN)
			continue;
		while (begin && goes_on(&columns[begin - 1], &cells[begin - 1]))
			begin--;
		/* A short bar keeps half of its length for its name. */
		most = (end - begin + 1) / 2 < FADE_MOST ? (end - begin + 1) / 2 : FADE_MOST;
		for (size_t i = 0; i < most; i++) {
			/* ░ alone would look like data that is not final. */
			fade(&cells[end - 1 - i], most == 1 ? 0 : FADE_MOST - 1 - i, style);
			owners[end - 1 - i] = 0;
		}
	}
}

void cells_unsettled(struct cell *cells, size_t from, size_t to, const struct cell_style *style)
{
	size_t i;

	for (i = from; i < to; i++) {
		if (cells[i].ch != ' ' || cells[i].bg != ROLE_DEFAULT)
			continue;
		cells[i].ch = style->ascii ? '~' : style->colour ? SHADE_LIGHT : MIDDLE_DOT;
		cells[i].fg = ROLE_UNSETTLED;
		cells[i].attr = style->ascii ? ATTR_DIM : 0;
	}
}

/* Draws where the level was off, behind events that reach into it. */
void cells_paused(struct cell *cells, const struct column *columns, size_t n,
		  const struct cell_style *style)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(columns[i].flags & COLUMN_PAUSED) || cells[i].ch != ' ' ||
		    cells[i].bg != ROLE_DEFAULT)
			continue;
		cells[i].ch = style->ascii ? '/' : DIAGONAL;
		cells[i].fg = ROLE_UNSETTLED;
	}
}

void cells_lost(struct cell *cells, const struct column *columns, size_t n,
		const struct cell_style *style)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(columns[i].flags & COLUMN_LOST) || cells[i].ch != ' ' ||
		    cells[i].bg != ROLE_DEFAULT)
			continue;
		cells[i].ch = style->ascii ? '?' : SHADE_MEDIUM;
		cells[i].fg = ROLE_LOST;
	}
}
