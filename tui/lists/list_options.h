/* SPDX-License-Identifier: MIT */
/*
 * Flags of the commands that list things (lp, lk, le, ...): tfdbg's letters and words, each with a
 * type, so that an error can name the flag, what was given, and what would be valid. A list has an
 * array of its flags; LIST_FLAGS_COMMON are those that all lists have.
 *
 * 	lp -n /conv/ -e '>100us' --sort_by mean -r -l 20
 *
 * Always true: a flag is given at most once, by its letter or by its word; its value follows it, or
 * follows "=". An argument that is not a flag is the one name that some lists take. Arguments are
 * not copied: they live longer. Threads: the loop's.
 */
#ifndef TUI_LIST_OPTIONS_H
#define TUI_LIST_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/filter/filter.h"
#include "tui/draw/page_call.h"

enum list_flag_type {
	LIST_SWITCH,			/* takes no value */
	/* an extended regular expression; case matters if it has a capital; may be written between
	 * slashes */
	LIST_REGEX,
	LIST_TIMES,			/* an interval of times */
	LIST_SIZES,			/* an interval of bytes */
	LIST_WORD,			/* one of `words` */
	LIST_NUMBER,			/* 0 or more */
	LIST_TEXT,
	LIST_FILTER,			/* model/filter/filter.h */
};

struct list_flag {
	char letter;			/* '\0': it has only a word */
	const char *word;		/* without the "--" */
	enum list_flag_type type;
	/* what it restricts, for the heading: "name", "mean"; NULL: the heading does not mention
	 * it */
	const char *what;
	const char *words;		/* for LIST_WORD: such as "kernel copy fill" */
};

#define LIST_LIMIT 500			/* maximum number of lines without -l */

#define LIST_FLAGS_COMMON \
	{ 's', "sort_by", LIST_TEXT, NULL, NULL }, \
	{ 'r', "reverse", LIST_SWITCH, NULL, NULL }, \
	{ 'l', "limit", LIST_NUMBER, NULL, NULL }
/* For lists whose rows can be filtered. */
#define LIST_FLAG_WHERE { 'w', "where", LIST_FILTER, "where", NULL }

/* Both ends are included. */
struct list_range {
	int64_t least, most;
};

#define LIST_FLAGS_MAX 16

struct list_given {
	const char *text;		/* as given; NULL: not given; "" for a switch */
	regex_t regex;
	struct list_range range;
	int64_t number;
	struct filter *filter;		/* owned */
};

struct list_options {
	const struct list_flag *flags;	/* borrowed */
	size_t n_flags;
	struct list_given given[LIST_FLAGS_MAX];
	const char *name;		/* the argument that is not a flag; NULL: none */
};

/* names: how many names may be given, 0 or 1. false: a sentence in call->error, and nothing needs
 * to be released. */
bool list_options_parse(const struct page_call *call, const struct list_flag *flags,
			size_t n_flags, int names, struct list_options *out);
void list_options_release(struct list_options *options);

/* A flag by its letter; NULL: not given. */
const struct list_given *list_given(const struct list_options *options, char letter);
/* A flag by its word, if it has no letter. */
const struct list_given *list_given_word(const struct list_options *options, const char *word);
/* Also true if the flag was not given. A text that is NULL matches nothing. */
bool list_matches(const struct list_options *options, char letter, const char *text,
		  const char *other);
bool list_within(const struct list_options *options, char letter, int64_t value);
/* Whether the row passes -w; row is passed to `get`. */
bool list_wants(const struct list_options *options, filter_get *get, const void *row);
/* The value of -l, or LIST_LIMIT. */
size_t list_limit(const struct list_options *options);

/* Parses ">100us" ">=1ms" "<1s" "<=2m" "[1ms,5ms]" "(1ms,5ms)" "[1ms,5ms)", and the same with
 * sizes; one end of an interval may be left out: "[1ms,]". false: it is not an interval. */
bool list_range_parse(const char *text, bool sizes, struct list_range *out);

/* An expression that matches exactly this text; the caller frees. */
char *list_regex_quote(const char *text);
/* The text that such an expression matches; NULL: it has another form. The caller frees. */
char *list_regex_literal(const char *text);

/* Writes what was filtered, such as " name ~ conv mean >100us"; nothing if nothing was filtered. */
void list_options_say(const struct list_options *options, struct page *page);

#endif
