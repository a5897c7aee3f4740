/* SPDX-License-Identifier: MIT */
/*
 * Findings: sentences that name a cause, what it costs and what would help.
 *
 * An analysis hands in what it sees at each review (finding_add). What is
 * shown is calmer: a finding comes when two reviews in a row saw it, goes when
 * three did not, and changes places with its neighbour only when it costs
 * clearly more. At the end exactly what the last review saw is left, final.
 *
 * A finding never guesses without numbers; its cost is an upper bound of what
 * removing the cause would win, per step (per second where there are no steps).
 */
#ifndef MODEL_FINDING_H
#define MODEL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct findings;

#define FINDING_TEXT 200
#define FINDING_LINES 3

enum severity { SEVERITY_NOTE, SEVERITY_WARNING };

/* What `enter` on a finding opens. */
enum evidence_kind {
	EVIDENCE_NONE, EVIDENCE_TIME, EVIDENCE_OP, EVIDENCE_KERNEL, EVIDENCE_COPIES,
	EVIDENCE_STEPS, EVIDENCE_MEMORY
};

struct evidence {
	enum evidence_kind kind;
	int64_t t0, t1;			/* the place that shows it best; 0: none */
	uint32_t row;			/* row id of the timeline, 0 none */
	const char *key;		/* name of the table's row; interned, NULL none */
};

struct finding {
	const char *id;			/* "input-bound"; static */
	uint32_t subject;		/* tells two of one id apart: a device, a queue, a name */
	enum severity severity;
	int64_t cost_ns;		/* per step, or per second without steps */
	char title[FINDING_TEXT];	/* one sentence with its numbers, without the cost */
	char lines[FINDING_LINES][FINDING_TEXT];	/* more numbers; "" none */
	char advice[FINDING_TEXT];	/* what would help */
	struct evidence evidence;
};

/* Copies it. Called by analyses in their review. */
void finding_add(struct findings *findings, const struct finding *finding);

/* Durations and sizes in the words of the report: "18.5 ms", "51 380 224 bytes".
 * They write into `text` and return it. */
char *finding_ns(char *text, size_t size, int64_t ns);
char *finding_bytes(char *text, size_t size, uint64_t bytes);
char *finding_rate(char *text, size_t size, uint64_t bytes_per_s);

#endif
