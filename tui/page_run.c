/* SPDX-License-Identifier: MIT */
/* ri: what is being watched, how it is set up, and what cannot be seen of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query-graph.h"
#include "model/query.h"
#include "tui/live.h"
#include "tui/page.h"

static void add_title(struct page *page, const char *text)
{
	if (page->n_lines)
		page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_COLUMN, 0, "%s", text);
}

static void add_processes(struct page *page, struct model *model)
{
	struct process_row *rows;
	size_t n = model_processes(model, &rows);

	add_title(page, "processes");
	for (size_t i = 0; i < n; i++) {
		page_add(page, ROLE_MUTED, 0, "  %-8u", rows[i].pid);
		page_add(page, ROLE_DEFAULT, 0, "%s", rows[i].command ? rows[i].command : "?");
		if (rows[i].rank >= 0)
			page_add(page, ROLE_MUTED, 0, "   rank %d", rows[i].rank);
		if (rows[i].exited && rows[i].exit_status >= 0)
			page_add(page, ROLE_MUTED, 0, "   exit %d", rows[i].exit_status);
		page_end(page);
		for (size_t k = 0; k < rows[i].n_probes; k++) {
			bool blind = rows[i].blind[k] && *rows[i].blind[k];

			page_add(page, ROLE_MUTED, 0, "          probe ");
			page_add(page, ROLE_GOOD, 0, "%s", rows[i].probes[k]);
			if (blind)
				page_add(page, ROLE_WARN, 0, "   limits: %s", rows[i].blind[k]);
			page_end(page);
		}
	}
	if (!n)
		page_say(page, ROLE_MUTED, 0, "  none yet");
	free(rows);
}

static void add_devices(struct page *page, struct model *model)
{
	struct device_row *rows;
	size_t n = model_devices(model, &rows);

	if (n)
		add_title(page, "devices");
	for (size_t i = 0; i < n; i++) {
		page_add(page, ROLE_DEFAULT, 0, "  %s", rows[i].name ? rows[i].name : "?");
		page_say(page, ROLE_MUTED, 0, "   %s%s%s   %u units", rows[i].api ? rows[i].api : "",
			 rows[i].driver ? "   driver " : "", rows[i].driver ? rows[i].driver : "",
			 rows[i].units);
	}
	free(rows);
}

static void add_settings(struct page *page, struct model *model)
{
	struct info_row *rows;
	size_t n = model_infos(model, &rows);

	for (size_t i = 0; i < n; i++) {
		if (!i || rows[i].pid != rows[i - 1].pid || strcmp(rows[i].scope, rows[i - 1].scope)) {
			char title[160];

			snprintf(title, sizeof(title), "%.100s, as process %u set it up",
				 rows[i].scope, rows[i].pid);
			add_title(page, title);
		}
		page_add(page, ROLE_MUTED, 0, "  %-28s", rows[i].key);
		page_say(page, ROLE_DEFAULT, 0, "%s", rows[i].value);
	}
	free(rows);
}

static void add_placed(struct page *page, struct model *model)
{
	unsigned shown = 0;
	struct graph_node node;

	for (uint32_t i = 0; model_graph_node(model, i, &node) && shown < 20; i++) {
		const char *argv[] = { "ni", node.name };

		if (!node.count || !node.device || !strstr(node.device, "CPU:"))
			continue;
		page_add(page, ROLE_MUTED, 0, "    ");
		page_link(page, node.name, 2, argv);
		page_say(page, ROLE_MUTED, 0, "  [%s]", node.type);
		shown++;
	}
}

static void add_graphs(struct page *page, struct model *model)
{
	struct graph_counts c;

	model_graph_counts(model, &c);
	if (!c.nodes)
		return;
	add_title(page, "graphs");
	page_say(page, ROLE_DEFAULT, 0, "  %llu nodes in %llu graphs, %llu edges; %llu with a source line",
		 (unsigned long long)c.nodes, (unsigned long long)c.graphs,
		 (unsigned long long)c.edges, (unsigned long long)c.with_line);
	page_add(page, ROLE_DEFAULT, 0, "  %llu ops ran, joined to nodes:", (unsigned long long)c.ops);
	for (int rule = GRAPH_EXACT; rule <= GRAPH_RULES; rule++)
		if (c.joined[rule % GRAPH_RULES])
			page_add(page, rule == GRAPH_RULES ? ROLE_WARN : ROLE_DEFAULT, 0, "  %llu %s",
				 (unsigned long long)c.joined[rule % GRAPH_RULES],
				 graph_rule_name((enum graph_rule)(rule % GRAPH_RULES)));
	page_end(page);
	page_add(page, ROLE_DEFAULT, 0, "  their source lines found:");
	for (int how = GRAPH_LINE_EXACT; how <= GRAPH_LINES; how++)
		if (c.lines[how % GRAPH_LINES])
			page_add(page, how == GRAPH_LINES ? ROLE_WARN : ROLE_DEFAULT, 0, "  %llu %s",
				 (unsigned long long)c.lines[how % GRAPH_LINES],
				 graph_line_name((enum graph_line)(how % GRAPH_LINES)));
	page_end(page);
	for (int i = 0; i < 8 && c.not_joined[i]; i++)
		page_say(page, ROLE_MUTED, 0, "    not joined: %s", c.not_joined[i]);
	if (c.dropped)
		page_say(page, ROLE_WARN, 0, "  %llu nodes or texts were more than there is room for",
			 (unsigned long long)c.dropped);
	if (c.on_device && c.on_cpu) {
		page_say(page, ROLE_WARN, 0, "  %llu ran on the processor beside %llu on a device:",
			 (unsigned long long)c.on_cpu, (unsigned long long)c.on_device);
		add_placed(page, model);
	}
}

static void add_trust(struct page *page, struct model *model)
{
	struct model_status s;
	char own[FMT_MAX], share[FMT_MAX], count[FMT_MAX], bytes[FMT_MAX];

	model_status(model, &s);
	add_title(page, "trust");
	page_say(page, ROLE_DEFAULT, 0, "  %s events", fmt_count(count, s.events));
	page_say(page, s.lost_events || s.lost_packets || s.dropped ? ROLE_BAD : ROLE_GOOD, 0,
		 "  lost: %llu events, %llu packets, %llu by probes", (unsigned long long)s.lost_events,
		 (unsigned long long)s.lost_packets, (unsigned long long)s.dropped);
	page_say(page, ROLE_DEFAULT, 0, "  own cost: %s, %s of the program's time",
		 fmt_time(own, s.own_ns),
		 s.program_ns > 0 ? fmt_share(share, (uint64_t)s.own_ns, (uint64_t)s.program_ns) : "-");
	page_say(page, ROLE_DEFAULT, 0, "  memory of the timeline: %s",
		 fmt_bytes(bytes, s.memory_bytes));
}

static void add_command(struct page *page, const struct page_call *call)
{
	const struct report_run *run = call->live ? live_run(call->live) : NULL;

	if (!run || !run->command)
		return;
	page_add(page, ROLE_COLUMN, 0, "command ");
	for (char *const *word = run->command; *word; word++)
		page_add(page, ROLE_TITLE, ATTR_BOLD, " %s", *word);
	page_end(page);
	if (run->host)
		page_say(page, ROLE_MUTED, 0, "  on %s, process %d", run->host, (int)run->pid);
}

static void add_environment(struct page *page, const struct page_call *call)
{
	const struct session *session = call->live ? live_session(call->live) : NULL;
	const char *line = session ? session_environment(session) : NULL;

	if (!line || !*line)
		return;
	add_title(page, "environment that tftop set");
	for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
		page_say(page, ROLE_DEFAULT, 0, "  %.*s", (int)strcspn(line, "\n"), line);
}

bool page_run(const struct page_call *call, struct page *page)
{
	add_command(page, call);
	model_lock(call->model);
	add_processes(page, call->model);
	add_devices(page, call->model);
	add_settings(page, call->model);
	add_graphs(page, call->model);
	add_trust(page, call->model);
	model_unlock(call->model);
	add_environment(page, call);
	return true;
}
