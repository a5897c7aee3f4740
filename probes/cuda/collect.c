/* SPDX-License-Identifier: MIT */
/*
 * Buffers of records, and the thread that empties them.
 *
 * CUPTI asks for buffers and returns them on any thread; both only move a number between two
 * stacks (Treiber 1986, the free one with a counter against reuse). All buffers lie in one piece
 * of address space; memory is taken when a buffer is first used. When none is left CUPTI gets
 * NULL and drops its records; before 12.9, where NULL ends the program, it gets a buffer that is
 * thrown away unread.
 *
 * Every 50 ms the thread asks CUPTI for complete buffers, decodes them and writes events. Only at
 * the end of the process does it ask for incomplete buffers too.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probes/cuda/probe.h"
#include "probes/cuda/record.h"

/*
 * Small, because CUPTI returns only buffers in which everything has ended. While the host is ahead
 * of the device, that is never true of the buffer that is being written, so what runs becomes
 * visible only when that buffer is full, after 140 kernels. The vendor's sample of a tracer uses
 * this size, too. If few records arrive, as with large kernels, a buffer should be full sooner: the
 * first buffers that are requested between two flushes hold FEW_RECORDS, unless many are in use.
 */
#define FEW_RECORDS 4u
#define FEW_ROUND 128u		/* in buffers: up to 10 000 records per second */
#define FEW_OUT 512u
#define BUFFER_BYTES (32u << 10)
#define BUFFERS 2048u	/* 64 MiB; from 13.0 on each thread that makes calls holds one or two */
#define FLUSH_TRIES 4u
#define REST_MS 20		/* for records that are on their way when the process ends */
#define OFF_EVERY_NS 200000000
#define FIRST_EVERY_NS 2000000	/* interval until the first record arrives */
#define FIRST_NS 500000000
#define LEAVE_NS 60000000
#define APPLY_NS 60000000	/* a call of the program may wait this long, in CUPTI's callback */
#define END_NS 1000000000
#define GRAPH_NODES_S 50000u	/* per second: above this rate graphs are recorded as a whole */
#define KEPT_BYTES 32u		/* minimum size of a record that is thrown away */

static uint8_t *base;
static struct {
	_Atomic uint32_t next;	/* index + 1 */
	size_t valid;
} buffers[BUFFERS];
static _Atomic uint64_t free_stack;	/* counter << 32 | index + 1 */
static _Atomic uint32_t full_stack;	/* index + 1; taken as a whole */
static _Atomic uint32_t fresh;		/* how many buffers were ever given out */
static _Atomic uint64_t thrown;		/* in bytes */
static _Atomic uint32_t out;		/* buffers that CUPTI holds or that are on the full stack */
static _Atomic uint32_t asked;		/* requests for buffers since the last flush */

atomic_bool graphs_whole;
unsigned graphs_nodes_s = GRAPH_NODES_S;
_Atomic int64_t collect_flush_ns;
atomic_bool collect_called;
uint64_t collect_dropped;

enum { NONE, RUNNING, ENDING, ENDED };
static _Atomic uint32_t state, wakes, rounds;	/* futexes */
static enum tft_level level_now;
static enum tft_trigger trigger_now;
static uint64_t overwritten_seen, unknown;

static void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- buffers ---- */

bool collect_start(void)
{
	void *p = mmap(NULL, (size_t)BUFFERS * BUFFER_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	base = p;
	return true;
}

static bool take_free(uint32_t *index)
{
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_acquire), next;

	do {
		if (!(uint32_t)head) {
			*index = atomic_fetch_add(&fresh, 1);
			if (*index < BUFFERS)
				return true;
			atomic_store(&fresh, BUFFERS);
			return false;
		}
		*index = (uint32_t)head - 1;
		next = ((head >> 32) + 1) << 32 |
		       atomic_load_explicit(&buffers[*index].next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&free_stack, &head, next,
							memory_order_acquire,
							memory_order_acquire));
	return true;
}

static void give_free(uint32_t index)
{
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_relaxed);

	atomic_fetch_sub(&out, 1);
	do
		atomic_store_explicit(&buffers[index].next, (uint32_t)head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&free_stack, &head,
						      ((head >> 32) + 1) << 32 | (index + 1),
						      memory_order_release, memory_order_relaxed));
}

void collect_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	int saved = errno;
	uint32_t index;
	void *p;

	*max_records = 0;
	*size = BUFFER_BYTES;
	if (likely(take_free(&index))) {
		uint32_t n = atomic_fetch_add(&out, 1);

		*buffer = base + (size_t)index * BUFFER_BYTES;
		if (atomic_fetch_add(&asked, 1) < FEW_ROUND && n < FEW_OUT)
			*max_records = FEW_RECORDS;
		/* threads start and end, or there is a burst: do not wait for the next round */
		if (n % (BUFFERS / 4) == BUFFERS / 4 - 1)
			collect_wake();
		errno = saved;
		return;
	}
	*buffer = NULL;
	*size = 0;
	if (!cupti_null_buffer(cupti)) {
		p = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*buffer = p == MAP_FAILED ? NULL : p;
		*size = p == MAP_FAILED ? 0 : BUFFER_BYTES;
	}
	cuda_say(SAID_BUFFERS, 1, "records come faster than they are read, or %u threads launch: "
				  "all "
		 "%u buffers are in use, and what does not fit is lost", BUFFERS / 2, BUFFERS);
	errno = saved;
}

