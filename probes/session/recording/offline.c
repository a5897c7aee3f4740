/* SPDX-License-Identifier: MIT */
#include "probes/session/recording/offline.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/process/dir.h"
#include "probes/session/decode/graph.h"
#include "probes/session/decode/guard.h"
#include "probes/session/recording/offline_internal.h"
#include "probes/session/decode/seqs.h"

#define WORKERS_MAX 4u
#define AHEAD 4u			/* full batches that wait per stream */
#define LOW 1u				/* with this few, a worker is woken to make more */
#define ENOUGH 2u	/* with this many, the thread that waits for them is woken */
#define ROOM_MAX 1024u
#define ROOM_EVENTS (1u << 17)		/* events in all waiting batches together */
#define OUT 1024u			/* how many events are handed to the sink at once */
#define RUN 64u	/* with this many of one stream in a row, they are handed on without being copied */
#define LOOK_NS 20000000		/* how often to check for lost workers */
#define FREE_MAX 64u			/* batches kept for reuse */

/* ---- batches ---- */

static struct decode_batch *get_batch(struct offline *offline)
{
	struct decode_batch *batch;

	pthread_mutex_lock(&offline->lock);
	batch = offline->unused;
	if (batch) {
		offline->unused = batch->next;
		offline->n_unused--;
	}
	pthread_mutex_unlock(&offline->lock);
	if (!batch)
		return decode_batch_new(offline->room);
	batch->next = NULL;
	return batch;
}

static void put_batch(struct offline *offline, struct decode_batch *batch)
{
	decode_batch_reset(batch);
	pthread_mutex_lock(&offline->lock);
	if (offline->n_unused < FREE_MAX) {
		batch->next = offline->unused;
		offline->unused = batch;
		offline->n_unused++;
		batch = NULL;
	}
	pthread_mutex_unlock(&offline->lock);
	decode_batch_free(batch);
}

/* ---- workers ---- */

