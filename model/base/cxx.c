/* SPDX-License-Identifier: MIT */
#include "model/base/cxx.h"

#include <string.h>

static const char anonymous[] = "(anonymous namespace)";

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (c & 0x80);
}

/* Whether the characters before `at` are the word `operator`. */
static bool after_operator(const struct cxx *cxx, size_t from, size_t at)
{
	return at >= from + 8 && !memcmp(cxx->text + at - 8, "operator", 8) &&
	       (at == from + 8 || !is_word(cxx->text[at - 9]));
}

/* Whether < or > is a part of an operator's name, or the end of "->". */
static bool is_sign(const struct cxx *cxx, size_t at)
{
	char c = cxx->text[at];

	if (c != '<' && c != '>')
		return false;
	if (at && c == '>' && cxx->text[at - 1] == '-')
		return true;
	return after_operator(cxx, 0, at) ||
	       (at && cxx->text[at - 1] == c && after_operator(cxx, 0, at - 1));
}

void cxx_read(struct cxx *cxx, const char *text)
{
	static const char open[] = "<([{", close[] = ">)]}";
	uint16_t stack[CXX_MAX];
	size_t depth = 0, left;

	cxx->text = text;
	cxx->length = (uint16_t)strnlen(text, CXX_MAX - 1);
	memset(cxx->match, 0, cxx->length * sizeof(cxx->match[0]));
	for (uint16_t at = 0; at < cxx->length; at++) {
		const char *found;

		if (is_sign(cxx, at))
			continue;
		if (strchr(open, text[at])) {
			stack[depth++] = at;
			continue;
		}
		found = strchr(close, text[at]);
		if (!found)
			continue;
		/* "(a < b)": a sign that is less-than closes nothing */
		for (left = depth; left && text[stack[left - 1]] == '<' && *found != '>'; left--)
			;
		if (!left || text[stack[left - 1]] != open[found - close])
			continue;
		depth = left - 1;
		cxx->match[stack[depth]] = at;
	}
	while (depth)
		cxx->match[stack[--depth]] = cxx->length;
}

/* The place behind the character at `at`, or behind the bracket that it opens. */
static size_t step(const struct cxx *cxx, size_t at, size_t to)
{
	size_t next = cxx->match[at] ? cxx->match[at] + 1u : at + 1;

	return next < to ? next : to;
}

static bool stands(const struct cxx *cxx, size_t at, size_t to, const char *text)
{
	size_t length = strlen(text);

	return at + length <= to && !memcmp(cxx->text + at, text, length);
}

/* Whether the bracket at `at` belongs to a name and does not enclose parameters. */
static bool is_name(const struct cxx *cxx, size_t from, size_t at, size_t to)
{
	return stands(cxx, at, to, anonymous) ||
	       (after_operator(cxx, from, at) && cxx->match[at] == at + 1);
}

/* Behind parameters: the place behind " const" and what else may follow them. */
static size_t behind_parameters(const struct cxx *cxx, size_t at, size_t to)
{
	at = step(cxx, at, to);
	if (stands(cxx, at, to, " const"))
		at += 6;
	if (stands(cxx, at, to, "&"))
		at++;
	return at;
}

/* Whether the blank at `at` is followed by what belongs to no name: "const", "[clone …]". */
static bool is_qualifier(const struct cxx *cxx, size_t at, size_t to)
{
	return stands(cxx, at, to, " [") ||
	       (stands(cxx, at, to, " const") &&
		(at + 6 >= to || strchr(" *&", cxx->text[at + 6])));
}

struct cxx_range cxx_function(const struct cxx *cxx, struct cxx_range whole)
{
	struct cxx_range name = whole;

	for (size_t at = whole.from, next; at < whole.to; at = next) {
		next = step(cxx, at, whole.to);
		if (cxx->text[at] == '(' && !is_name(cxx, whole.from, at, whole.to)) {
			next = behind_parameters(cxx, at, whole.to);
			/* else the parameters of a function that contains the named one */
			if (!stands(cxx, next, whole.to, "::")) {
				name.to = (uint16_t)at;
				break;
			}
		} else if (cxx->text[at] == ' ' && !after_operator(cxx, whole.from, at)) {
			if (is_qualifier(cxx, at, whole.to)) {
				name.to = (uint16_t)at;
				break;
			}
			name.from = (uint16_t)next;
		}
	}
	while (!cxx_empty(name) && strchr("*& ", cxx->text[name.from]))
		name.from++;
	while (!cxx_empty(name) && strchr("*& ", cxx->text[name.to - 1]))
		name.to--;
	return name;
}

