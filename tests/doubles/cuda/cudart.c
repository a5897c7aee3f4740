/* SPDX-License-Identifier: MIT */
/*
 * A shared libcudart.so.13 over the driver's double, so that programs made by nvcc with
 * -cudart shared start on a machine without a GPU: each call is told to tools as the runtime's,
 * with the driver's call inside of it. Code of the device does not run. (A genuine runtime asks
 * whether its driver is genuine, and is not to be misled.)
 */
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/api.h"
#include "tests/doubles/cuda/entry.h"

#define KERNELS 1024
#define NESTED 8

struct size3 { unsigned int x, y, z; };
struct config {
	struct size3 grid, block;
	size_t shared;
	void *stream;
};

int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cuCtxEnablePeerAccess(void *peer, unsigned int flags);
int cuCtxGetStreamPriorityRange(int *least, int *greatest);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuMemcpy(uint64_t to, uint64_t from, size_t bytes);
int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemHostAlloc(void **address, size_t bytes, unsigned int flags);
int cuStreamSynchronize_ptsz(void *stream);

static struct {
	const void *host;
	struct sim_function *function;
} kernels[KERNELS];
static int n_kernels;
static __thread struct config configs[NESTED];
static __thread int n_configs, last, device;

static int keep(int result)
{
	if (result)
		last = result;
	return result;
}

/* The runtime starts the driver in its first call that needs it, and makes a device current. */
static int start(void)
{
	void *context;
	int result;

	if (sim_thread.current)
		return 0;
	result = cuInit(0);
	if (!result)
		result = cuDevicePrimaryCtxRetain(&context, device);
	return result ? result : cuCtxSetCurrent(context);
}
#define START() do { \
	int start_ = start(); \
	if (start_) \
		return keep(start_); \
} while (0)
#define ADDRESS(p) ((uint64_t)(uintptr_t)(p))

/* --- what nvcc's code calls ------------------------------------------------- */

SIM_API void **__cudaRegisterFatBinary(void *binary);
SIM_API void **__cudaRegisterFatBinary(void *binary)
{
	return calloc(1, 64);
}

SIM_API void __cudaRegisterFatBinaryEnd(void **handle);
SIM_API void __cudaRegisterFatBinaryEnd(void **handle)
{
}

SIM_API void __cudaUnregisterFatBinary(void **handle);
SIM_API void __cudaUnregisterFatBinary(void **handle)
{
	free(handle);
}

SIM_API char __cudaInitModule(void **handle);
SIM_API char __cudaInitModule(void **handle)
{
	return 1;
}

/* Called before main: the driver is not started yet, so only the name is kept. */
SIM_API void __cudaRegisterFunction(void **handle, const char *host, char *code, const char *name,
				    int threads, void *tid, void *bid, void *block, void *grid,
				    int *warp);
SIM_API void __cudaRegisterFunction(void **handle, const char *host, char *code, const char *name,
				    int threads, void *tid, void *bid, void *block, void *grid,
				    int *warp)
{
	if (n_kernels == KERNELS)
		return;
	kernels[n_kernels].host = host;
	kernels[n_kernels].function = calloc(1, sizeof(struct sim_function));
	*kernels[n_kernels++].function = (struct sim_function){
		.magic = SIM_MAGIC_FUNCTION, .name = strdup(name), .registers = 32 };
}

SIM_API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
			       size_t bytes, int constant, int global);
SIM_API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
			       size_t bytes, int constant, int global)
{
}

SIM_API unsigned int __cudaPushCallConfiguration(struct size3 grid, struct size3 block,
						 size_t shared, void *stream);
SIM_API unsigned int __cudaPushCallConfiguration(struct size3 grid, struct size3 block,
						 size_t shared, void *stream)
{
	if (n_configs == NESTED)
		return 1;
	configs[n_configs++] = (struct config){ grid, block, shared, stream };
	return 0;
}

SIM_API int __cudaPopCallConfiguration(struct size3 *grid, struct size3 *block, size_t *shared,
				       void *stream);
SIM_API int __cudaPopCallConfiguration(struct size3 *grid, struct size3 *block, size_t *shared,
				       void *stream)
{
	struct config *c;

	if (!n_configs)
		return 1;
	c = &configs[--n_configs];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*(void **)stream = c->stream;
	return 0;
}

