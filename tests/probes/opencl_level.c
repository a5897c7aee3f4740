/* SPDX-License-Identifier: MIT */
/*
 * The level goes off and on while commands are in flight and queues come and
 * go; definitions are sent again; a process is attached to that began without
 * the layer. Drives the probe through the double tests/doubles/rt_text.c and
 * prints "ok" or "not ok" lines itself.
 *
 *	opencl_level PROBE		under the layer
 *	opencl_level attach PROBE	without it
 *	opencl_level loader PROBE	as a loader of 2026 would: loads it itself,
 *					ends it, begins again
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/runtime/runtime.h"

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_program program;
static cl_kernel kernel;
static cl_mem buffer;
static size_t global = 64;
static int number;

static void (*set_level)(int);
static void (*tick)(void);
static void (*dump)(void);
static long (*pending)(void);

static void check(int good, const char *what)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++number, what);
}

/* Finds a function of the double or the probe; both are loaded by now. */
static void *find(const char *library, const char *symbol)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);

	return handle ? dlsym(handle, symbol) : NULL;
}

/* Number of lines of the double that contain a word; announcements, which a full record follows,
 * count only if asked for. */
static int lines(const char *word)
{
	FILE *f = fopen(getenv("RT_TEXT_OUT"), "r");
	char text[8192];
	int n = 0;

	if (!f)
		return -1;
	while (fgets(text, sizeof(text), f))
		if (strstr(text, word) && (strstr(word, " open") || !strstr(text, " open")))
			n++;
	fclose(f);
	return n;
}

static void run(cl_command_queue queue, int n)
{
	for (int i = 0; i < n; i++)
		clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
	clFinish(queue);
}

static void *entry(cl_command_queue queue, int slot)
{
	return (*(void ***)queue)[slot];
}

static void set_up(void)
{
	static const char *source =
		"kernel void add(global int *a) { a[get_global_id(0)]++; }\n"
		"kernel void other(global int *a) { a[get_global_id(0)]--; }\n";

	clGetPlatformIDs(1, &platform, NULL);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
	clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
	kernel = clCreateKernel(program, "add", NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
}

static void find_functions(void)
{
	*(void **)&set_level = find("libtftop-runtime.so", "rt_text_level");
	*(void **)&tick = find("libtftop-runtime.so", "rt_text_tick");
	*(void **)&dump = find("libtftop-runtime.so", "rt_text_dump");
	*(void **)&pending = find("libtftop-runtime.so", "rt_text_pending_ns");
	if (!set_level || !tick || !dump || !pending) {
		printf("not ok 1 - the double is loaded\n");
		exit(1);
	}
}

static cl_command_queue_properties properties_of(cl_command_queue queue)
{
	cl_command_queue_properties p = 99;

	clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(p), &p, NULL);
	return p;
}

static cl_int profiling_of(cl_event event)
{
	cl_ulong t;

	return clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(t), &t, NULL);
}

enum {
	SLOT_NDRANGE = offsetof(struct _cl_icd_dispatch, clEnqueueNDRangeKernel) / sizeof(void *),
	SLOT_RETAIN_EVENT = offsetof(struct _cl_icd_dispatch, clRetainEvent) / sizeof(void *),
};

/* Memory that was allocated while the level was off is classified correctly. */
static void copy_to_svm(cl_command_queue queue, void *svm)
{
	char host[64] = { 0 };

	if (svm)
		clEnqueueSVMMemcpy(queue, CL_TRUE, svm, host, sizeof(host), 0, NULL, NULL);
	check(lines("name=clEnqueueSVMMemcpy dir=h2d bytes=64") == 1,
	      "a copy to memory made while off has its direction");
	clSVMFree(context, svm);
}

