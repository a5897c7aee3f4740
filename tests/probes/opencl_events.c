/* SPDX-License-Identifier: MIT */
/*
 * Events as the program sees them: user events, wait lists that fail, out of
 * order queues, callbacks and their order, reference counts while a command
 * waits. Prints what it got; opencl.sh compares bare with probed.
 *
 *	opencl_events [exit|_exit|leave|deep]	how to end
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue in_order, any_order;
static cl_kernel kernel;
static cl_mem buffer;
static size_t global = 64;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char order[256];
static int calls;

static void CL_CALLBACK called(cl_event event, cl_int status, void *data)
{
	cl_uint refs = 0;

	clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
	pthread_mutex_lock(&lock);
	/* The order of callbacks of two different events is not defined. */
	if (data)
		snprintf(order + strlen(order), sizeof(order) - strlen(order), " %s:%d",
			 (const char *)data, status);
	calls++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_calls(int n)
{
	pthread_mutex_lock(&lock);
	while (calls < n)
		pthread_cond_wait(&changed, &lock);
	printf("callbacks%s\n", order);
	order[0] = '\0';
	calls = 0;
	pthread_mutex_unlock(&lock);
}

/* The driver may hold one more reference for a moment, so the minimum counts. */
static cl_uint references(cl_event event)
{
	cl_uint least = UINT32_MAX;

	for (int i = 0; i < 20; i++) {
		cl_uint refs = 0;

		clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
		least = refs < least ? refs : least;
		usleep(1000);
	}
	return least;
}

/* Waits, without a wait call, until the event is complete or has failed. */
static cl_int poll_status(cl_event event)
{
	cl_int status = CL_QUEUED;

	for (int i = 0; i < 5000; i++) {
		clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			       NULL);
		if (status <= CL_COMPLETE)
			break;
		usleep(1000);
	}
	return status;
}

static void set_up(void)
{
	static const char *source =
		"kernel void add(global int *a) { a[get_global_id(0)]++; }\n";
	static int zero[1024];
	cl_platform_id platform;
	cl_program program;

	clGetPlatformIDs(1, &platform, NULL);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	in_order = clCreateCommandQueue(context, device, 0, NULL);
	any_order = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
					 NULL);
	program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
	printf("build %d\n", clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	kernel = clCreateKernel(program, "add", NULL);
	clReleaseProgram(program);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	clEnqueueWriteBuffer(in_order, buffer, CL_TRUE, 0, sizeof(zero), zero, 0, NULL, NULL);
	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
	clEnqueueNDRangeKernel(in_order, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
	clFinish(in_order);
}

static void gated(cl_command_queue queue, const char *name)
{
	static char first[] = "first", second[] = "second";
	cl_event gate = clCreateUserEvent(context, NULL), one, two;
	cl_uint of_context = UINT32_MAX, of_queue = UINT32_MAX;
	cl_int status = 99;

	printf("gated %s\n", name);
	printf(" %d\n",
	       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate, &one));
	printf(" %d\n",
	       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &one, &two));
	printf(" %d\n",
	       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &two, NULL));
	clGetEventInfo(one, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
	printf(" waiting %d references %u %u gate %u\n", status > CL_COMPLETE, references(one),
	       references(two), references(gate));
	/* Status of commands that are complete; the driver may drop references a little later, so
	 * the minimum counts. */
	for (int i = 0; i < 20; i++) {
		cl_uint of_c = 0, of_q = 0;

		clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(of_c), &of_c, NULL);
		clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(of_q), &of_q, NULL);
		of_context = of_c < of_context ? of_c : of_context;
		of_queue = of_q < of_queue ? of_q : of_queue;
		usleep(1000);
	}
	printf(" references of context %u queue %u\n", of_context, of_queue);
	printf(" callback %d\n", clSetEventCallback(two, CL_COMPLETE, called, first));
	printf(" callback %d\n", clSetEventCallback(two, CL_COMPLETE, called, second));
	printf(" callback %d\n", clSetEventCallback(gate, CL_COMPLETE, called, NULL));
	printf(" flush %d\n", clFlush(queue));
	printf(" set %d\n", clSetUserEventStatus(gate, CL_COMPLETE));
	printf(" finish %d\n", clFinish(queue));
	wait_calls(3);
	printf(" set again %d\n", clSetUserEventStatus(gate, CL_COMPLETE));
	printf(" release %d %d %d\n", clReleaseEvent(one), clReleaseEvent(two),
	       clReleaseEvent(gate));
}

