/* SPDX-License-Identifier: MIT */
/*
 * cupti_check: what the CUDA probe has of CUPTI, without the probe.
 *
 *	cupti_check find LIB...		loads LIB..., then looks for libcupti
 *	cupti_check subscribe LIB...	the same, and subscribes, enables, walks
 *	cupti_check exports LIB RELEASE	what a genuine libcupti has of what is called; none
 *					of it is called
 *	cupti_check walk LIB RELEASE	a genuine libcupti steps over made-up records of that
 *					release: as the table of sizes does?
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/cuda/decode.h"
#include "probes/cuda/family.h"
#include "probes/cuda/library.h"

static const struct cupti_library *find(char **libraries)
{
	const struct cupti_library *lib;
	char why[600];

	for (; *libraries; libraries++) {
		if (!dlopen(*libraries, RTLD_NOW | RTLD_GLOBAL)) {
			fprintf(stderr, "%s\n", dlerror());
			exit(2);
		}
	}
	lib = cupti_find(why, sizeof(why));
	if (!lib) {
		printf("none: %s\n", why);
		return NULL;
	}
	printf("%s %u %s\n", lib->path, lib->release, lib->version_text);
	if (*lib->note)
		printf("note %s\n", lib->note);
	printf("missing %s\n", cupti_missing(lib));
	printf("rules%s%s\n", cupti_null_buffer(lib) ? " null" : "",
	       cupti_slows_down(lib) ? " slow" : "");
	return lib;
}

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	(void)data;
	printf("callback %s %u %u\n", (const char *)user, domain, id);
}

static void request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	static uint64_t room[512];

	*buffer = (uint8_t *)room;
	*size = sizeof(room);
	*max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	printf("buffer %d %d %zu %zu %u\n", !!context, stream == CUPTI_ID_NONE, size, valid,
	       *(uint32_t *)(void *)buffer);
}

static int subscribe(char **libraries)
{
	const struct cupti_library *lib = find(libraries);
	static char user[] = "ours";
	char other[80];
	size_t dropped = 0;
	uint64_t now = 0;
	void *record = NULL;
	int result, results[16];

	if (!lib)
		return 1;
	fflush(stdout);
	result = cupti_subscribe(callback, user, !!getenv("WHOLE"), other, sizeof(other));
	printf("subscribed %d %s '%s' '%s'\n", result, lib->several ? "several" : "one", other,
	       cupti_text(result));
	if (result)
		return 1;
	result = 0;
#define DONE(call) (results[result++] = (call))
	DONE(lib->register_buffers(request, complete));
	DONE(lib->enable_callback(1, 3, 5));
	DONE(lib->enable_domain(1, 2));
	DONE(lib->enable(10));
	DONE(lib->timestamp(&now));
	DONE(lib->next_record((uint8_t *)&now, sizeof(now), &record));
	DONE(lib->num_dropped(NULL, 0, &dropped));
	DONE(lib->flush_all(CUPTI_FLUSH_FORCED));
	DONE(lib->disable(10));
	DONE(cupti_unsubscribe());
	DONE(cupti_unsubscribe());
	printf("results");
	for (int i = 0; i < result; i++)
		printf(" %d", results[i]);
	printf("\n");
	return 0;
}

/* ---- the genuine library's steps ---- */

static int (*genuine_next)(uint8_t *buffer, size_t valid, void **record);

/* How far the library steps over a record of that kind, followed by one whose kind has never
 * changed; 0 if it does not know the kind. Runs in a child process, because the library may read
 * beyond the record. */
static size_t steps(uint32_t kind)
{
	static uint64_t buffer[1024];
	uint32_t *words = (uint32_t *)(void *)buffer;
	int pipes[2];
	size_t size = 0;
	pid_t child;

	if (pipe(pipes))
		return 0;
	fflush(stdout);
	child = fork();
	if (!child) {
		void *first = NULL, *second;
		size_t n;

		for (size_t i = 0; i < 2 * 1024; i += 2)
			words[i] = CUPTI_KIND_EXTERNAL;
		words[0] = kind;
		if (genuine_next((uint8_t *)buffer, sizeof(buffer) / 2, &first) ||
		    (second = first, genuine_next((uint8_t *)buffer, sizeof(buffer) / 2, &second)))
			_exit(1);
		n = (size_t)((char *)second - (char *)first);
		_exit(write(pipes[1], &n, sizeof(n)) != sizeof(n));
	}
	close(pipes[1]);
	if (read(pipes[0], &size, sizeof(size)) != sizeof(size))
		size = 0;
	close(pipes[0]);
	waitpid(child, NULL, 0);
	return size;
}

static int next(void *user, uint8_t *buffer, size_t valid, void **record)
{
	(void)user;
	return genuine_next(buffer, valid, record);
}

/* Steps over a buffer with one record of every kind, once with the library and once with the
 * table. */
static bool same_walk(uint32_t release)
{
	static uint64_t buffer[2048];
	uint8_t *bytes = (uint8_t *)buffer;
	struct cuda_walk genuine, table;
	struct cuda_record a, b;
	size_t valid = 0, n = 0;

	for (uint32_t kind = 0; kind < CUPTI_KIND_LIMIT; kind++) {
		if (!cupti_record_size(kind, release))
			continue;
		memcpy(bytes + valid, &kind, sizeof(kind));
		valid += cupti_record_size(kind, release);
	}
	cuda_walk_begin(&genuine, bytes, valid, release, next, NULL);
	cuda_walk_begin(&table, bytes, valid, release, NULL, NULL);
	while (cuda_walk_next(&genuine, &a)) {
		if (!cuda_walk_next(&table, &b) || a.kind != b.kind ||
		    genuine.record != table.record)
			return false;
		n++;
	}
	if (cuda_walk_next(&table, &b) || genuine.result != CUPTI_MAX_LIMIT || genuine.odd)
		return false;
	printf("walked %zu records of %zu bytes\n", n, valid);
	return n > 10;
}

static int walk(const char *path, uint32_t release)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int wrong = 0, right = 0;

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	*(void **)&genuine_next = dlsym(lib, "cuptiActivityGetNextRecord");
	for (uint32_t kind = 1; kind < CUPTI_KIND_LIMIT; kind++) {
		size_t here = cupti_record_size(kind, release), there;

		if (!here)
			continue;
		there = steps(kind);
		right += here == there;
		if (here == there)
			continue;
		printf("kind %u: the table says %zu, the library steps %zu\n", kind, here, there);
		wrong++;
	}
	printf("%d kinds alike\n", right);
	return wrong || !same_walk(release);
}

static int exports(const char *path, uint32_t release)
{
	static struct cupti_library lib;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	const char *lacks;

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	lib.release = release;
	lacks = family_resolve(&lib, handle);
	if (lacks)
		printf("without %s, ", lacks);
	printf("%s: %s\n", family_second() ? "two families" : "one family", cupti_missing(&lib));
	return !!lacks;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "find"))
		return !find(argv + 2);
	if (argc > 2 && !strcmp(argv[1], "subscribe"))
		return subscribe(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "exports"))
		return exports(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
	if (argc == 4 && !strcmp(argv[1], "walk"))
		return walk(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
	fprintf(stderr,
		"usage: cupti_check find|subscribe LIB..., cupti_check exports|walk LIB RELEASE\n");
	return 2;
}
