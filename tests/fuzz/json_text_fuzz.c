/* SPDX-License-Identifier: MIT */
/* Any bytes as a string of the JSON writer: the output is JSON, and reading it back gives the same
 * text, with U+FFFD in place of invalid UTF-8. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tui/base/json.h"
#include "tui/base/json_read.h"

static char *write_it(const uint8_t *data, size_t size, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	struct json json;

	FUZZ_CHECK(out);
	json_init(&json, out);
	json_object(&json);
	json_key(&json, "text");
	json_bytes(&json, (const char *)data, size);
	json_end(&json);
	json_finish(&json);
	fclose(out);
	return text;
}

static bool is_plain(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] >= 0x80 || !data[i])
			return false;
	return true;
}

static void run(const uint8_t *data, size_t size)
{
	size_t length, again_length;
	char *text = write_it(data, size, &length), *again;
	struct json_node *tree = json_read(text, length);
	const char *back = json_get_text(tree, "text", NULL);

	FUZZ_CHECK(tree && back);
	if (is_plain(data, size))
		FUZZ_CHECK(strlen(back) == size && !memcmp(back, data, size));
	/* A text that was made valid once stays unchanged. */
	if (strlen(back) && !memchr(data, 0, size)) {
		again = write_it((const uint8_t *)back, strlen(back), &again_length);
		FUZZ_CHECK(again_length == length && !memcmp(again, text, length));
		free(again);
	}
	json_free(tree);
	free(text);
}

FUZZ_TARGET("json_text", run);
