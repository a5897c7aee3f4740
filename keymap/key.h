/* SPDX-License-Identifier: MIT */
/*
 * Keys and their names. A key is a code point or a named key, with modifiers. A name is the
 * character itself or <Name>, <C-x>, <A-x>, <S-Left> and combinations. A sequence is written as
 * names without a separator: gg, m<Space>, <Esc>q.
 *
 * Always true: what keys_print() writes, keys_parse() reads back as the same keys. Two names that a
 * terminal cannot tell apart (<C-i> and <Tab>, <C-A> and <C-a>, <S-a> and A) are the same key,
 * because the parser normalises them.
 *
 * Errors: functions that can fail return false or -1 and write a sentence (cause first, subject in
 * 'quotes') to error, cut to its size.
 * Threads: no state.
 */
#ifndef KEYMAP_KEY_H
#define KEYMAP_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum keysym {
	KEYSYM_FIRST = 0x110000,	/* above all code points */
	KEYSYM_UP = KEYSYM_FIRST, KEYSYM_DOWN, KEYSYM_LEFT, KEYSYM_RIGHT,
	KEYSYM_HOME, KEYSYM_END, KEYSYM_PAGE_UP, KEYSYM_PAGE_DOWN,
	KEYSYM_INSERT, KEYSYM_DELETE, KEYSYM_BACKSPACE,
	KEYSYM_TAB, KEYSYM_ENTER, KEYSYM_ESC,
	KEYSYM_F1,
	KEYSYM_F20 = KEYSYM_F1 + 19,
	KEYSYM_LAST = KEYSYM_F20
};

enum key_mod { MOD_CTRL = 1, MOD_ALT = 2, MOD_SHIFT = 4 };

struct key {
	uint32_t code;			/* code point or enum keysym */
	uint8_t mods;			/* enum key_mod */
};

#define KEY_NAME_MAX 24			/* maximum length of a key's name, including the NUL */
#define KEY_SEQUENCE_MAX 8		/* maximum number of keys in a binding */
#define KEY_ERROR_MAX 160

/* Makes keys equal that terminals cannot tell apart. */
struct key key_normalise(struct key key);
bool key_equal(struct key a, struct key b);
/* Whether the key is a printable character without Ctrl or Alt, which is inserted as text. */
bool key_is_text(struct key key);

/* Writes the name of one key; returns it. */
char *key_print(struct key key, char name[KEY_NAME_MAX]);

/* Reads keys until the end of text. Returns how many there are (at least 1, at most max), or -1. */
int keys_parse(const char *text, struct key *keys, int max, char *error, size_t error_size);

/* Writes the names without a separator, and only as many whole names as fit; returns text. */
char *keys_print(const struct key *keys, int count, char *text, size_t size);

#endif
