/* SPDX-License-Identifier: MIT */
/*
 * The way in. An OpenCL loader maps this library because OPENCL_LAYERS names
 * it, once per loader copy of the process, always with the same globals. The
 * layer itself wraps one function, clGetPlatformIDs: its first success is the
 * moment to patch the vendors' own tables (patch.c), which every loader copy
 * goes through. Loaders from 2026 on look for clInitLayerWithProperties and
 * skip a layer without it; older ones and ocl-icd call clInitLayer.
 *
 * A process that is attached to has no layer: tft_opencl_attach does the same
 * from any thread.
 */
#include <dlfcn.h>
#include <string.h>

#include "probes/opencl/probe.h"

#define LAYER_NAME "tftop"
#define PLATFORM_MAX 32
#define LAYER_SLOT(fn) (offsetof(struct _cl_icd_dispatch, fn) / sizeof(void *))
#define EXPORT __attribute__((visibility("default")))

/* The loader copies that called clInitLayer and have not ended yet. */
static atomic_int loaders;
static const struct _cl_icd_dispatch *target;	/* first loader's; tables dispatch by object */
static struct _cl_icd_dispatch layer;
static bool exited;	/* fini came: nothing begins again */

/* Not in every cl_layer.h yet. */
EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *next,
						    cl_uint *n_ret, const cl_icd_dispatch **ours,
						    const cl_properties *properties);
EXPORT cl_int CL_API_CALL clDeinitLayer(void);
EXPORT int tft_opencl_attach(void *loader);

static void on_level(enum tft_level old_level, enum tft_level new_level)
{
	if (old_level == TFT_LEVEL_OFF)
		kernels_forget();	/* kernels came and went unseen */
	vendors_apply(new_level);
	if (new_level == TFT_LEVEL_OFF)
		harvest(NULL);
}

static void on_tick(int64_t now_ns)
{
	if (atomic_load(&probe_dead))
		return;
	clock_tick(now_ns);
	record_tick(now_ns);
}

static void on_fork_child(void)
{
	vendors_fork_child();
	record_fork_child();
	objects_fork_child();
	shapes_fork_child();
	memory_fork_child();
}

static void on_fini(void)
{
	if (atomic_load(&probe_dead))
		return;
	harvest(NULL);
	exited = true;
	atomic_store(&probe_dead, true);
}

static const struct rt_probe probe = {
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

static cl_int layer_clGetPlatformIDs(cl_uint n, cl_platform_id *platforms, cl_uint *n_ret)
{
	cl_platform_id all[PLATFORM_MAX];
	cl_uint found = 0;

	if (!atomic_load(&probe_dead) &&
	    target->clGetPlatformIDs(PLATFORM_MAX, all, &found) == CL_SUCCESS)
		for (cl_uint i = 0; i < found && i < PLATFORM_MAX; i++)
			vendor_add(all[i]);
	return target->clGetPlatformIDs(n, platforms, n_ret);
}

static void *layer_clGetExtensionFunctionAddress(const char *name)
{
	return ext_wrap(name, target->clGetExtensionFunctionAddress(name));
}

static cl_int init_layer(cl_uint n, const cl_icd_dispatch *next, cl_uint *n_ret,
			 const cl_icd_dispatch **ours)
{
	if (!next || !n_ret || !ours || !n)
		return CL_INVALID_VALUE;
	*ours = &layer;
	*n_ret = sizeof(layer) / sizeof(void *);
	if (*n_ret > n)
		*n_ret = n;
	if (!rt_probe_register(&probe))
		return CL_SUCCESS;	/* no tftop: an empty table lets all calls through */
	if (!atomic_fetch_add(&loaders, 1)) {
		target = next;
		if (atomic_load(&probe_dead) && !exited) {
			record_fork_child();	/* what was in flight went with its vendor */
			atomic_store(&probe_dead, false);
			vendors_apply(rt_level());
		}
		layer.clGetPlatformIDs = layer_clGetPlatformIDs;
		if (n > LAYER_SLOT(clGetExtensionFunctionAddress) &&
		    next->clGetExtensionFunctionAddress)
			layer.clGetExtensionFunctionAddress = layer_clGetExtensionFunctionAddress;
	}
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
	(void)properties;	/* none are defined */
	return init_layer(n, next, n_ret, ours);
}

/*
 * A loader that unloads its layers also unloads the vendors next: what is
 * complete is written, the tables get their entries back, and no call of
 * OpenCL follows. Another loader copy may still be there.
 */
EXPORT cl_int CL_API_CALL clDeinitLayer(void)
{
	if (atomic_fetch_sub(&loaders, 1) == 1 && !atomic_load(&probe_dead)) {
		harvest(NULL);
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

/*
 * Starts watching a process that is already running OpenCL; `loader` is a
 * handle of any of its loader copies. Returns the number of tables watched,
 * -1 without tftop, -2 when the loader knows no platform.
 */
EXPORT int tft_opencl_attach(void *loader)
{
	union {
		void *object;
		cl_api_clGetPlatformIDs function;
	} get = { dlsym(loader, "clGetPlatformIDs") };
	cl_platform_id all[PLATFORM_MAX];
	cl_uint found = 0;

	if (!rt_probe_register(&probe))
		return -1;
	if (!get.object || get.function(PLATFORM_MAX, all, &found))
		return -2;
	for (cl_uint i = 0; i < found && i < PLATFORM_MAX; i++)
		vendor_add(all[i]);
	return (int)atomic_load(&vendor_count);
}
