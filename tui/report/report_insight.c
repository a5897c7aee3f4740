/* SPDX-License-Identifier: MIT */
/* Why devices were idle and what a step's time went to, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/query/time.h"
#include "model/base/util.h"
#include "tui/base/json.h"
#include "tui/report/report.h"

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

void report_breakdown_text(struct model *model, FILE *out)
{
	struct report_share shares[STEP_CLASS_COUNT];
	struct step_breakdown mean;
	struct step_bound bound;
	struct model_status status;
	char share[FMT_MAX];
	bool bounded;

	model_lock(model);
	if (!model_step_breakdown_mean(model, &mean))
		mean.dur_ns = 0;
	bounded = model_bound(model, &bound);
	model_status(model, &status);
	model_unlock(model);
	if (mean.dur_ns <= 0)
		return;
	for (int c = 0; c < STEP_CLASS_COUNT; c++)
		shares[c] = (struct report_share) { step_class_name((enum step_class)c),
						    mean.ns[c] };
	report_shares(status.passes ? "  a pass is  " : "  a step is  ", shares,
		      STEP_CLASS_COUNT, mean.dur_ns, out);
	if (bounded && bound.whole_ns > 0)
		fprintf(out, "  bound by %s, %s of it\n", step_bound_name(bound.kind),
			fmt_share(share, (uint64_t)bound.ns, (uint64_t)bound.whole_ns));
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

void report_idle_json(struct json *json, struct model *model, uint32_t device)
{
	struct idle_gap idle;
	struct overlap_row overlap;
	bool known, overlaps;

	model_lock(model);
	known = model_idle(model, device, &idle);
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
		json_end(json);
	}
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

void report_breakdown_json(struct json *json, struct model *model)
{
	struct step_breakdown mean;
	struct step_bound bound;
	uint64_t steps;
	bool bounded;
	char key[32];

	model_lock(model);
	steps = model_step_breakdown_mean(model, &mean);
	bounded = model_bound(model, &bound);
	model_unlock(model);
	if (!steps)
		return;
	json_key_object(json, "breakdown");
	json_key_uint(json, "steps", steps);
	json_key_int(json, "step_ns", mean.dur_ns);
	for (int c = 0; c < STEP_CLASS_COUNT; c++) {
		snprintf(key, sizeof(key), "%s_ns", step_class_name((enum step_class)c));
		json_key_int(json, key, mean.ns[c]);
	}
	json_key_int(json, "copies_ns", mean.copy_ns);
	json_key_int(json, "copies_under_compute_ns", mean.copy_hidden_ns);
	if (bounded)
		json_key_string(json, "bound_by", step_bound_name(bound.kind));
	json_end(json);
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
