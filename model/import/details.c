/* SPDX-License-Identifier: MIT */
/* Finds numbers and words in the texts of other profilers. */
#include "model/import/details.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_LIMIT (INT64_C(1) << 61)

size_t details_op(const char *text, size_t size)
{
	const char *colon = size ? memrchr(text, ':', size) : NULL;
	size_t at = colon ? (size_t)(colon - text) : 0;

	if (!at || at + 1 >= size || text[at - 1] == ':')
		return 0;
	if (!isalpha((unsigned char)text[at + 1]) && text[at + 1] != '_')
		return 0;
	for (size_t i = at + 1; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return 0;
	return memchr(text, ' ', size) ? 0 : at;
}

/* The text after "key:", which must be at the start of a word. */
static const char *find_key(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = text; (at = strstr(at, key)); at += length)
		if ((at == text || at[-1] == ' ') && at[length] == ':')
			return at + length + 1;
	return NULL;
}

bool details_number(const char *text, const char *key, uint64_t *value)
{
	const char *at = find_key(text, key);

	if (!at || !isdigit((unsigned char)*at))
		return false;
	*value = strtoull(at, NULL, 10);
	return true;
}

bool details_triple(const char *text, const char *key, uint64_t values[3])
{
	const char *at = find_key(text, key);
	char *end;

	for (int i = 0; i < 3; i++) {
		if (!at || !isdigit((unsigned char)*at))
			return false;
		values[i] = strtoull(at, &end, 10);
		at = *end == ',' ? end + 1 : NULL;
	}
	return true;
}

static bool is_host(const char *kind)
{
	return !strncasecmp(kind, "pageable", 8) || !strncasecmp(kind, "pinned", 6) ||
	       !strncasecmp(kind, "host", 4);
}

/* HIP's names: CopyHostToDevice, CopyDeviceToHost, CopyDeviceToDevice. */
static bool is_hip_copy(const char *text)
{
	return !strncmp(text, "CopyHostTo", 10) || !strncmp(text, "CopyDeviceTo", 12);
}

enum direction details_direction(const char *text)
{
	static const struct { const char *word; enum direction direction; } words[] = {
		{ "htod", DIR_H2D }, { "h2d", DIR_H2D }, { "dtoh", DIR_D2H }, { "d2h", DIR_D2H },
		{ "ptop", DIR_P2P }, { "p2p", DIR_P2P }, { "dtod", DIR_D2D }, { "d2d", DIR_D2D },
		{ "htoh", DIR_H2H }, { "h2h", DIR_H2H }, { "hosttodevice", DIR_H2D },
		{ "devicetohost", DIR_D2H },
	};
	const char *from = find_key(text, "kind_src"), *to = find_key(text, "kind_dst");

	if (from && to)
		return is_host(from) ? is_host(to) ? DIR_H2H : DIR_H2D :
				       is_host(to) ? DIR_D2H : DIR_D2D;
	if (!strcasestr(text, "memcpy") && !is_hip_copy(text))
		return DIR_NONE;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(text, words[i].word))
			return words[i].direction;
	return DIR_D2D;
}

uint64_t details_bytes(const char *text)
{
	const char *at = strstr(text, " bytes");

	while (at && at > text && isdigit((unsigned char)at[-1]))
		at--;
	return at && isdigit((unsigned char)*at) ? strtoull(at, NULL, 10) : 0;
}

enum command_kind details_kind(const char *name)
{
	const char *at = strncasecmp(name, "[cuda ", 6) ? name : name + 6;

	/* Only at the start, or after an op's name, because a kernel may have such a name. */
	for (const char *colon = strchr(at, ':'); colon; colon = strchr(colon + 1, ':'))
		if (!strncmp(colon + 1, "MEMCPY", 6) || !strncmp(colon + 1, "MEMSET", 6))
			at = colon + 1;
	if (!strncasecmp(at, "memcpy", 6) || is_hip_copy(at))
		return COMMAND_COPY;
	if (!strncasecmp(at, "memset", 6))
		return COMMAND_FILL;
	return COMMAND_KERNEL;
}

