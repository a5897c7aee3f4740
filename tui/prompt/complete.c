/* SPDX-License-Identifier: MIT */
#include "tui/prompt/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keymap/arguments.h"
#include "keymap/command.h"
#include "keymap/words.h"
#include "model/base/utf8.h"
#include "model/base/util.h"
#include "tui/prompt/complete_internal.h"
#include "tui/lists/list.h"

/* ---- candidates ---- */

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

static bool fits(const struct gather *gather, const char *text)
{
	bool exact = has_capital(gather->typed);
	size_t length = strlen(gather->typed);

	if (gather->inside)
		return exact ? strstr(text, gather->typed) : strcasestr(text, gather->typed);
	return exact ? !strncmp(text, gather->typed, length)
		     : !strncasecmp(text, gather->typed, length);
}

/* Shortens *common to the part that both have in common, without cutting a code point. */
static void shorten_to(char *common, const char *text)
{
	size_t same = 0;

	while (common[same] && common[same] == text[same])
		same++;
	while (same && utf8_continues(common[same]))
		same--;
	common[same] = '\0';
}

/* Formats the text as a filter reads it; returns NULL if it would close the quotes around it. */
static char *filter_text_of(const char *text, char quote)
{
	if (!strpbrk(text, " \t&|()!<>=~,[]\"'"))
		return xstrdup(text);
	return strpbrk(text, "\"'") ? NULL : xasprintf("%c%s%c", quote, text, quote);
}

void gather_add(struct gather *gather, const char *text, const char *about, bool open)
{
	struct completion *out = gather->out;
	char *word;

	if (!*text || !fits(gather, text))
		return;
	word = gather->quote ? filter_text_of(text, gather->quote) : xstrdup(text);
	if (!word)
		return;
	if (out->common)
		shorten_to(out->common, word);
	else
		out->common = xstrdup(word);
	out->total++;
	if (out->count == COMPLETE_KEEP) {
		free(word);
		return;
	}
	grow(&out->list, &out->cap, out->count, sizeof(*out->list));
	out->list[out->count++] = (struct candidate){word, xstrdup(about), open};
}

bool gather_after(const struct gather *gather, const char *word)
{
	return gather->argc > 1 && !strcmp(gather->argv[gather->argc - 1], word);
}

void gather_values(struct gather *gather, const char *value)
{
	const struct gather_value *const tables[] = {gather_own, gather_of_model};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct gather_value *at = tables[i]; at->value; at++)
			if (!strcmp(at->value, value))
				at->add(gather);
}

void completion_release(struct completion *completion)
{
	for (size_t i = 0; i < completion->count; i++) {
		free(completion->list[i].text);
		free(completion->list[i].about);
	}
	free(completion->list);
	free(completion->common);
	memset(completion, 0, sizeof(*completion));
}

/* ---- the line ---- */

/* Start of the word in which the cursor is, or behind which it is. */
static size_t word_start(const char *line, size_t cursor)
{
	size_t start = 0;
	char quote = '\0';

	for (size_t i = 0; i < cursor; i++) {
		if (line[i] == '\\' && quote != '\'' && i + 1 < cursor)
			i++;
		else if (quote ? line[i] == quote : line[i] == '\'' || line[i] == '"')
			quote = quote ? '\0' : line[i];
		else if (!quote && (line[i] == ' ' || line[i] == '\t'))
			start = i + 1;
	}
	return start;
}

/* Start of word number n, from 0. */
static size_t word_number(const char *line, size_t cursor, int n)
{
	size_t at = strspn(line, " \t:");

	for (; n > 0 && at < cursor; n--) {
		size_t end = at + 1;

		/* up to the first place where another word starts */
		while (end < cursor && (word_start(line, end) <= at || strchr(" \t", line[end])))
			end++;
		at = end;
	}
	return at;
}

/* The rest of the word behind the cursor is replaced too, unless it is quoted. */
static size_t word_end(const char *line, size_t cursor)
{
	size_t length = strcspn(line + cursor, " \t'\"\\");

	return line[cursor + length] && !strchr(" \t", line[cursor + length]) ? cursor
									     : cursor + length;
}

