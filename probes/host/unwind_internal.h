/* SPDX-License-Identifier: MIT */
/* What unwind.c, which reads tables, and unwind_step.c, which follows them, share. */
#ifndef PROBES_HOST_UNWIND_INTERNAL_H
#define PROBES_HOST_UNWIND_INTERNAL_H

#include "probes/host/unwind.h"

#define EXPRESSION_BYTES 256u

/* How the value that a register had in the caller is found. */
enum unwind_how {
	HOW_SAME,			/* the function did not change it */
	HOW_UNDEFINED,
	HOW_AT,				/* at the frame's address + value */
	HOW_IS,				/* the frame's address + value, or a register's */
	HOW_REGISTER,
	HOW_AT_EXPRESSION, HOW_IS_EXPRESSION
};

/* Bytes that are read one after the other, and where they came from. */
struct cursor {
	const uint8_t *at, *end;
	uint64_t address;		/* of `at` */
	bool bad;			/* they ended in the middle of something */
};

bool unwind_copy(unwind_read *read, void *to, uint64_t from, size_t bytes);
/* Numbers of the tables, from where the cursor is; 0 if they are bad. */
uint64_t unwind_take(struct cursor *c, size_t bytes);
int64_t unwind_take_signed(struct cursor *c, size_t bytes);
uint64_t unwind_take_uleb(struct cursor *c);
int64_t unwind_take_sleb(struct cursor *c);

/* Whether the instruction before that one is a call. */
bool unwind_is_behind_call(unwind_read *read, uint64_t ip);

#endif
