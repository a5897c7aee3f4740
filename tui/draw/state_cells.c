/* SPDX-License-Identifier: MIT */
#include "tui/draw/state_cells.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"

#define LABEL_LEAST 6		/* columns of a line that takes a name */

/* X(state, family) */
#define STATE_LIST(X) \
	X(OTHER, WAITS) X(PYTHON, RUNS) X(NATIVE, RUNS) X(SLEEP, SLEEPS) X(FILE, WAITS) \
	X(SOCKET, WAITS) X(PIPE, WAITS) X(POLL, WAITS) X(LOCK, WAITS) X(GIL, WAITS) \
	X(CHILD, WAITS) X(FAULT, WAITS) X(CPU, WAITS) X(GC, RUNS) X(IMPORT, RUNS) \
	X(STOPPED, WAITS) X(THROTTLED, WAITS) X(COMPILE, RUNS)

#define ONE_MORE(...) + 1
_Static_assert(0 STATE_LIST(ONE_MORE) == DOING_COUNT, "each state has an entry in the list");

static const uint8_t family_of[DOING_COUNT] = {
#define ROW(state, family) [DOING_##state] = STATE_##family,
	STATE_LIST(ROW)
#undef ROW
};

static enum state_family state_family(enum doing_kind doing)
{
	return (unsigned)doing < DOING_COUNT ? (enum state_family)family_of[doing] : STATE_WAITS;
}

static enum role state_role(enum state_family family)
{
	return (enum role)(ROLE_STATE_RUN + (family - STATE_RUNS));
}

static uint32_t state_line(enum state_family family, bool ascii)
{
	static const uint32_t lines[STATE_FAMILIES][2] = {
		[STATE_RUNS] = { 0x2500, '^' }, [STATE_WAITS] = { 0x254c, ',' },
		[STATE_SLEEPS] = { 0x2508, '_' },
	};

	return lines[family][ascii];
}

/* ---- names ---- */

char *state_place(char *out, size_t size, const struct host_state *state)
{
	int at = 0;

	*out = '\0';
	if (*state->file && state->line)
		at = snprintf(out, size, "%s:%u", path_last(state->file), state->line);
	if (*state->function && at >= 0 && (size_t)at < size)
		snprintf(out + at, size - (size_t)at, "%s%s", at ? " in " : "", state->function);
	return out;
}

/* The most that there is room for: "sleep load loader.py:25", "load loader.py:25", "load". */
static void state_label(char *out, size_t size, const struct host_state *state, int width,
			bool ascii)
{
	char text[LABEL_MAX], line[16] = "";

	if (!*state->function) {
		snprintf(text, sizeof(text), "%s%s%s", doing_name(state->doing),
			 *state->what ? " " : "", state->what);
		label_fit(out, size, text, width, ascii);
		return;
	}
	if (state->line)
		snprintf(line, sizeof(line), ":%u", state->line);
	snprintf(text, sizeof(text), "%s %s %s%s", doing_name(state->doing), state->function,
		 path_last(state->file), line);
	if (text_width(text) > width)
		snprintf(text, sizeof(text), "%s %s%s", state->function, path_last(state->file),
			 line);
	label_fit(out, size, text_width(text) > width ? state->function : text, width, ascii);
}

/* Within a function the line may change from column to column. */
static bool same_place(const struct host_state *a, const struct host_state *b)
{
	return a->doing == b->doing && !strcmp(a->function, b->function) &&
	       !strcmp(a->file, b->file) && (*a->function || !strcmp(a->what, b->what));
}

