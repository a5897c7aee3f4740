/* SPDX-License-Identifier: MIT */
/*
 * The report (docs/report.md): what the model knows, as text for
 * people and as JSON for programs. Both are written from the same snapshot
 * functions of model/query/query.h and hold no state.
 *
 * Always true: a value that was not observed is absent, never 0; tables have
 * all their rows in JSON and say how many more there are in the text. Text
 * lines are at most 100 columns wide and end without blanks.
 *
 * Threads: any thread; the model's lock is taken for one table at a time.
 * Errors: writing goes to a stdio stream; the caller asks ferror().
 */
#ifndef TUI_REPORT_H
#define TUI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "model/columns/columns.h"
#include "model/query/query.h"
#include "model/query/time.h"

/* A process that PROGRAM left running at its end. */
struct report_left {
	pid_t pid;
	bool joins;			/* probes are in use in it */
	char *command;
};

/* What tftop itself knows about the run. Strings borrowed. */
struct report_run {
	char *const *command;		/* PROGRAM and arguments, NULL: unknown */
	pid_t pid;			/* 0: unknown */
	const char *host;		/* NULL: unknown */
	int64_t start_unix_ns;		/* 0: unknown */
	int64_t wall_ns;		/* -1: unknown */
	bool ended;			/* PROGRAM was seen to end */
	int exit_status;		/* -1: unknown or killed */
	int signal;			/* 0: not killed */
	int64_t stopped_ns;		/* a thread of it, for the attach, at most; 0: none was */
	const struct report_left *left;	/* processes that it left running */
	size_t n_left, more_left;	/* more_left: how many others, which are not in left */
};

void report_json(struct model *model, const struct report_run *run, FILE *out);
void report_text(struct model *model, const struct report_run *run, FILE *out);

/* ---- the report's own parts ---- */

#define REPORT_WIDTH 100
#define REPORT_NAME_LEAST 20		/* columns that a name keeps when space is short */

struct json;
struct page;
struct sheet;

#define REPORT_BAR_CELLS 5
/* part of whole as a bar of so many cells, in eighths; returns out. */
char *report_bar(char out[REPORT_BAR_CELLS * 3 + 1], uint64_t part, uint64_t whole);
uint64_t report_positive(int64_t ns);	/* 0 for what is below */
const char *report_device_kind(const struct device_row *row);
/* A line of parts of whole_ns, the larger ones first; sorts them. */
struct report_share { const char *name; int64_t ns; };
void report_shares(const char *lead, struct report_share *shares, size_t n, int64_t whole_ns,
		   FILE *out);
/* A sentence, broken between words, `indent` columns in; the first line stands
 * behind the mark and ends with the cost, "" for none. */
void report_lines(const char *mark, int indent, const char *text, const char *cost, FILE *out);
/* A table behind an empty line; nothing without rows. Empties the sheet. */
void report_sheet(struct sheet *sheet, FILE *out);

/* Rows that have columns: as a table of the report, as that of a page, and each as members of a
 * JSON object. */
struct report_rows {
	const void *rows;
	size_t size, count;		/* of one; how many */
	size_t most;			/* that are shown, 0: all */
	enum columns_place place;	/* whose columns are shown */
};
void report_table(struct sheet *sheet, const struct table_columns *columns,
		  const struct report_rows *rows);
#define REPORT_PAGE_WIDTH 150
void report_page_table(struct page *page, const struct table_columns *columns,
		       const struct report_rows *rows);
void report_row_json(struct json *json, const struct table_columns *columns, const void *row);

/* Whether PROGRAM has ended and nobody knows how, because tftop is not its parent. */
bool report_status_unknown(const struct report_run *run);
/* The option with which tftop watches a process that was left running: "--join" or "-p". */
const char *report_left_option(const struct report_left *left);

/* The members of "run"; a recording keeps the same. */
void report_run_json(struct json *json, const struct report_run *run);
void report_trust_text(struct model *model, FILE *out);
/* A part of trust: nothing where there are no graphs. */
void report_graph_text(struct model *model, FILE *out);
void report_graph_json(struct json *json, struct model *model);

/* A device's limits, report_kernels.c. */
struct device_limits;
void report_limits_json(struct json *json, const struct device_limits *limits);
/* Time of kernels by class, at most KERNEL_KINDS parts of *whole_ns; device UINT32_MAX:
 * of all. The caller has the model's lock. */
size_t report_classes(struct model *model, uint32_t device, struct report_share *shares,
		      int64_t *whole_ns);
/* Of an op what model_op_detail() says, report_lines.c. */
void report_op_json(struct json *json, struct model *model, const struct op_row *row);
/* Parts of devices and steps, report_insight.c. */
void report_idle_text(const struct device_row *device, const struct idle_gap *idle, FILE *out);
/* What the host did in idle time of its causes. */
void report_host_text(struct model *model, const struct device_row *device,
		      const struct idle_gap *idle, FILE *out);
/* Time whose classes (ns[class] each) are divided by what the host did. label: of a class. */
struct report_host {
	const int64_t *ns;
	int64_t whole_ns;		/* that shares are of */
	const char *(*label)(int class);
};
void report_host_lines(const struct host_time_row *rows, size_t n, const struct report_host *host,
		       FILE *out);
/* The member "host"; nothing without rows. key: that has the class of a row. */
void report_host_json(struct json *json, const struct host_time_row *rows, size_t n,
		      const char *key, const char *(*name_of)(int class));
void report_breakdown_text(struct model *model, FILE *out);
void report_between_text(struct model *model, FILE *out);
void report_phases_text(struct model *model, FILE *out);
void report_idle_json(struct json *json, struct model *model, uint32_t device);
void report_bandwidth_json(struct json *json, struct model *model, uint32_t device);
void report_breakdown_json(struct json *json, struct model *model);
void report_between_json(struct json *json, struct model *model);
void report_phases_json(struct json *json, struct model *model);
/* What kernels compute and the critical path, report_work.c. */
void report_flop(struct json *json, const struct kernel_row *row);
void report_path_text(struct model *model, FILE *out);
/* Of the processor, in the place of idle times; false: it is another device. */
bool report_cores_text(struct model *model, const struct device_row *row, FILE *out);
bool report_cores_json(struct json *json, struct model *model, const struct device_row *row);

/*
 * The JSON report into a file: written beside it and renamed, so that the
 * file is either the old one or the whole new one. "-": stdout. Returns 0, or
 * -1 with a sentence in error.
 */
int report_json_file(struct model *model, const struct report_run *run,
		     const char *path, char *error, size_t error_size);

#endif
