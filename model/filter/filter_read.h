/* SPDX-License-Identifier: MIT */
/* What filter_parse.c reads an expression with; for model/filter/ only. */
#ifndef MODEL_FILTER_READ_H
#define MODEL_FILTER_READ_H

#include "model/filter/filter_internal.h"

/* The named filters that the text is in, the innermost first. */
struct filter_frame {
	const char *name;
	const struct filter_frame *up;
};

struct filter_parser {
	struct filter *filter;		/* gets nodes */
	const struct filter_names *names;
	const struct filter_frame *frame;	/* NULL: in none */
	bool inside;			/* text is that of a name that was used */
	const char *text, *at;
	unsigned depth;
	char *error;
	size_t error_size;
};

enum operator {
	OP_NONE, OP_SAME, OP_OTHER, OP_LESS, OP_LEAST, OP_MORE, OP_MOST, OP_LIKE, OP_UNLIKE, OP_IN
};

/* Says what is wrong and at which column of the text. Always false, so that it can be
 * returned. */
bool filter_fail(const struct filter_parser *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void filter_skip_blanks(struct filter_parser *p);
size_t filter_word_length(const char *at);
/* As much of a word as an error shows, cut between characters. */
int filter_shown(const char *at, size_t length);
/* The same of the word, else the character, that stands there. */
int filter_shown_at(const char *at);

/* What is there is passed, blanks before it too. */
bool filter_accept(struct filter_parser *p, const char *text);
bool filter_accept_word(struct filter_parser *p, const char *word);
enum operator filter_accept_operator(struct filter_parser *p);

/* 'text', "text" or a word; the caller frees. NULL: wanted is missing, the error is set. */
char *filter_read_text(struct filter_parser *p, const char *wanted);
/* /…/, in which \/ is a slash, and i after it (*fold); else a text. Likewise. */
char *filter_read_regex(struct filter_parser *p, bool *fold);
/* In the field's unit. */
bool filter_read_number(struct filter_parser *p, enum filter_field field, int64_t *value);

#endif
