/* SPDX-License-Identifier: MIT */
/*
 * Flags of the commands that list things (lp, lk, le, ...): tfdbg's letters and words, each of
 * a type, so that what is given wrongly is said with its flag, what was given and what would
 * be right. A list says which flags it has as an array; those that all have come with
 * LIST_FLAGS_COMMON.
 *
 *	lp -n /conv/ -e '>100us' --sort_by mean -r -l 20
 *
 * Always true: a flag is given once at most, by its letter or by its word, its value behind
 * it or after "="; what is no flag is the one name that some lists take. Nothing of what was
 * given is copied: the arguments live longer. Threads: the loop's.
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
	LIST_SWITCH,			/* no value */
	LIST_REGEX,			/* extended; case matters if it has a capital; may be
					 * written between slashes */
	LIST_TIMES,			/* an interval of times */
	LIST_SIZES,			/* an interval of bytes */
	LIST_WORD,			/* one of `words` */
	LIST_NUMBER,			/* 0 or more */
	LIST_TEXT,
	LIST_FILTER,			/* model/filter/filter.h */
};

struct list_flag {
	char letter;			/* '\0': only the word */
	const char *word;		/* without its "--" */
	enum list_flag_type type;
	const char *what;		/* what it restricts, for the heading: "name", "mean";
					 * NULL: the heading does not mention it */
	const char *words;		/* of LIST_WORD: "kernel copy fill" */
};

#define LIST_LIMIT 500			/* lines, where -l says nothing */

#define LIST_FLAGS_COMMON \
	{ 's', "sort_by", LIST_TEXT, NULL, NULL }, \
	{ 'r', "reverse", LIST_SWITCH, NULL, NULL }, \
	{ 'l', "limit", LIST_NUMBER, NULL, NULL }
/* Of lists whose rows say what they are for filters. */
#define LIST_FLAG_WHERE { 'w', "where", LIST_FILTER, "where", NULL }

/* Both ends belong to it. */
struct list_range {
	int64_t least, most;
};

#define LIST_FLAGS_MAX 16

struct list_given {
	const char *text;		/* as given, NULL: not given; "" of a switch */
	regex_t regex;
	struct list_range range;
	int64_t number;
	struct filter *filter;		/* owned */
};

struct list_options {
	const struct list_flag *flags;	/* borrowed */
	size_t n_flags;
	struct list_given given[LIST_FLAGS_MAX];
	const char *name;		/* what is no flag, NULL none */
};

/* names: how many names may stand there, 0 or 1. false: a sentence in call->error, nothing to
 * release. */
bool list_options_parse(const struct page_call *call, const struct list_flag *flags,
			size_t n_flags, int names, struct list_options *out);
void list_options_release(struct list_options *options);

/* By letter; NULL: not given. */
const struct list_given *list_given(const struct list_options *options, char letter);
/* By word, where there is no letter. */
const struct list_given *list_given_word(const struct list_options *options, const char *word);
/* True also where the flag was not given. text, other: NULL is none and matches nothing. */
bool list_matches(const struct list_options *options, char letter, const char *text,
		  const char *other);
bool list_within(const struct list_options *options, char letter, int64_t value);
/* -w; row is what get wants. */
bool list_wants(const struct list_options *options, filter_get *get, const void *row);
/* -l, else LIST_LIMIT. */
size_t list_limit(const struct list_options *options);

/* ">100us" ">=1ms" "<1s" "<=2m" "[1ms,5ms]" "(1ms,5ms)" "[1ms,5ms)", likewise with sizes; in
 * one of them an end may be left out: "[1ms,]". false: it is none. */
bool list_range_parse(const char *text, bool sizes, struct list_range *out);

/* An expression that matches this text and nothing else; the caller frees. */
char *list_regex_quote(const char *text);
/* The text of such an expression; NULL: it is another one. The caller frees. */
char *list_regex_literal(const char *text);

/* What was filtered, as in "   name ~ conv   mean >100us"; nothing where nothing was. */
void list_options_say(const struct list_options *options, struct page *page);

#endif