/* The time of the next look for lost workers. */
static struct timespec soon(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += LOOK_NS;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

/* The stream that is furthest behind; NULL: none may be read on now. [locked] */
static struct offline_lane *choose_lane(struct offline *offline, bool *any)
{
	struct offline_lane *best = NULL;

	*any = false;
	for (size_t i = 0; i < offline->n_lanes; i++) {
		struct offline_lane *lane = &offline->lanes[i];

		if (lane->ended)
			continue;
		*any = true;
		if (!lane->busy && lane->n_ready < AHEAD &&
		    (!best || lane->n_ready < best->n_ready))
			best = lane;
	}
	return best;
}

/* Whether there is enough to wake the caller, which costs too much for each batch. [locked] */
static bool is_filled(const struct offline_lane *lane)
{
	return lane->n_ready >= ENOUGH || lane->ended;
}

static void deliver_batch(struct offline *offline, struct offline_lane *lane,
			  struct decode_batch *batch)
{
	pthread_mutex_lock(&offline->lock);
	lane->busy = false;
	if (batch) {
		*(lane->ready ? &lane->last->next : &lane->ready) = batch;
		lane->last = batch;
		lane->n_ready++;
	} else {
		lane->ended = true;
	}
	if (offline->wanted == lane && is_filled(lane))
		pthread_cond_signal(&offline->filled);
	/* The lane is free again, for this worker; the others need to know the end. */
	if (lane->ended)
		pthread_cond_broadcast(&offline->emptied);
	pthread_mutex_unlock(&offline->lock);
}

static void work_on(struct offline *offline, struct offline_lane *lane)
{
	struct decode_batch *fresh = get_batch(offline), *full = NULL;

	if (!fresh)
		lane->starved = true;
	if (fresh) {
		full = source_next(lane->source, fresh, offline->options->stop);
		if (!full)
			decode_batch_free(fresh);
	}
	deliver_batch(offline, lane, full);
}

static void *worker_main(void *arg)
{
	struct offline_worker *worker = arg;
	struct offline *offline = worker->offline;
	bool any = true;

	guard_begin(&worker->gave_up);
	pthread_mutex_lock(&offline->lock);
	while (any && !atomic_load(offline->options->stop)) {
		struct offline_lane *lane = choose_lane(offline, &any);

		if (lane) {
			lane->busy = true;
			worker->lane = lane;
			pthread_mutex_unlock(&offline->lock);
			work_on(offline, lane);
			pthread_mutex_lock(&offline->lock);
			worker->lane = NULL;
		} else if (any) {
			pthread_cond_wait(&offline->emptied, &offline->lock);
		}
	}
	worker->over = true;
	pthread_cond_signal(&offline->filled);
	pthread_mutex_unlock(&offline->lock);
	guard_end();
	return NULL;
}

static bool start_worker(struct offline *offline, struct offline_worker *worker)
{
	worker->offline = offline;
	worker->lane = NULL;
	worker->over = false;
	atomic_store(&worker->gave_up, false);
	worker->runs = !pthread_create(&worker->thread, NULL, worker_main, worker);
	if (worker->runs)
		pthread_setname_np(worker->thread, "decoder");
	return worker->runs;
}

/*
 * Whether babeltrace aborted in this worker: its thread then hangs for ever, with the stream that
 * it was reading. [locked]
 */
static bool is_lost(struct offline *offline, struct offline_worker *worker)
{
	if (!worker->runs || !atomic_load(&worker->gave_up))
		return false;
	worker->runs = false;
	pthread_detach(worker->thread);
	offline->n_lost++;
	if (worker->lane) {
		worker->lane->lost = worker->lane->ended = true;
		worker->lane->busy = false;
	}
	return true;
}

/* Replaces lost workers. [locked] */
static void look_for_lost(struct offline *offline)
{
	for (unsigned int i = 0; i < offline->n_workers; i++)
		if (is_lost(offline, &offline->workers[i]) &&
		    offline->n_workers < LOST_MAX + WORKERS_MAX)
			offline->n_workers += start_worker(offline,
							   &offline->workers[offline->n_workers]);
}

static bool anyone_works(const struct offline *offline)
{
	for (unsigned int i = 0; i < offline->n_workers; i++)
		if (offline->workers[i].runs)
			return true;
	return false;
}

/* ---- merging ---- */

static void hand_on(struct offline *offline, const struct event *events, size_t count)
{
	if (count && !atomic_load(offline->options->stop))
		offline->options->sink(offline->options->sink_arg, events, count);
}

static void emit_events(struct offline *offline)
{
	struct event *alive;

	if (offline->time_ns > offline->alive_ns) {
		offline->alive_ns = offline->time_ns;
		alive = &offline->out[offline->n_out++];
		memset(alive, 0, sizeof(*alive));
		alive->type = EVENT_ALIVE;
		alive->host = offline->options->host;
		alive->time_ns = offline->time_ns;
	}
	hand_on(offline, offline->out, offline->n_out);
	offline->n_out = 0;
	while (offline->used) {
		struct decode_batch *batch = offline->used;

		offline->used = batch->next;
		put_batch(offline, batch);
	}
	offline_count(offline);
}

/* Sets the lane's batch; false: it has ended. */
static bool next_batch(struct offline *offline, struct offline_lane *lane)
{
	if (lane->batch) {
		lane->batch->next = offline->used;
		offline->used = lane->batch;
		lane->batch = NULL;
	}
	pthread_mutex_lock(&offline->lock);
	offline->wanted = lane->ready ? NULL : lane;
	while (offline->wanted && !is_filled(lane) && !atomic_load(offline->options->stop)) {
		struct timespec until = soon();

		if (!pthread_cond_timedwait(&offline->filled, &offline->lock, &until))
			continue;
		look_for_lost(offline);
		if (!anyone_works(offline))
			lane->lost = lane->ended = true;
	}
	offline->wanted = NULL;
	if (lane->ready) {
		lane->batch = lane->ready;
		lane->ready = lane->batch->next;
		lane->batch->next = NULL;
		if (--lane->n_ready == LOW && !lane->busy && !lane->ended)
			pthread_cond_signal(&offline->emptied);
	}
	pthread_mutex_unlock(&offline->lock);
	lane->at = 0;
	return lane->batch != NULL;
}

static int64_t head_ns(const struct offline_lane *lane)
{
	return lane->batch->events[lane->at].time_ns;
}

static void sift_down(struct offline_lane **heap, size_t n, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		struct offline_lane *lane = heap[i];

		if (child + 1 < n && head_ns(heap[child + 1]) < head_ns(heap[child]))
			child++;
		if (head_ns(lane) <= head_ns(heap[child]))
			return;
		heap[i] = heap[child];
		heap[child] = lane;
	}
}

