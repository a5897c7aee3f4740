/* SPDX-License-Identifier: MIT */
/*
 * TraceMe events: sets the level at which they are recorded, keeps the program's own profiler
 * working, and distributes the events. See traceme.h.
 *
 * TensorFlow's profiler keeps every event until it is stopped, so it gets only what it would have
 * got without us: nothing outside of its session, and inside of a session the session's own level
 * applies.
 *
 * The executor also reads the level, at each op. At level 2 it traces the ops that it assumes to be
 * expensive, and does not measure their cost. So they stay expensive, and it keeps handing them to
 * other threads. To let a program run as it does without us, the executor's library gets a variable
 * of its own at level 1, through its entry in its table of addresses, while the others have ours at
 * 2. What only that library reports at level 2, calls of tf.data's iterators, comes from a hook
 * (tf_get_next()). Functions that iterators run in parallel are reported nowhere else: while there
 * are some, the level is 2 for all.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "probes/imports/imports.h"
#include "probes/tensorflow/probe.h"
#include "probes/tensorflow/traceme.h"

#define LEVEL_NONE (-1)

/* The two generations, by namespace. */
struct recorder {
	_Atomic int *level;		/* TensorFlow's own variable; NULL: not there */
	_Atomic int session;		/* level of the program's session, or LEVEL_NONE */
	_Atomic int starting;		/* a session is about to start, so nothing may be changed */
	/* For the executor's library, if it can have a variable of its own; otherwise `place` is
	 * NULL. */
	void **place;
	_Atomic int apart;
	bool away;			/* `place` leads to `apart` */
};
static struct recorder tsl = { .session = LEVEL_NONE }, tf = { .session = LEVEL_NONE };
static _Atomic int64_t real_to_mono_ns;
static _Atomic int64_t functions_ns;	/* when iterators last ran functions in parallel */
static const void *executor;		/* an address inside its library */

#define FUNCTIONS_NS 2000000000	/* for how long functions keep the level raised */

/* ---- consumers of events ---- */

static void nobody(const struct traceme *t)
{
	(void)t;
}

static const struct trace_consumer {
	const char *begin;
	tf_trace_take *take;
} consumers[] = {
	{ "SessionRun", tf_session_traced },
	{ "tf.function-graph_building", tf_building_traced },
	{ "CpuCompiler::RunBackend", tf_xla_traced },
	{ "GpuCompiler::RunBackend", tf_xla_traced },
	{ "ExecutorState::", nobody },
	{ "EagerExecute", nobody },
	{ "ExecutorDoneCallback", tf_function_done },
	{ "Iterator::", tf_stage_called },
	{ "IteratorGetNext", tf_stage_fetched },
	{ "InstantiatedCapturedFunction::RunAsync", tf_stage_function },
	{ "PrefetchProduce", tf_stage_worked },
	{ "MapAndBatchProduce", tf_stage_worked },
	{ "ParallelMapProduce", tf_stage_worked },
	{ "ParallelInterleaveProduce", tf_stage_worked },
	{ "ParallelBatchProduce", tf_stage_worked },
	{ "ParallelFilterProduce", tf_stage_worked },
	{ "ParseExampleProduce", tf_stage_worked },
	{ "ParallelFor#", tf_loop_traced },
};

#define CONSUMERS (sizeof(consumers) / sizeof(consumers[0]))
static uint8_t first[256], next[CONSUMERS];	/* index of the row + 1, by first byte */

static void index_consumers(void)
{
	for (size_t i = CONSUMERS; i-- > 0;) {
		unsigned char c = (unsigned char)consumers[i].begin[0];

		next[i] = first[c];
		first[c] = (uint8_t)(i + 1);
	}
}

/* ---- receiving an event ---- */

static void split(struct traceme *t, const struct traceme_event *e)
{
	traceme_split(t, e, atomic_load_explicit(&real_to_mono_ns, memory_order_relaxed));
}

/* For events that are recognised by their values, whatever their name: the program's steps, traces
 * of functions. */
static void take_any(const struct traceme_event *e)
{
	struct tft_step step = { .seq = 0 };
	struct traceme t;
	const char *text;
	char name[256];
	size_t length;

	split(&t, e);
	if (!t.values_length)
		return;
	if (traceme_number(&t, "step_num", &step.number) && step.number >= 0) {
		length = t.name_length < sizeof(name) ? t.name_length : sizeof(name) - 1;
		memcpy(name, t.name, length);
		name[length] = '\0';
		step.name = rt_name(TFT_NAME_RANGE, name);
		step.start_ns = t.start_ns;
		step.dur_ns = t.end_ns - t.start_ns;
		rt_emit_step(&step);
	} else if (traceme_value(&t, "tf_function_call", &text, &length)) {
		tf_function_traced(&t, text, length);
	} else if (traceme_value(&t, "hlo_op", &text, &length)) {
		tf_thunk_traced(&t, text, length);
	}
}

