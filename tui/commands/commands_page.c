/* SPDX-License-Identifier: MIT */
/* Commands that make a page, which is shown in its pane or written to a file. */
#include "tui/commands/commands_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/pages/page_parts.h"
#include "tui/panes/pane_page.h"

static page_maker *const page_makers[COMMAND_ID_COUNT] = {
#define COMMAND(id, name, alias, group, needs, function, page, ...) [COMMAND_ID_##id] = page_##page,
#include "keymap/commands.def"
#undef COMMAND
};

/* Returns NULL, and a sentence in error, if there is no such command or if it makes no page. */
static page_maker *page_maker_of(const char *name, char *error, size_t error_size)
{
	int id = command_find(name, error, error_size);

	return id >= 0 && page_makers[id] != page_none ? page_makers[id] : NULL;
}

const char *command_redirect(struct words *words)
{
	char error[128];
	const char *file;

	if (words->argc < 3 || strcmp(words->argv[words->argc - 2], ">") ||
	    !page_maker_of(words->argv[0], error, sizeof(error)))
		return NULL;
	file = words->argv[words->argc - 1];
	words->argc -= 2;
	words->argv[words->argc] = NULL;
	return file;
}

static bool write_page(struct command_run *run, const struct page *page)
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

/* The name of the pane in which the page is asked for. From another page, the history is
 * continued. */
static const char *origin(const struct tui *tui)
{
	int pane = tui->focus_lower ? tui->lower : 0;

	return pane == PANE_PAGE ? NULL : tui->panes[pane]->ops->name;
}

static void note_made(struct tui *tui, int64_t began_ns)
{
	tui->page_ns = tui_clock(tui);
	tui->page_cost_ns = tui->page_ns - began_ns;
	tui->page_generation = model_generation(tui->model);
}

static void show_page(struct tui *tui, const struct words *words, struct page *page)
{
	char *command = page->again ? xstrdup(page_text(page, page->again)) :
			words_join(words->argc, (const char *const *)words->argv);

	if (!tui->panes[PANE_PAGE]) {
		tui->panes[PANE_PAGE] = pane_page.open(&tui->view);
		tui->panes[PANE_PAGE]->ops = &pane_page;
	}
	pane_page_take(tui->panes[PANE_PAGE], page, command, origin(tui));
	tui->lower = PANE_PAGE;
	tui->focus_lower = true;
	help_close(&tui->help);		/* it would hide the page */
	free(command);
}

/* A page that is being made. */
struct page_job {
	struct tui *tui;
	page_maker *maker;
	struct words words;		/* owned; its command */
	bool again;	/* the page was shown before and is made anew with current data */
	int by;				/* number of pages to go on, 0: stay */
	bool waited;			/* the user waits for it */
	struct page page;		/* owned */
	bool made;
	int64_t began_ns;
	char error[512];
};

static void page_job_make(struct turns *turns, void *arg)
{
	struct page_job *job = arg;
	struct tui *tui = job->tui;
	struct page_call call = {
		.model = tui->model, .live = tui->live, .argc = job->words.argc,
		.argv = (const char *const *)job->words.argv, .filters = tui->filters,
		.view = &tui->view, .reports = &tui->reports,
		.settings = &tui->settings, .keymap = &tui->keymap,
		.theme = &tui->theme, .error = job->error, .error_size = sizeof(job->error),
		.turns = turns,
	};

	job->made = job->maker(&call, &job->page);
}

static void job_free(struct page_job *job)
{
	words_release(&job->words);
	page_release(&job->page);
	free(job);
}

/* Returns NULL, and a sentence in error, if the words are no command or one that makes no page. */
static struct page_job *job_new(struct tui *tui, int argc, const char *const *argv, char *error,
				size_t error_size)
{
	struct page_job *job = xcalloc(1, sizeof(*job));
	char *line = words_join(argc, argv);
	bool good = words_split(&job->words, line, error, error_size);

	free(line);
	if (good)
		job->maker = page_maker_of(job->words.argv[0], error, error_size);
	page_init(&job->page);
	job->tui = tui;
	job->began_ns = tui_clock(tui);
	if (job->maker)
		return job;
	if (!good)
		memset(&job->words, 0, sizeof(job->words));
	job_free(job);
	return NULL;
}

