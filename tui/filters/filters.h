/* SPDX-License-Identifier: MIT */
/*
 * Filters (model/filter/filter.h) as commands and the configuration have them.
 * Thread: the loop's.
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

/* struct config's filter; arg: names. */
bool filters_change(struct filter_names *names, const char *name, const char *text, char *error,
		    size_t error_size);
/* The expression behind the first `from` words of a command, quotes and all; one that stands
 * in quotes as a whole is taken out of them. NULL: a sentence in error. The caller frees. */
struct filter *filters_parse(const struct filter_names *names, const struct command_call *call,
			     int from, char *error, size_t error_size);
/* Those that the user's configuration names; errors in it are nobody's here. The caller
 * frees. */
struct filter_names *filters_configured(const struct options *options);

/* The fields, "name<Tab>type<Tab>what it is" one a line, for the manual. */
void filters_write_fields(FILE *out);

#endif
