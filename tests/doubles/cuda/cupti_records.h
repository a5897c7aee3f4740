/* SPDX-License-Identifier: MIT */
/*
 * Records and callbacks of CUPTI that the double writes and the probe does not read: a program may
 * ask for them. As probes/cuda/cupti_records.h; tests/probes/cupti_abi.c holds them against the
 * vendor's headers.
 */
#ifndef TESTS_DOUBLES_CUDA_CUPTI_RECORDS_H
#define TESTS_DOUBLES_CUDA_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* synchronisations: 40, 56 (12.8) */
struct cupti_sync {
	uint32_t kind;
	uint32_t type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event; /* CUPTI_ID_NONE where there is none */
	uint64_t event_sync; /* since 12.8 */
	uint32_t result, pad;
};

/* calls of the driver's or the runtime's API: 40 */
struct cupti_api {
	uint32_t kind;
	uint32_t number; /* cupti_calls.h */
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

/* external correlation: 24 */
struct cupti_external {
	uint32_t kind;
	uint32_t external_kind;
	uint64_t id;
	uint32_t correlation, pad;
};

/* records of events: 24, 56 (12.8), 80 (13.5) */
struct cupti_event {
	uint32_t kind;
	uint32_t correlation, context, stream, event, pad;
	uint32_t device, pad_device; /* since 12.8 */
	void *reserved;
	uint64_t time; /* on the device, when asked for */
	uint64_t event_sync;
	uint64_t graph_node; /* since 13.5 */
	uint32_t graph, source_graph;
	uint64_t source_node;
};

/* of SYNC */
struct cupti_sync_data {
	void *context, *stream;
};

/* of RESOURCE, of modules */
struct cupti_module_resource {
	uint32_t module, pad;
	size_t size;
	const char *code;
};

enum { CUPTI_SYNC_STREAM_DONE = 1, CUPTI_SYNC_CONTEXT_DONE = 2 };
/* CUgraphNodeType */
enum { CUPTI_NODE_KERNEL = 0, CUPTI_NODE_COPY = 1, CUPTI_NODE_FILL = 2 };

#endif
