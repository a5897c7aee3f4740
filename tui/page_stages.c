/* SPDX-License-Identifier: MIT */
/* stages: input pipelines as trees, with who holds what the program waits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query-input.h"
#include "model/query.h"
#include "tui/page_parts.h"

#define NAME_COLUMNS 30
#define BAR_COLUMNS 10

static void buffer_text(char *text, size_t size, const struct input_row *row)
{
	if (!row->buffer)
		snprintf(text, size, "-");
	else if (row->buffered < 0)
		snprintf(text, size, row->buffer < 0 ? "auto" : "?/%" PRId32, row->buffer);
	else if (row->buffer < 0)
		snprintf(text, size, "%" PRId32 "/auto", row->buffered);
	else
		snprintf(text, size, "%" PRId32 "/%" PRId32, row->buffered, row->buffer);
}

static void calls_text(char *text, size_t size, const struct input_row *row)
{
	if (!row->parent || row->parallelism <= 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%" PRId32 "%s", row->parallelism,
			 row->parallelism_set < 0 ? " auto" : "");
}

/* Of the wait, as a bar and a share. */
static void add_share(struct page *page, int64_t held_ns, int64_t wait_ns)
{
	static const char full[] = "██████████";	/* three bytes each */
	int length = wait_ns > 0 ? (int)((__int128)held_ns * BAR_COLUMNS / wait_ns) : 0;
	char share[FMT_MAX];

	page_add(page, length * 2 >= BAR_COLUMNS ? ROLE_WARN : ROLE_DEFAULT, 0, " %.*s%*s %6s",
		 3 * length, full, BAR_COLUMNS - length, "",
		 fmt_share(share, (uint64_t)held_ns, (uint64_t)(wait_ns > 0 ? wait_ns : 1)));
}

static void add_stage(struct page *page, const struct input_row *row, int64_t wait_ns)
{
	int indent = 2 + 2 * (int)(row->depth < 12 ? row->depth : 12);
	char calls[24], buffer[32], text[FMT_MAX];

	calls_text(calls, sizeof(calls), row);
	buffer_text(buffer, sizeof(buffer), row);
	page_add(page, ROLE_DEFAULT, 0, "%*s%-*.*s", indent, "", NAME_COLUMNS - indent,
		 NAME_COLUMNS - indent, row->parent ? row->name : row->path);
	add_share(page, row->held_ns, wait_ns);
	page_cell(page, ROLE_DEFAULT, 10, fmt_time(text, row->held_ns));
	page_cell(page, ROLE_DEFAULT, 10,
		  row->calls ? fmt_time(text, row->total_ns / (int64_t)row->calls) : "-");
	page_cell(page, ROLE_DEFAULT, 10, fmt_time(text, row->work_ns));
	page_add(page, ROLE_MUTED, 0, " %8s %8s", calls, buffer);
	page_cell(page, ROLE_MUTED, 10, fmt_count(text, row->calls));
	if (row->what)
		page_add(page, ROLE_MUTED, 0, "  %s", row->what);
	page_end(page);
}

bool page_stages(const struct page_call *call, struct page *page)
{
	struct input_row *rows;
	int64_t wait_ns = 0;
	char wait[FMT_MAX];
	size_t n;

	model_lock(call->model);
	n = model_input_stages(call->model, &rows);
	model_unlock(call->model);
	page_title(page, "input stages");
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].parent) {
			wait_ns = rows[i].wait_ns;
			if (i)
				page_say(page, ROLE_DEFAULT, 0, "%s", "");
			page_to_process(page, rows[i].pid);
			page_say(page, ROLE_TITLE, ATTR_BOLD, " waited %s for its batches",
				 fmt_time(wait, wait_ns));
			page_say(page, ROLE_COLUMN, 0, "  %-*s %-*s %9s %9s %9s %8s %8s %9s",
				 NAME_COLUMNS - 2, "stage", BAR_COLUMNS + 7, "share of it", "holds",
				 "a call", "own work", "at once", "buffer", "calls");
		}
		add_stage(page, &rows[i], wait_ns);
	}
	if (!n)
		page_say(page, ROLE_MUTED, 0, "no input pipeline was seen");
	free(rows);
	return true;
}
