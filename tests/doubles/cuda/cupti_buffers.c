/* SPDX-License-Identifier: MIT */
/* The double of CUPTI: activity kinds and their buffers. See cupti_double.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/doubles/cuda/cupti_double.h"

#define CANARY 0x7561646275666672ull
#define KINDS_MAX 4096	/* most records of one buffer that can be reordered */

atomic_bool cu_kind[CUPTI_KIND_LIMIT], cu_driver_api[1024], cu_runtime_api[1024];
bool cu_latency, cu_own_clock;
bool cu_per_thread = RELEASE >= CUPTI_RELEASE(13, 0);
int64_t cu_time_offset;

struct buffer {
	uint8_t *data;
	size_t size, used;
	size_t count, most;
	int64_t ready_ns;
	int place;			/* in owned */
	struct buffer *next;
};

/* Holds the buffer for new records: one for all threads, or one for each. */
struct holder {
	pthread_mutex_t lock;
	struct buffer *now;
	struct holder *next;
};

static struct holder common = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct holder *_Atomic holders = &common;
static __thread struct holder *own;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static struct buffer *full, *held;	/* protected by lock */
/* Every buffer that belongs to the double, without gaps, protected by lock. A search among them is
 * what the profiled program pays for, so it must not be longer than they are. */
static struct buffer *owned[4096];
static int n_owned;
static unsigned int n_buffers;
static unsigned long n_begun, n_delivered;	/* changed by the worker, protected by lock */
static _Atomic unsigned long n_flushes;
static bool worker_runs;
static atomic_ullong dropped, n_records;
static cupti_request_fn *request;
static cupti_complete_fn *complete;

int64_t cu_time(int64_t realtime_ns)
{
	return realtime_ns ? realtime_ns + cu_time_offset : 0;
}

/* --- whose a buffer is ------------------------------------------------------ */

static void take_over(struct buffer *b)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n_owned; i++)
		if (owned[i]->data == b->data)
			cu_die("buffer %p was given while it is ours", (void *)b->data);
	if (n_owned == 4096)
		cu_die("more than 4096 buffers at once");
	b->place = n_owned;
	owned[n_owned++] = b;
	pthread_mutex_unlock(&lock);
	memcpy(b->data + b->size - 8, &(uint64_t){ CANARY }, 8);
}

static void hand_over(struct buffer *b)
{
	uint64_t canary;

	pthread_mutex_lock(&lock);
	owned[b->place] = owned[--n_owned];
	owned[b->place]->place = b->place;
	pthread_mutex_unlock(&lock);
	memcpy(&canary, b->data + b->size - 8, 8);
	if (canary != CANARY && b->used <= b->size - 8)
		cu_die("buffer %p was written to while it is ours", (void *)b->data);
}

/* Steps over a record that this double wrote, also if the setting made it longer. */
static uint32_t step(const uint8_t *record)
{
	uint32_t kind;

	memcpy(&kind, record, 4);
	return cu_bytes(kind);
}

static void shuffle(struct buffer *b)
{
	uint8_t *copy = malloc(b->used), *to = b->data;
	size_t starts[KINDS_MAX], n = 0;

	memcpy(copy, b->data, b->used);
	for (size_t at = 0; at < b->used && n < KINDS_MAX; at += step(copy + at))
		starts[n++] = at;
	if (n < KINDS_MAX) {
		/* every other record, starting at the end */
		for (size_t i = 0; i < n; i++) {
			size_t from = starts[i % 2 ? i / 2 : n - 1 - i / 2];
			uint32_t bytes = step(copy + from);

			memcpy(to, copy + from, bytes);
			to += bytes;
		}
	}
	free(copy);
}

static void deliver(struct buffer *b)
{
	const char *before = cu_inside;

	hand_over(b);
	if (cu.disorder)
		shuffle(b);
	cu_inside = "a completed buffer's callback";
	complete(NULL, 0, b->data, b->size, b->used);
	cu_inside = before;
	free(b);
}

/* --- full buffers come by themselves, when all in them has ended ------------- */

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		int64_t now = sim_now(), first = INT64_MAX;
		struct buffer **at, *b = NULL;

		for (at = &full; *at; at = &(*at)->next) {
			if ((*at)->ready_ns <= now) {
				b = *at;
				*at = b->next;
				break;
			}
			first = (*at)->ready_ns < first ? (*at)->ready_ns : first;
		}
		if (b) {
			n_begun++;
			pthread_mutex_unlock(&lock);
			if (cu.tardy)
				nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
			deliver(b);
			pthread_mutex_lock(&lock);
			n_delivered++;
			pthread_cond_broadcast(&delivered);
		} else if (first == INT64_MAX) {
			pthread_cond_wait(&changed, &lock);
		} else {
			struct timespec t = { first / 1000000000, first % 1000000000 };

			pthread_cond_timedwait(&changed, &lock, &t);
		}
	}
	return unused;
}

