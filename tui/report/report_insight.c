/* SPDX-License-Identifier: MIT */
/* Why devices were idle and what a step's time went to, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/time.h"
#include "model/base/util.h"
#include "tui/base/json.h"
#include "tui/draw/labels.h"
#include "tui/report/report.h"

#define HOST_LINES 6			/* lines of text on what the host did */
#define HOST_NAME 8			/* columns for "input is" */
#define HOST_WIDTH 78	/* of the text behind such a name, so that a line has at most 100 */
#define HOST_LEAST 200			/* smaller parts of the whole are left out */

/* ---- text ---- */

void report_idle_text(const struct device_row *device, const struct idle_gap *idle, FILE *out)
{
	struct report_share shares[IDLE_COUNT];
	int64_t sum = 0;

	for (int c = 0; c < IDLE_COUNT; c++) {
		shares[c] = (struct report_share) { idle_name((enum idle_cause)c), idle->ns[c] };
		sum += idle->ns[c];
	}
	if (sum <= 0)
		return;
	report_shares("    idle for  ", shares, IDLE_COUNT, device->span_ns, out);
}

/* "sleep at loader.py:25 in load" */
static void report_host_words(const struct host_time_row *row, char *text, size_t size)
{
	const char *file = path_last(row->file);
	int at = snprintf(text, size, "%s", doing_name(row->doing));

	if (*file)
		at += snprintf(text + at, size - (size_t)at, " at %.60s:%u in %.60s", file,
			       row->line, row->function);
	if (*row->what)
		snprintf(text + at, size - (size_t)at, ", %s %.100s",
			 doing_what(row->doing, *row->file), row->what);
}

static const char *cause_name(int cause)
{
	return idle_name((enum idle_cause)cause);
}

static const char *class_name(int class)
{
	return step_class_name((enum step_class)class);
}

/* How wide the names of the classes are, each with "is" behind it. */
static int host_names_width(const struct host_time_row *rows, size_t n,
			    const struct report_host *host)
{
	int width = HOST_NAME;

	for (size_t i = 0; i < n; i++) {
		int one = (int)strlen(host->label(rows[i].class)) + 3;

		width = one > width ? one : width;
	}
	return width;
}

/* A line for each of the largest parts of a class, and one for what is unknown of it. */
static void host_class_lines(const struct host_time_row *rows, size_t n, int class,
			     const struct report_host *host, FILE *out)
{
	char share[FMT_MAX], text[320], fitted[HOST_WIDTH * 4 + 1], name[24];
	int64_t unknown_ns = host_time_unknown(rows, n, class, host->ns[class]);
	int lines = 0, width = host_names_width(rows, n, host);

	snprintf(name, sizeof(name), "%s is", host->label(class));
	for (size_t i = 0; i < n && lines < HOST_LINES; i++) {
		if (rows[i].class != class || rows[i].ns * HOST_LEAST < host->whole_ns)
			continue;
		report_host_words(&rows[i], text, sizeof(text));
		label_fit(fitted, sizeof(fitted), text, HOST_WIDTH - (width - HOST_NAME), false);
		fprintf(out, "    %-*s %5s  %s\n", width, lines++ ? "" : name,
			fmt_share(share, (uint64_t)rows[i].ns, (uint64_t)host->whole_ns), fitted);
	}
	if (lines && unknown_ns * HOST_LEAST >= host->whole_ns)
		fprintf(out, "    %-*s %5s  unknown\n", width, "",
			fmt_share(share, (uint64_t)unknown_ns, (uint64_t)host->whole_ns));
}

/* By class, in the order of its largest part. */
void report_host_lines(const struct host_time_row *rows, size_t n, const struct report_host *host,
		       FILE *out)
{
	uint32_t told = 0;

	for (size_t i = 0; i < n; i++)
		if (!(told >> rows[i].class & 1)) {
			told |= 1u << rows[i].class;
			host_class_lines(rows, n, rows[i].class, host, out);
		}
}

void report_host_text(struct model *model, const struct device_row *device,
		      const struct idle_gap *idle, FILE *out)
{
	struct host_time_row *rows;
	size_t n;

	model_lock(model);
	n = model_idle_host(model, device->id, idle, &rows);
	model_unlock(model);
	report_host_lines(rows, n, &(struct report_host) {
		.ns = idle->ns, .whole_ns = device->span_ns, .label = cause_name,
	}, out);
	free(rows);
}

