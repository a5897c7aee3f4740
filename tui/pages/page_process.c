/* SPDX-License-Identifier: MIT */
/* process and thread: their properties and how they spent their time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/counters.h"
#include "model/query/graph.h"
#include "model/query/host.h"
#include "model/query/optree.h"
#include "model/query/pools.h"
#include "tui/pages/page_parts.h"
#include "tui/draw/pane.h"
#include "tui/report/report.h"

#define OPS_SHOWN 16u
#define THREADS_SHOWN 40u

/* ---- one thread ---- */

/* The outermost ops of the thread, over the whole run. */
static void page_process_add_ops(struct page *page, struct model *model, uint32_t row)
{
	struct optree_question question = { .row = row };
	char total[FMT_MAX], self[FMT_MAX], device[FMT_MAX], count[FMT_MAX];
	struct optree_row *rows;
	bool waits_known;
	size_t n = model_optree(model, &question, &waits_known, &rows), shown = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].depth || !rows[i].name)
			continue;
		if (++all > OPS_SHOWN)
			continue;
		if (!shown++)
			page_heading(page, "    total       self     device     times  outermost "
				     "ops and ranges");
		page_cell(page, ROLE_DEFAULT, 10, fmt_time(total, rows[i].total_ns));
		page_cell(page, ROLE_DEFAULT, 11, fmt_time(self, rows[i].self_ns));
		page_cell(page, ROLE_DEFAULT, 11, fmt_time(device, rows[i].device_ns));
		page_cell(page, ROLE_MUTED, 10, fmt_count(count, rows[i].count));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_name(page, rows[i].name, rows[i].name);
		page_end(page);
	}
	if (all > OPS_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more: t in pane 1 shows them as a tree",
			 all - OPS_SHOWN);
	if (!all)
		page_say(page, ROLE_MUTED, 0, "no op has finished on it");
	free(rows);
}

/* Adds a link to the call stacks of the thread, if it was looked at. */
static void page_process_add_stacks(struct page *page, struct model *model, uint32_t pid,
				    uint32_t tid)
{
	struct stacks_of of = { .pid = pid, .tid = tid };
	struct stack_node *nodes;
	char process[16], thread[16];

	if (!tid || !model_stacks(model, &of, &nodes))
		return;
	free(nodes);
	snprintf(process, sizeof(process), "%" PRIu32, pid);
	snprintf(thread, sizeof(thread), "%" PRIu32, tid);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "call stacks", "stacks", "-p", process, "-T", thread, NULL);
}

static void page_process_add_thread(struct page *page, const struct page_book *book,
				    const struct model_row *row)
{
	const struct model_row *parent = page_row(book, row->parent);
	char time[FMT_MAX], share[FMT_MAX], count[FMT_MAX];
	const struct model_status *status = &book->status;
	int64_t whole = status->first_ns < status->last_ns ? status->last_ns - status->first_ns : 0;
	struct span_ref ref;

	page_blank(page);
	page_say(page, ROLE_TITLE, ATTR_BOLD, "%s", row->label);
	page_label(page, "thread");
	page_add(page, ROLE_DEFAULT, 0, "%" PRIu32 "   ", row->tid);
	page_to_process(page, row->pid);
	if (parent && parent->kind == ROW_POOL) {
		page_add(page, ROLE_MUTED, 0, "   in pool %s: ", parent->label);
		page_to(page, "pools", "pools", NULL);
	}
	page_end(page);
	page_label(page, "busy");
	page_say(page, ROLE_DEFAULT, 0, "%s in ops and ranges, %s of the run   %s",
		 fmt_time(time, row->busy_ns),
		 fmt_share(share, report_positive(row->busy_ns), report_positive(whole)),
		 fmt_many(count, row->count, "event"));
	page_label(page, "go to");
	page_show_row(page, "show on the timeline", row->id);
	if (model_span_longest(book->model, row->id, 0, book->status.first_ns,
			       book->status.last_ns + 1, &ref)) {
		page_add(page, ROLE_MUTED, 0, "   ");
		page_to_event(page, "longest op", ref);
	}
	if (model_span_prev(book->model, row->id, 0, INT64_MAX, &ref)) {
		page_add(page, ROLE_MUTED, 0, "   ");
		page_to_event(page, "last op", ref);
	}
	page_process_add_stacks(page, book->model, row->pid, row->tid);
	page_end(page);
	page_process_add_ops(page, book->model, row->id);
}

