/* SPDX-License-Identifier: MIT */
/* What the analyses found, as text and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/thresholds.h"
#include "model/query/findings.h"
#include "model/base/util.h"
#include "tui/draw/grid.h"
#include "tui/base/json.h"
#include "tui/draw/places.h"
#include "tui/report/sections.h"
#include "tui/draw/sheet.h"

#define INDENT 6			/* of the lines below a title */

/* ---- text ---- */

static void print_finding(const struct finding *finding, const struct findings_status *status,
			  FILE *out)
{
	char cost[80] = "", words[64];

	if (finding->cost_ns)
		snprintf(cost, sizeof(cost), "costs %s",
			 places_cost(words, sizeof(words), finding->cost_ns,
				     finding_of_ns(finding, status)));
	report_lines(finding->severity == SEVERITY_WARNING ? "  !" : "  ·", 4, finding->title, cost,
		    out);
	for (int i = 0; i < FINDING_LINES; i++)
		report_lines("", INDENT, finding->lines[i], "", out);
	report_lines("", INDENT, finding->advice, "", out);
}

void report_findings_text(struct model *model, FILE *out)
{
	struct findings_status status;
	struct finding *list = NULL;
	size_t count;
	bool few;

	model_lock(model);
	count = model_findings(model, &status, &list);
	few = status.steps && status.steps < (uint64_t)model_threshold(model, THRESHOLD_MIN_STEPS);
	model_unlock(model);
	if (count)
		fputs("\nfindings\n", out);
	else if (status.settled_ns != INT64_MIN)
		fprintf(out, "\nfindings\n  none%s\n",
			few ? " yet: too few steps after the warm-up" : "");
	for (size_t i = 0; i < count; i++)
		print_finding(&list[i], &status, out);
	if (status.more)
		fprintf(out, "  … %zu more cost less\n", status.more);
	free(list);
}

/* ---- JSON ---- */

/* Places are counted from the start of the run. */
static void write_evidence(struct json *json, const struct evidence *evidence,
			   const struct model_row *rows, size_t n_rows, int64_t base_ns)
{
	json_key_object(json, "evidence");
	if (evidence->kind != EVIDENCE_NONE)
		json_key_string(json, "kind", evidence_name(evidence->kind));
	if (evidence->key)
		json_key_string(json, "name", evidence->key);
	if (evidence->t0 && evidence->t0 <= evidence->t1) {
		json_key_int(json, "start_ns", evidence->t0 - base_ns);
		json_key_int(json, "end_ns", evidence->t1 - base_ns);
	}
	for (size_t i = 0; i < n_rows && evidence->row; i++)
		if (rows[i].id == evidence->row)
			json_key_string(json, "row", rows[i].label);
	json_end(json);
}

static void write_finding(struct json *json, const struct finding *finding, int64_t of_ns)
{
	json_key_string(json, "id", finding->id);
	json_key_string(json, "severity", severity_name(finding->severity));
	json_key_string(json, "title", finding->title);
	json_key_int(json, of_ns > 0 ? "cost_ns_per_step" : "cost_ns_per_second", finding->cost_ns);
	json_key_int(json, "of_ns", of_ns > 0 ? of_ns : 1000000000);
	json_key_array(json, "lines");
	for (int i = 0; i < FINDING_LINES; i++)
		if (finding->lines[i][0])
			json_string(json, finding->lines[i]);
	json_end(json);
	if (finding->advice[0])
		json_key_string(json, "advice", finding->advice);
}

void report_findings_json(struct json *json, struct model *model)
{
	struct findings_status status;
	struct model_status run;
	struct finding *list = NULL;
	struct model_row *rows = NULL;
	size_t count, n_rows;

	model_lock(model);
	model_status(model, &run);
	count = model_findings(model, &status, &list);
	n_rows = count ? model_rows(model, &rows) : 0;
	model_unlock(model);
	if (status.settled_ns == INT64_MIN)
		return;			/* nothing was looked at */
	json_key_array(json, "findings");
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		write_finding(json, &list[i], finding_of_ns(&list[i], &status));
		write_evidence(json, &list[i].evidence, rows, n_rows, places_base_ns(&run));
		json_end(json);
	}
	json_end(json);
	free(rows);
	free(list);
}
