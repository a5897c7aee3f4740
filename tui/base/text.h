/* SPDX-License-Identifier: MIT */
/*
 * Text as code points: how many columns of the screen it takes, where a line may be broken,
 * and what stands for a character where only ASCII can be shown.
 *
 * Invalid UTF-8 never fails: each byte that does not belong to a valid sequence counts as one
 * character, U+FFFD. Widths come from a table in text.c, so that they are the same in every
 * locale. No state; any thread.
 */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The columns that a text takes; an invalid byte or a control character counts as 1. */
int text_width(const char *utf8);
/* The next code point, and advances past it; U+FFFD for what cannot be shown, 0 at the end. */
uint32_t text_next(const char **utf8);
/* How many bytes of the text go on one line of `width` columns. The line ends at the last
 * blank of its second half if it has one. *next: where the rest begins; `text` itself when
 * nothing fits. */
size_t text_break(const char *text, int width, const char **next);
/* The columns of one code point: 0 (a combining mark), 1 or 2. */
int text_columns(uint32_t ch);
/* Decodes one code point of at most `size` bytes. Returns the bytes used, negative when the
 * sequence is cut off and may continue, 0 when size is 0. *ch is U+FFFD when it is invalid. */
int text_decode(const char *data, size_t size, uint32_t *ch);
/* Writes a code point as UTF-8, NUL-terminated; returns the length. */
int text_encode(uint32_t ch, char out[5]);
/* The ASCII character that stands for a code point, '?' when there is none. */
char text_ascii(uint32_t ch);
/* Copies a text with '?' for each control character, in at most size bytes. Returns out. */
char *text_clean(char *out, size_t size, const char *text);

#endif
