/* SPDX-License-Identifier: MIT */
/*
 * event: one execution: who launched it and how long that took, what ran before it in its queue,
 * how it compares with all others of its name, and links to related pages.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/graph.h"
#include "tui/pages/page_event.h"

#define ARROW "  →  "
#define EDGES_SHOWN 3u

static const char *page_event_kind(const struct span *span)
{
	static const char *const kinds[COMMAND_KIND_COUNT] = {
		[COMMAND_KERNEL] = "kernel", [COMMAND_COPY] = "copy", [COMMAND_FILL] = "fill",
		[COMMAND_MAP] = "map", [COMMAND_UNMAP] = "unmap", [COMMAND_MARKER] = "marker",
		[COMMAND_BARRIER] = "barrier", [COMMAND_NATIVE] = "native",
		[COMMAND_MIGRATE] = "migrate", [COMMAND_GRAPH] = "graph",
	};

	if (span->row_kind == ROW_GRAPH)
		return "graph";
	if (span->row_kind == ROW_COMPILE)
		return "compile";
	if (span->kind == COMMAND_NONE)
		return span->is_range ? "range" : "op";
	return kinds[span->kind] ? kinds[span->kind] : "command";
}

/* Adds the name, as a link to all events of that name. */
static void page_event_add_name(struct event_page *e)
{
	const struct span *span = e->span;

	page_label(e->page, page_event_kind(span));
	page_to_name(e->page, span->raw_name, span->raw_name);
	if (strcmp(span->raw_name, span->name))
		page_add(e->page, ROLE_MUTED, 0, "   %s", span->name);
	if (span->status < 0)
		page_add(e->page, ROLE_BAD, 0, "   failed (%d)", (int)span->status);
	if (span->open)
		page_add(e->page, ROLE_WARN, 0, "   not finished");
	page_end(e->page);
}

/* Finds the step in which the event was launched; without a launch, the step in which it
 * started. */
static bool step_at(struct model *model, int64_t t_ns, struct step_row *out)
{
	struct step_stats stats;
	struct step_row *rows;
	size_t n = model_steps(model, &stats, &rows), at = FIRST_FROM(rows, n, t_ns + 1);
	bool found = at && t_ns < rows[at - 1].start_ns + rows[at - 1].dur_ns;

	if (found)
		*out = rows[at - 1];
	free(rows);
	return found;
}

static void page_event_add_place(struct event_page *e)
{
	const struct span *span = e->span;
	struct step_row step;
	char at[48];

	page_label(e->page, "where");
	if (e->row && e->row->kind != ROW_THREAD && e->row->kind != ROW_COMPILE) {
		page_to_queue(e->page, e->book, e->row->queue);
		page_add(e->page, ROLE_MUTED, 0, "   ");
		page_to_device(e->page, e->book, e->row->device);
	} else if (span->tid) {
		page_to_thread(e->page, span->thread, span->pid, span->tid);
	} else {
		page_add(e->page, ROLE_DEFAULT, 0, "%s", span->thread ? span->thread : "?");
	}
	page_add(e->page, ROLE_MUTED, 0, "   ");
	page_to_process(e->page, span->pid);
	page_add(e->page, ROLE_MUTED, 0, "   ");
	page_when(at, sizeof(at), e->book, span->start_ns, e->dur_ns);
	page_add(e->page, ROLE_DEFAULT, 0, "at %s%s", event_about(span), at);
	if (step_at(e->book->model, span->call_ns > 0 ? span->call_ns : span->start_ns, &step)) {
		page_add(e->page, ROLE_MUTED, 0, "   in ");
		page_to_step(e->page, step.number);
	}
	page_end(e->page);
}

/* ---- who launched it ---- */