/* Writes the name into cells [begin, end), if it has room there beside a cell at both ends. */
static void state_draw_name(struct cell *cells, size_t begin, size_t end,
			    const struct host_state *state, const struct cell_style *style)
{
	char text[LABEL_MAX];
	const char *at = text;

	if (end - begin < LABEL_LEAST)
		return;
	begin++;
	end--;
	state_label(text, sizeof(text), state, (int)(end - begin), style->ascii);
	while (*at && begin < end) {
		uint32_t ch = text_next(&at);
		int width = text_columns(ch);

		if (width <= 0)
			continue;
		if (begin + (size_t)width > end)
			break;
		/* A blank would be taken for a cell that is empty. */
		if (ch == ' ')
			ch = style->ascii ? ' ' : 0xa0;
		cells[begin].ch = style->ascii && ch > 0x7e ? (unsigned char)text_ascii(ch) : ch;
		cells[begin].fg = (uint8_t)state_role(state_family(state->doing));
		if (width == 2) {
			cells[begin + 1] = cells[begin];
			cells[begin + 1].ch = 0;
		}
		begin += (size_t)width;
	}
}

/* ---- cells ---- */

/* A line, and what is drawn into it. */
struct state_row {
	struct cell *cells;
	const struct column *columns, *above;
	const struct host_state *states;
	size_t n;
	int64_t w_ns;
};

static bool is_free(const struct state_row *row, size_t i)
{
	const struct cell *cell = &row->cells[i];

	return cell->ch == ' ' && cell->bg == ROLE_DEFAULT && !cell->attr &&
	       !row->columns[i].count && (!row->above || row->above[i].count);
}

/* Less than an eighth of a column would look as if it were all of it. */
static bool is_shown(const struct state_row *row, size_t i)
{
	return is_free(row, i) && row->states[i].ns > 0 && row->states[i].ns >= row->w_ns / 8;
}

/* Draws from cell i on the lines of one state in one function; returns the cell behind them. */
static size_t state_draw(const struct state_row *row, size_t i, const struct cell_style *style)
{
	enum state_family family = state_family(row->states[i].doing);
	struct host_state place = row->states[i];
	size_t end, room;

	for (end = i; end < row->n && is_shown(row, end) &&
	     same_place(&row->states[i], &row->states[end]); end++) {
		if (row->states[end].line != place.line)
			place.line = 0;
		row->cells[end].ch = state_line(family, style->ascii);
		row->cells[end].fg = (uint8_t)state_role(family);
	}
	/* The name of a look that stands for its moment has room up to the next one. */
	for (room = end; place.at_ns && end == i + 1 && room < row->n && is_free(row, room) &&
	     !row->states[room].ns; room++)
		;
	state_draw_name(row->cells, i, room, &place, style);
	return end;
}

unsigned cells_states(struct cell *cells, const struct column *columns,
		      const struct column *above, const struct host_state *states, size_t n,
		      int64_t w_ns, const struct cell_style *style)
{
	const struct state_row row = { cells, columns, above, states, n, w_ns };
	unsigned families = 0;

	for (size_t i = 0; i < n;) {
		if (!is_shown(&row, i)) {
			i++;
			continue;
		}
		families |= 1u << state_family(states[i].doing);
		i = state_draw(&row, i, style);
	}
	return families;
}

void states_legend(struct strip *strip, unsigned families, int rank, bool ascii)
{
	static const char *const words[STATE_FAMILIES] = {
		[STATE_RUNS] = "runs", [STATE_WAITS] = "waits", [STATE_SLEEPS] = "sleeps",
	};
	static const char *const lines[STATE_FAMILIES] = {
		[STATE_RUNS] = "──", [STATE_WAITS] = "╌╌", [STATE_SLEEPS] = "┈┈",
	};

	for (enum state_family f = STATE_RUNS; f < STATE_FAMILIES; f++) {
		if (!(families & 1u << f))
			continue;
		if (ascii)
			strip_add(strip, rank, 2, state_role(f), 0, "%c%c",
				  (int)state_line(f, true), (int)state_line(f, true));
		else
			strip_add(strip, rank, 2, state_role(f), 0, "%s", lines[f]);
		strip_add(strip, rank, 1, ROLE_MUTED, 0, "%s", words[f]);
	}
}
