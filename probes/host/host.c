/* SPDX-License-Identifier: MIT */
/*
 * The sampler's thread. See host.h.
 *
 * How long a thread was in a state is not estimated from the number of looks alone. If none of its
 * counters in the runtime moved between two looks, then it ran no op, made no call and launched
 * nothing in between, and its processor time says how much of that time it ran: a thread that did
 * not run was in the same call all along, and one that was woken up ran at the end. Between looks
 * without such a neighbour a look stands for the moment at which it was made, weighted with half of
 * the time to its neighbours (at_ns); the model takes those that fall into idle time of cause host.
 */
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/host/host.h"
#include "probes/host/usage.h"
#include "probes/runtime/internal.h"

#define WATCHED_MAX 4		/* threads that are looked at: those that were last active */
#define BUDGET_PER_MILLE 3	/* of a processor */
#define PERIOD_NS 1000000
#define PERIOD_MAX_NS 100000000
#define CHOOSE_NS 50000000
#define SECOND_NS 1000000000
#define RETIRED_NS 2000000000	/* not watched: was active so much earlier than another thread */
#define SPLIT_NS 5000000	/* a state that lasts this long is not mixed with the next one */
#define CUT_NS 100000000	/* quiet times are written in parts, so that they are seen live */
#define COST_LOOKS 32		/* the mean cost of a look is that of about so many */
#define COST_FIRST_NS 30000	/* to begin with: 100 looks a second, for programs that are short */
#define RAN_NS 2000		/* long enough to come to another instruction of Python */
#define FAILURES 50
#define PLACES 2048u		/* remembered frames of stacks; a power of two */
#define STACKS_MAX 65536u	/* frames of stacks that are told at most */

enum { NONE, RUNNING, STOPPING, STOPPED };

static _Atomic uint32_t state;
static _Atomic uint32_t wakes;		/* a futex */
static _Atomic uint32_t flush_want, flush_done;	/* flush_done is a futex */
static _Atomic bool silent;		/* what the kernel says of threads cannot be read */
/* start of the oldest time that is not written; INT64_MAX: none */
static _Atomic int64_t pending_ns = INT64_MAX;

/* Everything below belongs to the sampler's thread. */

static struct watched {
	struct rt_thread *thread;	/* NULL: unused */
	uint64_t active;		/* its counters */
	int64_t cpu_ns, look_ns;	/* at the last look */
	int64_t delay_ns;		/* at the last look at which it had run; -1: unknown */
	int64_t lacked;		/* of 1024 parts of its time since then: without processor */
	uintptr_t python;		/* its state in Python; 0: none was found */
	uintptr_t frame, instr;		/* of Python at the last look, innermost */
	int64_t searched_ns;		/* when its state in Python was looked for */
	uint32_t looks;			/* since its counters moved; with them: */
	bool waits;			/* it was blocked at the last look */
	struct host_doing now;		/* what it was doing then */
	struct host_window window;
} watched[WATCHED_MAX];

static struct {
	struct host_python python;	/* layout NULL: there is no Python, or it is unknown */
	uintptr_t runtime;
	size_t runtime_size;
	void *(*main)(void), *(*head)(void *interpreter);
	struct rt_modules_watch modules;
	struct place_source {
		struct host_place place;
		uint32_t caller, source;
	} places[PLACES];
	struct host_stack stack;	/* of the thread that is looked at */
	uint32_t newest, told;		/* the highest id of a frame of a stack; how many rose it */
	bool told_forbidden, told_full;
	int failures;			/* looks in a row at which the kernel said nothing */
} host;

static void tell_once(bool *told, const char *text)
{
	if (!*told)
		rt_emit_message(1, text);
	*told = true;
}

/* ---- Python ---- */

static void host_find_python(void)
{
	struct host_python *py = &host.python;
	const unsigned long *version = rt_symbol("Py_Version", NULL);
	const void *code = rt_symbol("PyCode_Type", NULL), *str = rt_symbol("PyUnicode_Type", NULL);
	const void *bytes = rt_symbol("PyBytes_Type", NULL);

	host.runtime = (uintptr_t)rt_symbol("_PyRuntime", &host.runtime_size);
	*(void **)&host.main = rt_symbol("PyInterpreterState_Main", NULL);
	*(void **)&host.head = rt_symbol("PyInterpreterState_ThreadHead", NULL);
	if (!version || !code || !str || !bytes || !host.main || !host.head)
		return;
	py->read = host_read_all;
	py->code_type = (uintptr_t)code;
	py->str_type = (uintptr_t)str;
	py->bytes_type = (uintptr_t)bytes;
	py->layout = py_layout_of(*version);
}