static void report_step_classes(const char *title, const struct step_breakdown *mean,
				const struct host_time_row *rows, size_t n, FILE *out)
{
	struct report_share shares[STEP_CLASS_COUNT];

	for (int c = 0; c < STEP_CLASS_COUNT; c++)
		shares[c] = (struct report_share) { step_class_name((enum step_class)c),
						    mean->ns[c] };
	report_shares(title, shares, STEP_CLASS_COUNT, mean->dur_ns, out);
	report_host_lines(rows, n, &(struct report_host) {
		.ns = mean->ns, .whole_ns = mean->dur_ns, .label = class_name,
	}, out);
}

void report_between_text(struct model *model, FILE *out)
{
	struct host_time_row *rows;
	struct step_breakdown mean;
	struct model_status status;
	uint64_t steps;
	size_t n;

	model_lock(model);
	steps = model_step_between(model, &mean, &rows, &n);
	model_status(model, &status);
	model_unlock(model);
	if (steps && mean.dur_ns > 0)
		report_step_classes(status.passes ? "    between passes  " : "    between steps  ",
				    &mean, rows, n, out);
	free(rows);
}

void report_breakdown_text(struct model *model, FILE *out)
{
	struct host_time_row *rows;
	struct step_breakdown mean;
	struct step_bound bound;
	struct model_status status;
	char share[FMT_MAX], own[FMT_MAX];
	bool bounded;
	size_t n;

	model_lock(model);
	if (!model_step_breakdown_mean(model, &mean))
		mean.dur_ns = 0;
	n = model_step_host_mean(model, &rows);
	bounded = model_bound(model, &bound);
	model_status(model, &status);
	model_unlock(model);
	if (mean.dur_ns > 0)
		report_step_classes(status.passes ? "  a pass is  " : "  a step is  ", &mean, rows,
				    n, out);
	free(rows);
	if (mean.dur_ns <= 0 || !bounded || bound.whole_ns <= 0)
		return;
	fprintf(out, "  bound by %s, %s of it", step_bound_name(bound.kind),
		fmt_share(share, (uint64_t)bound.ns, (uint64_t)bound.whole_ns));
	if (bound.own_ns)
		fprintf(out, " without tftop's own %s", fmt_time(own, bound.own_ns));
	fputc('\n', out);
}

void report_phases_text(struct model *model, FILE *out)
{
	struct report_share shares[STEP_PHASES];
	struct step_phases mean;
	uint64_t steps;

	model_lock(model);
	steps = model_step_phases(model, &mean);
	model_unlock(model);
	for (int i = 0; i < STEP_PHASES; i++)
		shares[i] = (struct report_share) { step_phase_name((enum step_phase)i),
						    mean.ns[i] };
	if (steps && mean.whole_ns > 0)
		report_shares("  by phase   ", shares, STEP_PHASES, mean.whole_ns, out);
}

/* ---- JSON ---- */

void report_host_json(struct json *json, const struct host_time_row *rows, size_t n,
		      const char *key, const char *(*name_of)(int))
{
	if (n)
		json_key_array(json, "host");
	for (size_t i = 0; i < n; i++) {
		json_object(json);
		json_key_string(json, key, name_of(rows[i].class));
		json_key_string(json, "state", doing_name(rows[i].doing));
		json_key_int(json, "ns", rows[i].ns);
		if (*rows[i].file) {
			json_key_string(json, "file", rows[i].file);
			json_key_uint(json, "line", rows[i].line);
			json_key_string(json, "function", rows[i].function);
		}
		if (*rows[i].what)
			json_key_string(json, "what", rows[i].what);
		json_end(json);
	}
	if (n)
		json_end(json);
}

