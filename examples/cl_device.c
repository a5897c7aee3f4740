/* SPDX-License-Identifier: MIT */
#include "examples/cl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/marks.h"

#define MAX_WAITS (MAX_USES * (MAX_READERS + 1))

struct wait_list {
	cl_event events[MAX_WAITS]; /* borrowed from the tensors */
	cl_uint count;
};

static const char *error_name(cl_int err)
{
	switch (err) {
	case CL_DEVICE_NOT_FOUND:
		return "CL_DEVICE_NOT_FOUND";
	case CL_DEVICE_NOT_AVAILABLE:
		return "CL_DEVICE_NOT_AVAILABLE";
	case CL_MEM_OBJECT_ALLOCATION_FAILURE:
		return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
	case CL_OUT_OF_RESOURCES:
		return "CL_OUT_OF_RESOURCES";
	case CL_OUT_OF_HOST_MEMORY:
		return "CL_OUT_OF_HOST_MEMORY";
	case CL_BUILD_PROGRAM_FAILURE:
		return "CL_BUILD_PROGRAM_FAILURE";
	case CL_INVALID_VALUE:
		return "CL_INVALID_VALUE";
	case CL_INVALID_KERNEL_ARGS:
		return "CL_INVALID_KERNEL_ARGS";
	case CL_INVALID_BUFFER_SIZE:
		return "CL_INVALID_BUFFER_SIZE";
	case -1001:
		return "no OpenCL platform is installed";
	default:
		return "error";
	}
}

void cl_check(cl_int err, const char *call)
{
	if (err == CL_SUCCESS)
		return;
	fflush(stdout);
	fprintf(stderr, "train_opencl: %s failed: %s (%d)\n", call, error_name(err), err);
	exit(1);
}

static void find_device(struct cl_device *dev)
{
	static const cl_device_type types[] = { CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL };
	cl_platform_id platforms[16];
	cl_uint n = 0, i;
	cl_int err;
	size_t t;

	cl_check(clGetPlatformIDs(16, platforms, &n), "clGetPlatformIDs");
	if (n > 16)
		n = 16;
	for (t = 0; t < 2; t++)
		for (i = 0; i < n; i++) {
			err = clGetDeviceIDs(platforms[i], types[t], 1, &dev->id, NULL);
			if (err == CL_SUCCESS)
				return;
			truth_error("clGetDeviceIDs");
		}
	cl_check(CL_DEVICE_NOT_FOUND, "clGetDeviceIDs");
}

static void describe_device(struct cl_device *dev)
{
	cl_device_type type = 0;

	cl_check(clGetDeviceInfo(dev->id, CL_DEVICE_NAME, sizeof(dev->name), dev->name, NULL),
		 "clGetDeviceInfo");
	cl_check(clGetDeviceInfo(dev->id, CL_DEVICE_TYPE, sizeof(type), &type, NULL),
		 "clGetDeviceInfo");
	truth_device(dev->name, type & CL_DEVICE_TYPE_GPU ? "gpu" :
				type & CL_DEVICE_TYPE_CPU ? "cpu" : "accelerator");
}

static void build_program(struct cl_device *dev)
{
	cl_uint parts = 0;
	char log[4096] = "";
	cl_int err;
	int i;

	while (kernel_source[parts])
		parts++;
	dev->program = clCreateProgramWithSource(dev->context, parts,
						 (const char **)kernel_source, NULL, &err);
	cl_check(err, "clCreateProgramWithSource");
	err = clBuildProgram(dev->program, 1, &dev->id, "-cl-std=CL1.2", NULL, NULL);
	if (err == CL_BUILD_PROGRAM_FAILURE) {
		clGetProgramBuildInfo(dev->program, dev->id, CL_PROGRAM_BUILD_LOG,
				      sizeof(log) - 1, log, NULL);
		fprintf(stderr, "%s\n", log);
	}
	cl_check(err, "clBuildProgram");
	for (i = 0; i < KERNELS; i++) {
		dev->kernels[i] = clCreateKernel(dev->program, kernel_names[i], &err);
		cl_check(err, "clCreateKernel");
	}
}

