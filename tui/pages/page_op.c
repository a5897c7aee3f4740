/* SPDX-License-Identifier: MIT */
/* ni of an op by its name: where it is called, its shapes, its backward ops, its slowest runs with
 * their whole stacks, and what was compiled for it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/flows.h"
#include "model/query/lines.h"
#include "model/query/query.h"
#include "tui/pages/page_parts.h"

#define LINES_SHOWN 20
#define SHAPES_SHOWN 20
#define NAMES_SHOWN 100

static void page_op_add_title(struct page *page, const char *text)
{
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_COLUMN, 0, "%s", text);
}

static void page_op_add_lines(struct page *page, const struct op_detail *detail)
{
	char time[FMT_MAX], count[FMT_MAX];

	if (detail->n_lines)
		page_op_add_title(page, "called at:");
	for (size_t i = 0; i < detail->n_lines && i < LINES_SHOWN; i++) {
		const struct op_place *place = &detail->lines[i];

		page_add(page, ROLE_DEFAULT, 0, "  %s ×%s  ", fmt_time(time, place->total_ns),
			 fmt_count(count, place->count));
		page_to_line(page, place->file, place->line, place->function);
		page_end(page);
	}
	if (detail->n_lines > LINES_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", detail->n_lines - LINES_SHOWN);
}

static void page_op_add_shapes(struct page *page, const struct op_detail *detail)
{
	char time[FMT_MAX], most[FMT_MAX], count[FMT_MAX];

	if (detail->n_shapes)
		page_op_add_title(page, "shapes of its inputs, where they were reported:");
	for (size_t i = 0; i < detail->n_shapes && i < SHAPES_SHOWN; i++) {
		const struct op_shape *shape = &detail->shapes[i];
		int64_t mean_ns = shape->count ? shape->total_ns / (int64_t)shape->count : 0;

		page_add(page, ROLE_DEFAULT, 0, "  %s  ", shape->shapes ? shape->shapes : "others");
		page_say(page, ROLE_MUTED, 0, "×%s  mean %s  max %s",
			 fmt_count(count, shape->count), fmt_time(time, mean_ns),
			 fmt_time(most, shape->max_ns));
	}
	if (detail->n_shapes > SHAPES_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", detail->n_shapes - SHAPES_SHOWN);
}

static void page_op_add_other(struct page *page, const char *label, const char *name)
{
	const char *argv[] = { "ni", name };

	page_add(page, ROLE_MUTED, 0, "%-9s", label);
	page_link(page, name, 2, argv);
}

/* Uses exact links of backward ops, else those inferred from names. Equal names are the same string
 * of the model. */
static void page_op_add_passes(struct page *page, struct model *model, const struct op_row *row,
			       const struct op_detail *detail)
{
	char time[FMT_MAX], count[FMT_MAX];
	struct pass_pair *pairs;
	size_t n = model_passes(model, &pairs);

	for (size_t i = 0; i < detail->n_backward; i++) {
		const struct op_backward *backward = &detail->backward[i];

		page_op_add_other(page, "backward", backward->name);
		page_say(page, ROLE_DEFAULT, 0, "  %s, %s",
			 fmt_time(time, backward->total_ns),
			 fmt_many(count, backward->count, "exact link"));
	}
	for (size_t i = 0; i < n; i++) {
		if (pairs[i].forward == row->name && !detail->n_backward && !pairs[i].links) {
			page_op_add_other(page, "backward", pairs[i].backward);
			page_say(page, ROLE_MUTED, 0, "  by its name");
		} else if (pairs[i].backward == row->name) {
			page_op_add_other(page, "forward", pairs[i].forward);
			if (pairs[i].links)
				page_say(page, ROLE_DEFAULT, 0, "  %s",
					 fmt_many(count, pairs[i].links, "exact link"));
			else
				page_say(page, ROLE_MUTED, 0, "  by its name");
		}
	}
	free(pairs);
}

