/* SPDX-License-Identifier: MIT */
/* Parses lines of a script without running them. */
#include <stdlib.h>
#include <string.h>

#include "keymap/command.h"
#include "keymap/key.h"
#include "keymap/words.h"
#include "model/base/util.h"
#include "tests/fuzz/fuzz.h"

static void run(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, strnlen((const char *)data, size)), *line,
	     *rest = NULL, error[KEY_ERROR_MAX * 2];
	struct words words;
	int id;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!words_split(&words, line, error, sizeof(error)))
			continue;
		if (words.argc) {
			id = command_check(words.argc, words.argv, error, sizeof(error));
			FUZZ_CHECK(id < COMMAND_ID_COUNT);
			if (id >= 0)
				FUZZ_CHECK(words.argc - 1 >= command_table[id].least);
			else
				FUZZ_CHECK(error[0]);
		}
		words_release(&words);
	}
	free(text);
}

FUZZ_TARGET("script", run);