/* The function of a host function, or of a handle that __cudaGetKernel returned. */
static struct sim_function *function_of(const void *what)
{
	for (int i = 0; i < n_kernels; i++)
		if (kernels[i].host == what || kernels[i].function == what)
			return kernels[i].function;
	return NULL;
}

static const char *name_of(const void *what)
{
	struct sim_function *f = function_of(what);

	return f ? f->name : NULL;
}

SIM_API int __cudaGetKernel(void **kernel, const void *host);
SIM_API int __cudaGetKernel(void **kernel, const void *host)
{
	*kernel = function_of(host);
	return *kernel ? 0 : 98;
}

static int launch(const void *what, struct size3 g, struct size3 b, void **args, size_t shared,
		  void *stream, bool own)
{
	struct sim_function *f = function_of(what);
	int result;

	START();
	if (!f)
		return keep(98);
	result = (own ? cuLaunchKernel_ptsz : cuLaunchKernel)(f, g.x, g.y, g.z, b.x, b.y, b.z,
		(unsigned int)shared, stream, args, NULL);
	return keep(result == SIM_INVALID_VALUE ? 9 : result);
}

#define LAUNCH_ARGS (const void *, f), (struct size3, grid), (struct size3, block), \
	(void **, args), (size_t, shared), (void *, stream)

RUNTIME_LAUNCH(211, cudaLaunchKernel, name_of(f), LAUNCH_ARGS)
{
	return launch(f, grid, block, args, shared, stream, false);
}

RUNTIME_LAUNCH(214, cudaLaunchKernel_ptsz, name_of(f), LAUNCH_ARGS)
{
	return launch(f, grid, block, args, shared, stream, true);
}

RUNTIME_LAUNCH(505, __cudaLaunchKernel, name_of(f), LAUNCH_ARGS)
{
	return launch(f, grid, block, args, shared, stream, false);
}

RUNTIME_LAUNCH(506, __cudaLaunchKernel_ptsz, name_of(f), LAUNCH_ARGS)
{
	return launch(f, grid, block, args, shared, stream, true);
}

RUNTIME_LAUNCH(430, cudaLaunchKernelExC, name_of(f), (const struct config *, config),
	       (const void *, f), (void **, args))
{
	return launch(f, config->grid, config->block, args, config->shared, config->stream, false);
}

/* --- devices, errors -------------------------------------------------------- */

RUNTIME(3, cudaGetDeviceCount, (int *, count))
{
	int result = cuInit(0);

	return keep(result ? result : cuDeviceGetCount(count));
}

RUNTIME(16, cudaSetDevice, (int, ordinal))
{
	void *context;
	int result = cuInit(0);

	if (!result)
		result = cuDevicePrimaryCtxRetain(&context, ordinal);
	if (!result)
		result = cuCtxSetCurrent(context);
	if (!result)
		device = ordinal;
	return keep(result);
}

RUNTIME(17, cudaGetDevice, (int *, ordinal))
{
	*ordinal = device;
	return 0;
}

RUNTIME(200, cudaDeviceGetAttribute, (int *, value), (int, attribute), (int, ordinal))
{
	START();
	return keep(cuDeviceGetAttribute(value, attribute, ordinal));
}

RUNTIME(205, cudaDeviceGetStreamPriorityRange, (int *, least), (int *, greatest))
{
	START();
	return keep(cuCtxGetStreamPriorityRange(least, greatest));
}

RUNTIME(154, cudaDeviceCanAccessPeer, (int *, can), (int, ordinal), (int, peer))
{
	START();
	return keep(cuDeviceCanAccessPeer(can, ordinal, peer));
}

RUNTIME(155, cudaDeviceEnablePeerAccess, (int, peer), (unsigned int, flags))
{
	void *context;

	START();
	return keep(cuDevicePrimaryCtxRetain(&context, peer) ? SIM_INVALID_DEVICE :
		    cuCtxEnablePeerAccess(context, flags));
}

RUNTIME(2, cudaRuntimeGetVersion, (int *, version))
{
	*version = 13000;
	return 0;
}

RUNTIME(1, cudaDriverGetVersion, (int *, version))
{
	return cuDriverGetVersion(version);
}

SIM_API int cudaGetLastError(void);
SIM_API int cudaGetLastError(void)
{
	int was = last;

	last = 0;
	return was;
}

