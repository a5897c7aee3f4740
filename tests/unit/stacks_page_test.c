/* SPDX-License-Identifier: MIT */
/* Call stacks of threads: their cells, and the page that shows them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/model_events.h"
#include "tests/unit/page_text.h"
#include "tests/unit/test.h"
#include "tui/base/text.h"
#include "tui/draw/view.h"
#include "tui/pages/stack_cells.h"
#include "tui/panes/pane_page.h"

#define MS INT64_C(1000000)
#define NONE STACK_NONE

/* ---- cells ---- */

/* Adds a node behind the others; its parent is before it. */
static uint32_t add(struct stack_node *nodes, uint32_t *n, uint32_t parent, const char *function,
		    int64_t ns)
{
	nodes[*n] = (struct stack_node) {
		.kind = parent == NONE ? STACK_THREAD : *function ? STACK_FRAME : STACK_STATE,
		.parent = parent, .depth = parent == NONE ? 0 : nodes[parent].depth + 1,
		.end = *n + 1, .pid = PID, .tid = PID + *n, .thread = "main",
		.file = *function ? "/home/me/train.py" : "", .function = function,
		.line = *function ? 10 + *n : 0, .doing = DOING_SLEEP, .what = "", .ns = ns,
	};
	for (uint32_t at = parent; at != NONE; at = nodes[at].parent)
		nodes[at].end = *n + 1;
	return (*n)++;
}

/* No cell is outside of its parent's or over another one, and the rest counts what has none. */
static void check_cells(const struct stack_node *nodes, const struct stack_cell *cells, size_t n,
			int width)
{
	for (size_t i = 0; i < n; i++) {
		const struct stack_cell *cell = &cells[i];
		bool inside = false;

		CHECK(cell->x >= 0 && cell->width >= 0 && cell->x + cell->width <= width);
		CHECK((cell->node == NONE) == (cell->count || cell->folded));
		if (i && cells[i - 1].row == cell->row)
			CHECK(cells[i - 1].x + cells[i - 1].width <= cell->x);
		else if (i)
			CHECK_INT(cells[i - 1].row + 1, cell->row);
		for (size_t k = 0; k < i; k++)
			inside |= cell->row == cells[k].row + 1 && cells[k].node != NONE &&
				  (cell->node == NONE ||
				   nodes[cell->node].parent == cells[k].node) &&
				  cells[k].x <= cell->x &&
				  cell->x + cell->width <= cells[k].x + cells[k].width;
		CHECK(inside || !cell->row);
	}
}

TEST(stack_cells_are_as_wide_as_their_time)
{
	struct stack_node nodes[8];
	struct stack_cell *cells;
	uint32_t n = 0, deeper, thread = add(nodes, &n, NONE, "", 100), load;
	size_t count;

	load = add(nodes, &n, thread, "load", 50);
	add(nodes, &n, load, "", 50);
	add(nodes, &n, thread, "step", 40);
	add(nodes, &n, thread, "log", 6);
	add(nodes, &n, thread, "", 4);
	count = stack_cells(nodes, n, NONE, 40, 9, &cells, &deeper);
	CHECK_INT(count, 5);
	check_cells(nodes, cells, count, 40);
	CHECK_INT(cells[0].width, 40);
	CHECK_INT(cells[1].width, 20);
	CHECK_INT(cells[2].x, 20);
	CHECK_INT(cells[2].width, 16);
	/* two that are too narrow for a cell of their own */
	CHECK_INT(cells[3].count, 2);
	CHECK_INT(cells[3].ns, 10);
	CHECK_INT(cells[3].x, 36);
	CHECK_INT(cells[3].width, 4);
	CHECK_INT(cells[4].node, 2);
	CHECK_INT(deeper, 0);
	free(cells);
	/* fewer rows; another root */
	count = stack_cells(nodes, n, NONE, 40, 1, &cells, &deeper);
	CHECK_INT(count, 1);
	CHECK_INT(deeper, 2);
	free(cells);
	count = stack_cells(nodes, n, load, 40, 9, &cells, &deeper);
	CHECK_INT(count, 2);
	CHECK_INT(cells[1].width, 40);
	free(cells);
	CHECK_INT(stack_most_leaf(nodes, n, NONE), 2);
	CHECK_INT(stack_ns(nodes, n, NONE), 100);
	CHECK_INT(stack_ns(nodes, n, load), 50);
	/* nothing at all */
	CHECK_INT(stack_cells(nodes, 0, NONE, 40, 9, &cells, &deeper), 0);
	free(cells);
	CHECK_INT(stack_most_leaf(nodes, 0, NONE), NONE);
	CHECK_INT(stack_ns(nodes, 0, NONE), 0);
}

