/* SPDX-License-Identifier: MIT */
/* stacks: where threads spent their time, by call stack, as an icicle whose cells are links to the
 * same page of that function. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/host.h"
#include "model/query/time.h"
#include "tui/draw/labels.h"
#include "tui/draw/pane.h"
#include "tui/pages/page_side.h"
#include "tui/pages/page_stacks.h"
#include "tui/pages/stack_cells.h"
#include "tui/report/report.h"

#define COLUMNS 100			/* where there is no screen */
#define COLUMNS_LEAST 16
#define COLUMNS_MOST 500
#define ICICLE_ROWS 32u
#define TREE_ROWS 80u
#define INDENT_MOST 24
#define BAR 10
#define THREADS_SHOWN 8

/* The arguments of the command. */
struct stacks_words {
	const char *range[3], *pid, *tid, *node;
	int n;
	bool all;
};

/* ---- links to the page of a node ---- */

enum { WITH_ALL = 1, WITH_RANGE = 2, WITH_THREAD = 4, WITH_AS_IS = 7 };

/* The words of the command for a node; key NULL: of all trees. */
static int stacks_command(const struct stacks_page *s, unsigned with, const char *key,
			  const char *argv[12])
{
	int n = 0;

	argv[n++] = "stacks";
	for (int i = 0; with & WITH_RANGE && i < 3 && s->range[i]; i++)
		argv[n++] = s->range[i];
	if (with & WITH_ALL && s->all)
		argv[n++] = "-a";
	if (with & WITH_THREAD && *s->pid) {
		argv[n++] = "-p";
		argv[n++] = s->pid;
	}
	if (with & WITH_THREAD && *s->tid) {
		argv[n++] = "-T";
		argv[n++] = s->tid;
	}
	if (key) {
		argv[n++] = "-n";
		argv[n++] = key;
	}
	return n;
}

static void node_key(char *key, size_t size, const struct stacks_page *s, uint32_t node)
{
	snprintf(key, size, "@%" PRIx64, s->keys[node]);
}

void page_stacks_link(struct stacks_page *s, const char *text, uint32_t node)
{
	const char *argv[12];
	char key[24];
	int n;

	if (node != STACK_NONE)
		node_key(key, sizeof(key), s, node);
	n = stacks_command(s, WITH_AS_IS, node == STACK_NONE ? NULL : key, argv);
	page_link(s->page, text, n, argv);
}

/* ---- what it is of ---- */

const char *stacks_share(char share[FMT_MAX], int64_t ns, int64_t whole_ns)
{
	return fmt_share(share, report_positive(ns), report_positive(whole_ns));
}

static void page_stacks_add_subject(struct stacks_page *s)
{
	char time[FMT_MAX], who[64] = "all threads";

	if (*s->tid)
		snprintf(who, sizeof(who), "thread %s", s->tid);
	else if (*s->pid)
		snprintf(who, sizeof(who), "all threads of process %s", s->pid);
	page_say(s->page, ROLE_TITLE, ATTR_BOLD, "call stacks of %s, %s: %s%s", who,
		 s->when.t1 ? s->when.title : "whole run",
		 fmt_time(time, stack_ns(s->nodes, s->n, STACK_NONE)),
		 s->of.waited ? " in which a device waited" : "");
	if (s->none_waited)
		page_say(s->page, ROLE_DEFAULT, 0, "no device waited for them, as far as "
			 "known, so this is all of their time");
	else if (!s->of.waited)
		page_say(s->page, ROLE_MUTED, 0, "all time, whether a device waited or not");
}

/* Adds a link to a page of the same kind. */
static void page_stacks_add_way(struct stacks_page *s, const char *text, unsigned with,
				const char *more)
{
	const char *argv[12];
	int n = stacks_command(s, with, NULL, argv);

	if (more)
		argv[n++] = more;
	page_link(s->page, text, n, argv);
	page_add(s->page, ROLE_MUTED, 0, "   ");
}

static void page_stacks_add_thread(struct stacks_page *s, const struct stack_node *thread)
{
	const char *argv[12];
	char tid[16], pid[16], name[96];
	int n = stacks_command(s, WITH_ALL | WITH_RANGE, NULL, argv);

	snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
	snprintf(pid, sizeof(pid), "%" PRIu32, thread->pid);
	argv[n++] = "-p";
	argv[n++] = pid;
	argv[n++] = "-T";
	argv[n++] = tid;
	page_link(s->page, stack_name(name, sizeof(name), thread), n, argv);
	page_add(s->page, ROLE_MUTED, 0, "   ");
}