static void is_full(struct buffer *b)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	if (cu.hold && ++n_buffers % cu.hold == 0) {
		b->next = held;
		held = b;
	} else {
		struct buffer **at = &full;

		while (*at)
			at = &(*at)->next;
		b->next = NULL;
		*at = b;
		if (!worker_runs && !pthread_create(&thread, NULL, work, NULL)) {
			pthread_detach(thread);
			worker_runs = true;
		}
		pthread_cond_signal(&changed);
	}
	pthread_mutex_unlock(&lock);
}

/* --- records ---------------------------------------------------------------- */

static struct holder *holder_of(void)
{
	if (!cu_per_thread)
		return &common;
	if (!own) {
		own = calloc(1, sizeof(*own));
		pthread_mutex_init(&own->lock, NULL);
		own->next = atomic_load(&holders);
		while (!atomic_compare_exchange_weak(&holders, &own->next, own))
			;
	}
	return own;
}

static struct buffer *get(void)
{
	const char *before = cu_inside;
	struct buffer *b;
	uint8_t *data = NULL;
	size_t size = 0, most = 0;

	cu_inside = "a buffer request";
	request(&data, &size, &most);
	cu_inside = before;
	if (!data) {
		if (RELEASE < CUPTI_RELEASE(12, 9))
			cu_die("no buffer was given, which this release does not survive");
		return NULL;
	}
	if ((uintptr_t)data % 8)
		cu_die("buffer %p does not lie on 8 bytes", (void *)data);
	if (size < 1024)
		cu_die("a buffer of %zu bytes is too small", size);
	b = calloc(1, sizeof(*b));
	*b = (struct buffer){ .data = data, .size = size, .most = most };
	take_over(b);
	return b;
}

static bool has_room(const struct buffer *b, uint32_t bytes)
{
	size_t end = cu.half ? b->size / 2 : b->size;

	return b->used + bytes <= end && (!b->most || b->count < b->most);
}

static void put(struct holder *h, const void *record, uint32_t bytes, int64_t ready_ns)
{
	struct buffer *b;

	pthread_mutex_lock(&h->lock);
	if (h->now && !has_room(h->now, bytes)) {
		is_full(h->now);
		h->now = NULL;
	}
	if (!h->now)
		h->now = get();
	b = h->now;
	if (b) {
		memcpy(b->data + b->used, record, bytes);
		b->used += bytes;
		b->count++;
		b->ready_ns = ready_ns > b->ready_ns ? ready_ns : b->ready_ns;
	} else {
		atomic_fetch_add(&dropped, 1);
		sim_count_dropped(1);
	}
	pthread_mutex_unlock(&h->lock);
}

void cu_append(const void *record, int64_t ready_ns)
{
	struct holder *h = holder_of();
	unsigned long long n = atomic_fetch_add_explicit(&n_records, 1, memory_order_relaxed) + 1;

	if (!request)
		return;
	if (cu.drop && n % cu.drop == 0) {
		atomic_fetch_add(&dropped, 1);
		sim_count_dropped(1);
		return;
	}
	put(h, record, step(record), ready_ns);
	if (cu.unknown && n % cu.unknown == 0)
		put(h, (const uint32_t[CU_UNKNOWN_BYTES / 4]){ CU_KIND_UNKNOWN, 0xffffffff },
		    CU_UNKNOWN_BYTES, 0);
}

/* --- flushing --------------------------------------------------------------- */

static void take_ready(struct buffer **from, bool forced, int64_t now, struct buffer **to)
{
	struct buffer *b;

	while ((b = *from)) {
		if (!forced && b->ready_ns > now) {
			from = &b->next;
			continue;
		}
		*from = b->next;
		b->next = NULL;
		*to = b;
		to = &b->next;
	}
}

/* A forced flush delivers records that have not ended without their end times. */
static void cut_short(struct buffer *b, int64_t now)
{
	for (size_t at = 0; at < b->used; at += step(b->data + at)) {
		struct cupti_kernel *k = (struct cupti_kernel *)(b->data + at);

		if ((k->kind == CUPTI_KIND_CONCURRENT_KERNEL || k->kind == CUPTI_KIND_COPY ||
		     k->kind == CUPTI_KIND_FILL) && k->end > (uint64_t)cu_time(now))
			k->end = 0;
	}
}

static void deliver_all(struct buffer *b, bool forced, int64_t now)
{
	while (b) {
		struct buffer *next = b->next;

		if (forced && b->ready_ns > now)
			cut_short(b, now);
		deliver(b);
		b = next;
	}
}

bool cupti_double_records(void)
{
	return atomic_load(&cu_kind[CUPTI_KIND_CONCURRENT_KERNEL]);
}

void cu_forget(void)
{
	request = NULL;
	complete = NULL;
	cu_time_offset = 0;
	cu_own_clock = false;
}

unsigned long cupti_double_flushes(void)
{
	return atomic_load(&n_flushes);
}

