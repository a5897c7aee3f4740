/* SPDX-License-Identifier: MIT */
/* ri: what is being watched, its setup, what cannot be seen, and how reliable the data is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/graph.h"
#include "tui/run/live.h"
#include "tui/pages/page_parts.h"
#include "tui/report/report.h"

#define PROCESSES_SHOWN 64u

static void page_run_add_processes(struct page *page, const struct page_book *book)
{
	struct process_row *rows;
	size_t n = model_processes(book->model, &rows);

	page_heading(page, "processes");
	for (size_t i = 0; i < n && i < PROCESSES_SHOWN; i++) {
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_process(page, rows[i].pid);
		page_add(page, ROLE_DEFAULT, 0, "   %s",
			 rows[i].command && *rows[i].command ? rows[i].command : "?");
		if (rows[i].rank >= 0)
			page_add(page, ROLE_MUTED, 0, "   rank %d", rows[i].rank);
		if (rows[i].host_name && *rows[i].host_name)
			page_add(page, ROLE_MUTED, 0, "   on %s", rows[i].host_name);
		if (rows[i].exited && rows[i].exit_status >= 0)
			page_add(page, ROLE_MUTED, 0, "   exit %d", rows[i].exit_status);
		page_end(page);
		for (size_t k = 0; k < rows[i].n_probes; k++) {
			bool blind = rows[i].blind[k] && *rows[i].blind[k];

			page_add(page, ROLE_MUTED, 0, "          probe ");
			page_add(page, ROLE_GOOD, 0, "%s", rows[i].probes[k]);
			if (blind)
				page_add(page, ROLE_WARN, 0, "   does not see: %s",
					 rows[i].blind[k]);
			page_end(page);
		}
	}
	if (n > PROCESSES_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", n - PROCESSES_SHOWN);
	if (!n)
		page_say(page, ROLE_MUTED, 0, "  none yet: no probe has reported");
	free(rows);
}

static void page_run_add_devices(struct page *page, const struct page_book *book)
{
	char busy[FMT_MAX], error[FMT_MAX];

	if (book->n_devices)
		page_heading(page, "devices");
	for (size_t i = 0; i < book->n_devices; i++) {
		const struct device_row *row = &book->devices[i];

		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_device(page, book, row->id);
		page_add(page, ROLE_DEFAULT, 0, "   %s", row->name && *row->name ? row->name : "?");
		page_add(page, ROLE_MUTED, 0, "   %s%s%s   %u units",
			 row->api ? row->api : "", row->driver && *row->driver ? "   driver " : "",
			 row->driver ? row->driver : "", row->units);
		page_add(page, ROLE_DEFAULT, 0, "   busy %s of its time",
			 row->span_ns > 0 ? fmt_share(busy, report_positive(row->busy_ns),
						      report_positive(row->span_ns)) : "–");
		if (row->clock_known)
			page_add(page, ROLE_MUTED, 0, "   clock %s ±%s",
				 clock_quality_name(row->clock_quality),
				 fmt_time(error, row->clock_error_ns));
		page_end(page);
	}
}

static void page_run_add_settings(struct page *page, struct model *model)
{
	struct info_row *rows;
	size_t n = model_infos(model, &rows);

	for (size_t i = 0; i < n; i++) {
		if (!i || rows[i].pid != rows[i - 1].pid ||
		    strcmp(rows[i].scope, rows[i - 1].scope))
			page_heading(page, "%.100s, as process %u set it up", rows[i].scope,
				     rows[i].pid);
		page_add(page, ROLE_MUTED, 0, "  %-28s", rows[i].key);
		page_say(page, ROLE_DEFAULT, 0, " %s", rows[i].value);
	}
	free(rows);
}

static void page_run_add_placed(struct page *page, struct model *model)
{
	unsigned shown = 0;
	struct graph_node node;

	for (uint32_t i = 0; model_graph_node(model, i, &node) && shown < 20; i++) {
		if (!node.count || !node.device || !strstr(node.device, "CPU:"))
			continue;
		page_add(page, ROLE_MUTED, 0, "    ");
		page_to_op(page, node.name);
		page_say(page, ROLE_MUTED, 0, "  [%s]", node.type);
		shown++;
	}
}

static void page_run_add_graphs(struct page *page, struct model *model)
{
	char nodes[FMT_MAX], graphs[FMT_MAX], edges[FMT_MAX], lines[FMT_MAX];
	struct graph_counts c;

	model_graph_counts(model, &c);
	if (!c.nodes)
		return;
	page_heading(page, "graphs");
	page_say(page, ROLE_DEFAULT, 0, "  %s in %s, %s; %s with a source line",
		 fmt_many(nodes, c.nodes, "node"), fmt_many(graphs, c.graphs, "graph"),
		 fmt_many(edges, c.edges, "edge"), fmt_count(lines, c.with_line));
	page_add(page, ROLE_DEFAULT, 0, "  %s ran, joined to nodes:", fmt_many(nodes, c.ops, "op"));
	for (int rule = GRAPH_EXACT; rule <= GRAPH_RULES; rule++)
		if (c.joined[rule % GRAPH_RULES])
			page_add(page, rule == GRAPH_RULES ? ROLE_WARN : ROLE_DEFAULT, 0,
				 "  %llu %s", (unsigned long long)c.joined[rule % GRAPH_RULES],
				 graph_rule_name((enum graph_rule)(rule % GRAPH_RULES)));
	page_end(page);
	page_add(page, ROLE_DEFAULT, 0, "  their source lines found:");
	for (int how = GRAPH_LINE_EXACT; how <= GRAPH_LINES; how++)
		if (c.lines[how % GRAPH_LINES])
			page_add(page, how == GRAPH_LINES ? ROLE_WARN : ROLE_DEFAULT, 0,
				 "  %llu %s", (unsigned long long)c.lines[how % GRAPH_LINES],
				 graph_line_name((enum graph_line)(how % GRAPH_LINES)));
	page_end(page);
	for (int i = 0; i < 8 && c.not_joined[i]; i++)
		page_say(page, ROLE_MUTED, 0, "    not joined: %s", c.not_joined[i]);
	if (c.dropped)
		page_say(page, ROLE_WARN, 0, "  there was no room for %llu nodes or texts",
			 (unsigned long long)c.dropped);
	if (c.on_device && c.on_cpu) {
		page_say(page, ROLE_WARN, 0, "  %llu ran on the processor beside %llu on a device:",
			 (unsigned long long)c.on_cpu, (unsigned long long)c.on_device);
		page_run_add_placed(page, model);
	}
}

/* Adds the same statements as the report. Takes the lock itself. */
static void page_run_add_trust(struct page *page, struct model *model)
{
	char *text = NULL, *line, *rest;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	report_trust_text(model, out);
	fclose(out);
	for (line = text; line && *line; line = rest) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		if (!strcmp(line, "trust"))
			page_heading(page, "%s", line);
		else if (*line)
			page_say(page, !strncmp(line, "  !", 3) ? ROLE_WARN : ROLE_DEFAULT, 0, "%s",
				 line);
	}
	free(text);
}

