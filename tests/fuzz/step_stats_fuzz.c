/* SPDX-License-Identifier: MIT */
/* Any bytes as StepStats: they are refused, or written as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "model/export/foreign.h"
#include "tests/fuzz/fuzz.h"
#include "tui/base/json_read.h"

static void run(const uint8_t *data, size_t size)
{
	struct foreign_kind kind = { .format = FOREIGN_CHROME, .dataflow = true, .memory = true };
	struct foreign_result result;
	char error[256], *text = NULL;
	struct json_node *tree;
	size_t length = 0;
	FILE *out;

	if (!foreign_is_step_stats(data, size))
		return;
	out = open_memstream(&text, &length);
	FUZZ_CHECK(foreign_step_stats(data, size, &kind, out, &result, error, sizeof(error)));
	fclose(out);
	tree = json_read(text, length);
	FUZZ_CHECK(json_get(tree, "traceEvents") != NULL);
	json_free(tree);
	free(text);
}

FUZZ_TARGET("step_stats", run);
