/* SPDX-License-Identifier: MIT */
#include "tui/lists/list_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/regex.h"
#include "model/base/util.h"

#define WORD_MAX 40
#define REGEX_MAX 400

/* ---- values ---- */

/* Compiles an extended regular expression. Case matters if the text contains a capital letter; the
 * text may be enclosed in /.../. Returns false and a sentence in error if it is invalid. */
static bool list_regex(regex_t *regex, const char *text, char *error, size_t error_size)
{
	size_t length = strlen(text);
	char inner[REGEX_MAX];

	if (length >= REGEX_MAX) {
		snprintf(error, error_size, "the regular expression is too long: at most %d bytes",
			 REGEX_MAX - 1);
		return false;
	}
	if (length >= 2 && text[0] == '/' && text[length - 1] == '/')
		snprintf(inner, sizeof(inner), "%.*s", (int)length - 2, text + 1);
	else
		snprintf(inner, sizeof(inner), "%s", text);
	return regex_make(regex, inner, REGEX_SMART, error, error_size);
}

char *list_regex_quote(const char *text)
{
	struct strbuf quoted;

	strbuf_init(&quoted);
	strbuf_addc(&quoted, '^');
	for (; *text; text++) {
		if (strchr(".[]()*+?{}|^$\\", *text))
			strbuf_addc(&quoted, '\\');
		strbuf_addc(&quoted, *text);
	}
	strbuf_addc(&quoted, '$');
	return strbuf_detach(&quoted);
}

char *list_regex_literal(const char *text)
{
	size_t length = strlen(text), n = 0;
	char *plain, *quoted;
	bool same;

	if (length < 2 || text[0] != '^' || text[length - 1] != '$')
		return NULL;
	plain = xstrdup(text);
	for (size_t i = 1; i + 1 < length; i++) {
		if (text[i] == '\\' && i + 2 < length)
			i++;
		plain[n++] = text[i];
	}
	plain[n] = '\0';
	quoted = list_regex_quote(plain);
	same = !strcmp(quoted, text);
	free(quoted);
	if (same)
		return plain;
	free(plain);
	return NULL;
}

static bool parse_end(const char *text, size_t length, bool sizes, int64_t *out)
{
	char word[WORD_MAX];
	uint64_t bytes;

	while (length && *text == ' ')
		text++, length--;
	while (length && text[length - 1] == ' ')
		length--;
	if (!length || length >= sizeof(word))
		return false;
	memcpy(word, text, length);
	word[length] = '\0';
	if (!sizes)
		return parse_time_ns(word, out) && *out < INT64_MAX;
	if (!parse_size_bytes(word, &bytes))
		return false;
	*out = bytes >= INT64_MAX ? INT64_MAX - 1 : (int64_t)bytes;
	return true;
}

static bool only_blanks(const char *text, size_t length)
{
	while (length && *text == ' ')
		text++, length--;
	return !length;
}

static bool parse_ends(const char *text, size_t length, bool sizes, struct list_range *out)
{
	const char *comma = memchr(text, ',', length);
	char open = text[0], close = text[length - 1];
	size_t first, second;

	if (!comma || (close != ']' && close != ')'))
		return false;
	first = (size_t)(comma - text) - 1;
	second = length - first - 3;
	if (only_blanks(text + 1, first) && only_blanks(comma + 1, second))
		return false;
	if (!only_blanks(text + 1, first)) {
		if (!parse_end(text + 1, first, sizes, &out->least))
			return false;
		out->least += open == '(';
	}
	if (!only_blanks(comma + 1, second)) {
		if (!parse_end(comma + 1, second, sizes, &out->most))
			return false;
		out->most -= close == ')';
	}
	return out->least <= out->most;
}

bool list_range_parse(const char *text, bool sizes, struct list_range *out)
{
	size_t length = strlen(text), sign;
	int64_t end;

	*out = (struct list_range){ INT64_MIN, INT64_MAX };
	if (length > 2 && (*text == '[' || *text == '('))
		return parse_ends(text, length, sizes, out);
	if (*text != '<' && *text != '>')
		return false;
	sign = text[1] == '=' ? 2 : 1;
	if (!parse_end(text + sign, length - sign, sizes, &end))
		return false;
	if (*text == '>')
		out->least = end + (sign == 1);
	else
		out->most = end - (sign == 1);
	return true;
}

