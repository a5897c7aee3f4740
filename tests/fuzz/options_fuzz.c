/* SPDX-License-Identifier: MIT */
/* The command line: words separated by NUL. An error is one line that is not empty; accepted values
 * are within their bounds. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tui/options.h"

#define WORDS_MAX 64

static void check_run(const struct options *options)
{
	FUZZ_CHECK(options->program || options->open_path || options->synth ||
		   options->n_attach || options->check || options->control || options->join);
	FUZZ_CHECK(options->n_attach <= OPTIONS_PIDS_MAX);
	FUZZ_CHECK(options->level <= TFT_LEVEL_FULL);
	FUZZ_CHECK(options->memory_limit_bytes >= 1 << 20);
	FUZZ_CHECK(options->from_step >= 0 && options->steps >= 0 && options->for_ns >= 0);
	FUZZ_CHECK(options->columns >= 0 && options->columns <= 10000);
	FUZZ_CHECK(options->rows >= 0 && options->rows <= 10000);
	FUZZ_CHECK((options->columns > 0) == (options->rows > 0));
}

static void run(const uint8_t *data, size_t size)
{
	char error[OPTIONS_ERROR_MAX], *text = calloc(1, size + 1), *argv[WORDS_MAX + 2];
	struct options options;
	int argc = 0;

	if (!text)
		return;
	memcpy(text, data, size);
	argv[argc++] = (char *)"tftop";
	for (size_t at = 0; at < size && argc <= WORDS_MAX; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	argv[argc] = NULL;
	switch (options_parse(&options, argc, argv, error)) {
	case OPTIONS_RUN:
		check_run(&options);
		break;
	case OPTIONS_ERROR:
		FUZZ_CHECK(error[0] && strlen(error) < OPTIONS_ERROR_MAX);
		break;
	case OPTIONS_DONE:
		break;
	}
	free(text);
}

FUZZ_TARGET("options", run);
