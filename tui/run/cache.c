/* SPDX-License-Identifier: MIT */
/* The cache file of a recording. */
#include "tui/run/cache.h"

#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/analyses/thresholds.h"
#include "model/base/heap.h"
#include "model/base/util.h"
#include "tui/base/log.h"
#include "tui/base/signals.h"

#define LOOK_MS 5

/* nftw() passes no argument to its function, so the sum is kept here; it does not depend on the
 * order. */
static _Thread_local uint64_t files;
static _Thread_local size_t prefix;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const int64_t facts[] = {
		st->st_size, (int64_t)st->st_ino, (int64_t)st->st_dev,
		st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_ctim.tv_sec, st->st_ctim.tv_nsec,
	};

	(void)at;
	if (type == FTW_F)
		files += image_hash(image_hash(0, path + prefix, strlen(path + prefix)), facts,
				    sizeof(facts));
	return 0;
}

/* A hash over the state of the recording that can be determined without reading it: only the kernel
 * sets a file's ctime. */
static uint64_t hash_files(const char *dir)
{
	static const char *const parts[] = { "trace", "tftop.json" };

	files = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *path = xasprintf("%s/%s", dir, parts[i]);

		prefix = strlen(dir);
		nftw(path, add_file, 32, FTW_PHYS);
		free(path);
	}
	return files;
}

void cache_init(struct cache *cache, const struct options *options, struct model *shape)
{
	const int64_t limit = (int64_t)options->memory_limit_bytes;
	struct stat st;

	memset(cache, 0, sizeof(*cache));
	cache->dir = options->open_path;
	cache->whole = options_batch(options);
	/* A part of a recording must not be cached as the whole. */
	if (options_batch(options) && (options->from_step > 1 || options->steps || options->for_ns))
		return;
	if (stat(cache->dir, &st) || st.st_uid != geteuid())
		return;
	cache->path = xasprintf("%s/cache", cache->dir);
	cache->key = image_hash(hash_files(cache->dir), &limit, sizeof(limit));
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		int64_t value = model_threshold(shape, (enum threshold)i);

		cache->key = image_hash(cache->key, &value, sizeof(value));
	}
}

struct model *cache_open(struct cache *cache, bool *damaged)
{
	static const char *const said[] = {
		[IMAGE_GOOD] = "used", [IMAGE_NONE] = "not there",
		[IMAGE_FOREIGN] = "owned by another user or writable by others: not used",
		[IMAGE_STALE] = "of another recording, version or options: not used",
		[IMAGE_DAMAGED] = "damaged: not used",
		[IMAGE_NO_ROOM] = "not used: its addresses are taken",
	};
	enum image_problem problem = IMAGE_NONE;
	struct model *model = NULL;

	*damaged = false;
	if (!cache->path)
		return NULL;
	model = image_open(cache->path, cache->key, cache->whole, &problem);
	cache->opened = model != NULL;
	log_line("the cache '%s' is %s", cache->path, said[problem]);
	*damaged = problem == IMAGE_DAMAGED;
	return model;
}

bool cache_failed(const struct cache *cache)
{
	return cache->opened && image_is_damaged();
}

bool cache_prepare(struct cache *cache)
{
	cache->prepared = cache->path && !access(cache->dir, W_OK | X_OK) && image_prepare();
	return cache->prepared;
}

void cache_write(struct cache *cache, struct model *model)
{
	struct statvfs fs;

	if (!cache->prepared || cache->writer)
		return;
	if (statvfs(cache->dir, &fs) || (uint64_t)fs.f_bavail * fs.f_frsize < heap_bytes() * 2) {
		log_line("no cache: no room in '%s'", cache->dir);
		return;
	}
	cache->writer = image_write(model, cache->path, cache->key);
	if (cache->writer < 0)
		cache->writer = 0;
}

void cache_release(struct cache *cache, int timeout_ms)
{
	int status = 0;
	pid_t done = 0;

	if (cache->opened)
		image_check_end();
	for (; cache->writer && !done && timeout_ms > 0; timeout_ms -= LOOK_MS) {
		done = waitpid(cache->writer, &status, WNOHANG);
		if (!done && signals_next())
			break;
		if (!done)
			poll(NULL, 0, LOOK_MS);
	}
	if (cache->writer && !done) {
		kill(cache->writer, SIGKILL);
		waitpid(cache->writer, &status, 0);
	}
	if (cache->writer)
		log_line("the cache was %s", done && !status ? "written" : "not written");
	free(cache->path);
	memset(cache, 0, sizeof(*cache));
}
