/* SPDX-License-Identifier: MIT */
/*
 * The columns of rows that reports and pages show as the model gives them: each array is about
 * the struct of model/query that is named here. No pane and no filter asks for them.
 */
#ifndef MODEL_COLUMNS_PLAIN_H
#define MODEL_COLUMNS_PLAIN_H

#include "model/columns/columns.h"
#include "model/query/lines.h"
#include "model/query/memory.h"

extern const struct table_columns process_columns;	/* process_row */
extern const struct table_columns queue_columns;	/* queue_row */
extern const struct table_columns kernel_class_columns;	/* kernel_class_row */
extern const struct table_columns scope_columns;	/* optree_row of a scope */
extern const struct table_columns call_columns;		/* call_row */
extern const struct table_columns compile_columns;	/* compile_row */
extern const struct table_columns message_columns;	/* message_row */
extern const struct table_columns wait_columns;		/* wait_row */
extern const struct table_columns replay_columns;	/* replay_row */
extern const struct table_columns stage_columns;	/* input_row */
extern const struct table_columns counter_columns;	/* counter_row */
extern const struct table_columns request_columns;	/* request_row */
/* A rate in thousandths, as "12.3"; "" if it is negative. */
void request_rate_text(int64_t milli, char *text, size_t size);
extern const struct table_columns pool_columns;		/* pool_row */
extern const struct table_columns pool_page_columns;	/* pool_row: the same on its page */
extern const struct table_columns flow_columns;		/* flow_row */
extern const struct table_columns flow_coding_columns;	/* flow_row: what its ends do */
extern const struct table_columns edge_columns;		/* edge_row */

/* A line of a file. */
struct source_place {
	const char *file;
	struct source_line line;
};
extern const struct table_columns source_columns;

/* The chunks of an allocator, where they are known. */
struct allocator_chunks {
	const char *allocator;
	struct memory_chunks chunks;
};
extern const struct table_columns chunk_columns;

#endif