static void page_event_add_launcher(struct event_page *e)
{
	const struct span *span = e->span;
	struct span_ref peer;
	struct span op;

	page_label(e->page, "op");
	if (!span->op) {
		page_say(e->page, ROLE_MUTED, 0, "what launched it is unknown");
		return;
	}
	if (!model_span_peer(e->book->model, span->ref, &peer) ||
	    !model_span(e->book->model, peer, &op)) {
		page_to_op(e->page, span->op);
	} else if (!strcmp(op.name, span->op)) {
		page_to_op(e->page, op.raw_name);
		page_add(e->page, ROLE_MUTED, 0, "   %s%s",
			 op.op_type && *op.op_type ? op.op_type : "",
			 op.op_type && *op.op_type ? "   " : "");
		page_to_event(e->page, "this execution", peer);
	} else {
		/* a node of a graph: captured in one op and launched by another one */
		page_to_op(e->page, span->op);
		page_add(e->page, ROLE_MUTED, 0, "   in a graph launched by ");
		page_to_event(e->page, op.name, peer);
	}
	page_say(e->page, span->how == HOW_GUESS ? ROLE_WARN : ROLE_MUTED, 0, "   attributed: %s",
		 how_name(span->how));
	if (span->file) {
		page_label(e->page, "source");
		page_to_line(e->page, span->file, span->line, NULL);
		page_end(e->page);
	}
}

/* Finds the event before or after this one among all of its queue, including copies. Returns false
 * if there is none. */
static bool page_event_find_neighbour(const struct event_page *e, bool after, struct span *out)
{
	struct span_ref ref;
	struct span found;
	bool any = false;

	for (size_t i = 0; i < e->book->n_rows; i++) {
		const struct model_row *row = &e->book->rows[i];
		bool there;

		if ((row->kind != ROW_QUEUE && row->kind != ROW_COPY) ||
		    row->queue != e->row->queue)
			continue;
		there = after ? model_span_next(e->book->model, row->id, LANE_ALL,
						e->span->start_ns, &ref) :
				model_span_prev(e->book->model, row->id, LANE_ALL,
						e->span->start_ns, &ref);
		if (!there || !model_span(e->book->model, ref, &found))
			continue;
		if (any && (after ? found.start_ns >= out->start_ns :
			    found.start_ns <= out->start_ns))
			continue;
		*out = found;
		any = true;
	}
	return any;
}

/* Adds the times of launch, queueing and run, and what it waited for in the queue. */
static void page_event_add_launch(struct event_page *e)
{
	const struct span *span = e->span;
	int64_t handed = span->call_ns + span->call_dur_ns;
	const char *about = event_about(span);
	char text[FMT_MAX];
	struct span before;

	page_label(e->page, "launch");
	if (span->call_ns <= 0) {
		page_add(e->page, ROLE_MUTED, 0, "call not seen");
	} else {
		if (span->tid)
			page_to_thread(e->page, span->thread, span->pid, span->tid);
		page_add(e->page, ROLE_DEFAULT, 0, "   call %s", fmt_time(text, span->call_dur_ns));
		page_add(e->page, ROLE_MUTED, 0, ARROW);
		if (span->start_ns > handed) {
			page_add(e->page, ROLE_DEFAULT, 0, "waited %s%s", about,
				 fmt_time(text, span->start_ns - handed));
			if (page_event_find_neighbour(e, false, &before) &&
			    before.end_ns > handed) {
				page_add(e->page, ROLE_MUTED, 0, " behind ");
				page_to_event(e->page, before.name, before.ref);
			} else {
				page_add(e->page, ROLE_MUTED, 0, ", the queue was empty");
			}
		} else {
			page_add(e->page, ROLE_DEFAULT, 0, "began during the call");
		}
	}
	page_add(e->page, ROLE_MUTED, 0, ARROW);
	page_say(e->page, ROLE_DEFAULT, ATTR_BOLD, "%s %s%s", span->open ? "runs since" : "ran",
		 about, fmt_time_fine(text, e->dur_ns));
	if (span->queued_ns > 0 && span->submit_ns > 0) {
		page_label(e->page, "");
		page_add(e->page, ROLE_MUTED, 0, "the driver's times: queued %s before it began",
			 fmt_time(text, span->start_ns - span->queued_ns));
		page_say(e->page, ROLE_MUTED, 0, ", submitted %s before",
			 fmt_time(text, span->start_ns - span->submit_ns));
	}
}

/* ---- an op ---- */

