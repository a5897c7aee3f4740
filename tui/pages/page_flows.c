/* SPDX-License-Identifier: MIT */
/* flows: messages between processes, how long they take and what their ends do with them. */
#include <stdlib.h>

#include "model/columns/plain.h"
#include "model/query/flows.h"
#include "model/query/query.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"

bool page_flows(const struct page_call *call, struct page *page)
{
	struct report_rows rows = { .size = sizeof(struct flow_row) };
	struct flow_row *flows;

	model_lock(call->model);
	rows.count = model_flows(call->model, &flows);
	model_unlock(call->model);
	rows.rows = flows;
	page_title(page, "messages between processes");
	if (rows.count) {
		report_page_table(page, &flow_columns, &rows);
		page_say(page, ROLE_DEFAULT, 0, "%s", "");
		report_page_table(page, &flow_coding_columns, &rows);
	} else {
		page_say(page, ROLE_MUTED, 0, "no message between processes has been seen");
	}
	free(flows);
	return true;
}
