/* SPDX-License-Identifier: MIT */
/*
 * Tables as CSV (RFC 4180): a line of column names, then the rows. Where `sort` knows a column,
 * its name is the word that `sort` knows. Fields with a comma, a quote or a line break are
 * quoted. Names come from the program, so a text that a spreadsheet would take for a formula
 * gets an apostrophe in front. Times are ns, moments are counted from the start of the run as on
 * the screen, and sizes are bytes, in digits only; a field without a value is empty.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/columns/steps.h"
#include "model/export/formats.h"
#include "model/export/snapshots.h"
#include "model/query/findings.h"
#include "model/query/time.h"

struct csv { FILE *out; bool inside; uint64_t rows; };

static void field(struct csv *csv)
{
	if (csv->inside)
		putc(',', csv->out);
	csv->inside = true;
}

static void csv_put_text(struct csv *csv, const char *value)
{
	bool formula;

	field(csv);
	if (!value)
		return;
	formula = *value && strchr("=+-@\t\r", *value);
	if (!value[strcspn(value, ",\"\r\n")]) {
		if (formula)
			putc('\'', csv->out);
		put_utf8(csv->out, value, strlen(value));
		return;
	}
	putc('"', csv->out);
	if (formula)
		putc('\'', csv->out);
	for (size_t n; *value; value += n) {
		n = strcspn(value, "\"");
		put_utf8(csv->out, value, n);
		if (value[n]) {
			fputs("\"\"", csv->out);
			n++;
		}
	}
	putc('"', csv->out);
}

static void number(struct csv *csv, uint64_t value)
{
	field(csv);
	fprintf(csv->out, "%" PRIu64, value);
}

static void signed_number(struct csv *csv, int64_t value)
{
	field(csv);
	fprintf(csv->out, "%" PRId64, value);
}

/* -1: not observed. */
static void time_ns(struct csv *csv, int64_t value)
{
	field(csv);
	if (value >= 0)
		fprintf(csv->out, "%" PRId64, value);
}

/* An index into another table, which may be absent. */
static void which(struct csv *csv, uint32_t value)
{
	field(csv);
	if (value != UINT32_MAX)
		fprintf(csv->out, "%" PRIu32, value);
}

static void end_row(struct csv *csv)
{
	fputs("\r\n", csv->out);
	csv->inside = false;
	csv->rows++;
}

static void names(struct csv *csv, const char *list)
{
	fprintf(csv->out, "%s\r\n", list);
}

/* ---- rows that have columns (model/columns) ---- */

static void csv_headings(struct csv *csv, const struct table_columns *columns)
{
	const struct table_column *list[TABLE_COLUMNS_MAX];
	size_t n = columns_at(columns, COLUMNS_CSV, list);

	for (size_t i = 0; i < n; i++)
		fprintf(csv->out, "%s%s", i ? "," : "", list[i]->key);
	fputs("\r\n", csv->out);
}

static void csv_row(struct csv *csv, const struct table_columns *columns, const void *row)
{
	const struct table_column *list[TABLE_COLUMNS_MAX];
	size_t n = columns_at(columns, COLUMNS_CSV, list);

	for (size_t i = 0; i < n; i++) {
		const char *words = columns_words(list[i], row);
		int64_t value;

		if (words && list[i]->unit == UNIT_TEXT)
			csv_put_text(csv, words);
		else if (!columns_file_value(list[i], row, &value))
			field(csv);
		else if (list[i]->flags & TABLE_YES_NO)
			csv_put_text(csv, value ? "yes" : "no");
		else
			signed_number(csv, value);
	}
	end_row(csv);
}

/* ---- the tables; each takes a snapshot under the lock and writes it without the lock ---- */

#define SNAPSHOT(model, call) ({ \
	size_t n_; \
	model_lock(model); \
	n_ = call; \
	model_unlock(model); \
	n_; })

