/* SPDX-License-Identifier: MIT */
/* ps: the lines of a source file with their costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keymap/file.h"
#include "model/base/util.h"
#include "model/query/lines.h"
#include "model/query/query.h"
#include "tui/lists/list_options.h"
#include "tui/draw/page_call.h"

#define BAR 10
#define LINES_ABOVE 6	/* lines above the one that costs most, when the page opens */
#define BAR_LEAST 5	/* least width of the bar, beside columns that not every program has */

/* A file in which no op was called can be shown as well: the frames of a stack lead through such
 * files. */
static const char *other_file(const struct page_call *call, const char *wanted)
{
	const char *why;
	FILE *file = *wanted == '/' ? file_open(wanted, &why) : NULL;

	if (file)
		fclose(file);
	else if (*wanted == '/')
		snprintf(call->error, call->error_size,
			 "no op was called in '%.120s', and the file cannot be read: %s", wanted,
			 why);
	else
		snprintf(call->error, call->error_size,
			 "nothing that ran comes from '%.120s'; ls lists files", wanted);
	return file ? wanted : NULL;
}

/* Finds a file by its whole path, by the end of its path, or by a part that only one path has. */
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
	if (!matches && (n || *wanted == '/'))
		found = other_file(call, wanted);
	else if (!n)
		snprintf(call->error, call->error_size, "no probe reported source lines");
	if (matches > 1)
		snprintf(call->error, call->error_size, "%zu files match '%.80s': %.160s, %.160s",
			 matches, wanted, found, other);
	free(rows);
	return matches > 1 ? NULL : found;
}

static const struct list_flag flags[] = {
	{ 'b', "line_begin", LIST_NUMBER, NULL, NULL },
	{ 'c', "cost_type", LIST_WORD, NULL, "time self device backward" },
	{ 'n', "node_name_filter", LIST_REGEX, NULL, NULL },
};

/* In the order of the words that -c accepts. */
enum cost { COST_TIME, COST_SELF, COST_DEVICE, COST_BACKWARD, COSTS };
static const char *const cost_names[COSTS] = { "time", "self", "device", "backward" };

/* The data of a page about a file, copied while the lock is held. */
struct costs {
	const struct list_options *options;
	const char *wanted;		/* the name of the file as the user typed it */
	uint32_t first;	/* first line to show; 0: start at the line that costs most */
	const char *file;
	enum cost what;			/* the cost that the bars show */
	struct source_line *lines;	/* owned */
	size_t n;
	int64_t most_ns;
	bool nodes, self, device, cpu, backward;	/* whether any line has it */
	int bar;
	int64_t begun_ns;		/* wall-clock time at the start of the run, 0 if unknown */
};

static int64_t own_ns(const struct costs *costs, const struct line_cost *cost)
{
	switch (costs->what) {
	case COST_SELF: return cost->self_ns;
	case COST_DEVICE: return cost->device_ns;
	case COST_BACKWARD: return cost->backward_ns;
	default: return cost->total_ns + (cost->backward_ns > 0 ? cost->backward_ns : 0);
	}
}

static void page_source_take_lines(const struct page_call *call, const char *file,
				   struct costs *out)
{
	struct model_status status;

	out->bar = BAR;
	out->n = model_source_lines(call->model, file, &out->lines);
	for (size_t i = 0; i < out->n; i++) {
		const struct line_cost *cost = &out->lines[i].cost;

		if (own_ns(out, cost) > out->most_ns)
			out->most_ns = own_ns(out, cost);
		out->nodes |= out->lines[i].nodes > 0;
		out->self |= cost->self_ns + 1000 < cost->total_ns;
		out->device |= cost->device_ns > 0;
		out->cpu |= cost->cpu_ns > 0;
		out->backward |= cost->backward_ns > 0;
	}
	if (out->self + out->device + out->cpu + out->backward > 1)
		out->bar = BAR_LEAST;
	model_status(call->model, &status);
	out->begun_ns = model_wall(call->model, status.first_ns);
}

static int width_before(const struct costs *costs)
{
	return costs->bar + 2 + 9 + (costs->nodes ? 13 : 8) + 9 *
	       (costs->self + costs->device + costs->cpu + costs->backward);
}

static bool is_scaled(const struct line_cost *cost)
{
	return cost->seen < cost->calls;
}

/* scaled: it is an estimate. */
static void page_source_add_time(struct page *page, bool shown, int64_t ns, bool scaled)
{
	char time[FMT_MAX], text[FMT_MAX + 4] = "";

	if (ns > 0)
		snprintf(text, sizeof(text), "%s%s", scaled ? "≈" : "", fmt_time(time, ns));
	if (shown)
		page_cell(page, ROLE_DEFAULT, 9, text);
}

