/* SPDX-License-Identifier: MIT */
#include "tui/table/where.h"

#include <stdio.h>

#include "model/base/util.h"
#include "tui/filters/filters.h"
#include "tui/draw/labels.h"

bool where_take(struct filter **filter, struct view *view, const struct command_call *call)
{
	struct filter *taken = NULL;

	if (call->argc > 1) {
		taken = filters_parse(view->filters, call, 1, view->status, sizeof(view->status));
		view->status_error = !taken;
		if (!taken)
			return false;
	} else if (!*filter) {
		snprintf(view->status, sizeof(view->status),
			 "all rows are shown; e.g. where dur > 1ms (see help filter)");
		return false;
	}
	filter_free(*filter);
	*filter = taken;
	return true;
}

/* The filter may ask for something that no row here has. */
void where_say_none(const struct filter *filter,
		    bool (*known)(const void *arg, enum filter_field field), const void *arg,
		    char *out, size_t size)
{
	for (enum filter_field field = 0; field < FILTER_FIELDS; field++) {
		if (!filter_asks(filter, field) || known(arg, field))
			continue;
		snprintf(out, size,
			 "no row here has '%s' (filters: what there is); where alone shows all of "
			 "them", filter_fields[field].name);
		return;
	}
	snprintf(out, size, "no row matches; where alone shows all of them");
}

struct area where_draw(const struct filter *filter, size_t count, size_t all, struct area area,
		       bool ascii)
{
	char line[LABEL_MAX], fitted[LABEL_MAX], shown[FMT_MAX], of[FMT_MAX];

	if (!filter || area.height < 3)
		return area;
	snprintf(line, sizeof(line), "%s of %s where %s", fmt_count(shown, count),
		 fmt_count(of, all), filter_text(filter));
	label_fit(fitted, sizeof(fitted), line, area.width - 2, ascii);
	area_text(area, 1, 0, ROLE_ACCENT, 0, fitted);
	return area_sub(area, 0, 1, area.width, area.height - 1);
}
