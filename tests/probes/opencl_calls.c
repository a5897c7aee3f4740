/* SPDX-License-Identifier: MIT */
/*
 * Calls every wrapped function at least once, right and wrong, and prints what
 * it got: opencl.sh compares the text of a bare run with that of a run under
 * the probe. Addresses, times and build logs are not printed.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 1024
#define BYTES (N * sizeof(int))

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel kernel;
static cl_mem a, b;
static int host[N], host2[N];

static void say(const char *what, cl_int result)
{
	printf("%s %d\n", what, result);
}

#define SAY(call) say(#call, call)
#define MADE(object, call) do { \
	cl_int result_ = 12345; \
	object = call; \
	printf("%s %d %d\n", #call, result_, (object) != NULL); \
} while (0)

/* Waits for an event, releases it, and prints its status. */
static void done(cl_event event)
{
	cl_int status = 99;
	cl_uint refs = 0;

	if (!event) {
		printf("  no event\n");
		return;
	}
	say("  wait", clWaitForEvents(1, &event));
	clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
	/* The driver drops its own references a little after the wait returned. */
	for (int i = 0; i < 20 && refs != 1; i++) {
		clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
		if (refs != 1)
			usleep(1000);
	}
	printf("  status %d references %u\n", status, refs);
	say("  release", clReleaseEvent(event));
}

static void set_up(void)
{
	static const char *source =
		"kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n"
		"kernel void mul(global int *a, int n) { a[get_global_id(0)] *= n; }\n";
	int one = 1;
	cl_kernel both[2];
	cl_uint n;
	char name[64];

	SAY(clGetPlatformIDs(1, &platform, NULL));
	SAY(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	SAY(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL));
	SAY(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &device, NULL));
	SAY(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CUSTOM, 1, &device, NULL));
	MADE(context, clCreateContextFromType(NULL, CL_DEVICE_TYPE_CUSTOM, NULL, NULL, &result_));
	MADE(context, clCreateContextFromType(NULL, CL_DEVICE_TYPE_ALL, NULL, NULL, &result_));
	if (context)
		SAY(clReleaseContext(context));
	MADE(context, clCreateContext(NULL, 1, &device, NULL, NULL, &result_));
	MADE(queue, clCreateCommandQueue(context, device, 0, &result_));
	MADE(program, clCreateProgramWithSource(context, 1, &source, NULL, &result_));
	SAY(clBuildProgram(program, 1, &device, "-DX=1", NULL, NULL));
	MADE(kernel, clCreateKernel(program, "no_such", &result_));
	MADE(kernel, clCreateKernel(program, "add", NULL));
	MADE(kernel, clCreateKernel(program, "add", &result_));
	SAY(clCreateKernelsInProgram(program, 0, NULL, &n));
	SAY(clCreateKernelsInProgram(program, 0, NULL, NULL));
	SAY(clCreateKernelsInProgram(program, 1, both, NULL));
	SAY(clCreateKernelsInProgram(program, 2, both, NULL));
	for (int i = 0; i < 2; i++) {
		clGetKernelInfo(both[i], CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
		printf("kernel %s\n", name);
	}
	MADE(a, clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &result_));
	MADE(a, clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &result_));
	MADE(b, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, host2, &result_));
	SAY(clSetKernelArg(kernel, 0, sizeof(a), &a));
	SAY(clSetKernelArg(kernel, 1, sizeof(one), &one));
	SAY(clSetKernelArg(kernel, 7, sizeof(one), &one));
}