static void page_source_add_heading(struct page *page, const struct costs *costs)
{
	page_add(page, ROLE_COLUMN, 0, " %-*.*s%9s", costs->bar + 1, costs->bar,
		 costs->what == COST_TIME ? "cost" : cost_names[costs->what], "time");
	if (costs->self)
		page_add(page, ROLE_COLUMN, 0, "%9s", "self");
	if (costs->device)
		page_add(page, ROLE_COLUMN, 0, "%9s", "device");
	if (costs->cpu)
		page_add(page, ROLE_COLUMN, 0, "%9s", "kernels");
	if (costs->backward)
		page_add(page, ROLE_COLUMN, 0, "%9s", "backward");
	page_say(page, ROLE_COLUMN, 0, "%*s  line", costs->nodes ? 13 : 8,
		 costs->nodes ? "nodes(runs)" : "calls");
}

/* Links to the ops that were called in this line or whose nodes were created there. */
static void link_ops(struct page *page, const struct costs *costs, uint32_t line, const char *text)
{
	char *file = list_regex_quote(costs->file), first[16], end[16];
	const char *argv[] = { "lp", "-f", file, "--min_lineno", first, "--max_lineno", end };

	snprintf(first, sizeof(first), "%u", line);
	snprintf(end, sizeof(end), "%u", line + 1);
	if (*text)
		page_link(page, text, 7, argv);
	free(file);
}

static void page_source_add_bar(struct page *page, const struct costs *costs,
				const struct source_line *line)
{
	char bar[BAR + 1], calls[FMT_MAX + 4] = "", text[FMT_MAX + 28];
	char count[FMT_MAX];
	int64_t ns = line ? own_ns(costs, &line->cost) : 0;
	bool scaled = line && is_scaled(&line->cost);
	int filled = 0;

	if (!line) {
		page_add(page, ROLE_MUTED, 0, "%*s", width_before(costs), "");
		return;
	}
	if (costs->most_ns > 0)
		filled = (int)(((__int128)ns * costs->bar + costs->most_ns - 1) / costs->most_ns);
	memset(bar, ' ', BAR);
	memset(bar, '|', (size_t)(filled > costs->bar ? costs->bar : filled < 0 ? 0 : filled));
	page_add(page, ROLE_MUTED, 0, "[");
	page_add(page, ROLE_WORK_OP, 0, "%.*s", costs->bar, bar);
	page_add(page, ROLE_MUTED, 0, "]");
	page_source_add_time(page, true, line->cost.total_ns, scaled);
	page_source_add_time(page, costs->self, line->cost.self_ns, scaled);
	page_source_add_time(page, costs->device, line->cost.device_ns, scaled);
	page_source_add_time(page, costs->cpu, line->cost.cpu_ns, scaled);
	page_source_add_time(page, costs->backward, line->cost.backward_ns, scaled);
	if (line->cost.calls || line->nodes)
		snprintf(calls, sizeof(calls), "%s%s", scaled ? "≈" : "",
			 fmt_count(count, line->cost.calls));
	snprintf(text, sizeof(text), line->nodes ? "%llu(%s)" : "%.0llu%s",
		 (unsigned long long)line->nodes, calls);
	page_add(page, ROLE_DEFAULT, 0, "%*s", (costs->nodes ? 13 : 8) - text_width(text), "");
	link_ops(page, costs, line->line, text);
}

static void page_source_add_ops(struct page *page, const struct costs *costs,
				const struct source_line *line)
{
	char time[FMT_MAX], count[FMT_MAX];

	for (uint32_t i = 0; i < line->n_op; i++) {
		const struct line_op *op = &line->op[i];
		const char *argv[] = { "ni", op->node == LINE_NO_NODE ? op->raw_name : "-t",
				       op->raw_name };

		if (!list_matches(costs->options, 'n', op->name, op->raw_name))
			continue;
		page_add(page, ROLE_MUTED, 0, "%*s", width_before(costs) + 8, "");
		if (op->type)
			page_add(page, ROLE_MUTED, 0, "[%s] ", op->type);
		page_link(page, op->name, op->node == LINE_NO_NODE ? 2 : 3, argv);
		if (op->count)
			page_add(page, ROLE_MUTED, 0, "  %s%s ×%s",
				 is_scaled(&line->cost) ? "≈" : "", fmt_time(time, op->total_ns),
				 fmt_count(count, op->count));
		page_end(page);
	}
	if (line->ops > line->n_op)
		page_say(page, ROLE_MUTED, 0, "%*s%llu more", width_before(costs) + 8, "",
			 (unsigned long long)(line->ops - line->n_op));
}

static void page_source_add_text(struct page *page, uint32_t number, const char *text)
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

/* The file on disk may differ from the one that ran. */
static void page_source_say_changed(struct page *page, FILE *source, const struct costs *costs)
{
	struct stat st;

	if (!fstat(fileno(source), &st) && costs->begun_ns &&
	    st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec > costs->begun_ns)
		page_say(page, ROLE_WARN, 0,
			 "the file was changed after the run began: its lines may not be those "
			 "that ran");
}

/* Number of the line with the highest self cost, where that is known (a line that calls others
 * includes their cost), else with the highest of the cost that the bars show. 0: no line costs
 * anything. */
