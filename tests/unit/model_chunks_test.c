/* SPDX-License-Identifier: MIT */
/* Chunks and bins of an allocator's regions, against a map of all its bytes. */
#include <stdlib.h>
#include <string.h>

#include "model/query/counters.h"
#include "model/query/memory.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define UNIT 256u
#define UNITS 4096u		/* of a region */
#define REGIONS 3u
#define POOL 150u		/* name */
#define MS 1000000

struct oracle {
	uint32_t chunk[REGIONS][UNITS];	/* which chunk a unit is in, 0: free */
	uint64_t address[REGIONS];
	bool there[REGIONS];
};

static struct event ev_region(uint64_t address, uint64_t bytes, bool joined, int64_t at_ns)
{
	struct event event = { .type = EVENT_REGION, .pid = PID, .time_ns = BASE + at_ns };

	event.u.region = (struct event_region) { POOL, 1, address, bytes, joined };
	return event;
}

static struct event ev_take(uint64_t address, uint64_t bytes, int64_t at_ns)
{
	struct event event = { .type = EVENT_ALLOC, .pid = PID, .time_ns = BASE + at_ns };

	event.u.alloc = (struct event_alloc) {
		.allocator = POOL, .device = 1, .address = address, .bytes = bytes,
	};
	return event;
}

static struct event ev_give(uint64_t address, int64_t at_ns)
{
	struct event event = { .type = EVENT_FREE, .pid = PID, .time_ns = BASE + at_ns };

	event.u.free = (struct event_free) { .allocator = POOL, .address = address };
	return event;
}

static bool chunks_of(struct model *model, struct memory_chunks *out)
{
	struct memory_row *rows;
	bool has;

	model_lock(model);
	CHECK_INT(model_memory(model, &rows), 1);
	has = model_memory_chunks(model, rows[0].account, out);
	model_unlock(model);
	free(rows);
	return has;
}

static unsigned bin_of(uint64_t bytes)
{
	unsigned bin = 0;

	while (bin < MEMORY_BINS - 1 && (uint64_t)512 << bin <= bytes)
		bin++;
	return bin;
}

static void count(const struct oracle *o, struct memory_chunks *out)
{
	memset(out, 0, sizeof(*out));
	out->known = true;
	for (unsigned r = 0; r < REGIONS; r++) {
		unsigned end;

		if (!o->there[r])
			continue;
		out->regions++;
		out->reserved_bytes += UNITS * UNIT;
		for (unsigned i = 0; i < UNITS; i = end) {
			uint64_t bytes;

			for (end = i; end < UNITS && o->chunk[r][end] == o->chunk[r][i]; end++)
				;
			bytes = (end - i) * UNIT;
			if (o->chunk[r][i]) {
				out->used++;
				out->used_bytes += bytes;
				out->bins[bin_of(bytes)].used++;
				out->bins[bin_of(bytes)].used_bytes += bytes;
				continue;
			}
			out->free++;
			out->free_bytes += bytes;
			out->bins[bin_of(bytes)].free++;
			out->bins[bin_of(bytes)].free_bytes += bytes;
			if (bytes > out->largest_free_bytes)
				out->largest_free_bytes = bytes;
		}
	}
	if (out->free_bytes)
		out->fragmentation = (uint32_t)((out->free_bytes - out->largest_free_bytes) *
						1000 / out->free_bytes);
}

/* A change at a random place: a chunk goes, or one comes where there is room. */
static struct event change(struct oracle *o, uint32_t id, int64_t at_ns)
{
	unsigned r, i, n;

	do
		r = (unsigned)test_below(REGIONS);
	while (!o->there[r]);
	i = (unsigned)test_below(UNITS);
	if (o->chunk[r][i]) {
		uint32_t old = o->chunk[r][i];

		while (i && o->chunk[r][i - 1] == old)
			i--;
		for (n = i; n < UNITS && o->chunk[r][n] == old; n++)
			o->chunk[r][n] = 0;
		return ev_give(o->address[r] + i * UNIT, at_ns);
	}
	n = 1 + (unsigned)test_below(test_below(8) ? 20 : 400);
	for (unsigned k = 0; k < n; k++) {
		if (i + k < UNITS && !o->chunk[r][i + k])
			continue;
		n = k;
		break;
	}
	for (unsigned k = 0; k < n; k++)
		o->chunk[r][i + k] = id;
	return ev_take(o->address[r] + i * UNIT, n * UNIT, at_ns);
}