TEST(stack_cells_fold_calls_within_libraries)
{
	struct stack_node nodes[40];
	struct stack_cell *cells;
	uint32_t n = 0, deeper, at = add(nodes, &n, NONE, "", 100);
	size_t count;

	at = add(nodes, &n, at, "main", 100);
	for (int library = 0; library < 10; library++) {
		at = add(nodes, &n, at, "call", 100);
		nodes[at].library = true;
	}
	add(nodes, &n, at, "own", 60);
	add(nodes, &n, at, "other", 40);
	count = stack_cells(nodes, n, NONE, 40, 9, &cells, &deeper);
	/* the thread, main, a fold of 9, the last call, own and other */
	CHECK_INT(count, 6);
	CHECK_INT(cells[2].folded, 9);
	CHECK_INT(cells[2].width, 40);
	CHECK_INT(cells[3].node, at);
	CHECK_INT(cells[3].row, 3);
	CHECK_INT(cells[5].row, 4);
	CHECK_INT(deeper, 0);
	free(cells);
	/* two rows are not worth it */
	for (uint32_t i = 4; i < 12; i++)
		nodes[i].library = false;
	CHECK_INT(stack_cells(nodes, n, NONE, 40, 19, &cells, &deeper), 14);
	free(cells);
}

/* What is too small for any cell is seen nevertheless, in place of a column of its sibling. */
TEST(stack_cells_of_the_rest)
{
	struct stack_node nodes[4];
	struct stack_cell *cells;
	uint32_t n = 0, deeper, thread = add(nodes, &n, NONE, "", 1000001);
	size_t count;

	add(nodes, &n, thread, "step", 1000000);
	add(nodes, &n, thread, "log", 1);
	for (int width = 1; width < 40; width++) {
		count = stack_cells(nodes, n, NONE, width, 9, &cells, &deeper);
		check_cells(nodes, cells, count, width);
		CHECK(cells[count - 1].node == NONE && cells[count - 1].width > 0);
		free(cells);
	}
}

TEST(stack_cells_of_many_nodes)
{
	struct stack_node *nodes = xcalloc(10001, sizeof(*nodes));
	struct stack_cell *cells;
	bool *marked = xcalloc(10001, sizeof(*marked));
	uint32_t n = 0, at, deeper;
	size_t count, all;

	/* 100 threads of 100 nodes: a deep one, then ever shorter ones */
	for (int64_t i = 0; i < 100; i++) {
		at = add(nodes, &n, NONE, "", 100000 - i * 1000);
		for (int64_t k = 1; k < 100; k++)
			at = add(nodes, &n, k % 10 ? at : nodes[at].parent, "call",
				 100000 - i * 1000 - k * 100);
	}
	CHECK_INT(n, 10000);
	for (int width = 1; width <= 400; width += 57) {
		count = stack_cells(nodes, n, NONE, width, 300, &cells, &deeper);
		check_cells(nodes, cells, count < 400 ? count : 400, width);
		free(cells);
	}
	CHECK_INT(stack_mark_most(nodes, n, NONE, 80, marked, &all), 80);
	CHECK_INT(all, n);
	for (uint32_t i = 0, most = 0; i < n; i++) {
		most += marked[i];
		CHECK(most <= 80);
		CHECK(!marked[i] || nodes[i].parent == NONE || marked[nodes[i].parent]);
	}
	free(marked);
	free(nodes);
}