void report_idle_json(struct json *json, struct model *model, uint32_t device)
{
	struct host_time_row *rows = NULL;
	struct idle_gap idle;
	struct overlap_row overlap;
	bool known, overlaps;
	size_t n = 0;

	model_lock(model);
	known = model_idle(model, device, &idle);
	if (known)
		n = model_idle_host(model, device, &idle, &rows);
	overlaps = model_overlap(model, device, &overlap);
	model_unlock(model);
	if (known) {
		json_key_object(json, "idle");
		json_key_int(json, "input_ns", idle.ns[IDLE_INPUT]);
		json_key_int(json, "launch_ns", idle.ns[IDLE_LAUNCH]);
		json_key_int(json, "sync_ns", idle.ns[IDLE_SYNC]);
		json_key_int(json, "copy_ns", idle.ns[IDLE_COPY]);
		json_key_int(json, "other_ns", idle.ns[IDLE_OTHER] + idle.ns[IDLE_HOST]);
		json_key_int(json, "host_ns", idle.ns[IDLE_HOST]);
		report_host_json(json, rows, n, "cause", cause_name);
		json_end(json);
	}
	free(rows);
	if (overlaps && overlap.comm_ns) {
		json_key_int(json, "communication_ns", overlap.comm_ns);
		json_key_int(json, "communication_under_compute_ns", overlap.comm_hidden_ns);
	}
}

void report_bandwidth_json(struct json *json, struct model *model, uint32_t device)
{
	struct bandwidth_row *rows;
	size_t count;

	model_lock(model);
	count = model_bandwidth(model, &rows);
	model_unlock(model);
	json_key_array(json, "bandwidth");
	for (size_t i = 0; i < count; i++) {
		if (rows[i].device != device)
			continue;
		json_object(json);
		json_key_string(json, "direction", direction_name(rows[i].direction));
		json_key_uint(json, "bytes", rows[i].bytes);
		json_key_uint(json, "count", rows[i].count);
		json_key_int(json, "busy_ns", rows[i].busy_ns);
		if (rows[i].busy_ns > 0)
			json_key_uint(json, "mean_bytes_per_s", rows[i].mean_bytes_per_s);
		json_uint_if(json, "best_bytes_per_s", rows[i].best_bytes_per_s);
		json_uint_if(json, "bytes_per_step", rows[i].step_bytes);
		json_end(json);
	}
	json_end(json);
	free(rows);
}

static void report_classes_json(struct json *json, const struct step_breakdown *mean)
{
	char key[32];

	for (int c = 0; c < STEP_CLASS_COUNT; c++) {
		snprintf(key, sizeof(key), "%s_ns", step_class_name((enum step_class)c));
		json_key_int(json, key, mean->ns[c]);
	}
}

void report_between_json(struct json *json, struct model *model)
{
	struct host_time_row *rows;
	struct step_breakdown mean;
	uint64_t steps;
	size_t n;

	model_lock(model);
	steps = model_step_between(model, &mean, &rows, &n);
	model_unlock(model);
	if (steps) {
		json_key_object(json, "between");
		json_key_int(json, "step_ns", mean.dur_ns);
		report_classes_json(json, &mean);
		report_host_json(json, rows, n, "class", class_name);
		json_end(json);
	}
	free(rows);
}

void report_breakdown_json(struct json *json, struct model *model)
{
	struct host_time_row *rows;
	struct step_breakdown mean;
	struct step_bound bound;
	uint64_t steps;
	bool bounded;
	size_t n;

	model_lock(model);
	steps = model_step_breakdown_mean(model, &mean);
	n = model_step_host_mean(model, &rows);
	bounded = model_bound(model, &bound);
	model_unlock(model);
	if (!steps)
		return;
	json_key_object(json, "breakdown");
	json_key_uint(json, "steps", steps);
	json_key_int(json, "step_ns", mean.dur_ns);
	report_classes_json(json, &mean);
	json_key_int(json, "copies_ns", mean.copy_ns);
	json_key_int(json, "copies_under_compute_ns", mean.copy_hidden_ns);
	if (bounded)
		json_key_string(json, "bound_by", step_bound_name(bound.kind));
	if (bounded && bound.own_ns)
		json_key_int(json, "own_ns", bound.own_ns);
	report_host_json(json, rows, n, "class", class_name);
	json_end(json);
	free(rows);
}

void report_phases_json(struct json *json, struct model *model)
{
	struct step_phases mean;
	uint64_t steps;
	char key[32];

	model_lock(model);
	steps = model_step_phases(model, &mean);
	model_unlock(model);
	if (!steps)
		return;
	json_key_object(json, "phases");
	json_key_uint(json, "steps", steps);
	json_key_int(json, "step_ns", mean.whole_ns);
	for (int i = 0; i < STEP_PHASES; i++) {
		snprintf(key, sizeof(key), "%s_ns", step_phase_name((enum step_phase)i));
		json_key_int(json, key, mean.ns[i]);
	}
	json_end(json);
}
