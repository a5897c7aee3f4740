/* SPDX-License-Identifier: MIT */
/* Makes a command for a pane from its words, as the prompt does. */
#ifndef TESTS_UNIT_COMMAND_CALL_H
#define TESTS_UNIT_COMMAND_CALL_H

#include "tests/unit/test.h"
#include "tui/draw/pane.h"

static inline struct command_call call_of(int argc, const char *const *argv)
{
	char error[160];
	int id = command_find(argv[0], error, sizeof(error));

	CHECK(id >= 0);
	return (struct command_call){(enum command_id)id, argc, argv, NULL};
}

#endif
