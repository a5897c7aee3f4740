/* SPDX-License-Identifier: MIT */
/*
 * Filters (model/filter/filter.h) as commands and the configuration use them. Thread: the loop's.
 */
#ifndef TUI_FILTERS_H
#define TUI_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/filter/filter.h"
#include "tui/draw/pane.h"

struct options;
struct page;

/* The `filter` function of struct config; arg: the named filters. */
bool filters_change(struct filter_names *names, const char *name, const char *text, char *error,
		    size_t error_size);
/* The expression after the first `from` words of a command, including quotes; quotes around the
 * whole expression are removed. NULL: `error` is a sentence. The caller frees. */
struct filter *filters_parse(const struct filter_names *names, const struct command_call *call,
			     int from, char *error, size_t error_size);
/* The filters that the user's configuration defines; errors in it are ignored here. The caller
 * frees. */
struct filter_names *filters_configured(const struct options *options);

/* Writes the fields for the manual, one per line: "name<Tab>type<Tab>meaning". */
void filters_write_fields(FILE *out);

#endif