void collect_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint32_t index, head;

	(void)context;
	(void)stream;
	if (!buffer)
		return;
	if (unlikely(buffer < base || buffer >= base + (size_t)BUFFERS * BUFFER_BYTES)) {
		atomic_fetch_add(&thrown, valid);
		munmap(buffer, BUFFER_BYTES);
		return;
	}
	index = (uint32_t)((size_t)(buffer - base) / BUFFER_BYTES);
	buffers[index].valid = valid <= size && size <= BUFFER_BYTES ? valid : 0;
	head = atomic_load_explicit(&full_stack, memory_order_relaxed);
	do
		atomic_store_explicit(&buffers[index].next, head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&full_stack, &head, index + 1,
						      memory_order_release, memory_order_relaxed));
}

/* ---- emptying buffers ---- */

static int next_record(void *user, uint8_t *buffer, size_t valid, void **record)
{
	(void)user;
	return cupti->next_record(buffer, valid, record);
}

static uint64_t collect_decode_buffer(uint32_t index)
{
	uint8_t *data = base + (size_t)index * BUFFER_BYTES;
	struct cuda_record record;
	struct cuda_walk walk;
	uint64_t n = 0;

	cuda_walk_begin(&walk, data, buffers[index].valid, cupti->release, next_record, NULL);
	record_buffer(walk);
	for (; cuda_walk_next(&walk, &record); n++)
		emit_record(&record);
	unknown += walk.unknown + walk.short_;
	if (cuda_walk_left(&walk))
		cuda_asked(walk.result, SAID_BROKEN, 1,
			   "a buffer of libcupti could not be read to its "
			   "end: it holds something that is not a record");
	return n;
}

/* Oldest first; the stack has them in reverse order. */
static uint64_t collect_drain(void)
{
	uint32_t at = atomic_exchange_explicit(&full_stack, 0, memory_order_acquire);
	uint32_t next, turned = 0;
	uint64_t n = 0;

	for (; at; at = next) {
		next = atomic_load_explicit(&buffers[at - 1].next, memory_order_relaxed);
		atomic_store_explicit(&buffers[at - 1].next, turned, memory_order_relaxed);
		turned = at;
	}
	for (at = turned; at; at = next) {
		next = atomic_load_explicit(&buffers[at - 1].next, memory_order_relaxed);
		n += collect_decode_buffer(at - 1);
		give_free(at - 1);
	}
	return n;
}

static void count_lost(void)
{
	uint64_t over = calls_overwritten(), bytes = atomic_exchange(&thrown, 0);
	size_t dropped = 0;

	if (cuda_asked(cupti->num_dropped(NULL, 0, &dropped), SAID_DROPS, 0,
		       "CUPTI does not say how many records it has dropped"))
		dropped = 0;
	if (dropped)
		rt_vendor_dropped(dropped);
	collect_dropped += dropped;
	if (dropped)
		cuda_say(SAID_DROPPED, 1,
			 "CUPTI has dropped records: it had no buffer for them; they are "
			 "counted as lost");
	if (bytes)
		rt_vendor_dropped(bytes / KEPT_BYTES + 1);
	if (over != overwritten_seen)
		rt_dropped(over - overwritten_seen);
	if (over != overwritten_seen)
		cuda_say(SAID_LOST, 1,
			 "more than %u calls were made before the record of one of them "
			 "arrived: its command has no launch", CALLS);
	overwritten_seen = over;
	if (unknown)
		cuda_say(SAID_UNKNOWN, 1,
			 "libcupti %s writes records that this tftop does not know: "
			 "they are skipped", cupti->version_text);
}

/* Graphs are recorded node by node as long as there are few nodes, unless the user has decided. */
static void graphs_adapt(int64_t now_ns)
{
	static int64_t since_ns;
	static uint64_t nodes;
	static bool refused;

	nodes += emit_graph_nodes();
	if (nodes <= graphs_nodes_s) {
		if (now_ns - since_ns >= 1000000000) {
			since_ns = now_ns;
			nodes = 0;
		}
		return;
	}
	nodes = 0;
	if (refused || atomic_load(&graphs_whole) || graphs_nodes_s == UINT_MAX)
		return;
	/* set before CUPTI knows it: a launch that CUPTI records as a whole never gets its nodes,
	 * too */
	atomic_store(&graphs_whole, true);
	refused = !enable_whole_graphs();
	if (refused)
		atomic_store(&graphs_whole, false);
	if (!refused)
		cuda_say(SAID_GRAPHS, 0,
			 "more than %u kernels per second come from graphs: from now on "
			 "each launch of a graph is one box; TFTOP_CUDA_GRAPHS=nodes keeps all "
			 "kernels",
			 graphs_nodes_s);
}