static bool parse_number(const char *text, int64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text) || strlen(text) > 15)
		return false;
	*out = strtoll(text, &end, 10);
	return !*end;
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; length && (at = strstr(at, word)) != NULL; at += length)
		if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

/* ---- flags ---- */

static char *flag_name(char *out, size_t size, const struct list_flag *flag)
{
	if (flag->letter)
		snprintf(out, size, "-%c", flag->letter);
	else
		snprintf(out, size, "--%s", flag->word);
	return out;
}

static bool fail(const struct page_call *call, const struct list_flag *flag, const char *value,
		 const char *wanted)
{
	char name[WORD_MAX];

	snprintf(call->error, call->error_size, "%s wants %s, not '%.80s'",
		 flag_name(name, sizeof(name), flag), wanted, value);
	return false;
}

/* Describes the value that a flag expects. */
static const char *wanted_of(const struct list_flag *flag, char *text, size_t size)
{
	switch (flag->type) {
	case LIST_REGEX:
		return "a regular expression";
	case LIST_TIMES:
		return "an interval of time such as >100us, <=5ms or [1ms,5ms)";
	case LIST_SIZES:
		return "an interval of bytes such as >64k, <=1M or [64k,1M)";
	case LIST_WORD:
		snprintf(text, size, "one of %s", flag->words);
		return text;
	case LIST_NUMBER:
		return "a number";
	case LIST_FILTER:
		return "a filter such as 'dur > 1ms & name ~ /conv/'";
	default:
		return "a word";
	}
}

static bool list_options_take_value(const struct page_call *call, const struct list_flag *flag,
				    const char *value, struct list_given *given)
{
	char wanted[160], why[FILTER_ERROR_MAX], name[WORD_MAX];
	bool good = true;

	switch (flag->type) {
	case LIST_REGEX:
		if (list_regex(&given->regex, value, why, sizeof(why)))
			break;
		snprintf(call->error, call->error_size, "%s: %s",
			 flag_name(name, sizeof(name), flag), why);
		return false;
	case LIST_FILTER:
		given->filter = filter_parse(value, call->filters, why, sizeof(why));
		if (given->filter)
			break;
		snprintf(call->error, call->error_size, "%s: %s",
			 flag_name(name, sizeof(name), flag), why);
		return false;
	case LIST_TIMES:
	case LIST_SIZES:
		good = list_range_parse(value, flag->type == LIST_SIZES, &given->range);
		break;
	case LIST_WORD:
		good = has_word(flag->words, value);
		break;
	case LIST_NUMBER:
		good = parse_number(value, &given->number);
		break;
	default:
		good = *value != '\0';
	}
	if (!good)
		return fail(call, flag, value, wanted_of(flag, wanted, sizeof(wanted)));
	given->text = value;
	return true;
}

/* Returns the flag that a word names, with the text after "=" in *value (NULL if there is none). */
static const struct list_flag *find_flag(const struct list_options *options, const char *word,
					 const char **value)
{
	size_t length = strcspn(word, "=");

	*value = NULL;
	for (size_t i = 0; i < options->n_flags; i++) {
		const struct list_flag *flag = &options->flags[i];

		if (word[1] != '-') {
			if (flag->letter && word[1] == flag->letter && !word[2])
				return flag;
		} else if (strlen(flag->word) == length - 2 &&
			   !strncmp(flag->word, word + 2, length - 2)) {
			*value = word[length] ? word + length + 1 : NULL;
			return flag;
		}
	}
	return NULL;
}

static bool no_flag(const struct page_call *call, const struct list_options *options,
		    const char *word)
{
	struct strbuf all;

	strbuf_init(&all);
	for (size_t i = 0; i < options->n_flags; i++) {
		char name[WORD_MAX];

		strbuf_addf(&all, "%s%s", i ? " " : "",
			    flag_name(name, sizeof(name), &options->flags[i]));
	}
	snprintf(call->error, call->error_size, "no option '%.30s' of %s: it has %s", word,
		 call->argv[0], all.data);
	strbuf_release(&all);
	return false;
}