static void check_same(struct model *model, const struct oracle *o)
{
	struct memory_chunks want, got;

	count(o, &want);
	CHECK(chunks_of(model, &got));
	CHECK(got.known);
	CHECK_INT(got.regions, want.regions);
	CHECK_INT(got.used_bytes, want.used_bytes);
	CHECK_INT(got.free, want.free);
	CHECK_INT(got.largest_free_bytes, want.largest_free_bytes);
	CHECK(memcmp(&got, &want, sizeof(got)) == 0);
}

TEST(chunks_of_regions)
{
	struct oracle *o = calloc(1, sizeof(*o));
	struct model *model = model_with_device(), *copy;
	struct counter_row *counters;
	size_t n;

	apply_one(model, ev_name(POOL, NAME_ALLOCATOR, "pool"));
	for (uint32_t step = 1; step <= 3000; step++) {
		int64_t at_ns = step * (int64_t)MS;

		if (step % 1000 == 1) {
			unsigned r = step / 1000;

			/* The second lies next to the first: two regions all the same. */
			o->address[r] = 1 << 30 | (r == 2 ? 1 << 29 : r * UNITS * UNIT);
			o->there[r] = true;
			apply_one(model, ev_region(o->address[r], UNITS * UNIT, false, at_ns));
		}
		apply_one(model, change(o, step, at_ns));
		if (step % 100 == 0)
			check_same(model, o);
		if (step % 150 == 0)
			apply_one(model, ev_alive(BASE + at_ns - 60 * MS));
	}
	apply_one(model, ev_alive(BASE + 3000 * (int64_t)MS));
	copy = saved_again(model);
	check_same(copy, o);
	for (int i = 0; i < 2; i++) {
		model_lock(i ? copy : model);
		n = model_counters(i ? copy : model, &counters);
		model_unlock(i ? copy : model);
		CHECK_INT(n, 2);
		CHECK_STR(counters[0].name, "pool fragmentation");
		CHECK_INT(counters[0].count, 2);
		CHECK(counters[0].max <= 1000 && counters[0].min > 0);
		CHECK_STR(counters[1].name, "pool largest free chunk");
		free(counters);
	}
	model_free(model);
	model_free(copy);
	free(o);
}

TEST(chunks_joined_unknown_and_ended)
{
	struct model *model = model_with_device();
	struct event end = { .type = EVENT_EXIT, .pid = PID, .time_ns = BASE + 50 * MS };
	struct memory_chunks c;

	apply_one(model, ev_name(POOL, NAME_ALLOCATOR, "pool"));
	apply_one(model, ev_take(1 << 20, 4096, 0));
	CHECK(!chunks_of(model, &c));		/* no region: not such an allocator */
	apply_one(model, ev_region(1 << 20, 8192, false, MS));
	apply_one(model, ev_region((1 << 20) + 8192, 4096, true, 2 * MS));
	CHECK(chunks_of(model, &c) && c.known);
	CHECK_INT(c.regions, 1);
	CHECK_INT(c.free, 1);
	CHECK_INT(c.largest_free_bytes, 8192);
	/* a chunk that lies in no region, or over another one */
	apply_one(model, ev_take(1 << 21, 256, 3 * MS));
	CHECK(chunks_of(model, &c) && !c.known);
	apply_one(model, ev_give(1 << 21, 4 * MS));
	CHECK(chunks_of(model, &c) && c.known);
	apply_one(model, ev_take((1 << 20) + 2048, 4096, 5 * MS));
	CHECK(chunks_of(model, &c) && !c.known);
	apply_one(model, ev_give((1 << 20) + 2048, 6 * MS));
	/* its regions are not known any more */
	apply_one(model, ev_region(0, 0, false, 7 * MS));
	CHECK(chunks_of(model, &c) && !c.known);
	model_free(model);

	model = model_with_device();
	apply_one(model, ev_name(POOL, NAME_ALLOCATOR, "pool"));
	apply_one(model, ev_region(1 << 20, 8192, false, 0));
	apply_one(model, ev_take((1 << 20) + 256, 512, MS));
	apply_one(model, end);
	for (int i = 0; i < 2; i++) {
		CHECK(chunks_of(model, &c) && c.known);
		CHECK_INT(c.used, 1);
		CHECK_INT(c.free, 2);
		CHECK_INT(c.largest_free_bytes, 8192 - 768);
		model_finish(model, false);
	}
	model_free(model);
}
