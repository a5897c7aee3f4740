/* SPDX-License-Identifier: MIT */
/*
 * An OpenCL layer that counts what a program enqueues and writes it to
 * $COUNT_FILE in the form of tftop's report, when the process ends: a second,
 * independent opinion on programs that do not count for themselves. It stands
 * where a user's own layer would, so tftop has to leave it in the chain.
 *
 * Counted: kernels, and copies of buffers and images by direction; a call that
 * returns an error counts as nothing. SVM is not known to it. Memory that runs
 * out ends the process: this is a test.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_QUEUES  64
#define MAX_KERNELS 4096
#define MAX_MAPS    1024

enum direction { H2D, D2H, D2D, FILL, MAP, UNMAP, DIRECTIONS };

static const char *const direction_names[] = { "h2d", "d2h", "d2d", "fill", "map", "unmap" };

/* of the first loader; calls are dispatched through the objects' tables */
static const cl_icd_dispatch *next;
static cl_icd_dispatch ours;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the variables below */

static struct {
	cl_command_queue handle; /* the address of a released queue may be used again */
	bool in_order;
	uint64_t kernels;
	uint64_t count[DIRECTIONS], bytes[DIRECTIONS];
} queues[MAX_QUEUES];
static int n_queues;

static struct {
	char *name;
	uint64_t count[MAX_QUEUES];
} kernels[MAX_KERNELS];
static int n_kernels;

static struct {
	cl_mem memory;
	void *at;
	uint64_t bytes;
} maps[MAX_MAPS];

static void give_up(const char *why)
{
	fprintf(stderr, "count_layer: %s\n", why);
	abort();
}

static int queue_number(cl_command_queue handle)
{
	int i;

	for (i = n_queues - 1; i >= 0; i--)
		if (queues[i].handle == handle)
			return i;
	give_up("a command on a queue that nobody created");
	return 0;
}

static cl_command_queue add_queue(cl_command_queue handle)
{
	cl_command_queue_properties properties = 0;

	if (!handle)
		return NULL;
	next->clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
				    NULL);
	pthread_mutex_lock(&lock);
	if (n_queues == MAX_QUEUES)
		give_up("too many queues");
	queues[n_queues].handle = handle;
	queues[n_queues++].in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	pthread_mutex_unlock(&lock);
	return handle;
}

static cl_int count_kernel(cl_int err, cl_command_queue queue, cl_kernel kernel)
{
	char name[4096] = "";
	int i;

	if (err != CL_SUCCESS)
		return err;
	next->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name) - 1, name, NULL);
	pthread_mutex_lock(&lock);
	for (i = 0; i < n_kernels && strcmp(kernels[i].name, name); i++)
		;
	if (i == n_kernels) {
		if (n_kernels == MAX_KERNELS || !(kernels[i].name = strdup(name)))
			give_up("too many kernels");
		n_kernels++;
	}
	kernels[i].count[queue_number(queue)]++;
	queues[queue_number(queue)].kernels++;
	pthread_mutex_unlock(&lock);
	return err;
}

static cl_int count_copy(cl_int err, cl_command_queue queue, enum direction direction,
			 uint64_t bytes)
{
	int q;

	if (err != CL_SUCCESS)
		return err;
	pthread_mutex_lock(&lock);
	q = queue_number(queue);
	queues[q].count[direction]++;
	queues[q].bytes[direction] += bytes;
	pthread_mutex_unlock(&lock);
	return err;
}

static uint64_t volume(const size_t *region)
{
	return (uint64_t)region[0] * region[1] * region[2];
}

static uint64_t image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;

	next->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(element), &element, NULL);
	return volume(region) * element;
}

static void *remember_map(cl_mem memory, void *at, uint64_t bytes)
{
	int i;

	if (!at)
		return NULL;
	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_MAPS && maps[i].at; i++)
		;
	if (i == MAX_MAPS)
		give_up("too many maps at once");
	maps[i].memory = memory;
	maps[i].at = at;
	maps[i].bytes = bytes;
	pthread_mutex_unlock(&lock);
	return at;
}

