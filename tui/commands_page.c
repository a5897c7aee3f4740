/* SPDX-License-Identifier: MIT */
/* Commands that make a page: shown in its pane, or written to a file. */
#include "tui/commands_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "tui/page.h"
#include "tui/pane_page.h"

typedef bool make_page(const struct page_call *call, struct page *page);

static make_page *maker_of(int id)
{
	switch (id) {
	case COMMAND_ID_LIST_PROFILE: return page_list_profile;
	case COMMAND_ID_LIST_KERNELS: return page_list_kernels;
	case COMMAND_ID_NODE_INFO: return page_node;
	case COMMAND_ID_LIST_INPUTS: return page_inputs;
	case COMMAND_ID_LIST_OUTPUTS: return page_outputs;
	case COMMAND_ID_LIST_SOURCE: return page_sources;
	case COMMAND_ID_PRINT_SOURCE: return page_source;
	case COMMAND_ID_LIST_STAGES: return page_stages;
	case COMMAND_ID_ALLOCATOR: return page_allocator;
	case COMMAND_ID_COUNTERS: return page_counters;
	case COMMAND_ID_LIST_POOLS: return page_pools;
	case COMMAND_ID_PRINT_KERNEL: return page_kernel;
	case COMMAND_ID_QUEUES: return page_queues;
	case COMMAND_ID_LIST_WAITS: return page_waits;
	case COMMAND_ID_LIST_GRAPHS: return page_replays;
	case COMMAND_ID_FLOWS: return page_flows;
	case COMMAND_ID_RUN_INFO: return page_run;
	default: return NULL;
	}
}

const char *command_redirect(struct words *words)
{
	char error[128];
	const char *file;

	if (words->argc < 3 || strcmp(words->argv[words->argc - 2], ">") ||
	    !maker_of(command_find(words->argv[0], error, sizeof(error))))
		return NULL;
	file = words->argv[words->argc - 1];
	words->argc -= 2;
	words->argv[words->argc] = NULL;
	return file;
}

static bool write_page(struct run *run, const struct page *page)
{
	FILE *file = fopen(run->to, "we");
	bool good;

	if (file) {
		page_write(page, file);
		good = !ferror(file);
		if (!fclose(file) && good)
			return true;
	}
	snprintf(run->error, run->error_size, "cannot write '%s': %s", run->to, strerror(errno));
	return false;
}

static void show_page(struct run *run, struct page *page)
{
	struct tui *tui = run->tui;
	char *command = words_join(run->call.argc, run->call.argv);

	if (!tui->panes[PANE_PAGE]) {
		tui->panes[PANE_PAGE] = pane_page.open(&tui->view);
		tui->panes[PANE_PAGE]->ops = &pane_page;
	}
	pane_page_take(tui->panes[PANE_PAGE], page, command, !run->again);
	tui->lower = PANE_PAGE;
	tui->focus_lower = true;
	free(command);
}

unsigned cmd_page(struct run *run)
{
	struct page_call call = {
		.model = run->tui->model, .live = run->tui->live, .argc = run->call.argc,
		.argv = run->call.argv, .error = run->error, .error_size = run->error_size,
	};
	struct page page;

	page_init(&page);
	run->failed = !maker_of((int)run->id)(&call, &page);
	if (!run->failed && run->to)
		run->failed = !write_page(run, &page);
	else if (!run->failed)
		show_page(run, &page);
	page_release(&page);
	if (run->failed || !run->to)
		return run->failed ? OUT_NONE : OUT_LAYOUT;
	if (!run->tui->script)
		tui_say(run->tui, false, "written to %s", run->to);
	return OUT_REDRAW;
}

/* Along the pages that were shown. */
static unsigned go(struct run *run, int by)
{
	struct pane *pane = run->tui->panes[PANE_PAGE];
	const char *command = pane ? pane_page_go(pane, by) : NULL;
	struct run again = *run;
	struct words words;
	unsigned outcome = OUT_NONE;

	if (!command) {
		snprintf(run->error, run->error_size, "no page to go %s to", by < 0 ? "back" : "on");
		run->failed = true;
		return OUT_NONE;
	}
	if (!words_split(&words, command, run->error, run->error_size)) {
		run->failed = true;
		return OUT_NONE;
	}
	again.id = (enum command_id)command_find(words.argv[0], run->error, run->error_size);
	again.call = (struct command_call){ words.argc, words.argv };
	again.again = true;
	outcome = cmd_page(&again);
	run->failed = again.failed;
	words_release(&words);
	return outcome;
}

unsigned cmd_back(struct run *run)
{
	return go(run, -1);
}

unsigned cmd_forward(struct run *run)
{
	return go(run, 1);
}