static void page_event_add_op(struct event_page *e)
{
	const struct span *span = e->span;
	char text[FMT_MAX], kernels[FMT_MAX];
	struct span_ref first;

	page_label(e->page, "took");
	page_add(e->page, ROLE_DEFAULT, ATTR_BOLD, "%s%s%s", event_about(span),
		 fmt_time_fine(text, e->dur_ns), span->open ? " so far" : "");
	if (span->kernels) {
		page_add(e->page, ROLE_DEFAULT, 0, "   launched %s, %s on the device",
			 fmt_many(kernels, span->kernels, "kernel"),
			 fmt_time(text, span->device_ns));
		if (model_span_peer(e->book->model, span->ref, &first)) {
			page_add(e->page, ROLE_MUTED, 0, "   ");
			page_to_event(e->page, "the first", first);
		}
	}
	page_end(e->page);
	if (span->wait_ns) {
		page_label(e->page, "waited");
		page_say(e->page, ROLE_DEFAULT, 0, "%s for this thread%s%s",
			 fmt_time(text, span->wait_ns), span->waker ? ", handed over by " : "",
			 span->waker ? span->waker : "");
	}
	page_label(e->page, "op");
	page_to_op(e->page, span->raw_name);
	if (span->op_type && *span->op_type)
		page_add(e->page, ROLE_DEFAULT, 0, "   %s", span->op_type);
	if (span->domain && *span->domain)
		page_add(e->page, ROLE_MUTED, 0, "   %s %s",
			 span->work == WORK_RANGE ? "domain" : "graph", span->domain);
	/* the random number that a framework uses as step number means nothing to users */
	if (span->step >= 0 && span->step <= INT32_MAX)
		page_add(e->page, ROLE_MUTED, 0, "   it reports step %" PRId64, span->step);
	page_end(e->page);
}

static void page_event_add_compile(struct event_page *e)
{
	const struct span *span = e->span;
	char text[FMT_MAX];

	page_label(e->page, "compiled");
	page_add(e->page, span->status ? ROLE_BAD : ROLE_DEFAULT, 0, "%s%s",
		 span->status ? "not: " : "in ", span->status ? "" :
		 fmt_time_fine(text, e->dur_ns));
	page_say(e->page, ROLE_MUTED, 0, "   %s", span->cause ? span->cause : "");
	page_label(e->page, "all of it");
	page_to_op(e->page, span->raw_name);
	page_end(e->page);
}

/* ---- around it ---- */

static void page_event_add_side(struct event_page *e, const char *label, bool after)
{
	char length[FMT_MAX], gap[FMT_MAX];
	struct span other;
	int64_t between;

	page_label(e->page, label);
	if (!page_event_find_neighbour(e, after, &other)) {
		page_say(e->page, ROLE_MUTED, 0, "nothing %s it on this queue", label);
		return;
	}
	page_to_event(e->page, other.name, other.ref);
	page_add(e->page, ROLE_DEFAULT, 0, "   %s",
		 fmt_time(length, other.end_ns - other.start_ns));
	between = after ? other.start_ns - e->span->end_ns : e->span->start_ns - other.end_ns;
	if (between > 0)
		page_say(e->page, ROLE_MUTED, 0, "   %s between", fmt_time(gap, between));
	else
		page_say(e->page, ROLE_MUTED, 0, "   %s",
			 between ? "they overlap" : "right behind");
}

static void page_event_add_edges(struct event_page *e, const struct graph_node *node, bool outputs)
{
	struct graph_edge *edges;
	size_t n = outputs ? model_graph_outputs(e->book->model, node->index, &edges) :
			     model_graph_inputs(e->book->model, node->index, &edges);

	page_label(e->page, outputs ? "outputs" : "inputs");
	page_to(e->page, outputs ? "lo" : "li", outputs ? "lo" : "li", node->name, NULL);
	for (size_t i = 0; i < n && i < EDGES_SHOWN; i++) {
		page_add(e->page, ROLE_MUTED, 0, i ? ", " : "   ");
		if (edges[i].node == GRAPH_NONE)
			page_add(e->page, ROLE_MUTED, 0, "%s", edges[i].name);
		else
			page_to_op(e->page, edges[i].name);
	}
	if (n > EDGES_SHOWN)
		page_add(e->page, ROLE_MUTED, 0, ", %zu more", n - EDGES_SHOWN);
	page_say(e->page, ROLE_MUTED, 0, "%s", n ? "" : "   none");
	free(edges);
}

