/* SPDX-License-Identifier: MIT */
/*
 * The chunks of allocators that hand out pieces of regions: free memory lies between the
 * allocated chunks, as in a best-fit allocator with coalescing. Only the regions are kept: a
 * question sorts the holdings, O(n log n). Once a second of the program's time the answer becomes
 * two counters.
 */
#include "model/counters/counters.h"
#include "model/memory/memory_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define LOOK_NS 1000000000
#define LOOK_MANY 65536u	/* with more holdings than this the chunks are counted less often */

/* ---- regions ---- */

void book_region(struct model *model, struct book *book, const struct memory_event *event)
{
	uint32_t index = book_account(model, book, event);
	struct account *account;
	size_t kept = 0;

	if (index == NONE)
		return;
	account = &book->accounts[index];
	if (!event->bytes) {
		for (size_t i = 0; i < book->n_regions; i++)
			if (book->regions[i].account != index ||
			    book->regions[i].process != event->process)
				book->regions[kept++] = book->regions[i];
		book->n_regions = kept;
		account->blind = true;
		return;
	}
	account->regions = true;
	if (!book->below && !model->memory->chunks_ns)
		model->memory->chunks_ns = event->time_ns + LOOK_NS;
	for (size_t i = 0; event->joined && i < book->n_regions; i++) {
		struct memory_region *region = &book->regions[i];

		if (region->account == index && region->process == event->process &&
		    region->address + region->bytes == event->address) {
			region->bytes += event->bytes;
			return;
		}
	}
	if (book->n_regions >= REGIONS_MAX) {
		account->blind = true;
		return;
	}
	grow(&book->regions, &book->cap_regions, book->n_regions, sizeof(*book->regions));
	book->regions[book->n_regions++] = (struct memory_region) {
		event->address, event->bytes, index, event->process,
	};
}

/* ---- chunks ---- */

struct chunk_at { uint64_t address, bytes; uint32_t process; };

static int by_address(const void *a, const void *b)
{
	const struct chunk_at *x = a, *y = b;

	return ASCENDING(x, y, process) ?: ASCENDING(x, y, address);
}

static int region_by_address(const void *a, const void *b)
{
	const struct memory_region *x = a, *y = b;

	return ASCENDING(x, y, process) ?: ASCENDING(x, y, address);
}

/* The live holdings of the account, by process and address; the caller frees. */
static size_t used_chunks(const struct book *book, uint32_t account, struct chunk_at **out)
{
	size_t n = 0, cap = 0;

	*out = NULL;
	for (const struct book *b = book; b; b = b->below)
		for (size_t i = 0; i < b->n_holdings; i++) {
			const struct holding *h = &b->holdings[i];

			/* The upper book's version of the holding is in force. */
			if (!h->live || h->account != account ||
			    (b != book && map_get(&book->holding_by_key, h->key) != MAP_NONE))
				continue;
			grow(out, &cap, n, sizeof(**out));
			(*out)[n++] = (struct chunk_at) { h->address, h->bytes, h->process };
		}
	if (n)
		qsort(*out, n, sizeof(**out), by_address);
	return n;
}

static unsigned bin_of(uint64_t bytes)
{
	unsigned bin = bytes >= 256 ? 63 - (unsigned)__builtin_clzll(bytes >> 8) : 0;

	return bin < MEMORY_BINS ? bin : MEMORY_BINS - 1;
}

static void add_free(struct memory_chunks *out, uint64_t bytes, uint64_t *largest)
{
	struct memory_bin *bin = &out->bins[bin_of(bytes)];

	if (!bytes)
		return;
	bin->free++;
	bin->free_bytes += bytes;
	out->free++;
	out->free_bytes += bytes;
	*largest = bytes > *largest ? bytes : *largest;
}

static void add_used(struct memory_chunks *out, uint64_t bytes)
{
	struct memory_bin *bin = &out->bins[bin_of(bytes)];

	bin->used++;
	bin->used_bytes += bytes;
	out->used++;
	out->used_bytes += bytes;
}

/* Counts the chunks from *i on that lie in the region; chunks before it lie in no region. */
static bool walk_region(struct memory_chunks *out, const struct memory_region *region,
			const struct chunk_at *chunks, size_t n, size_t *i, uint64_t *largest)
{
	uint64_t at = region->address, end = region->address + region->bytes;
	bool whole = true;

	out->regions++;
	out->reserved_bytes += region->bytes;
	while (*i < n && (chunks[*i].process < region->process ||
			  (chunks[*i].process == region->process && chunks[*i].address < at))) {
		whole = false;
		++*i;
	}
	for (; *i < n && chunks[*i].process == region->process && chunks[*i].address < end; ++*i) {
		const struct chunk_at *chunk = &chunks[*i];

		if (chunk->address < at || chunk->bytes > end - chunk->address)
			return false;
		add_free(out, chunk->address - at, largest);
		add_used(out, chunk->bytes);
		at = chunk->address + chunk->bytes;
	}
	add_free(out, end - at, largest);
	return whole;
}