/* Removes the quotes of one word, the last of which may be open. The caller frees the result. */
static char *complete_unquote(const char *text, size_t size)
{
	static const char *const ends[] = {"", "'", "\""};
	char error[80], *result = NULL;
	struct words words;

	for (size_t i = 0; i < 3 && !result; i++) {
		char *whole = xasprintf("%.*s%s", (int)size, text, ends[i]);

		if (words_split(&words, whole, error, sizeof(error))) {
			result = xstrdup(words.argc ? words.argv[0] : "");
			words_release(&words);
		}
		free(whole);
	}
	return result ? result : xstrndup(text, size);
}

char *complete_word(const char *text, bool open)
{
	char *word = words_join(1, &text);
	size_t length = strlen(word);

	/* the name is not complete, so its closing quote is not added yet */
	if (open && length > 1 && word[0] == '\'' && word[length - 1] == '\'')
		word[length - 1] = '\0';
	return word;
}

/* ---- what may stand there ---- */

static void gather_commands(struct gather *gather)
{
	for (int i = 0; i < COMMAND_ID_COUNT; i++) {
		gather_add(gather, command_table[i].name, command_table[i].help, false);
		/* a second name is offered only if no other name starts like this */
		if (*gather->typed && !strcmp(command_table[i].alias, gather->typed) &&
		    strncmp(command_table[i].name, gather->typed, strlen(gather->typed)))
			gather_add(gather, command_table[i].alias, command_table[i].name, false);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct candidate *)a)->text, ((const struct candidate *)b)->text);
}

/* Help on a flag: the description in the table of commands, else the value that it takes. */
static const char *flag_about(const struct gather *gather, const struct argument *flag,
			      char *sentence, size_t size)
{
	const char *at = command_table[gather->command].details;
	size_t length = strlen(flag->text);
	char argument[64];

	while ((at = command_detail(at, argument, sizeof(argument), sentence, size)))
		if (!strncmp(argument, flag->text, length) &&
		    (!argument[length] || argument[length] == ' '))
			return sentence;
	return flag->value;
}

static void gather_flags(struct gather *gather, const struct arguments *arguments)
{
	char sentence[200];

	for (int i = 0; i < arguments->count; i++) {
		const struct argument *flag = &arguments->list[i];

		if (flag->flag)
			gather_add(gather, flag->text,
				   flag_about(gather, flag, sentence, sizeof(sentence)), false);
	}
}

/* Adds the values that the list gives for its flag. */
static bool gather_flag_words(struct gather *gather)
{
	const struct list_kind *kind = list_kind_of(gather->command);
	const char *flag = gather->argv[gather->argc - 1];

	for (size_t i = 0; kind && i < kind->n_flags; i++)
		if (kind->flags[i].type == LIST_WORD && flag[0] == '-' &&
		    flag[1] == kind->flags[i].letter && !flag[2]) {
			gather_words(gather, kind->flags[i].words);
			return true;
		}
	return false;
}

/* For "start|live|TIME": adds the literal words, and the values for the placeholders. */
static void gather_choices(struct gather *gather, const char *choices)
{
	while (*choices) {
		size_t length = strcspn(choices, "|");
		char *one = xstrndup(choices, length);

		if (has_capital(one))
			gather_values(gather, one);
		else
			gather_add(gather, one, "", false);
		free(one);
		choices += length + (choices[length] == '|');
	}
}

static void gather_arguments(struct gather *gather)
{
	const struct command_info *info = &command_table[gather->command];
	struct arguments arguments;
	const char *next;
	bool value;

	arguments_parse(info->usage, &arguments);
	if (!strcmp(gather->argv[gather->argc - 1], ">")) {
		gather_files(gather, false);
		return;
	}
	next = arguments_next(&arguments, gather->argc - 1, gather->argv + 1, info->most < 0,
			      &value);
	if (*gather->typed == '-' && !value)
		gather_flags(gather, &arguments);
	if (!value || !gather_flag_words(gather))
		gather_choices(gather, next);
	if (!*gather->typed && !value && !gather->out->total)
		gather_flags(gather, &arguments);
}