/* Adds the other pages of this kind: all time or waited time only, the whole run, each thread. */
static void page_stacks_add_ways(struct stacks_page *s)
{
	bool several = s->nodes[0].end < s->n;
	uint32_t thread = 0;

	page_label(s->page, "also");
	if (s->when.t1)
		page_stacks_add_way(s, "the whole run", WITH_ALL | WITH_THREAD, NULL);
	else if (s->of.waited)
		page_stacks_add_way(s, "all time", WITH_THREAD, "-a");
	else if (s->all)
		page_stacks_add_way(s, "only while a device waited", WITH_THREAD, NULL);
	if (*s->tid || *s->pid)
		page_stacks_add_way(s, "all threads", WITH_ALL | WITH_RANGE, NULL);
	for (int i = 0; several && i < THREADS_SHOWN && thread < s->n; i++) {
		page_stacks_add_thread(s, &s->nodes[thread]);
		thread = s->nodes[thread].end;
	}
	page_to(s->page, "findings", "pane", "findings", NULL);
	page_end(s->page);
}

/* ---- the icicle ---- */

static enum role role_of(const struct stack_node *node)
{
	if (node->kind == STACK_STATE)
		return node->doing == DOING_PYTHON || node->doing == DOING_NATIVE ?
		       ROLE_WORK_ELEMENTWISE : ROLE_WORK_INPUT;
	return node->kind == STACK_FRAME && node->library ? ROLE_MUTED : ROLE_TITLE;
}

/* Adds what stands for several nodes, which always says so: "│12 more", "│…", "+". */
static void page_stacks_add_rest(struct stacks_page *s, const struct stack_cell *cell)
{
	char more[48];

	snprintf(more, sizeof(more), cell->folded ? "… %" PRIu32 " calls within libraries" :
		 "%" PRIu32 " more", cell->folded ? cell->folded : cell->count);
	if (cell->folded && text_width(more) >= cell->width)
		snprintf(more, sizeof(more), "… %" PRIu32, cell->folded);
	page_add(s->page, ROLE_MUTED, 0, "%s", cell->width > 1 ? "│" : "+");
	page_cell(s->page, ROLE_MUTED, 1 - cell->width,
		  text_width(more) < cell->width ? more : cell->width > 1 ? "…" : "");
}

static void page_stacks_add_cell(struct stacks_page *s, const struct stack_cell *cell, bool main)
{
	char label[LABEL_MAX * 4];

	if (cell->node == STACK_NONE) {
		page_stacks_add_rest(s, cell);
		return;
	}
	page_add(s->page, ROLE_MUTED, 0, "│");
	if (cell->width < 2)
		return;
	stack_label(label, sizeof(label), &s->nodes[cell->node], cell->width - 1);
	if (cell->node == s->root) {
		page_add(s->page, ROLE_TITLE, ATTR_BOLD, "%s", label);
		return;
	}
	page_stacks_link(s, label, cell->node);
	page_role(s->page, role_of(&s->nodes[cell->node]));
	if (main)
		page_main(s->page);
}

/* The cells of the path that takes most time are the main links of their lines. */
static void page_stacks_add_icicle(struct stacks_page *s)
{
	uint32_t deeper, leaf = stack_most_leaf(s->nodes, s->n, s->root);
	struct stack_cell *cells;
	size_t n = stack_cells(s->nodes, s->n, s->root, s->width, ICICLE_ROWS, &cells, &deeper);
	int x = 0;

	page_heading(s->page, "callers above what they called; the width is the time");
	for (size_t i = 0; i < n; i++) {
		const struct stack_cell *cell = &cells[i];
		bool main = cell->node != STACK_NONE && leaf != STACK_NONE &&
			    cell->node <= leaf && leaf < s->nodes[cell->node].end;

		if (cell->width > 0) {
			page_add(s->page, ROLE_DEFAULT, 0, "%*s", cell->x - x, "");
			page_stacks_add_cell(s, cell, main);
			x = cell->x + cell->width;
		}
		if (i + 1 < n && cells[i + 1].row == cell->row && cells[i + 1].x <= x)
			continue;
		/* where nothing is beside it, its end is marked, too */
		page_add(s->page, ROLE_MUTED, 0, "%s", x < s->width ? "│" : "");
		x++;
		if (i + 1 == n || cells[i + 1].row != cell->row) {
			page_end(s->page);
			x = 0;
		}
	}
	if (deeper)
		page_say(s->page, ROLE_MUTED, 0, "%" PRIu32 " more levels below: Enter on a "
			 "function shows what it called", deeper);
	free(cells);
}

/* ---- the tree ---- */