static void open_queue(struct cl_device *dev, const char *name)
{
	const cl_command_queue_properties properties =
		dev->out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
	cl_int err;

	dev->queues[dev->n_queues] =
		clCreateCommandQueue(dev->context, dev->id, properties, &err);
	cl_check(err, "clCreateCommandQueue");
	truth_queue(name, !dev->out_of_order);
	dev->n_queues++;
}

void cl_device_open(struct cl_device *dev, bool out_of_order, bool uploads, bool faults)
{
	cl_int err;

	memset(dev, 0, sizeof(*dev));
	find_device(dev);
	describe_device(dev);
	dev->out_of_order = out_of_order;
	dev->track = out_of_order || uploads;
	dev->context = clCreateContext(NULL, 1, &dev->id, NULL, NULL, &err);
	cl_check(err, "clCreateContext");
	build_program(dev);
	open_queue(dev, "compute");
	if (uploads)
		open_queue(dev, "uploads");
	if (faults)
		open_queue(dev, "faults");
}

void cl_device_close(struct cl_device *dev)
{
	int i;

	for (i = 0; i < KERNELS; i++)
		cl_check(clReleaseKernel(dev->kernels[i]), "clReleaseKernel");
	cl_check(clReleaseProgram(dev->program), "clReleaseProgram");
	for (i = 0; i < dev->n_queues; i++)
		cl_check(clReleaseCommandQueue(dev->queues[i]), "clReleaseCommandQueue");
	cl_check(clReleaseContext(dev->context), "clReleaseContext");
}

/* --- tensors and what they wait for ---------------------------------------- */

void tensor_new(struct cl_device *dev, struct tensor *t, cl_mem_flags flags, size_t count,
		size_t element_bytes)
{
	cl_int err;

	memset(t, 0, sizeof(*t));
	t->count = count;
	t->size_bytes = count * element_bytes;
	t->buffer = clCreateBuffer(dev->context, flags, t->size_bytes, NULL, &err);
	cl_check(err, "clCreateBuffer");
	truth_alloc(t->size_bytes, marks_top());
}

void tensor_part(struct tensor *t, const struct tensor *whole, size_t offset, size_t count)
{
	memset(t, 0, sizeof(*t));
	t->buffer = whole->buffer;
	t->offset = (cl_int)offset;
	t->count = count;
	t->size_bytes = count * sizeof(float);
}

static void forget_readers(struct tensor *t)
{
	int i;

	for (i = 0; i < t->n_readers; i++)
		cl_check(clReleaseEvent(t->readers[i]), "clReleaseEvent");
	t->n_readers = 0;
}

static void forget_writer(struct tensor *t)
{
	if (t->writer)
		cl_check(clReleaseEvent(t->writer), "clReleaseEvent");
	t->writer = NULL;
}

/*
 * A runtime may hold a buffer for a moment longer than its last command runs,
 * and what it holds at the end of the program it never frees. Here it is to be
 * told when all of it is given up; a second is more than that takes.
 */
static void wait_for_last_reference(cl_mem buffer)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	cl_uint references = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		cl_check(clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof(references),
					    &references, NULL), "clGetMemObjectInfo");
		if (references <= 1)
			return;
		nanosleep(&moment, NULL);
	}
}

void tensor_release(struct tensor *t, bool owned)
{
	forget_readers(t);
	forget_writer(t);
	if (owned) {
		wait_for_last_reference(t->buffer);
		cl_check(clReleaseMemObject(t->buffer), "clReleaseMemObject");
		truth_free(t->size_bytes);
	}
	t->buffer = NULL;
}

