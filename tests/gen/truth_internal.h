/* SPDX-License-Identifier: MIT */
/* What truth.c (sums) and truth_json.c (the report) share. */
#ifndef TESTS_GEN_TRUTH_INTERNAL_H
#define TESTS_GEN_TRUTH_INTERNAL_H

#include "model/base/map.h"
#include "tests/gen/truth.h"

/* Elements by id or in order, zeroed when they are new. */
struct table {
	char *data;			/* owned */
	size_t n, cap, size;
};

struct truth_copy {
	uint64_t count, failed, bytes, peak, peak_small;
	int64_t total_ns;
};

struct truth_queue {
	bool defined, in_order;
	uint32_t device;
	uint64_t n_kernels, n_copies, failed;
	struct truth_copy copies[DIR_COUNT];
};

struct truth_kernel {
	uint32_t name, queue;
	uint64_t count, failed;
	int64_t total_ns, min_ns, max_ns;
};

struct truth_kernel_op {
	uint32_t name, op_name;
	uint8_t how;
	uint64_t count;
	int64_t total_ns;
};

/* One op, found by its instance. */
struct truth_op {
	bool known, finished, touched, summed;
	uint8_t framework, flags;
	uint32_t name, type, op_name, tid, child_tid;
	int64_t start_ns, dur_ns, children_ns, device_ns;
	uint64_t kernels, copies, copy_bytes;
};

struct truth_step { int64_t start_ns, dur_ns; };

struct truth_span {
	int64_t start, end;		/* ticks */
	uint32_t queue;
	int kernel;
};

/* An allocation, or a free of its address. */
struct truth_change {
	int64_t at_ns;
	uint64_t address, bytes, order;
	uint32_t allocator, device;
	bool alloc;
};

struct truth {
	bool drifts;
	uint32_t pid;
	char *command, *host, *device;	/* owned */
	uint64_t events, lost, how[HOW_COUNT], beat_calls;
	uint32_t n_devices;
	int64_t offset_ns, own_ns;
	struct table names, queues, ops;	/* by id */
	struct table kernels, kernel_ops;	/* in order */
	struct table calls;		/* by name */
	struct table steps, spans, changes;	/* in order */
	/* launches and runs that arrive separately: by correlation, in order */
	struct table launches, runs;
	struct map kernel_by_key, kernel_op_by_key;
};

void *truth_at(struct table *table, uint64_t id);
const char *truth_name(struct truth *truth, uint32_t id);
/* To be called after everything has arrived. */
void truth_settle(struct truth *truth);
/* Length of the union of spans; queue 0: all queues; kind 1: kernels, 0: copies, -1: both. */
int64_t truth_union(const struct truth *truth, uint32_t queue, int kind);

/* ---- truth_memory.c ---- */
struct json;
void truth_memory(struct truth *truth, const struct event *event);
void truth_write_memory(struct json *json, struct truth *truth);

#endif
