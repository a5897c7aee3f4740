/* SPDX-License-Identifier: MIT */
/*
 * What is known of NVIDIA's CUPTI, in declarations of our own: results, callbacks, what a
 * subscriber gives, attributes, and the types of the functions that are called. Records are in
 * cupti_records.h, the calls of the API in cupti_calls.h; library.h says how the library is found
 * and which functions it has.
 *
 * Always true: no vendor header is included or needed to build. Handles (context, stream, graph)
 * are pointers that are never dereferenced. 64-bit Linux only. Numbers are those of CUDA 11.4 to
 * 13.5 and the same in all of these releases unless a comment says "since".
 */
#ifndef TFTOP_PROBES_CUDA_CUPTI_H
#define TFTOP_PROBES_CUDA_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/cupti_calls.h"
#include "probes/cuda/cupti_records.h"

_Static_assert(sizeof(void *) == 8, "records hold 64-bit pointers");

/* A release of CUDA as one number; see cupti_release() in library.h. */
#define CUPTI_RELEASE(major, minor) ((major)*1000u + (minor)*10u)
#define CUPTI_RELEASE_NEWEST CUPTI_RELEASE(13, 5) /* the newest release whose layouts are known */

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_INVALID_DEVICE = 2,
	CUPTI_INVALID_CONTEXT = 3,
	CUPTI_INVALID_OPERATION = 7,
	CUPTI_PARAMETER_SIZE = 10, /* the struct that was passed is too small */
	CUPTI_MAX_LIMIT = 12, /* of GetNextRecord: the end of the buffer */
	/* kinds that exclude each other, or functions of both families */
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_NOT_INITIALIZED = 15, /* the driver is too old, or has not been initialised */
	CUPTI_QUEUE_EMPTY = 18,
	CUPTI_INVALID_STREAM = 20,
	CUPTI_INVALID_KIND = 21, /* the library does not have this kind */
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_NO_PRIVILEGES = 35,
	CUPTI_BUSY = 39, /* another client has subscribed */
	CUPTI_VIRTUALIZED_NO_PRIVILEGES = 40,
	CUPTI_UNKNOWN = 999,
};

/* ---- callbacks ---- */

enum cupti_domain {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
	CUPTI_DOMAIN_RESOURCE = 3,
	CUPTI_DOMAIN_SYNC = 4,
	CUPTI_DOMAIN_STATE = 6,
};

enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };

/* For domains DRIVER and RUNTIME; valid during the callback, except for function_name, which stays
 * valid. */
struct cupti_callback {
	uint32_t site; /* CUPTI_ENTER or CUPTI_EXIT */
	uint32_t pad;
	const char *function_name;
	const void *params; /* a struct of the call's arguments: see cupti_calls.h and below */
	void *result; /* at EXIT: points to the int that the call returns */
	const char *symbol; /* for launches: the kernel's mangled name; may be NULL */
	void *context; /* CUcontext; may be NULL */
	uint32_t context_id, pad_id;
	uint64_t *correlation_data; /* 64 bits that are passed from ENTER to EXIT */
	/* as in the records; a driver call within a call of the runtime has a correlation of its
	 * own, or the same */
	uint32_t correlation;
	uint32_t pad_end;
};

enum cupti_resource_id {
	CUPTI_RESOURCE_CONTEXT_CREATED = 1,
	/* is about to be destroyed; the same holds for all _DESTROY */
	CUPTI_RESOURCE_CONTEXT_DESTROY = 2,
	CUPTI_RESOURCE_STREAM_CREATED = 3,
	CUPTI_RESOURCE_STREAM_DESTROY = 4,
	CUPTI_RESOURCE_INIT_FINISHED = 5, /* cuInit has finished */
	CUPTI_RESOURCE_MODULE_LOADED = 6,
	CUPTI_RESOURCE_MODULE_UNLOAD = 7,
	CUPTI_RESOURCE_GRAPH_CREATED = 9,
	CUPTI_RESOURCE_GRAPH_DESTROY = 10,
	CUPTI_RESOURCE_NODE_CREATED = 13,
	CUPTI_RESOURCE_EXEC_CREATED = 18,
	CUPTI_RESOURCE_EXEC_DESTROY = 19,
	CUPTI_RESOURCE_NODE_CLONED = 20,
};

/* For domain RESOURCE; the descriptor of a graph is the struct below. */
struct cupti_resource {
	void *context;
	void *stream; /* for STREAM_* only */
	void *descriptor;
};

struct cupti_graph_resource {
	void *graph, *original_graph;
	void *node, *original_node; /* CLONED: node of the executable graph, and its origin */
	uint32_t node_type, pad; /* the driver's CUgraphNodeType */
	void *dependency;
	void *exec;
};