static uint64_t forget_map(cl_mem memory, void *at)
{
	uint64_t bytes = 0;
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_MAPS; i++)
		if (maps[i].memory == memory && maps[i].at == at) {
			bytes = maps[i].bytes;
			maps[i].at = NULL;
			break;
		}
	pthread_mutex_unlock(&lock);
	return bytes;
}

/* --- the calls -------------------------------------------------------------- */

#define TAIL cl_uint n_waits, const cl_event *waits, cl_event *event
#define TAIL_ARGS n_waits, waits, event

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
						 cl_command_queue_properties properties,
						 cl_int *err)
{
	return add_queue(next->clCreateCommandQueue(context, device, properties, err));
}

static cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device,
						      const cl_queue_properties *properties,
						      cl_int *err)
{
	return add_queue(next->clCreateCommandQueueWithProperties(context, device, properties,
								  err));
}

static cl_int CL_API_CALL nd_range(cl_command_queue q, cl_kernel kernel, cl_uint dims,
				   const size_t *offset, const size_t *global,
				   const size_t *local, TAIL)
{
	return count_kernel(next->clEnqueueNDRangeKernel(q, kernel, dims, offset, global, local,
							 TAIL_ARGS), q, kernel);
}

static cl_int CL_API_CALL task(cl_command_queue q, cl_kernel kernel, TAIL)
{
	return count_kernel(next->clEnqueueTask(q, kernel, TAIL_ARGS), q, kernel);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue q, cl_mem m, cl_bool block, size_t at,
				      size_t bytes, void *to, TAIL)
{
	return count_copy(next->clEnqueueReadBuffer(q, m, block, at, bytes, to, TAIL_ARGS), q,
			  D2H, bytes);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue q, cl_mem m, cl_bool block, size_t at,
				       size_t bytes, const void *from, TAIL)
{
	return count_copy(next->clEnqueueWriteBuffer(q, m, block, at, bytes, from, TAIL_ARGS), q,
			  H2D, bytes);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue q, cl_mem from, cl_mem to, size_t from_at,
				      size_t to_at, size_t bytes, TAIL)
{
	return count_copy(next->clEnqueueCopyBuffer(q, from, to, from_at, to_at, bytes, TAIL_ARGS),
			  q, D2D, bytes);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue q, cl_mem m, const void *pattern,
				      size_t pattern_bytes, size_t at, size_t bytes, TAIL)
{
	return count_copy(next->clEnqueueFillBuffer(q, m, pattern, pattern_bytes, at, bytes,
						    TAIL_ARGS), q, FILL, bytes);
}

static cl_int CL_API_CALL read_rect(cl_command_queue q, cl_mem m, cl_bool block,
				    const size_t *at, const size_t *host_at, const size_t *region,
				    size_t row, size_t slice, size_t host_row, size_t host_slice,
				    void *to, TAIL)
{
	return count_copy(next->clEnqueueReadBufferRect(q, m, block, at, host_at, region, row,
							slice, host_row, host_slice, to,
							TAIL_ARGS), q, D2H, volume(region));
}

static cl_int CL_API_CALL write_rect(cl_command_queue q, cl_mem m, cl_bool block,
				     const size_t *at, const size_t *host_at, const size_t *region,
				     size_t row, size_t slice, size_t host_row, size_t host_slice,
				     const void *from, TAIL)
{
	return count_copy(next->clEnqueueWriteBufferRect(q, m, block, at, host_at, region, row,
							 slice, host_row, host_slice, from,
							 TAIL_ARGS), q, H2D, volume(region));
}

static cl_int CL_API_CALL copy_rect(cl_command_queue q, cl_mem from, cl_mem to,
				    const size_t *from_at, const size_t *to_at,
				    const size_t *region, size_t from_row, size_t from_slice,
				    size_t to_row, size_t to_slice, TAIL)
{
	return count_copy(next->clEnqueueCopyBufferRect(q, from, to, from_at, to_at, region,
							from_row, from_slice, to_row, to_slice,
							TAIL_ARGS), q, D2D, volume(region));
}

