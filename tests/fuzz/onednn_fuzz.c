/* SPDX-License-Identifier: MIT */
/* Lines of oneDNN's verbose output as the probe reads them: parts lie inside of the line, in its
 * order, and times do not overflow. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/onednn/onednn.h"
#include "tests/fuzz/fuzz.h"

static void check(const char *text, size_t size, struct onednn_part part)
{
	FUZZ_CHECK(part.length >= 0);
	/* an empty part may have any address */
	FUZZ_CHECK(!part.length || (part.text >= text &&
				    part.text + part.length <= text + size));
	FUZZ_CHECK(!part.length || !memchr(part.text, ',', (size_t)part.length));
}

static void run(const uint8_t *data, size_t size)
{
	/* in memory of its own, so that a sanitizer detects each byte read outside */
	char *text = xmalloc(size + 1);
	struct onednn_line line;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (onednn_parse(text, &line)) {
		check(text, size, line.kind);
		check(text, size, line.implementation);
		check(text, size, line.direction);
		check(text, size, line.shape);
		FUZZ_CHECK(line.kind.length > 0 && line.kind.text <= line.shape.text);
		FUZZ_CHECK(line.dur_ns >= 0);
	}
	free(text);
}

FUZZ_TARGET("onednn", run);