static void queues(void)
{
	cl_queue_properties props[] = { CL_QUEUE_PROPERTIES,
		CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
	cl_queue_properties prof[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0 };
	cl_queue_properties none[] = { 0 };
	cl_queue_properties *lists[] = { NULL, none, props, prof };
	cl_command_queue_properties got;
	cl_command_queue q;
	cl_queue_properties array[8];
	size_t bytes;
	cl_uint refs;

	for (int i = 0; i < 4; i++) {
		MADE(q, clCreateCommandQueueWithProperties(context, device, lists[i], &result_));
		got = 99;
		SAY(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(got), &got, &bytes));
		printf("  properties %d bytes %zu\n", (int)got, bytes);
		SAY(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, 1, &got, &bytes));
		bytes = 999;
		memset(array, 0x55, sizeof(array));
		SAY(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof(array), array,
					  &bytes));
		printf("  array %zu %d %d\n", bytes, (int)array[0], (int)array[1]);
		SAY(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, 1, array, NULL));
		SAY(clRetainCommandQueue(q));
		SAY(clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof(refs), &refs, NULL));
		printf("  references %u\n", refs);
		SAY(clReleaseCommandQueue(q));
		SAY(clReleaseCommandQueue(q));
	}
	for (int i = 0; i < 4; i++) {
		MADE(q, clCreateCommandQueue(context, device, (cl_command_queue_properties)i,
			&result_));
		got = 99;
		SAY(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(got), &got, NULL));
		printf("  properties %d\n", (int)got);
		SAY(clReleaseCommandQueue(q));
	}
	MADE(q, clCreateCommandQueue(context, device, 0x1000, &result_));
	MADE(q, clCreateCommandQueue(context, NULL, 0, &result_));
}

static void profiling(void)
{
	cl_command_queue plain, timed;
	cl_event event;
	cl_ulong tick = 0;
	size_t global = 64;

	MADE(plain, clCreateCommandQueue(context, device, 0, &result_));
	MADE(timed, clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &result_));
	SAY(clEnqueueNDRangeKernel(plain, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
	SAY(clWaitForEvents(1, &event));
	SAY(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(tick), &tick, NULL));
	printf("  tick %d\n", tick != 0);
	SAY(clReleaseCommandQueue(plain));
	SAY(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(tick), &tick, NULL));
	printf("  tick %d\n", tick != 0);
	SAY(clReleaseEvent(event));
	SAY(clEnqueueNDRangeKernel(timed, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
	SAY(clWaitForEvents(1, &event));
	SAY(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(tick), &tick, NULL));
	printf("  tick %d\n", tick != 0);
	SAY(clGetEventProfilingInfo(event, 1, sizeof(tick), &tick, NULL));
	SAY(clReleaseEvent(event));
	SAY(clReleaseCommandQueue(timed));
}

static void buffers(void)
{
	cl_buffer_region part = { 0, BYTES / 2 };
	size_t origin[3] = { 0, 0, 0 }, region[3] = { 16, 4, 2 };
	cl_event event = NULL;
	cl_mem sub, got;
	char pattern = 7;
	void *at;

	SAY(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
	SAY(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, BYTES, host, 0, NULL, &event)), done(event);
	SAY(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES * 2, host, 0, NULL, NULL));
	SAY(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, host, 0, NULL, &event)), done(event);
	SAY(clEnqueueReadBuffer(queue, a, CL_FALSE, 0, BYTES, NULL, 0, NULL, NULL));
	SAY(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 0, NULL, &event)), done(event);
	SAY(clEnqueueFillBuffer(queue, a, &pattern, 1, 0, BYTES, 0, NULL, &event)), done(event);
	SAY(clEnqueueFillBuffer(queue, a, &pattern, 3, 0, BYTES, 0, NULL, NULL));
	SAY(clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, origin, region, 0, 0, 0, 0, host,
				    0, NULL, &event)), done(event);
	SAY(clEnqueueWriteBufferRect(queue, a, CL_FALSE, origin, origin, region, 0, 0, 0, 0, host,
				     0, NULL, &event)), done(event);
	SAY(clEnqueueCopyBufferRect(queue, a, b, origin, origin, region, 0, 0, 0, 0,
				    0, NULL, &event)), done(event);
	MADE(at, clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL, &event,
				    &result_));
	done(event);
	printf("first byte %d\n", at ? ((char *)at)[200] : -1);
	SAY(clEnqueueUnmapMemObject(queue, a, at, 0, NULL, &event)), done(event);
	MADE(at, clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, BYTES * 9, 0, NULL, NULL,
				    &result_));
	SAY(clEnqueueMigrateMemObjects(queue, 1, &a, 0, 0, NULL, &event)), done(event);
	SAY(clEnqueueMigrateMemObjects(queue, 1, &a, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
	MADE(sub, clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &result_));
	SAY(clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(got), &got, NULL));
	printf("parent %d\n", got == a);
	SAY(clRetainMemObject(sub));
	SAY(clReleaseMemObject(sub));
	SAY(clReleaseMemObject(sub));
	MADE(got,
	     clCreateBufferWithProperties(context, NULL, CL_MEM_READ_ONLY, 64, NULL, &result_));
	SAY(clReleaseMemObject(got));
}

