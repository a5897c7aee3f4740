/* SPDX-License-Identifier: MIT */
/* waits: which calls synchronise, and how long devices are idle afterwards. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/query/waits.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define PAGE_WIDTH 150

bool page_waits(const struct page_call *call, struct page *page)
{
	struct sheet sheet = { 0 };
	struct wait_row *rows;
	size_t count = report_waits(call->model, &rows);

	page_title(page, "waits");
	report_waits_columns(&sheet);
	for (size_t i = 0; i < count; i++)
		report_waits_cells(&sheet, &rows[i]);
	page_sheet(page, &sheet, PAGE_WIDTH);
	if (!count)
		page_say(page, ROLE_MUTED, 0, "no wait for a device has settled");
	else
		page_say(page, ROLE_MUTED, 0, "stalls: waits after which a device had nothing to "
			 "do; idle after: until its next work began");
	free(rows);
	return true;
}
