/* SPDX-License-Identifier: MIT */
/*
 * A client of the vendor double (tests/doubles/fake_opencl.c): ten kernels, a
 * blocking write, the forms of 1.0, a property changed on a live queue, memory
 * by an extension. Prints what it got.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void usm(void)
{
	union {
		void *object;
		clDeviceMemAllocINTEL_fn alloc;
		clEnqueueMemcpyINTEL_fn copy;
		clMemFreeINTEL_fn release;
	} f;
	char host[100] = "x";
	cl_int result = 1;
	void *at;

	if (!getenv("FAKE_CL") || !strstr(getenv("FAKE_CL"), "usm"))
		return;
	f.object = clGetExtensionFunctionAddressForPlatform(platform, "clDeviceMemAllocINTEL");
	at = f.alloc(context, device, NULL, 100, 0, &result);
	printf("usm %d %d\n", at != NULL, result);
	f.object = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMemcpyINTEL");
	printf("in %d\n", f.copy(queue, CL_TRUE, at, host, 100, 0, NULL, NULL));
	printf("out %d\n", f.copy(queue, CL_FALSE, host, (char *)at + 10, 50, 0, NULL, NULL));
	printf("finish %d\n", clFinish(queue));
	f.object = clGetExtensionFunctionAddressForPlatform(platform, "clMemFreeINTEL");
	printf("free %d\n", f.release(context, at));
}

static void properties(void)
{
	cl_command_queue_properties old = 77, now = 77;

	for (int enable = 1; enable >= 0; enable--) {
		printf("set %d", clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE,
							   (cl_bool)enable, &old));
		clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(now), &now, NULL);
		printf(" old %d now %d\n", (int)old, (int)now);
	}
}

int main(void)
{
	cl_event event = NULL, marker = NULL;
	cl_uint refs = 0;
	cl_ulong tick = 0;
	cl_kernel kernel;
	cl_mem buffer;
	size_t global = 8;
	char data[64] = { 0 };
	const char *source = "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("platforms %d\n", clGetPlatformIDs(1, &platform, NULL));
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	kernel = clCreateKernel(clCreateProgramWithSource(context, 1, &source, NULL, NULL), "one",
				NULL);
	buffer = clCreateBuffer(context, 0, 64, NULL, NULL);
	for (int i = 0; i < 9; i++)
		clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
	printf("kernel %d\n", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL,
						     &event));
	clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
	printf("references %u\n", refs);
	printf("write %d\n",
	       clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 64, data, 0, NULL, NULL));
	printf("marker %d\n", clEnqueueMarker(queue, &marker));
	printf("barrier %d\n", clEnqueueBarrier(queue));
	printf("wait %d\n", clEnqueueWaitForEvents(queue, 1, &marker));
	printf("finish %d\n", clFinish(queue));
	printf("profiling %d\n", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START,
							 sizeof(tick), &tick, NULL));
	clReleaseEvent(event);
	clReleaseEvent(marker);
	properties();
	usm();
	printf("retain %d\n", clRetainMemObject(buffer));
	printf("release %d\n", clReleaseMemObject(buffer));
	printf("release %d\n", clReleaseMemObject(buffer));
	printf("queue %d\n", clReleaseCommandQueue(queue));
	return 0;
}
