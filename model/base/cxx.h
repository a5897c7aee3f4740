/* SPDX-License-Identifier: MIT */
/*
 * Reads demangled C++ names as demanglers write them: qualified names with template arguments,
 * parameters and lambdas. A name is described by ranges of its text. Brackets that are not closed
 * end with the text, and what closes nothing is an ordinary character, so that any text can be
 * read. Nothing is owned. Pure; any thread.
 */
#ifndef MODEL_CXX_H
#define MODEL_CXX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CXX_MAX 4096u			/* bytes that are read; what follows is ignored */

struct cxx {
	const char *text;		/* borrowed */
	uint16_t length;
	uint16_t match[CXX_MAX];	/* of an opening bracket: its closing one; else 0 */
};

struct cxx_range { uint16_t from, to; };

/* One component of a qualified name. */
struct cxx_part {
	struct cxx_range name;		/* without what follows */
	struct cxx_range arguments;	/* between < and >, or empty */
	struct cxx_range parameters;	/* between ( and ), or empty */
	bool lambda;
};

void cxx_read(struct cxx *cxx, const char *text);
/* The qualified name in a range that may also have a return type and parameters. It is empty
 * where there is none. */
struct cxx_range cxx_function(const struct cxx *cxx, struct cxx_range whole);
/* Takes the next part off the front; false at the end. */
bool cxx_next_part(const struct cxx *cxx, struct cxx_range *rest, struct cxx_part *part);
/* Takes the next part off a list that is separated by commas; without blanks around it. */
bool cxx_next_item(const struct cxx *cxx, struct cxx_range *rest, struct cxx_range *item);
/* The last part of the qualified name in a range; what encloses it goes to *outer. */
bool cxx_last_part(const struct cxx *cxx, struct cxx_range range, struct cxx_part *part,
		   struct cxx_range *outer);
/* The function that a lambda is in, or else the class whose operator() that is; *last is the
 * innermost lambda. false: there is no lambda. */
bool cxx_function_of_lambda(const struct cxx *cxx, struct cxx_range range,
			    struct cxx_part *function, struct cxx_part *last);
bool cxx_is(const struct cxx *cxx, struct cxx_range range, const char *text);
bool cxx_begins(const struct cxx *cxx, struct cxx_range range, const char *text);
bool cxx_ends(const struct cxx *cxx, struct cxx_range range, const char *text);
bool cxx_has(const struct cxx *cxx, struct cxx_range range, const char *text);
static inline bool cxx_empty(struct cxx_range range)
{
	return range.from >= range.to;
}

#endif