static void page_stacks_add_tree_node(struct stacks_page *s, uint32_t i, int64_t whole_ns,
				      uint32_t top)
{
	const struct stack_node *node = &s->nodes[i];
	char time[FMT_MAX], share[FMT_MAX], text[LABEL_MAX * 2], number[16];
	int depth = (int)(node->depth - top), most = s->width / 4;

	most = most < INDENT_MOST ? most : INDENT_MOST;
	page_cell(s->page, ROLE_DEFAULT, 10, fmt_time(time, node->ns));
	page_cell(s->page, ROLE_DEFAULT, 7, stacks_share(share, node->ns, whole_ns));
	page_add(s->page, ROLE_MUTED, 0, "  ");
	page_bar(s->page, ROLE_WORK_OTHER, report_positive(node->ns), report_positive(whole_ns),
		 BAR);
	page_add(s->page, ROLE_MUTED, 0, " %*s", depth < most ? depth : most, "");
	if (depth > most)
		page_add(s->page, ROLE_MUTED, 0, "%d› ", depth);
	if (node->kind == STACK_FRAME && *node->function)
		snprintf(text, sizeof(text), "%.200s", node->function);
	else
		stack_name(text, sizeof(text), node);
	page_stacks_link(s, text, i);
	page_role(s->page, role_of(node));
	if (node->kind == STACK_FRAME && *node->function && *node->file) {
		page_add(s->page, ROLE_MUTED, 0, "  ");
		stack_place(text, sizeof(text), node);
		snprintf(number, sizeof(number), "%" PRIu32, node->line);
		if (node->line)
			page_to(s->page, text, "ps", node->file, "-b", number, NULL);
		else
			page_add(s->page, ROLE_MUTED, 0, "%s", text);
	}
	page_end(s->page);
}

/* Adds the nodes with most time as a tree: what each called is below it, a column to the right. */
static void page_stacks_add_tree(struct stacks_page *s)
{
	bool *marked = xcalloc(s->n + 1, sizeof(*marked));
	int64_t whole_ns = stack_ns(s->nodes, s->n, s->root);
	uint32_t top = s->root == STACK_NONE ? 0 : s->nodes[s->root].depth;
	size_t all, shown = stack_mark_most(s->nodes, s->n, s->root, TREE_ROWS, marked, &all);

	page_heading(s->page, "%10s%7s  %*s %s", "time", "share", BAR, "",
		     "calls, from the caller to what it called");
	for (uint32_t i = 0; i < s->n; i++)
		if (marked[i])
			page_stacks_add_tree_node(s, i, whole_ns, top);
	if (all > shown)
		page_say(s->page, ROLE_MUTED, 0, "  %zu more with less time, or deeper: Enter on a "
			 "function shows what it called", all - shown);
	free(marked);
}

/* ---- the page ---- */

static void page_stacks_say_none(struct stacks_page *s)
{
	page_say(s->page, ROLE_TITLE, ATTR_BOLD, "no thread was looked at%s%s",
		 s->when.t1 ? " in this time: " : "", s->when.t1 ? s->when.title : "");
	page_say(s->page, ROLE_DEFAULT, 0, "tftop looks at the threads that last ran an op or made "
		 "a call");
	page_say(s->page, ROLE_DEFAULT, 0, "which a probe saw, at the levels default and full, "
		 "from 50 ms after it.");
	if (s->when.t1) {
		page_label(s->page, "also");
		page_to(s->page, "the whole run", "stacks", NULL);
		page_end(s->page);
		return;
	}
	page_say(s->page, ROLE_DEFAULT, 0, "Recordings of a tftop that did not do so, and files of "
		 "other profilers,");
	page_say(s->page, ROLE_DEFAULT, 0, "do not say what threads did.");
}

static void page_stacks_make(struct stacks_page *s)
{
	const char *argv[12];
	char key[24], name[LABEL_MAX * 2];
	int n;

	if (s->root != STACK_NONE)
		node_key(key, sizeof(key), s, s->root);
	n = stacks_command(s, WITH_AS_IS, s->root == STACK_NONE ? NULL : key, argv);
	page_remade_by(s->page, n, argv);
	page_title(s->page, "%s", s->root == STACK_NONE ? "call stacks" :
		   stack_name(name, sizeof(name), &s->nodes[s->root]));
	if (!s->n) {
		page_stacks_say_none(s);
		return;
	}
	page_stacks_add_subject(s);
	if (s->root != STACK_NONE)
		page_stacks_add_node(s);
	page_stacks_add_widest(s);
	page_stacks_add_states(s, "states", false);
	if (s->root == STACK_NONE)
		page_stacks_add_ways(s);
	page_stacks_add_icicle(s);
	page_stacks_add_tree(s);
}

/* ---- the command ---- */