/* Returns false if the page could not be made; its error says why. */
static bool job_show(struct page_job *job)
{
	struct tui *tui = job->tui;

	note_made(tui, job->began_ns);
	if (job->by)
		pane_page_go(tui->panes[PANE_PAGE], job->by);
	if (job->made && job->again)
		pane_page_refresh(tui->panes[PANE_PAGE], &job->page);
	else if (job->made)
		show_page(tui, &job->words, &job->page);
	return job->made;
}

static void job_over(struct tui *tui, void *arg, bool stopped)
{
	struct page_job *job = arg;

	/* A page that nobody waits for, or that was stopped, stays as it was. */
	if (!stopped && !job_show(job) && job->waited)
		tui_say(tui, true, "%s", job->error);
	job_free(job);
	tui->dirty = true;
}

/* what is NULL if nobody waits for the page. Returns false, and a sentence in error, if the page
 * could not be made. */
static bool job_begin(struct page_job *job, const char *what, char *error, size_t error_size)
{
	struct slow slow = { .what = what, .work = page_job_make, .over = job_over, .arg = job };
	bool good = true;

	job->waited = what != NULL;
	if (!slow_begin(job->tui, &slow))
		return true;
	good = job_show(job);
	if (!good)
		snprintf(error, error_size, "%s", job->error);
	job_free(job);
	return good;
}

#define MAKING "making the page"

unsigned cmd_page(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct pane *pane = tui->panes[tui->lower];
	enum diff_state state;
	struct page_job *job;
	unsigned outcome;

	/* "diff" without arguments is about the step in the table. */
	if (run->id == COMMAND_ID_DIFF && run->call.argc == 1 && tui->focus_lower) {
		outcome = pane->ops->command(pane, &tui->view, &run->call);
		if (!(outcome & OUT_UNKNOWN))
			return outcome;
	}
	if (run->id == COMMAND_ID_DIFF) {
		state = diff_begin(tui, &run->call, run->error, run->error_size);
		run->failed = state == DIFF_FAILED;
		if (state != DIFF_READY)
			return run->failed ? OUT_NONE : OUT_REDRAW;
	}
	job = job_new(tui, run->call.argc, run->call.argv, run->error, run->error_size);
	if (!job) {
		run->failed = true;
		return OUT_NONE;
	}
	if (!run->to) {
		run->failed = !job_begin(job, MAKING, run->error, run->error_size);
		return run->failed ? OUT_NONE : OUT_LAYOUT;
	}
	page_job_make(NULL, job);
	if (!job->made)
		snprintf(run->error, run->error_size, "%s", job->error);
	run->failed = !job->made || !write_page(run, &job->page);
	job_free(job);
	if (run->failed)
		return OUT_NONE;
	if (!tui->script)
		tui_say(tui, false, "written to %s", run->to);
	return OUT_REDRAW;
}

/* Makes the page of an earlier command again, with current data. Returns false and a sentence in
 * error if this fails. */
static bool make_again(struct tui *tui, const char *command, int by, const char *what,
		       char *error, size_t error_size)
{
	struct words words;
	struct page_job *job;

	if (!words_split(&words, command, error, error_size))
		return false;
	job = job_new(tui, words.argc, (const char *const *)words.argv, error, error_size);
	words_release(&words);
	if (!job)
		return false;
	job->again = true;
	job->by = by;
	return job_begin(job, what, error, error_size);
}

#define FOLLOW_NS INT64_C(1000000000)
#define FOLLOW_COST 20			/* at most 1 / FOLLOW_COST of the time is spent on it */

