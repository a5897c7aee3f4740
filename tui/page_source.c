/* SPDX-License-Identifier: MIT */
/* ls, ps: source files, and the lines of one with what they cost. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query-graph.h"
#include "model/query.h"
#include "tui/page.h"

#define BAR 10
#define OPS_SHOWN 4

static bool compile(const struct page_call *call, regex_t *regex, const char *text)
{
	if (regcomp(regex, text, REG_EXTENDED | REG_NOSUB) == 0)
		return true;
	snprintf(call->error, call->error_size, "not a regular expression: '%.80s'", text);
	return false;
}

/* What printf must be told for a text to take so many columns: it counts bytes. */
static int columns(const char *text, int wanted)
{
	return wanted + (int)strlen(text) - text_width(text);
}

/* ---- ls ---- */

static void link_file(struct page *page, const char *file)
{
	const char *argv[] = { "ps", file };

	page_link(page, file, 2, argv);
}

static void add_file(struct page *page, const struct source_row *row, int64_t whole_ns)
{
	char time[FMT_MAX], share[FMT_MAX], runs[FMT_MAX];

	fmt_time(time, row->total_ns);
	page_add(page, ROLE_DEFAULT, 0, "%7llu %7llu %11s %*s %6s  ", (unsigned long long)row->nodes,
		 (unsigned long long)row->ran, fmt_count(runs, row->executions), columns(time, 10),
		 time, fmt_share(share, (uint64_t)row->total_ns, (uint64_t)whole_ns));
	link_file(page, row->file);
	page_end(page);
}

static void list_files(struct page *page, const struct source_row *rows, size_t n,
		       const regex_t *paths)
{
	int64_t whole_ns = 0;
	bool library = false;
	size_t shown = 0;

	for (size_t i = 0; i < n; i++)
		whole_ns += rows[i].total_ns;
	page_say(page, ROLE_COLUMN, 0, "%7s %7s %11s %10s %6s  %s", "nodes", "ran", "executions",
		 "time", "share", "file");
	for (size_t i = 0; i < n; i++) {
		if (paths && regexec(paths, rows[i].file, 0, NULL, 0))
			continue;
		if (rows[i].library && !library)
			page_say(page, ROLE_MUTED, 0, "of libraries:");
		library |= rows[i].library;
		add_file(page, &rows[i], whole_ns);
		shown++;
	}
	if (!shown)
		page_say(page, ROLE_MUTED, 0, n ? "none of %zu files matches" :
			 "no source lines were told", n);
}

bool page_sources(const struct page_call *call, struct page *page)
{
	struct page_options o;
	struct source_row *rows;
	regex_t paths, nodes;
	size_t n;

	if (!page_options(call, "", "pn", &o))
		return false;
	if (o.rest) {
		snprintf(call->error, call->error_size, "usage: ls [-p PATH] [-n NODE]");
		return false;
	}
	if (o.on['p'] && !compile(call, &paths, o.value['p']))
		return false;
	if (o.on['n'] && !compile(call, &nodes, o.value['n'])) {
		if (o.on['p'])
			regfree(&paths);
		return false;
	}
	model_lock(call->model);
	n = model_sources(call->model, o.on['n'] ? &nodes : NULL, &rows);
	model_unlock(call->model);
	list_files(page, rows, n, o.on['p'] ? &paths : NULL);
	free(rows);
	if (o.on['p'])
		regfree(&paths);
	if (o.on['n'])
		regfree(&nodes);
	return true;
}

/* ---- ps ---- */

/* By its whole path, by the end of one, by a part that only one has. */
static const char *find_file(const struct page_call *call, const char *wanted)
{
	struct source_row *rows;
	size_t n = model_sources(call->model, NULL, &rows), length = strlen(wanted), matches = 0;
	const char *found = NULL, *other = NULL;

	for (int pass = 0; pass < 3 && !matches; pass++)
		for (size_t i = 0; i < n; i++) {
			size_t own = strlen(rows[i].file);
			const char *end = own >= length ? rows[i].file + own - length : NULL;
			bool is = pass == 0 ? !strcmp(rows[i].file, wanted) :
				  pass == 1 ? end && !strcmp(end, wanted) &&
					      (end == rows[i].file || end[-1] == '/') :
				  strstr(rows[i].file, wanted) != NULL;

			if (!is)
				continue;
			other = matches++ ? rows[i].file : NULL;
			if (matches == 1)
				found = rows[i].file;
		}
	if (!n)
		snprintf(call->error, call->error_size, "no source lines were told");
	else if (!matches)
		snprintf(call->error, call->error_size, "no node was made in '%.120s'; ls lists files",
			 wanted);
	else if (matches > 1)
		snprintf(call->error, call->error_size, "%zu files match '%.80s': %.160s, %.160s",
			 matches, wanted, found, other);
	free(rows);
	return matches == 1 ? found : NULL;
}

/* A line's names, taken under the lock. */
struct cost {
	struct source_line line;
	struct graph_node op[OPS_SHOWN];
	int n_ops;
};

static size_t take_lines(const struct page_call *call, const char *file, struct cost **out,
			 int64_t *most_ns)
{
	struct source_line *lines;
	size_t n = model_source_lines(call->model, file, &lines);

	*most_ns = 0;
	*out = xcalloc(n + 1, sizeof(**out));
	for (size_t i = 0; i < n; i++) {
		struct cost *cost = &(*out)[i];

		cost->line = lines[i];
		if (lines[i].total_ns > *most_ns)
			*most_ns = lines[i].total_ns;
		while (cost->n_ops < OPS_SHOWN && lines[i].op[cost->n_ops] != GRAPH_NONE &&
		       model_graph_node(call->model, lines[i].op[cost->n_ops],
					&cost->op[cost->n_ops]))
			cost->n_ops++;
	}
	free(lines);
	return n;
}