/* Parses [-]digits[.digits][e[-]digits] times scale. */
bool details_time(const char *text, size_t size, int64_t scale, int64_t *ns)
{
	const char *end = text + size;
	bool negative = text < end && *text == '-', point = false;
	__int128 value = 0;
	int places = 0, exponent = 0;
	bool any = false;

	for (text += negative; text < end && (isdigit((unsigned char)*text) || *text == '.');
	     text++) {
		if (*text == '.' && point)
			return false;
		if (*text == '.') {
			point = true;
			continue;
		}
		any = true;
		if (value > (__int128)TIME_LIMIT * 1000000)
			/* the rest is nothing, or the number is far too large */
			places -= !point;
		else
			value = value * 10 + (*text - '0'), places += point;
	}
	if (text + 1 < end && (*text == 'e' || *text == 'E')) {
		bool below = *++text == '-';

		for (text += *text == '-' || *text == '+';
		     text < end && isdigit((unsigned char)*text); text++)
			exponent = exponent < 1000 ? exponent * 10 + (*text - '0') : exponent;
		places += below ? exponent : -exponent;
	}
	if (!any || text != end)
		return false;
	value *= scale;
	for (; places < 0 && value && value < (__int128)TIME_LIMIT * 1000000; places++)
		value *= 10;
	for (; places > 1 && value; places--)
		value /= 10;
	if (places == 1 && value)	/* round to the nearest */
		value = (value + 5) / 10;
	if (value >= TIME_LIMIT || (places < 0 && value))
		return false;
	*ns = (int64_t)(negative ? -value : value);
	return true;
}

/* The word after `before`, up to `after`; NULL: the text is not so. */
static const char *details_word(const char *text, const char *before, const char *after,
				size_t *length)
{
	const char *end;

	if (strncmp(text, before, strlen(before)))
		return NULL;
	text += strlen(before);
	end = strstr(text, after);
	*length = end ? (size_t)(end - text) : 0;
	return *length ? text : NULL;
}

/* "<built-in method replay of _Graph object at 0x7f00>", "<method 'add' of 'Tensor' objects>",
 * "<built-in function linear>". */
static bool name_builtin(const char *name, char *text, size_t size)
{
	static const struct { const char *before, *of, *after; } forms[] = {
		{ "<built-in method ", " of ", " object at " },
		{ "<method '", "' of '", "' objects" },
		{ "<slot wrapper '", "' of '", "' objects" },
		{ "<built-in function ", ">", NULL },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n, m;
		const char *word = details_word(name, forms[i].before, forms[i].of, &n);
		const char *type = word && forms[i].after ?
			details_word(word + n, forms[i].of, forms[i].after, &m) : NULL;

		if (!word || (forms[i].after && !type))
			continue;
		/* a function of a module, a static method */
		if (!type || (m == 4 && !strncmp(type, "type", 4)))
			snprintf(text, size, "%.*s", (int)n, word);
		else
			snprintf(text, size, "%.*s.%.*s", (int)m, type, (int)n, word);
		return true;
	}
	return false;
}

bool details_python(const char *name, char *text, size_t size)
{
	const char *line = strstr(name, "): "), *file, *function;
	size_t digits = 0, length, n;

	if (name_builtin(name, text, size))
		return true;
	while (line && line - digits > name && isdigit((unsigned char)line[-1 - (long)digits]))
		digits++;
	if (!digits || line - digits == name || line[-1 - (long)digits] != '(')
		return false;
	file = name;
	for (const char *at = name; at < line - digits; at++)
		if (*at == '/' || *at == '\\')
			file = at + 1;
	function = line + 3;
	length = strlen(function);
	if (*function == '<' && length > 2 && function[length - 1] == '>') {	/* <module> */
		function++;
		length -= 2;
	}
	n = (size_t)(line - digits - 1 - file);
	if (*file == '<' && n > 2 && file[n - 1] == '>') {	/* <frozen importlib._bootstrap> */
		file++;
		n -= 2;
	}
	snprintf(text, size, "%.*s:%.*s %.*s", (int)n, file, (int)digits, line - digits,
		 (int)length, function);
	return true;
}

int64_t details_step(const char *name)
{
	static const char word[] = "ProfilerStep#";
	char *end;
	int64_t number;

	if (strncmp(name, word, sizeof(word) - 1) ||
	    !isdigit((unsigned char)name[sizeof(word) - 1]))
		return -1;
	number = strtoll(name + sizeof(word) - 1, &end, 10);
	return *end ? -1 : number;
}
