/* SPDX-License-Identifier: MIT */
/*
 * The TensorFlow probe. libtftop-start.so loads it at the first call which shows that TensorFlow is
 * in use (see symbols.h). This file has the table of hooks, the probe's reaction to levels, and
 * what it says about itself.
 */
#include <errno.h>
#include <string.h>

#include "probes/python/python.h"
#include "probes/runtime/slots.h"
#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/memory.h"
#include "probes/tensorflow/probe.h"
#include "probes/tensorflow/traceme.h"

const struct tft_interposed *tf_lib;
void *tf_originals[TFT_TF_COUNT];

static const struct tf_hook {
	enum tft_tf_function function;
	void *ours;
	bool keep;	/* needed also at level off, because it tracks the program's own profiler */
} hooks[] = {
	{ TFT_TF_CPU_COMPUTE, (void *)tf_cpu_compute, false },
	{ TFT_TF_GPU_COMPUTE, (void *)tf_gpu_compute, false },
	{ TFT_TF_CPU_COMPUTE_ASYNC, (void *)tf_cpu_compute_async, false },
	{ TFT_TF_GPU_COMPUTE_ASYNC, (void *)tf_gpu_compute_async, false },
	{ TFT_TF_KERNEL_GONE, (void *)tf_kernel_gone, true },
	{ TFT_TF_EXECUTE, (void *)tf_execute, false },
	{ TFT_TF_SESSION_RUN, (void *)tf_session_run, false },
	{ TFT_TF_ONEDNN_VERBOSE, (void *)tf_onednn_verbose, true },
	{ TFT_TF_NEW_CONTEXT, (void *)tf_new_context, false },
	{ TFT_TF_ADD_FUNCTION, (void *)tf_add_function, false },
	{ TFT_TF_ADD_FUNCTION_DEF, (void *)tf_add_function_def, false },
	{ TFT_TF_NEW_GRAPH, (void *)tf_new_graph, true },
	{ TFT_TF_NEW_OPERATION, (void *)tf_new_operation, false },
	{ TFT_TF_DELETE_STATUS, (void *)tf_delete_status, false },
	{ TFT_TF_GRAPH_TO_FUNCTION, (void *)tf_graph_to_function, false },
	{ TFT_TF_NEW_SESSION, (void *)tf_new_session, true },
	{ TFT_TF_ENABLE_GRAPHS, (void *)tf_enable_graphs, true },
	{ TFT_TF_DISABLE_GRAPHS, (void *)tf_disable_graphs, true },
	{ TFT_TF_ENABLE_METADATA, (void *)tf_enable_metadata, true },
	{ TFT_TF_DISABLE_METADATA, (void *)tf_disable_metadata, true },
	{ TFT_TF_OPTIONS_SET_CONFIG, (void *)tf_options_set_config, false },
	{ TFT_TF_SET_CONFIG, (void *)tf_set_config, true },
	{ TFT_TF_MALLOC_TSL, (void *)tf_malloc_tsl, false },
	{ TFT_TF_MALLOC_INT_TSL, (void *)tf_malloc_int_tsl, false },
	{ TFT_TF_MALLOC_TF, (void *)tf_malloc_tf, false },
	{ TFT_TF_FREE_TSL, (void *)tf_free_tsl, false },
	{ TFT_TF_FREE_TF, (void *)tf_free_tf, false },
	{ TFT_TF_FREE_SIZED_TSL, (void *)tf_free_sized_tsl, false },
	{ TFT_TF_FREE_SIZED_INT_TSL, (void *)tf_free_sized_int_tsl, false },
	{ TFT_TF_FREE_SIZED_LONG_TSL, (void *)tf_free_sized_long_tsl, false },
#if defined(__x86_64__)	/* elsewhere its result is passed in a register that C cannot name */
	{ TFT_TF_BFC_ALLOCATE, (void *)tf_bfc_allocate, false },
	{ TFT_TF_BFC_FREE, (void *)tf_bfc_free, false },
	{ TFT_TF_BFC_GONE_0, (void *)tf_bfc_gone_0, true },
	{ TFT_TF_BFC_GONE_1, (void *)tf_bfc_gone_1, true },
	{ TFT_TF_BFC_GONE_2, (void *)tf_bfc_gone_2, true },
	{ TFT_TF_BFC_REGION, (void *)tf_bfc_region, false },
	{ TFT_TF_BFC_REGION_JOINED, (void *)tf_bfc_region_joined, false },
	{ TFT_TF_PREPARE_RUN, (void *)tf_prepare_run, false },
	{ TFT_TF_TRACE_STRING, (void *)tf_trace_string, false },
	{ TFT_TF_GET_NEXT, (void *)tf_get_next, false },
	{ TFT_TF_POOLS_START, (void *)tf_pools_profiler_start, true },
	{ TFT_TF_POOLS_STOP, (void *)tf_pools_profiler_stop, true },
	{ TFT_TF_EAGER_RESET, (void *)tf_eager_reset, false },
#endif
#ifdef __x86_64__	/* see flow.c */
	{ TFT_TF_SEND, (void *)tf_send, false },
	{ TFT_TF_ENCODE, (void *)tf_encode, false },
	{ TFT_TF_PARSE, (void *)tf_parse, false },
	{ TFT_TF_RECV, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_TSL, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_2023, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_2023_2, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_2024, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_2024_2, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_2025, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_2025_2, (void *)tf_recv_async, false },
	{ TFT_TF_RECV_2025_3, (void *)tf_recv_async, false },
#endif
	{ TFT_TF_RECORD_TSL, (void *)tf_record_tsl, true },
	{ TFT_TF_RECORD_TF, (void *)tf_record_tf, true },
	{ TFT_TF_START_TSL, (void *)tf_start_tsl, true },
	{ TFT_TF_START_FILTER_TSL, (void *)tf_start_filter_tsl, true },
	{ TFT_TF_START_FILTER_BOOL_TSL, (void *)tf_start_filter_bool_tsl, true },
	{ TFT_TF_START_TF, (void *)tf_start_tf, true },
	{ TFT_TF_STOP_TSL, (void *)tf_stop_tsl, true },
	{ TFT_TF_STOP_TF, (void *)tf_stop_tf, true },
	{ TFT_TF_START_RECORDING_TSL, (void *)tf_start_recording_tsl, true },
	{ TFT_TF_START_RECORDING_TF, (void *)tf_start_recording_tf, true },
	{ TFT_TF_STOP_RECORDING_TSL, (void *)tf_stop_recording_tsl, true },
	{ TFT_TF_STOP_RECORDING_TF, (void *)tf_stop_recording_tf, true },
};

