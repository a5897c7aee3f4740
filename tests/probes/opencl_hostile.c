/* SPDX-License-Identifier: MIT */
/*
 * What a program may do at the worst moment, on the vendor double: it forks
 * inside a call and comes back in the child; a thread that is to be cancelled
 * meets a table for the first time; it still
 * works when the probe has harvested for the last time; a second loader copy knows other
 * platforms than the first, which then goes. Prints what it got, to be
 * compared with the same without the layer; with "pending", asks the probe
 * itself and prints "ok" or "not ok" lines.
 *
 *	opencl_hostile fork
 *	opencl_hostile loaders SECOND_LOADER SECOND_VENDOR
 *	opencl_hostile atexit
 *	opencl_hostile cancel
 *	opencl_hostile meet
 *	opencl_hostile pending
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;
static cl_mem buffer;
static size_t global = 8;

/* A function pointer of the vendor double, called at a certain moment. */
static void set_hook(const char *name, void (*hook)(void))
{
	void *vendor = dlopen(getenv("OCL_ICD_VENDORS"), RTLD_NOW | RTLD_NOLOAD);
	void (**at)(void) = vendor ? dlsym(vendor, name) : NULL;

	if (!at) {
		printf("the vendor double is not loaded\n");
		exit(1);
	}
	*at = hook;
}

static void set_up(void)
{
	cl_platform_id platform;
	const char *source = "";

	clGetPlatformIDs(1, &platform, NULL);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	kernel = clCreateKernel(clCreateProgramWithSource(context, 1, &source, NULL, NULL), "one",
				NULL);
	buffer = clCreateBuffer(context, 0, 64, NULL, NULL);
}

static cl_int launch(void)
{
	return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
}

static pid_t child = -1;

static void fork_once(void)
{
	set_hook("fake_in_command", NULL);
	fflush(stdout);
	child = fork();
}

static int forks(void)
{
	char data[64] = { 0 };
	int status = -1, wrote;

	set_up();
	launch();
	set_hook("fake_in_command", fork_once);
	wrote = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof(data), data, 0, NULL, NULL);
	if (child > 0)
		waitpid(child, &status, 0);	/* what it prints comes first */
	printf("forked in %d\n", wrote);
	for (int i = 0; i < 5; i++)
		printf("launch %d\n", launch());
	printf("finish %d\n", clFinish(queue));
	if (child == 0) {
		fflush(stdout);
		_exit(7);
	}
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

static cl_platform_id first_platform(void *loader)
{
	cl_int (*get)(cl_uint, cl_platform_id *, cl_uint *);
	cl_platform_id platform = NULL;
	cl_uint n = 0;

	*(void **)&get = dlsym(loader, "clGetPlatformIDs");
	printf("get %d", get(1, &platform, &n));
	printf(" platforms %u\n", n);
	return platform;
}

static int loaders(const char *second, const char *vendor)
{
	void *one = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), *other;
	cl_platform_id a = first_platform(one), b;

	setenv("OCL_ICD_VENDORS", vendor, 1);
	other = dlopen(second, RTLD_NOW | RTLD_LOCAL);
	b = first_platform(other);
	printf("the second loader has its own platform %d\n", a != b);
	printf("the first keeps its own %d\n", first_platform(one) == a);
	dlclose(one);
	printf("the second too %d\n", first_platform(other) == b);
	return 0;
}

static bool survived;

/* OpenCL has no cancellation points. */
static void *cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	set_up();
	survived = true;
	return NULL;
}

static int cancels(void)
{
	pthread_t thread;
	cl_uint n;

	clGetPlatformIDs(0, NULL, &n);	/* loaders have some, at their start */
	errno = 0;
	pthread_create(&thread, NULL, cancelled, NULL);
	pthread_join(thread, NULL);
	printf("survived %d\n", survived);
	set_up();
	printf("launch %d\n", launch());
	printf("finish %d errno %d\n", clFinish(queue), errno);
	return 0;
}

static void at_the_very_end(void)
{
	for (int i = 0; i < 3; i++)
		printf("launch %d\n", launch());
	printf("finish %d\n", clFinish(queue));
}

static pthread_barrier_t both;

/* Each thread's first query of the queue waits for the other thread's. */
static void wait_for_other(void)
{
	static __thread bool met;

	if (!met) {
		met = true;
		pthread_barrier_wait(&both);
	}
}

static void *meet(void *unused)
{
	launch();
	return unused;
}

static void *of_runtime(const char *symbol)
{
	void *runtime = dlopen("libtftop-runtime.so", RTLD_NOW | RTLD_NOLOAD);

	return runtime ? dlsym(runtime, symbol) : NULL;
}

/* Two threads use a queue at the same time that was created while the level was off. */
static int meets(void)
{
	void (*set_level)(int);
	pthread_t thread[2];

	set_up();
	*(void **)&set_level = of_runtime("rt_text_level");
	if (!set_level)
		return 1;
	set_level(0);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	set_level(1);
	pthread_barrier_init(&both, NULL, 2);
	set_hook("fake_in_queue_info", wait_for_other);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, meet, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return clFinish(queue);
}

static long (*pending)(void);
static int unsettled = -1;

static void look_at_pending(void)
{
	unsettled = pending() < INT64_MAX;
}

static int is_pending(void)
{
	set_up();
	*(void **)&pending = of_runtime("rt_text_pending_ns");
	if (!pending)
		return 1;
	set_hook("fake_in_times", look_at_pending);
	launch();
	clFinish(queue);
	printf("%s 1 - a command is pending until its event is written\n",
	       unsettled == 1 ? "ok" : "not ok");
	printf("%s 2 - and no longer\n", pending() == INT64_MAX ? "ok" : "not ok");
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && !strcmp(argv[1], "fork"))
		return forks();
	if (argc == 4 && !strcmp(argv[1], "loaders"))
		return loaders(argv[2], argv[3]);
	if (argc == 2 && !strcmp(argv[1], "atexit")) {
		atexit(at_the_very_end);	/* before the probe's */
		set_up();
		return launch();
	}
	if (argc == 2 && !strcmp(argv[1], "cancel"))
		return cancels();
	if (argc == 2 && !strcmp(argv[1], "meet"))
		return meets();
	if (argc == 2 && !strcmp(argv[1], "pending"))
		return is_pending();
	return 2;
}
