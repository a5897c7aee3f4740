/* SPDX-License-Identifier: MIT */
/*
 * Encodes and decodes UTF-8, strictly: no surrogates, no overlong forms. Threads: no state.
 */
#ifndef KEYMAP_UTF8_H
#define KEYMAP_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes one code point of at most size bytes. Returns how many bytes it used; *ch is U+FFFD if
 * they are not valid. Negative: the sequence is cut off and may continue. 0: size is 0. */
int utf8_decode(const char *data, size_t size, uint32_t *ch);
/* Writes 1 ... 4 bytes without a NUL and returns how many. What is not a code point becomes
 * U+FFFD. */
int utf8_encode(uint32_t ch, char *out);

#endif
