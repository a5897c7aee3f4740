/* SPDX-License-Identifier: MIT */
/*
 * late_opencl PROBE TRUTH [ROUNDS]: threads enqueue kernels and copies on queues of their
 * own, without profiling; in their midst the probe is brought in, and they go on, now also
 * on queues made since. TRUTH gets what was enqueued, in the form of tftop's report: what
 * was before by one kernel's name ("before", which must not be seen), what was while the
 * attach went on by another ("during", of which any part may be), the rest by "after" and
 * "since". Copies are fills until the attach is over, reads and writes from then on.
 * PROBE "-": none. Prints a sum of all results, which is the same in every run of one
 * number of rounds, and ends with 0 when all calls went well.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/programs/late.h"

#ifndef THREADS
#define THREADS 4
#endif
#define ITEMS 64
#define WARM 50				/* rounds of each thread before the attach */

enum phase { BEFORE, DURING, AFTER };
static const char *const names[] = { "before", "during", "after", "since" };
enum { KERNELS = 4, SINCE = 3 };

static const char *source =
	"kernel void before(global int *a) { a[get_global_id(0)] = 1; }\n"
	"kernel void during(global int *a) { a[get_global_id(0)] = 2; }\n"
	"kernel void after(global int *a) { a[get_global_id(0)] += 3; }\n"
	"kernel void since(global int *a) { a[get_global_id(0)] += 5; }\n";

static cl_context context;
static cl_device_id device;
static cl_program program;
static atomic_int phase;
static atomic_int warm;			/* threads that have finished these rounds */
static int rounds = 100;

struct thread {
	pthread_t thread;
	cl_command_queue queue;
	cl_mem buffer;
	cl_kernel kernel[KERNELS];
	long count[KERNELS], fills, reads, writes, read_bytes, written_bytes;
	long errors, sum;
};

static void launch(struct thread *t, cl_command_queue queue, int which)
{
	size_t global = ITEMS;

	t->errors += clEnqueueNDRangeKernel(queue, t->kernel[which], 1, NULL, &global, NULL, 0,
					    NULL, NULL) != CL_SUCCESS;
	t->count[which]++;
}

/* Until the attach is over: kernels and fills, whose number is not checked. */
static void go_on(struct thread *t)
{
	int zero = 0;

	for (int i = 0; ; i++) {
		enum phase now = (enum phase)atomic_load(&phase);

		if (i == WARM)
			atomic_fetch_add(&warm, 1);
		if (now == AFTER)
			break;
		launch(t, t->queue, now);
		t->errors += clEnqueueFillBuffer(t->queue, t->buffer, &zero, sizeof(zero), 0,
						 ITEMS * sizeof(int), 0, NULL, NULL) != CL_SUCCESS;
		t->fills++;
		if (i % 16 == 15)
			clFinish(t->queue);
	}
	clFinish(t->queue);
}

static void one_round(struct thread *t, cl_command_queue queue, int which, int i)
{
	int data[ITEMS];
	size_t bytes = (size_t)(1 + i % ITEMS) * sizeof(int);

	memset(data, i & 0x7f, sizeof(data));
	t->errors += clEnqueueWriteBuffer(queue, t->buffer, i % 2, 0, bytes, data, 0, NULL,
					  NULL) != CL_SUCCESS;
	t->writes++;
	t->written_bytes += (long)bytes;
	launch(t, queue, which);
	t->errors += clEnqueueReadBuffer(queue, t->buffer, CL_TRUE, 0, bytes, data, 0, NULL,
					 NULL) != CL_SUCCESS;
	t->reads++;
	t->read_bytes += (long)bytes;
	t->sum += data[i % ITEMS] & 0xffff;
}

static void *run(void *arg)
{
	struct thread *t = arg;
	cl_command_queue since;
	cl_int error;

	go_on(t);
	for (int i = 0; i < rounds; i++)
		one_round(t, t->queue, AFTER, i);
	since = clCreateCommandQueueWithProperties(context, device, NULL, &error);
	t->errors += error != CL_SUCCESS;
	for (int i = 0; i < rounds; i++)
		one_round(t, since, SINCE, i);
	clFinish(since);
	clReleaseCommandQueue(since);
	clReleaseCommandQueue(t->queue);
	return NULL;
}

static void set_up(struct thread *threads)
{
	cl_platform_id platform;
	cl_int error = clGetPlatformIDs(1, &platform, NULL);

	if (!error)
		error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = error ? NULL : clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	program = context ? clCreateProgramWithSource(context, 1, &source, NULL, &error) : NULL;
	if (!program || clBuildProgram(program, 0, NULL, NULL, NULL, NULL)) {
		fprintf(stderr, "late_opencl: no OpenCL device to run on: %d\n", error);
		exit(3);
	}
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		t->queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
		t->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(int), NULL,
					   NULL);
		for (int k = 0; k < KERNELS; k++) {
			t->kernel[k] = clCreateKernel(program, names[k], NULL);
			clSetKernelArg(t->kernel[k], 0, sizeof(t->buffer), &t->buffer);
		}
	}
}

static void tell(const struct thread *threads, const char *path)
{
	struct thread all = { 0 };
	FILE *f = fopen(path, "w");

	for (int i = 0; i < THREADS; i++) {
		for (int k = 0; k < KERNELS; k++)
			all.count[k] += threads[i].count[k];
		all.fills += threads[i].fills;
		all.reads += threads[i].reads;
		all.writes += threads[i].writes;
		all.read_bytes += threads[i].read_bytes;
		all.written_bytes += threads[i].written_bytes;
	}
	if (!f) {
		perror(path);
		exit(2);
	}
	fprintf(f, "{ \"kernels\": [");
	for (int k = 0; k < KERNELS; k++)
		fprintf(f, "%s{ \"name\": \"%s\", \"count\": %ld }", k ? ", " : " ", names[k],
			all.count[k]);
	fprintf(f, " ], \"copies\": [ { \"direction\": \"fill\", \"count\": %ld, \"bytes\": %ld }, "
		"{ \"direction\": \"d2h\", \"count\": %ld, \"bytes\": %ld }, "
		"{ \"direction\": \"h2d\", \"count\": %ld, \"bytes\": %ld } ] }\n",
		all.fills, all.fills * (long)(ITEMS * sizeof(int)), all.reads, all.read_bytes,
		all.writes, all.written_bytes);
	fclose(f);
}

int main(int argc, char **argv)
{
	static struct thread threads[THREADS];
	long sum = 0, errors = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: late_opencl PROBE TRUTH [ROUNDS]\n");
		return 2;
	}
	if (argc > 3)
		rounds = atoi(argv[3]);
	set_up(threads);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i].thread, NULL, run, &threads[i]);
	while (atomic_load(&warm) < THREADS)
		sched_yield();
	atomic_store(&phase, DURING);
	if (strcmp(argv[1], "-") && late_attach(argv[1]) != TFT_ATTACHED)
		errors++;
	atomic_store(&phase, AFTER);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		sum += threads[i].sum;
		errors += threads[i].errors;
	}
	tell(threads, argv[2]);
	printf("%ld\n", sum);
	return errors != 0;
}
