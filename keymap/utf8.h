/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 for keymap/, which is a leaf and uses nothing of tui/. Strict: no
 * surrogates, no overlong forms. Threads: no state.
 */
#ifndef KEYMAP_UTF8_H
#define KEYMAP_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes used by the first code point of size bytes, 0: not valid. */
int utf8_decode(const char *data, size_t size, uint32_t *ch);
/* Writes 1 … 4 bytes, no NUL; returns how many. ch is a valid code point. */
int utf8_encode(uint32_t ch, char *out);

#endif