static bool python_there(int64_t now_ns)
{
	if (!host.python.layout && rt_modules_came(&host.modules, now_ns))
		host_find_python();
	return host.python.layout && !host_read_forbidden();
}

/* The id of the line, called by that one (0: only the line is told); lineless: only its function is
 * known. 0: its texts cannot be read. */
static uint32_t source_of(const struct host_place *place, uint32_t caller, bool lineless)
{
	uint64_t hash = (((uint64_t)place->code >> 4) + caller) * 0x9e3779b97f4a7c15u +
			(uint64_t)place->offset * 2654435761u;
	struct place_source *known = &host.places[hash >> 32 & (PLACES - 1)];
	const struct host_place *had = &known->place;
	char file[HOST_TEXT], function[HOST_TEXT];
	struct tft_frame frame = { .parent = caller };

	if (had->code == place->code && had->offset == place->offset && known->caller == caller &&
	    had->filename == place->filename && had->qualname == place->qualname &&
	    had->first_line == place->first_line && had->moved == lineless)
		return known->source;
	if (!host_place_texts(&host.python, place, file, function))
		return 0;
	if (!lineless)
		frame.line = (uint32_t)host_place_line(&host.python, place);
	frame.file = rt_name(TFT_NAME_SOURCE, file);
	frame.function = rt_name(TFT_NAME_SOURCE, function);
	*known = (struct place_source) { *place, caller, rt_source(&frame) };
	known->place.moved = lineless;
	if (known->source > host.newest) {
		host.newest = known->source;
		host.told++;
	}
	return known->source;
}

/* The id of the innermost frame with all its callers; 0: unknown. Of calls that changed while they
 * were read only the user's line is told, which is right for itself. */
static uint32_t host_stack_id(const struct host_stack *stack)
{
	struct tft_frame changed = { .file = 0 };
	uint32_t id = 0;

	if (host.told >= STACKS_MAX)
		tell_once(&host.told_full, "this process has more different call stacks than tftop "
			  "keeps: what its threads do from now on has lines, but no stack");
	if (host.told >= STACKS_MAX || stack->sure >= stack->n)
		return 0;
	for (uint32_t i = stack->n; i-- > stack->sure;)
		if (!(id = source_of(&stack->place[i], id, stack->place[i].moved)))
			return 0;
	if (!stack->sure)
		return id;
	changed.parent = id;
	changed.file = changed.function = rt_name(TFT_NAME_SOURCE, TFT_FRAME_CHANGED);
	id = rt_source(&changed);
	return id && stack->user < stack->sure ? source_of(&stack->place[stack->user], id, false) :
						   id;
}

/*
 * Whether a thread that runs is in code below its line of Python: it did not come to another
 * instruction while it ran. If it had no processor during this look, then since the last one.
 */
static bool is_below(const struct watched *w, const struct host_stack *stack, bool ran)
{
	return stack->still && (ran || (stack->frame == w->frame && stack->instr == w->instr));
}

/* Adds the stack of Python to what a thread does. */
static void see_python(struct watched *w, uint32_t tid, int64_t now_ns, struct host_doing *doing)
{
	struct host_python *py = &host.python;
	struct host_stack *stack = &host.stack;
	int64_t cpu_ns;
	void *interpreter;

	if (!host_state_is(py, w->python, tid)) {
		if (now_ns - w->searched_ns < SECOND_NS)
			return;
		w->searched_ns = now_ns;
		interpreter = host.main();
		py->first_state = interpreter ? (uintptr_t)host.head(interpreter) : 0;
		w->python = host_state_of(py, tid);
	}
	cpu_ns = host_cpu_ns(tid);
	if (!w->python || host_stack_of(py, w->python, stack) != HOST_PLACE)
		return;
	doing->frame = source_of(&stack->place[stack->user], 0, false);
	doing->stack = host_stack_id(stack);
	if (doing->doing == TFT_DOING_NATIVE &&
	    !is_below(w, stack, host_cpu_ns(tid) - cpu_ns > RAN_NS))
		doing->doing = TFT_DOING_PYTHON;
	w->frame = stack->frame;
	w->instr = stack->instr;
}

/* ---- a look ---- */

static struct host_doing host_see(struct watched *w, uint32_t tid, int64_t now_ns)
{
	struct host_doing doing;
	bool python = python_there(now_ns);