TEST(stack_keys_stay)
{
	struct stack_node nodes[8], other[8];
	uint32_t n = 0, m = 0, thread = add(nodes, &n, NONE, "", 9), at;
	uint64_t *keys, *others;
	char key[24];

	add(nodes, &n, thread, "load", 5);
	add(nodes, &n, thread, "step", 4);
	/* later step has more time */
	at = add(other, &m, NONE, "", 90);
	add(other, &m, at, "step", 50);
	add(other, &m, at, "load", 40);
	other[1].line = nodes[2].line;
	other[2].line = nodes[1].line;
	keys = stack_keys(nodes, n);
	others = stack_keys(other, m);
	CHECK(keys[0] == others[0] && keys[1] == others[2] && keys[2] == others[1]);
	CHECK(keys[0] != keys[1] && keys[1] != keys[2]);
	snprintf(key, sizeof(key), "@%llx", (unsigned long long)keys[2]);
	CHECK_INT(stack_find(other, m, key), 1);
	CHECK_INT(stack_find(other, m, "@12"), NONE);
	CHECK_INT(stack_find(other, m, "@"), NONE);
	CHECK_INT(stack_find(other, m, ""), NONE);
	CHECK_INT(stack_find(other, m, "load"), 2);
	CHECK_INT(stack_find(other, m, "train.py"), 1);
	CHECK_INT(stack_find(other, m, "nowhere"), NONE);
	free(keys);
	free(others);
}

TEST(stack_labels)
{
	struct stack_node node = {
		.kind = STACK_FRAME, .file = "/home/me/loader.py", .function = "Loader.fétch",
		.line = 12, .what = "", .thread = "",
	};
	char text[200];

	CHECK_STR(stack_label(text, sizeof(text), &node, 30), "Loader.fétch loader.py:12     ");
	CHECK_STR(stack_label(text, sizeof(text), &node, 16), "Loader.fétch:12 ");
	CHECK_STR(stack_label(text, sizeof(text), &node, 13), "Loader.fétch ");
	CHECK_STR(stack_label(text, sizeof(text), &node, 6), "Loade…");
	CHECK_STR(stack_label(text, sizeof(text), &node, 1), "L");
	node.function = "";
	CHECK_STR(stack_name(text, sizeof(text), &node), "loader.py:12");
	node.file = "";
	node.line = 0;
	CHECK_STR(stack_name(text, sizeof(text), &node), "a function without a name");
	node = (struct stack_node) {
		.kind = STACK_STATE, .doing = DOING_FILE, .what = "/data/train.bin",
	};
	CHECK_STR(stack_name(text, sizeof(text), &node), "file /data/train.bin");
	node = (struct stack_node) { .kind = STACK_THREAD, .thread = "", .tid = 7 };
	CHECK_STR(stack_name(text, sizeof(text), &node), "thread 7");
}

/* ---- the page ---- */

/* `turns` turns of 100 ms: 10 ms of work of a device; the thread that launches it, in main > load,
 * sleeps for 50 ms and in main > step runs Python for 40; another thread waits for a lock. */
