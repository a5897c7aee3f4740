/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON (docs/report.md), key by key. What was not
 * observed has no key.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/columns/copies.h"
#include "model/columns/ops.h"
#include "model/query/flows.h"
#include "tui/base/atomic_file.h"
#include "tui/base/json.h"
#include "tui/report/report.h"

#ifndef TFTOP_VERSION
#define TFTOP_VERSION "unknown"
#endif

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
	json_time_if(json, "exit_status", run->exit_status);
	if (run->signal > 0)
		json_key_int(json, "signal", run->signal);
	if (run->stopped_ns > 0)
		json_key_int(json, "stopped_ns", run->stopped_ns);
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

static void write_trust(struct json *json, struct model *model)
{
	struct model_status status;

	model_lock(model);
	model_status(model, &status);
	model_unlock(model);
	json_key_object(json, "trust");
	json_key_uint(json, "events", status.events);
	json_key_uint(json, "lost_events", status.lost_events);
	json_key_uint(json, "lost_packets", status.lost_packets);
	json_uint_if(json, "dropped", status.dropped);
	json_uint_if(json, "impossible", status.bad);
	json_uint_if(json, "late", status.late);
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
	json_end(json);
}

static void write_processes(struct json *json, struct model *model)
{
	struct process_row *rows;
	size_t count;

	model_lock(model);
	count = model_processes(model, &rows);
	model_unlock(model);
	json_key_array(json, "processes");
	for (size_t i = 0; i < count; i++) {
		const struct process_row *row = &rows[i];

		json_object(json);
		json_key_uint(json, "pid", row->pid);
		json_uint_if(json, "parent", row->parent);
		json_text_if(json, "host", row->host_name);
		if (row->rank >= 0)
			json_key_int(json, "rank", row->rank);
		json_text_if(json, "command", row->command);
		if (row->exited && row->exit_signal)
			json_key_int(json, "signal", row->exit_signal);
		else if (row->exited && row->exit_status >= 0)
			json_key_int(json, "exit_status", row->exit_status);
		json_key_array(json, "probes");
		for (size_t k = 0; k < row->n_probes && k < 8; k++)
			json_string(json, row->probes[k]);
		json_end(json);
		json_end(json);
	}
	json_end(json);
	free(rows);
}

/* How much of span_ns the level was off: idle only as far as can be seen. */
static int64_t paused_ns(struct model *model, const struct device_row *row)
{
	struct device_row seen = *row;
	struct device_unseen unseen;
	struct idle_gap idle;

	model_lock(model);
	model_device_as_seen(model, &seen, &idle, &unseen);
	model_unlock(model);
	return unseen.paused_ns;
}

static void write_device(struct json *json, struct model *model, const struct device_row *row)
{
	json_object(json);
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
	json_uint_if(json, "paused_ns", report_positive(paused_ns(model, row)));
	if (!report_cores_json(json, model, row))
		report_idle_json(json, model, row->id);
	report_bandwidth_json(json, model, row->id);
	json_end(json);
}

static void write_devices(struct json *json, struct model *model)
{
	struct device_row *rows;
	size_t count;

	model_lock(model);
	count = model_devices(model, &rows);
	model_unlock(model);
	json_key_array(json, "devices");
	for (size_t i = 0; i < count; i++)
		write_device(json, model, &rows[i]);
	json_end(json);
	free(rows);
}

static void write_queues(struct json *json, struct model *model)
{
	struct queue_row *rows;
	size_t count;

	model_lock(model);
	count = model_queues(model, &rows);
	model_unlock(model);
	json_key_array(json, "queues");
	for (size_t i = 0; i < count; i++) {
		const struct queue_row *row = &rows[i];

		json_object(json);
		json_key_uint(json, "id", row->id);
		json_key_uint(json, "number", row->number);
		json_key_uint(json, "pid", row->pid);
		json_key_uint(json, "device", row->device);
		json_text_if(json, "name", row->name);
		json_key_bool(json, "in_order", row->in_order);
		if (row->fallback)
			json_key_bool(json, "default", true);
		if (row->priority)
			json_key_int(json, "priority", row->priority);
		json_key_uint(json, "kernels", row->kernels);
		json_key_uint(json, "copies", row->copies);
		json_uint_if(json, "failed", row->failed);
		json_key_int(json, "busy_ns", row->busy_ns);
		json_time_if(json, "delay_p50_ns", row->delay_p50_ns);
		json_time_if(json, "delay_p99_ns", row->delay_p99_ns);
		report_queue_json(json, model, row->id);
		json_end(json);
	}
	json_end(json);
	free(rows);
}

static void write_copies(struct json *json, struct model *model)
{
	struct copy_row *rows;
	size_t count;

	model_lock(model);
	count = model_copies(model, &rows);
	model_unlock(model);
	json_key_array(json, "copies");
	for (size_t i = 0; i < count; i++) {
		struct copy_line line;

		copy_line_init(&line, &rows[i]);
		json_object(json);
		report_row_json(json, &copy_columns, &line);
		json_uint_if(json, "approximate", rows[i].approx);
		json_uint_if(json, "untimed", rows[i].untimed);
		if (rows[i].peer != UINT32_MAX)
			json_key_uint(json, "peer_device", rows[i].peer);
		json_end(json);
	}
	json_end(json);
	free(rows);
}

