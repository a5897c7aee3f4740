/* SPDX-License-Identifier: MIT */
/* Compiled programs of XLA as the JAX probe reads them: nothing outside of the message is read, and
 * lines are defined with texts that are terminated. What the reader calls is played here. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/jax/hlo.h"
#include "probes/python/known.h"
#include "probes/python/python.h"
#include "probes/runtime/runtime.h"
#include "tests/fuzz/fuzz.h"

static uint32_t names, sources, lines;

uint32_t rt_name(enum tft_name_kind kind, const char *text)
{
	FUZZ_CHECK(kind == TFT_NAME_OP || kind == TFT_NAME_SOURCE);
	FUZZ_CHECK(strlen(text) < 512);
	return ++names;
}

uint32_t rt_source(const struct tft_frame *frame)
{
	FUZZ_CHECK(frame->line && frame->file && frame->file <= names);
	FUZZ_CHECK(frame->parent <= sources);
	return ++sources;
}

void rt_line_define(uint32_t module, uint32_t op, uint32_t source)
{
	FUZZ_CHECK(module && op && module <= names && op <= names);
	FUZZ_CHECK(source && source <= sources);
	lines++;
}

bool py_is_library(const char *file)
{
	return strstr(file, "-packages") != NULL;
}

static void run(const uint8_t *data, size_t size)
{
	/* in memory of its own, so that a sanitizer detects each byte read outside */
	uint8_t *copy = xmalloc(size ? size : 1);

	if (size)
		memcpy(copy, data, size);
	names = sources = lines = 0;
	if (!hlo_read(pb_of(copy, size)))
		FUZZ_CHECK(!lines);
	free(copy);
}

FUZZ_TARGET("hlo", run);