static struct model *model_of_stacks(int turns, bool devices)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "main"));
	apply_one(model, ev_name(32, NAME_SOURCE, "load"));
	apply_one(model, ev_name(33, NAME_SOURCE, "step"));
	apply_one(model, ev_frame(1, 0, 30, 31, 30));
	apply_one(model, ev_frame(2, 1, 30, 32, 12));
	apply_one(model, ev_frame(3, 1, 30, 33, 20));
	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 10000);
		struct event step = {
			.type = EVENT_STEP, .pid = PID, .tid = PID,
			.time_ns = BASE + at + 100 * MS,
		};

		if (devices)
			apply_one(model, kernel);
		apply_one(model, ev_doing(PID, DOING_SLEEP, 2, 2, at + 10 * MS, 50 * MS));
		apply_one(model, ev_doing(PID, DOING_PYTHON, 3, 3, at + 60 * MS, 40 * MS));
		apply_one(model, ev_doing(PID + 1, DOING_LOCK, 0, 0, at, 100 * MS));
		apply_one(model, ev_op(2, (uint64_t)i + 1, 0, at, MS, 0));
		step.u.step = (struct event_step) {
			.number = i, .start_ns = BASE + at, .dur_ns = 100 * MS,
		};
		apply_one(model, step);
	}
	model_finish(model, false);
	return model;
}

TEST(page_stacks_of_waited_time)
{
	struct model *model = model_of_stacks(100, true);
	char error[PAGE_ERROR], *text;

	text = PAGE(page_stacks, "stacks");
	HAS(text, "call stacks of all threads, whole run: 8.67");
	HAS(text, " s in which a device waited\n");
	HAS(text, "most     54 % of 8.67 s: main train.py:30 › load train.py:12 › sleep\n");
	HAS(text, "states   sleep 54 % 4.71 s · Python 46 % 3.96 s\n");
	HAS(text, "│load train.py:12 ");
	HAS(text, "│sleep ");
	CHECK(!strstr(text, "lock"));
	free(text);
	text = PAGE(page_stacks, "stacks", "-n", "load");
	HAS(text, "load train.py:12\ncallers  all › main train.py:30\n");
	HAS(text, "took     4.71 s, 54 % of all   in itself 4.71 s, 100 % of it");
	HAS(text, "source   /home/me/train.py:12  in load\n");
	HAS(text, "most     100 % of 4.71 s: sleep\n");
	HAS(text, "itself   sleep 100 % 4.71 s\n");
	free(text);
	model_free(model);
}

TEST(page_stacks_of_all_time)
{
	struct model *model = model_of_stacks(100, true);
	char error[PAGE_ERROR], *text, tid[16];

	text = PAGE(page_stacks, "stacks", "-a");
	HAS(text, "all time, whether a device waited or not\n");
	HAS(text, "most     53 % of 19.0 s: thread 4122 › lock\n");
	free(text);
	snprintf(tid, sizeof(tid), "%u", PID + 1);
	text = PAGE(page_stacks, "stacks", "-a", "-T", tid);
	HAS(text, "call stacks of thread 4122, whole run: 10.0 s\n");
	free(text);
	/* the other thread had no device that waited */
	text = PAGE(page_stacks, "stacks", "-T", tid);
	HAS(text, "no device waited for them");
	free(text);
	text = PAGE(page_stacks, "stacks", "1s..1.1s");
	HAS(text, "call stacks of all threads, 1.000 s to 1.100 s: 190 ms\n");
	free(text);
	text = PAGE(page_stacks, "stacks", "1s", "1.1s", "-T", "4121");
	HAS(text, "most     56 % of 90.0 ms: main train.py:30 › load train.py:12 › sleep\n");
	free(text);
	model_free(model);
	model = model_of_stacks(10, false);
	text = PAGE(page_stacks, "stacks");
	HAS(text, "no device waited for them, as far as known, so this is all");
	free(text);
	model_free(model);
}

/* Whether a page has a link with this text to this command; "*" at its end: or longer. */
static bool links_to(struct model *model, page_maker *make, const char *const *argv,
		     const char *link, const char *command)
{
	char error[PAGE_ERROR];
	struct page_call call = {
		.model = model, .argv = argv, .error = error, .error_size = sizeof(error),
	};
	struct page page;
	size_t most = strcspn(command, "*") + !strchr(command, '*');
	bool found = false;

	while (argv[call.argc])
		call.argc++;
	page_init(&page);
	CHECK(make(&call, &page));
	for (size_t i = 0; i < page.n_parts; i++)
		found |= page.parts[i].command &&
			 !strcmp(page_text(&page, page.parts[i].text), link) &&
			 !strncmp(page_text(&page, page.parts[i].command), command, most);
	page_release(&page);
	return found;
}

