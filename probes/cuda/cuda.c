/* SPDX-License-Identifier: MIT */
/*
 * How the probe gets into the program. The driver's cuInit loads the library that
 * CUDA_INJECTION64_PATH names and calls InitializeInjection, before anything else of CUDA runs. In
 * a running program, tftop_probe_attach does the same. If anything fails, the program continues
 * as without tftop, and one message says what failed and what helps.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/cuda/beside.h"
#include "probes/cuda/probe.h"
#include "probes/schema/attach.h"

#define EXPORT __attribute__((visibility("default")))
#define PATH_ENV "CUDA_INJECTION64_PATH"
#define CHAIN_ENV "TFTOP_CHAIN_" PATH_ENV

const struct cupti_library *cupti;
atomic_bool cuda_dead = true;		/* until everything is in place */
static atomic_flag begun = ATOMIC_FLAG_INIT;
static atomic_bool said[SAID_COUNT];
static atomic_bool found;		/* cupti is set; false in the child of a fork */

static void tell(uint8_t level, const char *format, va_list args)
{
	char text[600];
	int n = snprintf(text, sizeof(text), "cuda: ");

	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	rt_emit_message(level, text);
}

void cuda_say(enum cuda_said what, uint8_t level, const char *format, ...)
{
	va_list args;

	if (atomic_load_explicit(&said[what], memory_order_relaxed) ||
	    atomic_exchange(&said[what], true))
		return;
	va_start(args, format);
	tell(level, format, args);
	va_end(args);
}

void cuda_tell(uint8_t level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(level, format, args);
	va_end(args);
}

int cuda_asked(int result, enum cuda_said what, uint8_t level, const char *missing)
{
	if (unlikely(result) && !atomic_load_explicit(&said[what], memory_order_relaxed))
		cuda_say(what, level, "%s: %s (%d)", missing, cupti_text(result), result);
	return result;
}

static int64_t on_pending(void)
{
	return overdue_pending_ns();
}

static void introduce(void);

static void on_dump(void)
{
	if (!atomic_load(&found))
		return;
	introduce();
	collect_dump();
	objects_dump();
	emit_dump();
	nvml_dump();
}

/* Only the flusher calls CUPTI. With a trigger the program waits until it has done so. */
static void on_level(enum tft_level old_level, enum tft_level new_level)
{
	(void)old_level;
	(void)new_level;
	if (rt_trigger() == TFT_TRIGGER_NONE)
		collect_wake();
	else
		collect_apply();
}

/* CUDA does not survive a fork: a child's calls of it fail, and nothing runs. */
static void on_fork_child(void)
{
	atomic_store(&cuda_dead, true);
	atomic_store(&found, false);
	collect_fork_child();
}

static void on_fini(void)
{
	nvml_end();
	collect_end();
}

static struct rt_probe cuda_probe = {
	.name = "cuda",
	.version = TFTOP_VERSION,
	.blind = "kernels that a kernel launches, and what ran before the probe was there",
	.pending_ns = on_pending,
	.dump = on_dump,
	.level = on_level,
	.fork_child = on_fork_child,
	.leave = collect_leave,
	.fini = on_fini,
};

/* Sends one sentence, which also becomes part of what the probe says about itself. */
__attribute__((format(printf, 1, 2)))
static void blind(const char *format, ...)
{
	char text[500];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rt_blind(&cuda_probe, text);
}

/* Reports what is in use, as settings of the program. */
static void introduce(void)
{
	char text[700];

	snprintf(text, sizeof(text), "%s, %s%s", cupti->version_text, cupti->path,
		 cupti->several ? ", beside other clients" : "");
	rt_emit_info("cuda", "libcupti", text);
	if (*cupti_missing(cupti))
		rt_emit_info("cuda", "libcupti has no", cupti_missing(cupti));
}

static void complaints(void)
{
	if (*cupti->note)
		cuda_tell(1, "%s", cupti->note);
	if (cupti_slows_down(cupti))
		cuda_tell(0,
			  "libcupti %s is known to become slower in long runs; that of CUDA 13.4 "
			  "update 1 does not", cupti->version_text);
}

