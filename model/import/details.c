/* SPDX-License-Identifier: MIT */
/* Finds numbers and words in the texts of other profilers. */
#include "model/import/details.h"

#include <ctype.h>
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

enum direction details_direction(const char *text)
{
	static const struct { const char *word; enum direction direction; } words[] = {
		{ "htod", DIR_H2D }, { "h2d", DIR_H2D }, { "dtoh", DIR_D2H }, { "d2h", DIR_D2H },
		{ "ptop", DIR_P2P }, { "p2p", DIR_P2P }, { "dtod", DIR_D2D }, { "d2d", DIR_D2D },
		{ "htoh", DIR_H2H }, { "h2h", DIR_H2H },
	};
	const char *from = find_key(text, "kind_src"), *to = find_key(text, "kind_dst");

	if (from && to)
		return is_host(from) ? is_host(to) ? DIR_H2H : DIR_H2D :
				       is_host(to) ? DIR_D2H : DIR_D2D;
	if (!strcasestr(text, "memcpy"))
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
	if (!strncasecmp(at, "memcpy", 6))
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
