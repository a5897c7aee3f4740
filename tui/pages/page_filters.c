/* SPDX-License-Identifier: MIT */
/* filters: the named filters, and the filter language. */
#include <stdio.h>

#include "model/filter/filter.h"
#include "tui/draw/page_call.h"

static void page_filters_add_names(struct page *page, const struct filter_names *names)
{
	size_t n = names ? filter_names_count(names) : 0;
	const char *name, *text;

	if (!n) {
		page_say(page, ROLE_MUTED, 0, "no filter has a name yet; e.g. filter slow = kernel "
			 "& dur > 1ms, here or in tftoprc");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const char *argv[] = { "find", "-w", name = filter_names_at(names, i, &text) };

		page_add(page, ROLE_DEFAULT, 0, " ");
		page_link(page, name, 3, argv);
		page_add(page, ROLE_DEFAULT, 0, " = %s", text);
		page_end(page);
	}
	page_say(page, ROLE_MUTED, 0, "Enter on a name: to the next event on the timeline that its "
		 "filter matches");
}

static void page_filters_add_language(struct page *page)
{
	static const char *const lines[][2] = {
		{ "dur > 1ms", "a field: = == != < <= > >=" },
		{ "dur in [1ms,5ms)", "an interval: [ ] include the end, ( ) exclude it" },
		{ "name ~ /conv/", "a regular expression, !~ not; case matters if a capital is in "
		  "it" },
		{ "type = Conv2D", "the whole text; 'in quotes' with blanks" },
		{ "kernel", "a kind, a flag or a direction, alone" },
		{ "slow, @slow", "a filter that has a name" },
		{ "& | ! ( )", "and, or, not; & binds more than |" },
		{ "1ms 64M 10G/s 5% 12", "time, size, rate, share, number" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		page_add(page, ROLE_DEFAULT, 0, " ");
		page_cell(page, ROLE_TITLE, -22, lines[i][0]);
		page_add(page, ROLE_DEFAULT, 0, " %s", lines[i][1]);
		page_end(page);
	}
	page_say(page, ROLE_MUTED, 0,
		 " What a row does not have is unknown: = and != of it are both false.");
}

static void page_filters_add_fields(struct page *page)
{
	for (int i = 0; i < FILTER_FIELDS; i++) {
		page_add(page, ROLE_DEFAULT, 0, " ");
		page_cell(page, ROLE_TITLE, -13, filter_fields[i].name);
		page_cell(page, ROLE_MUTED, -13, filter_type_name(filter_fields[i].type));
		page_add(page, ROLE_DEFAULT, 0, "%s", filter_fields[i].help);
		page_end(page);
	}
}

bool page_filters(const struct page_call *call, struct page *page)
{
	page_say(page, ROLE_COLUMN, 0, "filters with a name");
	page_filters_add_names(page, call->filters);
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_COLUMN, 0, "what an expression is made of");
	page_filters_add_language(page);
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_COLUMN, 0, "fields; each row of a table and each event has some of "
		 "them");
	page_filters_add_fields(page);
	return true;
}