static bool page_stacks_take_words(const struct page_call *call, struct stacks_words *words)
{
	static const char letters[] = "pTn";

	*words = (struct stacks_words) { .n = 0 };
	for (int i = 1; i < call->argc; i++) {
		const char *word = call->argv[i];
		const char *option = *word == '-' && word[1] ? strchr(letters, word[1]) : NULL;

		if (option && !word[2] && i + 1 < call->argc) {
			*(*option == 'p' ? &words->pid : *option == 'T' ? &words->tid :
			  &words->node) = call->argv[++i];
		} else if (option && !word[2]) {
			snprintf(call->error, call->error_size, "'%s' needs a value", word);
			return false;
		} else if (!strcmp(word, "-a")) {
			words->all = true;
		} else if (*word == '-' || words->n == 3) {
			snprintf(call->error, call->error_size, "not '%.40s': stacks [RANGE "
				 "[WHICH]] [-a] [-p PID] [-T TID] [-n FUNCTION]", word);
			return false;
		} else {
			words->range[words->n++] = word;
		}
	}
	return true;
}

/* Reads a PID or a TID, as a number and as the text for links. */
static bool page_stacks_number(const struct page_call *call, const char *what, const char *text,
			       uint32_t *number, char out[16])
{
	int64_t value;

	if (!text)
		return true;
	if (!page_number(call, what, text, &value))
		return false;
	if (value < 1 || value > UINT32_MAX) {
		snprintf(call->error, call->error_size, "not the number of a %s: '%.60s'", what,
			 text);
		return false;
	}
	*number = (uint32_t)value;
	snprintf(out, 16, "%" PRIu32, *number);
	return true;
}

static bool page_stacks_range(const struct page_call *call, const struct stacks_words *words,
			      struct stacks_page *s)
{
	struct when_asks asks = { call->model, call->view };
	int at = 0;

	if (!words->n || (words->n == 1 && !strcmp(words->range[0], "run")))
		return true;
	if (!when_range(&asks, words->n, words->range, &at, &s->when, call->error,
			call->error_size))
		return false;
	if (at < words->n) {
		snprintf(call->error, call->error_size, "one range only, not also '%.40s'",
			 words->range[at]);
		return false;
	}
	s->of.from_ns = s->when.t0;
	s->of.to_ns = s->when.t1;
	return true;
}

/* Asks the model; waited time of the whole run first, then all time. false: those whom the user
 * asked for were not looked at, but others were. [locked] */
static bool page_stacks_ask(const struct page_call *call, struct stacks_page *s)
{
	struct stacks_of everyone;
	struct stack_node *nodes;
	size_t n;

	s->of.waited = !s->when.t1 && !s->all;
	s->n = model_stacks(s->book.model, &s->of, &s->nodes);
	if (!s->n && s->of.waited) {
		s->of.waited = false;
		s->n = model_stacks(s->book.model, &s->of, &s->nodes);
		s->none_waited = s->n > 0;
	}
	if (s->n || (!*s->pid && !*s->tid))
		return true;
	everyone = s->of;
	everyone.pid = everyone.tid = 0;
	n = model_stacks(s->book.model, &everyone, &nodes);
	free(nodes);
	if (n)
		snprintf(call->error, call->error_size, "%s %s was not looked at%s: stacks lists "
			 "those that were", *s->tid ? "thread" : "process",
			 *s->tid ? s->tid : s->pid, s->when.t1 ? " in this time" : "");
	return !n;
}

static bool page_stacks_find(const struct page_call *call, const char *text, struct stacks_page *s)
{
	s->root = STACK_NONE;
	if (!text || !s->n)
		return true;
	s->root = stack_find(s->nodes, s->n, text);
	if (s->root == STACK_NONE)
		snprintf(call->error, call->error_size, *text == '@' ?
			 "that place is not among the call stacks any more: '%.60s'" :
			 "no function '%.60s' is among the call stacks", text);
	return s->root != STACK_NONE;
}

bool page_stacks(const struct page_call *call, struct page *page)
{
	int width = call->view ? call->view->gutter + call->view->columns - 1 : COLUMNS;
	struct stacks_page s = { .page = page };
	struct stacks_words words;
	bool good;

	if (!page_stacks_take_words(call, &words) || !page_stacks_range(call, &words, &s) ||
	    !page_stacks_number(call, "process", words.pid, &s.of.pid, s.pid) ||
	    !page_stacks_number(call, "thread", words.tid, &s.of.tid, s.tid))
		return false;
	s.width = width < COLUMNS_LEAST ? COLUMNS_LEAST : width > COLUMNS_MOST ? COLUMNS_MOST :
		  width;
	s.all = words.all;
	model_lock(call->model);
	page_book_take(&s.book, call->model);
	if (s.when.t1)
		side_words(&s.when, s.book.base_ns, s.range);
	good = page_stacks_ask(call, &s);
	model_unlock(call->model);
	s.keys = stack_keys(s.nodes, s.n);
	if (good && page_stacks_find(call, words.node, &s))
		page_stacks_make(&s);
	else
		good = false;
	side_words_free(s.range);
	page_book_release(&s.book);
	free(s.nodes);
	free(s.keys);
	return good;
}