static void page_op_add_slowest(struct page *page, struct model *model,
				const struct op_detail *detail)
{
	char time[FMT_MAX], when[FMT_MAX], from[32], to[32];
	struct model_status status;

	if (!detail->n_slow)
		return;
	model_status(model, &status);
	page_op_add_title(page, "slowest:");
	for (size_t i = 0; i < detail->n_slow; i++) {
		const struct op_slow *slow = &detail->slow[i];

		page_add(page, ROLE_DEFAULT, 0, "  %s", fmt_time(time, slow->dur_ns));
		snprintf(from, sizeof(from), "%" PRId64 "ns", slow->start_ns - status.first_ns);
		snprintf(to, sizeof(to), "%" PRId64 "ns",
			 slow->start_ns + slow->dur_ns - status.first_ns);
		page_add(page, ROLE_MUTED, 0, "  at ");
		page_to(page, fmt_time(when, slow->start_ns - status.first_ns), "select", from, to,
			NULL);
		page_add(page, ROLE_MUTED, 0, ", ");
		page_to_process(page, slow->pid);
		page_add(page, ROLE_MUTED, 0, ", ");
		page_to_thread(page, NULL, slow->pid, slow->tid);
		if (slow->shapes)
			page_add(page, ROLE_MUTED, 0, "  %s", slow->shapes);
		page_end(page);
		for (uint32_t f = 0; f < slow->n_stack; f++) {
			page_add(page, ROLE_MUTED, 0, "    ");
			page_to_line(page, slow->stack[f].file, slow->stack[f].line,
				  slow->stack[f].function);
			page_end(page);
		}
	}
}

static void page_op_add_row(struct page *page, const struct op_row *row)
{
	char total[FMT_MAX], mean[FMT_MAX], p99[FMT_MAX], most[FMT_MAX], count[FMT_MAX];
	const char *rough = row->seen < row->count ? "≈" : "";

	page_add(page, ROLE_MUTED, 0, "%-9s", "ran");
	page_say(page, ROLE_DEFAULT, 0, "%s%s   total %s%s   mean %s   p99 %s   max %s", rough,
		 fmt_many(count, row->count, "time"), rough, fmt_time(total, row->total_ns),
		 fmt_time(mean, row->mean_ns), fmt_time(p99, row->p99_ns),
		 fmt_time(most, row->max_ns));
	page_add(page, ROLE_MUTED, 0, "%-9s", "self");
	page_add(page, ROLE_DEFAULT, 0, "%s%s", rough, fmt_time(total, row->self_ns));
	if (row->cpu_kernels)
		page_add(page, ROLE_DEFAULT, 0, "   %s%s in %s of the processor", rough,
			 fmt_time(mean, row->cpu_ns), fmt_many(count, row->cpu_kernels, "kernel"));
	/* kernels on other threads may take longer than the op is busy itself */
	if (row->cpu_kernels && row->cpu_ns <= row->self_ns)
		page_add(page, ROLE_DEFAULT, 0, ", %s around them",
			 fmt_time(mean, row->self_ns - row->cpu_ns));
	if (row->kernels > row->cpu_kernels)
		page_add(page, ROLE_DEFAULT, 0, "   %s%s in %s of devices", rough,
			 fmt_time(mean, row->device_ns - row->cpu_ns),
			 fmt_many(count, row->kernels - row->cpu_kernels, "kernel"));
	page_end(page);
	if (row->seen == row->count)
		return;
	page_add(page, ROLE_MUTED, 0, "%-9s", "seen");
	page_say(page, ROLE_DEFAULT, 0, "%s; the other numbers are estimates, as ops were looked "
		 "at in some steps only", fmt_many(count, row->seen, "time"));
}

static void page_op_add_details(struct page *page, struct model *model, const struct op_row *row)
{
	struct op_detail detail;

	if (model_op_detail(model, row->raw_name, row->type, row->framework, &detail)) {
		page_op_add_passes(page, model, row, &detail);
		page_op_add_lines(page, &detail);
		page_op_add_shapes(page, &detail);
		page_op_add_slowest(page, model, &detail);
	}
	op_detail_free(&detail);
}

