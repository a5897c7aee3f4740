/* SPDX-License-Identifier: MIT */
/* Any bytes as JSON: they are refused, or read as valid nodes. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tui/base/json_read.h"

static void check(const struct json_node *node, const struct json_node *parent)
{
	for (; node; node = node->next) {
		FUZZ_CHECK((parent && parent->type == JSON_OBJECT) == (node->key != NULL));
		FUZZ_CHECK((node->type == JSON_TEXT) == (node->text != NULL));
		if (node->child)
			FUZZ_CHECK(node->type == JSON_ARRAY || node->type == JSON_OBJECT);
		check(node->child, node);
	}
}

static void run(const uint8_t *data, size_t size)
{
	struct json_node *tree = json_read((const char *)data, size);

	check(tree, NULL);
	FUZZ_CHECK(json_get_int(tree, "recording", -7) == -7 || tree->type == JSON_OBJECT);
	json_free(tree);
}

FUZZ_TARGET("json_read", run);
