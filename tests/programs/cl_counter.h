/* SPDX-License-Identifier: MIT */
/* A kernel "count_up" on the first OpenCL device, and its buffer of ints. What fails ends the
 * program with status 1. */
#ifndef TESTS_CL_COUNTER_H
#define TESTS_CL_COUNTER_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

struct cl_counter {
	cl_context context;
	cl_device_id device;
	cl_kernel kernel;		/* argument 0 is the buffer */
	cl_mem buffer;
};

static inline void cl_must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: OpenCL error %d\n", what, (int)result);
	exit(1);
}

/* The buffer begins as a copy of n values. */
static inline void cl_counter_make(struct cl_counter *counter, const char *source, int *values,
				   size_t n)
{
	cl_platform_id platform;
	cl_program program;
	cl_int r;

	cl_must(clGetPlatformIDs(1, &platform, NULL), "platform");
	cl_must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &counter->device, NULL), "device");
	counter->context = clCreateContext(NULL, 1, &counter->device, NULL, NULL, &r);
	cl_must(r, "context");
	program = clCreateProgramWithSource(counter->context, 1, &source, NULL, &r);
	cl_must(r, "program");
	cl_must(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), "build");
	counter->kernel = clCreateKernel(program, "count_up", &r);
	cl_must(r, "kernel");
	counter->buffer = clCreateBuffer(counter->context,
					 CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
					 n * sizeof(*values), values, &r);
	cl_must(r, "buffer");
	cl_must(clSetKernelArg(counter->kernel, 0, sizeof(counter->buffer), &counter->buffer),
		"argument");
}

static inline cl_command_queue cl_counter_queue(const struct cl_counter *counter)
{
	cl_int r;
	cl_command_queue queue = clCreateCommandQueue(counter->context, counter->device, 0, &r);

	cl_must(r, "queue");
	return queue;
}

#endif
