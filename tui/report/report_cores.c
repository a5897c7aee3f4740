/* SPDX-License-Identifier: MIT */
/* How busy the processor was, in the report: in the place of idle times. */
#include <inttypes.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/cores.h"
#include "tui/base/json.h"
#include "tui/report/report.h"

static bool cores_of(struct model *model, const struct device_row *row, struct cores_use *use)
{
	struct model_status status;
	bool known;

	if (!row->api || strcmp(row->api, "cpu"))
		return false;
	model_lock(model);
	model_status(model, &status);
	known = model_cores(model, status.first_ns, status.last_ns, use);
	model_unlock(model);
	return known;
}

bool report_cores_text(struct model *model, const struct device_row *row, FILE *out)
{
	char share[4][FMT_MAX], time[FMT_MAX];
	struct cores_use use;
	uint64_t span;
	int64_t tenths;

	if (!cores_of(model, row, &use))
		return false;
	span = (uint64_t)use.span_ns;
	tenths = (int64_t)(((__int128)use.busy_ns * 10 + use.span_ns / 2) / use.span_ns);
	fprintf(out, "    cores busy %" PRId64 ".%" PRId64 " of %" PRIu32 " in %s   no op %s   "
		"input wait %s", tenths / 10, tenths % 10, row->units, fmt_time(time, use.span_ns),
		fmt_share(share[0], span - report_positive(use.any_ns), span),
		fmt_share(share[1], report_positive(use.input_ns), span));
	if (use.top)
		fprintf(out, "   %.20s %s of that", use.top,
			fmt_share(share[2], report_positive(use.top_ns),
				  report_positive(use.busy_ns)));
	fputc('\n', out);
	return true;
}

bool report_cores_json(struct json *json, struct model *model, const struct device_row *row)
{
	struct cores_use use;

	if (!cores_of(model, row, &use))
		return false;
	json_key_object(json, "cores");
	json_key_int(json, "span_ns", use.span_ns);
	json_key_int(json, "busy_ns", use.busy_ns);
	json_key_int(json, "any_ns", use.any_ns);
	json_key_int(json, "input_ns", use.input_ns);
	json_text_if(json, "library", use.top);
	if (use.top)
		json_key_int(json, "library_ns", use.top_ns);
	json_end(json);
	return true;
}
