/* SPDX-License-Identifier: MIT */
/* allocator: its memory, the owners at its peak, its chunks and bins. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/memory.h"
#include "model/query/query.h"
#include "tui/draw/page_call.h"
#include "tui/draw/places.h"

#define BAR_COLUMNS 24

struct snapshot {
	struct memory_row *rows;	/* owned */
	struct memory_chunks *chunks;	/* owned */
	bool *has_chunks;		/* owned */
	size_t n;
	struct device_row *devices;	/* owned */
	size_t n_devices;
	struct model_status status;
};

static void take(struct model *model, struct snapshot *s)
{
	model_lock(model);
	model_status(model, &s->status);
	s->n = model_memory(model, &s->rows);
	s->n_devices = model_devices(model, &s->devices);
	s->chunks = xcalloc(s->n, sizeof(*s->chunks));
	s->has_chunks = xcalloc(s->n, sizeof(*s->has_chunks));
	for (size_t i = 0; i < s->n; i++)
		s->has_chunks[i] = model_memory_chunks(model, s->rows[i].account, &s->chunks[i]);
	model_unlock(model);
}

static void release(struct snapshot *s)
{
	free(s->rows);
	free(s->chunks);
	free(s->has_chunks);
	free(s->devices);
}

/* Adds a bar of whole cells; a value above 0 has at least one cell. */
static void page_memory_add_bar(struct page *page, enum role role, uint64_t part, uint64_t whole,
				int columns)
{
	static const char full[] = "████████████████████████";	/* three bytes each */
	int length = whole ? (int)((unsigned __int128)part * (unsigned)columns / whole) : 0;

	if (part && !length)
		length = 1;
	page_add(page, role, 0, "%.*s%*s", 3 * length, full, columns - length, "");
}

static void page_memory_add_holders(struct page *page, const char *when, const char *const *ops,
				    const uint64_t *bytes, size_t n, uint64_t no_op, uint64_t whole)
{
	char size[FMT_MAX], share[FMT_MAX];

	if (!n && !no_op)
		return;
	page_say(page, ROLE_COLUMN, 0, "  %s", when);
	for (size_t i = 0; i < n; i++) {
		page_add(page, ROLE_DEFAULT, 0, "  %10s  %6s  ", fmt_bytes(size, bytes[i]),
			 fmt_share(share, bytes[i], whole));
		page_link(page, ops[i], 2, (const char *const[]){ "ni", ops[i] });
		page_end(page);
	}
	if (no_op)
		page_say(page, ROLE_MUTED, 0, "  %10s  %6s  outside of ops", fmt_bytes(size, no_op),
			 fmt_share(share, no_op, whole));
}

static void page_memory_add_bins(struct page *page, const struct memory_chunks *chunks)
{
	uint64_t most = 0;
	char from[FMT_MAX], bytes[FMT_MAX], free_bytes[FMT_MAX];

	for (unsigned i = 0; i < MEMORY_BINS; i++) {
		uint64_t all = chunks->bins[i].used_bytes + chunks->bins[i].free_bytes;

		most = all > most ? all : most;
	}
	page_say(page, ROLE_COLUMN, 0, "  %-11s %7s %10s  %-*s %6s %10s", "chunks from", "in use",
		 "bytes", BAR_COLUMNS, "", "free", "bytes");
	for (unsigned i = 0; i < MEMORY_BINS; i++) {
		const struct memory_bin *bin = &chunks->bins[i];
		int used;

		if (!bin->used && !bin->free)
			continue;
		page_add(page, ROLE_DEFAULT, 0, "  %-11s %7" PRIu64 " %10s  ",
			 fmt_bytes(from, (uint64_t)256 << i), bin->used,
			 fmt_bytes(bytes, bin->used_bytes));
		used = (int)((unsigned __int128)bin->used_bytes * BAR_COLUMNS / most);
		if (bin->used_bytes && !used)
			used = 1;
		if (used)
			page_memory_add_bar(page, ROLE_WORK_OTHER, 1, 1, used);
		/* free memory is shown behind the memory in use */
		page_add(page, ROLE_MUTED, 0, "%s", "");
		for (int c = used; c < BAR_COLUMNS; c++)
			page_add(page, ROLE_MUTED, 0, "%s", (unsigned __int128)(bin->used_bytes +
				 bin->free_bytes) * BAR_COLUMNS > (unsigned __int128)most *
				 (unsigned)c && bin->free_bytes ? "░" : " ");
		page_say(page, ROLE_DEFAULT, 0, " %6" PRIu64 " %10s", bin->free,
			 bin->free ? fmt_bytes(free_bytes, bin->free_bytes) : "");
	}
}

