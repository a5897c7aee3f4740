/* SPDX-License-Identifier: MIT */
/*
 * What a template of a kernel applies: functors and lambdas among its arguments, in the words that
 * users know them by, and the type of the numbers that they compute with. Pure; any thread.
 */
#ifndef MODEL_FUNCTOR_H
#define MODEL_FUNCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/cxx.h"

#define FUNCTOR_TYPE_MAX 32
#define FUNCTOR_WORDS_SIZE 200

/* The words are composed here. Starts with zeros. */
struct functor_text {
	char words[FUNCTOR_WORDS_SIZE];	/* of functors, separated by blanks */
	size_t length;
	unsigned n_words;
	bool numbered;			/* lambdas are told apart by their number in the function */
	char type[FUNCTOR_TYPE_MAX];
	unsigned rank;			/* of that type */
};

/* A type of floating-point numbers says more than one of integers, which may be an index. */
enum functor_rank { TYPE_NONE = 0, TYPE_BOOL, TYPE_INTEGER, TYPE_REAL };

/* Adds the words of the functors in a list of arguments; false: there are none. */
bool functor_take_all(const struct cxx *cxx, struct cxx_range list, struct functor_text *text,
		      int depth);
/* Takes the type that says most among a list of types; the first of equals. */
void functor_take_types(const struct cxx *cxx, struct cxx_range list, struct functor_text *text);
/* Writes the short word of a type of numbers; TYPE_NONE: it is another type. */
unsigned functor_number_type(const struct cxx *cxx, struct cxx_range type, char *out, size_t size);

#endif
