/* SPDX-License-Identifier: MIT */
/* Key names: printing keys and reading them back gives the same keys. */
#include <stdlib.h>
#include <string.h>

#include "keymap/key.h"
#include "model/base/util.h"
#include "tests/fuzz/fuzz.h"

static void run(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, strnlen((const char *)data, size)),
	     error[KEY_ERROR_MAX];
	struct key keys[64], again[64];
	char printed[64 * KEY_NAME_MAX];
	int count = keys_parse(text, keys, 64, error, sizeof(error)), i;

	if (count > 0) {
		keys_print(keys, count, printed, sizeof(printed));
		FUZZ_CHECK(keys_parse(printed, again, 64, error, sizeof(error)) == count);
		for (i = 0; i < count; i++) {
			FUZZ_CHECK(key_equal(keys[i], again[i]));
			FUZZ_CHECK(key_equal(keys[i], key_normalise(keys[i])));
		}
	} else {
		FUZZ_CHECK(memchr(error, '\0', sizeof(error)));
	}
	free(text);
}

FUZZ_TARGET("keys", run);
