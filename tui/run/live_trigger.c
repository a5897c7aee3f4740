/* SPDX-License-Identifier: MIT */
/* --trigger: the messages about it. The probes carry it out, see probes/runtime/trigger.c. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/graph.h"
#include "tui/run/live_internal.h"

const char *live_trigger_name(const struct options *options, char *text, size_t size)
{
	const struct tft_trigger_range *range = &options->range;

	if (options->trigger == TFT_TRIGGER_PROFILER)
		snprintf(text, size, "cudaProfilerStart()");
	else
		snprintf(text, size, "the range '%s'%s%s%s", range->name,
			 *range->domain ? " of domain '" : "", range->domain,
			 *range->domain ? "'" : "");
	return text;
}

bool live_is_triggered(const struct live *live)
{
	return live->session && session_trigger(live->session) != TFT_TRIGGER_NONE;
}

uint64_t live_triggers(struct live *live)
{
	struct info_row *rows;
	uint64_t n = 0;
	size_t count;

	model_lock(live->model);
	count = model_infos(live->model, &rows);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].scope, TFT_TRIGGER_SCOPE) &&
		    !strcmp(rows[i].key, TFT_TRIGGER_BEGUN))
			n += strtoull(rows[i].value, NULL, 10);
	model_unlock(live->model);
	free(rows);
	return n;
}

void live_begin_trigger(struct live *live)
{
	char name[LIVE_TRIGGER_MAX];

	if (live_is_triggered(live))
		live_say(live, 0, live->options->trigger == TFT_TRIGGER_PROFILER ?
			 "tftop collects only between %s and cudaProfilerStop()" :
			 "tftop collects only from the start to the end of %s",
			 live_trigger_name(live->options, name, sizeof(name)));
}

void live_end_trigger(struct live *live)
{
	bool call = live->options->trigger == TFT_TRIGGER_PROFILER;
	char name[LIVE_TRIGGER_MAX];
	char times[FMT_MAX];
	uint64_t n;

	if (!live_is_triggered(live))
		return;
	live_trigger_name(live->options, name, sizeof(name));
	n = live_triggers(live);
	if (!n)
		live_say(live, 1, "%s %s: nothing was collected", name, call ? "was never called" :
									       "never began");
	else
		live_say(live, 0, "%s %s %s: nothing else was collected", name,
			 call ? "was called" : "came", fmt_many(times, n, "time"));
}
