/* SPDX-License-Identifier: MIT */
/*
 * XLA's trace events: sets the level at which XLA records them, keeps the program's own profiler
 * working, and distributes the events.
 *
 * XLA's recorder keeps every event until it is stopped, so it gets only those of the program's own
 * session. Such a session can begin only while no level is set. So the two functions that start
 * and stop it are replaced by functions that do the same and respect our level.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"

struct events {			/* a std::vector that is only passed on */
	void *part[3];
};

static _Atomic int *trace_level;
static _Atomic uint64_t *filter;
static _Atomic uint8_t *locations;	/* whether events contain their place in XLA */
static void (*record_original)(struct traceme_event *e);
static void (*clear)(void);
static struct events *(*consume)(struct events *events);
_Atomic int jax_session_level = JAX_NO_SESSION;
static _Atomic int64_t real_to_mono_ns;
static _Atomic bool begun;

/* ---- consumers of events ---- */

static void nobody(const struct traceme *t)
{
	(void)t;
}

static void part(const struct traceme *t)
{
	struct rt_op_args args = { .step = -1, .framework = TFT_FW_JAX };
	struct rt_ran ran = { .start_ns = t->start_ns, .dur_ns = t->end_ns - t->start_ns };

	if (rt_level() < TFT_LEVEL_FULL || !rt_op_current().instance)
		return;
	args.name = jax_name(TFT_NAME_OP, t->name, t->name_length);
	rt_op_ran(&args, &ran);
}

