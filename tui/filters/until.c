/* SPDX-License-Identifier: MIT */
#include "tui/filters/until.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/watch.h"
#include "tui/filters/filters.h"
#include "tui/filters/filters_span.h"
#include "tui/base/options.h"
#include "tui/draw/places.h"
#include "tui/draw/ruler.h"

#define LOOK_MOST 4096u			/* this takes a millisecond or two while the lock is held */

static bool may_name(void *arg, enum row_kind row, const char *name, const char *raw)
{
	const struct until *until = arg;

	return filters_may_name(until->filter, row, name, raw);
}

static bool may_time(void *arg, int64_t start_ns, int64_t dur_ns)
{
	const struct until *until = arg;

	return start_ns > until->after_ns && filters_may_time(until->filter, dur_ns);
}

void until_start(struct until *until, struct model *model, struct filter *filter, int64_t after_ns)
{
	struct watch_sort sort = { may_name, may_time, until };

	if (until->filter)
		until_stop(until);
	*until = (struct until){ .model = model, .filter = filter, .after_ns = after_ns };
	model_lock(model);
	model_watch(model, &sort);
	model_unlock(model);
}

void until_stop(struct until *until)
{
	if (!until->filter)
		return;
	model_lock(until->model);
	model_watch(until->model, NULL);
	model_unlock(until->model);
	filter_free(until->filter);
	until->filter = NULL;
}

static bool is_wanted(void *arg, const struct span *span)
{
	const struct until *until = arg;

	if (!filters_span(until->filter, span, until->base_ns))
		return false;
	*until->found = *span;
	return true;
}

bool until_look(struct until *until, struct span *found)
{
	struct model_status status;
	bool taken;

	model_lock(until->model);
	model_status(until->model, &status);
	until->base_ns = places_base_ns(&status);
	until->found = found;
	taken = model_watched(until->model, LOOK_MOST, is_wanted, until, &until->missed);
	model_unlock(until->model);
	return taken;
}

void until_sentence(const struct until *until, const struct span *span, char *text, size_t size)
{
	char dur[FMT_MAX], at[FMT_MAX];

	ruler_time(at, sizeof(at), span->start_ns - until->base_ns, 1000000);
	snprintf(text, size, "%.100s%s%.40s, %s at %s", span->name, span->queue ? " on " : "",
		 span->queue ? span->queue : "", fmt_time(dur, span->end_ns - span->start_ns), at);
}

struct filter *until_option(const struct options *options, char *error, size_t error_size)
{
	struct filter_names *names = filters_configured(options);
	char why[FILTER_ERROR_MAX];
	struct filter *filter = filter_parse(options->until, names, why, sizeof(why));

	if (!filter)
		snprintf(error, error_size, "--until %s", why);
	filter_names_free(names);
	return filter;
}