static void csv_put_steps(struct csv *csv, struct model *model)
{
	struct model_status status;
	struct step_stats stats;
	struct step_row *rows;
	size_t n = SNAPSHOT(model, (model_status(model, &status),
				    model_steps(model, &stats, &rows)));

	csv_headings(csv, &step_columns);
	for (size_t i = 0; i < n && !ferror(csv->out); i++) {
		struct step_line line = { .row = rows[i], .base_ns = status.first_ns };
		struct step_breakdown parts;

		line.known = SNAPSHOT(model, (size_t)model_step_breakdown(
					     model, rows[i].start_ns, &parts)) != 0;
		if (line.known)
			memcpy(line.ns, parts.ns, sizeof(parts.ns));
		csv_row(csv, &step_columns, &line);
	}
	free(rows);
}

static void csv_put_findings(struct csv *csv, struct model *model)
{
	struct findings_status status;
	struct finding *rows;
	size_t n = SNAPSHOT(model, model_findings(model, &status, &rows));

	names(csv, "finding,severity,cost,per,title,advice");
	for (size_t i = 0; i < n; i++) {
		csv_put_text(csv, rows[i].id);
		csv_put_text(csv, severity_name(rows[i].severity));
		time_ns(csv, rows[i].cost_ns);
		csv_put_text(csv, status.step_ns ? "step" : "second");
		csv_put_text(csv, rows[i].title);
		csv_put_text(csv, rows[i].advice);
		end_row(csv);
	}
	free(rows);
}

static void csv_put_devices(struct csv *csv, struct model *model)
{
	struct device_row *rows;
	size_t n = SNAPSHOT(model, model_devices(model, &rows));

	names(csv, "device,name,vendor,api,address,host,memory,span,busy,kernel,copy,overlap");
	for (size_t i = 0; i < n; i++) {
		const struct device_row *r = &rows[i];

		which(csv, r->id);
		csv_put_text(csv, r->name);
		csv_put_text(csv, r->vendor);
		csv_put_text(csv, r->api);
		csv_put_text(csv, r->address);
		csv_put_text(csv, r->host);
		number(csv, r->memory_bytes);
		time_ns(csv, r->span_ns);
		time_ns(csv, r->busy_ns);
		time_ns(csv, r->kernel_ns);
		time_ns(csv, r->copy_ns);
		time_ns(csv, r->overlap_ns);
		end_row(csv);
	}
	free(rows);
}

/* Those whose rows have columns. */
static void csv_put_table(struct csv *csv, struct model *model, const struct row_snapshot *kind)
{
	void *rows;
	size_t n = snapshot_take(kind, model, &rows);
	const char *row = rows;

	csv_headings(csv, kind->columns);
	for (size_t i = 0; i < n; i++, row += kind->size)
		csv_row(csv, kind->columns, row);
	snapshot_release(kind, rows, n);
}

static const struct {
	const char *name;
	const struct row_snapshot *kind;	/* NULL: write() takes the rows */
	void (*write)(struct csv *csv, struct model *model);
} tables[] = {
	{ "ops", &snapshot_of_ops, NULL }, { "kernels", &snapshot_of_kernels, NULL },
	{ "copies", &snapshot_of_copies, NULL }, { "steps", NULL, csv_put_steps },
	{ "memory", &snapshot_of_memory, NULL }, { "counters", &snapshot_of_counters, NULL },
	{ "findings", NULL, csv_put_findings }, { "calls", &snapshot_of_calls, NULL },
	{ "devices", NULL, csv_put_devices }, { "queues", &snapshot_of_queues, NULL },
	{ "edges", &snapshot_of_edges, NULL }, { "processes", &snapshot_of_processes, NULL },
	{ "host", &snapshot_of_host, NULL },
};

const char *csv_table(size_t i)
{
	return i < sizeof(tables) / sizeof(tables[0]) ? tables[i].name : NULL;
}

bool csv_write(const struct foreign_options *options, struct foreign_result *result,
	       char *error, size_t size)
{
	struct csv csv = { .out = options->out };

	if (options->from_ns != INT64_MIN) {
		snprintf(error, size, "tables cover the whole run: leave out 'last'");
		return false;
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(tables[i].name, options->kind.table))
			continue;
		if (tables[i].kind)
			csv_put_table(&csv, options->model, tables[i].kind);
		else
			tables[i].write(&csv, options->model);
	}
	result->written = csv.rows;
	if (!ferror(csv.out))
		return true;
	snprintf(error, size, "%s", strerror(errno));
	return false;
}