void page_op_details(struct page *page, struct model *model, const char *name, const char *type)
{
	struct op_row *rows;
	size_t n = model_ops(model, &rows);

	for (size_t i = 0; i < n; i++)
		if (rows[i].detailed && !strcmp(rows[i].raw_name, name) &&
		    rows[i].type && !strcmp(rows[i].type, type))
			page_op_add_details(page, model, &rows[i]);
	free(rows);
}

/* Finds an op by its exact name, then by its short form, then by a part that only one name has. */
static size_t find_op(const struct op_row *rows, size_t n, const char *text, size_t *matches)
{
	size_t found = n;

	*matches = 0;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].raw_name, text))
			return i;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].name, text))
			return i;
	for (size_t i = 0; i < n; i++)
		if (strstr(rows[i].raw_name, text)) {
			found = i;
			++*matches;
		}
	return *matches == 1 ? found : n;
}

static void page_op_choose(struct page *page, const struct op_row *rows, size_t n, const char *text)
{
	size_t matches = 0;

	for (size_t i = 0; i < n; i++)
		matches += strstr(rows[i].raw_name, text) != NULL;
	page_say(page, ROLE_DEFAULT, ATTR_BOLD, "%zu ops match '%s'", matches, text);
	for (size_t i = 0, shown = 0; i < n && shown < NAMES_SHOWN; i++) {
		const char *argv[] = { "ni", rows[i].raw_name };

		if (!strstr(rows[i].raw_name, text))
			continue;
		page_add(page, ROLE_DEFAULT, 0, "  ");
		page_link(page, rows[i].raw_name, 2, argv);
		page_end(page);
		shown++;
	}
	if (matches > NAMES_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", matches - NAMES_SHOWN);
}

/* Adds what was compiled under that name, and why: "/a/train.py:88 forward" is a source line. */
static bool page_op_add_compiles(struct page *page, struct model *model, const char *text)
{
	char time[FMT_MAX], count[FMT_MAX], path[1024];
	struct compile_row *rows;
	size_t n = model_compiles(model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const char *cause = rows[i].cause, *colon = cause ? strrchr(cause, ':') : NULL;
		long line = colon ? strtol(colon + 1, NULL, 10) : 0;

		if (strcmp(rows[i].what, text) != 0)
			continue;
		if (!any)
			page_say(page, ROLE_TITLE, ATTR_BOLD, "%s", text);
		any = true;
		page_add(page, ROLE_MUTED, 0, "%-9s", "compiled");
		page_add(page, ROLE_DEFAULT, 0, "%s   total %s   ",
			 fmt_many(count, rows[i].count, "time"), fmt_time(time, rows[i].total_ns));
		if (rows[i].failed)
			page_add(page, ROLE_BAD, 0, "%s failed   ",
				 fmt_count(count, rows[i].failed));
		if (line > 0 && colon - cause < (long)sizeof(path)) {
			snprintf(path, sizeof(path), "%.*s", (int)(colon - cause), cause);
			page_to_line(page, path, (uint32_t)line, NULL);
			cause = colon + 1 + strspn(colon + 1, "0123456789");
		}
		page_say(page, ROLE_MUTED, 0, "%s", cause ? cause : "");
	}
	free(rows);
	return any;
}

bool page_op(struct page *page, struct model *model, const char *text)
{
	struct op_row *rows;
	size_t n = model_ops(model, &rows), matches, at = find_op(rows, n, text, &matches);

	if (at < n) {
		page_title(page, "%s", rows[at].name);
		page_add(page, ROLE_TITLE, ATTR_BOLD, "%s   ", rows[at].raw_name);
		page_to_name(page, "all its runs", rows[at].raw_name);
		page_end(page);
		page_add(page, ROLE_MUTED, 0, "%-9s", "op");
		page_say(page, ROLE_DEFAULT, 0, "%s%s%s", framework_name(rows[at].framework),
			 rows[at].type ? "   " : "", rows[at].type ? rows[at].type : "");
		page_op_add_row(page, &rows[at]);
		page_op_add_details(page, model, &rows[at]);
	} else if (page_op_add_compiles(page, model, text)) {
		matches = 1;
	} else if (matches) {
		page_op_choose(page, rows, n, text);
	}
	free(rows);
	return at < n || matches;
}