static bool list_options_take_flag(const struct page_call *call, struct list_options *options,
				   int *at)
{
	const char *word = call->argv[*at], *value;
	const struct list_flag *flag = find_flag(options, word, &value);
	struct list_given *given;
	char wanted[160];

	if (!flag)
		return no_flag(call, options, word);
	given = &options->given[flag - options->flags];
	if (given->text) {
		snprintf(call->error, call->error_size, "%.30s is given twice", word);
		return false;
	}
	if (flag->type == LIST_SWITCH) {
		if (value)
			snprintf(call->error, call->error_size, "%.30s takes no value", word);
		given->text = "";
		return !value;
	}
	if (!value && *at + 1 < call->argc)
		value = call->argv[++*at];
	if (!value) {
		snprintf(call->error, call->error_size, "'%.30s' wants a value: %s", word,
			 wanted_of(flag, wanted, sizeof(wanted)));
		return false;
	}
	return list_options_take_value(call, flag, value, given);
}

bool list_options_parse(const struct page_call *call, const struct list_flag *flags,
			size_t n_flags, int names, struct list_options *out)
{
	bool good = true;

	memset(out, 0, sizeof(*out));
	out->flags = flags;
	out->n_flags = n_flags;
	for (int i = 1; i < call->argc && good; i++) {
		const char *word = call->argv[i];

		if (word[0] == '-' && word[1]) {
			good = list_options_take_flag(call, out, &i);
		} else if (names && !out->name) {
			out->name = word;
		} else {
			snprintf(call->error, call->error_size, names ?
				 "one name only, not also '%.80s'" :
				 "'%.80s' is not an option; -n takes a part of a name", word);
			good = false;
		}
	}
	if (!good)
		list_options_release(out);
	return good;
}

void list_options_release(struct list_options *options)
{
	for (size_t i = 0; i < options->n_flags; i++) {
		if (options->flags[i].type == LIST_REGEX && options->given[i].text)
			regfree(&options->given[i].regex);
		filter_free(options->given[i].filter);
	}
	options->n_flags = 0;
}

/* ---- questions ---- */

const struct list_given *list_given(const struct list_options *options, char letter)
{
	for (size_t i = 0; i < options->n_flags; i++)
		if (options->flags[i].letter == letter)
			return options->given[i].text ? &options->given[i] : NULL;
	return NULL;
}

const struct list_given *list_given_word(const struct list_options *options, const char *word)
{
	for (size_t i = 0; i < options->n_flags; i++)
		if (!strcmp(options->flags[i].word, word))
			return options->given[i].text ? &options->given[i] : NULL;
	return NULL;
}

bool list_matches(const struct list_options *options, char letter, const char *text,
		  const char *other)
{
	const struct list_given *given = list_given(options, letter);

	return !given || (text && !regexec(&given->regex, text, 0, NULL, 0)) ||
	       (other && !regexec(&given->regex, other, 0, NULL, 0));
}

bool list_within(const struct list_options *options, char letter, int64_t value)
{
	const struct list_given *given = list_given(options, letter);

	return !given || (value >= given->range.least && value <= given->range.most);
}

bool list_wants(const struct list_options *options, filter_get *get, const void *row)
{
	const struct list_given *given = list_given(options, 'w');

	return !given || filter_match(given->filter, get, row);
}

size_t list_limit(const struct list_options *options)
{
	const struct list_given *given = list_given(options, 'l');

	return !given ? LIST_LIMIT : given->number > PAGE_LINES_MAX ? PAGE_LINES_MAX :
	       (size_t)given->number;
}

void list_options_say(const struct list_options *options, struct page *page)
{
	for (size_t i = 0; i < options->n_flags; i++) {
		const struct list_flag *flag = &options->flags[i];
		const struct list_given *given = &options->given[i];

		char *literal;

		if (!flag->what || !given->text)
			continue;
		/* a link names exactly one name and says so, so it is not read as a regular
		 * expression */
		literal = flag->type == LIST_REGEX ? list_regex_literal(given->text) : NULL;
		page_add(page, ROLE_MUTED, 0, "   %s%s", flag->what, literal ? " = " :
			 flag->type == LIST_REGEX ? " ~ " : flag->type == LIST_SWITCH ? "" :
			 *given->text == '[' || *given->text == '(' ? " in " : " ");
		page_add(page, ROLE_DEFAULT, 0, "%s", literal ? literal : given->text);
		free(literal);
	}
}
