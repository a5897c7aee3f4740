/* SPDX-License-Identifier: MIT */
#include "keymap/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/memory.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies one word from *line to *out and advances both. Returns false if a quote is not closed. */
static bool words_take_quoted(const char **line, char **out)
{
	const char *p = *line;
	char *to = *out, quote = '\0';

	for (; *p; p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"') {
			quote = quote ? '\0' : *p;
			continue;
		}
		if (!quote && is_blank(*p))
			break;
		if (*p == '\\' && quote != '\'' && p[1] &&
		    strchr(quote ? "\"\\" : " \t'\"#\\", p[1]))
			p++;
		*to++ = *p;
	}
	*to++ = '\0';
	*line = p;
	*out = to;
	return !quote;
}

bool words_split(struct words *words, const char *line, char *error, size_t error_size)
{
	char *out = key_realloc(NULL, strlen(line) + 2, 1);

	words->text = out;
	words->argc = 0;
	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line || *line == '#')
			break;
		if (words->argc == WORDS_MAX) {
			snprintf(error, error_size, "more than %d words", WORDS_MAX);
			words_release(words);
			return false;
		}
		words->argv[words->argc++] = out;
		if (!words_take_quoted(&line, &out)) {
			snprintf(error, error_size, "a quote is not closed");
			words_release(words);
			return false;
		}
	}
	words->argv[words->argc] = NULL;
	return true;
}

char *words_rest(const char *line, int n)
{
	const char *end, *at;
	char *word, *to, *rest;

	word = to = key_realloc(NULL, strlen(line) + 2, 1);
	for (; n >= 0; n--) {
		while (is_blank(*line))
			line++;
		to = word;
		if (!*line || *line == '#' || !n || !words_take_quoted(&line, &to))
			break;
	}
	/* Finds the end of the last word before a comment. */
	for (at = end = line; *at && *at != '#'; end = at) {
		to = word;
		if (!words_take_quoted(&at, &to))
			at += strlen(at);
		end = at;
		while (is_blank(*at))
			at++;
		if (!*at || *at == '#')
			break;
	}
	free(word);
	rest = key_realloc(NULL, (size_t)(end - line) + 1, 1);
	memcpy(rest, line, (size_t)(end - line));
	rest[end - line] = '\0';
	return rest;
}

void words_release(struct words *words)
{
	free(words->text);
	words->text = NULL;
	words->argc = 0;
}

/* Adds the word, in '…' where it needs quotes; a quote inside of it is put in "…". Returns the new
 * end. */
static char *words_add(char *to, const char *word)
{
	size_t length = strlen(word);

	if (length && !strpbrk(word, " \t\r\n'\"\\") && word[0] != '#') {
		memcpy(to, word, length);
		return to + length;
	}
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(to, "'\"'\"'", 5);
			to += 5;
		} else {
			*to++ = *word;
		}
	}
	*to++ = '\'';
	return to;
}

char *words_join(int argc, const char *const *argv)
{
	size_t size = 1;
	char *line, *to;
	int i;

	for (i = 0; i < argc; i++)
		size += 5 * strlen(argv[i]) + 3;
	to = line = key_realloc(NULL, size, 1);
	for (i = 0; i < argc; i++) {
		if (i)
			*to++ = ' ';
		to = words_add(to, argv[i]);
	}
	*to = '\0';
	return line;
}

/* ---- what was meant ---- */

#define WORD_MAX 40

int words_distance(const char *a, size_t a_length, const char *b)
{
	int rows[3][WORD_MAX + 1], la = (int)a_length, lb = (int)strlen(b), i, j;

	if (a_length > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (i = 1; i <= la; i++) {
		int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= lb; j++) {
			int best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return rows[la % 3][lb];
}
