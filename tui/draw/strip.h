/* SPDX-License-Identifier: MIT */
/*
 * A line of pieces that always fits: for headers and sentences. Each piece has a rank. If the line
 * is too narrow, first the pieces of ranks above STRIP_NEEDED are dropped, then pieces that can
 * shrink are shortened to their smallest width, then the other ranks are dropped, the highest
 * first. Rank 0 is never dropped. Pieces never overlap; what is left at width 1 is clipped.
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
	int gap;			/* columns before it, except at the left end */
	int least;			/* the width to which it may shrink; 0: it cannot shrink */
	bool sentence;			/* is shortened at its end; otherwise as a name is */
	bool right;			/* is placed at the right end */
	bool track;			/* is drawn over a track, the empty part of a bar */
	int id;				/* for the caller; 0 unless set */
	/* set by strip_draw() */
	bool dropped;
	int x, width;
};

struct strip {
	size_t count;
	struct strip_piece pieces[STRIP_PIECES];
};

void strip_clear(struct strip *strip);

/* Adds a piece, which can be changed until the next call; never NULL. Past STRIP_PIECES the last
 * piece is overwritten. */
struct strip_piece *strip_add(struct strip *strip, int rank, int gap, enum role role,
			      unsigned attr, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Adds a sentence, which may shrink to `least` columns. */
void strip_sentence(struct strip *strip, int rank, int gap, enum role role, const char *text,
		    int least);

/*
 * Draws into line y of the area over its whole width; bg is the background of all of it. rule: the
 * code point that fills gaps and the rest (0: blanks).
 */
void strip_draw(struct strip *strip, struct area area, int y, enum role bg, uint32_t rule,
		bool ascii);

#endif