#define LINKS(make, link, command, ...) \
	CHECK(links_to(model, make, (const char *const[]){ __VA_ARGS__, NULL }, link, command))

TEST(page_stacks_linked)
{
	struct model *model = model_of_stacks(100, true);
	char row[16];

	snprintf(row, sizeof(row), "%u", row_of(model, ROW_DEVICE, 0).id);
	LINKS(page_step, "call stacks", "stacks step 5", "step", "5");
	LINKS(page_finding, "call stacks", "stacks", "finding", "host-wait");
	LINKS(page_thread, "call stacks", "stacks -p 4121 -T 4121", "thread", "4121");
	LINKS(page_gaps, "sleep train.py:12", "stacks 1010*", "gaps", "1s..1.2s", "-r", row);
	LINKS(page_stacks, "all time", "stacks -a", "stacks");
	LINKS(page_stacks, "only while a device waited", "stacks", "stacks", "-a");
	LINKS(page_stacks, "thread 4122", "stacks -a -p 4121 -T 4122", "stacks", "-a");
	LINKS(page_stacks, "all threads", "stacks step 5", "stacks", "step", "5", "-T", "4121");
	LINKS(page_stacks, "the whole run", "stacks -T 4121", "stacks", "step", "5", "-T", "4121");
	LINKS(page_stacks, "all", "stacks -a", "stacks", "-a", "-n", "load");
	model_free(model);
}

TEST(page_stacks_wrong_words)
{
	struct model *model = model_of_stacks(10, true);
	char error[PAGE_ERROR];

	WRONG(page_stacks, "not '-x': stacks [RANGE [WHICH]] [-a] [-p PID] [-T TID] [-n FUNCTION]",
	      "stacks", "-x");
	WRONG(page_stacks, "'-p' needs a value", "stacks", "-p");
	WRONG(page_stacks, "not the number of a process: 'me'", "stacks", "-p", "me");
	WRONG(page_stacks, "not the number of a thread: '0'", "stacks", "-T", "0");
	WRONG(page_stacks, "thread 7 was not looked at: stacks lists those that were",
	      "stacks", "-T", "7");
	WRONG(page_stacks, "process 7 was not looked at in this time: stacks lists those that were",
	      "stacks", "0s..1s", "-p", "7");
	WRONG(page_stacks, "one range only, not also '2s'", "stacks", "0s..1s", "2s");
	WRONG(page_stacks, "there is no screen, and so no window", "stacks", "window");
	WRONG(page_stacks, "no function 'nowhere' is among the call stacks",
	      "stacks", "-n", "nowhere");
	WRONG(page_stacks, "that place is not among the call stacks any more: '@1'",
	      "stacks", "-n", "@1");
	model_free(model);
}

TEST(page_stacks_of_nothing)
{
	struct model *model = model_with_device();
	char error[PAGE_ERROR], *text = PAGE(page_stacks, "stacks");

	HAS(text, "no thread was looked at\n");
	HAS(text, "at the levels default and full");
	free(text);
	model_free(model);
	model = model_with_device();
	apply_one(model, ev_doing(PID, DOING_SLEEP, 0, 0, 0, 50 * MS));
	apply_one(model, ev_op(1, 1, 0, 0, MS, 0));
	apply_one(model, ev_op(1, 2, 0, 9000 * MS, MS, 0));
	model_finish(model, false);
	text = PAGE(page_stacks, "stacks", "5s..6s");
	HAS(text, "no thread was looked at in this time: 5.000 s to 6.000 s\n");
	HAS(text, "also     the whole run\n");
	free(text);
	model_free(model);
}

