/* SPDX-License-Identifier: MIT */
/*
 * The thread that empties buffers of records (buffers.c), and that lets go of CUPTI for a client of
 * the program's (beside.h).
 *
 * Every 50 ms it asks CUPTI for complete buffers, decodes them and writes events. Only at
 * the end of the process does it ask for incomplete buffers too.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probes/cuda/beside.h"
#include "probes/cuda/probe.h"
#include "probes/cuda/record.h"

#define FLUSH_TRIES 4u
#define REST_MS 20		/* for records that are on their way when the process ends */
#define OFF_EVERY_NS 200000000
#define FIRST_EVERY_NS 2000000	/* interval until the first record arrives */
#define FIRST_NS 500000000
#define LEAVE_NS 60000000
#define APPLY_NS 60000000	/* a call of the program may wait this long, in CUPTI's callback */
#define END_NS 1000000000
#define LET_GO_NS 2000000000	/* a client of CUPTI waits this long until tftop has let go */
#define LATE_NS 300000000	/* and tftop so long for what was launched before */
#define GRAPH_NODES_S 50000u	/* per second: above this rate graphs are recorded as a whole */
#define KEPT_BYTES 32u		/* minimum size of a record that is thrown away */

atomic_bool graphs_whole;
unsigned graphs_nodes_s = GRAPH_NODES_S;
_Atomic int64_t collect_flush_ns;
atomic_bool collect_called;
uint64_t collect_dropped;

enum { NONE, RUNNING, ENDING, ENDED };
static _Atomic uint32_t state, wakes, rounds;	/* futexes */
static atomic_bool has = true;		/* CUPTI is tftop's, not another client's */
static __thread bool flusher __attribute__((tls_model("initial-exec")));
static enum tft_level level_now;
static enum tft_trigger trigger_now;
static uint64_t overwritten_seen, unknown;
static _Atomic int64_t taken_ns;	/* since when CUPTI is tftop's or not; 0: always tftop's */

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

/* ---- emptying buffers ---- */

static int next_record(void *user, uint8_t *buffer, size_t valid, void **record)
{
	(void)user;
	return cupti->next_record(buffer, valid, record);
}

static uint64_t collect_decode_buffer(uint8_t *data, size_t valid)
{
	struct cuda_record record;
	struct cuda_walk walk;
	uint64_t n = 0;

	cuda_walk_begin(&walk, data, valid, cupti->release, next_record, NULL);
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

static uint64_t collect_drain(void)
{
	return buffers_drain(collect_decode_buffer);
}

static void count_lost(void)
{
	uint64_t over = calls_overwritten(), bytes = buffers_thrown();
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

	for (int i = 0; i < REST_MS && buffers_out(); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		n += collect_drain();
	}
	return n;
}

static uint64_t collect_flush(bool last)
{
	int r = cupti->flush_all(0), forced;
	uint64_t n;

	buffers_flushed();
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

	if (!collect_has())
		return FLUSH_EVERY_NS;
	if (level_now == TFT_LEVEL_OFF)
		return OFF_EVERY_NS;
	if (overdue_met || !atomic_load(&collect_called))
		return FLUSH_EVERY_NS;
	if (!called_ns)
		called_ns = rt_now_ns();
	return rt_now_ns() - called_ns < FIRST_NS ? FIRST_EVERY_NS : FLUSH_EVERY_NS;
}

/* ---- other clients of CUPTI ---- */

bool collect_has(void)
{
	return atomic_load(&has);
}

static void tell_taken(int64_t at_ns, bool taken)
{
	struct tft_taken now = { .at_ns = at_ns, .taken = taken };

	taken_ns = at_ns;
	rt_emit_taken(&now);
}

void collect_say_taken(void)
{
	cuda_say(SAID_BESIDE, 0,
		 "the program's own profiler has the device: kernels and copies are recorded for "
		 "it alone, and by tftop again when it has ended");
}

void collect_dump(void)
{
	if (taken_ns)
		tell_taken(taken_ns, !collect_has());
}

/* Gives CUPTI to a client of the program's, with nothing of ours left in it. */
static void collect_part(void)
{
	int64_t begin_ns = rt_now_ns(), end_ns;

	enable_level(TFT_LEVEL_OFF);
	end_ns = rt_now_ns();
	do {
		collect_flush(false);
		emit_waiting(false);
	} while (overdue_waits(begin_ns) && atomic_load(&state) == RUNNING &&
		 rt_now_ns() - begin_ns < LATE_NS &&
		 !nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL));
	collect_flush(true);
	emit_unfinished = false;
	emit_waiting(true);
	overdue_left(begin_ns);
	count_lost();
	enable_end();
	atomic_store(&has, false);
	tell_taken(end_ns, true);
	collect_say_taken();
}

