/* SPDX-License-Identifier: MIT */
/*
 * Fewer bytes for the same picture. Curses puts back every colour and attribute
 * before it takes the next ("ESC [39m ESC (B ESC [m ESC [38;5;36m"); here what it
 * asks for is gathered until a character needs it, and only what differs is said,
 * in one sequence. A blank is not told the colour of the letter it does not have.
 *
 * Made for terminals whose attributes do not stick to the cursor as it moves
 * (terminfo's msgr). What is not known here goes through as it is.
 *
 * Threads: any, each call is on its own.
 */
#ifndef TUI_SGR_H
#define TUI_SGR_H

#include <stddef.h>

struct strbuf;

/* What draws the same as `text` on a terminal that has no colours and attributes
 * set, and leaves it so if `text` does; is added to `out`. */
void sgr_shorten(struct strbuf *out, const char *text, size_t size);

#endif