static void look_at_chunks(const struct book *book, uint32_t account, struct memory_chunks *out)
{
	struct memory_region *regions = xcalloc(book->n_regions, sizeof(*regions));
	uint64_t largest = 0, largest_sum = 0;
	struct chunk_at *chunks;
	size_t n = used_chunks(book, account, &chunks), n_regions = 0, at = 0;

	memset(out, 0, sizeof(*out));
	out->known = !book->accounts[account].blind;
	for (size_t i = 0; i < book->n_regions; i++)
		if (book->regions[i].account == account)
			regions[n_regions++] = book->regions[i];
	if (n_regions)
		qsort(regions, n_regions, sizeof(*regions), region_by_address);
	for (size_t i = 0; i < n_regions; i++) {
		out->known &= walk_region(out, &regions[i], chunks, n, &at, &largest);
		if (largest > out->largest_free_bytes)
			out->largest_free_bytes = largest;
		if (i + 1 == n_regions || regions[i + 1].process != regions[i].process) {
			largest_sum += largest;
			largest = 0;
		}
	}
	out->known &= at == n;
	if (out->free_bytes)
		out->fragmentation = (uint32_t)((unsigned __int128)(out->free_bytes - largest_sum) *
						1000 / out->free_bytes);
	free(regions);
	free(chunks);
}

bool model_memory_chunks(struct model *model, uint32_t account, struct memory_chunks *out)
{
	struct book *over = memory_now(model);

	memset(out, 0, sizeof(*out));
	if (account >= over->n_accounts || !over->accounts[account].regions)
		return false;
	for (size_t i = 0; i < over->n_regions; i++)
		if (over->regions[i].account == account) {
			look_at_chunks(over, account, out);
			return true;
		}
	*out = pool_at(model->memory, account)->ended;
	return true;
}

/* ---- over time ---- */

static uint32_t made(struct model *model, uint32_t process, const struct memory_pool *pool,
		     const char *what, const char *unit)
{
	char *name = xasprintf("%s %s", names_raw(&model->names, pool->name), what);
	uint32_t series = counters_made(model, process, pool->device, name, unit);

	free(name);
	return series;
}

static void put_chunks(struct model *model, uint32_t account, uint32_t process, int64_t at_ns)
{
	struct memory_pool *pool = pool_at(model->memory, account);
	struct memory_chunks chunks;

	look_at_chunks(&model->memory->book, account, &chunks);
	if (!chunks.known)
		return;
	if (pool->fragmentation == NONE)
		pool->fragmentation = made(model, process, pool, "fragmentation", "1/1000");
	if (pool->largest == NONE)
		pool->largest = made(model, process, pool, "largest free chunk", "bytes");
	if (pool->fragmentation != NONE)
		counters_put(model, pool->fragmentation, at_ns, chunks.fragmentation);
	if (pool->largest != NONE)
		counters_put(model, pool->largest, at_ns, (int64_t)chunks.largest_free_bytes);
}

void chunks_until(struct model *model, int64_t time_ns)
{
	struct memory_state *memory = model->memory;
	const struct book *book = &memory->book;
	int64_t period = LOOK_NS * (1 + (int64_t)(book->live / LOOK_MANY));

	if (!memory->chunks_ns || time_ns < memory->chunks_ns)
		return;
	/* each account once, at its first region */
	for (size_t i = 0; i < book->n_regions; i++) {
		const struct memory_region *region = &book->regions[i];
		size_t before = 0;

		while (book->regions[before].account != region->account)
			before++;
		if (before == i)
			put_chunks(model, region->account, region->process, memory->chunks_ns);
	}
	/* time without events since then is counted once */
	memory->chunks_ns += (time_ns - memory->chunks_ns) / period * period + period;
}

/* Whether the account has regions of this process and of no other. */
static bool only_of(const struct book *book, uint32_t account, uint32_t process)
{
	bool some = false;

	for (size_t i = 0; i < book->n_regions; i++) {
		if (book->regions[i].account != account)
			continue;
		if (book->regions[i].process != process)
			return false;
		some = true;
	}
	return some;
}

void book_regions_exit(struct model *model, struct book *book, const struct memory_event *event)
{
	size_t kept = 0;

	if (!book->n_regions)
		return;
	for (uint32_t i = 0; i < book->n_accounts; i++) {
		if (!book->accounts[i].regions || !only_of(book, i, event->process))
			continue;
		look_at_chunks(book, i, &pool_at(model->memory, i)->ended);
		if (!book->below)
			put_chunks(model, i, event->process, event->time_ns);
	}
	for (size_t i = 0; i < book->n_regions; i++)
		if (book->regions[i].process != event->process)
			book->regions[kept++] = book->regions[i];
	book->n_regions = kept;
}
