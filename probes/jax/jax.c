/* SPDX-License-Identifier: MIT */
/*
 * The JAX probe. libtftop-start.so loads it when Python creates jaxlib's module (see symbols.h).
 * This file has the functions it looks for, its reaction to levels, and what it says about itself.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/jax/probe.h"
#include "probes/runtime/slots.h"

#define RECORDER "_ZN3tsl8profiler15TraceMeRecorder"
#define TRACE "_ZN3tsl8profiler"
#define CPU "3xla3cpu"
#define LOCAL "12_GLOBAL__N_1"
#define PARAMS "RKNS0_5Thunk13ExecuteParamsE"
#define TRACED_EXECUTE "ThunkExecutor13TracedExecuteER"

static const struct tft_interposed *jax_lib;
_Thread_local void *jax_thread_own;

struct jax_thread *jax_self_new(void)
{
	struct rt_quick *clock = rt_quick_own();
	struct jax_thread *t = clock ? rt_room(&jax_thread_own, sizeof(*t)) : NULL;

	if (t)
		t->clock = clock;
	return t;
}

static struct patch_symbol symbols[JAX_SYMBOLS] = {
	[JAX_RECORD] = { .name = RECORDER "6RecordEONS1_5EventE" },
	[JAX_START] = { .name = RECORDER "5StartEimb", .idle = true },
	[JAX_STOP] = { .name = RECORDER "4StopEv", .idle = true },
	[JAX_CLEAR] = { .name = RECORDER "5ClearEv" },
	[JAX_CONSUME] = { .name = RECORDER "7ConsumeEv" },
	[JAX_LEVEL] = { .name = TRACE "8internal13g_trace_levelE", .data = true },
	[JAX_FILTER] = { .name = TRACE "8internal21g_trace_filter_bitmapE", .data = true },
	[JAX_LOCATIONS] = { .name = TRACE "24g_enable_source_locationE", .data = true },
	[JAX_VECTORCALL] = { .name = "PjitFunction_tp_vectorcall" },
	[JAX_DEALLOC] = { .name = "PjitFunction_tp_dealloc" },
	[JAX_NEXT_ID] = { .name = "_ZN3jax18PyLoadedExecutable15GetNextLaunchIdEv" },
	[JAX_LINEARIZE] = { .name = "_ZN3xla13PjRtCpuClient23LinearizeHostBufferIntoEPKvNS_13"
		"PrimitiveTypeEN4absl12lts_202601074SpanIKlEESt8optionalIS8_ENS_10PjRtClient19"
		"HostBufferSemanticsENS5_12AnyInvocableIFvvOEEERKNS_5ShapeEN3tsl11RCReference"
		"INS_19CommonPjRtRawBufferEEE" },
	/* the same since 0.12 */
	[JAX_LINEARIZE_0_12] = { .name = "_ZN3xla16CommonPjRtClient23LinearizeHostBufferIntoEPKv"
		"NS_13PrimitiveTypeEN4absl12lts_202605264SpanIKlEESt8optionalIS8_ENS_10PjRtClient19"
		"HostBufferSemanticsENS5_12AnyInvocableIFvvOEEERKNS_5ShapeEN3tsl11RCReference"
		"INS_22PjRtRawBufferInterfaceEEE" },
	[JAX_TRACED] = {
		.name = "_ZN" CPU "13" TRACED_EXECUTE "NS0_5ThunkERKNS2_13ExecuteParamsE",
	},
	/* called when the result of a kernel is ready */
	[JAX_AND_THEN] = { .name = "_ZNK3tsl13AsyncValueRefINS_5ChainEE7AndThenIZN" CPU "13"
		TRACED_EXECUTE "NS5_5ThunkERKNS7_13ExecuteParamsEE3$_1EEvOT_" },
	[JAX_CALL_TABLE] = { .name = "_ZTVN" CPU "9CallThunkE", .data = true },
	[JAX_CALL_EXECUTE] = { .name = "_ZN" CPU "9CallThunk7ExecuteE" PARAMS },
	[JAX_WHILE_TABLE] = { .name = "_ZTVN" CPU "10WhileThunkE", .data = true },
	[JAX_SCHEDULE_COPY] = { .name = "_ZN3xla19CommonPjRtRawBuffer14ScheduleCopyToEPNS_15Async"
		"WorkRunnerENS_24PjRtDeviceEventRefVectorEN3tsl11RCReferenceIS0_EENS_25PjRtDevice"
		"EventPromiseRefES7_N4absl12lts_2026010712AnyInvocableIFvNS9_6StatusEOEEE" },
	[JAX_RAW_COPY] = {
		.name = "_ZN3xla12CpuRawBuffer33CopyRawHostToDeviceAndReturnEventEPKvll",
	},
	[JAX_SCHEDULE_0_12] = { .name = "_ZN3xla23CommonPjRtRawBufferImpl14ScheduleCopyToENS_24"
		"PjRtDeviceEventRefVectorEN3tsl11RCReferenceINS_22PjRtRawBufferInterfaceEEENS_25"
		"PjRtDeviceEventPromiseRefES6_N4absl12lts_2026052612AnyInvocableIFvNS8_6StatusEOEEE"
	},
	[JAX_RAW_COPY_0_12] = { .name = "_ZN3xla12CpuRawBuffer33CopyRawHostToDeviceAndReturnEvent"
		"EPKvllNS_24PjRtDeviceEventRefVectorE" },
	[JAX_ALLOCATE] = { .name = "_ZNK3xla" LOCAL "16AlignedAllocator8AllocateEmm" },
	[JAX_MEMORY_TABLE] = { .name = "_ZTVN3xla" LOCAL "13AlignedMemoryE", .data = true },
	[JAX_MEMORY_GONE] = { .name = "_ZN3xla" LOCAL "13AlignedMemoryD0Ev" },
	[JAX_WHILE_EXECUTE] = { .name = "_ZN" CPU "10WhileThunk7ExecuteE" PARAMS },
};

