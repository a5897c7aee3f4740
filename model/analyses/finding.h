/* SPDX-License-Identifier: MIT */
/*
 * Findings: sentences that name a cause, its cost and what would help.
 *
 * An analysis hands in what it sees at each review (finding_add). The list that is shown is
 * calmer: a finding appears when two reviews in a row saw it, disappears when three did not,
 * and changes places with its neighbour only when it costs clearly more. At the end of the run
 * the list is exactly what the last review saw.
 *
 * A finding is never made without numbers. Its cost is an upper bound of what removing the
 * cause would save, per step (per second where there are no steps).
 */
#ifndef MODEL_FINDING_H
#define MODEL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/findings.h"

struct model;
struct findings;

#define FINDINGS_MAX 256u		/* findings of one review; more are only counted */

/* Copies the finding. Called by analyses in their review. */
void finding_add(struct findings *findings, const struct finding *finding);

/* ---- for analyses.c ---- */

struct findings *findings_new(void);
void findings_free(struct findings *findings);
/* Called before and after each review. final: the last review, whose findings are shown as they
 * are. */
void findings_begin(struct findings *findings);
void findings_end(struct findings *findings, bool final);
/* The shown findings in their order, NULL past the end; borrowed until findings_end(). */
const struct finding *findings_at(const struct findings *findings, size_t i);
size_t findings_shown(const struct findings *findings);
uint64_t findings_revision(const struct findings *findings);
size_t findings_bytes(const struct findings *findings);

#endif