static cl_int CL_API_CALL read_image(cl_command_queue q, cl_mem image, cl_bool block,
				     const size_t *at, const size_t *region, size_t row,
				     size_t slice, void *to, TAIL)
{
	return count_copy(next->clEnqueueReadImage(q, image, block, at, region, row, slice, to,
						   TAIL_ARGS), q, D2H, image_bytes(image, region));
}

static cl_int CL_API_CALL write_image(cl_command_queue q, cl_mem image, cl_bool block,
				      const size_t *at, const size_t *region, size_t row,
				      size_t slice, const void *from, TAIL)
{
	return count_copy(next->clEnqueueWriteImage(q, image, block, at, region, row, slice, from,
						    TAIL_ARGS), q, H2D, image_bytes(image, region));
}

static cl_int CL_API_CALL copy_image(cl_command_queue q, cl_mem from, cl_mem to,
				     const size_t *from_at, const size_t *to_at,
				     const size_t *region, TAIL)
{
	return count_copy(next->clEnqueueCopyImage(q, from, to, from_at, to_at, region,
						   TAIL_ARGS), q, D2D, image_bytes(from, region));
}

static cl_int CL_API_CALL image_to_buffer(cl_command_queue q, cl_mem from, cl_mem to,
					  const size_t *from_at, const size_t *region,
					  size_t to_at, TAIL)
{
	return count_copy(next->clEnqueueCopyImageToBuffer(q, from, to, from_at, region, to_at,
							   TAIL_ARGS), q, D2D,
			  image_bytes(from, region));
}

static cl_int CL_API_CALL buffer_to_image(cl_command_queue q, cl_mem from, cl_mem to,
					  size_t from_at, const size_t *to_at,
					  const size_t *region, TAIL)
{
	return count_copy(next->clEnqueueCopyBufferToImage(q, from, to, from_at, to_at, region,
							   TAIL_ARGS), q, D2D,
			  image_bytes(to, region));
}

static void *CL_API_CALL map_buffer(cl_command_queue q, cl_mem m, cl_bool block,
				    cl_map_flags flags, size_t at, size_t bytes, TAIL,
				    cl_int *err)
{
	void *mapped = next->clEnqueueMapBuffer(q, m, block, flags, at, bytes, TAIL_ARGS, err);

	count_copy(mapped ? CL_SUCCESS : CL_INVALID_VALUE, q, MAP, bytes);
	return remember_map(m, mapped, bytes);
}

static void *CL_API_CALL map_image(cl_command_queue q, cl_mem image, cl_bool block,
				   cl_map_flags flags, const size_t *at, const size_t *region,
				   size_t *row, size_t *slice, TAIL, cl_int *err)
{
	void *mapped = next->clEnqueueMapImage(q, image, block, flags, at, region, row, slice,
					       TAIL_ARGS, err);
	const uint64_t bytes = image_bytes(image, region);

	count_copy(mapped ? CL_SUCCESS : CL_INVALID_VALUE, q, MAP, bytes);
	return remember_map(image, mapped, bytes);
}

static cl_int CL_API_CALL unmap(cl_command_queue q, cl_mem m, void *mapped, TAIL)
{
	const cl_int err = next->clEnqueueUnmapMemObject(q, m, mapped, TAIL_ARGS);

	if (err != CL_SUCCESS)
		return err;
	return count_copy(err, q, UNMAP, forget_map(m, mapped));
}