bool cxx_next_part(const struct cxx *cxx, struct cxx_range *rest, struct cxx_part *part)
{
	size_t at = rest->from, end = 0;

	if (cxx_empty(*rest))
		return false;
	*part = (struct cxx_part){ .name = *rest };
	part->lambda = stands(cxx, at, rest->to, "{lambda(") ||
		       stands(cxx, at, rest->to, "'lambda");
	while (at < rest->to && !stands(cxx, at, rest->to, "::")) {
		size_t next = step(cxx, at, rest->to), last = next > at + 1 ? next - 1 : next;
		struct cxx_range inside = { (uint16_t)(at + 1), (uint16_t)last };

		if (part->lambda && cxx->text[at] == '{') {
			uint16_t open = (uint16_t)(at + 7), close = cxx->match[open];

			part->parameters = (struct cxx_range){ (uint16_t)(open + 1),
							       close < next ? close : open };
		} else if (cxx->text[at] == '<' && cxx->match[at]) {
			if (cxx_empty(part->arguments))
				part->arguments = inside;
			end = end ? end : at;
		} else if (cxx->text[at] == '(' && !is_name(cxx, rest->from, at, rest->to)) {
			part->parameters = inside;
			end = end ? end : at;
		}
		at = next;
	}
	part->name.to = (uint16_t)(end ? end : at);
	rest->from = (uint16_t)(at < rest->to ? at + 2 : at);
	return true;
}

bool cxx_next_item(const struct cxx *cxx, struct cxx_range *rest, struct cxx_range *item)
{
	size_t at = rest->from;

	if (cxx_empty(*rest))
		return false;
	while (at < rest->to && cxx->text[at] != ',')
		at = step(cxx, at, rest->to);
	*item = (struct cxx_range){ rest->from, (uint16_t)at };
	rest->from = (uint16_t)(at < rest->to ? at + 1 : at);
	while (!cxx_empty(*item) && cxx->text[item->from] == ' ')
		item->from++;
	while (!cxx_empty(*item) && cxx->text[item->to - 1] == ' ')
		item->to--;
	return true;
}

bool cxx_last_part(const struct cxx *cxx, struct cxx_range range, struct cxx_part *part,
		   struct cxx_range *outer)
{
	struct cxx_range name = cxx_function(cxx, range), rest = name, before = rest;
	bool any = false;

	while (before = rest, cxx_next_part(cxx, &rest, part))
		any = true, *outer = (struct cxx_range){ name.from, before.from };
	return any;
}

bool cxx_function_of_lambda(const struct cxx *cxx, struct cxx_range range,
			    struct cxx_part *function, struct cxx_part *last)
{
	struct cxx_range rest = cxx_function(cxx, range);
	struct cxx_part part;
	bool found = false, inside = false;

	while (cxx_next_part(cxx, &rest, &part)) {
		if (part.lambda) {
			*last = part;
			inside = true;
		} else if (!inside && !cxx_begins(cxx, part.name, "operator(")) {
			*function = part;
			found = true;
		}
	}
	return found && inside;
}

bool cxx_is(const struct cxx *cxx, struct cxx_range range, const char *text)
{
	return (size_t)(range.to - range.from) == strlen(text) && cxx_begins(cxx, range, text);
}

bool cxx_begins(const struct cxx *cxx, struct cxx_range range, const char *text)
{
	return range.from <= range.to && stands(cxx, range.from, range.to, text);
}

bool cxx_ends(const struct cxx *cxx, struct cxx_range range, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(range.to - range.from) >= length && range.from <= range.to &&
	       !memcmp(cxx->text + range.to - length, text, length);
}

bool cxx_has(const struct cxx *cxx, struct cxx_range range, const char *text)
{
	size_t length = strlen(text);

	return range.to > range.from &&
	       memmem(cxx->text + range.from, (size_t)(range.to - range.from), text, length);
}