	if (!host_state_look(tid, host.runtime, host.runtime_size, &doing)) {
		doing.doing = TFT_DOING_OTHER;
		/* not only a thread that is just ending */
		SET(silent, ++host.failures >= FAILURES);
		return doing;
	}
	host.failures = 0;
	w->waits = doing.doing != TFT_DOING_NATIVE;
	if (python)
		see_python(w, tid, now_ns, &doing);
	if (host.python.layout && host_read_forbidden())
		tell_once(&host.told_forbidden, "this process may not read its own memory "
			  "(process_vm_readv): what its threads do has no lines of Python");
	return doing;
}

/* What moves when a thread runs ops or calls the API. A thread that only writes events, as those of
 * a driver do, is not looked at. */
static uint64_t activity(const struct rt_thread *th)
{
	return GET(th->calls) * 5 + GET(th->section) * 7u + GET(th->batch.count) * 11u +
	       (uint64_t)GET(th->visible) * 13;
}

static void begin_at(struct watched *w, uint32_t tid, int64_t at_ns)
{
	w->window = (struct host_window) { .tid = tid, .start_ns = at_ns, .end_ns = at_ns };
	w->looks = 0;
}

/* dur_ns since the last look, of which the thread ran ran_ns, are split into what it did then and
 * what it does now. */
static void host_split(struct watched *w, const struct host_doing *now, bool waited, int64_t dur_ns,
		  int64_t ran_ns)
{
	int64_t before_ns = dur_ns / 2;

	if (ran_ns > dur_ns)
		ran_ns = dur_ns;
	if (waited && !w->waits)
		before_ns = dur_ns - ran_ns;
	else if (!waited && w->waits)
		before_ns = ran_ns;
	host_window_add(&w->window, &w->now, before_ns);
	if (now->doing != w->now.doing && w->window.end_ns - w->window.start_ns >= SPLIT_NS)
		host_window_close(&w->window, 0);
	host_window_add(&w->window, now, dur_ns - before_ns);
}

/* How much of dur_ns since the last look the thread could have run, but had no processor. */
static int64_t host_delayed(struct watched *w, uint32_t tid, int64_t dur_ns, int64_t ran_ns)
{
	int64_t before_ns = w->delay_ns, ns;

	if (dur_ns - ran_ns < dur_ns / 64)
		return 0;		/* it ran; what it lacked counts at the next look */
	w->delay_ns = host_delay_ns(tid);
	ns = before_ns < 0 || w->delay_ns < before_ns ? 0 : w->delay_ns - before_ns;
	return ns < dur_ns - ran_ns ? ns : dur_ns > ran_ns ? dur_ns - ran_ns : 0;
}

/* Adds what it was doing at the last look. If it could run then, it may have had no processor: how
 * likely that is, the time around the look says. */
static void host_add_now(struct watched *w, int64_t ns)
{
	struct host_doing lacking = w->now;
	bool runs = w->now.doing == TFT_DOING_PYTHON || w->now.doing == TFT_DOING_NATIVE;
	int64_t lacked_ns = runs ? ns * w->lacked / 1024 : 0;

	lacking.doing = TFT_DOING_CPU;
	lacking.what = 0;
	host_window_add(&w->window, &w->now, ns - lacked_ns);
	host_window_add(&w->window, &lacking, lacked_ns);
}

/* The thread did something that the runtime knows of, at some time since the last look. */
static void host_part(struct watched *w, uint32_t tid, int64_t dur_ns, int64_t ran_ns,
		      int64_t now_ns)
{
	int64_t delay_ns;

	if (w->looks)
		host_add_now(w, dur_ns / 2);
	host_window_close(&w->window, w->looks == 1 ? now_ns - dur_ns : 0);
	begin_at(w, w->window.tid, now_ns - dur_ns / 2);
	w->now = host_see(w, tid, now_ns);
	delay_ns = host_delayed(w, tid, dur_ns, ran_ns);
	w->lacked = delay_ns + ran_ns > 0 ? delay_ns * 1024 / (delay_ns + ran_ns) : 0;
	host_add_now(w, dur_ns / 2);
	w->looks = 1;
}