/* --- what the loader calls -------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
					 size_t *size_ret)
{
	static const char layer_name[] = "count";
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *from = name == CL_LAYER_API_VERSION ? (const void *)&version : layer_name;
	const size_t needed = name == CL_LAYER_API_VERSION ? sizeof(version) : sizeof(layer_name);

	if (name != CL_LAYER_API_VERSION && name != CL_LAYER_NAME)
		return CL_INVALID_VALUE;
	if (value && size < needed)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, from, needed);
	if (size_ret)
		*size_ret = needed;
	return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
				      cl_uint *entries_ret, const cl_icd_dispatch **dispatch)
{
	if (entries < sizeof(ours) / sizeof(void *))
		return CL_INVALID_VALUE;
	if (!next)
		next = target;
	ours.clCreateCommandQueue = create_queue;
	ours.clCreateCommandQueueWithProperties = create_queue_with;
	ours.clEnqueueNDRangeKernel = nd_range;
	ours.clEnqueueTask = task;
	ours.clEnqueueReadBuffer = read_buffer;
	ours.clEnqueueWriteBuffer = write_buffer;
	ours.clEnqueueCopyBuffer = copy_buffer;
	ours.clEnqueueFillBuffer = fill_buffer;
	ours.clEnqueueReadBufferRect = read_rect;
	ours.clEnqueueWriteBufferRect = write_rect;
	ours.clEnqueueCopyBufferRect = copy_rect;
	ours.clEnqueueReadImage = read_image;
	ours.clEnqueueWriteImage = write_image;
	ours.clEnqueueCopyImage = copy_image;
	ours.clEnqueueCopyImageToBuffer = image_to_buffer;
	ours.clEnqueueCopyBufferToImage = buffer_to_image;
	ours.clEnqueueMapBuffer = map_buffer;
	ours.clEnqueueMapImage = map_image;
	ours.clEnqueueUnmapMemObject = unmap;
	*entries_ret = sizeof(ours) / sizeof(void *);
	*dispatch = &ours;
	return CL_SUCCESS;
}

/* --- the end ---------------------------------------------------------------- */

static void put_kernels(FILE *out)
{
	int i, q;

	fputs("  \"kernels\": [", out);
	for (i = 0; i < n_kernels; i++) {
		const char *comma = "";
		uint64_t sum = 0;

		for (q = 0; q < n_queues; q++)
			sum += kernels[i].count[q];
		fprintf(out, "%s\n    { \"name\": \"%s\", \"count\": %llu, \"by_queue\": [",
			i ? "," : "", kernels[i].name, (unsigned long long)sum);
		for (q = 0; q < n_queues; q++) {
			if (!kernels[i].count[q])
				continue;
			fprintf(out, "%s { \"queue\": %d, \"count\": %llu }", comma, q,
				(unsigned long long)kernels[i].count[q]);
			comma = ",";
		}
		fputs(" ] }", out);
	}
	fputs(" ],\n", out);
}

static void put_copies(FILE *out)
{
	const char *comma = "";
	int d, q;

	fputs("  \"copies\": [", out);
	for (q = 0; q < n_queues; q++)
		for (d = 0; d < DIRECTIONS; d++) {
			if (!queues[q].count[d])
				continue;
			fprintf(out,
				"%s\n    { \"direction\": \"%s\", \"queue\": %d, "
				"\"count\": %llu, \"bytes\": %llu }",
				comma, direction_names[d], q,
				(unsigned long long)queues[q].count[d],
				(unsigned long long)queues[q].bytes[d]);
			comma = ",";
		}
	fputs(" ],\n", out);
}

static void put_queues(FILE *out)
{
	int d, q;

	fputs("  \"queues\": [", out);
	for (q = 0; q < n_queues; q++) {
		uint64_t copies = 0;

		for (d = 0; d < DIRECTIONS; d++)
			copies += queues[q].count[d];
		fprintf(out,
			"%s\n    { \"id\": %d, \"in_order\": %s, \"kernels\": %llu, "
			"\"copies\": %llu }",
			q ? "," : "", q, queues[q].in_order ? "true" : "false",
			(unsigned long long)queues[q].kernels, (unsigned long long)copies);
	}
	fputs(" ] }\n", out);
}

static __attribute__((destructor)) void write_counts(void)
{
	const char *path = getenv("COUNT_FILE");
	FILE *out;

	/* a process that never used OpenCL writes nothing */
	if (!path || !next)
		return;
	out = fopen(path, "w");
	if (!out)
		give_up("$COUNT_FILE cannot be written");
	fprintf(out, "{ \"schema\": 1, \"run\": { \"pid\": %ld },\n", (long)getpid());
	put_kernels(out);
	put_copies(out);
	put_queues(out);
	if (fclose(out))
		give_up("$COUNT_FILE cannot be written");
}
