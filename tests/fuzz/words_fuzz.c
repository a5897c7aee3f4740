/* SPDX-License-Identifier: MIT */
/* Command lines: joined words are split into the same words again. */
#include <stdlib.h>
#include <string.h>

#include "keymap/key.h"
#include "keymap/words.h"
#include "model/base/util.h"
#include "tests/fuzz/fuzz.h"

static void run(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, strnlen((const char *)data, size)), *joined,
	     error[KEY_ERROR_MAX];
	struct words words, again;
	int i;

	joined = words_rest(text, size ? data[0] % 4 : 0);
	FUZZ_CHECK(strlen(joined) <= strlen(text));
	free(joined);
	if (words_split(&words, text, error, sizeof(error))) {
		joined = words_join(words.argc, words.argv);
		FUZZ_CHECK(words_split(&again, joined, error, sizeof(error)));
		FUZZ_CHECK(again.argc == words.argc);
		for (i = 0; i < words.argc; i++)
			FUZZ_CHECK(strcmp(words.argv[i], again.argv[i]) == 0);
		words_release(&again);
		words_release(&words);
		free(joined);
	}
	free(text);
}

FUZZ_TARGET("words", run);