static inline void tf_trace_take_event(const struct traceme_event *e)
{
	uint8_t row;

	/* only one end, or not a text */
	if (e->length < 2 || e->start_ns <= 0 || e->end_ns < e->start_ns)
		return;
	for (row = first[(unsigned char)e->name[0]]; row; row = next[row - 1]) {
		const struct trace_consumer *c = &consumers[row - 1];
		size_t length = strlen(c->begin);
		struct traceme t;

		if (length > e->length || memcmp(e->name, c->begin, length))
			continue;
		if (c->take != nobody) {
			split(&t, e);
			c->take(&t);
		}
		return;
	}
	if (e->name[e->length - 1] == '#')
		take_any(e);
}

static inline void record(struct traceme_event *e, struct recorder *r,
			  enum tft_tf_function function)
{
	int saved = errno;

	if (rt_level() != TFT_LEVEL_OFF)
		tf_trace_take_event(e);
	errno = saved;
	if (atomic_load_explicit(&r->session, memory_order_relaxed) != LEVEL_NONE)
		((void (*)(struct traceme_event *))tf_original(function))(e);
}

void tf_record_tsl(struct traceme_event *e)
{
	record(e, &tsl, TFT_TF_RECORD_TSL);
}

void tf_record_tf(struct traceme_event *e)
{
	record(e, &tf, TFT_TF_RECORD_TF);
}

/*
 * The executor lets TensorFlow make an event for each kernel that it considers expensive. The probe
 * has these from the device. To keep the cost low, the text, which is composed of one or two
 * strings, is only made if somebody wants it; in a build for GPUs it may also name an NVTX range.
 */
struct tf_string *tf_trace_string(struct tf_string *s, const void *kernel, const void *context,
				  bool verbose)
{
	typedef struct tf_string *trace_string(struct tf_string *, const void *, const void *,
					       bool);

	if (tf_original(TFT_TF_GPU_COMPUTE) || tf_trace_session())
		return ((trace_string *)tf_original(TFT_TF_TRACE_STRING))(s, kernel, context,
									  verbose);
	s->text = s->inside;
	s->length = 0;
	s->inside[0] = '\0';
	return s;
}

/* ---- levels ---- */

static int wanted_level(enum tft_level level)
{
	static const int of[] = {
		[TFT_LEVEL_OFF] = LEVEL_NONE, [TFT_LEVEL_MIN] = 1, [TFT_LEVEL_DEFAULT] = 2,
		[TFT_LEVEL_FULL] = 3,
	};

	return level <= TFT_LEVEL_FULL ? of[level] : LEVEL_NONE;
}

static void set(_Atomic int *at, int level)
{
	if (atomic_load_explicit(at, memory_order_relaxed) != level)
		atomic_store(at, level);
}

static int wanted_apart(int level)
{
	int64_t last = atomic_load_explicit(&functions_ns, memory_order_relaxed);

	return level < 2 || (last && rt_now_ns() - last < FUNCTIONS_NS) ? level : 1;
}

static void apply(struct recorder *r, enum tft_level level)
{
	int want = wanted_level(level);

	if (!r->level || atomic_load(&r->starting) || atomic_load(&r->session) != LEVEL_NONE)
		return;
	set(&r->apart, wanted_apart(want));
	set(r->level, want);
}

/* At level off, and while the program's own profiler is on, everything is as TensorFlow made it. */
static void set_apart(struct recorder *r, bool away)
{
	away = away && !atomic_load(&r->starting) && atomic_load(&r->session) == LEVEL_NONE;
	if (r->place && r->away != away &&
	    imports_variable_is(executor, r->place, away ? (void *)&r->apart : (void *)r->level))
		r->away = away;
}

bool tf_trace_session(void)
{
	return atomic_load_explicit(&tsl.session, memory_order_relaxed) != LEVEL_NONE ||
	       atomic_load_explicit(&tf.session, memory_order_relaxed) != LEVEL_NONE;
}

bool tf_trace_apart(void)
{
	struct recorder *r = tsl.away ? &tsl : &tf;

	return r->away && atomic_load_explicit(&r->apart, memory_order_relaxed) < 2;
}

void tf_trace_functions(void)
{
	atomic_store_explicit(&functions_ns, rt_now_ns(), memory_order_relaxed);
	apply(&tsl, rt_level());
	apply(&tf, rt_level());
}

void tf_trace_level(enum tft_level level)
{
	if (level == TFT_LEVEL_OFF)
		functions_ns = 0;
	apply(&tsl, level);
	apply(&tf, level);
	set_apart(&tsl, level != TFT_LEVEL_OFF);
	set_apart(&tf, level != TFT_LEVEL_OFF);
}