bool page_thread(const struct page_call *call, struct page *page)
{
	struct page_book book;
	int64_t tid, pid = -1;
	size_t found = 0;

	if (!page_number(call, "thread", call->argv[1], &tid) ||
	    (call->argc > 2 && !page_number(call, "process", call->argv[2], &pid)))
		return false;
	model_lock(call->model);
	page_book_take(&book, call->model);
	for (size_t i = 0; i < book.n_rows; i++) {
		const struct model_row *row = &book.rows[i];

		if (row->kind != ROW_THREAD || row->tid != tid || (pid >= 0 && row->pid != pid))
			continue;
		if (!found++)
			page_title(page, "thread %s", row->label);
		page_process_add_thread(page, &book, row);
	}
	model_unlock(call->model);
	page_book_release(&book);
	if (!found)
		snprintf(call->error, call->error_size,
			 "no op or range of a thread %" PRId64 "%s has "
			 "been seen: ri lists processes", tid, pid >= 0 ? " of that process" : "");
	return found > 0;
}

/* ---- one process ---- */

static void page_process_add_identity(struct page *page, const struct page_book *book,
				      const struct process_row *row)
{
	char at[48];

	page_label(page, "command");
	page_say(page, ROLE_DEFAULT, 0, "%s", row->command && *row->command ? row->command : "?");
	page_label(page, "process");
	page_add(page, ROLE_DEFAULT, 0, "%" PRIu32, row->pid);
	if (row->parent)
		page_add(page, ROLE_MUTED, 0, "   of %" PRIu32, row->parent);
	if (row->host_name && *row->host_name)
		page_add(page, ROLE_MUTED, 0, "   on %s", row->host_name);
	if (row->rank >= 0)
		page_add(page, ROLE_DEFAULT, 0, "   rank %" PRId32, row->rank);
	if (row->start_ns > 0 && row->start_ns >= book->base_ns) {
		page_when(at, sizeof(at), book, row->start_ns, 1000000);
		page_add(page, ROLE_MUTED, 0, "   since %s", at);
	}
	if (!row->exited)
		page_add(page, ROLE_GOOD, 0, "   running");
	else if (row->exit_signal)
		page_add(page, ROLE_BAD, 0, "   ended by signal %d", row->exit_signal);
	else if (row->exit_status >= 0)
		page_add(page, row->exit_status ? ROLE_BAD : ROLE_DEFAULT, 0, "   exit %d",
			 row->exit_status);
	else
		page_add(page, ROLE_MUTED, 0, "   ended");
	page_end(page);
	for (size_t k = 0; k < row->n_probes; k++) {
		bool blind = row->blind[k] && *row->blind[k];

		page_label(page, k ? "" : "probes");
		page_add(page, ROLE_GOOD, 0, "%s", row->probes[k]);
		page_say(page, ROLE_WARN, 0, "%s%s", blind ? "   does not see: " : "",
			 blind ? row->blind[k] : "");
	}
}

