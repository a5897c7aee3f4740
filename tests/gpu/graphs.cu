/* SPDX-License-Identifier: MIT */
/*
 * A graph, captured from two streams in ranges "layer 0", "layer 1", …, launched again and
 * again in a range "replay": each layer is two kernels that run beside each other; before
 * them all a copy to the device, after them one back and a memset. It knows how many nodes
 * of each kind ran.
 *
 *	graphs [--layers N] [--launches N] [--truth FILE] [--unchecked]
 *
 * --layers 200 --launches 1000 makes nodes faster than a probe may want to tell one by one.
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "truth.h"

#define COUNT 1024

extern "C" __global__ void grow(float *data)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

extern "C" __global__ void shrink(float *data)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] -= 1;
}

static int layers = 4, launches = 25;
static const char *truth_path;
static bool unchecked;
static struct truth truth;
static float *host, *grows, *shrinks;

static cudaGraph_t capture(cudaStream_t main, cudaStream_t side)
{
	cudaEvent_t fork, join;
	cudaGraph_t graph;
	char name[32];

	CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	CHECK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
	CHECK(cudaMemcpyAsync(grows, host, COUNT * sizeof(float), cudaMemcpyHostToDevice, main));
	for (int i = 0; i < layers; i++) {
		snprintf(name, sizeof(name), "layer %d", i);
		nvtxRangePushA(name);
		CHECK(cudaEventRecord(fork, main));
		CHECK(cudaStreamWaitEvent(side, fork, 0));
		grow<<<COUNT / 128, 128, 0, main>>>(grows);
		shrink<<<COUNT / 128, 128, 0, side>>>(shrinks);
		CHECK(cudaGetLastError());
		CHECK(cudaEventRecord(join, side));
		CHECK(cudaStreamWaitEvent(main, join, 0));
		nvtxRangePop();
	}
	CHECK(cudaMemcpyAsync(host, grows, COUNT * sizeof(float), cudaMemcpyDeviceToHost, main));
	CHECK(cudaMemsetAsync(shrinks, 0, COUNT * sizeof(float), main));
	CHECK(cudaStreamEndCapture(main, &graph));
	CHECK(cudaEventDestroy(fork));
	CHECK(cudaEventDestroy(join));
	return graph;
}

static void replay(cudaStream_t stream, cudaGraphExec_t runnable)
{
	size_t nodes = 2 * (size_t)layers + 3, bytes = COUNT * sizeof(float);

	for (int i = 0; i < launches; i++) {
		nvtxRangePushA("replay");
		CHECK(cudaGraphLaunch(runnable, stream));
		nvtxRangePop();
	}
	CHECK(cudaStreamSynchronize(stream));
	truth_kernel_ran(&truth, "grow", NULL, NULL, (long)layers * launches);
	truth_kernel_ran(&truth, "shrink", NULL, NULL, (long)layers * launches);
	truth_copied(&truth, "h2d", bytes, launches);
	truth_copied(&truth, "d2h", bytes, launches);
	truth_copied(&truth, "fill", bytes, launches);
	truth.graph_launches += launches;
	truth.graph_nodes += (long)nodes * launches;
}

static void read_options(char **argv)
{
	for (char **a = argv + 1; *a; a++) {
		if (strcmp(*a, "--unchecked") == 0)
			unchecked = true;
		else if (strcmp(*a, "--layers") == 0 && a[1])
			layers = atoi(*++a);
		else if (strcmp(*a, "--launches") == 0 && a[1])
			launches = atoi(*++a);
		else if (strcmp(*a, "--truth") == 0 && a[1])
			truth_path = *++a;
		else {
			fprintf(stderr, "graphs: what is '%s'?\n", *a);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	cudaStream_t main_stream, side;
	cudaGraphExec_t runnable;
	cudaGraph_t graph;
	float want;
	long wrong = 0;

	(void)argc;
	read_options(argv);
	CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	nvtxNameCudaStreamA(main_stream, "graphs");
	CHECK(cudaMallocHost((void **)&host, COUNT * sizeof(float)));
	CHECK(cudaMalloc((void **)&grows, COUNT * sizeof(float)));
	CHECK(cudaMalloc((void **)&shrinks, COUNT * sizeof(float)));
	memset(host, 0, COUNT * sizeof(float));
	graph = capture(main_stream, side);
	CHECK(cudaGraphInstantiate(&runnable, graph, 0));
	replay(main_stream, runnable);
	want = (float)layers * (float)launches;
	for (int i = 0; i < COUNT; i++)
		wrong += host[i] != want;
	CHECK(cudaGraphExecDestroy(runnable));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamDestroy(side));
	CHECK(cudaStreamDestroy(main_stream));
	truth_write(&truth, truth_path);
	if (wrong && !unchecked) {
		fprintf(stderr, "graphs: %ld numbers are wrong\n", wrong);
		return 1;
	}
	return 0;
}