SIM_API int cudaPeekAtLastError(void);
SIM_API int cudaPeekAtLastError(void)
{
	return last;
}

SIM_API const char *cudaGetErrorString(int error);
SIM_API const char *cudaGetErrorString(int error)
{
	return error ? "an error of the double" : "no error";
}

SIM_API const char *cudaGetErrorName(int error);
SIM_API const char *cudaGetErrorName(int error)
{
	return error ? "cudaErrorOfTheDouble" : "cudaSuccess";
}

RUNTIME(468, cudaGetDriverEntryPointByVersion, (const char *, symbol), (void **, function),
	(unsigned int, version), (unsigned long long, flags), (int *, status))
{
	START();
	return keep(cuGetProcAddress_v2(symbol, function, (int)version, flags, status));
}

/* --- memory ----------------------------------------------------------------- */

RUNTIME(20, cudaMalloc, (void **, address), (size_t, bytes))
{
	START();
	return keep(cuMemAlloc_v2((uint64_t *)address, bytes));
}

RUNTIME(22, cudaFree, (void *, address))
{
	START();
	return keep(cuMemFree_v2(ADDRESS(address)));
}

RUNTIME(206, cudaMallocManaged, (void **, address), (size_t, bytes), (unsigned int, flags))
{
	START();
	return keep(cuMemAllocManaged((uint64_t *)address, bytes, flags));
}

RUNTIME(25, cudaMallocHost, (void **, address), (size_t, bytes))
{
	START();
	return keep(cuMemAllocHost_v2(address, bytes));
}

RUNTIME(27, cudaHostAlloc, (void **, address), (size_t, bytes), (unsigned int, flags))
{
	START();
	return keep(cuMemHostAlloc(address, bytes, flags));
}

RUNTIME(26, cudaFreeHost, (void *, address))
{
	START();
	return keep(cuMemFreeHost(address));
}

RUNTIME(373, cudaMallocAsync, (void **, address), (size_t, bytes), (void *, stream))
{
	START();
	return keep(cuMemAllocAsync((uint64_t *)address, bytes, stream));
}

RUNTIME(375, cudaFreeAsync, (void *, address), (void *, stream))
{
	START();
	return keep(cuMemFreeAsync(ADDRESS(address), stream));
}

RUNTIME(30, cudaMemGetInfo, (size_t *, unused), (size_t *, total))
{
	START();
	return keep(cuMemGetInfo_v2(unused, total));
}

RUNTIME(31, cudaMemcpy, (void *, to), (const void *, from), (size_t, bytes), (int, kind))
{
	START();
	return keep(cuMemcpy(ADDRESS(to), ADDRESS(from), bytes));
}

RUNTIME(41, cudaMemcpyAsync, (void *, to), (const void *, from), (size_t, bytes), (int, kind),
	(void *, stream))
{
	START();
	return keep(cuMemcpyAsync(ADDRESS(to), ADDRESS(from), bytes, stream));
}

RUNTIME(225, cudaMemcpyAsync_ptsz, (void *, to), (const void *, from), (size_t, bytes),
	(int, kind), (void *, stream))
{
	START();
	return keep(cuMemcpyAsync(ADDRESS(to), ADDRESS(from), bytes, stream ? stream : (void *)2));
}

RUNTIME(161, cudaMemcpyPeerAsync, (void *, to), (int, to_device), (const void *, from),
	(int, from_device), (size_t, bytes), (void *, stream))
{
	void *to_context, *from_context;

	START();
	if (cuDevicePrimaryCtxRetain(&to_context, to_device) ||
	    cuDevicePrimaryCtxRetain(&from_context, from_device))
		return keep(SIM_INVALID_DEVICE);
	return keep(cuMemcpyPeerAsync(ADDRESS(to), to_context, ADDRESS(from), from_context, bytes,
				      stream));
}

RUNTIME(49, cudaMemset, (void *, to), (int, value), (size_t, bytes))
{
	START();
	return keep(cuMemsetD8Async(ADDRESS(to), (unsigned char)value, bytes, NULL));
}

RUNTIME(51, cudaMemsetAsync, (void *, to), (int, value), (size_t, bytes), (void *, stream))
{
	START();
	return keep(cuMemsetD8Async(ADDRESS(to), (unsigned char)value, bytes, stream));
}

/* --- streams, events, waiting ----------------------------------------------- */