/* Takes CUPTI when no client has anything of it any more. */
static void collect_take(void)
{
	char why[400];
	int r;

	/* it may be launching graphs that were made without CUPTI */
	if (rt_late_xla("cuda")) {
		beside_unseen();
		cuda_say(SAID_BLINDLY, 1, "the device is not seen any more after the program's "
			 "own profiler has had it: beginning to use CUPTI while XLA launches "
			 "CUDA graphs may harm the program");
		return;
	}
	atomic_store(&has, true);
	if (beside_wants()) {
		atomic_store(&has, false);
		return;
	}
	level_now = rt_level();
	trigger_now = rt_trigger();
	emit_clock_anew();
	r = enable_start(level_now, why, sizeof(why));
	if (!r) {
		tell_taken(rt_now_ns(), false);
		return;
	}
	atomic_store(&has, false);
	beside_unseen();
	cuda_say(SAID_BLINDLY, 1, "the device is not seen any more after the program's own "
		 "profiler has had it: %s", *why ? why : "somebody else uses CUPTI");
}

/* A client waits on its own thread, in the call by which it takes CUPTI. */
void collect_let_go(void)
{
	int64_t until = rt_now_ns() + LET_GO_NS, now = 0;

	while (atomic_load(&has) && atomic_load(&state) == RUNNING && !flusher &&
	       !atomic_load(&cuda_dead) && now < until) {
		uint32_t seen = atomic_load(&rounds);

		collect_wake();
		now = rt_now_ns();
		if (atomic_load(&has) && now < until)
			futex_wait(&rounds, seen, until - now);
	}
}

/* Buffers that come back now hold nothing for tftop. */
static void away(void)
{
	collect_drain();
	atomic_store(&collect_flush_ns, rt_now_ns());
	if (beside_free())
		collect_take();
}

/* ---- the thread ---- */

static void change_level(void)
{
	enum tft_level level = rt_level();
	enum tft_trigger trigger = rt_trigger();

	if (level == level_now && trigger == trigger_now)
		return;
	enable_level(level);
	level_now = level;
	trigger_now = trigger;
}

static void *collect_thread(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "tftop-cuda");
	flusher = true;
	for (;;) {
		uint32_t seen = atomic_load(&wakes);
		bool last = atomic_load(&state) == ENDING;

		beside_look();
		if (collect_has() && beside_wants() && !last)
			collect_part();
		/* what was seen so far is written with the end of the old level */
		if (!collect_has() && !last)
			away();
		else if (collect_has() && level_now != TFT_LEVEL_OFF)
			round_of(last);
		if (collect_has() && !last)
			change_level();
		futex_wake(&rounds);
		if (last)
			break;
		futex_wait(&wakes, seen, pause_ns());
	}
	atomic_store(&state, ENDED);
	futex_wake(&rounds);
	return NULL;
}

static void tell_unwritten(void)
{
	const char *why = strerror(errno);
	char path[PATH_MAX];

	cuda_tell(1, TFT_CUDA_RECORD_ENV "='%s' cannot be written: %s",
		  rt_env(TFT_CUDA_RECORD_ENV, path, sizeof(path)) ? path : "", why);
}

bool collect_run(bool has_it)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	level_now = rt_level();
	trigger_now = rt_trigger();
	atomic_store(&has, has_it);
	if (!has_it)
		tell_taken(rt_now_ns(), true);
	if (!record_start())
		tell_unwritten();
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