static void off_and_on(void)
{
	cl_command_queue before = clCreateCommandQueue(context, device, 0, NULL), during, timed;
	cl_event gate = clCreateUserEvent(context, NULL), waiting, event;
	void *wrapped = entry(before, SLOT_NDRANGE), *counted = entry(before, SLOT_RETAIN_EVENT);
	cl_kernel other;
	void *svm;
	int n;

	run(before, 3);
	check(lines("kind=kernel name=add") == 3, "three kernels are seen");
	clEnqueueNDRangeKernel(before, kernel, 1, NULL, &global, NULL, 1, &gate, &waiting);

	set_level(0);
	check(entry(before, SLOT_NDRANGE) != wrapped, "off gives the original back");
	check(properties_of(before) == 0, "off still hides the profiling of an old queue");
	n = lines("command ");
	clSetUserEventStatus(gate, CL_COMPLETE);
	clFinish(before);
	run(before, 5);
	check(lines("kind=kernel") <= n + 1, "off sees no new kernel");
	check(profiling_of(waiting) == CL_PROFILING_INFO_NOT_AVAILABLE,
	      "off still hides device times of an old queue");
	clReleaseEvent(waiting);
	clReleaseEvent(gate);
	during = clCreateCommandQueue(context, device, 0, NULL);
	timed = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
	clReleaseKernel(kernel);
	other = clCreateKernel(program, "other", NULL);
	clSetKernelArg(other, 0, sizeof(buffer), &buffer);
	kernel = other;
	svm = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);

	set_level(1);
	check(entry(before, SLOT_NDRANGE) == wrapped, "on wraps it again");
	check(entry(before, SLOT_RETAIN_EVENT) != counted, "min leaves chatty calls alone");
	run(before, 2);
	check(lines("name=other") == 2, "a kernel made while off has its own name");
	run(during, 2);
	check(lines("approx") + lines("notimes") == 2,
	      "a queue made while off has host times only");
	run(timed, 2);
	clEnqueueNDRangeKernel(timed, kernel, 1, NULL, &global, NULL, 0, NULL, &event);
	clWaitForEvents(1, &event);
	clFinish(timed);
	check(profiling_of(event) == CL_SUCCESS, "the program's own profiling works");
	check(properties_of(timed) == CL_QUEUE_PROFILING_ENABLE, "and is not hidden");
	clReleaseEvent(event);
	set_level(2);
	check(entry(before, SLOT_RETAIN_EVENT) == counted, "default wraps chatty calls");
	check(lines("queue id=") == 3, "three queues were sent");
	dump();
	check(lines("queue id=") == 6 && lines("device id=") == 2, "a dump sends them again");
	copy_to_svm(before, svm);
	clReleaseCommandQueue(during);
	clReleaseCommandQueue(timed);
	clReleaseCommandQueue(before);
}

/* A command is attributed to the op that is open on the launching thread. */
static void under_op(void)
{
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	uint64_t (*push)(const struct rt_op_args *);
	uint32_t (*name)(enum tft_name_kind, const char *);
	int (*pop)(uint32_t);
	struct rt_op_args args = { .step = -1 };

	*(void **)&push = find("libtftop-runtime.so", "rt_op_push");
	*(void **)&pop = find("libtftop-runtime.so", "rt_op_pop");
	*(void **)&name = find("libtftop-runtime.so", "rt_name");
	args.name = name(TFT_NAME_OP, "outer");
	push(&args);
	args.name = name(TFT_NAME_OP, "inner");
	push(&args);
	run(queue, 3);
	pop(0);
	run(queue, 2);
	pop(0);
	run(queue, 1);
	check(lines(" op=inner") == 3 && lines(" op=outer") == 2, "commands carry the open op");
	check(lines(" who=inner") == 1 && lines(" who=outer") == 1, "a wait says who waits");
	clReleaseCommandQueue(queue);
}

/* When a loader is unloaded, it unloads the layer first. */
static void deinit(const char *probe)
{
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	void *wrapped = entry(queue, SLOT_NDRANGE);
	cl_int (*end)(void);
	int n;

	*(void **)&end = find(probe, "clDeinitLayer");
	check(end && end() == CL_SUCCESS, "the layer can be ended");
	check(entry(queue, SLOT_NDRANGE) != wrapped, "and gives the table back");
	n = lines("");
	run(queue, 3);
	tick();
	check(lines("") == n, "and is silent");
	clReleaseCommandQueue(queue);
}

