/* SPDX-License-Identifier: MIT */
/* Puts items in the order of time, in memory or in a temporary file. */
#include "model/import/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/base/binary_heap.h"
#include "model/base/util.h"
#include "model/import/import.h"

/* size of the parts of the file that are given back after they have been read */
#define PAGES (4u << 20)

struct spool_run { const struct import_item *at, *end; };

struct spool {
	struct import_item *block;		/* owned */
	size_t n, cap;
	uint64_t count, filed;		/* of all items; of those in the file */
	int fd;				/* -1: there is no file */
	struct import_item *file;		/* mapped; or NULL */
	struct spool_run *heap;		/* owned; a heap of sorted runs, by their first item */
	size_t n_heap;
};

struct spool *spool_new(void)
{
	struct spool *spool = xcalloc(1, sizeof(*spool));

	spool->fd = -1;
	return spool;
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->file)
		munmap(spool->file, spool->filed * sizeof(*spool->file));
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->block);
	free(spool->heap);
	free(spool);
}

uint64_t spool_count(const struct spool *spool)
{
	return spool->count;
}

static int compare(const void *x, const void *y)
{
	const struct import_item *a = x, *b = y;

	return ASCENDING(a, b, start_ns) ?: ASCENDING(a, b, type) ?: DESCENDING(a, b, dur_ns) ?:
	       ASCENDING(a, b, order);
}

static void sort_items(struct import_item *items, size_t n)
{
	size_t i;

	for (i = 1; i < n && compare(&items[i - 1], &items[i]) < 0; i++)
		;
	if (i < n)
		qsort(items, n, sizeof(*items), compare);
}

/* Makes an unnamed file; -1: errno. */
static int make_file(void)
{
	const char *dir = getenv("TMPDIR");
	char *path = xasprintf("%s/tftop-XXXXXX", dir && *dir ? dir : "/var/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static bool write_block(struct spool *spool)
{
	const char *at = (const char *)spool->block;
	size_t left = spool->n * sizeof(*spool->block);
	off_t to = (off_t)(spool->filed * sizeof(*spool->block));

	sort_items(spool->block, spool->n);
	if (spool->fd < 0)
		spool->fd = make_file();
	while (spool->fd >= 0 && left) {
		ssize_t n = pwrite(spool->fd, at, left, to);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		to += n;
		left -= (size_t)n;
	}
	if (spool->fd < 0)
		return false;
	spool->filed += spool->n;
	spool->n = 0;
	return true;
}

bool spool_add(struct spool *spool, const struct import_item *item)
{
	if (spool->n >= IMPORT_ITEMS && !write_block(spool))
		return false;
	grow(&spool->block, &spool->cap, spool->n, sizeof(*spool->block));
	spool->block[spool->n] = *item;
	spool->block[spool->n++].order = spool->count++;
	return true;
}

static void spool_map_file(struct spool *spool)
{
	void *map;

	if (!spool->filed || spool->file)
		return;
	map = mmap(NULL, spool->filed * sizeof(*spool->file), PROT_READ | PROT_WRITE, MAP_SHARED,
		   spool->fd, 0);
	/* there is no address range: continue without the items in the file */
	if (map == MAP_FAILED) {
		spool->filed = 0;
		return;
	}
	spool->file = map;
}

/* The process need not keep items in memory that have been taken out or are still far away. */
static void give_back(const struct spool *spool, const struct import_item *item)
{
	uintptr_t at = (uintptr_t)item & ~(uintptr_t)(PAGES - 1);

	if (spool->file && (uintptr_t)item - at < sizeof(*item) &&
	    (const char *)at - PAGES >= (const char *)spool->file &&
	    item < spool->file + spool->filed)
		madvise((char *)at - PAGES, PAGES, MADV_DONTNEED);
}

void spool_each(struct spool *spool, void (*take)(void *arg, struct import_item *item), void *arg)
{
	spool_map_file(spool);
	for (uint64_t i = 0; i < spool->filed; i++) {
		take(arg, &spool->file[i]);
		give_back(spool, &spool->file[i]);
	}
	for (size_t i = 0; i < spool->n; i++)
		take(arg, &spool->block[i]);
}

/* ---- the merge ---- */

static bool run_is_before(const void *one, const void *other, const void *arg)
{
	const struct spool_run *a = one, *b = other;

	(void)arg;
	return compare(a->at, b->at) < 0;
}

void spool_sort(struct spool *spool)
{
	size_t runs = 0, max = spool->filed / IMPORT_ITEMS + 2;

	spool_map_file(spool);
	free(spool->heap);
	spool->heap = xcalloc(max, sizeof(*spool->heap));
	for (uint64_t at = 0; at < spool->filed; at += IMPORT_ITEMS) {
		size_t n = spool->filed - at < IMPORT_ITEMS ? spool->filed - at : IMPORT_ITEMS;

		spool->heap[runs++] = (struct spool_run) { spool->file + at, spool->file + at + n };
	}
	sort_items(spool->block, spool->n);
	if (spool->n)
		spool->heap[runs++] = (struct spool_run) { spool->block, spool->block + spool->n };
	spool->n_heap = runs;
	binary_heap_make(spool->heap, runs, sizeof(*spool->heap), run_is_before, NULL);
}

const struct import_item *spool_next(struct spool *spool)
{
	const struct import_item *item;

	if (!spool->n_heap)
		return NULL;
	item = spool->heap[0].at++;
	give_back(spool, item);
	if (spool->heap[0].at == spool->heap[0].end)
		spool->heap[0] = spool->heap[--spool->n_heap];
	if (spool->n_heap)
		binary_heap_down(spool->heap, spool->n_heap, sizeof(*spool->heap), 0, run_is_before,
				 NULL);
	return item;
}