static void host_look_at(struct watched *w, int64_t now_ns)
{
	uint32_t tid = GET(w->thread->tid);
	uint64_t active = activity(w->thread);
	int64_t cpu_ns = tid == w->window.tid ? host_cpu_ns(tid) : -1;
	int64_t dur_ns = now_ns - w->look_ns, ran_ns = cpu_ns - w->cpu_ns;
	bool same = active == w->active, waited = w->waits;
	struct host_doing now, delayed = { .doing = TFT_DOING_CPU };
	int64_t delay_ns = 0;

	if (dur_ns <= 0)
		return;			/* it is watched since this moment */
	w->active = active;
	w->cpu_ns = cpu_ns;
	w->look_ns = now_ns;
	if (cpu_ns < 0) {
		host_window_close(&w->window, 0);
		w->thread = NULL;
	} else if (!same || !w->looks) {
		host_part(w, tid, dur_ns, ran_ns, now_ns);
	} else {
		now = w->now;
		if (!waited || ran_ns) {
			now = host_see(w, tid, now_ns);
			delay_ns = host_delayed(w, tid, dur_ns, ran_ns);
		}
		host_split(w, &now, waited, dur_ns - delay_ns, ran_ns);
		delayed.frame = now.frame;
		delayed.stack = now.stack;
		host_window_add(&w->window, &delayed, delay_ns);
		w->now = now;
		w->lacked = 0;
		w->looks++;
		if (w->window.end_ns - w->window.start_ns >= CUT_NS)
			host_window_close(&w->window, 0);
	}
}

/* ---- which threads ---- */

static void host_watch(struct rt_thread *th, int64_t now_ns)
{
	struct watched *w = NULL;

	/* all places: that of this thread may come after one that is unused */
	for (int i = 0; i < WATCHED_MAX; i++) {
		struct watched *one = &watched[i];

		if (one->thread == th)
			return;
		if (!w || (w->thread && (!one->thread || one->thread->host.active_ns <
							 w->thread->host.active_ns)))
			w = one;
	}
	if (w->thread && w->thread->host.active_ns >= th->host.active_ns)
		return;
	if (w->thread)
		host_window_close(&w->window, 0);
	*w = (struct watched) { .thread = th, .active = activity(th), .look_ns = now_ns };
	begin_at(w, GET(th->tid), now_ns);
	w->cpu_ns = host_cpu_ns(w->window.tid);
	w->delay_ns = host_delay_ns(w->window.tid);
}

/* Watches those that were active last, except for the runtime's own. */
static void host_choose(int64_t now_ns)
{
	int64_t last_ns = 0;

	for (struct rt_thread *th = rt_threads(); th; th = th->next) {
		uint64_t active = activity(th);

		if (active != th->host.active) {
			th->host.active = active;
			th->host.active_ns = now_ns;
		}
		if (GET(th->tid) && !GET(th->own) && th->host.active_ns > last_ns)
			last_ns = th->host.active_ns;
	}
	for (int i = 0; i < WATCHED_MAX; i++) {
		struct watched *w = &watched[i];

		if (!w->thread || w->thread->host.active_ns >= last_ns - RETIRED_NS)
			continue;
		host_window_close(&w->window, 0);
		w->thread = NULL;
	}
	for (struct rt_thread *th = rt_threads(); th; th = th->next)
		if (GET(th->tid) && !GET(th->own) && th->host.active_ns &&
		    th->host.active_ns >= last_ns - RETIRED_NS)
			host_watch(th, now_ns);
}

/* ---- the thread ---- */

static int64_t chosen_ns;		/* when the watched threads were chosen */

static int64_t oldest_pending(void)
{
	int64_t oldest = INT64_MAX;

	for (int i = 0; i < WATCHED_MAX; i++)
		if (watched[i].thread && watched[i].window.start_ns < oldest)
			oldest = watched[i].window.start_ns;
	return oldest;
}

/* Looks at all watched threads. */
static void host_look(void)
{
	int64_t now_ns;

	/* whoever does not see this yet has read the clock before us */
	if (GET(pending_ns) == INT64_MAX) {
		SET(pending_ns, rt_now_ns());
		rt_fence(memory_order_seq_cst);
	}
	now_ns = rt_now_ns();
	if (now_ns - chosen_ns >= CHOOSE_NS) {
		chosen_ns = now_ns;
		host_choose(now_ns);
	}
	for (int i = 0; i < WATCHED_MAX; i++)
		if (watched[i].thread)
			host_look_at(&watched[i], now_ns);
	SET_REL(pending_ns, oldest_pending());
}

static void host_close_all(void)
{
	for (int i = 0; i < WATCHED_MAX; i++) {
		if (!watched[i].thread)
			continue;
		host_window_close(&watched[i].window, 0);
		watched[i].thread = NULL;
	}
	chosen_ns = 0;
	SET_REL(pending_ns, INT64_MAX);
}

