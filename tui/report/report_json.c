/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON (docs/report.md), key by key. What was not
 * observed has no key.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/cost.h"
#include "model/columns/ops.h"
#include "probes/schema/records.h"
#include "tui/base/atomic_file.h"
#include "tui/base/json.h"
#include "tui/report/sections.h"

#ifndef TFTOP_VERSION
#define TFTOP_VERSION "unknown"
#endif

bool report_status_unknown(const struct report_run *run)
{
	return run->ended && run->exit_status < 0 && run->signal <= 0;
}

const char *report_left_option(const struct report_left *left)
{
	return left->joins ? "--join" : "-p";
}

static void write_left(struct json *json, const struct report_run *run)
{
	if (run->n_left)
		json_key_array(json, "left");
	for (size_t i = 0; i < run->n_left; i++) {
		json_object(json);
		json_key_int(json, "pid", run->left[i].pid);
		json_key_string(json, "command", run->left[i].command);
		json_key_bool(json, "joins", run->left[i].joins);
		json_end(json);
	}
	if (run->n_left)
		json_end(json);
	json_uint_if(json, "more_left", run->more_left);
}

void report_run_json(struct json *json, const struct report_run *run)
{
	if (run->command) {
		json_key_array(json, "command");
		for (char *const *word = run->command; *word; word++)
			json_string(json, *word);
		json_end(json);
	}
	json_uint_if(json, "pid", run->pid > 0 ? (uint64_t)run->pid : 0);
	json_text_if(json, "host", run->host);
	if (run->start_unix_ns > 0)
		json_key_int(json, "start_unix_ns", run->start_unix_ns);
	json_time_if(json, "wall_ns", run->wall_ns);
	if (run->ended)
		json_key_bool(json, "ended", true);
	json_time_if(json, "exit_status", run->exit_status);
	if (run->signal > 0)
		json_key_int(json, "signal", run->signal);
	if (run->stopped_ns > 0)
		json_key_int(json, "stopped_ns", run->stopped_ns);
	write_left(json, run);
}

static void write_clocks(struct json *json, struct model *model)
{
	struct device_row *rows;
	size_t count;

	model_lock(model);
	count = model_devices(model, &rows);
	model_unlock(model);
	json_key_array(json, "clock");
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].clock_known)
			continue;
		json_object(json);
		json_key_uint(json, "device", rows[i].id);
		json_key_string(json, "quality", clock_quality_name(rows[i].clock_quality));
		json_key_int(json, "error_ns", rows[i].clock_error_ns);
		json_key_uint(json, "violations", rows[i].clock_violations);
		json_end(json);
	}
	json_end(json);
	free(rows);
}

/* Other hosts' times, taken to the first one's clock. */
static void write_hosts(struct json *json, struct model *model)
{
	struct host_row *rows;
	uint64_t violations;
	size_t count;

	model_lock(model);
	count = model_hosts(model, &rows);
	violations = model_host_violations(model);
	model_unlock(model);
	if (count)
		json_key_array(json, "hosts");
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_key_uint(json, "host", rows[i].host);
		json_text_if(json, "name", rows[i].name);
		json_key_string(json, "clock", host_clock_name(&rows[i]));
		if (rows[i].clock_known)
			json_key_int(json, "error_ns", rows[i].clock_error_ns);
		json_end(json);
	}
	if (count)
		json_end(json);
	json_uint_if(json, "host_violations", violations);
	free(rows);
}

static void write_own_cost(struct json *json, const struct own_cost *cost)
{
	json_key_object(json, "own_cost");
	json_key_uint(json, "steps", cost->steps);
	json_key_uint(json, "bare_steps", cost->bare);
	json_key_uint(json, "every", cost->every);
	json_uint_if(json, "budget", cost->budget);
	json_key_uint(json, "pairs", cost->pairs);
	if (cost->pairs) {
		json_key_string(json, "clock", cost->cpu ? "process" : "wall");
		json_key_int(json, "step_ns", cost->step_ns);
		json_key_int(json, "ns", cost->ns);
		json_key_int(json, "low_ns", cost->low_ns);
		json_key_int(json, "high_ns", cost->high_ns);
		json_key(json, "share");
		json_share(json, cost->ns > 0 ? (uint64_t)cost->ns : 0, (uint64_t)cost->step_ns);
	}
	json_end(json);
}

