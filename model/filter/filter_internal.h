/* SPDX-License-Identifier: MIT */
/* The parts of a filter; for model/filter/ only. */
#ifndef MODEL_FILTER_INTERNAL_H
#define MODEL_FILTER_INTERNAL_H

#include <regex.h>

#include "model/filter/filter.h"

enum node_is { NODE_AND, NODE_OR, NODE_NOT, NODE_RANGE, NODE_SAME, NODE_REGEX };

struct filter_node {
	enum node_is is;
	uint16_t left, right;		/* operands of AND and OR; NOT has only left */
	enum filter_field field;	/* for tests, as are the members below */
	bool differs;			/* true for != and !~ */
	int64_t low, high;		/* for RANGE: both ends are included */
	char *text;			/* for SAME: owned */
	regex_t regex;			/* for REGEX: owned */
};

struct filter {
	char *text;			/* owned */
	struct filter_node nodes[FILTER_NODES_MAX];	/* n nodes are in use */
	size_t n;
	uint16_t root;
	uint64_t asks;			/* which fields are used, one bit each */
};

/* ---- words: the field, kind, flag or direction with this name; -1: none ---- */

int filter_field_by(const char *word, size_t length);
int filter_kind_by(const char *word, size_t length);
int filter_direction_by(const char *word, size_t length);
bool filter_reserved(const char *word, size_t length);	/* whether the word is and, or, not or in */
/* The name that the user may have meant; NULL: none is similar. fields: considers only fields. */
const char *filter_near(const char *word, size_t length, bool only_fields,
			const struct filter_names *names);

/* Like filter_parse(), for a filter that is to get this name; NULL: it gets none. */
struct filter *filter_parse_as(const char *name, const char *text, const struct filter_names *names,
			       char *error, size_t error_size);

/* ---- values ---- */

/* Reads one word as a number of the type; false: it is not one, and advice says what to write
 * instead. */
bool filter_value_parse(enum filter_type type, const char *word, int64_t *value,
			char *advice, size_t advice_size);

#endif