/* Reads the environment now, because the program may change it later. */
static void cuda_read_environment(void)
{
	char value[PATH_MAX];
	const char *graphs = rt_env("TFTOP_CUDA_GRAPHS", value, sizeof(value));
	bool whole = graphs && !strcmp(graphs, "whole");
	bool number = graphs && *graphs && strspn(graphs, "0123456789") == strlen(graphs) &&
		strlen(graphs) < 9;

	if (graphs && !strcmp(graphs, "nodes"))
		graphs_nodes_s = UINT_MAX;
	else if (number)
		graphs_nodes_s = (unsigned)strtoul(graphs, NULL, 10);
	else if (graphs && *graphs && !whole)
		cuda_tell(1,
			  "TFTOP_CUDA_GRAPHS='%s' is ignored: it must be 'nodes', 'whole' or a "
			  "number "
			  "of nodes per second", graphs);
	atomic_store(&graphs_whole, whole);
	nvml_wish();
}

/* Finds libcupti, once, and looks who else calls it. */
static bool cuda_find(char *why, size_t size)
{
	if (cupti)
		return true;
	cupti = cupti_find(why, size);
	if (cupti)
		beside_start(cupti_handle());
	return cupti;
}

/* Whether tftop has CUPTI now; if another client has it, it is taken later. */
static bool cuda_take(char *why, size_t size, bool *has)
{
	int r = beside_free() ? enable_start(rt_level(), why, size) : CUPTI_BUSY;

	*has = !r;
	if (r == CUPTI_BUSY && beside_free())
		beside_unseen();
	return !r || r == CUPTI_BUSY;
}

static void cuda_begin(void)
{
	char why[400] = "";
	bool has;

	if (!rt_probe_register(&cuda_probe))
		return;		/* there is no tftop */
	if (!cuda_find(why, sizeof(why))) {
		blind("nothing of the device is seen, ops and NVTX ranges are: %s", why);
		return;
	}
	atomic_store(&found, true);
	calls_start();
	if (!buffers_start()) {
		blind("nothing of the device is seen: no memory for records");
		return;
	}
	cuda_read_environment();
	atomic_store(&cuda_dead, false);
	if (!cuda_take(why, sizeof(why), &has)) {
		atomic_store(&cuda_dead, true);
		blind("%s", why);
		return;
	}
	if (*why)
		blind("%s", why);
	else if (!has)
		collect_say_taken();
	introduce();
	complaints();
	if (!collect_run(has)) {
		atomic_store(&cuda_dead, true);
		blind("no thread could be created: nothing of the device is seen");
	}
}

/* Loads the user's tool first, so that it has what it would have without tftop. */
static int users_library(void)
{
	const char *path = getenv(CHAIN_ENV);
	void *h = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	union {
		void *object;
		int (*function)(void);
	} init = { h ? dlsym(h, "InitializeInjection") : NULL };
	char why[400];

	/* where it has brought a libcupti, what it does with that is seen */
	if (init.object && cupti_is_mapped() && rt_probe_register(&cuda_probe))
		cuda_find(why, sizeof(why));

	if (path && *path && !init.object && rt_probe_register(&cuda_probe))
		cuda_tell(1,
			  "the library of " PATH_ENV " before tftop's, '%s', could not be used: %s",
			  path, h ? "it has no InitializeInjection" : dlerror());
	return init.object ? init.function() : 1;
}

EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
	int saved = errno, result;

	if (atomic_flag_test_and_set(&begun))
		return 1;
	result = users_library();
	cuda_begin();
	errno = saved;
	return result;
}

/* A client of CUPTI that comes while XLA launches graphs: XLA's own profiler avoids that, too. */
static int cuda_stay_out(void)
{
	cuda_tell(1, TFT_XLA_LATE_WHY ", and beginning to use CUPTI while XLA launches CUDA "
		  "graphs may be the cause: nothing of the device is seen; start the program "
		  "with tftop");
	rt_attach_why(TFT_XLA_LATE_WHY "; start the program with 'tftop -- PROGRAM'");
	return TFT_ATTACH_FAILED;
}

static int cuda_attach(void)
{
	int saved = errno;

	rt_attach_why("%s", "");
	if (!cupti_driver_runs()) {
		rt_attach_why("CUDA is not in use yet, and will start with '" PATH_ENV "'");
		return TFT_ATTACH_UNUSED;
	}
	if (!rt_probe_attach(&cuda_probe))
		return TFT_ATTACH_FAILED;
	if (cuda_dead && rt_late_xla("cuda"))
		return cuda_stay_out();
	if (!atomic_flag_test_and_set(&begun))
		cuda_begin();
	errno = saved;
	if (cupti && !atomic_load(&cuda_dead)) {
		if (!collect_has())
			rt_attach_why("the program's own profiler has the device");
		return TFT_ATTACHED;
	}
	rt_attach_why("nothing of CUDA is seen; a message says why");
	return TFT_ATTACH_FAILED;
}

int tftop_probe_attach(void)
{
	return cuda_attach();
}
