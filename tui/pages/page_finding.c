/* SPDX-License-Identifier: MIT */
/* finding: one finding in full, with links to its evidence. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/findings.h"
#include "tui/pages/page_parts.h"
#include "tui/draw/pane.h"
#include "tui/draw/places.h"

#define TEXT_COLUMNS 100		/* wider text is hard to read */
#define TEXT_LEAST 40
#define TEXT_BESIDE 12	/* room for the cursor, the label, and the mark of a line that is cut off */

/* A width at which the whole text is visible. */
static int text_columns_of(const struct view *view)
{
	int columns = view ? view->gutter + view->columns - TEXT_BESIDE : TEXT_COLUMNS;

	return columns > TEXT_COLUMNS ? TEXT_COLUMNS : columns < TEXT_LEAST ? TEXT_LEAST : columns;
}

/* Adds a sentence, wrapped over as many lines as needed. */
static void page_finding_add_text(struct page *page, const char *label, enum role role, int columns,
				  const char *text)
{
	const char *next;

	while (*text) {
		size_t size = text_break(text, columns, &next);

		page_label(page, label);
		page_say(page, role, 0, "%.*s", (int)size, text);
		if (next == text)
			break;
		text = next;
		label = "";
	}
}

static void page_finding_add_evidence(struct page *page, const struct page_book *book,
				      const struct evidence *evidence)
{
	bool any = false;	/* a link was added before, so the next one needs a separator */

	page_blank(page);
	page_label(page, "go to");
	if (evidence->t0 && evidence->t0 <= evidence->t1) {
		page_show_time(page, "where it shows best, on the timeline", book, evidence->t0,
			       evidence->t1);
		any = true;
	} else if (evidence->row && page_row(book, evidence->row)) {
		page_show_row(page, "show on the timeline", evidence->row);
		any = true;
	}
	page_add(page, ROLE_MUTED, 0, "%s", any ? "   " : "");
	switch (evidence->kind) {
	case EVIDENCE_OP:
	case EVIDENCE_KERNEL:
		any = evidence->key != NULL;
		if (any)
			page_to(page, evidence->key, evidence->kind == EVIDENCE_OP ? "ni" : "pk",
				evidence->key, NULL);
		break;
	case EVIDENCE_COPIES:
		page_to(page, "copies", "pane", "copies", NULL);
		any = true;
		break;
	case EVIDENCE_STEPS:
		page_to(page, "the slowest step", "step", "slowest", NULL);
		page_add(page, ROLE_MUTED, 0, "   ");
		page_to(page, "steps", "pane", "steps", NULL);
		any = true;
		break;
	case EVIDENCE_HOST:
		page_to(page, "call stacks", "stacks", NULL);
		any = true;
		break;
	case EVIDENCE_MEMORY:
		page_to(page, "allocators", "allocator", NULL);
		any = true;
		break;
	default:
		any = false;
		break;
	}
	page_add(page, ROLE_MUTED, 0, "%s", any ? "   " : "");
	page_to(page, "all findings", "pane", "findings", NULL);
	page_end(page);
}

static void page_finding_make(struct page *page, const struct page_book *book,
			      const struct finding *finding, const struct findings_status *status,
			      int columns)
{
	char cost[80];

	page_blank(page);
	page_say(page, finding->severity == SEVERITY_WARNING ? ROLE_ACCENT : ROLE_TITLE, ATTR_BOLD,
		 "%s", finding->id);
	page_finding_add_text(page, severity_name(finding->severity), ROLE_TITLE, columns,
			      finding->title);
	if (finding->cost_ns) {
		page_label(page, "costs");
		page_say(page, ROLE_DEFAULT, 0, "%s at most",
			 places_cost(cost, sizeof(cost), finding->cost_ns,
				     finding_of_ns(finding, status)));
	}
	for (int i = 0; i < FINDING_LINES; i++)
		page_finding_add_text(page, i ? "" : "because", ROLE_DEFAULT, columns,
				      finding->lines[i]);
	page_finding_add_text(page, "advice", ROLE_DEFAULT, columns, finding->advice);
	page_finding_add_evidence(page, book, &finding->evidence);
}

/* "input-bound"; "input-bound:3" if there are several findings of that id. */
static bool is_meant(const struct finding *finding, const char *text)
{
	size_t length = strlen(finding->id);
	char subject[16];

	if (strncmp(text, finding->id, length) != 0)
		return false;
	snprintf(subject, sizeof(subject), ":%" PRIu32, finding->subject);
	return !text[length] || !strcmp(text + length, subject);
}

static void page_finding_say_none(const struct page_call *call, const struct finding *list,
				  size_t n)
{
	int at = snprintf(call->error, call->error_size, "no finding '%.40s'%s", call->argv[1],
			  n ? "; there are" : ": nothing is found yet");

	for (size_t i = 0; i < n && at > 0 && (size_t)at < call->error_size; i++)
		at += snprintf(call->error + at, call->error_size - (size_t)at, "%s %s",
			       i ? "," : "", list[i].id);
}

bool page_finding(const struct page_call *call, struct page *page)
{
	struct findings_status status;
	struct finding *list = NULL;
	struct page_book book;
	size_t n, found = 0;

	model_lock(call->model);
	page_book_take(&book, call->model);
	n = model_findings(call->model, &status, &list);
	for (size_t i = 0; i < n; i++) {
		if (!is_meant(&list[i], call->argv[1]))
			continue;
		if (!found++)
			page_title(page, "finding %s", list[i].id);
		page_finding_make(page, &book, &list[i], &status, text_columns_of(call->view));
	}
	model_unlock(call->model);
	if (!found)
		page_finding_say_none(call, list, n);
	free(list);
	page_book_release(&book);
	return found > 0;
}
