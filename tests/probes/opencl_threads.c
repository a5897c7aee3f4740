/* SPDX-License-Identifier: MIT */
/*
 * Many threads at once on queues of their own and on one they share; queues,
 * kernels and buffers made and released all the time; then a fork whose child
 * uses OpenCL again. Prints, as "truth NAME NUMBER", what it did.
 *
 *	opencl_threads [fork]
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 6
#define ROUNDS 20
#define EACH 10

static cl_device_id device;
static cl_context context;
static cl_program program;
static cl_command_queue shared;
static atomic_int kernels, copies, bytes, queues, buffers, errors;

static void ask(cl_int result)
{
	if (result)
		atomic_fetch_add(&errors, 1);
}

static void round_trip(int turn)
{
	cl_command_queue own = clCreateCommandQueue(context, device,
		turn % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, NULL);
	cl_kernel kernel = clCreateKernel(program, turn % 3 ? "add" : "sub", NULL);
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	int data[1024] = { 0 };
	size_t global = 64;
	cl_event event;

	atomic_fetch_add(&queues, 1);
	atomic_fetch_add(&buffers, 1);
	ask(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
	ask(clEnqueueWriteBuffer(own, buffer, CL_TRUE, 0, 4096, data, 0, NULL, NULL));
	for (int i = 0; i < EACH; i++) {
		ask(clEnqueueNDRangeKernel(own, kernel, 1, NULL, &global, NULL, 0, NULL,
					   i % 2 ? &event : NULL));
		if (i % 2)
			ask(clReleaseEvent(event));
		atomic_fetch_add(&kernels, 1);
	}
	ask(clFinish(own));
	ask(clEnqueueNDRangeKernel(shared, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
	atomic_fetch_add(&kernels, 1);
	ask(clWaitForEvents(1, &event));
	ask(clReleaseEvent(event));
	ask(clEnqueueReadBuffer(own, buffer, CL_TRUE, 0, 4096, data, 0, NULL, NULL));
	atomic_fetch_add(&copies, 2);
	atomic_fetch_add(&bytes, 8192);
	ask(clReleaseKernel(kernel));
	ask(clReleaseMemObject(buffer));
	ask(clReleaseCommandQueue(own));
}

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		round_trip(i);
	return NULL;
}

static int child(void)
{
	size_t global = 64;
	cl_kernel kernel = clCreateKernel(program, "add", NULL);
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);

	ask(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
	for (int i = 0; i < 7; i++)
		ask(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	ask(clFinish(queue));
	return atomic_load(&errors);
}

int main(int argc, char **argv)
{
	static const char *source =
		"kernel void add(global int *a) { a[get_global_id(0)]++; }\n"
		"kernel void sub(global int *a) { a[get_global_id(0)]--; }\n";
	pthread_t threads[THREADS];
	cl_platform_id platform;

	clGetPlatformIDs(1, &platform, NULL);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
	ask(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	shared = clCreateCommandQueue(context, device, 0, NULL);
	atomic_fetch_add(&queues, 1);
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		int status = -1;
		pid_t pid;

		round_trip(1);
		fflush(stdout);
		pid = fork();
		if (!pid)
			_exit(child());
		waitpid(pid, &status, 0);
		printf("truth child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		round_trip(1);
		pid = fork();
		if (!pid) {
			execlp("true", "true", (char *)NULL);
			_exit(127);
		}
		waitpid(pid, &status, 0);
		printf("truth exec %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	} else {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	clReleaseCommandQueue(shared);
	clReleaseProgram(program);
	clReleaseContext(context);
	printf("truth kernels %d\ntruth copies %d\ntruth bytes %d\ntruth queues %d\n"
	       "truth buffers %d\ntruth errors %d\n", kernels, copies, bytes, queues, buffers,
	       errors);
	return 0;
}
