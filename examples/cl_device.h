/* SPDX-License-Identifier: MIT */
/*
 * OpenCL as train_opencl uses it: one device, up to three queues, buffers that
 * know which commands still write or read them, and every command counted in
 * the truth (cl_truth.h).
 *
 * Order: on one in-order queue commands run as they were enqueued and nothing
 * is asked for. Across queues, or on an out-of-order queue, each command asks
 * for an event and waits for those of the commands whose results it needs or
 * whose input it overwrites.
 *
 * Errors: an OpenCL call that fails prints one line and ends the program with
 * status 1. Only the main thread may call these.
 */
#ifndef EXAMPLES_CL_DEVICE_H
#define EXAMPLES_CL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

#include "examples/cl_kernels.h"
#include "examples/cl_truth.h"

#define MAX_QUEUES_USED 3
/* Commands that may read a tensor between two that write it. */
#define MAX_READERS 16
/* Tensors one command may read, and write. */
#define MAX_USES 8
#define MAX_ARGS 8

struct cl_device {
	cl_device_id id;
	cl_context context;			   /* owned */
	cl_program program;			   /* owned */
	cl_kernel kernels[KERNELS];		   /* owned */
	cl_command_queue queues[MAX_QUEUES_USED];  /* owned */
	int n_queues;
	bool out_of_order;
	bool track; /* events are needed */
	char name[256];
};

/*
 * A part of a buffer with its own history. Tensors of one buffer that do not
 * overlap do not wait for each other.
 */
struct tensor {
	cl_mem buffer;	   /* owned by the tensor that was made first */
	cl_int offset;	   /* in elements, for kernels */
	size_t count;	   /* elements */
	size_t size_bytes; /* of the part */
	cl_event writer;   /* owned; NULL: nothing to wait for */
	int writer_queue;
	cl_event readers[MAX_READERS]; /* owned */
	int reader_queues[MAX_READERS];
	int n_readers;
};

struct uses {
	struct tensor *read[MAX_USES];
	struct tensor *write[MAX_USES];
};

struct kernel_arg {
	size_t size_bytes;
	const void *value;
};

#define ARG(lvalue) { sizeof(lvalue), &(lvalue) }

/* One kernel launch; args end at the first without a value. */
struct launch {
	enum kernel_id kernel;
	int queue;
	size_t global[2]; /* [1] == 0: one dimension */
	struct kernel_arg args[MAX_ARGS];
	struct uses uses;
};

/* Queue 0 computes; uploads: one more; faults: one more, the last, for --fail. */
void cl_device_open(struct cl_device *dev, bool out_of_order, bool uploads, bool faults);
void cl_device_close(struct cl_device *dev);

/* Prints call and the name of err, and ends the program, unless CL_SUCCESS. */
void cl_check(cl_int err, const char *call);

/* A new buffer as a whole; flags as for clCreateBuffer. */
void tensor_new(struct cl_device *dev, struct tensor *t, cl_mem_flags flags, size_t count,
		size_t element_bytes);
/* A part of the buffer of whole, in floats; whole owns the buffer. */
void tensor_part(struct tensor *t, const struct tensor *whole, size_t offset, size_t count);
/* Forgets the history; and gives the buffer up when owned. */
void tensor_release(struct tensor *t, bool owned);

void cl_launch(struct cl_device *dev, const struct launch *launch);

/* Host memory must stay as it is until the command is done (see cl_settle). */
void cl_write(struct cl_device *dev, int queue, struct tensor *to, const void *from);
/* Blocks until the data has come. */
void cl_read(struct cl_device *dev, int queue, struct tensor *from, void *to);
/* rows x columns elements of the first image of from, whose rows are pitch long. */
void cl_read_corner(struct cl_device *dev, int queue, struct tensor *from, float *to,
		    size_t rows, size_t columns, size_t pitch);
/* All of from; uses names the parts, when from is a whole that has some. */
void cl_copy(struct cl_device *dev, int queue, struct tensor *from, struct tensor *to,
	     const struct uses *uses);
void cl_fill_zero(struct cl_device *dev, int queue, struct tensor *t);
/* Map blocks; the pointer is valid until cl_unmap. */
void *cl_map_for_write(struct cl_device *dev, int queue, struct tensor *t);
void cl_unmap(struct cl_device *dev, int queue, struct tensor *t, void *mapped);

/* Waits until all queues are empty. */
void cl_settle(struct cl_device *dev);

#endif
