/* SPDX-License-Identifier: MIT */
/* How filter_parse.c reads an expression; for model/filter/ only. */
#ifndef MODEL_FILTER_READ_H
#define MODEL_FILTER_READ_H

#include "model/filter/filter_internal.h"

/* The named filters whose expressions are being parsed, the innermost first. */
struct filter_frame {
	const char *name;
	const struct filter_frame *up;
};

struct filter_parser {
	struct filter *filter;		/* receives the nodes */
	const struct filter_names *names;
	/* NULL: the text is not the expression of a named filter */
	const struct filter_frame *frame;
	bool inside;	/* the text is the expression of a named filter that is used */
	const char *text, *at;
	unsigned depth;
	char *error;
	size_t error_size;
};

enum operator {
	OP_NONE, OP_SAME, OP_OTHER, OP_LESS, OP_LEAST, OP_MORE, OP_MOST, OP_LIKE, OP_UNLIKE, OP_IN
};

/* Sets the error: what is wrong and at which column of the text. Always returns false, so that
 * callers can return its result. */
bool filter_fail(const struct filter_parser *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void filter_skip_blanks(struct filter_parser *p);
size_t filter_word_length(const char *at);
/* How many bytes of a word an error message shows, cut between characters. */
int filter_shown(const char *at, size_t length);
/* The same for the word or, if there is none, the character at that place. */
int filter_shown_at(const char *at);

/* Skips the token if it comes next, including blanks before it; returns whether it did. */
bool filter_accept(struct filter_parser *p, const char *text);
bool filter_accept_word(struct filter_parser *p, const char *word);
enum operator filter_accept_operator(struct filter_parser *p);

/* Reads 'text', "text" or a word; the caller frees. NULL: there is none, and the error says that
 * `wanted` is missing. */
char *filter_read_text(struct filter_parser *p, const char *wanted);
/* Reads /.../, in which \/ stands for a slash, with an optional i after it (*fold); otherwise a
 * text. Returns as filter_read_text(). */
char *filter_read_regex(struct filter_parser *p, bool *fold);
/* Reads a number in the field's unit. */
bool filter_read_number(struct filter_parser *p, enum filter_field field, int64_t *value);

#endif