static uint32_t page_source_costliest_line(const struct costs *costs)
{
	uint32_t number = 0;
	int64_t most_ns = 0;

	for (size_t i = 0; i < costs->n; i++) {
		const struct line_cost *cost = &costs->lines[i].cost;
		int64_t ns = costs->what == COST_TIME && costs->self ? cost->self_ns :
			     own_ns(costs, cost);

		if (ns <= most_ns)
			continue;
		most_ns = ns;
		number = costs->lines[i].line;
	}
	return number;
}

static void show_line(struct page *page, const struct costs *costs)
{
	page->show = page->n_lines;
	/* a line that was asked for is the first one of the page; one that was searched is shown
	 * with its context */
	page->above = costs->first ? 0 : LINES_ABOVE;
}

/* If the source file is available, lists all of its lines, else only those that have a cost. */
static void list_lines(struct page *page, const struct costs *costs)
{
	uint32_t first = costs->first ? costs->first : page_source_costliest_line(costs);
	const char *why;
	FILE *source = file_open(costs->file, &why);
	char *text = NULL;
	size_t size = 0, at = 0;
	uint32_t number = 0;

	if (source)
		page_source_say_changed(page, source, costs);
	else
		page_say(page, ROLE_WARN, 0, "the file cannot be read (%s): only its lines with "
			 "costs are listed, without their text", why);
	if (!costs->n)
		page_say(page, ROLE_MUTED, 0, "no op was called in this file: its lines have no "
			 "costs");
	page_source_add_heading(page, costs);
	while (source && number < PAGE_LINES_MAX && getline(&text, &size, source) >= 0) {
		const struct source_line *line = NULL;

		number++;
		if (at < costs->n && costs->lines[at].line == number)
			line = &costs->lines[at++];
		if (number == first)
			show_line(page, costs);
		page_source_add_bar(page, costs, line);
		page_source_add_text(page, number, text);
		if (line)
			page_source_add_ops(page, costs, line);
	}
	for (; at < costs->n; at++) {
		if (costs->lines[at].line == first)
			show_line(page, costs);
		page_source_add_bar(page, costs, &costs->lines[at]);
		page_source_add_text(page, costs->lines[at].line,
				     source ? "(the file is shorter now)" : "");
		page_source_add_ops(page, costs, &costs->lines[at]);
	}
	free(text);
	if (source)
		fclose(source);
}

/* FILE:LINE means FILE -b LINE. Returns false and a sentence in the call's error if it is
 * invalid. */
static bool first_line(const struct page_call *call, const struct list_options *options,
		       char *file, uint32_t *first)
{
	const struct list_given *given = list_given(options, 'b');
	char *colon = strrchr(file, ':');
	bool in_name = colon && colon > file && colon[1] &&
		!colon[1 + strspn(colon + 1, "0123456789")];
	int64_t number = given ? given->number : in_name ? strtoll(colon + 1, NULL, 10) : 0;

	*first = (uint32_t)number;
	if (given && in_name) {
		snprintf(call->error, call->error_size,
			 "give the first line once, with -b %.40s or as in '%.80s'",
			 given->text, file);
		return false;
	}
	if ((!given && !in_name) || (number > 0 && number <= PAGE_LINES_MAX)) {
		if (in_name)
			*colon = '\0';
		return true;
	}
	snprintf(call->error, call->error_size, "%s wants a line from 1 to %u, not '%.40s'",
		 given ? "-b" : "FILE:LINE", PAGE_LINES_MAX, given ? given->text : colon + 1);
	return false;
}

static enum cost cost_wanted(const struct list_options *options)
{
	const struct list_given *given = list_given(options, 'c');
	enum cost cost = COST_TIME;

	while (given && cost < COST_BACKWARD && strcmp(cost_names[cost], given->text))
		cost++;
	return cost;
}

static bool show_file(const struct page_call *call, struct costs *costs, struct page *page)
{
	model_lock(call->model);
	costs->file = find_file(call, costs->wanted);
	if (costs->file)
		page_source_take_lines(call, costs->file, costs);
	model_unlock(call->model);
	if (!costs->file)
		return false;
	page_title(page, "%s", path_last(costs->file));
	page_say(page, ROLE_TITLE, ATTR_BOLD, "%s", costs->file);
	list_lines(page, costs);
	free(costs->lines);
	return true;
}

bool page_source(const struct page_call *call, struct page *page)
{
	struct list_options options;
	struct costs costs = { .options = &options };
	char *file = NULL;
	bool good;

	if (!list_options_parse(call, flags, sizeof(flags) / sizeof(flags[0]), 1, &options))
		return false;
	costs.what = cost_wanted(&options);
	good = options.name != NULL;
	if (!good)
		snprintf(call->error, call->error_size,
			 "usage: ps FILE[:LINE] [-b LINE] [-c COST] [-n OP]; ls lists files");
	else
		costs.wanted = file = xstrdup(options.name);
	good = good && first_line(call, &options, file, &costs.first) &&
	       show_file(call, &costs, page);
	free(file);
	list_options_release(&options);
	return good;
}
