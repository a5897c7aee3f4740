/* SPDX-License-Identifier: MIT */
/*
 * How the probe gets into the program. An OpenCL loader maps this library because OPENCL_LAYERS
 * names it; several copies of the loader in one process share the same globals here. The layer
 * itself wraps clGetPlatformIDs and the look-up of extension functions. The first success of
 * clGetPlatformIDs is the moment to patch the vendors' own tables (patch.c), through which every
 * copy of the loader calls. Loaders from 2026 on look for clInitLayerWithProperties and skip a
 * layer without it; older ones and ocl-icd call clInitLayer.
 *
 * A program that was running before the attach has no layer: late.c.
 */
#include <dlfcn.h>
#include <string.h>

#include "probes/opencl/probe.h"

#define LAYER_NAME "tftop"
#define LAYER_SLOT(fn) (offsetof(struct _cl_icd_dispatch, fn) / sizeof(void *))

/*
 * The copies of the loader in this process. Each may know other platforms than the others, and a
 * call for platforms does not say which copy made it, so each copy has wrappers of its own, bound
 * to it.
 */
#define LOADER_MAX 4
static struct icd_loader {
	_Atomic(const struct _cl_icd_dispatch *) target;	/* borrowed until it ends */
	struct _cl_icd_dispatch layer;
} loader_list[LOADER_MAX];
static atomic_int loaders;	/* how many have called clInitLayer and have not ended yet */
static bool exited;	/* fini was called, so nothing starts again */

/* Not in every cl_layer.h yet. */
EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *next,
						    cl_uint *n_ret, const cl_icd_dispatch **ours,
						    const cl_properties *properties);
EXPORT cl_int CL_API_CALL clDeinitLayer(void);

static void on_level(enum tft_level old_level, enum tft_level new_level)
{
	if (old_level == TFT_LEVEL_OFF)
		handles_forget();
	vendors_apply(new_level);
	if (new_level == TFT_LEVEL_OFF)
		records_harvest(NULL);
}

static void on_tick(int64_t now_ns)
{
	if (atomic_load(&probe_dead))
		return;
	late_tick(now_ns);
	clock_tick(now_ns);
	record_tick(now_ns);
}

static void on_fork_child(void)
{
	vendors_fork_child();
	record_fork_child();
	objects_fork_child();
}

static void on_fini(void)
{
	if (atomic_load(&probe_dead))
		return;
	records_harvest(NULL);
	exited = true;
	atomic_store(&probe_dead, true);
}

struct rt_probe opencl_probe = {
	.name = "opencl",
	.version = "1",
	.blind = "kernels inside a command buffer, work a device enqueues itself, and the times "
		 "of clEnqueueBarrier and clEnqueueWaitForEvents",
	.tick = on_tick,
	.pending_ns = record_pending_ns,
	.dump = objects_dump,
	.level = on_level,
	.fork_child = on_fork_child,
	.fini = on_fini,
};

static cl_int platforms_of(int loader, cl_uint n, cl_platform_id *platforms, cl_uint *n_ret)
{
	const struct _cl_icd_dispatch *target = atomic_load(&loader_list[loader].target);
	cl_platform_id all[PLATFORM_MAX];
	cl_uint found = 0;

	if (!atomic_load(&probe_dead) &&
	    target->clGetPlatformIDs(PLATFORM_MAX, all, &found) == CL_SUCCESS)
		for (cl_uint i = 0; i < found && i < PLATFORM_MAX; i++)
			vendor_add(all[i]);
	return target->clGetPlatformIDs(n, platforms, n_ret);
}

#define LOADER(i) \
static cl_int CL_API_CALL clGetPlatformIDs_##i(cl_uint n, cl_platform_id *platforms, \
					       cl_uint *n_ret) \
{ \
	return platforms_of(i, n, platforms, n_ret); \
} \
static void *CL_API_CALL clGetExtensionFunctionAddress_##i(const char *name) \
{ \
	return ext_wrap(name, atomic_load(&loader_list[i].target)-> \
				      clGetExtensionFunctionAddress(name)); \
}
LOADER(0)
LOADER(1)
LOADER(2)
LOADER(3)

