/* SPDX-License-Identifier: MIT */
#include "tui/panes/pane_table.h"

#include <string.h>

#include "tui/timeline/pane_timeline.h"

const struct pane_ops *const pane_table[] = {
	&pane_timeline, &pane_ops_table, &pane_kernels, &pane_copies, &pane_steps,
	&pane_memory, &pane_findings, &pane_output, &pane_messages, &pane_host,
};
const size_t pane_count = sizeof(pane_table) / sizeof(pane_table[0]);

const struct table_kind *pane_kind(const char *pane)
{
	for (size_t i = 0; i < pane_count; i++)
		if (pane_table[i] && pane_table[i]->kind && !strcmp(pane_table[i]->name, pane))
			return pane_table[i]->kind();
	return NULL;
}

struct table *pane_table_of(const struct view *view, const char *pane)
{
	for (size_t i = 0; view->panes && i < pane_count; i++)
		if (view->panes[i] && view->panes[i]->ops->table &&
		    !strcmp(view->panes[i]->ops->name, pane))
			return view->panes[i]->ops->table(view->panes[i]);
	return NULL;
}
