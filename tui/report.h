/* SPDX-License-Identifier: MIT */
/*
 * The report of interface.md section 2: what the model knows, as text for
 * people and as JSON for programs. Both are written from the same snapshot
 * functions of model/query.h and hold no state.
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

#include "model/query.h"
#include "model/query-time.h"

/* What tftop itself knows about the run. Strings borrowed. */
struct report_run {
	char *const *command;		/* PROGRAM and arguments, NULL: unknown */
	pid_t pid;			/* 0: unknown */
	const char *host;		/* NULL: unknown */
	int64_t start_unix_ns;		/* 0: unknown */
	int64_t wall_ns;		/* -1: unknown */
	int exit_status;		/* -1: unknown or killed */
	int signal;			/* 0: not killed */
};

void report_json(struct model *model, const struct report_run *run, FILE *out);
void report_text(struct model *model, const struct report_run *run, FILE *out);

#define REPORT_WIDTH 100

/* Its section on trust, report_trust.c. */
void report_trust_text(struct model *model, FILE *out);
/* "12 events", "1 event". */
const char *report_counted(char *out, size_t size, uint64_t n, const char *one);

/* Their sections, report_findings.c. */
struct json;
void report_findings_text(struct model *model, FILE *out);
void report_findings_json(struct json *json, struct model *model);
/* Sections memory and flows, report_memory.c. */
void report_memory_text(struct model *model, FILE *out);
void report_memory_json(struct json *json, struct model *model);
void report_edges_json(struct json *json, struct model *model);
/* Parts of devices and steps, report_insight.c. */
/* Why it was idle. Where events were lost, both become what was seen besides;
 * returns how long that was not. *rough: too much was lost for that. */
int64_t report_seen(struct model *model, struct device_row *device, struct idle_gap *idle,
		    bool *rough);
void report_idle_text(const struct device_row *device, const struct idle_gap *idle, FILE *out);
void report_breakdown_text(struct model *model, FILE *out);
void report_idle_json(struct json *json, struct model *model, uint32_t device);
void report_bandwidth_json(struct json *json, struct model *model, uint32_t device);
void report_breakdown_json(struct json *json, struct model *model);
/* Launches of a queue and the critical path, report_work.c. */
void report_queue_json(struct json *json, struct model *model, uint32_t queue);
void report_path_text(struct model *model, FILE *out);
void report_path_json(struct json *json, struct model *model);

/*
 * The JSON report into a file: written beside it and renamed, so that the
 * file is either the old one or the whole new one. "-": stdout. Returns 0, or
 * -1 with a sentence in error.
 */
int report_json_file(struct model *model, const struct report_run *run,
		     const char *path, char *error, size_t error_size);

#endif