CUPTI(cuptiActivityFlushAll, (uint32_t, flag))
{
	int64_t now = sim_now();
	bool forced = flag & CUPTI_FLUSH_FORCED;
	struct buffer *list = NULL;
	unsigned long begun;

	if (cu_inside)
		cu_die("flushed from %s", cu_inside);
	if (!complete)
		return CUPTI_INVALID_OPERATION;
	n_flushes++;
	if (cu.overhead && n_flushes % cu.overhead == 0)
		cu_overhead_record(CUPTI_OVERHEAD_FLUSH, now - 5000, now, 0);
	pthread_mutex_lock(&lock);
	take_ready(&full, forced, now, &list);
	if (forced) {
		struct buffer **end = &list;

		while (*end)
			end = &(*end)->next;
		take_ready(&held, true, now, end);
	}
	/* returns when everything is delivered, including what the worker has started with */
	for (begun = n_begun; n_delivered < begun && !cu.tardy;)
		pthread_cond_wait(&delivered, &lock);
	pthread_mutex_unlock(&lock);
	deliver_all(list, forced, now);
	for (struct holder *h = atomic_load(&holders); h; h = h->next) {
		list = NULL;
		pthread_mutex_lock(&h->lock);
		take_ready(&h->now, forced, now, &list);
		pthread_mutex_unlock(&h->lock);
		deliver_all(list, forced, now);
		pthread_mutex_lock(&h->lock);
		if (cu.clings && list && !h->now)
			h->now = get();
		pthread_mutex_unlock(&h->lock);
	}
	return CUPTI_OK;
}

CUPTI(cuptiActivityFlushPeriod, (uint32_t, ms))
{
	return CUPTI_OK;	/* full buffers are delivered anyway */
}

CUPTI(cuptiActivityGetNumDroppedRecords, (void *, context), (uint32_t, stream), (size_t *, count))
{
	*count = atomic_exchange(&dropped, 0);
	return CUPTI_OK;
}

CUPTI(cuptiActivityGetNextRecord, (uint8_t *, buffer), (size_t, valid), (uint8_t **, record))
{
	uint8_t *next = buffer;

	if (!buffer || !record)
		return CUPTI_INVALID_PARAMETER;
	if (*record) {
		if (*record < buffer || *record >= buffer + valid)
			cu_die("the record before is not in the buffer");
		if (!step(*record))
			return CUPTI_INVALID_KIND;
		next = *record + step(*record);
	}
	if (next >= buffer + valid)
		return CUPTI_MAX_LIMIT;
	if (!step(next))
		return CUPTI_INVALID_KIND;
	*record = next;
	return CUPTI_OK;
}

/* --- what is recorded ------------------------------------------------------- */

CUPTI(cuptiActivityRegisterCallbacks, (cupti_request_fn *, requested),
      (cupti_complete_fn *, completed))
{
	if (!requested || !completed)
		return CUPTI_INVALID_PARAMETER;
	request = requested;
	complete = completed;
	return CUPTI_OK;
}

static int set_kind(uint32_t kind, bool on)
{
	if (!cu_subscribed)
		cu_die("kind %u switched by a client that has not subscribed", kind);
	if (kind >= CUPTI_KIND_LIMIT || !cu_bytes(kind))
		return CUPTI_INVALID_KIND;
	if (on && cu_kind[kind])
		cu_die("kind %u switched on twice", kind);
	if (on && ((kind == CUPTI_KIND_KERNEL && cu_kind[CUPTI_KIND_CONCURRENT_KERNEL]) ||
		   (kind == CUPTI_KIND_CONCURRENT_KERNEL && cu_kind[CUPTI_KIND_KERNEL])))
		return CUPTI_NOT_COMPATIBLE;
	cu_kind[kind] = on;
	if (kind == CUPTI_KIND_DRIVER)
		cu_set(cu_driver_api, 1024, on);
	if (kind == CUPTI_KIND_RUNTIME)
		cu_set(cu_runtime_api, 1024, on);
	return CUPTI_OK;
}

CUPTI(cuptiActivityEnable, (uint32_t, kind))
{
	return set_kind(kind, true);
}

CUPTI(cuptiActivityDisable, (uint32_t, kind))
{
	return set_kind(kind, false);
}

#if RELEASE >= CUPTI_RELEASE(12, 5)
CUPTI(cuptiActivityEnableDriverApi, (uint32_t, id), (uint8_t, on))
{
	if (id >= 1024)
		return CUPTI_INVALID_PARAMETER;
	cu_driver_api[id] = on;
	return CUPTI_OK;
}

CUPTI(cuptiActivityEnableRuntimeApi, (uint32_t, id), (uint8_t, on))
{
	if (id >= 1024)
		return CUPTI_INVALID_PARAMETER;
	cu_runtime_api[id] = on;
	return CUPTI_OK;
}
#endif

CUPTI(cuptiActivityEnableLatencyTimestamps, (uint8_t, on))
{
	cu_latency = on;
	return CUPTI_OK;
}

CUPTI(cuptiActivityRegisterTimestampCallback, (cupti_timestamp_fn *, clock))
{
	if (!clock)
		return CUPTI_INVALID_PARAMETER;
	for (int i = 0; i < CUPTI_KIND_LIMIT; i++)
		if (cu_kind[i])
			cu_die("the clock was set when kind %d was on", i);
	cu_time_offset = (int64_t)clock() - sim_now();
	cu_own_clock = true;
	return CUPTI_OK;
}
