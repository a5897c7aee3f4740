/* SPDX-License-Identifier: MIT */
/* The connection at launch: NVTX loads this library and passes its slots. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "probes/nvtx/probe.h"

#define CHAIN_ENV "TFTOP_CHAIN_" NVTX_PATH_ENV
#define TABLE_BYTES_MAX 4096	/* a larger struct_size does not come from NVTX */

/*
 * NVTX has one tool per process. If the user has named one, that tool gets the module and the probe
 * does nothing: handles belong to one tool, and a program must not break because two tools share
 * them.
 */
static bool nvtx_load_users_tool(nvtx_get_table get_table)
{
	const char *path = getenv(CHAIN_ENV);
	static atomic_bool told;
	int (*init)(nvtx_get_table);
	void *h;

	if (!path || !*path)
		return false;
	h = dlopen(path, RTLD_LAZY);
	init = h ? (int (*)(nvtx_get_table))dlsym(h, "InitializeInjectionNvtx2") : NULL;
	if (!init || !init(get_table))
		return false;
	if (!atomic_exchange(&told, true) && rt_probe_register(&nvtx_probe))
		rt_emit_message(1, "the program's own NVTX tool is in use; "
				   "its ranges are not seen here");
	return true;
}

static int nvtx_initialize(nvtx_get_table get_table)
{
	const struct nvtx_callbacks *callbacks;
	const struct nvtx_version *version;

	if (!get_table)
		return 0;
	if (nvtx_load_users_tool(get_table))
		return 1;
	callbacks = get_table(NVTX_TABLE_CALLBACKS);
	if (!callbacks || callbacks->bytes < sizeof(*callbacks) ||
	    callbacks->bytes > TABLE_BYTES_MAX || !callbacks->table)
		return 0;
	if (!rt_probe_register(&nvtx_probe))
		return 0;
	version = get_table(NVTX_TABLE_VERSION);
	if (version && version->bytes >= sizeof(*version) &&
	    version->bytes <= TABLE_BYTES_MAX && version->set_tool_version)
		version->set_tool_version(3);
	return nvtx_take(callbacks, false) != NVTX_TOOK_NOTHING;
}

NVTX_API int InitializeInjectionNvtx2(nvtx_get_table get_table);
NVTX_API int InitializeInjectionNvtx2(nvtx_get_table get_table)
{
	int saved = errno, result = nvtx_initialize(get_table);

	errno = saved;
	return result;
}

/* The name that the shared library of NVTX 1 and 2 looks for. */
NVTX_API int InitializeInjectionNvtx(nvtx_get_table get_table);
NVTX_API int InitializeInjectionNvtx(nvtx_get_table get_table)
{
	return InitializeInjectionNvtx2(get_table);
}