/* FATAL: CUPTI has shut itself down (since 12.2). */
enum cupti_state_id { CUPTI_STATE_FATAL = 1, CUPTI_STATE_ERROR = 2, CUPTI_STATE_WARNING = 3 };

/* For domain STATE. */
struct cupti_state {
	uint32_t result, pad; /* cupti_result */
	const char *message; /* may be NULL */
};

/* The first members of a launch's configuration, to which the first parameter of cuLaunchKernelEx
 * and cudaLaunchKernelExC points; the same in both APIs. */
struct cupti_launch_config {
	uint32_t grid[3], block[3];
	/* dynamic shared memory, bytes per block; with the driver's API only the low half is
	 * used */
	uint64_t shared;
	void *stream;
};

/* Arguments of cuLaunchKernel, cuLaunchCooperativeKernel and their _ptsz variants. */
struct cupti_driver_launch {
	void *function;
	uint32_t grid[3], block[3];
	uint32_t shared;
	void *stream;
};

/* Arguments of cudaLaunchKernel, cudaLaunchCooperativeKernel and their _ptsz variants. */
struct cupti_runtime_launch {
	const void *function;
	uint32_t grid[3], block[3];
	void **args;
	size_t shared;
	void *stream;
};

/* Arguments of cuGraphLaunch and cudaGraphLaunch. */
struct cupti_graph_launch {
	void *exec, *stream;
};

/* Arguments of cuEventSynchronize and cudaEventSynchronize; those for streams are the same with a
 * stream. */
struct cupti_wait {
	void *handle;
};

typedef void cupti_callback_fn(void *user, uint32_t domain, uint32_t id, const void *data);
struct cupti_subscriber; /* a handle that only the library dereferences */

/* Parameters of cuptiSubscribe_v2 (since 13.0). size covers the members up to and including
 * old_size (32) before 13.2, and all members (40) from 13.2 on. A library refuses a size that it
 * does not know. */
#define CUPTI_SUBSCRIBER_NAME 53 /* longest name, including the NUL */
#define CUPTI_SUBSCRIBER_OLD 64 /* minimum room for the name of the other client */
struct cupti_subscriber_params {
	size_t size;
	const char *name; /* is copied; shown as "CUPTI for NAME" */
	char *old_name; /* receives the name of the other client if the result is CUPTI_BUSY */
	size_t old_size;
	uint8_t allow_others, pad[7]; /* since 13.2: other clients may subscribe as well */
};
#define CUPTI_SUBSCRIBER_PARAMS_130 32
#define CUPTI_SUBSCRIBER_PARAMS_132 40

/* ---- activities ---- */

enum cupti_attribute {
	CUPTI_ATTR_DEVICE_BUFFER_SIZE = 0, /* size_t, in bytes */
	CUPTI_ATTR_PER_THREAD = 9, /* uint8_t; since 12.3, on by default since 13.0 */
	CUPTI_ATTR_LATENCY = 15, /* uint8_t; since 13.2, second family only, as what follows */
	CUPTI_ATTR_GRAPH_TRACE = 20,
	CUPTI_ATTR_TIMESTAMP = 22, /* a cupti_timestamp_fn * */
};

/* For cuptiActivityFlushAll: includes buffers that are not complete. */
#define CUPTI_FLUSH_FORCED 1u

/* Both are called on threads of the program or of CUPTI, at any time while a kind is enabled,
 * possibly while CUPTI holds locks. Before 12.9 a request must return an 8-aligned buffer; from
 * then on, NULL drops the records that would have gone there. max_records 0: as many as fit. */
typedef void cupti_request_fn(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid);
typedef uint64_t cupti_timestamp_fn(void);

/* ---- layouts ---- */

_Static_assert(offsetof(struct cupti_callback, params) == 16, "");
_Static_assert(offsetof(struct cupti_callback, correlation) == 64, "");
_Static_assert(sizeof(struct cupti_callback) == 72, "");
_Static_assert(sizeof(struct cupti_resource) == 24, "");
_Static_assert(sizeof(struct cupti_graph_resource) == 56, "");
_Static_assert(offsetof(struct cupti_driver_launch, stream) == 40, "");
_Static_assert(offsetof(struct cupti_runtime_launch, stream) == 48, "");
_Static_assert(offsetof(struct cupti_launch_config, stream) == 32, "");
_Static_assert(sizeof(struct cupti_subscriber_params) == CUPTI_SUBSCRIBER_PARAMS_132, "");
_Static_assert(offsetof(struct cupti_subscriber_params, allow_others) ==
	       CUPTI_SUBSCRIBER_PARAMS_130, "");

#endif
