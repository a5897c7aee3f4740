/* SPDX-License-Identifier: MIT */
/*
 * Kinds of rows that have columns (model/columns), and how their rows are taken: what the report
 * and CSV are made from. In the order that the model gives them.
 */
#ifndef MODEL_EXPORT_SNAPSHOTS_H
#define MODEL_EXPORT_SNAPSHOTS_H

#include <stddef.h>

#include "model/columns/columns.h"

struct model;

struct row_snapshot {
	size_t (*take)(struct model *model, void **rows);	/* [locked]; *rows: the caller's */
	void (*release)(void *rows, size_t count);	/* NULL: free() */
	size_t size;			/* of a row */
	const struct table_columns *columns;	/* NULL: the row has none */
};

extern const struct row_snapshot snapshot_of_processes;	/* struct process_row */
extern const struct row_snapshot snapshot_of_devices;	/* struct device_row */
extern const struct row_snapshot snapshot_of_queues;		/* struct queue_row */
extern const struct row_snapshot snapshot_of_kernels;	/* struct kernel_line, with its arrays */
extern const struct row_snapshot snapshot_of_classes;	/* struct kernel_class_row */
extern const struct row_snapshot snapshot_of_copies;		/* struct copy_line */
extern const struct row_snapshot snapshot_of_ops;		/* struct op_line */
extern const struct row_snapshot snapshot_of_scopes;		/* struct optree_row; also ops */
extern const struct row_snapshot snapshot_of_sources;	/* struct source_place */
extern const struct row_snapshot snapshot_of_calls;		/* struct call_row */
extern const struct row_snapshot snapshot_of_waits;		/* struct wait_row */
extern const struct row_snapshot snapshot_of_replays;	/* struct replay_row */
extern const struct row_snapshot snapshot_of_memory;		/* struct memory_line */
extern const struct row_snapshot snapshot_of_chunks;		/* struct allocator_chunks */
extern const struct row_snapshot snapshot_of_stages;		/* struct input_row */
extern const struct row_snapshot snapshot_of_counters;	/* struct counter_row */
extern const struct row_snapshot snapshot_of_requests;	/* struct request_row */
extern const struct row_snapshot snapshot_of_pools;		/* struct pool_row */
extern const struct row_snapshot snapshot_of_flows;		/* struct flow_row */
extern const struct row_snapshot snapshot_of_edges;		/* struct edge_row */
extern const struct row_snapshot snapshot_of_compiles;	/* struct compile_row */
extern const struct row_snapshot snapshot_of_messages;	/* struct message_row */
extern const struct row_snapshot snapshot_of_host;		/* struct host_line */

/* The rows; takes the model's lock. snapshot_release() frees them. */
size_t snapshot_take(const struct row_snapshot *kind, struct model *model, void **rows);
void snapshot_release(const struct row_snapshot *kind, void *rows, size_t count);

#endif