/* Adds an event to what the sink gets, and handles its number. */
static void merge_event(struct offline *offline, const struct event *from)
{
	struct event *event = &offline->out[offline->n_out];
	struct event_lost loss;

	if (from->type == EVENT_ALIVE)
		return;
	if (from->time_ns > offline->time_ns)
		offline->time_ns = from->time_ns;
	if (from->type == EVENT_LOST && !from->u.lost.packets) {
		*event = *from;
		event->u.lost.count = seqs_report(offline->seqs, from->u.lost.count);
		offline->n_out += event->u.lost.count || !from->u.lost.count;
		return;
	}
	if (from->seq)
		switch (seqs_take(offline->seqs, from, &loss)) {
		case SEQS_AGAIN:
			return;
		case SEQS_GAP:
			*event = *from;
			event->type = EVENT_LOST;
			event->seq = 0;
			event->u.lost = loss;
			event = &offline->out[++offline->n_out];
			break;
		case SEQS_NEXT:
			break;
		}
	*event = *from;
	offline->n_out++;
	offline->n_events += from->type != EVENT_LOST && from->pid;
}

/* How many of the lane's next events are not after until_ns and are passed on unchanged. They count
 * as taken. */
static size_t merge_run(struct offline *offline, struct offline_lane *lane, int64_t until_ns)
{
	const struct event *first = &lane->batch->events[lane->at], *event = first;
	const struct event *end = lane->batch->events + lane->batch->count;

	for (; event < end && event->time_ns <= until_ns; event++) {
		if (event->type == EVENT_ALIVE || event->type == EVENT_LOST ||
		    (event->seq && !seqs_follows(offline->seqs, event)))
			break;
		offline->n_events += event->pid != 0;
	}
	lane->at += (size_t)(event - first);
	return (size_t)(event - first);
}

/* The time of the next event of the other lanes. */
static int64_t second_ns(struct offline_lane **heap, size_t n)
{
	int64_t second = n > 1 ? head_ns(heap[1]) : INT64_MAX;

	return n > 2 && head_ns(heap[2]) < second ? head_ns(heap[2]) : second;
}

/* Takes events of the top lane until another lane's come first. */
static void merge_from(struct offline *offline, struct offline_lane *lane, int64_t until_ns)
{
	const struct event *events = &lane->batch->events[lane->at];
	size_t count = merge_run(offline, lane, until_ns);

	if (!count) {
		merge_event(offline, &lane->batch->events[lane->at++]);
		return;
	}
	if (count >= RUN) {
		emit_events(offline);
		hand_on(offline, events, count);
	} else {
		memcpy(offline->out + offline->n_out, events, count * sizeof(*events));
		offline->n_out += count;
	}
	if (events[count - 1].time_ns > offline->time_ns)
		offline->time_ns = events[count - 1].time_ns;
}

static void merge_lanes(struct offline *offline)
{
	struct offline_lane **heap = offline->heap;
	size_t n = 0;

	for (size_t i = 0; i < offline->n_lanes; i++)
		if (next_batch(offline, &offline->lanes[i]))
			heap[n++] = &offline->lanes[i];
	for (size_t i = n; i-- > 0; )
		sift_down(heap, n, i);
	while (n && !atomic_load_explicit(offline->options->stop, memory_order_relaxed)) {
		struct offline_lane *lane = heap[0];

		merge_from(offline, lane, second_ns(heap, n));
		if (lane->at == lane->batch->count && !next_batch(offline, lane))
			heap[0] = heap[--n];
		sift_down(heap, n, 0);
		if (offline->n_out >= OUT - 2)
			emit_events(offline);
	}
	emit_events(offline);
}

