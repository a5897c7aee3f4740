/* SPDX-License-Identifier: MIT */
/*
 * What the analyses found, for the screen and the report. As in query.h, functions marked
 * [locked] need the model's lock; what they give out is a copy.
 */
#ifndef MODEL_QUERY_FINDINGS_H
#define MODEL_QUERY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define FINDING_TEXT 320
#define FINDING_ID 32
#define FINDING_LINES 4
#define FINDINGS_SHOWN 7		/* the others, which cost less, are only counted */

enum severity { SEVERITY_NOTE, SEVERITY_WARNING };

/* What `open` shows for a finding. */
enum evidence_kind {
	EVIDENCE_NONE, EVIDENCE_TIME, EVIDENCE_OP, EVIDENCE_KERNEL, EVIDENCE_COPIES,
	EVIDENCE_STEPS, EVIDENCE_MEMORY, EVIDENCE_HOST,
	EVIDENCE_KIND_COUNT
};

struct evidence {
	enum evidence_kind kind;
	int64_t t0, t1;			/* the place that shows the finding best; 0: none */
	uint32_t row;			/* row id of the timeline, 0: none */
	const char *key;		/* name of the table's row; interned, NULL: none */
};

struct finding {
	char id[FINDING_ID];		/* "input-bound" */
	/* distinguishes findings with the same id: a device, a queue, a name */
	uint32_t subject;
	enum severity severity;
	int64_t cost_ns;		/* per step; per second if there are no steps */
	/* what the cost, and a share of it in the title, are part of; 0: findings_status.step_ns */
	int64_t of_ns;
	char title[FINDING_TEXT];	/* one sentence with its numbers, without the cost */
	char lines[FINDING_LINES][FINDING_TEXT];	/* more numbers; an unused line is "" */
	char advice[FINDING_TEXT];	/* what the user can do about it */
	struct evidence evidence;
};

struct findings_status {
	uint64_t revision;		/* changes when any member below or any finding changes */
	int64_t settled_ns;		/* analysed up to here; INT64_MIN: nothing yet */
	uint64_t steps;			/* complete steps, without the warm-up */
	/* their mean duration, including the time between steps; 0: costs are per second */
	int64_t step_ns;
	bool passes;			/* the steps are forward passes */
	bool final;			/* nothing more will be analysed */
	size_t count;			/* findings shown */
	size_t warnings;		/* how many of these are warnings */
	size_t more;			/* how many findings are not shown because they cost less */
};

/* What its cost is part of: a step; 0 where there are no steps: a second. */
static inline int64_t finding_of_ns(const struct finding *finding,
				    const struct findings_status *status)
{
	return status->step_ns && finding->of_ns ? finding->of_ns : status->step_ns;
}

/*
 * The findings to show, warnings first, then by cost, at most FINDINGS_SHOWN. The caller frees
 * *out. If out is NULL, only the status is filled in, which is cheap. Returns status->count.
 * [locked]
 */
size_t model_findings(struct model *model, struct findings_status *status,
		      struct finding **out);

const char *severity_name(enum severity severity);		/* "note", "warning" */
/* "time", "op", ...; "none" if there is no evidence */
const char *evidence_name(enum evidence_kind kind);

#endif