/* As the pane draws it, in all sizes, with and without UTF-8: nothing is cut from the drawing. */
TEST(page_stacks_on_a_screen)
{
	static const int sizes[][2] = { { 20, 5 }, { 60, 12 }, { 80, 24 }, { 160, 48 } };
	struct model *model = model_of_stacks(20, true);
	const char *const argv[] = { "stacks", "-a" };
	char error[PAGE_ERROR], problem[200], *text = NULL;

	for (int i = 0; i < 8; i++) {
		int width = sizes[i / 2][0], height = sizes[i / 2][1];
		struct view view = {
			.model = model, .gutter = 8, .columns = width - 8, .ascii = i % 2,
		};
		struct page_call call = {
			.model = model, .view = &view, .argc = 2, .argv = argv, .error = error,
			.error_size = sizeof(error),
		};
		struct pane *pane = pane_page.open(&view);
		struct grid grid;
		struct page page;
		size_t size;
		FILE *out;

		page_init(&page);
		CHECK(page_stacks(&call, &page));
		pane_page_take(pane, &page, "stacks -a", NULL);
		grid_init(&grid, width, height);
		pane_page.draw(pane, &view, grid_area(&grid), true);
		if (view.ascii)
			grid_to_ascii(&grid);
		CHECK(grid_check(&grid, problem, sizeof(problem)));
		out = open_memstream(&text, &size);
		grid_save(&grid, out, false);
		fclose(out);
		HAS(text, "call stacks of a");
		CHECK(!view.ascii || !strchr(text, '?'));
		if (height > 12) {
			HAS(text, view.ascii ? "|load train.py:12" : "│load train.py:12");
			HAS(text, view.ascii ? "|step train.py:20" : "│step train.py:20");
		}
		free(text);
		grid_release(&grid);
		page_release(&page);
		pane_page.close(pane);
	}
	model_free(model);
}

/* 200 functions deep, in narrow and in wide terminals: no line is wider than the terminal, and the
 * depth is told in numbers. */
TEST(page_stacks_deep)
{
	struct model *model = model_with_device();
	char error[PAGE_ERROR], *text, name[40];

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	for (uint32_t i = 1; i <= 200; i++) {
		snprintf(name, sizeof(name), "call%u", i);
		apply_one(model, ev_name(40 + i, NAME_SOURCE, name));
		apply_one(model, ev_frame(i, i - 1, 30, 40 + i, i));
	}
	apply_one(model, ev_doing(PID, DOING_SLEEP, 200, 200, 0, 50 * MS));
	model_finish(model, false);
	for (int width = 20; width <= 160; width += 70) {
		struct view view = { .model = model, .gutter = 10, .columns = width - 10 };
		char *line, *rest;

		text = PAGE_OF(page_stacks, &view, "stacks");
		HAS(text, "│call1");
		HAS(text, "170 more levels below");
		HAS(text, "122 more with less time, or deeper");
		HAS(text, "79› call79");
		HAS(text, "call200 train.py:200 › sleep\n");
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			CHECK(strncmp(line, "│", 3) || text_width(line) <= width - 1);
		free(text);
	}
	text = PAGE(page_stacks, "stacks", "-n", "call190");
	HAS(text, "│call200 train.py:200");
	CHECK(!strstr(text, "more levels"));
	free(text);
	/* callers that one stack is too deep to have are there from another one */
	for (uint32_t i = 201; i <= 600; i++) {
		apply_one(model, ev_frame(i, i - 1, 30, 40, i));
		apply_one(model, ev_doing(PID, DOING_SLEEP, i, i, i * 50 * MS, 50 * MS));
	}
	text = PAGE(page_stacks, "stacks");
	HAS(text, "call stacks of all threads, whole run: 20.1 s\n");
	free(text);
	model_free(model);
}