/* ---- the whole recording ---- */

/* One worker for each CPU that this process may use, except for that of the caller. */
static unsigned int count_workers(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set) - 1;

	return count < 1 ? 1 : count > (int)WORKERS_MAX ? WORKERS_MAX : (unsigned int)count;
}

static bool start_offline(struct offline *offline)
{
	unsigned int want = count_workers();
	pthread_condattr_t attributes;

	pthread_mutex_init(&offline->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&offline->filled, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_cond_init(&offline->emptied, NULL);
	for (unsigned int i = 0; i < want && i < offline->n_lanes; i++)
		offline->n_workers += start_worker(offline, &offline->workers[offline->n_workers]);
	return offline->n_workers || !offline->n_lanes;
}

/* The workers check *stop and end when nothing is left. One may still get lost on its way there, so
 * what it accesses must stay. */
static void join_workers(struct offline *offline)
{
	pthread_mutex_lock(&offline->lock);
	pthread_cond_broadcast(&offline->emptied);
	for (unsigned int i = 0; i < offline->n_workers; i++) {
		struct offline_worker *worker = &offline->workers[i];

		while (worker->runs && !is_lost(offline, worker)) {
			struct timespec until = soon();

			if (!worker->over) {
				pthread_cond_timedwait(&offline->filled, &offline->lock, &until);
				continue;
			}
			pthread_mutex_unlock(&offline->lock);
			pthread_join(worker->thread, NULL);
			pthread_mutex_lock(&offline->lock);
			worker->runs = false;
		}
	}
	pthread_mutex_unlock(&offline->lock);
}

static void release_offline(struct offline *offline)
{
	struct decode_batch *batch;

	for (size_t i = 0; i < offline->n_lanes; i++) {
		struct offline_lane *lane = &offline->lanes[i];

		while ((batch = lane->ready)) {
			lane->ready = batch->next;
			decode_batch_free(batch);
		}
		decode_batch_free(lane->batch);
		/* A lost thread may still be inside. */
		if (!lane->lost)
			source_free(lane->source);
	}
	for (batch = offline->used; batch; batch = offline->used) {
		offline->used = batch->next;
		decode_batch_free(batch);
	}
	for (batch = offline->unused; batch; batch = offline->unused) {
		offline->unused = batch->next;
		decode_batch_free(batch);
	}
	seqs_free(offline->seqs);
	offline_release_traces(offline);
	free(offline->out);
	free(offline->heap);
	free(offline->lanes);
	if (offline->dir_lock >= 0)
		close(offline->dir_lock);
	if (offline->dir[0])
		dir_remove(offline->dir);
	/* What a lost thread accesses stays allocated. */
	if (!offline->n_lost)
		free(offline);
}

enum offline_end offline_read(const struct offline_options *options, char *error, size_t size)
{
	struct offline *offline = calloc(1, sizeof(*offline));
	enum offline_end end = OFFLINE_FAILED;

	snprintf(error, size, "out of memory for the reader");
	if (!offline)
		return OFFLINE_FAILED;
	offline->options = options;
	offline->dir_lock = -1;
	offline->seqs = seqs_new();
	offline->out = malloc((OUT + RUN + 4) * sizeof(*offline->out));
	if (offline->seqs && offline->out && offline_find(offline, error, size)) {
		offline->room = ROOM_EVENTS / AHEAD / (offline->n_lanes ? offline->n_lanes : 1);
		if (offline->room > ROOM_MAX)
			offline->room = ROOM_MAX;
		if (offline->room < SOURCE_ROOM_MIN)
			offline->room = SOURCE_ROOM_MIN;
		if (offline_open(offline, error, size) && start_offline(offline)) {
			merge_lanes(offline);
			join_workers(offline);
			end = offline_tell(offline, error, size);
		}
	}
	release_offline(offline);
	return end;
}