/* `bind TABLE KEYS COMMAND...`: from COMMAND on, the words are a command line of their own. */
static void enter_command(struct gather *gather)
{
	struct arguments arguments;
	char error[160];
	int rest;

	while (gather->argc) {
		gather->command = command_find(gather->argv[0], error, sizeof(error));
		if (gather->command < 0)
			return;
		arguments_parse(command_table[gather->command].usage, &arguments);
		rest = arguments_rest(&arguments, gather->argc - 1);
		if (rest < 0)
			return;
		gather->argv += 1 + rest;
		gather->argc -= 1 + rest;
	}
	gather->command = -1;
}

/* Number of the command's word, from 0, in which the expression with the cursor starts; -1 if the
 * cursor is in no expression. */
static int expression_word(const struct gather *gather)
{
	const char *const *words = gather->argv + 1, *next;
	struct arguments arguments;
	bool value;

	if (!gather->argc || gather->command < 0)
		return -1;
	arguments_parse(command_table[gather->command].usage, &arguments);
	for (int i = 0; i < gather->argc; i++) {
		next = arguments_next(&arguments, i, words, false, &value);
		if (!strcmp(next, "EXPR…") || (!strcmp(next, "EXPR") && i == gather->argc - 1))
			return i + 1;
	}
	return -1;
}

/* Returns the expression up to the cursor; *quote: the quote around it. The caller frees it; NULL
 * if there is none. */
static char *take_expression(const struct gather *gather, int passed, const char *line,
			     size_t cursor, char *quote)
{
	int word = expression_word(gather);
	size_t from;

	if (word < 0)
		return NULL;
	from = word_number(line, cursor, passed + word);
	*quote = '\0';
	if (from < cursor && strchr("'\"", line[from]) &&
	    !memchr(line + from + 1, line[from], cursor - from - 1))
		*quote = line[from++];
	return xstrndup(line + from, cursor - from);
}

static void gather_all(struct gather *gather)
{
	bool first = !gather->argc;

	if (gather->expression) {
		gather->out->raw = true;
		gather->out->to = gather->cursor;
		gather->out->from = gather->cursor -
				    gather_filter(gather, gather->expression, gather->outer);
	} else if (first)
		gather_commands(gather);
	else if (gather->command >= 0)
		gather_arguments(gather);
	if (first && gather->out->count)
		qsort(gather->out->list, gather->out->count, sizeof(*gather->out->list), by_text);
}

void complete_line(const struct complete_ask *ask, const char *line, size_t cursor,
		   struct completion *out)
{
	struct gather gather = {.ask = ask, .out = out, .command = -1, .cursor = cursor};
	char *before, *typed, error[160];
	struct words words;

	memset(out, 0, sizeof(*out));
	out->from = word_start(line, cursor);
	out->to = word_end(line, cursor);
	before = xstrndup(line, out->from);
	typed = complete_unquote(line + out->from, cursor - out->from);
	if (words_split(&words, before + strspn(before, " :"), error, sizeof(error))) {
		if (!words.argc && *typed == ':') {
			memmove(typed, typed + 1, strlen(typed));
			out->from++;
		}
		gather.typed = typed;
		gather.argv = words.argv;
		gather.argc = words.argc;
		enter_command(&gather);
		gather.expression = take_expression(&gather, words.argc - gather.argc, line,
						    cursor, &gather.outer);
		gather_all(&gather);
		gather.inside = !out->total && *gather.typed;
		if (gather.inside)
			gather_all(&gather);
		if (gather.argc && gather.command >= 0)
			snprintf(out->usage, sizeof(out->usage), "%s %s",
				 command_table[gather.command].name,
				 command_table[gather.command].usage);
		words_release(&words);
	}
	free(before);
	free(typed);
	free(gather.expression);
}
