/* SPDX-License-Identifier: MIT */
/*
 * UTF-8, strict: no surrogates, no overlong forms. Threads: no state.
 */
#ifndef KEYMAP_UTF8_H
#define KEYMAP_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes one code point of at most size bytes: the bytes it used, *ch U+FFFD
 * when they are not valid; negative when the sequence is cut off and may go on;
 * 0 when size is 0. */
int utf8_decode(const char *data, size_t size, uint32_t *ch);
/* Writes 1 … 4 bytes, no NUL; returns how many. What is no code point becomes
 * U+FFFD. */
int utf8_encode(uint32_t ch, char *out);

#endif
