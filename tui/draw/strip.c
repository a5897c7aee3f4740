/* SPDX-License-Identifier: MIT */
#include "tui/draw/strip.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/draw/labels.h"

void strip_clear(struct strip *strip)
{
	strip->count = 0;
}

struct strip_piece *strip_add(struct strip *strip, int rank, int gap, enum role role,
			      unsigned attr, const char *format, ...)
{
	struct strip_piece *piece;
	va_list args;

	if (strip->count < STRIP_PIECES)
		strip->count++;
	piece = &strip->pieces[strip->count - 1];
	memset(piece, 0, sizeof(*piece));
	va_start(args, format);
	vsnprintf(piece->text, sizeof(piece->text), format, args);
	va_end(args);
	piece->rank = rank;
	piece->gap = gap;
	piece->role = role;
	piece->attr = attr;
	return piece;
}

void strip_sentence(struct strip *strip, int rank, int gap, enum role role, const char *text,
		    int least)
{
	struct strip_piece *piece = strip_add(strip, rank, gap, role, 0, "%s", text);

	piece->least = least;
	piece->sentence = true;
}

/* Width of all remaining pieces, with those that can shrink at their least width. */
static int width_of(const struct strip *strip, bool least, bool *right)
{
	bool first = true;
	int sum = 0;
	size_t i;

	*right = false;
	for (i = 0; i < strip->count; i++) {
		const struct strip_piece *piece = &strip->pieces[i];
		int width = piece->width;

		if (piece->dropped)
			continue;
		if (least && piece->least && piece->least < width)
			width = piece->least;
		sum += width + (first ? 0 : piece->gap);
		*right = *right || piece->right;
		first = false;
	}
	return sum;
}

static bool drop_rank(struct strip *strip, int above)
{
	int highest = above;
	size_t i;

	for (i = 0; i < strip->count; i++)
		if (!strip->pieces[i].dropped && strip->pieces[i].rank > highest)
			highest = strip->pieces[i].rank;
	if (highest == above)
		return false;
	for (i = 0; i < strip->count; i++)
		if (strip->pieces[i].rank == highest)
			strip->pieces[i].dropped = true;
	return true;
}

/* The last pieces shrink first. */
static void strip_shrink(struct strip *strip, int excess, bool ascii)
{
	size_t i;

	for (i = strip->count; i-- > 0 && excess > 0;) {
		struct strip_piece *piece = &strip->pieces[i];
		char text[STRIP_TEXT];
		int width;

		if (piece->dropped || !piece->least || piece->width <= piece->least)
			continue;
		width = piece->width - excess;
		if (width < piece->least)
			width = piece->least;
		(piece->sentence ? label_fit_sentence : label_shorten)(text, sizeof(text),
								       piece->text, width, ascii);
		memcpy(piece->text, text, sizeof(text));
		width = text_width(piece->text);
		excess -= piece->width - width;
		piece->width = width;
	}
}

static void strip_fit(struct strip *strip, int width, bool ascii)
{
	bool right;
	size_t i;
	int all;

	for (i = 0; i < strip->count; i++) {
		strip->pieces[i].dropped = strip->pieces[i].text[0] == '\0';
		strip->pieces[i].width = text_width(strip->pieces[i].text);
	}
	for (;;) {
		all = width_of(strip, false, &right);
		if (all <= width)
			return;
		if (drop_rank(strip, STRIP_NEEDED))
			continue;
		if (width_of(strip, true, &right) <= width || !drop_rank(strip, 0))
			break;
	}
	strip_shrink(strip, all - width, ascii);
}

/* A separator keeps a blank on both sides of it. */
static void draw_piece(const struct strip_piece *piece, struct area area, int x, int y,
		       bool rule)
{
	int end = area_text(area, x, y, piece->role, piece->attr, piece->text);

	if (piece->track)
		area_tint(area, x, y, end - x, ROLE_SELECTED, 0);
	if (rule) {
		struct area wide = {area.grid, area.x - 1, area.y, area.width + 2, area.height};

		area_text(wide, x, y, ROLE_DEFAULT, 0, " ");
		area_text(wide, end + 1, y, ROLE_DEFAULT, 0, " ");
	}
}

void strip_draw(struct strip *strip, struct area area, int y, enum role bg, uint32_t rule,
		bool ascii)
{
	int x = 0, right_width = 0;
	struct area whole = area;
	bool after_right = false;
	size_t i;

	if (area.width < 8)
		rule = 0;
	area_fill(area, 0, y, area.width, 1, rule ? rule : ' ',
		  rule ? ROLE_MUTED : bg, bg, 0);
	if (rule)
		area = area_sub(whole, 2, 0, whole.width - 4, whole.height);
	strip_fit(strip, area.width, ascii);
	for (i = 0; i < strip->count; i++)
		if (!strip->pieces[i].dropped && strip->pieces[i].right)
			right_width += strip->pieces[i].width +
				       (right_width ? strip->pieces[i].gap : 0);
	for (i = 0; i < strip->count; i++) {
		struct strip_piece *piece = &strip->pieces[i];

		if (piece->dropped || piece->right)
			continue;
		x += x ? piece->gap : 0;
		piece->x = x;
		draw_piece(piece, area, x, y, rule != 0);
		x += piece->width;
	}
	x = area.width - right_width > x ? area.width - right_width : x;
	for (i = 0; i < strip->count; i++) {
		struct strip_piece *piece = &strip->pieces[i];

		if (piece->dropped || !piece->right)
			continue;
		x += after_right ? piece->gap : 0;
		piece->x = x;
		draw_piece(piece, area, x, y, rule != 0);
		x += piece->width;
		after_right = true;
	}
}