/* ---- what runs ---- */

static const char *phase_text(struct live *live)
{
	struct session *session = live_session(live);

	if (session && session_stays(session))
		return "has ended, and tftop stays for what it left running";
	switch (live_phase(live)) {
	case LIVE_STARTING: return "is being started";
	case LIVE_RUNNING: return "runs";
	case LIVE_STOPPED: return "is stopped";
	case LIVE_ENDING: return "has ended, the rest is being read";
	default: return "has ended";
	}
}

static void page_run_add_command(struct page *page, const struct page_call *call)
{
	static const char *const levels[] = { "off", "min", "default", "full" };
	const struct report_run *run = call->live ? live_run(call->live) : NULL;
	const struct session *session = call->live ? live_session(call->live) : NULL;
	char ran[FMT_MAX];

	if (!run) {
		page_label(page, "source");
		page_say(page, ROLE_DEFAULT, 0, "the synthetic program (--synth)");
		return;
	}
	page_label(page, "command");
	for (char *const *word = run->command; word && *word; word++)
		page_add(page, ROLE_TITLE, ATTR_BOLD, "%s%s", word == run->command ? "" : " ",
			 *word);
	if (!run->command)
		page_add(page, ROLE_MUTED, 0, "unknown: only tftop's own recordings contain it");
	page_end(page);
	page_label(page, "program");
	if (run->pid > 0)
		page_to_process(page, (uint32_t)run->pid);
	page_add(page, ROLE_DEFAULT, 0, "%s%s", run->pid > 0 ? "   " : "", session ?
		 phase_text(call->live) : live_is_import(call->live) ?
		 "from another profiler's file" : "from a recording");
	if (run->host)
		page_add(page, ROLE_MUTED, 0, "   on %s", run->host);
	if (run->wall_ns >= 0)
		page_add(page, ROLE_DEFAULT, 0, "   %s %s", run->ended ? "ran for" : "for",
			 fmt_time(ran, run->wall_ns));
	if (run->signal)
		page_add(page, ROLE_BAD, 0, "   killed by signal %d", run->signal);
	else if (run->exit_status >= 0)
		page_add(page, ROLE_DEFAULT, 0, "   exit %d", run->exit_status);
	else if (report_status_unknown(run))
		page_add(page, ROLE_MUTED, 0, "   exit status unknown");
	page_end(page);
	if (session) {
		page_label(page, "level");
		page_say(page, ROLE_DEFAULT, 0, "%s%s", levels[session_level(session) & 3],
			 session_trigger(session) ? ", where --trigger says" : "");
	}
}

