/* SPDX-License-Identifier: MIT */
/* stages: input pipelines as trees, with the stages that the program waits for. Single calls of
 * stages are not on the timeline, so the links lead to the fetch and to the node of a stage. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/graph.h"
#include "model/query/input.h"
#include "model/query/query.h"
#include "tui/pages/page_parts.h"

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

/* Adds the share of the waiting time, as a bar and a number. */
static void add_share(struct page *page, int64_t held_ns, int64_t wait_ns)
{
	static const char full[] = "██████████";	/* three bytes each */
	int length = wait_ns > 0 ? (int)((__int128)held_ns * BAR_COLUMNS / wait_ns) : 0;
	char share[FMT_MAX];

	page_add(page, length * 2 >= BAR_COLUMNS ? ROLE_WARN : ROLE_DEFAULT, 0, " %.*s%*s %6s",
		 3 * length, full, BAR_COLUMNS - length, "",
		 fmt_share(share, (uint64_t)held_ns, (uint64_t)(wait_ns > 0 ? wait_ns : 1)));
}

/* Adds kind and name, with a link to the node if the graph has it. */
static void add_what(struct page *page, struct model *model, const char *what)
{
	struct graph_node node;
	char error[256];
	uint32_t index;
	bool found;

	page_add(page, ROLE_MUTED, 0, "  ");
	model_lock(model);
	found = model_graph_find(model, what, &index, error, sizeof(error)) &&
		model_graph_node(model, index, &node) && !strcmp(node.name, what);
	model_unlock(model);
	if (found)
		page_to_op(page, what);
	else
		page_add(page, ROLE_MUTED, 0, "%s", what);
}

static void add_stage(struct page *page, struct model *model, const struct input_row *row,
		      int64_t wait_ns)
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
		add_what(page, model, row->what);
	page_end(page);
}

/* The op in which the program waits for a batch, by the name it has here; of several, the one with
 * most time. NULL if none was seen. Names belong to the model. */
static const char *fetch_of(struct model *model)
{
	struct op_row *rows;
	const char *name = NULL;
	int64_t most = -1;
	size_t n;

	model_lock(model);
	n = model_ops(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < n; i++) {
		if (!strstr(rows[i].raw_name, "IteratorGetNext") || rows[i].total_ns <= most)
			continue;
		most = rows[i].total_ns;
		name = rows[i].raw_name;
	}
	free(rows);
	return name;
}

static void add_root(struct page *page, const struct input_row *row, const char *fetch)
{
	char wait[FMT_MAX];

	page_to_process(page, row->pid);
	page_add(page, ROLE_TITLE, ATTR_BOLD, " waited %s for its batches",
		 fmt_time(wait, row->wait_ns));
	if (fetch) {
		page_add(page, ROLE_MUTED, 0, "   ");
		page_to_name(page, "each wait", fetch);
	}
	page_end(page);
	page_say(page, ROLE_COLUMN, 0, "  %-*s %-*s %9s %9s %9s %8s %8s %9s", NAME_COLUMNS - 2,
		 "stage", BAR_COLUMNS + 7, "share of it", "holds", "a call", "own work", "at once",
		 "buffer", "calls");
}

bool page_stages(const struct page_call *call, struct page *page)
{
	const char *fetch = fetch_of(call->model);
	struct input_row *rows;
	int64_t wait_ns = 0;
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
			add_root(page, &rows[i], fetch);
		}
		add_stage(page, call->model, &rows[i], wait_ns);
	}
	if (!n)
		page_say(page, ROLE_MUTED, 0, "no input pipeline was seen");
	free(rows);
	return true;
}