static void add_bar(struct page *page, const struct cost *cost, int64_t most_ns)
{
	char time[FMT_MAX], bar[BAR + 1], counts[64];
	int filled = 0;

	if (!cost) {
		page_add(page, ROLE_MUTED, 0, "%*s", BAR + 2 + 11 + 15, "");
		return;
	}
	if (most_ns > 0)
		filled = (int)(((__int128)cost->line.total_ns * BAR + most_ns - 1) / most_ns);
	memset(bar, ' ', BAR);
	memset(bar, '|', (size_t)(filled > BAR ? BAR : filled < 0 ? 0 : filled));
	bar[BAR] = '\0';
	page_add(page, ROLE_MUTED, 0, "[");
	page_add(page, ROLE_WORK_OP, 0, "%s", bar);
	page_add(page, ROLE_MUTED, 0, "]");
	snprintf(counts, sizeof(counts), "%llu(%llu)", (unsigned long long)cost->line.nodes,
		 (unsigned long long)cost->line.executions);
	fmt_time(time, cost->line.total_ns);
	if (!cost->line.executions)
		time[0] = '\0';
	page_add(page, ROLE_DEFAULT, 0, "%*s%15s", columns(time, 11), time, counts);
}

static void add_ops(struct page *page, const struct cost *cost)
{
	char time[FMT_MAX];

	for (int i = 0; i < cost->n_ops; i++) {
		const char *argv[] = { "ni", "-t", cost->op[i].name };

		page_add(page, ROLE_MUTED, 0, "%*s", BAR + 2 + 11 + 15 + 8, "");
		page_add(page, ROLE_MUTED, 0, "[%s] ", cost->op[i].type);
		page_link(page, cost->op[i].name, 3, argv);
		if (cost->op[i].count)
			page_add(page, ROLE_MUTED, 0, "  %s", fmt_time(time, cost->op[i].total_ns));
		page_end(page);
	}
	if (cost->line.nodes > (uint64_t)cost->n_ops)
		page_say(page, ROLE_MUTED, 0, "%*s%llu more", BAR + 2 + 11 + 15 + 8, "",
			 (unsigned long long)cost->line.nodes - (uint64_t)cost->n_ops);
}

static void add_text(struct page *page, uint32_t number, const char *text)
{
	char shown[512];
	size_t length = 0;

	for (; *text && *text != '\n' && *text != '\r' && length + 9 < sizeof(shown); text++) {
		if (*text != '\t') {
			shown[length++] = *text;
			continue;
		}
		do {
			shown[length++] = ' ';
		} while (length % 8);
	}
	shown[length] = '\0';
	page_add(page, ROLE_MUTED, 0, "  L%-5u", number);
	page_add(page, ROLE_DEFAULT, 0, "%s", shown);
	page_end(page);
}

/* With the file beside it, where it is there: all of its lines, else those that
 * cost. */
static void list_lines(struct page *page, const char *file, const struct cost *costs, size_t n,
		       int64_t most_ns, uint32_t first)
{
	FILE *source = page_open(file);
	char *text = NULL;
	size_t size = 0, at = 0;
	uint32_t number = 0;

	if (!source)
		page_say(page, ROLE_WARN, 0, "the file is not here (%s): its lines that cost, without text",
			 strerror(errno));
	page_say(page, ROLE_COLUMN, 0, " %-*s%11s%15s  line", BAR + 1, "cost", "time", "nodes(runs)");
	while (source && number < PAGE_LINES_MAX && getline(&text, &size, source) >= 0) {
		const struct cost *cost = NULL;

		number++;
		if (at < n && costs[at].line.line == number)
			cost = &costs[at++];
		if (number == first)
			page->show = page->n_lines;
		add_bar(page, cost, most_ns);
		add_text(page, number, text);
		if (cost)
			add_ops(page, cost);
	}
	for (; at < n; at++) {
		add_bar(page, &costs[at], most_ns);
		add_text(page, costs[at].line.line, source ? "(the file is shorter now)" : "");
		add_ops(page, &costs[at]);
	}
	free(text);
	if (source)
		fclose(source);
}

bool page_source(const struct page_call *call, struct page *page)
{
	struct page_options o;
	struct cost *costs = NULL;
	const char *file;
	int64_t most_ns = 0;
	unsigned long first = 0;
	size_t n = 0;
	char *end;

	if (!page_options(call, "", "b", &o))
		return false;
	if (!o.rest) {
		snprintf(call->error, call->error_size, "usage: ps FILE [-b LINE]");
		return false;
	}
	if (o.on['b']) {
		first = strtoul(o.value['b'], &end, 10);
		if (*end || end == o.value['b'] || first < 1 || first > PAGE_LINES_MAX) {
			snprintf(call->error, call->error_size, "not a line: '%.40s'", o.value['b']);
			return false;
		}
	}
	model_lock(call->model);
	file = find_file(call, o.rest);
	if (file)
		n = take_lines(call, file, &costs, &most_ns);
	model_unlock(call->model);
	if (!file)
		return false;
	page_say(page, ROLE_TITLE, ATTR_BOLD, "%s", file);
	list_lines(page, file, costs, n, most_ns, (uint32_t)first);
	free(costs);
	return true;
}
