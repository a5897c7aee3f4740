/* SPDX-License-Identifier: MIT */
/*
 * The BLAS probe. libtftop-start.so loads it when the process has a library that calls a function
 * of BLAS by name. This file registers the probe and reports which libraries call BLAS.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/blas/probe.h"
#include "probes/runtime/cpu.h"

#define CALLERS_MAX 64
#define NAME_BYTES 64

static void (*look)(void);

/* The libraries that call BLAS; protected by the loader's lock, which reports one at a time. */
static struct caller {
	char name[NAME_BYTES];
	_Atomic unsigned int places;
	unsigned int told;	/* used by the runtime's thread */
} callers[CALLERS_MAX];
static _Atomic unsigned int caller_count;

static void blas_count_caller(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	unsigned int i = 0, n = atomic_load(&caller_count);
	char key[NAME_BYTES];

	snprintf(key, sizeof(key), "%s", *name ? name : "the program");
	while (i < n && strcmp(callers[i].name, key) != 0)
		i++;
	if (i == CALLERS_MAX)
		return;
	atomic_fetch_add(&callers[i].places, 1);
	if (i == n) {
		memcpy(callers[i].name, key, sizeof(key));
		atomic_store(&caller_count, n + 1);
	}
}

static void *take(const struct tft_import *import)
{
	struct blas_name name;
	void *ours = blas_name(import->name, &name) ? blas_call(&name, import) : NULL;

	if (ours)
		blas_count_caller(import->library);
	return ours;
}

static void blas_tell_callers(bool again)
{
	char text[NAME_BYTES];

	for (unsigned int i = 0; i < atomic_load(&caller_count); i++) {
		unsigned int n = atomic_load(&callers[i].places);

		if (n == callers[i].told && !again)
			continue;
		callers[i].told = n;
		snprintf(text, sizeof(text), "calls BLAS from %u places", n);
		rt_emit_info("blas", callers[i].name, text);
	}
}

static void on_tick(int64_t now_ns)
{
	static bool said;

	(void)now_ns;
	look();
	blas_tell_callers(false);
	if (blas_full() && !said) {
		said = true;
		rt_emit_message(1, "blas: the program calls so many functions that some are not "
				   "seen");
	}
}

static void on_dump(void)
{
	blas_tell_callers(true);
}

static void on_fini(void)
{
	blas_tell_callers(false);
}

static struct rt_probe probe = {
	.name = "blas",
	.version = TFTOP_VERSION,
	.blind = "BLAS functions that a library contains and calls itself, and functions whose "
		 "address the program looks up itself",
	.tick = on_tick,
	.dump = on_dump,
	.fini = on_fini,
};

__attribute__((visibility("default"))) tft_imports_start tft_blas_start;
tft_import_take *tft_blas_start(void (*look_anew)(void))
{
	look = look_anew;
	return rt_probe_register(&probe) ? take : NULL;
}
