/* SPDX-License-Identifier: MIT */
/*
 * A line of pieces that always fits: headers and sentences. Each piece belongs
 * to a rank. Where the line is too narrow, first the ranks above STRIP_NEEDED
 * go, then pieces that can shrink are shortened to their least width, then the
 * other ranks go, the highest first. Rank 0 never goes. Nothing overlaps at any width; what is left
 * at width 1 is clipped.
 *
 * A value, no allocation. Threads: any.
 */
#ifndef TUI_STRIP_H
#define TUI_STRIP_H

#include "tui/draw/grid.h"

#define STRIP_PIECES 40
#define STRIP_TEXT 224
#define STRIP_NEEDED 6

struct strip_piece {
	char text[STRIP_TEXT];
	enum role role;
	unsigned attr;
	int rank;
	int gap;			/* columns before it, not at the left end */
	int least;			/* may shrink to this width; 0: not at all */
	bool sentence;			/* shrinks by its end, else as a name does */
	bool right;			/* stands at the right end */
	bool track;			/* drawn over a track: the empty part of a bar */
	int id;				/* of the caller, 0 unless set */
	/* set by strip_draw() */
	bool dropped;
	int x, width;
};

struct strip {
	size_t count;
	struct strip_piece pieces[STRIP_PIECES];
};

void strip_clear(struct strip *strip);

/* The piece can be changed until the next call; never NULL. Past STRIP_PIECES
 * the last one is written again. */
struct strip_piece *strip_add(struct strip *strip, int rank, int gap, enum role role,
			      unsigned attr, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* A sentence, which may shrink to `least` columns. */
void strip_sentence(struct strip *strip, int rank, int gap, enum role role, const char *text,
		    int least);

/*
 * Draws into line y of the area over its whole width; bg lies behind all of it.
 * rule: the code point that fills gaps and the rest (0: blanks).
 */
void strip_draw(struct strip *strip, struct area area, int y, enum role bg, uint32_t rule,
		bool ascii);

#endif