/* An in-order queue keeps the order among its own commands by itself. */
static void wait_for(const struct cl_device *dev, struct wait_list *waits, int queue,
		     cl_event event, int event_queue)
{
	cl_uint i;

	if (!event || (!dev->out_of_order && queue == event_queue))
		return;
	for (i = 0; i < waits->count; i++)
		if (waits->events[i] == event)
			return;
	waits->events[waits->count++] = event;
}

static void collect_waits(const struct cl_device *dev, struct wait_list *waits, int queue,
			  const struct uses *uses)
{
	int i, j;

	waits->count = 0;
	for (i = 0; i < MAX_USES && uses->read[i]; i++)
		wait_for(dev, waits, queue, uses->read[i]->writer, uses->read[i]->writer_queue);
	for (i = 0; i < MAX_USES && uses->write[i]; i++) {
		const struct tensor *t = uses->write[i];

		wait_for(dev, waits, queue, t->writer, t->writer_queue);
		for (j = 0; j < t->n_readers; j++)
			wait_for(dev, waits, queue, t->readers[j], t->reader_queues[j]);
	}
}

static void keep(cl_event event)
{
	cl_check(clRetainEvent(event), "clRetainEvent");
}

/* Takes event over from the command just enqueued. */
static void remember(int queue, cl_event event, const struct uses *uses)
{
	int i;

	if (!event)
		return;
	for (i = 0; i < MAX_USES && uses->write[i]; i++) {
		struct tensor *t = uses->write[i];

		forget_readers(t);
		forget_writer(t);
		keep(event);
		t->writer = event;
		t->writer_queue = queue;
	}
	for (i = 0; i < MAX_USES && uses->read[i]; i++) {
		struct tensor *t = uses->read[i];

		if (t->n_readers == MAX_READERS) {
			fprintf(stderr, "train_opencl: a tensor is read too often\n");
			exit(1);
		}
		keep(event);
		t->readers[t->n_readers] = event;
		t->reader_queues[t->n_readers++] = queue;
	}
	cl_check(clReleaseEvent(event), "clReleaseEvent");
}

/* The three arguments that end every enqueue. */
#define WAITS(w) (w).count, (w).count ? (w).events : NULL
#define EVENT(dev, e) ((dev)->track ? &(e) : NULL)

/* --- commands --------------------------------------------------------------- */

void cl_launch(struct cl_device *dev, const struct launch *launch)
{
	cl_kernel kernel = dev->kernels[launch->kernel];
	const cl_uint dimensions = launch->global[1] ? 2 : 1;
	struct wait_list waits;
	cl_event event = NULL;
	cl_uint i;

	for (i = 0; i < MAX_ARGS && launch->args[i].value; i++)
		cl_check(clSetKernelArg(kernel, i, launch->args[i].size_bytes,
					launch->args[i].value),
			 "clSetKernelArg");
	collect_waits(dev, &waits, launch->queue, &launch->uses);
	cl_check(clEnqueueNDRangeKernel(dev->queues[launch->queue], kernel, dimensions, NULL,
					launch->global, NULL, WAITS(waits), EVENT(dev, event)),
		 "clEnqueueNDRangeKernel");
	remember(launch->queue, event, &launch->uses);
	truth_kernel(kernel_names[launch->kernel], launch->queue, marks_top(), false);
}

void cl_write(struct cl_device *dev, int queue, struct tensor *to, const void *from)
{
	const struct uses uses = { .write = { to } };
	struct wait_list waits;
	cl_event event = NULL;

	collect_waits(dev, &waits, queue, &uses);
	cl_check(clEnqueueWriteBuffer(dev->queues[queue], to->buffer, CL_FALSE, 0, to->size_bytes,
				      from, WAITS(waits), EVENT(dev, event)),
		 "clEnqueueWriteBuffer");
	remember(queue, event, &uses);
	truth_copy(TRUTH_H2D, queue, to->size_bytes, false);
}

