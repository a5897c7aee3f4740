/* SPDX-License-Identifier: MIT */
/* See host.h. At most about EVENTS_MUCH records a second are written in the long run: beyond that
 * there are fewer looks. */
#include <string.h>

#include "probes/host/host.h"
#include "probes/runtime/internal.h"

#define EVENTS_MUCH 100
#define EVENTS_FEW 40
#define SPREAD_MAX 16

static int64_t spread = 1;
static uint32_t written;		/* in this second */

static bool host_same(const struct host_doing *a, const struct host_doing *b)
{
	return a->doing == b->doing && a->what == b->what && a->frame == b->frame &&
	       a->stack == b->stack;
}

void host_window_add(struct host_window *window, const struct host_doing *doing, int64_t ns)
{
	struct host_entry *entry = NULL;

	if (ns <= 0)
		return;
	window->end_ns += ns;
	for (uint32_t i = 0; i < window->n && !entry; i++)
		if (host_same(&window->entry[i].doing, doing))
			entry = &window->entry[i];
	if (!entry && window->n < HOST_ENTRIES) {
		entry = &window->entry[window->n++];
		*entry = (struct host_entry) { .doing = *doing };
	}
	if (!entry)
		return;
	entry->ns += ns;
	entry->looks++;
}

void host_window_close(struct host_window *window, int64_t at_ns)
{
	for (uint32_t i = 0; i < window->n; i++) {
		const struct host_entry *entry = &window->entry[i];
		struct tft_doing r = {
			.tid = window->tid, .looks = entry->looks, .start_ns = window->start_ns,
			.dur_ns = window->end_ns - window->start_ns, .at_ns = at_ns,
			.ns = entry->ns, .frame = entry->doing.frame,
			.stack = entry->doing.stack, .what = entry->doing.what,
			.doing = entry->doing.doing,
		};

		rt_emit_doing(&r);
		written++;
	}
	window->start_ns = window->end_ns;
	window->n = 0;
}

void host_window_rate(void)
{
	if (written > EVENTS_MUCH && spread < SPREAD_MAX)
		spread *= 2;
	else if (written < EVENTS_FEW && spread > 1)
		spread /= 2;
	written = 0;
}

int64_t host_window_spread(void)
{
	return spread;
}

void host_window_begin(void)
{
	spread = 1;
	written = 0;
}
