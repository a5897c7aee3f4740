/* SPDX-License-Identifier: MIT */
#include "tui/pages/page_side.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "tui/pages/page_parts.h"

const char *side_table_title(enum side_table table)
{
	static const char *const titles[SIDE_TABLES] = {
		[SIDE_CLASS] = "what the step's time went to",
		[SIDE_DEVICE] = "what the device did",
		[SIDE_HOST] = "what the host did while no device worked",
		[SIDE_OP_DEVICE] = "ops, device time of what they launched",
		[SIDE_OP_HOST] = "ops and ranges, own time on their threads",
		[SIDE_KERNEL] = "kernels",
		[SIDE_COPY] = "copies",
		[SIDE_COMPILE] = "compilations",
	};

	return titles[table];
}

void side_name(struct page *page, const struct side_item *item, bool linked)
{
	const char *command = item->table == SIDE_OP_DEVICE || item->table == SIDE_OP_HOST ? "ni" :
			      item->table == SIDE_KERNEL ? "pk" : NULL;
	const char *argv[] = { command, item->raw };

	if (linked && command && item->raw)
		page_link(page, item->name, 2, argv);
	else
		page_add(page, ROLE_DEFAULT, 0, "%s", item->name);
	if (item->shape)
		page_add(page, ROLE_MUTED, 0, "  %s", item->shape);
}

void side_words(const struct when *when, int64_t base_ns, char *words[3])
{
	/* a window may begin before the start of the run, where there is nothing */
	int64_t t0 = when->t0 > base_ns ? when->t0 - base_ns : 0;
	int64_t t1 = when->t1 > base_ns ? when->t1 - base_ns : 0;

	words[1] = words[2] = NULL;
	if (when->is_step) {
		words[0] = xstrdup("step");
		words[1] = xasprintf("%" PRId64, when->step);
	} else {
		words[0] = xasprintf("%" PRId64 "ns..%" PRId64 "ns", t0, t1);
	}
}

void side_words_free(char *words[3])
{
	free(words[0]);
	free(words[1]);
}

void side_show(struct page *page, const char *text, const struct when *when, int64_t base_ns)
{
	struct page_book book = { .base_ns = base_ns };

	page_show_time(page, text, &book, when->t0, when->t1);
}

void side_say_rest(struct page *page, const struct side *side, int64_t base_ns)
{
	char count[FMT_MAX];

	if (!side->state.whole)
		page_say(page, ROLE_WARN, 0, "≈ names are of the first %s events only, devices' "
			 "before threads': a shorter range has all of them",
			 fmt_count(count, side->state.spans));
	if (side->state.folded)
		page_say(page, ROLE_WARN, 0, "≈ its oldest details were discarded to stay within "
			 "the memory limit (--memory-limit): their names are missing here");
}
