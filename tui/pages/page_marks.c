/* SPDX-License-Identifier: MIT */
/* marks: the named moments and the times between them. */
#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/timeline/marks.h"
#include "tui/pages/page_parts.h"
#include "tui/draw/pane.h"

bool page_marks(const struct page_call *call, struct page *page)
{
	const struct marks *marks = call->view ? call->view->marks : NULL;
	struct model_status status;
	char time[FMT_MAX], apart[FMT_MAX + 1];

	page_title(page, "marks");
	if (!marks || !marks->n) {
		page_say(page, ROLE_MUTED, 0, "no marks: m and a letter set one at the cursor (or "
			 "mark NAME NOTE), ' and the letter go back to it");
		return true;
	}
	model_lock(call->model);
	model_status(call->model, &status);
	model_unlock(call->model);
	page_say(page, ROLE_COLUMN, 0, "        time  since the last  mark");
	for (size_t i = 0; i < marks->n; i++) {
		const struct time_mark *mark = &marks->list[i];
		const struct time_mark *last = i ? mark - 1 : NULL;

		apart[0] = '+';
		fmt_time(apart + 1, last ? mark->start_ns - last->start_ns : 0);
		page_cell(page, ROLE_DEFAULT, 12, fmt_time_fine(time,
								mark->start_ns - status.first_ns));
		page_cell(page, ROLE_MUTED, 16, last ? apart : "");
		page_add(page, ROLE_DEFAULT, 0, "  ");
		page_to(page, mark->name, "goto", "mark", mark->name, NULL);
		if (*mark->note)
			page_add(page, ROLE_DEFAULT, 0, "  %s", mark->note);
		if (last) {
			page_add(page, ROLE_DEFAULT, 0, "   ");
			page_to(page, "what ran between", "range", last->name, mark->name, NULL);
		}
		page_add(page, ROLE_DEFAULT, 0, "   ");
		page_to(page, "remove", "unmark", mark->name, NULL);
		page_end(page);
	}
	return true;
}