void cl_read(struct cl_device *dev, int queue, struct tensor *from, void *to)
{
	const struct uses uses = { .read = { from } };
	struct wait_list waits;

	collect_waits(dev, &waits, queue, &uses);
	cl_check(clEnqueueReadBuffer(dev->queues[queue], from->buffer, CL_TRUE, 0,
				     from->size_bytes, to, WAITS(waits), NULL),
		 "clEnqueueReadBuffer");
	truth_copy(TRUTH_D2H, queue, from->size_bytes, false);
}

void cl_read_corner(struct cl_device *dev, int queue, struct tensor *from, float *to,
		    size_t rows, size_t columns, size_t pitch)
{
	const size_t origin[3] = { 0, 0, 0 };
	const size_t region[3] = { columns * sizeof(float), rows, 1 };
	const struct uses uses = { .read = { from } };
	struct wait_list waits;

	collect_waits(dev, &waits, queue, &uses);
	cl_check(clEnqueueReadBufferRect(dev->queues[queue], from->buffer, CL_TRUE, origin, origin,
					 region, pitch * sizeof(float), 0,
					 columns * sizeof(float), 0, to, WAITS(waits), NULL),
		 "clEnqueueReadBufferRect");
	truth_copy(TRUTH_D2H, queue, region[0] * region[1] * region[2], false);
}

void cl_copy(struct cl_device *dev, int queue, struct tensor *from, struct tensor *to,
	     const struct uses *uses)
{
	struct wait_list waits;
	cl_event event = NULL;

	collect_waits(dev, &waits, queue, uses);
	cl_check(clEnqueueCopyBuffer(dev->queues[queue], from->buffer, to->buffer, 0, 0,
				     from->size_bytes, WAITS(waits), EVENT(dev, event)),
		 "clEnqueueCopyBuffer");
	remember(queue, event, uses);
	truth_copy(TRUTH_D2D, queue, from->size_bytes, false);
}

void cl_fill_zero(struct cl_device *dev, int queue, struct tensor *t)
{
	const struct uses uses = { .write = { t } };
	const cl_float zero = 0.0f;
	struct wait_list waits;
	cl_event event = NULL;

	collect_waits(dev, &waits, queue, &uses);
	cl_check(clEnqueueFillBuffer(dev->queues[queue], t->buffer, &zero, sizeof(zero), 0,
				     t->size_bytes, WAITS(waits), EVENT(dev, event)),
		 "clEnqueueFillBuffer");
	remember(queue, event, &uses);
	truth_copy(TRUTH_FILL, queue, t->size_bytes, false);
}

void *cl_map_for_write(struct cl_device *dev, int queue, struct tensor *t)
{
	const struct uses uses = { .write = { t } };
	struct wait_list waits;
	cl_int err;
	void *mapped;

	collect_waits(dev, &waits, queue, &uses);
	mapped = clEnqueueMapBuffer(dev->queues[queue], t->buffer, CL_TRUE,
				    CL_MAP_WRITE_INVALIDATE_REGION, 0, t->size_bytes,
				    WAITS(waits), NULL, &err);
	cl_check(err, "clEnqueueMapBuffer");
	truth_copy(TRUTH_MAP, queue, t->size_bytes, false);
	return mapped;
}

void cl_unmap(struct cl_device *dev, int queue, struct tensor *t, void *mapped)
{
	const struct uses uses = { .write = { t } };
	struct wait_list waits;
	cl_event event = NULL;

	collect_waits(dev, &waits, queue, &uses);
	cl_check(clEnqueueUnmapMemObject(dev->queues[queue], t->buffer, mapped, WAITS(waits),
					 EVENT(dev, event)),
		 "clEnqueueUnmapMemObject");
	remember(queue, event, &uses);
	truth_copy(TRUTH_UNMAP, queue, t->size_bytes, false);
}

void cl_settle(struct cl_device *dev)
{
	int i;

	for (i = 0; i < dev->n_queues; i++)
		cl_check(clFinish(dev->queues[i]), "clFinish");
}