static void fork_child(void)
{
	tf_device_fork_child();
	tf_ids_fork_child();
	tf_runs_fork_child();
	tf_bfc_fork_child();
	tf_stages_fork_child();
	tf_gate_fork_child();
	tf_pools_fork_child();
	tf_graph_fork_child();
}

static void on_tick(int64_t now_ns)
{
	tf_trace_tick();
	tf_gate_tick(now_ns);
	tf_kernels_tick(now_ns, rt_level());
	tf_flow_tick();
	tf_stages_tell(false);
	tf_pools_tell(false);
	tf_graph_tick(now_ns);
}

static void on_level(enum tft_level old_level, enum tft_level new_level)
{
	tf_bfc_level(old_level, new_level);
	tf_trace_level(new_level);
	tf_gate_level(new_level);
	tf_pools_level(new_level);
	tf_kernels_tick(rt_now_ns(), new_level);
	if (new_level == TFT_LEVEL_OFF) {
		tf_stages_tell(true);
		tf_pools_tell(true);
	}
}

static void on_fini(void)
{
	tf_stages_tell(true);
	tf_pools_tell(true);
	tf_graph_fini();
}

static void on_dump(void)
{
	tf_bfc_dump();
	tf_stages_dump();
	tf_graph_dump();
}

static struct rt_probe probe = {
	.name = "tensorflow",
	.version = TFTOP_VERSION,
	.blind = "",
	.tick = on_tick,
	.level = on_level,
	.dump = on_dump,
	.fork_child = fork_child,
	.fini = on_fini,
};

/* ---- what cannot be seen ---- */

void tf_blind(const char *text)
{
	rt_blind(&probe, text);
}

/* ---- replacing functions ---- */

static const struct tf_hook *hook_of(enum tft_tf_function function)
{
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		if (hooks[i].function == function)
			return &hooks[i];
	return NULL;
}

static void tf_found(int function)
{
	const struct tf_hook *h = hook_of((enum tft_tf_function)function);
	void *original = h ? tf_lib->original(function) : NULL;
	struct rt_slot slot;

	if (!original)
		return;
	__atomic_store_n(&tf_originals[function], original, __ATOMIC_RELEASE);
	slot = (struct rt_slot){
		.at = &tf_lib->slot[function], .ours = h->ours, .off = h->keep ? h->ours : original,
	};
	rt_slots_add(&slot, 1);
}

__attribute__((visibility("default"))) tft_framework_start tft_tensorflow_start;
tft_found *tft_tensorflow_start(const struct tft_interposed *lib)
{
	tf_lib = lib;
	tf_trace_start();
	tf_gate_start();
	if (!(lib->late ? rt_probe_register_late : rt_probe_register)(&probe))
		return NULL;
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		tf_found(hooks[i].function);
	if (lib->late)
		tf_blind("graphs that were made before tftop attached are unknown: no inputs, "
			 "outputs and source lines of their ops");
	tf_kernels_start();
	tf_pools_start();
	/* last, because our hooks receive what is recorded */
	tf_trace_level(rt_level());
	tf_gate_level(rt_level());
	tf_gate_poll();
	return tf_found;
}