/* Writes of 24 bytes whose places are known: see case_places of opencl.sh. */
static void places(void)
{
	cl_buffer_region region = { 128, 128 };	/* aligned as strictly as any device requires */
	cl_mem whole, part;
	void *at;

	MADE(whole, clCreateBuffer(context, CL_MEM_READ_WRITE, 256, NULL, &result_));
	MADE(part, clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &result_));
	SAY(clEnqueueWriteBuffer(queue, whole, CL_TRUE, 0, 24, host, 0, NULL, NULL));
	SAY(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, 24, host, 0, NULL, NULL));
	SAY(clEnqueueWriteBuffer(queue, whole, CL_TRUE, 136, 24, host, 0, NULL, NULL));
	SAY(clEnqueueWriteBuffer(queue, part, CL_TRUE, 8, 24, host, 0, NULL, NULL));
	SAY(clReleaseMemObject(part));
	SAY(clReleaseMemObject(whole));
	MADE(whole, clCreateBuffer(context, CL_MEM_READ_WRITE, 256, NULL, &result_));
	SAY(clEnqueueWriteBuffer(queue, whole, CL_TRUE, 0, 24, host, 0, NULL, NULL));
	MADE(at, clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_WRITE, 128, 128, 0, NULL, NULL,
				    &result_));
	SAY(clEnqueueWriteBuffer(queue, whole, CL_TRUE, 0, 24, (char *)at + 100, 0, NULL, NULL));
	SAY(clEnqueueUnmapMemObject(queue, whole, at, 0, NULL, NULL));
	SAY(clFinish(queue));
	SAY(clReleaseMemObject(whole));
}

static void images(void)
{
	cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
	cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16,
			       .image_height = 8 };
	size_t origin[3] = { 0, 0, 0 }, region[3] = { 16, 8, 1 }, row, slice;
	float colour[4] = { 1, 0, 1, 0 };
	cl_event event = NULL;
	cl_mem one, two, three;
	size_t bytes = 0;
	void *at;

	MADE(one, clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &result_));
	MADE(two, clCreateImage2D(context, CL_MEM_READ_WRITE, &format, 16, 8, 0, NULL, &result_));
	MADE(three, clCreateImage3D(context, CL_MEM_READ_WRITE, &format, 4, 4, 4, 0, 0, NULL,
				    &result_));
	if (!one || !two)
		return;
	SAY(clGetImageInfo(one, CL_IMAGE_ELEMENT_SIZE, sizeof(bytes), &bytes, NULL));
	SAY(clEnqueueWriteImage(queue, one, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL));
	SAY(clEnqueueReadImage(queue, one, CL_TRUE, origin, region, 0, 0, host, 0, NULL, &event)),
		done(event);
	SAY(clEnqueueFillImage(queue, one, colour, origin, region, 0, NULL, &event)), done(event);
	SAY(clEnqueueCopyImage(queue, one, two, origin, origin, region, 0, NULL, &event)),
		done(event);
	SAY(clEnqueueCopyImageToBuffer(queue, one, a, origin, region, 0, 0, NULL, &event)),
		done(event);
	SAY(clEnqueueCopyBufferToImage(queue, a, two, 0, origin, region, 0, NULL, &event)),
		done(event);
	MADE(at, clEnqueueMapImage(queue, one, CL_TRUE, CL_MAP_READ, origin, region, &row, &slice,
				   0, NULL, &event, &result_));
	done(event);
	SAY(clEnqueueUnmapMemObject(queue, one, at, 0, NULL, NULL));
	SAY(clFinish(queue));
	SAY(clReleaseMemObject(one));
	SAY(clReleaseMemObject(two));
	if (three)
		SAY(clReleaseMemObject(three));
}

