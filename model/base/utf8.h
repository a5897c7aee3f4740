/* SPDX-License-Identifier: MIT */
/*
 * Stepping through text that may be UTF-8 (RFC 3629: no overlong forms, no surrogates, up to
 * U+10FFFF). Code points as numbers, for keys and for the screen, are in keymap/utf8.h.
 * No state.
 */
#ifndef MODEL_UTF8_H
#define MODEL_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the valid sequence at text, of which `left` bytes may be read (SIZE_MAX: it ends
 * with NUL); 0: it is invalid, or left is 0. */
size_t utf8_length(const char *text, size_t left);

/* Whether a byte continues a sequence, so that text must not be cut before it. */
static inline bool utf8_continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

#endif
