/* SPDX-License-Identifier: MIT */
/*
 * The OpenMP probe. libtftop-start.so loads it when the process has a library that starts parallel
 * regions.
 */
#include <stdatomic.h>

#include "probes/omp/probe.h"
#include "probes/omp/symbols.h"
#include "probes/runtime/runtime.h"

static void (*look)(void);
static atomic_bool other;

static void *take(const struct tft_import *import)
{
	if (omp_is_other(import->name)) {
		atomic_store(&other, true);
		return NULL;
	}
	return omp_region(import);
}

static void on_tick(int64_t now_ns)
{
	static bool said;

	(void)now_ns;
	look();
	if (atomic_load(&other) && !said) {
		said = true;
		rt_emit_message(1,
				"omp: parallel regions of LLVM's or Intel's OpenMP are not seen, "
				   "only those of GNU's");
	}
}

static struct rt_probe probe = {
	.name = "omp",
	.version = TFTOP_VERSION,
	.blind = "parallel regions of LLVM's and Intel's OpenMP, and what ran on one thread "
		 "without a region",
	.tick = on_tick,
};

__attribute__((visibility("default"))) tft_imports_start tft_omp_start;
tft_import_take *tft_omp_start(void (*look_anew)(void))
{
	look = look_anew;
	return rt_probe_register(&probe) ? take : NULL;
}