static const struct jax_consumer {
	const char *begin;
	void (*take)(const struct traceme *t);
} consumers[] = {
	{ "PjitFunction(", jax_call_named },
	{ "end: ", jax_thunk_done },
	{ "ThunkExecutor::Execute (wait", jax_run_done },
	{ "ThunkExecutor::Execute", jax_executed },
	{ "trace_to_jaxpr", jax_call_traced },
	{ "backend_compile", jax_call_compiled },
	{ "H2D Dispatch", jax_copy_done },
	{ "CpuCompiler::RunBackend", jax_built },
	{ "GpuCompiler::RunBackend", jax_built },
	{ "CommonPjRtBuffer::Await", jax_awaited },
	{ "np.asarray(jax.Array)", jax_awaited },
	/* successive parts of a call */
	{ "ParseArguments", part },
	{ "shard_args", part },
	{ "CommonPjRtLoadedExecutable::ExecutePrepare", part },
	{ "CommonPjRtClient::CreateOutputs", part },
	{ "CommonPjRt", nobody },
	{ "AllocateOutputBuffers", nobody },
	{ "Handle inp", nobody },
	{ "Wait for ", nobody },
	{ "PythonRefManager::", nobody },
	{ "TaskDispatcher::", nobody },
	{ "ThreadpoolListener::", nobody },
	{ "PjRtCpuClient::", nobody },
	{ "ExecuteReplicated", nobody },
	{ "BatchedCopyToDevice", nobody },
	{ "DevicePut", nobody },
	{ "batched_copy_array", nobody },
	{ "lower_sharding_computation", nobody },
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

/* A kernel has the name that the user's program gave it, which may be "end: ". */
static bool is_thunk(const struct traceme *t)
{
	return t->values_length > 7 && !memcmp(t->values, "hlo_op=", 7);
}

static void jax_record_take(const struct traceme_event *e)
{
	struct traceme t;

	/* only one end, or not a text */
	if (e->length < 2 || e->start_ns <= 0 || e->end_ns < e->start_ns)
		return;
	traceme_split(&t, e, atomic_load_explicit(&real_to_mono_ns, memory_order_relaxed));
	if (is_thunk(&t)) {
		jax_thunk(&t);
		return;
	}
	for (uint8_t row = first[(unsigned char)e->name[0]]; row; row = next[row - 1]) {
		const struct jax_consumer *c = &consumers[row - 1];
		size_t length = strlen(c->begin);

		if (length <= e->length && !memcmp(e->name, c->begin, length)) {
			c->take(&t);
			return;
		}
	}
	jax_pass(&t);
}

static bool is_begun(void)
{
	return atomic_load_explicit(&begun, memory_order_acquire);
}

/*
 * tftop replaces this code piece by piece, and restores it in the reverse order. If it is killed in
 * between, record() alone, or it and jax_session_stop(), are called instead of XLA's functions.
 * That can only be so while nothing but the program's own session records; then both do what XLA's
 * do.
 */
static bool may_be_partial(void)
{
	return !is_begun() || rt_level() == TFT_LEVEL_OFF;
}

static void record(struct traceme_event *e)
{
	int saved = errno;

	if (rt_level() != TFT_LEVEL_OFF)
		jax_record_take(e);
	errno = saved;
	if ((jax_session() || may_be_partial()) && record_original)
		record_original(e);
}

/* ---- levels ---- */

static int wanted_level(enum tft_level level)
{
	static const int of[] = {
		[TFT_LEVEL_OFF] = JAX_LEVEL_NONE, [TFT_LEVEL_MIN] = 1, [TFT_LEVEL_DEFAULT] = 2,
		[TFT_LEVEL_FULL] = 3,
	};

	return level <= TFT_LEVEL_FULL ? of[level] : JAX_LEVEL_NONE;
}

static void set_level(enum tft_level level)
{
	int want = wanted_level(level), theirs = atomic_load(&jax_session_level);

	if (locations && theirs == JAX_NO_SESSION)
		atomic_store(locations, level == TFT_LEVEL_OFF);
	atomic_store(trace_level, want > theirs ? want : theirs);
}

void jax_record_level(enum tft_level level)
{
	if (is_begun())
		set_level(level);
}

static void take_time(void)
{
	int64_t before = rt_now_ns(), real = rt_clock_ns(CLOCK_REALTIME), after = rt_now_ns();

	atomic_store_explicit(&real_to_mono_ns, before + (after - before) / 2 - real,
			      memory_order_relaxed);
}

void jax_record_tick(void)
{
	take_time();
}

/* ---- the program's own profiler: TraceMeRecorder::Start and Stop ---- */

static bool jax_session_start(int level, uint64_t wanted, bool with_locations)
{
	int none = JAX_NO_SESSION;

	if (level < 0)
		level = 0;
	if (!atomic_compare_exchange_strong(&jax_session_level, &none, level))
		return false;
	if (filter)
		atomic_store(filter, wanted);
	if (locations)
		atomic_store(locations, with_locations);
	clear();
	set_level(is_begun() ? rt_level() : TFT_LEVEL_OFF);
	return true;
}

static struct events *jax_session_stop(struct events *events)
{
	bool ours, theirs;

	memset(events, 0, sizeof(*events));
	ours = atomic_exchange(&jax_session_level, JAX_NO_SESSION) != JAX_NO_SESSION;
	theirs = !ours && may_be_partial() &&
		 atomic_exchange(trace_level, JAX_LEVEL_NONE) != JAX_LEVEL_NONE;
	if (!ours && !theirs)
		return events;
	if (filter)
		atomic_store(filter, UINT64_MAX);
	if (ours)
		set_level(is_begun() ? rt_level() : TFT_LEVEL_OFF);
	return consume(events);
}

/* In this order: see may_be_partial(). */
static bool take_session(const struct patch_symbol *s)
{
	if (!record_original || !s[JAX_CLEAR].at || !s[JAX_CONSUME].at || !s[JAX_START].at ||
	    !s[JAX_STOP].at)
		return false;
	*(void **)&clear = s[JAX_CLEAR].at;
	*(void **)&consume = s[JAX_CONSUME].at;
	return patch_replace(&s[JAX_RECORD], (void *)record) &&
	       patch_replace(&s[JAX_STOP], (void *)jax_session_stop) &&
	       patch_replace(&s[JAX_START], (void *)jax_session_start);
}

bool jax_record_start(const struct patch_symbol *s)
{
	if (!s[JAX_RECORD].at || !s[JAX_LEVEL].at || s[JAX_LEVEL].size != sizeof(int)) {
		jax_blind("XLA's trace events have no symbols in this wheel: no kernels, runs, "
			  "compilations and waits");
		return false;
	}
	trace_level = s[JAX_LEVEL].at;
	filter = s[JAX_FILTER].at;
	locations = s[JAX_LOCATIONS].at;
	if (atomic_load(trace_level) != JAX_LEVEL_NONE) {
		jax_blind("the program's own profiler was on before the probe was loaded: no "
			  "kernels");
		return false;
	}
	index_consumers();
	take_time();
	*(void **)&record_original = patch_original(&s[JAX_RECORD]);
	if (!take_session(s)) {
		jax_blind("XLA's trace events cannot be taken, or the program's own profiler could "
			  "not run beside this probe: no kernels");
		return false;
	}
	return true;
}

void jax_record_begin(void)
{
	atomic_store_explicit(&begun, true, memory_order_release);
	jax_record_level(rt_level());
}
