/* SPDX-License-Identifier: MIT */
/*
 * The code that nvcc generates for a small program, written by hand: a kernel registered before
 * main, launched through the runtime as in CUDA 13 and as before, copies, a graph, the destruction
 * of a stream. For the double of libcudart; prints the sum of the copied data.
 */
#include <stdio.h>
#include <stdlib.h>

struct dim3 { unsigned int x, y, z; };
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *code, const char *name,
			    int threads,
			    void *tid, void *bid, void *block, void *grid, int *warp);
int __cudaGetKernel(void **kernel, const void *host);
int __cudaLaunchKernel(void *kernel, struct dim3 grid, struct dim3 block, void **args,
		       size_t shared,
		       void *stream);
int cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream);
int cudaMalloc(void **address, size_t bytes);
int cudaFree(void *address);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *exec, void *stream);
int cudaStreamSynchronize(void *stream);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);

static char host_function;

__attribute__((constructor)) static void registered(void)
{
	void **handle = __cudaRegisterFatBinary(NULL);

	__cudaRegisterFunction(handle, &host_function, NULL, "_Z4scalePfi", -1, NULL, NULL, NULL,
			       NULL,
			       NULL);
	__cudaRegisterFatBinaryEnd(handle);
}

int main(void)
{
	struct dim3 grid = { 4, 2, 1 }, block = { 64, 1, 1 }, wrong = { 4096, 1, 1 };
	int data[256], back[256], sum = 0;
	void *memory, *stream, *graph, *exec, *kernel;
	int bad;

	for (int i = 0; i < 256; i++)
		data[i] = i;
	bad = cudaMalloc(&memory, sizeof(data)) | cudaMemcpy(memory, data, sizeof(data), 1) |
	      cudaStreamCreate(&stream) | __cudaGetKernel(&kernel, &host_function);
	for (int i = 0; i < 10; i++)
		bad |= __cudaLaunchKernel(kernel, grid, block, NULL, 0, stream) |
		       cudaLaunchKernel(&host_function, grid, block, NULL, 1024, NULL);
	bad |= cudaStreamBeginCapture(stream, 0) |
	       cudaLaunchKernel(&host_function, grid, block, NULL, 0, stream) |
	       cudaStreamEndCapture(stream, &graph) | cudaGraphInstantiate(&exec, graph, 0);
	for (int i = 0; i < 5; i++)
		bad |= cudaGraphLaunch(exec, stream);
	bad |= cudaMemcpyAsync(back, memory, sizeof(back), 2,
			       stream) | cudaStreamSynchronize(stream) |
	       cudaDeviceSynchronize() | cudaFree(memory);
	if (cudaLaunchKernel(&host_function, grid, wrong, NULL, 0, stream) != 9 ||
	    cudaGetLastError() != 9)
		bad = 1;
	for (int i = 0; i < 256; i++)
		sum += back[i];
	printf("%d\n", sum);
	return bad;
}