static void released_early(cl_command_queue queue)
{
	cl_event gate = clCreateUserEvent(context, NULL), event;

	printf("released early\n");
	clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate, &event);
	printf(" %d\n", clReleaseEvent(event));
	printf(" %d\n", clSetUserEventStatus(gate, CL_COMPLETE));
	printf(" %d\n", clReleaseEvent(gate));
	printf(" %d\n", clFinish(queue));
}

/* If a wait list fails, the commands that depend on it fail as well. */
static void failed(void)
{
	cl_event gate = clCreateUserEvent(context, NULL), one, two;

	printf("failed\n");
	printf(" %d\n",
	       clEnqueueNDRangeKernel(any_order, kernel, 1, NULL, &global, NULL, 1, &gate, &one));
	printf(" %d\n",
	       clEnqueueNDRangeKernel(any_order, kernel, 1, NULL, &global, NULL, 1, &one, &two));
	printf(" set %d\n", clSetUserEventStatus(gate, -7));
	printf(" status %d %d\n", poll_status(one), poll_status(two));
	printf(" wait %d\n", clWaitForEvents(1, &one));
	printf(" release %d %d %d\n", clReleaseEvent(one), clReleaseEvent(two),
	       clReleaseEvent(gate));
}

static void many(cl_command_queue queue)
{
	int first = 0;
	cl_event last = NULL, event;

	for (int i = 0; i < 500; i++) {
		if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, last ? 1 : 0,
					   last ? &last : NULL, &event))
			printf("error\n");
		if (last)
			clReleaseEvent(last);
		last = event;
	}
	clFinish(queue);	/* both count in the same buffer */
	for (int i = 0; i < 500; i++)
		clEnqueueNDRangeKernel(in_order, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
	printf("many %d\n", clWaitForEvents(1, &last));
	clReleaseEvent(last);
	clFinish(queue);
	clFinish(in_order);
	clEnqueueReadBuffer(in_order, buffer, CL_TRUE, 0, sizeof(first), &first, 0, NULL, NULL);
	printf("sum %d\n", first);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	cl_event gate;

	setvbuf(stdout, NULL, _IOLBF, 0);
	set_up();
	gated(in_order, "in order");
	gated(any_order, "out of order");
	released_early(in_order);
	released_early(any_order);
	failed();
	many(any_order);
	if (!strcmp(how, "_exit")) {
		clFinish(any_order);
		fflush(stdout);
		_exit(3);
	}
	if (!strcmp(how, "deep")) {	/* more commands in flight than the probe tracks */
		gate = clCreateUserEvent(context, NULL);
		for (int i = 0; i < 150000; i++)
			clEnqueueMarkerWithWaitList(in_order, i ? 0 : 1, i ? NULL : &gate, NULL);
		clSetUserEventStatus(gate, CL_COMPLETE);
		printf("deep %d\n", clFinish(in_order));
		clReleaseEvent(gate);
	}
	if (!strcmp(how, "leave")) {	/* leaves commands that will never run */
		gate = clCreateUserEvent(context, NULL);
		for (int i = 0; i < 20; i++)
			clEnqueueNDRangeKernel(any_order, kernel, 1, NULL, &global, NULL, 1, &gate,
					       NULL);
		exit(4);
	}
	clReleaseMemObject(buffer);
	clReleaseKernel(kernel);
	clReleaseCommandQueue(in_order);
	clReleaseCommandQueue(any_order);
	clReleaseContext(context);
	return 0;
}