static void CL_CALLBACK native(void *args)
{
	(*(int **)args)[0]++;
}

static void kernels(void)
{
	size_t global[3] = { 64, 2, 1 }, local[3] = { 8, 2, 1 };
	static int runs;
	int *arg = &runs;
	cl_event event = NULL;
	cl_kernel twin;

	SAY(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, global, NULL, 0, NULL, NULL));
	SAY(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, &event)),
		done(event);
	SAY(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, global, local, 0, NULL, NULL));
	SAY(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, NULL, NULL, 0, NULL, NULL));
	SAY(clEnqueueTask(queue, kernel, 0, NULL, &event)), done(event);
	SAY(clEnqueueNativeKernel(queue, native, &arg, sizeof(arg), 0, NULL, NULL, 0, NULL,
				  &event)), done(event);
	printf("native ran %d\n", runs);
	twin = clCloneKernel(kernel, NULL);
	printf("clone %d\n", twin != NULL);
	if (twin) {
		SAY(clEnqueueNDRangeKernel(queue, twin, 1, NULL, global, NULL, 0, NULL, &event)),
			done(event);
		SAY(clReleaseKernel(twin));
	}
	SAY(clRetainKernel(kernel));
	SAY(clReleaseKernel(kernel));
}

static void markers(void)
{
	cl_event event = NULL, other = NULL;

	SAY(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event)), done(event);
	SAY(clEnqueueBarrierWithWaitList(queue, 0, NULL, &event)), done(event);
	SAY(clEnqueueMarker(queue, &event));
	SAY(clEnqueueBarrier(queue));
	SAY(clEnqueueMarkerWithWaitList(queue, 1, &event, &other)), done(other);
	done(event);
	SAY(clFlush(queue));
	SAY(clFinish(queue));
}

static void svm(void)
{
	cl_event event = NULL;
	int value = 5;
	void *p = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);
	void *r = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);

	printf("svm %d %d\n", p != NULL, r != NULL);
	if (!p || !r)
		return;
	SAY(clEnqueueSVMMemcpy(queue, CL_TRUE, p, host, BYTES, 0, NULL, &event)), done(event);
	SAY(clEnqueueSVMMemcpy(queue, CL_FALSE, r, p, BYTES, 0, NULL, &event)), done(event);
	SAY(clEnqueueSVMMemcpy(queue, CL_TRUE, host, r, BYTES, 0, NULL, &event)), done(event);
	SAY(clEnqueueSVMMemFill(queue, p, &value, sizeof(value), BYTES, 0, NULL, &event)),
		done(event);
	SAY(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, p, BYTES, 0, NULL, &event)), done(event);
	SAY(clEnqueueSVMUnmap(queue, p, 0, NULL, &event)), done(event);
	SAY(clEnqueueSVMMigrateMem(queue, 1, (const void **)&p, NULL, 0, 0, NULL, &event)),
		done(event);
	SAY(clSetKernelArgSVMPointer(kernel, 0, p));
	SAY(clEnqueueSVMFree(queue, 1, &r, NULL, NULL, 0, NULL, &event)), done(event);
	clSVMFree(context, p);
	SAY(clSetKernelArg(kernel, 0, sizeof(a), &a));
}

static void CL_CALLBACK built(cl_program done_program, void *data)
{
	cl_build_status status = 99;

	clGetProgramBuildInfo(done_program, device, CL_PROGRAM_BUILD_STATUS, sizeof(status),
			      &status, NULL);
	printf("built %d %s\n", status, (const char *)data);
}

