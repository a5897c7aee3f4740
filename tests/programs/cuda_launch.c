/* SPDX-License-Identifier: MIT */
/*
 * cuda_launch COUNT [OP]: launches so many small kernels on the CUDA driver's double, in turns
 * on four streams, in blocks of OP's NVTX range where one is named; prints one line:
 * "kernels N thread T process P", the CPU time in ns of the thread that launches and of the whole
 * process meanwhile and until what a client of CUPTI has to do for them is done: half a second
 * after the last one. What tests/bench/cuda_bench.sh measures.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/doubles/cuda/api.h"
#include "tests/doubles/cuda/sim.h"
#include "tests/probes/nvtx_double.h"

#define STREAMS 4
#define BLOCK 100
#define DURATION_NS 100	/* so short that no stream is ever full */

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void must(int result)
{
	if (!result)
		return;
	fprintf(stderr, "cuda_launch: the driver's error %d\n", result);
	exit(1);
}

static void launch_block(void *function, void **streams, long count)
{
	for (long i = 0; i < count; i++) {
		sim_next(DURATION_NS);
		must(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, streams[i % STREAMS], NULL,
				    NULL));
	}
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;
	void *context, *module, *function, *streams[STREAMS];
	struct timespec rest = { 0, 500000000 };
	int64_t thread, process;
	int device;

	nvtxInitialize(NULL);
	must(cuInit(0));
	must(cuDeviceGet(&device, 0));
	must(cuDevicePrimaryCtxRetain(&context, device));
	must(cuCtxSetCurrent(context));
	must(cuModuleLoadData(&module, ""));
	must(cuModuleGetFunction(&function, module, "small_kernel"));
	for (int i = 0; i < STREAMS; i++)
		must(cuStreamCreate(&streams[i], 1));
	launch_block(function, streams, BLOCK);
	must(cuCtxSynchronize());
	process = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	thread = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (long done = 0; done < count; done += BLOCK) {
		if (argc > 2)
			nvtxRangePushA(argv[2]);
		launch_block(function, streams, count - done < BLOCK ? count - done : BLOCK);
		if (argc > 2)
			nvtxRangePop();
	}
	thread = now_ns(CLOCK_THREAD_CPUTIME_ID) - thread;
	must(cuCtxSynchronize());
	nanosleep(&rest, NULL);
	process = now_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
	printf("kernels %ld thread %lld process %lld\n", count, (long long)thread,
	       (long long)process);
	return 0;
}