void report_trust_json(struct json *json, struct model *model)
{
	struct model_status status;
	struct own_cost cost;

	model_lock(model);
	model_status(model, &status);
	model_own_cost(model, &cost);
	model_unlock(model);
	json_key_object(json, "trust");
	json_key_uint(json, "events", status.events);
	json_key_uint(json, "lost_events", status.lost_events);
	json_key_uint(json, "lost_packets", status.lost_packets);
	json_uint_if(json, "dropped", status.dropped);
	json_uint_if(json, "impossible", status.bad);
	json_uint_if(json, "late", status.late);
	if (status.killed) {
		json_key_object(json, "cut_off");
		json_key_uint(json, "processes", status.killed);
		json_key_uint(json, "ops_per_thread", TFT_OPS_MAX);
		json_end(json);
	}
	json_key_bool(json, "settled", status.finished && !status.partial);
	json_key_object(json, "attribution");
	for (int how = 1; how < HOW_COUNT; how++)
		json_key_uint(json, how_name((enum how)how), status.how[how]);
	json_key_uint(json, how_name(HOW_NONE), status.how[HOW_NONE]);
	json_end(json);
	json_uint_if(json, "unmet_launches", status.unmet);
	if (status.device_ns > 0) {
		json_key_object(json, "coverage");
		json_key(json, "launched");
		json_share(json, (uint64_t)status.launched_ns, (uint64_t)status.device_ns);
		json_key(json, "ops");
		json_share(json, (uint64_t)status.op_ns, (uint64_t)status.device_ns);
		json_end(json);
	}
	write_clocks(json, model);
	write_hosts(json, model);
	report_graph_json(json, model);
	if (status.calls || status.own_ns) {
		json_key_object(json, "overhead");
		json_key_uint(json, "calls", status.calls);
		json_key_int(json, "ns", status.own_ns);
		if (status.program_ns > 0) {
			json_key(json, "share");
			json_share(json, status.own_ns > 0 ? (uint64_t)status.own_ns : 0,
				   (uint64_t)status.program_ns);
		}
		json_end(json);
	}
	if (cost.steps)
		write_own_cost(json, &cost);
	json_end(json);
}

void report_process_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct process_row *row = (const struct process_row *)rows + at;

	json_key_array(json, "probes");
	for (size_t k = 0; k < row->n_probes && k < 8; k++)
		json_string(json, row->probes[k]);
	json_end(json);
}

/* How much of span_ns the device was not looked at: idle only as far as can be seen. */
static struct device_unseen unseen_of(struct model *model, const struct device_row *row)
{
	struct device_row seen = *row;
	struct device_unseen unseen;
	struct idle_gap idle;

	model_lock(model);
	model_device_as_seen(model, &seen, &idle, &unseen);
	model_unlock(model);
	return unseen;
}

void report_device_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct device_row *row = (const struct device_row *)rows + at;
	struct device_unseen unseen = unseen_of(model, row);

	json_key_uint(json, "id", row->id);
	json_key_array(json, "pids");
	for (size_t k = 0; k < row->n_pids && k < 16; k++)
		json_uint(json, row->pids[k]);
	json_end(json);
	json_text_if(json, "host", row->host);
	json_text_if(json, "address", row->address);
	json_key_string(json, "kind", report_device_kind(row));
	json_text_if(json, "name", row->name);
	json_text_if(json, "vendor", row->vendor);
	json_text_if(json, "platform", row->platform);
	json_text_if(json, "driver", row->driver);
	json_text_if(json, "api", row->api);
	json_uint_if(json, "units", row->units);
	json_uint_if(json, "clock_mhz", row->clock_mhz);
	json_uint_if(json, "memory_bytes", row->memory_bytes);
	report_limits_json(json, &row->limits);
	json_time_if(json, "span_ns", row->span_ns);
	json_time_if(json, "busy_ns", row->busy_ns);
	json_time_if(json, "kernel_ns", row->kernel_ns);
	json_time_if(json, "copy_ns", row->copy_ns);
	json_time_if(json, "overlap_ns", row->overlap_ns);
	json_uint_if(json, "paused_ns", report_positive(unseen.paused_ns - unseen.taken_ns));
	json_uint_if(json, "taken_ns", report_positive(unseen.taken_ns));
	if (!report_cores_json(json, model, row))
		report_idle_json(json, model, row->id);
	report_bandwidth_json(json, model, row->id);
}

void report_op_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct op_line *line = (const struct op_line *)rows + at;
	const struct op_row *row = &line->op;
	char source[300];

	if (strcmp(row->raw_name, row->name) != 0)
		json_key_string(json, "raw_name", row->raw_name);
	if (row->file) {
		const char *base = strrchr(row->file, '/');

		snprintf(source, sizeof(source), "%s:%u", base ? base + 1 : row->file, row->line);
		json_key_string(json, "source", source);
	}
	if (row->handed) {
		json_key_uint(json, "handed", row->handed);
		json_key_int(json, "wait_ns", row->wait_ns);
		json_key_int(json, "max_wait_ns", row->max_wait_ns);
		json_key_int(json, "wait_p50_ns", row->wait_p50_ns);
		json_key_int(json, "wait_p99_ns", row->wait_p99_ns);
	}
	if (row->latencies) {
		json_key_uint(json, "latencies", row->latencies);
		json_key_int(json, "latency_ns", row->latency_ns);
	}
	if (!row->is_range) {
		json_key_int(json, "device_ns", row->device_ns);
		json_key_uint(json, "kernels", row->kernels);
		json_key_uint(json, "copies", row->copies);
		json_key_uint(json, "copy_bytes", row->copy_bytes);
	}
	if (row->cpu_kernels) {
		json_key_int(json, "cpu_ns", row->cpu_ns);
		json_key_uint(json, "cpu_kernels", row->cpu_kernels);
	}
	if (line->backward_of) {
		json_key_string(json, "backward_of", line->backward_of);
		json_key_uint(json, "backward_links", line->backward_links);
	}
	report_op_json(json, model, row);
}

