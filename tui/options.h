/* SPDX-License-Identifier: MIT */
/*
 * Reading the command line into a struct options (tui/base/options.h).
 *
 * Always true: nothing is started, opened or written. An option that only a later version has
 * is refused by its name. Called before there are threads.
 */
#ifndef TUI_OPTIONS_H
#define TUI_OPTIONS_H

#include "tui/base/options.h"

#define OPTIONS_ERROR_MAX 320

enum options_result {
	OPTIONS_RUN = 0,
	OPTIONS_DONE,			/* --help or --version was printed: exit with 0 */
	OPTIONS_ERROR,			/* `error` says what is wrong: exit with 125 */
};

enum options_result options_parse(struct options *options, int argc, char **argv,
				  char error[OPTIONS_ERROR_MAX]);

/* The text of --help; at most 24 lines of 80 columns. */
const char *options_help(void);

#endif
