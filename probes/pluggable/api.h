/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's C API for profilers of pluggable devices, as far as it is used:
 * tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h, version 0.0.1;
 * tests/probes/pluggable.sh compares it with the header in the wheel.
 */
#ifndef PROBES_PLUGGABLE_API_H
#define PROBES_PLUGGABLE_API_H

#include <stddef.h>
#include <stdint.h>

struct tf_status;

struct tp_profiler {
	size_t struct_size;
	void *ext;
	const char *device_type;
};

struct tp_profiler_fns {
	size_t struct_size;
	void *ext;
	void (*start)(const struct tp_profiler *profiler, struct tf_status *status);
	void (*stop)(const struct tp_profiler *profiler, struct tf_status *status);
	/* buffer NULL: returns the required size; otherwise returns the XSpace, once. */
	void (*collect_data_xspace)(const struct tp_profiler *profiler, uint8_t *buffer,
				    size_t *size_in_bytes, struct tf_status *status);
};

struct tf_profiler_registration_params {
	size_t struct_size;
	void *ext;
	int32_t major_version, minor_version, patch_version;
	struct tp_profiler *profiler;		/* allocated by TensorFlow */
	struct tp_profiler_fns *profiler_fns;
	void (*destroy_profiler)(struct tp_profiler *profiler);
	void (*destroy_profiler_fns)(struct tp_profiler_fns *fns);
};

/* The size of the struct up to and including a member. */
#define SIZE_WITH(type, member) (offsetof(struct type, member) + sizeof(((struct type *)0)->member))

#endif