void report_steps_json(struct json *json, struct model *model)
{
	struct step_stats stats;
	struct step_row *rows;
	size_t count;

	model_lock(model);
	count = model_steps(model, &stats, &rows);
	model_unlock(model);
	if (stats.count) {
		json_key_object(json, "steps");
		json_key_uint(json, "count", stats.count);
		json_text_if(json, "source", stats.source);
		if (stats.passes)
			json_key_bool(json, "passes", true);
		json_key_int(json, "mean_ns", stats.mean_ns);
		json_key_int(json, "p50_ns", stats.p50_ns);
		json_key_int(json, "p99_ns", stats.p99_ns);
		json_time_if(json, "period_ns", stats.period_ns);
		json_key_uint(json, "warm_up", stats.warm_up);
		json_key_uint(json, "compiled", stats.compiled);
		if (stats.steady_ns >= 0)
			json_key_int(json, "steady_ns", stats.steady_ns);
		if (stats.mad_ns >= 0) {
			json_key_int(json, "mad_ns", stats.mad_ns);
			json_key_uint(json, "outliers", stats.outliers);
		}
		json_key_array(json, "series_ns");
		for (size_t i = 0; i < count; i++)
			json_int(json, rows[i].dur_ns);
		json_end(json);
		report_breakdown_json(json, model);
		report_between_json(json, model);
		report_phases_json(json, model);
		json_end(json);
	}
	free(rows);
}

/* ---- all of it ---- */

/* The rows of one kind. Sections of the same kind that follow one another share them. */
struct report_taken {
	const struct row_snapshot *kind;	/* NULL: nothing is taken */
	void *rows;
	size_t count;
};

/* Takes the rows of another kind, or none (NULL), instead of those that are there. */
static void report_take(struct report_taken *taken, struct model *model,
			const struct row_snapshot *kind)
{
	if (kind == taken->kind)
		return;
	if (taken->kind)
		snapshot_release(taken->kind, taken->rows, taken->count);
	taken->kind = kind;
	if (kind)
		taken->count = snapshot_take(kind, model, &taken->rows);
}

/* open: the key of the array that was begun and not ended, NULL: none. Returns the same. */
static const char *report_section_json(const struct report_section *section,
				       const struct report_taken *taken, struct model *model,
				       struct json *json, const char *open)
{
	const char *row = taken->rows;
	size_t written = 0;

	if (section->always)
		json_key_array(json, open = section->key);
	for (size_t i = 0; i < taken->count; i++, row += section->rows->size) {
		if (section->keep && !section->keep(row))
			continue;
		if (section->json_most && written++ == section->json_most)
			break;
		if (!open)
			json_key_array(json, open = section->key);
		json_object(json);
		if (section->rows->columns)
			report_row_json(json, section->rows->columns, row);
		if (section->members)
			section->members(json, model, taken->rows, i);
		json_end(json);
	}
	return open;
}

static void report_sections_json(struct json *json, struct model *model)
{
	struct report_taken taken = { .kind = NULL };
	const char *open = NULL;

	for (size_t i = 0; i < report_n_sections; i++) {
		const struct report_section *section = &report_sections[i];

		if (open && (!section->key || strcmp(open, section->key))) {
			json_end(json);
			open = NULL;
		}
		if (section->json) {
			section->json(json, model);
		} else if (section->key) {
			report_take(&taken, model, section->rows);
			open = report_section_json(section, &taken, model, json, open);
		}
	}
	report_take(&taken, model, NULL);
	if (open)
		json_end(json);
}

void report_json(struct model *model, const struct report_run *run, FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	json_key_string(&json, "tftop", TFTOP_VERSION);
	json_key_int(&json, "schema", 1);
	json_key_object(&json, "run");
	report_run_json(&json, run);
	json_end(&json);
	report_sections_json(&json, model);
	json_end(&json);
	json_finish(&json);
}

int report_json_file(struct model *model, const struct report_run *run,
		     const char *path, char *error, size_t error_size)
{
	struct atomic_file file;

	if (strcmp(path, "-")) {
		if (atomic_file_open(&file, path, error, error_size))
			return -1;
		report_json(model, run, file.out);
		return atomic_file_commit(&file, error, error_size);
	}
	report_json(model, run, stdout);
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	snprintf(error, error_size, "cannot write the report to stdout: %s",
		 errno ? strerror(errno) : "closed");
	return -1;
}
