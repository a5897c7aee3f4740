/* SPDX-License-Identifier: MIT */
/*
 * host_functions SECONDS: a loop in C that launches an OpenCL kernel and, while the device waits,
 * computes in two functions that only the file's own table of symbols names; one of them has a name
 * of C++. It prints as JSON how long it was in each by its own clock. Status 0 when the device has
 * counted right.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 6000000u

__attribute__((noinline)) static uint32_t tokenize(uint32_t seed);
__attribute__((noinline)) static uint32_t decode(uint32_t seed) __asm__("_ZN6server6decodeEj");

static uint32_t tokenize(uint32_t seed)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		seed = seed * 1664525u + 1013904223u;
	return seed;
}

static uint32_t decode(uint32_t seed)
{
	for (uint32_t i = 0; i < ROUNDS * 2; i++)
		seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
	return seed;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "host_functions: %s: error %d\n", what, (int)result);
	exit(1);
}

int main(int argc, char **argv)
{
	static const char *source = "kernel void count_up(global int *a) { a[0]++; }\n";
	int64_t begin_ns = now_ns(), until_ns, at_ns, ns[2] = { 0, 0 };
	uint32_t seed = 1, steps = 0, counted = 0;
	cl_command_queue queue;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
	size_t one = 1;
	cl_int r;

	until_ns = begin_ns + (argc > 1 ? atoi(argv[1]) : 1) * INT64_C(1000000000);
	must(clGetPlatformIDs(1, &platform, NULL), "platform");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &r);
	must(r, "context");
	program = clCreateProgramWithSource(context, 1, &source, NULL, &r);
	must(r, "program");
	must(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), "build");
	kernel = clCreateKernel(program, "count_up", &r);
	must(r, "kernel");
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(counted),
				&counted, &r);
	must(r, "buffer");
	must(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), "argument");
	queue = clCreateCommandQueue(context, device, 0, &r);
	must(r, "queue");
	while (now_ns() < until_ns) {
		must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
		     "launch");
		must(clFinish(queue), "finish");
		at_ns = now_ns();
		seed = tokenize(seed);
		ns[0] += now_ns() - at_ns;
		at_ns = now_ns();
		seed = decode(seed);
		ns[1] += now_ns() - at_ns;
		steps++;
	}
	must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(counted), &counted, 0, NULL,
				 NULL), "read");
	printf("{\"tokenize\": %lld, \"decode\": %lld, \"run_ns\": %lld, \"right\": %s, "
	       "\"seed\": %u}\n", (long long)ns[0], (long long)ns[1],
	       (long long)(now_ns() - begin_ns), counted == steps ? "true" : "false", seed);
	return counted != steps;
}
