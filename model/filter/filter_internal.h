/* SPDX-License-Identifier: MIT */
/* The parts of a filter; for model/filter/ only. */
#ifndef MODEL_FILTER_INTERNAL_H
#define MODEL_FILTER_INTERNAL_H

#include <regex.h>

#include "model/filter/filter.h"

enum node_is { NODE_AND, NODE_OR, NODE_NOT, NODE_RANGE, NODE_SAME, NODE_REGEX };

struct filter_node {
	enum node_is is;
	uint16_t left, right;		/* AND, OR; NOT: left */
	enum filter_field field;	/* of a test; below too */
	bool differs;			/* !=, !~ */
	int64_t low, high;		/* RANGE: both included */
	char *text;			/* SAME: owned */
	regex_t regex;			/* REGEX: owned */
};

struct filter {
	char *text;			/* owned */
	struct filter_node nodes[FILTER_NODES_MAX];	/* n of them */
	size_t n;
	uint16_t root;
	uint64_t asks;			/* a bit for each field */
};

/* ---- words: the name of a field, kind, flag or direction of so many bytes; -1: none ---- */

int filter_field_by(const char *word, size_t length);
int filter_kind_by(const char *word, size_t length);
int filter_direction_by(const char *word, size_t length);
bool filter_reserved(const char *word, size_t length);	/* and, or, not, in */
/* What somebody may have meant, NULL: nothing is near. fields: only these. */
const char *filter_near(const char *word, size_t length, bool only_fields,
			const struct filter_names *names);

/* Of a filter that is to be called so, NULL: that has no name. As filter_parse(). */
struct filter *filter_parse_as(const char *name, const char *text, const struct filter_names *names,
			       char *error, size_t error_size);

/* ---- values ---- */

/* One word as a number of the type; false: it is none, and what to write instead
 * in advice. */
bool filter_value_parse(enum filter_type type, const char *word, int64_t *value,
			char *advice, size_t advice_size);

#endif
