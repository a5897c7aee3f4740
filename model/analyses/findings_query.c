/* SPDX-License-Identifier: MIT */
#include "model/query/findings.h"

#include <string.h>

#include "model/analyses/analyses.h"
#include "model/base/util.h"
#include "model/core/model.h"

size_t model_findings(struct model *model, struct findings_status *status,
		      struct finding **out)
{
	const struct findings *findings = analyses_findings(model);
	size_t shown = findings_shown(findings);
	size_t count = shown < FINDINGS_SHOWN ? shown : FINDINGS_SHOWN;

	analyses_progress(model, status);
	status->revision = findings_revision(findings);
	status->count = count;
	status->more = shown - count;
	status->warnings = 0;
	for (size_t i = 0; i < count; i++)
		status->warnings += findings_at(findings, i)->severity == SEVERITY_WARNING;
	if (!out)
		return count;
	*out = count ? xreallocarray(NULL, count, sizeof(**out)) : NULL;
	for (size_t i = 0; i < count; i++)
		(*out)[i] = *findings_at(findings, i);
	return count;
}