/* For an op of a graph: the nodes that it takes its inputs from, and those that take its
 * outputs. */
static void page_event_add_node(struct event_page *e, const char *name)
{
	struct graph_counts counts;
	struct graph_node node;
	uint32_t index;
	char error[200];

	model_graph_counts(e->book->model, &counts);
	if (!counts.nodes || !model_graph_find(e->book->model, name, &index, error,
					       sizeof(error)) ||
	    !model_graph_node(e->book->model, index, &node) || strcmp(node.name, name))
		return;
	page_event_add_edges(e, &node, false);
	page_event_add_edges(e, &node, true);
}

static void page_event_add_ways(struct event_page *e)
{
	struct span_ref ref;

	page_blank(e->page);
	page_label(e->page, "go to");
	page_show_event(e->page, "show on the timeline", e->span->ref);
	if (e->row && model_span_prev(e->book->model, e->row->id, LANE_ALL, e->span->start_ns,
				      &ref)) {
		page_add(e->page, ROLE_MUTED, 0, "   ");
		page_to_event(e->page, "previous", ref);
	}
	if (e->row && model_span_next(e->book->model, e->row->id, LANE_ALL, e->span->start_ns,
				      &ref)) {
		page_add(e->page, ROLE_MUTED, 0, "   ");
		page_to_event(e->page, "next", ref);
	}
	if (e->row && model_span_longest(e->book->model, e->row->id, LANE_ALL,
					 e->book->status.first_ns, e->book->status.last_ns + 1,
					 &ref)) {
		page_add(e->page, ROLE_MUTED, 0, "   ");
		page_to_event(e->page, "longest", ref);
	}
	page_add(e->page, ROLE_MUTED, 0, " of the row   ");
	page_to_name(e->page, "all of this name", e->span->raw_name);
	page_end(e->page);
}

static void page_event_make(struct event_page *e)
{
	const struct span *span = e->span;
	bool command = span->kind != COMMAND_NONE || span->row_kind == ROW_GRAPH;

	page_title(e->page, "%s %s", page_event_kind(span), span->name);
	page_event_add_name(e);
	if (command)
		page_event_add_launcher(e);
	page_event_add_place(e);
	if (command && e->row) {
		page_event_add_launch(e);
		event_add_shape(e);
	}
	if (span->row_kind == ROW_COMPILE)
		page_event_add_compile(e);
	else if (!command)
		page_event_add_op(e);
	event_add_work(e);
	if (span->kind == COMMAND_KERNEL && e->row && span->row_kind == ROW_QUEUE)
		event_add_among_kernels(e);
	else if (span->row_kind == ROW_COPY && e->row)
		event_add_among_copies(e);
	else if (span->row_kind == ROW_THREAD)
		event_add_among_ops(e);
	if (command && e->row && span->row_kind != ROW_GRAPH) {
		page_event_add_side(e, "before", false);
		event_add_idle(e);
		page_event_add_side(e, "after", true);
	}
	page_event_add_node(e, command ? (span->op ? span->op : "") : span->raw_name);
	page_event_add_ways(e);
}

bool page_event(const struct page_call *call, struct page *page)
{
	struct page_book book;
	struct span_ref ref;
	struct span span;
	struct event_page e = { .page = page, .book = &book, .span = &span };
	bool found;

	if (!page_parse_event(call->argv[1], &ref)) {
		snprintf(call->error, call->error_size,
			 "not an event: '%.60s' (ROW:LANE:ID, as pages "
			 "and lists name them)", call->argv[1]);
		return false;
	}
	model_lock(call->model);
	page_book_take(&book, call->model);
	found = model_span(call->model, ref, &span);
	if (found) {
		e.row = page_row(&book, span.ref.row);
		e.dur_ns = span.end_ns > span.start_ns ? span.end_ns - span.start_ns : 0;
		page_event_make(&e);
	}
	model_unlock(call->model);
	page_book_release(&book);
	if (!found)
		snprintf(call->error, call->error_size,
			 "no event '%.60s', or its details were discarded (--memory-limit)",
			 call->argv[1]);
	return found;
}
