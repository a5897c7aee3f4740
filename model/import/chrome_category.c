/* SPDX-License-Identifier: MIT */
/*
 * What the categories of events mean, and which events are not shown. The categories are those
 * that Kineto writes (libkineto's ActivityType, also those of devices that are not NVIDIA's, and
 * those of its first releases), and those of tftop's own exports.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/chrome_internal.h"

#define HIDDEN_MAX 4096u

struct chrome_category { const char *name; enum chrome_role role; const char *why; };

static const struct chrome_category kineto[] = {
	{ "kernel", ROLE_KERNEL, NULL }, { "gpu_memcpy", ROLE_COPY, NULL },
	{ "gpu_memset", ROLE_FILL, NULL }, { "memcpy", ROLE_COPY, NULL },
	{ "memset", ROLE_FILL, NULL }, { "mlu_memcpy", ROLE_COPY, NULL },
	{ "mlu_memset", ROLE_FILL, NULL }, { "gcu_memcpy", ROLE_COPY, NULL },
	{ "gcu_memset", ROLE_FILL, NULL },
	{ "cpu_op", ROLE_OP, NULL }, { "operator", ROLE_OP, NULL },
	{ "user_annotation", ROLE_RANGE, NULL }, { "python_function", ROLE_PYTHON, NULL },
	{ "cuda_runtime", ROLE_CALL, NULL }, { "cuda_driver", ROLE_CALL, NULL },
	{ "runtime", ROLE_CALL, NULL }, { "xpu_runtime", ROLE_CALL, NULL },
	{ "xpu_driver", ROLE_CALL, NULL }, { "mtia_runtime", ROLE_CALL, NULL },
	{ "glow_runtime", ROLE_CALL, NULL }, { "hpu_op", ROLE_CALL, NULL },
	{ "privateuse1_runtime", ROLE_CALL, NULL }, { "privateuse1_driver", ROLE_CALL, NULL },
	{ "mlu_runtime", ROLE_CALL, NULL }, { "gcu_runtime", ROLE_CALL, NULL },
	{ "gcu_driver", ROLE_CALL, NULL },
	{ "overhead", ROLE_CALL, NULL },	/* of the profiler itself */
	{ "cuda_sync", ROLE_WAIT, NULL }, { "gcu_sync", ROLE_WAIT, NULL },
	{ "xpu_sync", ROLE_WAIT, NULL },
	{ "gpu_user_annotation", ROLE_HIDDEN, "the host's ranges again" },
	{ "mlu_user_annotation", ROLE_HIDDEN, "the host's ranges again" },
	{ "gcu_user_annotation", ROLE_HIDDEN, "the host's ranges again" },
	{ "cuda_profiler_range", ROLE_HIDDEN, "hardware counters of kernels" },
	{ "mlu_profiler_range", ROLE_HIDDEN, "hardware counters of kernels" },
	{ "gcu_profiler_range", ROLE_HIDDEN, "hardware counters of kernels" },
	{ "cuda_event", ROLE_HIDDEN, "events recorded in streams" },
	{ "mlu_notifier", ROLE_HIDDEN, "events recorded in queues" },
	{ "external_correlation", ROLE_HIDDEN, NULL }, { "mtia_ccp_events", ROLE_HIDDEN, NULL },
	{ "mtia_insight", ROLE_HIDDEN, NULL }, { "mtia_workloadd", ROLE_HIDDEN, NULL },
	{ "trace", ROLE_HIDDEN, "how long the profiler recorded" },
};

static const struct chrome_category own[] = {
	{ "op", ROLE_OP, NULL }, { "range", ROLE_RANGE, NULL }, { "call", ROLE_CALL, NULL },
	{ "wait", ROLE_WAIT, NULL }, { "step", ROLE_STEP, NULL }, { "kernel", ROLE_KERNEL, NULL },
	{ "copy", ROLE_COPY, NULL }, { "fill", ROLE_FILL, NULL },
	{ "work", ROLE_WORK, NULL }, { "map", ROLE_WORK, NULL }, { "unmap", ROLE_WORK, NULL },
	{ "marker", ROLE_WORK, NULL }, { "barrier", ROLE_WORK, NULL },
	{ "native", ROLE_WORK, NULL }, { "migrate", ROLE_WORK, NULL },
	{ "graph", ROLE_WORK, NULL }, { "other", ROLE_WORK, NULL },
	{ "launch", ROLE_HIDDEN, "what was launched is shown where it ran" },
	{ "lost", ROLE_HIDDEN, "where tftop lost events" },
	{ "off", ROLE_HIDDEN, "where tftop's level was off" },
	{ "taken", ROLE_HIDDEN, "where the program's own profiler had the device" },
};

enum chrome_role chrome_role_of(const struct chrome_import *c, const char *category,
				const char **why)
{
	const struct chrome_category *table = c->own ? own : kineto;
	size_t n = c->own ? sizeof(own) / sizeof(own[0]) : sizeof(kineto) / sizeof(kineto[0]);

	for (size_t i = 0; *category && i < n; i++)
		if (!strcasecmp(category, table[i].name)) {
			*why = table[i].why;
			return table[i].role;
		}
	return ROLE_UNKNOWN;
}

void chrome_hide(struct chrome_import *c, const char *category, const char *why, uint32_t row)
{
	uint32_t key, at;

	chrome_key_begin(c, 'h');
	chrome_key_number(c, row);
	strbuf_adds(&c->key, category);
	key = chrome_key(c);
	at = map_get(&c->hidden_by_key, key);
	if (!key || (at == MAP_NONE && c->n_hidden >= HIDDEN_MAX))
		return;
	if (at == MAP_NONE) {
		grow(&c->hidden, &c->cap_hidden, c->n_hidden, sizeof(*c->hidden));
		at = (uint32_t)c->n_hidden++;
		c->hidden[at] = (struct chrome_hidden) {
			.category = xstrdup(category), .why = why, .row = row,
		};
		map_set(&c->hidden_by_key, key, at);
	}
	c->hidden[at].count++;
}

/* Adds the counts of a category over all rows in which it was not shown. */
static uint64_t chrome_count_hidden(struct chrome_import *c, size_t first)
{
	uint64_t count = 0;

	for (size_t i = first; i < c->n_hidden; i++) {
		struct chrome_hidden *hidden = &c->hidden[i];

		if (strcmp(hidden->category, c->hidden[first].category) ||
		    (hidden->row != MAP_NONE && !c->rows[hidden->row].stream))
			continue;
		count += hidden->count;
		hidden->count = 0;
	}
	return count;
}

static const char *chrome_noun(const struct chrome_hidden *hidden)
{
	if (hidden->why && !strcmp(hidden->why, CHROME_PHASE))
		return "phase ";
	return *hidden->category ? "category " : "no category";
}

void chrome_tell_hidden(struct chrome_import *c)
{
	char many[FMT_MAX];

	for (size_t i = 0; i < c->n_hidden; i++) {
		const struct chrome_hidden *hidden = &c->hidden[i];
		uint64_t count = chrome_count_hidden(c, i);

		if (!count)
			continue;
		build_say(c->build, 0, "not shown: %s of %s%s%s%s", fmt_many(many, count, "event"),
			  chrome_noun(hidden), hidden->category,
			  hidden->why ? ": " : "", hidden->why ? hidden->why : "");
	}
}