static void page_process_add_threads(struct page *page, const struct page_book *book, uint32_t pid)
{
	char time[FMT_MAX], count[FMT_MAX];
	size_t n = 0;

	for (size_t i = 0; i < book->n_rows; i++) {
		const struct model_row *row = &book->rows[i];

		if (row->kind != ROW_THREAD || row->pid != pid || !row->tid || n++ >= THREADS_SHOWN)
			continue;
		if (n == 1)
			page_heading(page, "     busy    events  threads");
		page_cell(page, ROLE_DEFAULT, 10, fmt_time(time, row->busy_ns));
		page_cell(page, ROLE_MUTED, 10, fmt_count(count, row->count));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_thread(page, row->label, pid, row->tid);
		page_say(page, ROLE_MUTED, 0, "  %" PRIu32, row->tid);
	}
	if (n > THREADS_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", n - THREADS_SHOWN);
	if (!n)
		page_heading(page, "no thread of it ran an op or a range");
}

static void page_process_add_devices(struct page *page, const struct page_book *book, uint32_t pid)
{
	char busy[FMT_MAX];
	bool any = false;

	for (size_t i = 0; i < book->n_queues; i++) {
		const struct queue_row *row = &book->queues[i];

		if (row->pid != pid)
			continue;
		if (!any)
			page_heading(page, "     busy  its queues");
		any = true;
		page_cell(page, ROLE_DEFAULT, 10, fmt_time(busy, row->busy_ns));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_queue(page, book, row->id);
		page_add(page, ROLE_MUTED, 0, " of ");
		page_to_device(page, book, row->device);
		page_end(page);
	}
}

static void page_process_add_pools(struct page *page, struct model *model, uint32_t pid)
{
	char waited[FMT_MAX];
	struct pool_row *rows;
	size_t n = model_pools(model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].pid != pid)
			continue;
		if (!any)
			page_heading(page, "thread pools");
		any = true;
		page_add(page, ROLE_DEFAULT, 0, "  ");
		page_to(page, rows[i].name, "pools", NULL);
		page_say(page, ROLE_MUTED, 0, "   %" PRIu32 " threads   ops waited %s for them",
			 rows[i].threads, fmt_time(waited, rows[i].op_wait_ns));
	}
	free(rows);
}

static void page_process_add_counters(struct page *page, struct model *model, uint32_t pid)
{
	char last[FMT_MAX];
	struct counter_row *rows;
	size_t n = model_counters(model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].pid != pid || rows[i].device != UINT32_MAX)
			continue;
		if (!any)
			page_heading(page, "counters, last value");
		any = true;
		page_cell(page, ROLE_DEFAULT, 13, fmt_counter(last, rows[i].last, rows[i].unit));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to(page, rows[i].name, "counters", rows[i].name, NULL);
		page_end(page);
	}
	free(rows);
}

/* Adds the parts of its environment that matter, and the framework's settings. */
static void page_process_add_settings(struct page *page, struct model *model, uint32_t pid)
{
	struct info_row *rows;
	size_t n = model_infos(model, &rows);
	const char *scope = NULL;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].pid != pid)
			continue;
		if (!scope || strcmp(scope, rows[i].scope))
			page_heading(page, "%s", rows[i].scope);
		scope = rows[i].scope;
		page_add(page, ROLE_MUTED, 0, "  %-28s", rows[i].key);
		page_say(page, ROLE_DEFAULT, 0, " %s", rows[i].value);
	}
	free(rows);
}

static void page_process_add_process(struct page *page, const struct page_book *book,
				     const struct process_row *row)
{
	char name[64];

	snprintf(name, sizeof(name), "process %" PRIu32, row->pid);
	page_blank(page);
	page_add(page, ROLE_TITLE, ATTR_BOLD, "%s", name);
	for (size_t i = 0; i < book->n_rows; i++)
		if (book->rows[i].kind == ROW_PROCESS && book->rows[i].pid == row->pid &&
		    book->rows[i].host == row->host) {
			page_add(page, ROLE_MUTED, 0, "   ");
			page_show_row(page, "show on the timeline", book->rows[i].id);
			break;
		}
	page_end(page);
	page_process_add_identity(page, book, row);
	page_process_add_threads(page, book, row->pid);
	page_process_add_devices(page, book, row->pid);
	page_process_add_pools(page, book->model, row->pid);
	page_process_add_counters(page, book->model, row->pid);
	page_process_add_settings(page, book->model, row->pid);
	page_blank(page);
	page_label(page, "go to");
	page_to(page, "the run", "ri", NULL);
	page_end(page);
}

bool page_process(const struct page_call *call, struct page *page)
{
	struct process_row *rows;
	struct page_book book;
	size_t n, found = 0;
	int64_t pid;

	if (!page_number(call, "process", call->argv[1], &pid))
		return false;
	model_lock(call->model);
	page_book_take(&book, call->model);
	n = model_processes(call->model, &rows);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].pid != pid)
			continue;
		if (!found++)
			page_title(page, "process %" PRId64, pid);
		page_process_add_process(page, &book, &rows[i]);
	}
	model_unlock(call->model);
	free(rows);
	page_book_release(&book);
	if (!found)
		snprintf(call->error, call->error_size,
			 "no process %" PRId64 " is watched: ri lists "
			 "them", pid);
	return found > 0;
}