static void page_memory_add_chunks(struct page *page, const struct memory_chunks *chunks,
				   const struct model_status *status)
{
	char reserved[FMT_MAX], used[FMT_MAX], left[FMT_MAX], largest[FMT_MAX];
	char share[FMT_MAX];

	if (!chunks->known) {
		page_say(page, ROLE_WARN, 0, "  its chunks are unknown: not all of its regions "
			 "and allocations were seen");
		return;
	}
	page_say(page, ROLE_DEFAULT, 0, "  reserved %s in %s: in use %s, free %s",
		 fmt_bytes(reserved, chunks->reserved_bytes),
		 fmt_many(share, chunks->regions, "region"), fmt_bytes(used, chunks->used_bytes),
		 fmt_bytes(left, chunks->free_bytes));
	page_say(page, ROLE_DEFAULT, 0, "  largest free chunk %s, fragmentation %s",
		 fmt_bytes(largest, chunks->largest_free_bytes),
		 fmt_share(share, chunks->fragmentation, 1000));
	if (status->lost_events)
		page_say(page, ROLE_WARN, 0, "  events were lost: the chunks that they changed are "
			 "shown wrongly");
	page_memory_add_bins(page, chunks);
}

static void page_memory_add_allocator(struct page *page, const struct snapshot *s, size_t i)
{
	const struct memory_row *row = &s->rows[i];
	char device[12], live[FMT_MAX], peak[FMT_MAX], count[FMT_MAX], frees[FMT_MAX], text[48];
	int64_t base = places_base_ns(&s->status);

	places_device_label(device, sizeof(device), s->devices, s->n_devices, row->device);
	page_add(page, ROLE_TITLE, ATTR_BOLD, "%s", row->allocator);
	page_say(page, ROLE_MUTED, 0, "  %s", row->device == UINT32_MAX ? "" : device);
	page_add(page, ROLE_DEFAULT, 0, "  live %s  peak %s", fmt_bytes(live, row->live_bytes),
		 fmt_bytes(peak, row->peak_bytes));
	if (row->peak_ns > base) {
		snprintf(text, sizeof(text), "%" PRId64 "ns", row->peak_ns - base);
		page_add(page, ROLE_DEFAULT, 0, " at ");
		page_link(page, fmt_time(peak, row->peak_ns - base), 2,
			  (const char *const[]){ "goto", text });
	}
	page_add(page, ROLE_DEFAULT, 0, "  %s  %s",
		 fmt_many(count, row->allocations, "allocation"),
		 fmt_many(frees, row->frees, "free"));
	if (row->growth_bytes_per_step)
		page_add(page, ROLE_WARN, 0, "  grows by %s a %s",
			 fmt_bytes(live, row->growth_bytes_per_step), step_noun(s->status.passes));
	page_end(page);
	if (s->has_chunks[i])
		page_memory_add_chunks(page, &s->chunks[i], &s->status);
	page_memory_add_holders(page, "held most at the peak", row->peak_ops, row->peak_op_bytes,
				row->n_peak_ops, row->peak_no_op_bytes, row->peak_bytes);
	page_memory_add_holders(page, "holds most now", row->ops, row->op_bytes, row->n_ops,
				row->no_op_bytes, row->live_bytes);
}

bool page_allocator(const struct page_call *call, struct page *page)
{
	const char *name = call->argc > 1 ? call->argv[1] : NULL;
	struct snapshot s = { .n = 0 };
	size_t shown = 0;

	page_title(page, name ? "allocator %s" : "allocators", name);
	take(call->model, &s);
	for (size_t i = 0; i < s.n; i++) {
		if (name && !strstr(s.rows[i].allocator, name))
			continue;
		if (shown++)
			page_say(page, ROLE_DEFAULT, 0, "%s", "");
		page_memory_add_allocator(page, &s, i);
	}
	if (!shown && name)
		snprintf(call->error, call->error_size, "no allocator has '%.60s' in its name",
			 name);
	else if (!shown)
		page_say(page, ROLE_MUTED, 0, "no allocation has been seen");
	release(&s);
	return shown || !name;
}
