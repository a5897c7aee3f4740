/* SPDX-License-Identifier: MIT */
/* Allocated memory: the changes are sorted by time and added up at the end. */
#include "tests/gen/truth_internal.h"
#include "tui/base/json.h"

#include <stdlib.h>

#include "model/base/util.h"

void truth_memory(struct truth *truth, const struct event *event)
{
	struct truth_change *change = truth_at(&truth->changes, truth->changes.n);

	if (event->type == EVENT_ALLOC)
		*change = (struct truth_change) {
			.at_ns = event->time_ns, .address = event->u.alloc.address,
			.bytes = event->u.alloc.bytes, .allocator = event->u.alloc.allocator,
			.device = event->u.alloc.device, .alloc = true,
		};
	else
		*change = (struct truth_change) {
			.at_ns = event->time_ns, .address = event->u.free.address,
			.allocator = event->u.free.allocator,
		};
	change->order = truth->changes.n;
}

static int by_time(const void *a, const void *b)
{
	const struct truth_change *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

struct level { uint64_t live, peak, allocations, frees, allocated; uint32_t device; };

/* The changes of one allocator; live: address -> change. */
static struct level play(const struct truth *truth, uint32_t allocator)
{
	const struct truth_change *all = (const void *)truth->changes.data;
	struct map live = { .size = 0 };
	struct level level = { .live = 0 };

	for (uint32_t i = 0; i < truth->changes.n; i++) {
		const struct truth_change *change = &all[i];
		uint32_t was = map_get(&live, change->address);

		if (change->allocator != allocator)
			continue;
		if (change->alloc) {
			level.allocations++;
			level.allocated += change->bytes;
			level.live += change->bytes;
			level.device = change->device;
			map_set(&live, change->address, i);
		} else if (was != MAP_NONE) {
			level.frees++;
			level.live -= all[was].bytes;
			map_remove(&live, change->address);
		}
		if (level.live > level.peak)
			level.peak = level.live;
	}
	map_release(&live);
	return level;
}

void truth_write_memory(struct json *json, struct truth *truth)
{
	const struct truth_change *all = (const void *)truth->changes.data;
	uint32_t last = 0;

	if (!truth->changes.n)
		return;
	qsort(truth->changes.data, truth->changes.n, truth->changes.size, by_time);
	json_key_array(json, "memory");
	for (size_t i = 0; i < truth->changes.n; i++) {
		struct level level;

		/* written already: the names are in ascending order */
		if (all[i].allocator <= last)
			continue;
		last = all[i].allocator;
		level = play(truth, last);
		json_object(json);
		json_key_string(json, "allocator", truth_name(truth, last));
		json_key_uint(json, "device", level.device - 1);
		json_key_uint(json, "live_bytes", level.live);
		json_key_uint(json, "peak_bytes", level.peak);
		json_key_uint(json, "allocations", level.allocations);
		json_key_uint(json, "allocated_bytes", level.allocated);
		json_key_uint(json, "frees", level.frees);
		json_end(json);
	}
	json_end(json);
}
