/* SPDX-License-Identifier: MIT */
/*
 * A small client of CUPTI, injected into cuda_play: subscribes to the library that CUDA_CLIENT_LIB
 * names, records, and at the end writes what came to the file CUDA_CLIENT_OUT, a line for each
 * kind:
 *	version N; kernel COUNT NS; copy COUNT BYTES NS; fill COUNT BYTES NS; peer …; alloc COUNT;
 *	free COUNT; sync COUNT; graph COUNT; api COUNT; zero COUNT; unknown COUNT; dropped COUNT;
 *	correlated COUNT (kernels and copies); disorder COUNT; buffers COUNT; calls COUNT
 *	(callbacks at entry); unended COUNT (kernels that came before their end); late COUNT
 *	(100 ms and more after it)
 * CUDA_CLIENT_DUMP: a file that gets the valid bytes of each buffer, with their length before them.
 * CUDA_CLIENT is a list of words: what it does otherwise, or wrong.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/cuda/cupti.h"

#define BUFFER (256 << 10)

static void *library;
static struct cupti_subscriber *subscriber;
static FILE *dump;
static struct {
	unsigned long kernels, kernel_ns, copies, copy_bytes, copy_ns, fills, fill_bytes, fill_ns;
	unsigned long peers, peer_bytes, peer_ns, allocs, frees, syncs, graphs, apis, zero, unknown;
	unsigned long disorder, buffers, unended, late, correlated;
	uint64_t last_start;
} got;
static atomic_ulong calls, nulls;
static atomic_bool over;
static pthread_t flusher;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int InitializeInjection(void);

static bool word(const char *w)
{
	const char *list = getenv("CUDA_CLIENT");

	return list && strstr(list, w);
}

#define CALL(name, type, ...) (find(name) ? ((int (*) type)find(name))(__VA_ARGS__) : -1)
static void *find(const char *name)
{
	return dlsym(library, name);
}

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*most = 0;
	*size = word("tiny") ? 64 : word("small") ? 4096 : BUFFER;
	*buffer = NULL;
	if (word("null") && atomic_fetch_add(&nulls, 1) % 2 == 0)
		return;
	*buffer = aligned_alloc(64, BUFFER + 64);
	if (word("misaligned"))
		*buffer += 4;
	if (word("flush-inside"))
		CALL("cuptiActivityFlushAll", (uint32_t), 0);
	if (word("same")) {
		static uint8_t *one;

		one = one ? one : *buffer;
		*buffer = one;
	}
}

static void timed(uint64_t start, uint64_t end, unsigned long *ns)
{
	if (!start)
		got.zero++;
	*ns += end - start;
	got.disorder += start && start < got.last_start;
	got.last_start = start;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void one(const void *record)
{
	const struct cupti_kernel *k = record;
	const struct cupti_copy *c = record;
	const struct cupti_fill *f = record;
	const struct cupti_copy_peer *p = record;
	const struct cupti_memory *m = record;

	switch (k->kind) {
	case CUPTI_KIND_CONCURRENT_KERNEL:
		got.kernels++;
		got.unended += k->end > now_ns();
		got.late += k->start && k->end + 100000000 < now_ns();
		got.correlated += k->correlation != 0;
		timed(k->start, k->end, &got.kernel_ns);
		break;
	case CUPTI_KIND_COPY:
		got.copies++;
		got.correlated += c->correlation != 0;
		got.copy_bytes += c->bytes;
		timed(c->start, c->end, &got.copy_ns);
		break;
	case CUPTI_KIND_COPY_PEER:
		got.peers++;
		got.peer_bytes += p->bytes;
		timed(p->start, p->end, &got.peer_ns);
		break;
	case CUPTI_KIND_FILL:
		got.fills++;
		got.fill_bytes += f->bytes;
		timed(f->start, f->end, &got.fill_ns);
		break;
	case CUPTI_KIND_MEMORY:
		*(m->operation == CUPTI_MEMORY_ALLOC ? &got.allocs : &got.frees) += 1;
		break;
	case CUPTI_KIND_SYNC: got.syncs++; break;
	case CUPTI_KIND_GRAPH: got.graphs++; break;
	case CUPTI_KIND_DRIVER: got.apis++; break;
	case CUPTI_KIND_DEVICE: break;
	default: got.unknown++;
	}
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint8_t *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&lock);
	got.buffers++;
	if (dump && (fwrite(&valid, sizeof(valid), 1, dump) != 1 ||
		     fwrite(buffer, valid, 1, dump) != 1))
		abort();
	while (!CALL("cuptiActivityGetNextRecord", (uint8_t *, size_t, uint8_t **), buffer, valid,
		     &record))
		one(record);
	pthread_mutex_unlock(&lock);
	if (!word("misaligned") && !word("same"))
		free(buffer);
}

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	const struct cupti_callback *c = data;

	(void)user;
	(void)id;
	if (domain == CUPTI_DOMAIN_RESOURCE && word("flush-resource"))
		CALL("cuptiActivityFlushAll", (uint32_t), 0);
	if (domain == CUPTI_DOMAIN_DRIVER && c->site == CUPTI_ENTER)
		atomic_fetch_add(&calls, 1);
}

static void *flush(void *unused)
{
	while (!atomic_load(&over)) {
		CALL("cuptiActivityFlushAll", (uint32_t), 0);
		usleep(10000);
	}
	return unused;
}

/* Ends the recording, when the runtime makes its last call in a program. */
static void end(void)
{
	const char *out = getenv("CUDA_CLIENT_OUT");
	size_t dropped = 0;
	uint32_t version = 0;
	FILE *f = out ? fopen(out, "we") : NULL;

	atomic_store(&over, true);
	pthread_join(flusher, NULL);
	CALL("cuptiActivityFlushAll", (uint32_t), !word("unforced"));
	CALL("cuptiActivityGetNumDroppedRecords", (void *, uint32_t, size_t *), NULL, 0, &dropped);
	CALL("cuptiGetVersion", (uint32_t *), &version);
	if (f)
		fprintf(f, "version %u\nkernel %lu %lu\ncopy %lu %lu %lu\nfill %lu %lu %lu\n"
			"peer %lu %lu %lu\nalloc %lu\nfree %lu\nsync %lu\ngraph %lu\napi "
			"%lu\nzero %lu\n"
			"unknown %lu\ndropped %zu\ndisorder %lu\nbuffers %lu\ncalls %lu\nunended "
			"%lu\n"
			"late %lu\ncorrelated %lu\n", version,
			got.kernels, got.kernel_ns, got.copies, got.copy_bytes, got.copy_ns,
			got.fills,
			got.fill_bytes, got.fill_ns, got.peers, got.peer_bytes, got.peer_ns,
			got.allocs,
			got.frees, got.syncs, got.graphs, got.apis, got.zero, got.unknown, dropped,
			got.disorder, got.buffers, atomic_load(&calls), got.unended,
			got.late, got.correlated);
	if (f)
		fclose(f);
	if (dump)
		fclose(dump);
}