static void take_time(void)
{
	int64_t before = rt_now_ns(), real = rt_clock_ns(CLOCK_REALTIME), after = rt_now_ns();

	atomic_store_explicit(&real_to_mono_ns, before + (after - before) / 2 - real,
			      memory_order_relaxed);
}

void tf_trace_tick(void)
{
	enum tft_level level = rt_level();

	take_time();
	apply(&tsl, level);
	apply(&tf, level);
}

/* If a level is set already, it belongs to a session of the program. */
static void recorder_start(struct recorder *r, const char *level)
{
	/* the variable of the preloaded library, which all libraries use then, unless they were
	 * loaded before and use their own */
	r->level = (_Atomic int *)(tf_lib->late ? tf_lib->find(level) : dlsym(RTLD_DEFAULT, level));
	if (!r->level)
		return;
	atomic_store(&r->session, atomic_load(r->level));
	if (executor)
		r->place = imports_variable(executor, level, (void *)r->level);
}

void tf_trace_start(void)
{
	index_consumers();
	take_time();
#if defined(__x86_64__)	/* elsewhere the hook's result is passed in a register that C cannot name */
	/* without the hook there would be no stages */
	if (tf_lib->original(TFT_TF_GET_NEXT) && tf_stages_start())
		executor = tf_lib->find(TFT_TF_EXECUTOR);
#endif
	recorder_start(&tsl, TFT_TF_LEVEL_TSL);
	recorder_start(&tf, TFT_TF_LEVEL_TF);
}

/* ---- the program's own profiler ---- */

/* It starts only if it finds the level at -1. */
static bool session_begin(struct recorder *r)
{
	if (!r->level || atomic_load(&r->session) != LEVEL_NONE)
		return false;
	atomic_store(&r->starting, 1);
	set_apart(r, false);
	atomic_store(r->level, LEVEL_NONE);
	return true;
}

static bool session_began(struct recorder *r, bool ours, bool ok)
{
	if (!ours)
		return ok;
	if (ok)
		atomic_store(&r->session, atomic_load(r->level));
	atomic_store(&r->starting, 0);
	apply(r, rt_level());
	set_apart(r, rt_level() != TFT_LEVEL_OFF);
	return ok;
}

static void session_ended(struct recorder *r)
{
	atomic_store(&r->session, LEVEL_NONE);
	apply(r, rt_level());
	set_apart(r, rt_level() != TFT_LEVEL_OFF);
	tf_gate_session_ended();
}

#define ORIGINAL(type, function) ((type)tf_original(TFT_TF_##function))

bool tf_start_tsl(int level)
{
	bool ours = session_begin(&tsl);

	return session_began(&tsl, ours, ORIGINAL(bool (*)(int), START_TSL)(level));
}

bool tf_start_filter_tsl(int level, uint64_t filter)
{
	bool ours = session_begin(&tsl);

	return session_began(&tsl, ours,
		ORIGINAL(bool (*)(int, uint64_t), START_FILTER_TSL)(level, filter));
}

bool tf_start_filter_bool_tsl(int level, uint64_t filter, bool more)
{
	bool ours = session_begin(&tsl);

	return session_began(&tsl, ours,
		ORIGINAL(bool (*)(int, uint64_t, bool), START_FILTER_BOOL_TSL)(level, filter,
									       more));
}

bool tf_start_tf(int level)
{
	bool ours = session_begin(&tf);

	return session_began(&tf, ours, ORIGINAL(bool (*)(int), START_TF)(level));
}

bool tf_start_recording_tsl(void *recorder, int level)
{
	bool ours = session_begin(&tsl);

	return session_began(&tsl, ours,
		ORIGINAL(bool (*)(void *, int), START_RECORDING_TSL)(recorder, level));
}

bool tf_start_recording_tf(void *recorder, int level)
{
	bool ours = session_begin(&tf);

	return session_began(&tf, ours,
		ORIGINAL(bool (*)(void *, int), START_RECORDING_TF)(recorder, level));
}

struct tf_events tf_stop_tsl(void)
{
	struct tf_events e = ORIGINAL(struct tf_events (*)(void), STOP_TSL)();

	session_ended(&tsl);
	return e;
}

struct tf_events tf_stop_tf(void)
{
	struct tf_events e = ORIGINAL(struct tf_events (*)(void), STOP_TF)();

	session_ended(&tf);
	return e;
}

struct tf_events tf_stop_recording_tsl(void *recorder)
{
	struct tf_events e = ORIGINAL(struct tf_events (*)(void *), STOP_RECORDING_TSL)(recorder);

	session_ended(&tsl);
	return e;
}

struct tf_events tf_stop_recording_tf(void *recorder)
{
	struct tf_events e = ORIGINAL(struct tf_events (*)(void *), STOP_RECORDING_TF)(recorder);

	session_ended(&tf);
	return e;
}
