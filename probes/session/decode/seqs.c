/* SPDX-License-Identifier: MIT */
#include "probes/session/decode/seqs.h"

#include <stdlib.h>

#define SLOTS 256			/* initial size */

/* The last sequence number of a thread that writes; tid 0: its process. */
struct thread_seq {
	uint64_t key;			/* pid << 32 | tid; 0: unused */
	uint32_t seq;
	int64_t time_ns;
	uint64_t came;	/* number of events; for a process: how many were reported as lost */
};

struct seqs {
	struct thread_seq *threads;	/* owned; a hash table */
	size_t slots, count;
	struct thread_seq *last;	/* borrowed from threads */
	uint64_t credit;		/* reported as lost, but not located yet */
	uint64_t ahead;			/* found missing by numbers, but not reported yet */
	uint64_t reported;		/* reported as lost by the tracer */
};

struct seqs *seqs_new(void)
{
	struct seqs *seqs = calloc(1, sizeof(*seqs));

	if (!seqs)
		return NULL;
	seqs->slots = SLOTS;
	seqs->threads = calloc(seqs->slots, sizeof(*seqs->threads));
	if (seqs->threads)
		return seqs;
	free(seqs);
	return NULL;
}

void seqs_free(struct seqs *seqs)
{
	if (!seqs)
		return;
	free(seqs->threads);
	free(seqs);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct thread_seq *find_thread(const struct seqs *seqs, uint64_t key)
{
	size_t mask = seqs->slots - 1;
	size_t i = (size_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask;

	while (seqs->threads[i].key && seqs->threads[i].key != key)
		i = (i + 1) & mask;
	return &seqs->threads[i];
}

static bool grow_threads(struct seqs *seqs)
{
	struct thread_seq *old = seqs->threads;
	size_t old_slots = seqs->slots;
	struct thread_seq *new = calloc(old_slots * 2, sizeof(*new));

	if (!new)
		return false;
	seqs->threads = new;
	seqs->slots = old_slots * 2;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i].key)
			*find_thread(seqs, old[i].key) = old[i];
	free(old);
	return true;
}

/* NULL: memory is short, or the event does not name its thread. */
static struct thread_seq *get_thread(struct seqs *seqs, uint32_t pid, uint32_t tid)
{
	uint64_t key = (uint64_t)pid << 32 | tid;
	struct thread_seq *thread = seqs->last;

	if (!key)
		return NULL;
	if (thread && thread->key == key)
		return thread;
	thread = find_thread(seqs, key);
	if (!thread->key) {
		if (seqs->count * 2 >= seqs->slots) {
			seqs->last = NULL;
			if (!grow_threads(seqs))
				return NULL;
			thread = find_thread(seqs, key);
		}
		thread->key = key;
		seqs->count++;
	}
	return seqs->last = thread;
}

/*
 * A thread numbers its events from 1, and the reader is there before the program. A number that is
 * not larger than the last one starts a new count (exec, a reused id).
 */
enum seqs_state seqs_take(struct seqs *seqs, const struct event *event, struct event_lost *loss)
{
	struct thread_seq *thread = get_thread(seqs, event->pid, event->tid);
	enum seqs_state state = SEQS_NEXT;
	uint32_t missing;

	if (!thread)
		return SEQS_NEXT;
	if (event->seq <= thread->seq && event->time_ns <= thread->time_ns)
		return SEQS_AGAIN;
	missing = event->seq - thread->seq - 1;
	if (missing && missing < UINT32_MAX / 2) {
		uint64_t known = smaller(missing, seqs->credit);

		seqs->credit -= known;
		seqs->ahead += missing - known;
		*loss = (struct event_lost){
			thread->seq ? thread->time_ns : event->time_ns, event->time_ns,
			missing - known, false, known
		};
		state = SEQS_GAP;
	}
	thread->seq = event->seq;
	thread->time_ns = event->time_ns;
	return state;
}

bool seqs_follows(struct seqs *seqs, const struct event *event)
{
	struct thread_seq *thread = get_thread(seqs, event->pid, event->tid);

	if (!thread)
		return true;
	if (event->seq - 1 != thread->seq)
		return false;
	thread->seq = event->seq;
	thread->time_ns = event->time_ns;
	return true;
}

static uint64_t credit(struct seqs *seqs, uint64_t count)
{
	uint64_t known = smaller(count, seqs->ahead);

	seqs->ahead -= known;
	seqs->credit += count - known;
	return count - known;
}

uint64_t seqs_report(struct seqs *seqs, uint64_t count)
{
	seqs->reported += count;
	return credit(seqs, count);
}

void seqs_came(struct seqs *seqs, const struct event *event)
{
	struct thread_seq *thread = get_thread(seqs, event->pid, event->tid);

	if (thread)
		thread->came++;
}

uint64_t seqs_written(struct seqs *seqs, uint32_t pid, uint64_t written)
{
	struct thread_seq *process = get_thread(seqs, pid, 0);
	uint64_t there = seqs->reported, news;

	if (!process)
		return 0;
	for (size_t i = 0; i < seqs->slots; i++)
		if (seqs->threads[i].key >> 32 == pid)
			there += seqs->threads[i].came;
	if (written <= there)
		return 0;
	news = written - there;
	process->came += news;
	return credit(seqs, news);
}