static void pause_until(int64_t until_ns, uint32_t seen)
{
	while (GET_ACQ(state) == RUNNING && atomic_load(&wakes) == seen && rt_now_ns() < until_ns)
		rt_futex_wait_until(&wakes, seen, until_ns);
}

/* So long between two looks that they cost no more than the budget, and write few records. */
static int64_t period(int64_t *cpu_ns, int64_t *mean_ns)
{
	int64_t now_ns = rt_clock_ns(CLOCK_THREAD_CPUTIME_ID), cost_ns = now_ns - *cpu_ns, ns;

	*cpu_ns = now_ns;
	rt_own_time(cost_ns);
	*mean_ns += (cost_ns - *mean_ns) / COST_LOOKS;
	ns = *mean_ns * 1000 / BUDGET_PER_MILLE * host_window_spread();
	return ns < PERIOD_NS ? PERIOD_NS : ns > PERIOD_MAX_NS ? PERIOD_MAX_NS : ns;
}

static void *host_run(void *arg)
{
	int64_t cpu_ns = rt_clock_ns(CLOCK_THREAD_CPUTIME_ID), mean_ns = COST_FIRST_NS;
	int64_t second_ns = rt_now_ns();

	(void)arg;
	prctl(PR_SET_NAME, "tftop-host");
	/* after a fork these are the parent's, maybe in the middle of a change */
	memset(watched, 0, sizeof(watched));
	memset(&host, 0, sizeof(host));
	chosen_ns = 0;
	if (!host_own_descriptors())
		SET(silent, true);
	rt_modules_seen(&host.modules);
	host_find_python();
	host_window_begin();
	host_usage_begin();
	while (GET_ACQ(state) == RUNNING && rt_level() >= TFT_LEVEL_DEFAULT && !GET(silent)) {
		uint32_t seen = atomic_load(&wakes), flush = GET_ACQ(flush_want);

		host_look();
		if (flush != GET(flush_done)) {
			host_close_all();
			SET_REL(flush_done, flush);
			rt_futex_wake(&flush_done);
		}
		if (rt_now_ns() - second_ns >= SECOND_NS) {
			second_ns = rt_now_ns();
			host_window_rate();
		}
		host_usage_look(rt_now_ns());
		pause_until(rt_now_ns() + period(&cpu_ns, &mean_ns), seen);
	}
	if (GET(silent))
		rt_emit_message(1, "the system does not let tftop see what the threads of this "
				   "process wait for: idle time of cause host is not divided "
				   "further");
	else
		host_close_all();
	host_usage_end();
	SET_REL(pending_ns, INT64_MAX);
	SET_REL(flush_done, GET(flush_want));
	rt_futex_wake(&flush_done);
	SET_REL(state, STOPPED);
	rt_futex_wake(&state);
	return NULL;
}

/* ---- the runtime's side ---- */

void rt_host_tick(void)
{
	uint32_t now = GET_ACQ(state);

	if (rt_level() < TFT_LEVEL_DEFAULT || GET(silent) || (now != NONE && now != STOPPED))
		return;
	SET_REL(state, RUNNING);
	if (!rt_thread_start(host_run)) {
		SET_REL(state, NONE);
		rt_dropped(1);
	}
}

int64_t rt_host_pending(void)
{
	return GET_ACQ(pending_ns);
}

static void wake(void)
{
	atomic_fetch_add(&wakes, 1);
	rt_futex_wake(&wakes);
}

void rt_host_flush(int64_t wait_ns)
{
	int64_t until_ns = rt_now_ns() + wait_ns;
	uint32_t want, have;

	if (GET_ACQ(state) != RUNNING)
		return;
	want = atomic_fetch_add(&flush_want, 1) + 1;
	wake();
	while ((int32_t)((have = GET_ACQ(flush_done)) - want) < 0 && rt_now_ns() < until_ns)
		rt_futex_wait_until(&flush_done, have, until_ns);
}

void rt_host_stop(int64_t wait_ns)
{
	int64_t until_ns = rt_now_ns() + wait_ns;
	uint32_t want = RUNNING;

	if (!atomic_compare_exchange_strong(&state, &want, STOPPING))
		return;
	wake();
	while (GET_ACQ(state) == STOPPING && rt_now_ns() < until_ns)
		rt_futex_wait_until(&state, STOPPING, until_ns);
}

void rt_host_fork_child(void)
{
	SET(state, NONE);
	SET(wakes, 0);
	SET(flush_want, 0);
	SET(flush_done, 0);
	SET(pending_ns, INT64_MAX);
	SET(silent, false);
}
