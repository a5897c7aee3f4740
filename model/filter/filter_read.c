/* SPDX-License-Identifier: MIT */
/* Reading the words, operators and values of an expression. */
#include "model/filter/filter_read.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/utf8.h"
#include "model/base/util.h"

#define SHOWN 40u			/* how many bytes of the text an error shows */
#define ADVICE_MAX 200u

static const struct { const char *text; enum operator op; } operators[] = {
	{ "==", OP_SAME }, { "!=", OP_OTHER }, { "<=", OP_MOST }, { ">=", OP_LEAST },
	{ "!~", OP_UNLIKE }, { "=", OP_SAME }, { "<", OP_LESS }, { ">", OP_MORE }, { "~", OP_LIKE },
};

bool filter_fail(const struct filter_parser *p, const char *at, const char *format, ...)
{
	unsigned column = 1;
	char what[200];
	va_list args;

	for (const char *c = p->text; c < at; c++)
		column += !utf8_continues(*c);
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (p->inside)
		snprintf(p->error, p->error_size, "in '%s' at %u: "
			 "%s", p->frame->name, column, what);
	else
		snprintf(p->error, p->error_size, "at %u: %s", column, what);
	return false;
}

/* ---- what comes next ---- */

void filter_skip_blanks(struct filter_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

size_t filter_word_length(const char *at)
{
	size_t n = 0;

	while (at[n] && !isspace((unsigned char)at[n]) && !strchr("&|()!<>=~,[]\"'", at[n]))
		n++;
	return n;
}

int filter_shown(const char *at, size_t length)
{
	if (length > SHOWN)
		for (length = SHOWN; length && utf8_continues(at[length]); length--)
			;
	return (int)length;
}

int filter_shown_at(const char *at)
{
	size_t n = filter_word_length(at);

	for (n = n ? n : 1; n && utf8_continues(at[n]); n++)
		;
	return filter_shown(at, n);
}

bool filter_accept(struct filter_parser *p, const char *text)
{
	filter_skip_blanks(p);
	if (strncmp(p->at, text, strlen(text)))
		return false;
	p->at += strlen(text);
	return true;
}

bool filter_accept_word(struct filter_parser *p, const char *word)
{
	filter_skip_blanks(p);
	if (filter_word_length(p->at) != strlen(word) || strncmp(p->at, word, strlen(word)))
		return false;
	p->at += strlen(word);
	return true;
}

enum operator filter_accept_operator(struct filter_parser *p)
{
	filter_skip_blanks(p);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (filter_accept(p, operators[i].text))
			return operators[i].op;
	return filter_accept_word(p, "in") ? OP_IN : OP_NONE;
}

/* ---- values ---- */

char *filter_read_text(struct filter_parser *p, const char *wanted)
{
	const char *start, *end;
	size_t n;

	filter_skip_blanks(p);
	start = p->at;
	if (*start == '\'' || *start == '"') {
		end = strchr(start + 1, *start);
		if (!end) {
			filter_fail(p, start, "the closing %c is missing", *start);
			return NULL;
		}
		p->at = end + 1;
		return xstrndup(start + 1, (size_t)(end - start - 1));
	}
	n = filter_word_length(start);
	if (!n) {
		filter_fail(p, start, "%s is missing", wanted);
		return NULL;
	}
	p->at += n;
	return xstrndup(start, n);
}

char *filter_read_regex(struct filter_parser *p, bool *fold)
{
	struct strbuf text;
	const char *start;
	size_t flags;

	filter_skip_blanks(p);
	start = p->at;
	if (*start != '/')
		return filter_read_text(p, "a regular expression: /conv/");
	strbuf_init(&text);
	for (p->at++; *p->at && *p->at != '/'; p->at++) {
		if (p->at[0] == '\\' && p->at[1] && *++p->at != '/')
			strbuf_addc(&text, '\\');
		strbuf_addc(&text, *p->at);
	}
	if (!*p->at) {
		filter_fail(p, start, "the closing / of the regular expression is missing");
		strbuf_release(&text);
		return NULL;
	}
	p->at++;
	flags = filter_word_length(p->at);
	*fold = flags == 1 && *p->at == 'i';
	p->at += *fold;
	if (flags && !*fold) {
		filter_fail(p, p->at, "only i may follow a regular expression; write \\/ for a / "
			    "in it");
		strbuf_release(&text);
		return NULL;
	}
	return strbuf_detach(&text);
}

/* Joins a value that is written with a blank, as in '1 ms'. */
static bool with_next(const struct filter_parser *p, const char *word, struct strbuf *together,
		      enum filter_type type)
{
	struct filter_parser next = *p;
	char advice[ADVICE_MAX];
	int64_t value;

	filter_skip_blanks(&next);
	strbuf_adds(together, word);
	strbuf_add(together, next.at, (size_t)filter_shown(next.at, filter_word_length(next.at)));
	return filter_word_length(next.at) &&
		filter_value_parse(type, together->data, &value, advice,
							  sizeof(advice));
}

bool filter_read_number(struct filter_parser *p, enum filter_field field, int64_t *value)
{
	const struct filter_field_info *info = &filter_fields[field];
	char word[SHOWN + 1], advice[ADVICE_MAX + 40];
	struct strbuf together;
	const char *start;
	size_t n;

	filter_skip_blanks(p);
	start = p->at;
	n = filter_word_length(start);
	if (!n)
		return filter_fail(p, start, "'%s' is %s: write e.g. %s", info->name,
				   filter_type_name(info->type), filter_type_example(info->type));
	snprintf(word, sizeof(word), "%.*s", filter_shown(start, n), start);
	p->at += n;
	if (n <= SHOWN && filter_value_parse(info->type, word, value, advice, sizeof(advice)))
		return true;
	strbuf_init(&together);
	if (n > SHOWN)
		snprintf(advice, sizeof(advice), "write e.g. %s", filter_type_example(info->type));
	else if (with_next(p, word, &together, info->type))
		snprintf(advice, sizeof(advice), "without a space: %s", together.data);
	strbuf_release(&together);
	return filter_fail(p, start, "'%s' is %s, not '%s'; "
			   "%s", info->name, filter_type_name(info->type),
			   word, advice);
}