static void page_run_add_length(struct page *page, const struct page_book *book)
{
	const struct model_status *s = &book->status;
	char length[FMT_MAX], events[FMT_MAX], bytes[FMT_MAX], steps[FMT_MAX];

	page_label(page, "timeline");
	page_add(page, ROLE_DEFAULT, 0, "%s%s   %s   %s   %s of memory",
		 s->first_ns <= s->last_ns ? fmt_time(length, s->last_ns - s->first_ns) : "empty",
		 s->first_ns <= s->last_ns ? " from the first event to the last" : "",
		 fmt_many(events, s->events, "event"),
		 fmt_many(steps, s->steps, step_noun(s->passes)),
		 fmt_bytes(bytes, s->memory_bytes));
	if (s->folded_ns > s->first_ns)
		page_add(page, ROLE_WARN, 0, "   details of the first %s were discarded, only sums "
			 "are left", fmt_time(length, s->folded_ns - s->first_ns));
	page_end(page);
	page_label(page, "go to");
	page_to(page, "findings", "pane", "findings", NULL);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "queues", "queues", NULL);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "waits", "waits", NULL);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "counters", "counters", NULL);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "allocators", "allocator", NULL);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "thread pools", "pools", NULL);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "sources", "ls", NULL);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "messages", "pane", "messages", NULL);
	page_end(page);
}

static void page_run_add_environment(struct page *page, const struct page_call *call)
{
	const struct session *session = call->live ? live_session(call->live) : NULL;
	const char *line = session ? session_environment(session) : NULL;

	if (!line || !*line)
		return;
	page_heading(page, "environment that tftop set");
	for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
		page_say(page, ROLE_DEFAULT, 0, "  %.*s", (int)strcspn(line, "\n"), line);
}

bool page_run(const struct page_call *call, struct page *page)
{
	struct page_book book;

	page_title(page, "the run");
	page_run_add_command(page, call);
	model_lock(call->model);
	page_book_take(&book, call->model);
	page_run_add_length(page, &book);
	page_run_add_processes(page, &book);
	page_run_add_devices(page, &book);
	page_run_add_settings(page, call->model);
	page_run_add_graphs(page, call->model);
	model_unlock(call->model);
	page_book_release(&book);
	page_run_add_trust(page, call->model);
	page_run_add_environment(page, call);
	return true;
}
