/* SPDX-License-Identifier: MIT */
/*
 * Attaching to a program that is already running OpenCL. Vendors are found by their libraries, not
 * through a loader: the process may have several copies of the loader, under any name or inside of
 * another library, and a call would initialise a loader that was not used yet. Only the vendors'
 * tables are patched; calls through them are seen from then on. Vendors that are loaded later are
 * looked for whenever new libraries appear.
 */
#include <string.h>

#include "probes/opencl/probe.h"

static struct rt_modules_watch modules;
static atomic_bool attached;

struct opencl_look {
	bool patch;		/* false: only counts */
	unsigned platforms;
};

/* Whether it is the library of a vendor, which has the functions that a loader looks for
 * (cl_khr_icd). Loaders have the same function, but calling it would initialise them. */
static bool is_vendor(void *handle, const char *path)
{
	const char *name = strrchr(path, '/');

	return *path && !strstr(name ? name : path, "libOpenCL") &&
	       !rt_module_symbol(handle, "clGetICDLoaderInfoOCLICD") &&
	       rt_module_symbol(handle, "clGetExtensionFunctionAddress");
}

static void watch_vendor(void *handle, const char *path, void *arg)
{
	union {
		void *object;
		cl_api_clGetExtensionFunctionAddress find;
		cl_api_clGetPlatformIDs platforms;
	} function;
	cl_platform_id all[PLATFORM_MAX];
	cl_uint found = 0;
	struct opencl_look *look = arg;

	if (!is_vendor(handle, path))
		return;
	function.object = rt_module_symbol(handle, "clGetExtensionFunctionAddress");
	function.object = function.find("clIcdGetPlatformIDsKHR");
	if (!function.object || function.platforms(PLATFORM_MAX, all, &found) != CL_SUCCESS)
		return;
	look->platforms += found;
	for (cl_uint i = 0; look->patch && i < found && i < PLATFORM_MAX; i++)
		vendor_add(all[i]);
}

void late_tick(int64_t now_ns)
{
	struct opencl_look look = { .patch = true };

	if (atomic_load(&attached) && rt_modules_came(&modules, now_ns))
		rt_modules(watch_vendor, &look);
}

static int opencl_attach(void)
{
	struct opencl_look look = { .patch = false };

	rt_attach_why("%s", "");
	rt_modules_seen(&modules);
	rt_modules(watch_vendor, &look);
	if (!look.platforms) {
		rt_attach_why("no vendor's OpenCL is in use here");
		return TFT_ATTACH_UNUSED;
	}
	if (!rt_probe_attach(&opencl_probe))
		return TFT_ATTACH_FAILED;
	if (!atomic_exchange(&attached, true)) {
		layer_begin();
		rt_blind(&opencl_probe,
			 "attached late: what the program had before is unknown, such as its "
			 "memory, extension functions, and device times of queues");
	}
	look.patch = true;
	rt_modules(watch_vendor, &look);
	vendors_apply(rt_level());
	if (vendors_watched())
		return TFT_ATTACHED;
	rt_attach_why("no dispatch table of OpenCL's vendors can be written");
	return TFT_ATTACH_FAILED;
}

int tftop_probe_attach(void)
{
	return opencl_attach();
}
