/* SPDX-License-Identifier: MIT */
#include "keymap/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keymap/utf8.h"

/* Where a code has several names, the first one is printed. */
static const struct { const char *name; uint32_t code; } key_names[] = {
	{"Up", KEYSYM_UP}, {"Down", KEYSYM_DOWN}, {"Left", KEYSYM_LEFT},
	{"Right", KEYSYM_RIGHT}, {"Home", KEYSYM_HOME}, {"End", KEYSYM_END},
	{"PageUp", KEYSYM_PAGE_UP}, {"PgUp", KEYSYM_PAGE_UP},
	{"PageDown", KEYSYM_PAGE_DOWN}, {"PgDn", KEYSYM_PAGE_DOWN},
	{"Insert", KEYSYM_INSERT}, {"Ins", KEYSYM_INSERT},
	{"Delete", KEYSYM_DELETE}, {"Del", KEYSYM_DELETE},
	{"Backspace", KEYSYM_BACKSPACE}, {"BS", KEYSYM_BACKSPACE},
	{"Tab", KEYSYM_TAB}, {"Enter", KEYSYM_ENTER}, {"Return", KEYSYM_ENTER},
	{"CR", KEYSYM_ENTER}, {"Esc", KEYSYM_ESC}, {"Escape", KEYSYM_ESC},
	{"Space", ' '}, {"Lt", '<'}, {"Gt", '>'}, {"Hash", '#'}, {"Bar", '|'},
};

#define NAME_COUNT (sizeof(key_names) / sizeof(*key_names))

/* Whether a terminal can send Ctrl with this character. */
static bool ctrl_exists(uint32_t code)
{
	return (code >= 'a' && code <= 'z') ||
	       (code && code < 0x80 && strchr("@[\\]^_? ", (int)code));
}

struct key key_normalise(struct key key)
{
	bool named = key.code >= KEYSYM_FIRST;

	if (!named && (key.mods & MOD_SHIFT)) {
		if (key.code >= 'a' && key.code <= 'z' && !(key.mods & MOD_CTRL))
			key.code -= 'a' - 'A';
		key.mods &= (uint8_t)~MOD_SHIFT;
	}
	if (!named && (key.mods & MOD_CTRL)) {
		uint32_t same = 0;

		if (key.code >= 'A' && key.code <= 'Z')
			key.code += 'a' - 'A';
		switch (key.code) {
		case 'i': same = KEYSYM_TAB; break;
		case 'm': same = KEYSYM_ENTER; break;
		case '[': same = KEYSYM_ESC; break;
		case '?': same = KEYSYM_BACKSPACE; break;
		case '@': key.code = ' '; break;
		default: break;
		}
		if (same) {
			key.code = same;
			key.mods &= (uint8_t)~MOD_CTRL;
		}
	}
	return key;
}