static const struct {
	cl_api_clGetPlatformIDs platforms;
	cl_api_clGetExtensionFunctionAddress extension;
} wrappers[LOADER_MAX] = {
#define ROW(i) { clGetPlatformIDs_##i, clGetExtensionFunctionAddress_##i }
	ROW(0), ROW(1), ROW(2), ROW(3),
#undef ROW
};

/* The place of a loader, even if it was unloaded without notice and loaded again at the same
 * address; -1: there is no place left. */
static int loader_place(const struct _cl_icd_dispatch *next)
{
	for (int i = 0; i < LOADER_MAX; i++) {
		const struct _cl_icd_dispatch *none = NULL;

		if (atomic_compare_exchange_strong(&loader_list[i].target, &none, next) ||
		    none == next)
			return i;
	}
	return -1;
}

void layer_begin(void)
{
	if (atomic_fetch_add(&loaders, 1) || !atomic_load(&probe_dead) || exited)
		return;
	/* all previous ones have ended; what was in flight ended with its vendor */
	for (int i = 0; i < LOADER_MAX; i++)
		atomic_store(&loader_list[i].target, NULL);
	record_fork_child();
	atomic_store(&probe_dead, false);
	vendors_apply(rt_level());
}

static void loader_begin(cl_uint n, const struct _cl_icd_dispatch *next,
			 const cl_icd_dispatch **ours)
{
	int i;

	layer_begin();
	i = loader_place(next);
	if (i < 0) {
		rt_emit_message(1, "opencl: there are more copies of the loader than the probe "
				   "can watch");
		return;
	}
	loader_list[i].layer.clGetPlatformIDs = wrappers[i].platforms;
	if (n > LAYER_SLOT(clGetExtensionFunctionAddress) && next->clGetExtensionFunctionAddress)
		loader_list[i].layer.clGetExtensionFunctionAddress = wrappers[i].extension;
	*ours = &loader_list[i].layer;
}

static cl_int init_layer(cl_uint n, const cl_icd_dispatch *next, cl_uint *n_ret,
			 const cl_icd_dispatch **ours)
{
	static const struct _cl_icd_dispatch nothing;	/* an empty table lets all calls through */

	if (!next || !n_ret || !ours || !n)
		return CL_INVALID_VALUE;
	*ours = &nothing;
	*n_ret = sizeof(nothing) / sizeof(void *);
	if (*n_ret > n)
		*n_ret = n;
	if (rt_probe_register(&opencl_probe))	/* otherwise there is no tftop */
		loader_begin(n, next, ours);
	return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *next, cl_uint *n_ret,
				      const cl_icd_dispatch **ours)
{
	return init_layer(n, next, n_ret, ours);
}

EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *next,
						    cl_uint *n_ret, const cl_icd_dispatch **ours,
						    const cl_properties *properties)
{
	(void)properties;	/* no properties are defined */
	return init_layer(n, next, n_ret, ours);
}

/*
 * A loader that unloads its layers unloads the vendors next: what is complete is written, the
 * tables are restored, and OpenCL is not called afterwards. Another copy of the loader may still be
 * there.
 */
EXPORT cl_int CL_API_CALL clDeinitLayer(void)
{
	if (atomic_fetch_sub(&loaders, 1) == 1 && !atomic_load(&probe_dead)) {
		records_harvest(NULL);
		atomic_store(&probe_dead, true);
		vendors_forget();
	}
	return CL_SUCCESS;
}

static cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *bytes_ret)
{
	if (to && room < bytes)
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, value, bytes);
	if (bytes_ret)
		*bytes_ret = bytes;
	return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *to,
					 size_t *bytes_ret)
{
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	switch (what) {
	case CL_LAYER_API_VERSION:
		return answer(&version, sizeof(version), room, to, bytes_ret);
	case CL_LAYER_NAME:
		return answer(LAYER_NAME, sizeof(LAYER_NAME), room, to, bytes_ret);
	default:
		return CL_INVALID_VALUE;
	}
}