static int subscribe(void)
{
	char other[CUPTI_SUBSCRIBER_OLD] = "";
	struct cupti_subscriber_params params = {
		CUPTI_SUBSCRIBER_PARAMS_130, "client", other, sizeof(other), 0, { 0 } };
	int result;

	if (!find("cuptiSubscribe_v2"))
		return CALL("cuptiSubscribe",
			    (struct cupti_subscriber **, cupti_callback_fn *, void *),
			    &subscriber, callback, NULL);
	if (word("params-132"))
		params.size = CUPTI_SUBSCRIBER_PARAMS_132;
	result = CALL("cuptiSubscribe_v2", (struct cupti_subscriber **, cupti_callback_fn *, void *,
		      struct cupti_subscriber_params *), &subscriber, callback, NULL, &params);
	if (result)
		printf("subscribe %d '%s'\n", result, other);
	return result;
}

int InitializeInjection(void)
{
	static const int kinds[] = { CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_COPY, CUPTI_KIND_FILL,
		CUPTI_KIND_COPY_PEER, CUPTI_KIND_MEMORY, CUPTI_KIND_SYNC, CUPTI_KIND_DEVICE };
	const char *path = getenv("CUDA_CLIENT_LIB"), *to = getenv("CUDA_CLIENT_DUMP");
	int result;

	library = path ? dlopen(path, RTLD_NOW) : NULL;
	if (!library || subscribe())
		return 0;
	dump = to ? fopen(to, "we") : NULL;
	if (!word("unregistered"))
		CALL("cuptiActivityRegisterCallbacks", (cupti_request_fn *, cupti_complete_fn *),
		     request, complete);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		result = CALL("cuptiActivityEnable", (int), kinds[i]);
		if (result)
			printf("kind %d is refused: %d\n", kinds[i], result);
	}
	if (word("twice"))
		CALL("cuptiActivityEnable", (int), CUPTI_KIND_COPY);
	if (word("graphs"))
		CALL("cuptiActivityEnable", (int), CUPTI_KIND_GRAPH);
	if (word("all"))	/* kinds that not every release has */
		for (int kind = CUPTI_KIND_DRIVER; kind < CUPTI_KIND_GRAPH; kind++)
			if (kind != CUPTI_KIND_CONCURRENT_KERNEL && kind != CUPTI_KIND_COPY_PEER &&
			    kind != CUPTI_KIND_MEMORY && kind != CUPTI_KIND_SYNC &&
			    kind != CUPTI_KIND_DEVICE)
				CALL("cuptiActivityEnable", (int), kind);
	CALL("cuptiEnableDomain", (uint32_t, struct cupti_subscriber *, uint32_t), 1, subscriber,
	     CUPTI_DOMAIN_DRIVER);
	CALL("cuptiEnableDomain", (uint32_t, struct cupti_subscriber *, uint32_t), 1, subscriber,
	     CUPTI_DOMAIN_RESOURCE);
	if (word("unsubscribed")) {
		CALL("cuptiUnsubscribe", (struct cupti_subscriber *), subscriber);
		CALL("cuptiEnableDomain", (uint32_t, struct cupti_subscriber *, uint32_t), 1,
		     subscriber, 1);
	}
	if (!pthread_create(&flusher, NULL, flush, NULL))
		atexit(end);
	return 1;
}

/* Runs before anything uses the driver. */
__attribute__((constructor)) static void early(void)
{
	if (!word("before-init"))
		return;
	library = dlopen(getenv("CUDA_CLIENT_LIB"), RTLD_NOW);
	CALL("cuptiActivityFlushAll", (uint32_t), 0);
}