static void programs(void)
{
	static const char *good = "kernel void good(global int *a) { a[0] = 1; }";
	static const char *bad = "kernel void bad(global int *a) { nonsense }";
	static char word[] = "data";
	cl_program p, linked;

	MADE(p, clCreateProgramWithSource(context, 1, &bad, NULL, &result_));
	SAY(clBuildProgram(p, 1, &device, "", NULL, NULL));
	SAY(clReleaseProgram(p));
	MADE(p, clCreateProgramWithSource(context, 1, &good, NULL, &result_));
	SAY(clBuildProgram(p, 1, &device, NULL, built, word));
	SAY(clReleaseProgram(p));
	MADE(p, clCreateProgramWithSource(context, 1, &good, NULL, &result_));
	SAY(clBuildProgram(p, 1, &device, NULL, NULL, word));
	SAY(clCompileProgram(p, 1, &device, "-DY", 0, NULL, NULL, NULL, NULL));
	MADE(linked, clLinkProgram(context, 1, &device, "", 1, &p, NULL, NULL, &result_));
	if (linked)
		SAY(clReleaseProgram(linked));
	SAY(clReleaseProgram(p));
}

static void devices(void)
{
	cl_device_partition_property equally[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
	cl_device_id parts[8];
	cl_command_queue q;
	cl_context c;
	cl_uint n = 0;

	SAY(clCreateSubDevices(device, equally, 0, NULL, NULL));
	SAY(clCreateSubDevices(device, equally, 8, parts, &n));
	if (!n)
		return;
	printf("parts %d\n", n > 0);
	MADE(c, clCreateContext(NULL, 1, parts, NULL, NULL, &result_));
	MADE(q, clCreateCommandQueue(c, parts[0], 0, &result_));
	SAY(clEnqueueMarkerWithWaitList(q, 0, NULL, NULL));
	SAY(clFinish(q));
	SAY(clReleaseCommandQueue(q));
	SAY(clReleaseContext(c));
	for (cl_uint i = 0; i < n; i++)
		clReleaseDevice(parts[i]);
}

static void command_buffers(void)
{
	union {
		void *object;
		clCreateCommandBufferKHR_fn create;
		clFinalizeCommandBufferKHR_fn finalize;
		clEnqueueCommandBufferKHR_fn enqueue;
		clReleaseCommandBufferKHR_fn release;
		clCommandNDRangeKernelKHR_fn command;
	} f;
#define FETCH(name) (f.object = clGetExtensionFunctionAddressForPlatform(platform, #name))
	cl_command_buffer_khr buffer = NULL;
	cl_int result = 1;
	cl_event event = NULL;
	size_t global = 64;

	if (!FETCH(clCreateCommandBufferKHR)) {
		printf("no command buffers\n");
		return;
	}
	buffer = f.create(1, &queue, NULL, &result);
	printf("command buffer %d %d\n", buffer != NULL, result);
	if (!buffer)
		return;
	FETCH(clCommandNDRangeKernelKHR);
	say("record", f.command(buffer, NULL, NULL, kernel, 1, NULL, &global, NULL, 0, NULL, NULL,
				NULL));
	FETCH(clFinalizeCommandBufferKHR);
	say("finalize", f.finalize(buffer));
	FETCH(clEnqueueCommandBufferKHR);
	say("enqueue", f.enqueue(0, NULL, buffer, 0, NULL, &event));
	done(event);
	FETCH(clReleaseCommandBufferKHR);
	say("release", f.release(buffer));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	set_up();
	queues();
	profiling();
	buffers();
	places();
	images();
	kernels();
	markers();
	svm();
	programs();
	devices();
	command_buffers();
	SAY(clReleaseMemObject(a));
	SAY(clReleaseMemObject(b));
	SAY(clReleaseKernel(kernel));
	SAY(clReleaseProgram(program));
	SAY(clReleaseCommandQueue(queue));
	SAY(clReleaseContext(context));
	return 0;
}