/* Names are the model's: equal ones are the same. */
static int by_backward(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct pass_pair *)a)->backward;
	uintptr_t y = (uintptr_t)((const struct pass_pair *)b)->backward;

	return x < y ? -1 : x > y;
}

static void write_op(struct json *json, struct model *model, const struct op_row *row,
		     const struct pass_pair *pairs, size_t n_pairs)
{
	const struct pass_pair wanted = { .backward = row->name };
	const struct pass_pair *pair = n_pairs ? bsearch(&wanted, pairs, n_pairs, sizeof(*pairs),
							 by_backward) : NULL;
	char source[300];

	json_object(json);
	report_row_json(json, &op_list_columns, &(struct op_line) { .op = *row });
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
	if (pair) {
		json_key_string(json, "backward_of", pair->forward);
		json_key_uint(json, "backward_links", pair->links);
	}
	report_op_json(json, model, row);
	json_end(json);
}

/* Ops, and beside them the user's ranges in which nothing was launched. */
static void write_ops(struct json *json, struct model *model)
{
	struct op_row *rows;
	struct pass_pair *pairs;
	size_t count, ranges = 0, n_pairs;

	model_lock(model);
	count = model_ops(model, &rows);
	n_pairs = model_passes(model, &pairs);
	model_unlock(model);
	if (n_pairs)
		qsort(pairs, n_pairs, sizeof(*pairs), by_backward);
	json_key_array(json, "ops");
	for (size_t i = 0; i < count; i++) {
		if (rows[i].is_range)
			ranges++;
		else
			write_op(json, model, &rows[i], pairs, n_pairs);
	}
	json_end(json);
	if (ranges) {
		json_key_array(json, "ranges");
		for (size_t i = 0; i < count; i++)
			if (rows[i].is_range)
				write_op(json, model, &rows[i], pairs, n_pairs);
		json_end(json);
	}
	free(pairs);
	free(rows);
}

static void write_calls(struct json *json, struct model *model)
{
	struct call_row *rows;
	size_t count;

	model_lock(model);
	count = model_calls(model, &rows);
	model_unlock(model);
	json_key_array(json, "calls");
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_key_string(json, "name", rows[i].name);
		json_key_uint(json, "count", rows[i].count);
		if (rows[i].timed) {
			json_key_int(json, "total_ns", rows[i].total_ns);
			json_key_int(json, "max_ns", rows[i].max_ns);
		}
		json_key_uint(json, "errors", rows[i].errors);
		json_end(json);
	}
	json_end(json);
	free(rows);
}

static void write_steps(struct json *json, struct model *model)
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
		report_phases_json(json, model);
		json_end(json);
	}
	free(rows);
}

static void write_compiles(struct json *json, struct model *model)
{
	struct compile_row *rows;
	size_t count;

	model_lock(model);
	count = model_compiles(model, &rows);
	model_unlock(model);
	json_key_array(json, "compiles");
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_key_string(json, "what", rows[i].what);
		json_text_if(json, "cause", rows[i].cause);
		json_key_uint(json, "count", rows[i].count);
		json_uint_if(json, "failed", rows[i].failed);
		json_key_int(json, "total_ns", rows[i].total_ns);
		json_end(json);
	}
	json_end(json);
	free(rows);
}

static void write_messages(struct json *json, struct model *model)
{
	static const char *const levels[] = { "info", "warning", "error" };
	struct message_row *rows;
	size_t count;

	model_lock(model);
	count = model_messages(model, &rows);
	model_unlock(model);
	json_key_array(json, "messages");
	for (size_t i = 0; i < count; i++) {
		int level = rows[i].level < 0 || rows[i].level > 2 ? 2 : rows[i].level;

		json_object(json);
		json_key_string(json, "level", levels[level]);
		json_key_string(json, "text", rows[i].text);
		json_end(json);
	}
	json_end(json);
	free(rows);
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
	write_trust(&json, model);
	write_processes(&json, model);
	write_devices(&json, model);
	write_queues(&json, model);
	report_kernels_json(&json, model);
	write_copies(&json, model);
	write_ops(&json, model);
	report_scopes_json(&json, model);
	report_source_json(&json, model);
	write_calls(&json, model);
	report_waits_json(&json, model);
	report_replays_json(&json, model);
	write_steps(&json, model);
	report_path_json(&json, model);
	report_findings_json(&json, model);
	report_memory_json(&json, model);
	report_input_json(&json, model);
	report_counters_json(&json, model);
	report_pools_json(&json, model);
	report_edges_json(&json, model);
	write_compiles(&json, model);
	write_messages(&json, model);
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
