/* SPDX-License-Identifier: MIT */
/*
 * The functions of the CUDA driver that the programs of the tests call, under the names that
 * libcuda.so.1 exports, so that these programs also run on a real driver. Results are those of the
 * driver; 0 is success.
 */
#ifndef TESTS_DOUBLES_CUDA_API_H
#define TESTS_DOUBLES_CUDA_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Ends the program where a call fails. */
#define MUST(call) do { \
	int result_ = (call); \
	if (result_) { \
		fprintf(stderr, "%s: error %d\n", #call, result_); \
		_exit(1); \
	} \
} while (0)

struct cuda_kernel_node {
	void *function;
	unsigned int grid[3], block[3], shared;
	void **arguments, **extra;
	void *kernel, *context;
};

int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxCreate_v2(void **context, unsigned int flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxSetCurrent(void *context);
int cuCtxGetCurrent(void **context);
int cuCtxSynchronize(void);
int cuProfilerStart(void);
int cuProfilerStop(void);
int cuStreamCreate(void **stream, unsigned int flags);
int cuStreamCreateWithPriority(void **stream, unsigned int flags, int priority);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamQuery(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned int flags);
int cuEventCreate(void **event, unsigned int flags);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuEventQuery(void *event);
int cuEventElapsedTime(float *ms, void *start, void *end);
int cuEventDestroy_v2(void *event);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned int flags);
int cuMemAllocHost_v2(void **address, size_t bytes);
int cuMemFreeHost(void *address);
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream);
int cuMemFreeAsync(uint64_t address, void *stream);
int cuMemGetInfo_v2(size_t *unused, size_t *total);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
		      size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *stream);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleUnload(void *module);
int cuLaunchKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz,
		   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		   void *stream, void **arguments, void **extra);
int cuLaunchKernel_ptsz(void *function, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			void *stream, void **arguments, void **extra);
int cuGraphCreate(void **graph, unsigned int flags);
int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *needs, size_t n_needs,
			    const struct cuda_kernel_node *parameters);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphExecDestroy(void *exec);
int cuGraphDestroy(void *graph);
int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status);

#endif
