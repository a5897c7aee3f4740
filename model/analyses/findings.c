/* SPDX-License-Identifier: MIT */
/*
 * The list of findings. It stands between the analyses, which hand in what they see at each
 * review, and the screen, which must not flicker.
 *
 * Idea: an entry for each (id, subject) counts in how many reviews in a row it was seen or
 * missed. Entries that are shown stand in front, in the order of the screen: warnings first,
 * then by cost. After each review, one insertion pass moves an entry past the one before it
 * only when it costs a tenth more, so two entries with about the same cost stay where they are.
 *
 * Always true: at most FINDINGS_MAX entries; no two with the same (id, subject); shown ones
 * come first. An entry that the last review did not see and that is not shown is removed.
 *
 * Complexity: FINDINGS_MAX comparisons for each finding that is handed in, once a second.
 * Threads: under the model's lock.
 */
#include "model/analyses/finding.h"
#include "model/base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define COME_AFTER 2			/* appears after so many reviews in a row that saw it */
#define GO_AFTER 3			/* disappears after so many that did not */

struct findings_entry {
	struct finding finding;		/* as it was last seen */
	unsigned seen, missed;		/* number of reviews in a row */
	bool now;			/* it was added since findings_begin() */
	bool shown;
};

struct findings {
	struct findings_entry *list;		/* owned; n of cap, shown ones first */
	size_t n, cap, shown;
	uint64_t revision;
};

struct findings *findings_new(void)
{
	return xcalloc(1, sizeof(struct findings));
}

void findings_free(struct findings *findings)
{
	if (!findings)
		return;
	free(findings->list);
	free(findings);
}

/* ---- adding ---- */

static bool same(const struct finding *a, const struct finding *b)
{
	return a->subject == b->subject && strcmp(a->id, b->id) == 0;
}

static void findings_update_entry(struct findings_entry *entry, const struct finding *finding)
{
	struct finding *mine = &entry->finding;

	*mine = *finding;
	if (mine->cost_ns < 0)
		mine->cost_ns = 0;
	mine->title[FINDING_TEXT - 1] = mine->advice[FINDING_TEXT - 1] = '\0';
	name_mend(mine->title);		/* texts may have been cut within a character */
	name_mend(mine->advice);
	for (int i = 0; i < FINDING_LINES; i++) {
		mine->lines[i][FINDING_TEXT - 1] = '\0';
		name_mend(mine->lines[i]);
	}
	entry->now = true;
}

void finding_add(struct findings *findings, const struct finding *finding)
{
	for (size_t i = 0; i < findings->n; i++) {
		struct findings_entry *entry = &findings->list[i];

		if (!same(&entry->finding, finding))
			continue;
		if (!entry->now || finding->cost_ns > entry->finding.cost_ns)
			findings_update_entry(entry, finding);
		return;
	}
	if (findings->n == FINDINGS_MAX)
		return;
	grow(&findings->list, &findings->cap, findings->n, sizeof(*findings->list));
	findings->list[findings->n] = (struct findings_entry) { 0 };
	findings_update_entry(&findings->list[findings->n++], finding);
}

void findings_begin(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		findings->list[i].now = false;
}

/* ---- what is shown, and where ---- */

/* Whether a goes before b; clearly: only if it costs a tenth more, so that neighbours do not swap
 * all the time. */
static bool finding_is_before(const struct finding *a, const struct finding *b, bool clearly)
{
	if (a->severity != b->severity)
		return a->severity > b->severity;
	return clearly ? a->cost_ns - a->cost_ns / 11 > b->cost_ns : a->cost_ns > b->cost_ns;
}

/* Returns whether the entry stays; decides whether it is shown. */
static bool judge(struct findings_entry *entry, bool final)
{
	if (entry->now) {
		entry->seen++;
		entry->missed = 0;
		return true;
	}
	entry->seen = 0;
	entry->missed++;
	return entry->shown && !final && entry->missed < GO_AFTER;
}

/* Moves each entry up until the one before it is not clearly cheaper. */
static void findings_sort_calmly(struct findings *findings, bool final)
{
	for (size_t i = 1; i < findings->n; i++) {
		struct findings_entry entry = findings->list[i];
		size_t at = i;

		for (; at && entry.shown; at--) {
			const struct findings_entry *other = &findings->list[at - 1];

			if (other->shown &&
			    !finding_is_before(&entry.finding, &other->finding, !final))
				break;
			findings->list[at] = *other;
		}
		findings->list[at] = entry;
	}
}

void findings_end(struct findings *findings, bool final)
{
	size_t kept = 0;

	for (size_t i = 0; i < findings->n; i++)
		if (judge(&findings->list[i], final))
			findings->list[kept++] = findings->list[i];
	findings->n = kept;
	findings->shown = 0;
	for (size_t i = 0; i < kept; i++) {
		struct findings_entry *entry = &findings->list[i];

		entry->shown = entry->shown || entry->seen >= COME_AFTER || final;
		findings->shown += entry->shown;
	}
	findings_sort_calmly(findings, final);
	findings->revision++;
}

/* ---- reading ---- */

const struct finding *findings_at(const struct findings *findings, size_t i)
{
	return i < findings->shown ? &findings->list[i].finding : NULL;
}

size_t findings_shown(const struct findings *findings)
{
	return findings->shown;
}

uint64_t findings_revision(const struct findings *findings)
{
	return findings->revision;
}

size_t findings_bytes(const struct findings *findings)
{
	return sizeof(*findings) + findings->cap * sizeof(*findings->list);
}

/* ---- words ---- */

const char *severity_name(enum severity severity)
{
	return severity == SEVERITY_WARNING ? "warning" : "note";
}

const char *evidence_name(enum evidence_kind kind)
{
	static const char *const names[EVIDENCE_KIND_COUNT] = {
		"none", "time", "op", "kernel", "copies", "steps", "memory", "host",
	};

	return (unsigned)kind < EVIDENCE_KIND_COUNT ? names[kind] : "none";
}