/* XLA keeps what it records until it is collected: nothing may be requested while XLA's own code is
 * in place, see jax_again(). */
static void on_level(enum tft_level old_level, enum tft_level new_level)
{
	if (patch_is_in())
		jax_record_level(new_level);
	if (new_level == TFT_LEVEL_OFF)
		jax_copies_off();
}

static _Atomic bool on_gpu;

bool jax_on_gpu(void)
{
	return atomic_load_explicit(&on_gpu, memory_order_relaxed);
}

/* What XLA does for a GPU it marks by NVTX, if NVTX had a tool when it began. */
static void look_for_gpu(void)
{
	char path[PATH_MAX];
	const char *tool;

	if (jax_on_gpu() || !patch_loaded("/" TFT_XLA_GPU))
		return;
	atomic_store(&on_gpu, true);
	tool = rt_env("NVTX_INJECTION64_PATH", path, sizeof(path));
	if (!tool || !strstr(tool, "libtftop-nvtx"))
		jax_blind("XLA's runs and instructions on a GPU are seen only by the nvtx probe, "
			  "which is not in use here");
}

static void tick(int64_t now_ns)
{
	look_for_gpu();
	jax_record_tick();
	jax_memory_tick(now_ns);
	jax_compile_tick(now_ns, false);
	py_start_look(now_ns);
}

static int64_t pending_ns(void)
{
	int64_t pending[] = {
		jax_runs_pending_ns(), jax_copies_pending_ns(), jax_between_pending_ns(),
	};
	int64_t oldest = INT64_MAX;

	for (size_t i = 0; i < sizeof(pending) / sizeof(pending[0]); i++)
		oldest = pending[i] < oldest ? pending[i] : oldest;
	return oldest;
}

static void fork_child(void)
{
	jax_runs_fork_child();
	jax_copies_fork_child();
	jax_between_fork_child();
	jax_memory_fork_child();
}

static void fini(void)
{
	look_for_gpu();
	jax_compile_tick(0, true);
}

static struct rt_probe probe = {
	.name = "jax",
	.version = TFTOP_VERSION,
	.blind = "",
	.tick = tick,
	.pending_ns = pending_ns,
	.level = on_level,
	.fork_child = fork_child,
	.fini = fini,
};

void jax_blind(const char *text)
{
	rt_blind(&probe, text);
}

