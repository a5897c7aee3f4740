/* SPDX-License-Identifier: MIT */
/*
 * What goes wrong in profilers. One of:
 *
 *	odd long [--ms N]	a kernel of N milliseconds (3000), and meanwhile 100 short ones
 *				on another stream; prints when the short ones had ended
 *	odd fail		launches that are refused between others that are not
 *	odd module		a module loaded, its kernel launched, unloaded, many times;
 *				the driver's own API
 *	odd leave		ends without waiting for what it launched
 *	odd peer		copies between two devices; status 77 where there is one
 *
 * and [--truth FILE].
 */
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <time.h>
#include <unistd.h>

#include "truth.h"

#define SHORT 100
#define MODULES 20
#define COPIES 10

static struct truth truth;

/* Until the device's clock has gone on so far; 1 ns a tick, whatever its frequency. */
extern "C" __global__ void hold(unsigned long long ns)
{
	unsigned long long begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

extern "C" __global__ void brief(int *data)
{
	data[threadIdx.x]++;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int run_long(long ms)
{
	cudaStream_t slow, quick;
	int *data;

	CHECK(cudaStreamCreateWithFlags(&slow, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&quick, cudaStreamNonBlocking));
	nvtxNameCudaStreamA(slow, "slow");
	nvtxNameCudaStreamA(quick, "quick");
	CHECK(cudaMalloc((void **)&data, 4096));
	brief<<<1, 32, 0, quick>>>(data);	/* loaded, before the device is held */
	CHECK(cudaDeviceSynchronize());
	hold<<<1, 1, 0, slow>>>((unsigned long long)ms * 1000000);
	for (int i = 0; i < SHORT; i++)
		brief<<<1, 32, 0, quick>>>(data);
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(quick));
	printf("short %.6f\n", now_s());
	fflush(stdout);
	CHECK(cudaStreamSynchronize(slow));
	printf("long %.6f\n", now_s());
	truth_kernel_ran(&truth, "hold", "slow", NULL, 1);
	truth_kernel_ran(&truth, "brief", "quick", NULL, SHORT + 1);
	return 0;
}

static int run_fail(void)
{
	cudaError_t status;
	int *data, refused = 0;

	CHECK(cudaMalloc((void **)&data, 16384));
	for (int i = 0; i < 10; i++) {
		nvtxRangePushA(i % 2 ? "wrong" : "right");
		/* no device has blocks of 4096 threads */
		brief<<<1, i % 2 ? 4096 : 32>>>(data);
		status = cudaGetLastError();
		nvtxRangePop();
		refused += status != cudaSuccess;
		if ((status != cudaSuccess) != i % 2)
			fprintf(stderr, "odd: launch %d said %d\n", i, (int)status);
		if (!(i % 2))
			truth_kernel_ran(&truth, "brief", NULL, "right", 1);
	}
	CHECK(cudaDeviceSynchronize());
	return refused == 5 ? 0 : 1;
}

/* What nvcc would make of an empty kernel, by hand. */
static const char text[] =
	".version 7.0\n"
	".target sm_52\n"
	".address_size 64\n"
	".visible .entry from_module()\n"
	"{\n"
	"	ret;\n"
	"}\n";

typedef CUresult (*load_fn)(CUmodule *, const void *);
typedef CUresult (*get_fn)(CUfunction *, CUmodule, const char *);
typedef CUresult (*launch_fn)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
			      unsigned, unsigned, CUstream, void **, void **);
typedef CUresult (*unload_fn)(CUmodule);

static void *driver(const char *name)
{
	cudaDriverEntryPointQueryResult found;
	void *f = NULL;

	CHECK(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found));
	if (!f) {
		fprintf(stderr, "odd: the driver has no '%s'\n", name);
		exit(1);
	}
	return f;
}

static int run_module(void)
{
	load_fn load;
	get_fn get;
	launch_fn launch;
	unload_fn unload;

	CHECK(cudaFree(0));
	load = (load_fn)driver("cuModuleLoadData");
	get = (get_fn)driver("cuModuleGetFunction");
	launch = (launch_fn)driver("cuLaunchKernel");
	unload = (unload_fn)driver("cuModuleUnload");
	for (int i = 0; i < MODULES; i++) {
		CUfunction function;
		CUmodule module;
		CUresult bad = load(&module, text);

		bad = bad ? bad : get(&function, module, "from_module");
		bad = bad ? bad : launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
		if (!bad)
			CHECK(cudaDeviceSynchronize());
		bad = bad ? bad : unload(module);
		if (bad) {
			fprintf(stderr, "odd: a module's error %d\n", (int)bad);
			return 1;
		}
		truth_kernel_ran(&truth, "from_module", NULL, NULL, 1);
	}
	return 0;
}

/* What the device had not ended then never ran for the program, so it is no truth. */
static int run_leave(void)
{
	int *data;

	CHECK(cudaMalloc((void **)&data, 4096));
	for (int i = 0; i < SHORT; i++)
		brief<<<1, 32>>>(data);
	CHECK(cudaDeviceSynchronize());
	truth_kernel_ran(&truth, "brief", NULL, NULL, SHORT);
	hold<<<1, 1>>>(50000000);
	CHECK(cudaGetLastError());
	return 0;
}

static int run_peer(void)
{
	const size_t bytes = 1 << 20;
	void *from, *to;
	int count, can = 0;

	CHECK(cudaGetDeviceCount(&count));
	if (count < 2) {
		printf("there is one device\n");
		return 77;
	}
	CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
	CHECK(cudaSetDevice(1));
	CHECK(cudaMalloc(&to, bytes));
	CHECK(cudaSetDevice(0));
	CHECK(cudaMalloc(&from, bytes));
	if (can)
		CHECK(cudaDeviceEnablePeerAccess(1, 0));
	for (int i = 0; i < COPIES; i++)
		CHECK(cudaMemcpyPeerAsync(to, 1, from, 0, bytes, 0));
	CHECK(cudaDeviceSynchronize());
	truth_copied(&truth, "p2p", bytes, COPIES);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = NULL;
	long ms = 3000;
	int status = 2;

	for (int i = 2; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--truth") == 0)
			path = argv[i + 1];
		else if (strcmp(argv[i], "--ms") == 0)
			ms = atol(argv[i + 1]);
	}
	if (strcmp(what, "long") == 0)
		status = run_long(ms);
	else if (strcmp(what, "fail") == 0)
		status = run_fail();
	else if (strcmp(what, "module") == 0)
		status = run_module();
	else if (strcmp(what, "leave") == 0)
		status = run_leave();
	else if (strcmp(what, "peer") == 0)
		status = run_peer();
	else
		fprintf(stderr, "odd: what is '%s'?\n", what);
	if (status == 0)
		truth_write(&truth, path);
	return status;
}
