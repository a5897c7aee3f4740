/* SPDX-License-Identifier: MIT */
/*
 * What a kernel does, judged by its name: its class, the type of its numbers, whether it uses
 * tensor cores. The names of the usual libraries are known (cuBLAS, cuDNN, CUTLASS, PyTorch,
 * Triton, XLA, NCCL, oneDNN, …); where a name says nothing, the answer is unknown.
 */
#ifndef MODEL_QUERY_CLASS_H
#define MODEL_QUERY_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

enum kernel_kind {
	KERNEL_OTHER = 0, KERNEL_MATMUL, KERNEL_CONV, KERNEL_ATTENTION, KERNEL_NORM,
	KERNEL_ELEMENTWISE, KERNEL_REDUCE, KERNEL_SORT, KERNEL_COPY, KERNEL_COMM, KERNEL_INPUT,
	KERNEL_KINDS
};

/* The narrowest type in the name, which is the type of a product's factors. */
enum kernel_type {
	NUMBER_UNKNOWN = 0, NUMBER_F64, NUMBER_F32, NUMBER_TF32, NUMBER_BF16, NUMBER_F16,
			 NUMBER_FP8, NUMBER_INT8,
	KERNEL_TYPES
};

enum kernel_tensor { TENSOR_UNKNOWN = 0, TENSOR_UNUSED, TENSOR_USED };

struct kernel_class {
	uint16_t kind : 6, type : 6, tensor : 4;	/* values of the enums above */
};

/* Constants such as "matmul" and "f32"; "" where the class or type is unknown. */
const char *kernel_kind_name(enum kernel_kind kind);
const char *kernel_type_name(enum kernel_type type);

/* What the kernels of one class did on one device. */
struct kernel_class_row {
	uint32_t device;		/* model-wide, UINT32_MAX: unknown */
	enum kernel_kind kind;
	uint64_t count, untimed;
	int64_t total_ns;
	/* the kernels known to use tensor cores, and those known not to */
	int64_t tensor_ns, simt_ns;
	int64_t type_ns[KERNEL_TYPES];	/* total_ns by type */
};

/* One row for each device and class of which a kernel ran, by device, then by time. [locked] */
size_t model_kernel_classes(struct model *model, struct kernel_class_row **out);

#endif
