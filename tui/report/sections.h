/* SPDX-License-Identifier: MIT */
/*
 * The sections of the report: what each of them consists of, in one table (sections.c). A section
 * with rows says how they are taken and what their columns are (model/columns); one loop in
 * report_text.c prints them all, and one in report_json.c. What is no table has functions of its
 * own.
 *
 * To add a section with rows, give its kind an array of columns, and add an entry to the table.
 */
#ifndef TUI_REPORT_SECTIONS_H
#define TUI_REPORT_SECTIONS_H

#include "model/export/snapshots.h"
#include "tui/report/report.h"

struct report_section {
	/* In JSON. Two in a row with the same key are one array. NULL: text only. */
	const char *key;
	bool always;			/* JSON has the key without a row, too */

	const struct row_snapshot *rows;	/* NULL: it has none */
	/* What a row has in JSON besides its columns. */
	void (*members)(struct json *json, struct model *model, const void *rows, size_t at);
	bool (*keep)(const void *row);	/* rows that JSON has; NULL: all */
	size_t json_most;		/* rows in JSON; 0: all */

	unsigned char place;		/* in the text, from 1; 0: it is not there */
	size_t text_most;		/* rows in the text; 0: all */
	int (*compare)(const void *a, const void *b);	/* their order there; NULL: as taken */
	/* Fills in the names that only the text has instead of numbers; NULL: none. */
	void (*label)(struct model *model, void *rows, size_t count);

	/* Instead of a table and of an array. */
	void (*text)(struct model *model, FILE *out);
	void (*json)(struct json *json, struct model *model);
};

/* In the order of the JSON report. */
extern const struct report_section report_sections[];
extern const size_t report_n_sections;

/* ---- sections that are no table ---- */

void report_trust_json(struct json *json, struct model *model);
void report_devices_text(struct model *model, FILE *out);
void report_steps_text(struct model *model, FILE *out);
void report_steps_json(struct json *json, struct model *model);
void report_path_json(struct json *json, struct model *model);
void report_findings_text(struct model *model, FILE *out);
void report_findings_json(struct json *json, struct model *model);
/* The text has one row for each name, JSON one for each name, type and framework. */
void report_ops_text(struct model *model, FILE *out);
void report_classes_text(struct model *model, FILE *out);
void report_source_json(struct json *json, struct model *model);
void report_messages_text(struct model *model, FILE *out);

/* ---- what rows have besides columns ---- */

void report_process_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_device_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_queue_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_kernel_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_class_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_op_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_scope_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_source_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_replay_members(struct json *json, struct model *model, const void *rows, size_t at);
void report_memory_members(struct json *json, struct model *model, const void *rows, size_t at);

#endif