/* What CUPTI does not return now it returns later; records are lost only if it keeps refusing. */
static void flushed(int r, bool last)
{
	static unsigned refused;
	static bool once;

	once |= r == CUPTI_OK;
	refused = r == CUPTI_OK ? 0 : refused + 1;
	if (refused && (last || refused == FLUSH_TRIES))
		cuda_asked(r, SAID_FLUSH, 2,
			   once ? "CUPTI delivers no more records: the device's last work is "
			   "missing" :
			   "CUPTI delivers no records: nothing of the device can be read");
}

/* A thread of CUPTI may have taken a buffer before the flush did. */
static uint64_t drain_rest(void)
{
	uint64_t n = collect_drain();

	for (int i = 0; i < REST_MS && atomic_load(&out); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		n += collect_drain();
	}
	return n;
}

static uint64_t collect_flush(bool last)
{
	int r = cupti->flush_all(0), forced;
	uint64_t n;

	atomic_store(&asked, 0);
	emit_clock();
	objects_names();
	n = collect_drain();
	if (last) {
		forced = cupti->flush_all(CUPTI_FLUSH_FORCED);
		if (!r)
			cuda_asked(forced, SAID_UNFINISHED, 0,
				   "CUPTI did not deliver the records of work that was "
				   "unfinished when the process ended");
		r = r ? forced : CUPTI_OK;
		emit_unfinished = true;
		n += drain_rest();
	}
	flushed(r, last);
	return n;
}

static void round_of(bool last)
{
	int64_t begin_ns = rt_now_ns(), cpu_ns = rt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t n = collect_flush(last);

	emit_waiting(last);
	count_lost();
	overdue_look(rt_now_ns(), n, last);
	graphs_adapt(begin_ns);
	atomic_store(&collect_flush_ns, begin_ns);
	rt_own_time(rt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
}

/* Until the first record arrives, it is unknown whether calls must be recorded for correlations, so
 * what is launched may end up without ops. */
static int64_t pause_ns(void)
{
	static int64_t called_ns;

	if (level_now == TFT_LEVEL_OFF)
		return OFF_EVERY_NS;
	if (overdue_met || !atomic_load(&collect_called))
		return FLUSH_EVERY_NS;
	if (!called_ns)
		called_ns = rt_now_ns();
	return rt_now_ns() - called_ns < FIRST_NS ? FIRST_EVERY_NS : FLUSH_EVERY_NS;
}

static void *collect_thread(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "tftop-cuda");
	for (;;) {
		uint32_t seen = atomic_load(&wakes);
		bool last = atomic_load(&state) == ENDING;
		enum tft_level level = rt_level();
		enum tft_trigger trigger = rt_trigger();

		/* what was seen so far is written with the end of the old level */
		if (level_now != TFT_LEVEL_OFF)
			round_of(last);
		if ((level != level_now || trigger != trigger_now) && !last) {
			enable_level(level);
			level_now = level;
			trigger_now = trigger;
		}
		futex_wake(&rounds);
		if (last)
			break;
		futex_wait(&wakes, seen, pause_ns());
	}
	atomic_store(&state, ENDED);
	futex_wake(&rounds);
	return NULL;
}

bool collect_run(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	level_now = rt_level();
	trigger_now = rt_trigger();
	if (!record_start())
		cuda_tell(1, TFT_CUDA_RECORD_ENV "='%s' cannot be written: %s",
			  getenv(TFT_CUDA_RECORD_ENV), strerror(errno));
	atomic_store(&collect_flush_ns, rt_now_ns());
	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	atomic_store(&state, RUNNING);
	err = pthread_create(&thread, &attr, collect_thread, NULL);
	if (err)
		atomic_store(&state, NONE);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return err == 0;
}

void collect_wake(void)
{
	futex_wake(&wakes);
}

/* Waits until a round that starts now has ended, or the time is over. */
static bool wait_round(int64_t ns)
{
	int64_t until = rt_now_ns() + ns, now;
	uint32_t first = atomic_load(&rounds), seen;

	collect_wake();
	/* the current round started before */
	while ((seen = atomic_load(&rounds)) - first < 2 && atomic_load(&state) != ENDED) {
		now = rt_now_ns();
		if (now >= until)
			return false;
		futex_wait(&rounds, seen, until - now);
		collect_wake();
	}
	return true;
}

static void wait_running(int64_t ns)
{
	if (atomic_load(&state) == RUNNING && !atomic_load(&cuda_dead))
		wait_round(ns);
}

void collect_leave(void)
{
	wait_running(LEAVE_NS);
}

void collect_apply(void)
{
	wait_running(APPLY_NS);
}

void collect_end(void)
{
	uint32_t running = RUNNING;

	if (!atomic_compare_exchange_strong(&state, &running, ENDING))
		return;
	if (!wait_round(END_NS))
		cuda_tell(1, "the driver did not answer within a second when the process ended: "
			  "the last records are missing");
	atomic_store(&cuda_dead, true);
}

void collect_fork_child(void)
{
	atomic_store(&state, NONE);
}
