/* SPDX-License-Identifier: MIT */
#include "examples/cl_faults.h"

#include <stdio.h>
#include <stdlib.h>

#include "examples/marks.h"

#define SCRATCH 64

static const float zeros[SCRATCH];

/* err must be an error, and it counts as one of call's. */
static void expect_error(cl_int err, const char *call)
{
	if (err == CL_SUCCESS) {
		fflush(stdout);
		fprintf(stderr, "train_opencl: %s should have failed and did not\n", call);
		exit(1);
	}
	truth_error(call);
}

static void broken_build(struct cl_device *dev)
{
	const char *source = kernel_broken_source;
	char log[4096] = "";
	cl_program program;
	cl_int err;

	program = clCreateProgramWithSource(dev->context, 1, &source, NULL, &err);
	cl_check(err, "clCreateProgramWithSource");
	expect_error(clBuildProgram(program, 1, &dev->id, "-DATTEMPT=1", NULL, NULL),
		     "clBuildProgram");
	cl_check(clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1,
				       log, NULL),
		 "clGetProgramBuildInfo");
	if (!log[0]) {
		fprintf(stderr, "train_opencl: the failed build left no log\n");
		exit(1);
	}
	cl_check(clReleaseProgram(program), "clReleaseProgram");
}

void faults_init(struct faults *f, struct cl_device *dev)
{
	f->dev = dev;
	f->queue = dev->n_queues - 1;
	broken_build(dev);
	tensor_new(dev, &f->scratch, CL_MEM_READ_WRITE, SCRATCH, sizeof(float));
	cl_write(dev, f->queue, &f->scratch, zeros);
	cl_check(clFinish(dev->queues[f->queue]), "clFinish");
}

void faults_release(struct faults *f)
{
	tensor_release(&f->scratch, true);
}

/* Calls that a runtime refuses when it looks at their arguments. */
static void refused_calls(struct faults *f)
{
	cl_command_queue queue = f->dev->queues[f->queue];
	cl_kernel kernel = f->dev->kernels[KERNEL_TOUCH];
	const size_t global = SCRATCH;
	float *nowhere = NULL;
	cl_int unused = 0;

	expect_error(clEnqueueNDRangeKernel(queue, kernel, 0, NULL, &global, NULL, 0, NULL, NULL),
		     "clEnqueueNDRangeKernel");
	expect_error(clEnqueueWriteBuffer(queue, f->scratch.buffer, CL_FALSE,
					  f->scratch.size_bytes, f->scratch.size_bytes, zeros, 0,
					  NULL, NULL),
		     "clEnqueueWriteBuffer");
	expect_error(clEnqueueReadBuffer(queue, f->scratch.buffer, CL_TRUE, 0,
					 f->scratch.size_bytes, nowhere, 0, NULL, NULL),
		     "clEnqueueReadBuffer");
	expect_error(clSetKernelArg(kernel, 99, sizeof(unused), &unused), "clSetKernelArg");
}

static bool has_failed(cl_event event)
{
	cl_int status = CL_COMPLETE;

	cl_check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
				NULL),
		 "clGetEventInfo");
	return status < 0;
}

/* A kernel and a copy behind it, held back by a user event that ends as told. */
static void gated_commands(struct faults *f, cl_int gate_status)
{
	cl_command_queue queue = f->dev->queues[f->queue];
	cl_kernel kernel = f->dev->kernels[KERNEL_TOUCH];
	const char *op = marks_top();
	const size_t global = SCRATCH;
	cl_event gate, touched, written;
	cl_int err;

	gate = clCreateUserEvent(f->dev->context, &err);
	cl_check(err, "clCreateUserEvent");
	cl_check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &f->scratch.buffer), "clSetKernelArg");
	cl_check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate, &touched),
		 "clEnqueueNDRangeKernel");
	cl_check(clEnqueueWriteBuffer(queue, f->scratch.buffer, CL_FALSE, 0, f->scratch.size_bytes,
				      zeros, 1, &touched, &written),
		 "clEnqueueWriteBuffer");
	cl_check(clFlush(queue), "clFlush");
	cl_check(clSetUserEventStatus(gate, gate_status), "clSetUserEventStatus");
	err = clWaitForEvents(1, &written);
	if (gate_status < 0)
		expect_error(err, "clWaitForEvents");
	else
		cl_check(err, "clWaitForEvents");

	truth_kernel(kernel_names[KERNEL_TOUCH], f->queue, op, has_failed(touched));
	truth_copy(TRUTH_H2D, f->queue, f->scratch.size_bytes, has_failed(written));
	cl_check(clReleaseEvent(written), "clReleaseEvent");
	cl_check(clReleaseEvent(touched), "clReleaseEvent");
	cl_check(clReleaseEvent(gate), "clReleaseEvent");
}

void faults_step(struct faults *f)
{
	marks_push("faults");
	refused_calls(f);
	gated_commands(f, CL_COMPLETE);
	gated_commands(f, -5);
	marks_pop();
}