uint32_t jax_name(enum tft_name_kind kind, const char *text, size_t length)
{
	char name[JAX_TEXT_BYTES];

	snprintf(name, sizeof(name), "%.*s",
		 (int)(length < sizeof(name) ? length : sizeof(name)), text);
	return rt_name(kind, name);
}

static void say_no_lines(const char *why)
{
	if (why)
		jax_blind(why);
}

/* Hooks all functions that were found; false: none was found. */
static bool jax_hook_all(void)
{
	if (patch_find("/libjax_common.so", symbols, JAX_SYMBOLS) < 0) {
		jax_blind("this wheel is stripped: nothing is seen");
		return false;
	}
	jax_waits_start();
	if (!jax_record_start(symbols))
		return false;
	if (jax_lib->late)
		py_start_soon(say_no_lines);
	else
		say_no_lines(py_start());
	jax_call_start(&symbols[JAX_VECTORCALL], &symbols[JAX_DEALLOC]);
	jax_runs_start(&symbols[JAX_NEXT_ID]);
	jax_copies_start(&symbols[symbols[JAX_LINEARIZE].at ? JAX_LINEARIZE : JAX_LINEARIZE_0_12]);
	jax_between_start(symbols);
	jax_memory_start(symbols);
	jax_thunks_start(symbols);
	return true;
}

static void say_refused(const char *why)
{
	static char text[320];

	snprintf(text, sizeof(text), "JAX was in use before tftop attached, and its code could "
				     "not be "
		 "replaced (%s): nothing of it is seen", why);
	jax_blind(text);
}

static bool gathered;	/* all functions, for tftop to replace */

/* In a running program tftop replaces the code. */
static bool hook_late(void)
{
	const char *why;

	if (!jax_lib->replace) {
		jax_blind("JAX was in use before tftop attached: nothing of it is seen");
		return false;
	}
	if (rt_late_xla("jax")) {
		jax_blind(TFT_XLA_LATE_WHY ", and replacing JAX's code may be the cause: "
			  "nothing of JAX is seen; start the program with tftop");
		return false;
	}
	patch_gather();
	if (!jax_hook_all()) {
		patch_drop();
		return false;
	}
	gathered = true;
	why = patch_gathered(jax_lib->replace, &symbols[JAX_LEVEL], JAX_LEVEL_NONE);
	if (!why) {
		jax_blind("JAX was in use before tftop attached: blocks of memory that it "
			  "allocated "
			  "before are unknown");
		return true;
	}
	say_refused(why);
	return false;
}

static void arm(bool late)
{
	static _Atomic bool armed;

	if (atomic_exchange(&armed, true))
		return;
#if !defined(__x86_64__)
	jax_blind("code cannot be replaced on this machine: nothing is seen");
	return;
#endif
	if (late ? hook_late() : jax_hook_all())
		jax_record_begin();
}

/* The library is loaded; its Python module does not exist yet. */
static void *init_module(void)
{
	void *(*original)(void);

	arm(false);
	*(void **)&original = jax_lib->original(TFT_JAX_INIT);
	if (original)
		jax_pjrt_start((const void *)original);
	return original ? original() : NULL;
}

static void found(int function)
{
	struct rt_slot slot = {
		.at = &jax_lib->slot[function], .ours = (void *)init_module,
		.off = (void *)init_module,
	};

	if (function == TFT_JAX_INIT && jax_lib->original(function))
		rt_slots_add(&slot, 1);
}

__attribute__((visibility("default"))) tft_framework_again tft_jax_again;
void tft_jax_again(void)
{
	bool was_in = patch_is_in();
	const char *why = jax_lib->replace ? patch_again(jax_lib->replace) : "tftop cannot";

	/* this tftop knows about the code now, and may restore it; the one before may have been
	 * killed before it could say that it had replaced the code */
	if (!why && gathered)
		jax_record_begin();
	else if (!was_in)
		say_refused(why);
}

__attribute__((visibility("default"))) tft_framework_start tft_jax_start;
tft_found *tft_jax_start(const struct tft_interposed *lib)
{
	jax_lib = lib;
	if (!(lib->late ? rt_probe_register_late : rt_probe_register)(&probe))
		return NULL;
	found(TFT_JAX_INIT);
	if (lib->late)
		arm(true);
	return found;
}
