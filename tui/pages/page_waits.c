/* SPDX-License-Identifier: MIT */
/* waits: which calls synchronise, and how long devices are idle afterwards. */
#include "model/export/snapshots.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"

bool page_waits(const struct page_call *call, struct page *page)
{
	const struct row_snapshot *kind = &snapshot_of_waits;
	void *rows;
	size_t count = snapshot_take(kind, call->model, &rows);

	page_title(page, "waits");
	report_page_table(page, kind->columns, &(struct report_rows) {
		.rows = rows, .size = kind->size, .count = count,
	});
	if (!count)
		page_say(page, ROLE_MUTED, 0, "no wait for a device has settled");
	else
		page_say(page, ROLE_MUTED, 0, "stalls: waits after which a device had nothing to "
			 "do; idle after: until its next work began");
	snapshot_release(kind, rows, count);
	return true;
}