static void open_commands(void)
{
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	cl_event gate = clCreateUserEvent(context, NULL);
	long at;

	check(pending() == INT64_MAX, "nothing is pending");
	clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate, NULL);
	at = pending();
	check(at > 0 && at < INT64_MAX, "a command in flight is pending");
	tick();
	check(lines(" open") == 0 && pending() == at, "it is not announced at once");
	usleep(20000);	/* the age of the command matters */
	tick();
	check(lines(" open") == 1, "after 10 ms it is announced");
	check(pending() == INT64_MAX, "and is pending no more");
	tick();
	check(lines(" open") == 1, "once");
	clSetUserEventStatus(gate, CL_COMPLETE);
	clFinish(queue);
	clReleaseEvent(gate);
	check(pending() == INT64_MAX, "all is written");
	clReleaseCommandQueue(queue);
}

static int as_loader(const char *path)
{
	void *probe = dlopen(path, RTLD_NOW), *opencl = dlopen("libOpenCL.so.1", RTLD_NOW);
	cl_int (*info)(cl_uint, size_t, void *, size_t *);
	cl_int (*init)(cl_uint, const cl_icd_dispatch *, cl_uint *, const cl_icd_dispatch **,
		       const void *);
	cl_int (*end)(void);
	static cl_icd_dispatch target;
	const cl_icd_dispatch *ours = NULL;
	cl_uint version = 0, n = 0;
	cl_command_queue queue;
	char name[32] = "";

	*(void **)&info = dlsym(probe, "clGetLayerInfo");
	*(void **)&init = dlsym(probe, "clInitLayerWithProperties");
	*(void **)&end = dlsym(probe, "clDeinitLayer");
	*(void **)&target.clGetPlatformIDs = dlsym(opencl, "clGetPlatformIDs");
	check(info(0x4240, sizeof(version), &version, NULL) == 0 && version == 100,
	      "the layer's version is 100");
	check(info(0x4241, sizeof(name), name, NULL) == 0 && !strcmp(name, "tftop"),
	      "the layer has a name");
	check(info(0x4241, 2, name, NULL) == CL_INVALID_VALUE && info(1, 0, NULL, NULL) != 0,
	      "wrong questions are refused");
	check(init(0, &target, &n, &ours, NULL) == CL_INVALID_VALUE, "so is a table of nothing");
	for (int turn = 1; turn <= 2; turn++) {
		check(init(150, &target, &n, &ours, NULL) == CL_SUCCESS && ours && n,
		      "the layer begins");
		check(ours->clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS,
		      "platforms are found");
		if (turn == 1)
			set_up();
		queue = clCreateCommandQueue(context, device, 0, NULL);
		run(queue, 5);
		check(lines("kind=kernel name=add") == 5 * turn, "kernels are seen");
		clReleaseCommandQueue(queue);
		check(end() == CL_SUCCESS, "the layer ends");
	}
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "attach")) {
		cl_command_queue queue, later;
		int (*attach)(void);
		void *probe = dlopen(argv[2], RTLD_NOW);

		*(void **)&attach = probe ? dlsym(probe, "tftop_probe_attach") : NULL;
		if (!attach) {
			printf("not ok 1 - the probe can be loaded late\n");
			return 1;
		}
		check(attach() == TFT_ATTACH_UNUSED, "OpenCL that was not used yet is not begun");
		set_up();
		queue = clCreateCommandQueue(context, device, 0, NULL);
		run(queue, 3);
		check(attach() == TFT_ATTACHED, "it is watched late");
		check(attach() == TFT_ATTACHED && lines("probe name=") == 1,
		      "and once when asked twice");
		check(lines("command ") == 0, "nothing is known of before");
		run(queue, 4);
		check(lines("kind=kernel name=add") == 4, "kernels of an old queue are seen");
		later = clCreateCommandQueue(context, device, 0, NULL);
		run(later, 4);
		check(lines("times=1") >= 4 && lines("queue id=") == 2,
		      "a new queue has device times");
		check(properties_of(later) == 0, "hidden");
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "loader"))
		return as_loader(argv[2]);
	set_up();
	find_functions();
	off_and_on();
	open_commands();
	under_op();
	deinit(argc > 1 ? argv[1] : "libtftop-opencl.so");
	return 0;
}