void command_follow_page(struct tui *tui)
{
	struct pane *pane = tui->panes[PANE_PAGE];
	const char *command = pane ? pane_page_command(pane) : NULL;
	int64_t wait_ns = tui->page_cost_ns * FOLLOW_COST;
	char error[512];

	if (!command || tui->lower != PANE_PAGE || !tui->view.following || tui->layout.too_small ||
	    !tui->layout.lower.height || model_generation(tui->model) == tui->page_generation ||
	    tui_clock(tui) - tui->page_ns < (wait_ns > FOLLOW_NS ? wait_ns : FOLLOW_NS))
		return;
	/* a page that cannot be made any more stays as it was */
	if (!tui->slow.turns && !make_again(tui, command, 0, NULL, error, sizeof(error)))
		note_made(tui, tui_clock(tui));
}

void command_remake_page(struct tui *tui)
{
	struct pane *pane = tui->panes[PANE_PAGE];
	const char *command = pane ? pane_page_command(pane) : NULL;
	char error[512];

	if (command && tui->lower == PANE_PAGE)
		make_again(tui, command, 0, NULL, error,
			   sizeof(error)); /* else the page stays as it was */
}

/* Goes back or forward in the history of pages. */
static unsigned pages_go(struct command_run *run, int by)
{
	struct tui *tui = run->tui;
	struct pane *pane = tui->panes[PANE_PAGE];
	const char *command = pane ? pane_page_beside(pane, by) : NULL;

	if (!command)
		return command_fail(run, "there is no page to go %s to",
				    by < 0 ? "back" : "forward");
	run->failed = !make_again(tui, command, by, MAKING, run->error, run->error_size);
	tui->lower = PANE_PAGE;
	tui->focus_lower = true;
	return OUT_LAYOUT;
}

unsigned cmd_back(struct command_run *run)
{
	return pages_go(run, -1);
}

unsigned cmd_forward(struct command_run *run)
{
	return pages_go(run, 1);
}

/* ---- select: what pages' "show" links stand for ---- */

static unsigned select_time(struct command_run *run)
{
	struct view *view = &run->tui->view;
	int64_t base = run->tui->status.first_ns, t0, t1;

	for (int i = 1; i < 3; i++)
		if (!parse_time_ns(run->call.argv[i], i == 1 ? &t0 : &t1))
			return command_fail(run, "'%s' is not a time; write 250us, 3.5ms or 2s",
					    run->call.argv[i]);
	if (base > run->tui->status.last_ns)
		return command_fail(run, "nothing has happened yet");
	if (t0 < 0 || t1 < t0)
		return command_fail(run, "the second time is before the first: '%s' '%s'",
				    run->call.argv[1], run->call.argv[2]);
	view->range_t0_ns = base + t0;
	view->range_t1_ns = base + t1;
	view->cursor_ns = base + t0;
	view->selected = (struct span_ref){0};
	return OUT_REDRAW | OUT_FREEZE | OUT_SHOW_RANGE | OUT_FOCUS_TIMELINE;
}

static bool row_is_there(struct model *model, uint32_t row)
{
	struct model_row *rows;
	size_t n = model_rows(model, &rows), i;

	for (i = 0; i < n && rows[i].id != row; i++)
		;
	free(rows);
	return i < n;
}

unsigned cmd_select(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	const char *what = command_first(run);
	bool event = strchr(what, ':') != NULL, found;
	struct span_ref ref = {0};
	struct span span;

	if (run->call.argc > 2)
		return select_time(run);
	if (event ? !page_parse_event(what, &ref) : !(ref.row = (uint32_t)atoi(what)))
		return command_fail(run, "expected ROW, ROW:LANE:ID or two times, not '%s'", what);
	model_lock(tui->model);
	found = event ? model_span(tui->model, ref, &span) : row_is_there(tui->model, ref.row);
	model_unlock(tui->model);
	if (!found)
		return command_fail(run,
				    event ? "no event '%s': there is no such event, or its details "
					    "were discarded (--memory-limit)" :
					    "no row '%s'",
				    what);
	view->selected = event ? span.ref : ref;
	view->cursor_row = ref.row;
	view->cursor_lane = event ? span.ref.lane : LANE_ALL;
	if (event)
		view->cursor_ns = span.start_ns;
	tui->panes[0]->ops->reveal(tui->panes[0], view, NULL);
	return OUT_REDRAW | OUT_FREEZE | OUT_FOCUS_TIMELINE | (event ? OUT_SHOW_CURSOR : 0);
}
