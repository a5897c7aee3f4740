/* SPDX-License-Identifier: MIT */
/*
 * many_queues COUNT [ROUNDS]: an OpenCL program with so many queues at once. In each of the rounds
 * (3) one kernel "count_up" runs on each. Before them it prints "ready" and waits for a character
 * on stdin or for its end. Status 0 when every queue has counted right.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "many_queues: %s: error %d\n", what, (int)result);
	exit(1);
}

int main(int argc, char **argv)
{
	static const char *source = "kernel void count_up(global int *a, int i) { a[i]++; }\n";
	int count = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 3, wrong = 0;
	cl_command_queue *queues = calloc((size_t)count, sizeof(*queues));
	int *counted = calloc((size_t)count, sizeof(*counted));
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffer;
	size_t one = 1;
	cl_int r;

	must(clGetPlatformIDs(1, &platform, NULL), "platform");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &r);
	must(r, "context");
	program = clCreateProgramWithSource(context, 1, &source, NULL, &r);
	must(r, "program");
	must(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), "build");
	kernel = clCreateKernel(program, "count_up", &r);
	must(r, "kernel");
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
				(size_t)count * sizeof(int), counted, &r);
	must(r, "buffer");
	must(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), "argument");
	for (int i = 0; i < count; i++) {
		queues[i] = clCreateCommandQueue(context, device, 0, &r);
		must(r, "queue");
	}
	puts("ready");
	fflush(stdout);
	getchar();
	for (int n = 0; n < rounds; n++) {
		for (int i = 0; i < count; i++) {
			must(clSetKernelArg(kernel, 1, sizeof(i), &i), "argument");
			must(clEnqueueNDRangeKernel(queues[i], kernel, 1, NULL, &one, NULL, 0, NULL,
						    NULL), "launch");
		}
		for (int i = 0; i < count; i++)
			must(clFinish(queues[i]), "finish");
	}
	must(clEnqueueReadBuffer(queues[0], buffer, CL_TRUE, 0, (size_t)count * sizeof(int),
				 counted, 0, NULL, NULL),
	     "read");
	for (int i = 0; i < count; i++)
		wrong += counted[i] != rounds;
	for (int i = 0; i < count; i++)
		must(clReleaseCommandQueue(queues[i]), "release");
	return wrong != 0;
}
