/* SPDX-License-Identifier: MIT */
/* Where in the source an op is called or something is compiled, as text for a finding. */
#include <stdio.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/idents/idents.h"
#include "model/lines/lines.h"

static bool place_text(const char *file, uint32_t line, char *out, size_t size)
{
	const char *base = strrchr(file, '/');

	snprintf(out, size, " at %.120s:%u", base ? base + 1 : file, line);
	return true;
}

bool origin_place_text(struct model *model, uint32_t origin, char *out, size_t size)
{
	const char *text = origin ? names_raw(&model->names, origin) : NULL, *colon, *base;
	size_t digits;

	*out = '\0';
	colon = text ? strrchr(text, ':') : NULL;
	digits = colon ? strspn(colon + 1, "0123456789") : 0;
	if (!digits || (colon[1 + digits] && colon[1 + digits] != ' '))
		return false;
	for (base = colon; base > text && base[-1] != '/'; )
		base--;
	snprintf(out, size, " at %.*s", (int)(colon + 1 + digits - base), base);
	return true;
}

bool op_place_text(struct model *model, uint32_t name, char *out, size_t size)
{
	const char *best = NULL, *file;
	uint32_t best_line = 0, line, lines;
	int64_t most_ns = -1, ns;

	*out = '\0';
	name = names_resolve(&model->names, name);
	for (uint32_t i = 0; i < model->idents.n && name; i++) {
		if (names_resolve(&model->names, ident_at(model, i)->name) != name ||
		    !line_of_ident(model, i, &file, &line, &lines, &ns) || ns <= most_ns)
			continue;
		most_ns = ns;
		best = file;
		best_line = line;
	}
	return best && place_text(best, best_line, out, size);
}

bool frame_place_text(struct model *model, uint32_t frame, char *out, size_t size)
{
	const struct source_frame *f = frame ? frame_at(model->lines, frame - 1) : NULL;

	*out = '\0';
	return f && f->file && place_text(frame_file(model, f), f->line, out, size);
}