RUNTIME(129, cudaStreamCreate, (void **, stream))
{
	START();
	return keep(cuStreamCreate(stream, 0));
}

RUNTIME(198, cudaStreamCreateWithFlags, (void **, stream), (unsigned int, flags))
{
	START();
	return keep(cuStreamCreate(stream, flags));
}

RUNTIME(202, cudaStreamCreateWithPriority, (void **, stream), (unsigned int, flags),
	(int, priority))
{
	START();
	return keep(cuStreamCreateWithPriority(stream, flags, priority));
}

RUNTIME(201, cudaStreamDestroy, (void *, stream))
{
	START();
	return keep(cuStreamDestroy_v2(stream));
}

RUNTIME(131, cudaStreamSynchronize, (void *, stream))
{
	START();
	return keep(cuStreamSynchronize(stream));
}

RUNTIME(239, cudaStreamSynchronize_ptsz, (void *, stream))
{
	START();
	return keep(cuStreamSynchronize_ptsz(stream));
}

RUNTIME(132, cudaStreamQuery, (void *, stream))
{
	START();
	return cuStreamQuery(stream);
}

RUNTIME(147, cudaStreamWaitEvent, (void *, stream), (void *, event), (unsigned int, flags))
{
	START();
	return keep(cuStreamWaitEvent(stream, event, flags));
}

#define NO_ARGUMENTS (int, unused)
RUNTIME(165, cudaDeviceSynchronize, NO_ARGUMENTS)
{
	START();
	return keep(cuCtxSynchronize());
}

RUNTIME(171, cudaProfilerStart, NO_ARGUMENTS)
{
	return keep(cuProfilerStart());
}

RUNTIME(172, cudaProfilerStop, NO_ARGUMENTS)
{
	return keep(cuProfilerStop());
}

RUNTIME(284, cudaLaunchHostFunc, (void *, stream), (sim_host, function), (void *, data))
{
	START();
	return keep(cuLaunchHostFunc(stream, function, data));
}

RUNTIME(133, cudaEventCreate, (void **, event))
{
	START();
	return keep(cuEventCreate(event, 0));
}

RUNTIME(134, cudaEventCreateWithFlags, (void **, event), (unsigned int, flags))
{
	START();
	return keep(cuEventCreate(event, flags));
}

RUNTIME(136, cudaEventDestroy, (void *, event))
{
	START();
	return keep(cuEventDestroy_v2(event));
}

RUNTIME(135, cudaEventRecord, (void *, event), (void *, stream))
{
	START();
	return keep(cuEventRecord(event, stream));
}

RUNTIME(137, cudaEventSynchronize, (void *, event))
{
	START();
	return keep(cuEventSynchronize(event));
}

RUNTIME(138, cudaEventQuery, (void *, event))
{
	START();
	return cuEventQuery(event);
}

RUNTIME(486, cudaEventElapsedTime, (float *, ms), (void *, from), (void *, to))
{
	START();
	return keep(cuEventElapsedTime(ms, from, to));
}

/* --- graphs ----------------------------------------------------------------- */

RUNTIME(315, cudaStreamBeginCapture, (void *, stream), (int, mode))
{
	START();
	return keep(cuStreamBeginCapture_v2(stream, mode));
}

RUNTIME(319, cudaStreamEndCapture, (void *, stream), (void **, graph))
{
	START();
	return keep(cuStreamEndCapture(stream, graph));
}

RUNTIME(443, cudaGraphInstantiate, (void **, exec), (void *, graph), (unsigned long long, flags))
{
	START();
	return keep(cuGraphInstantiateWithFlags(exec, graph, flags));
}

RUNTIME(311, cudaGraphLaunch, (void *, exec), (void *, stream))
{
	START();
	return keep(cuGraphLaunch(exec, stream));
}

RUNTIME(313, cudaGraphExecDestroy, (void *, exec))
{
	START();
	return keep(cuGraphExecDestroy(exec));
}

RUNTIME(314, cudaGraphDestroy, (void *, graph))
{
	START();
	return keep(cuGraphDestroy(graph));
}

SIM_API int cudaGetFuncBySymbol(void **function, const void *symbol);
SIM_API int cudaGetFuncBySymbol(void **function, const void *symbol)
{
	*function = function_of(symbol);
	return *function ? 0 : 98;
}