bool key_equal(struct key a, struct key b)
{
	return a.code == b.code && a.mods == b.mods;
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

bool key_is_text(struct key key)
{
	return key.code < KEYSYM_FIRST && !key.mods && !is_control(key.code);
}

static const char *name_of(uint32_t code)
{
	size_t i;

	for (i = 0; i < NAME_COUNT; i++)
		if (key_names[i].code == code)
			return key_names[i].name;
	return NULL;
}

char *key_print(struct key key, char name[KEY_NAME_MAX])
{
	char base[8];
	const char *text = NULL;
	bool bare = !key.mods && key.code < KEYSYM_FIRST &&
		    key.code != '<' && key.code != ' ' && key.code != '#';

	if (key.code >= KEYSYM_F1 && key.code <= KEYSYM_F20)
		snprintf(base, sizeof(base), "F%u", (unsigned)(key.code - KEYSYM_F1 + 1));
	else if (!bare && (text = name_of(key.code)))
		snprintf(base, sizeof(base), "%s", "");
	else
		base[utf8_encode(key.code, base)] = '\0';
	if (!text)
		text = base;
	if (bare)
		snprintf(name, KEY_NAME_MAX, "%s", text);
	else
		snprintf(name, KEY_NAME_MAX, "<%s%s%s%s>", key.mods & MOD_CTRL ? "C-" : "",
			 key.mods & MOD_ALT ? "A-" : "", key.mods & MOD_SHIFT ? "S-" : "", text);
	return name;
}

char *keys_print(const struct key *keys, int count, char *text, size_t size)
{
	size_t length = 0;
	int i;

	if (!size)
		return text;
	text[0] = '\0';
	for (i = 0; i < count; i++) {
		char name[KEY_NAME_MAX];
		size_t more = strlen(key_print(keys[i], name));

		if (length + more >= size)
			break;
		memcpy(text + length, name, more + 1);
		length += more;
	}
	return text;
}

/* Parses "F5" and the like; returns 0 if the name is no function key. */
static uint32_t function_key(const char *name)
{
	char *end;
	long number;

	if ((name[0] != 'F' && name[0] != 'f') || name[1] < '1' || name[1] > '9')
		return 0;
	number = strtol(name + 1, &end, 10);
	return *end || number > 20 ? 0 : KEYSYM_F1 + (uint32_t)number - 1;
}

/* Parses the text between < and >. */
static bool parse_named(const char *name, struct key *key, char *error, size_t error_size)
{
	const char *whole = name;
	size_t i;

	key->mods = 0;
	while (name[0] && name[1] == '-' && name[2]) {
		if (name[0] == 'C' || name[0] == 'c')
			key->mods |= MOD_CTRL;
		else if (name[0] == 'A' || name[0] == 'a' || name[0] == 'M')
			key->mods |= MOD_ALT;
		else if (name[0] == 'S' || name[0] == 's')
			key->mods |= MOD_SHIFT;
		else
			break;
		name += 2;
	}
	key->code = function_key(name);
	for (i = 0; !key->code && i < NAME_COUNT; i++)
		if (strcasecmp(key_names[i].name, name) == 0)
			key->code = key_names[i].code;
	if (!key->code) {
		size_t length = strlen(name);

		if (!length || utf8_decode(name, length, &key->code) != (int)length ||
		    key->code == 0xfffd || is_control(key->code)) {
			snprintf(error, error_size, "unknown key name '<%s>'", whole);
			return false;
		}
	}
	if (key->code < KEYSYM_FIRST && (key->mods & MOD_CTRL)) {
		uint32_t code = key->code;

		if (code >= 'A' && code <= 'Z')
			code += 'a' - 'A';
		if (!ctrl_exists(code)) {
			snprintf(error, error_size, "terminals do not send the key '<%s>'", whole);
			return false;
		}
	}
	return true;
}

static bool parse_one(const char **text, struct key *key, char *error, size_t error_size)
{
	const char *p = *text, *end = p[0] == '<' && p[1] ? strchr(p + 2, '>') : NULL;
	char name[KEY_NAME_MAX];
	int used;

	if (end && (size_t)(end - p) <= sizeof(name)) {
		size_t length = (size_t)(end - p) - 1;

		memcpy(name, p + 1, length);
		name[length] = '\0';
		*text = end + 1;
		if (!parse_named(name, key, error, error_size))
			return false;
		*key = key_normalise(*key);
		return true;
	}
	key->mods = 0;
	used = utf8_decode(p, strlen(p), &key->code);
	if (used <= 0 || key->code == 0xfffd) {
		snprintf(error, error_size, "a key name is not UTF-8");
		return false;
	}
	if (is_control(key->code)) {
		snprintf(error, error_size,
			 "a key name has a control character: write it as <C-x>");
		return false;
	}
	*text = p + used;
	return true;
}

int keys_parse(const char *text, struct key *keys, int max, char *error, size_t error_size)
{
	int count = 0;

	if (!*text) {
		snprintf(error, error_size, "no key given");
		return -1;
	}
	while (*text) {
		if (count == max) {
			snprintf(error, error_size, "a binding has more than %d keys", max);
			return -1;
		}
		if (!parse_one(&text, &keys[count], error, error_size))
			return -1;
		count++;
	}
	return count;
}
