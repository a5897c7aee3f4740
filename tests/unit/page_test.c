/* SPDX-License-Identifier: MIT */
/* Pages about graphs, as text: what `COMMAND > FILE` writes. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/util.h"
#include "tests/unit/command_call.h"
#include "tests/unit/model_events.h"
#include "tests/unit/page_text.h"
#include "tui/draw/text_find.h"
#include "tui/panes/pane_page.h"

#define NAME0 200u

static void add_node(struct model *model, uint32_t i, const char *name, const char *type,
		     const char *inputs, uint32_t line)
{
	struct event event = { .type = EVENT_NODE, .pid = PID, .time_ns = BASE };
	struct event op;

	apply_one(model, ev_name(NAME0 + i, NAME_NODE, name));
	apply_one(model, ev_name(NAME0 + 50 + i, NAME_OP_TYPE, type));
	event.u.node = (struct event_node) {
		.id = i + 1, .graph = 190, .name = NAME0 + i, .op_type = NAME0 + 50 + i,
		.file = line ? 191 : 0, .line = line, .inputs = inputs, .attributes = "T=float32\n",
	};
	apply_one(model, event);
	op = ev_op(NAME0 + i, i + 1, 0, 1000 * (int64_t)i, 960, 0);
	op.u.op.framework = FW_TENSORFLOW;
	op.u.op.op_type = NAME0 + 50 + i;
	op.u.op.step = 7;
	apply_one(model, op);
}

/* x -> mul -> add -> mul again (a loop); add has a control edge from x. */
static struct model *model_of_four(const char *file)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(190, NAME_NODE, "__inference_step_1"));
	apply_one(model, ev_name(191, NAME_SOURCE, file));
	add_node(model, 0, "x", "_Arg", "", 0);
	add_node(model, 1, "mul", "Mul", "x add:1 outside:2", 2);
	add_node(model, 2, "add", "AddV2", "mul ^x", 2);
	add_node(model, 3, "out", "_Retval", "add", 0);
	model_finish(model, false);
	return model;
}

TEST(page_trees)
{
	struct model *model = model_of_four("/nowhere/train.py");
	char error[PAGE_ERROR], *text;

	text = PAGE(page_inputs, "li", "out", "-r", "-t");
	CHECK_STR(text, "inputs of out  (depth 20, control edges left out)  960 ns ×1\n"
		  "|- (1) [AddV2] add  960 ns ×1  waited for: 40 ns, p99 40 ns\n"
		  "   |- (2) [Mul] mul  960 ns ×1  waited for: 40 ns, p99 40 ns\n"
		  "      |- (3) [_Arg] x  960 ns ×1  waited for: 40 ns, p99 40 ns\n"
		  "      |- (3) [AddV2] add:1  960 ns ×1  (above)\n"
		  "      |- (3) outside\n"
		  "\n(n) depth   [Op] type   mean ×times it ran   "
		  "waited for: from the end of this input to the start, median\n");
	free(text);
	text = PAGE(page_outputs, "lo", "x", "-c", "-d", "2");
	CHECK_STR(text, "recipients of x  (depth 2, control edges included)  960 ns ×1\n"
		  "|- (1) mul  960 ns ×1  waited for: 40 ns, p99 40 ns\n"
		  "|  |- (2) add  960 ns ×1  waited for: 40 ns, p99 40 ns\n"
		  "|     |- ...\n"
		  "|- (1) (Ctrl) add  960 ns ×1  (above)\n"
		  "\n(n) depth   (Ctrl) control edge   mean ×times it ran   "
		  "waited for: from the end of this input to the start, median\n");
	free(text);
	CHECK(!PAGE(page_inputs, "li", "out", "-d", "0"));
	CHECK_STR(error, "not a depth from 1 to 60: '0'");
	CHECK(!PAGE(page_inputs, "li", "out", "-x"));
	CHECK_STR(error, "there is no flag '-x' of li");
	CHECK(!PAGE(page_inputs, "li", "out", "-d"));
	CHECK_STR(error, "'-d' needs a value");
	CHECK(!PAGE(page_inputs, "li", "out", "add"));
	CHECK_STR(error, "'li' takes one name, not also 'add'");
	model_free(model);
}

TEST(page_of_a_node)
{
	struct model *model = model_of_four("/nowhere/train.py");
	char error[PAGE_ERROR], *text = PAGE(page_node, "ni", "mul", "-a", "-t");

	CHECK_STR(text, "mul   all its runs\nop       Mul\ndevice   not placed\n"
		  "graph    __inference_step_1   process 4121\n"
		  "ran      1 time   total 960 ns   mean 960 ns   joined exactly\n"
		  "waited   p50 40 ns   p99 40 ns after its last input, mostly x\n\n"
		  "3 input(s) + 0 control input(s):\n"
		  "  [_Arg] x  960 ns ×1\n  [AddV2] add  960 ns ×1\n  outside\n\n"
		  "1 recipient(s) + 0 control recipient(s):\n  [AddV2] add  960 ns ×1\n\n"
		  "attributes:\n  T: float32\n\n"
		  "made at:\n  /nowhere/train.py:2  in ?\n");
	free(text);
	model_free(model);
}

/* The text of the line that the page begins with. */
static char *first_seen(struct model *model, const char *file, const char *flag, const char *value)
{
	const char *const argv[] = {"ps", file, flag, value};
	char error[PAGE_ERROR] = "", *text = NULL;
	struct page_call call = {
		.model = model, .argc = flag ? 4 : 2, .argv = argv, .error = error,
		.error_size = sizeof(error),
	};
	struct page page;

	page_init(&page);
	if (page_source(&call, &page)) {
		struct strbuf line;

		strbuf_init(&line);
		for (size_t i = page.lines[page.show].first; i < page_line_end(&page, page.show);
		     i++)
			strbuf_adds(&line, page_text(&page, page.parts[i].text));
		strbuf_addf(&line, " +%zu", page.above);
		text = strbuf_detach(&line);
	} else {
		text = xstrdup(error);
	}
	page_release(&page);
	return text;
}

/* At the line that costs most, or that which was asked for. */
TEST(page_of_a_source_begins_where_it_costs)
{
	char path[PATH_MAX], wanted[PATH_MAX + 8], *text;
	struct model *model;
	FILE *file;

	snprintf(path, sizeof(path), "%s/train.py", test_folder());
	file = fopen(path, "w");
	CHECK(file && fputs("a = 1\n\tb = a\nc = 2\n", file) >= 0 && fclose(file) == 0);
	model = model_of_four(path);
	text = first_seen(model, path, NULL, NULL);
	CHECK(strstr(text, "L2            b = a +6"));
	free(text);
	snprintf(wanted, sizeof(wanted), "%s:3", path);
	text = first_seen(model, wanted, NULL, NULL);
	CHECK(strstr(text, "L3    c = 2 +0"));
	free(text);
	text = first_seen(model, "train.py:1", NULL, NULL);
	CHECK(strstr(text, "L1    a = 1 +0"));
	free(text);
	text = first_seen(model, "train.py", "-b", "3");
	CHECK(strstr(text, "L3    c = 2 +0"));
	free(text);
	text = first_seen(model, "train.py:1", "-b", "3");
	CHECK_STR(text, "give the first line once, with -b 3 or as in 'train.py:1'");
	free(text);
	text = first_seen(model, "train.py:0", NULL, NULL);
	CHECK_STR(text, "FILE:LINE wants a line from 1 to 100000, not '0'");
	free(text);
	unlink(path);
	model_free(model);
}

/* No probe reported the lines of an op: a file is shown by its path. */
TEST(page_of_a_source_without_ops)
{
	char path[PATH_MAX], error[PAGE_ERROR], *text;
	struct model *model = model_with_device();
	FILE *file;

	snprintf(path, sizeof(path), "%s/loader.py", test_folder());
	file = fopen(path, "w");
	CHECK(file && fputs("def load():\n", file) >= 0 && fclose(file) == 0);
	text = PAGE(page_source, "ps", path, "-b", "1");
	CHECK(text && strstr(text, "L1    def load():"));
	free(text);
	CHECK(!PAGE(page_source, "ps", "loader.py"));
	CHECK_STR(error, "no probe reported source lines");
	unlink(path);
	model_free(model);
}

TEST(page_of_a_source)
{
	char path[PATH_MAX], error[PAGE_ERROR], *text;
	struct model *model;
	FILE *file;

	snprintf(path, sizeof(path), "%s/train.py", test_folder());
	file = fopen(path, "w");
	CHECK(file && fputs("a = 1\n\tb = a\nc = 2\n", file) >= 0 && fclose(file) == 0);
	model = model_of_four(path);
	text = PAGE(page_source, "ps", path, "-b", "2");
	CHECK(text && strstr(text, "L1    a = 1\n"));
	CHECK(text && strstr(text, "[||||||||||]  3.84 µs         4(4)  L2            b = a\n"));
	CHECK(text && strstr(text, "[Mul] mul  960 ns ×1\n") &&
	      strstr(text, "[AddV2] add  960 ns ×1\n"));
	free(text);
	unlink(path);
	text = PAGE(page_source, "ps", path);
	CHECK(text && strstr(text, "the file cannot be read (No such file or directory)"));
	CHECK(text && strstr(text, "4(4)  L2    \n"));
	free(text);
	text = PAGE(page_sources, "ls", "-n", "^mul$");
	CHECK(text && strstr(text, "    1      1    1      1  960 ns  960 ns"));
	free(text);
	text = PAGE(page_source, "ps", path, "-c", "self", "-n", "nothing");
	CHECK(text && strstr(text, "\n self ") && !strstr(text, "[Mul] mul"));
	free(text);
	CHECK(!PAGE(page_source, "ps", path, "-c", "cost"));
	CHECK_STR(error, "-c wants one of time self device backward, not 'cost'");
	CHECK(!PAGE(page_source, "ps", path, "-b", "0"));
	CHECK_STR(error, "-b wants a line from 1 to 100000, not '0'");
	CHECK(!PAGE(page_source, "ps"));
	CHECK_STR(error, "usage: ps FILE[:LINE] [-b LINE] [-c COST] [-n OP]; ls lists files");
	text = PAGE(page_sources, "ls", "-u", "-e", ">1s", "-s", "lines");
	CHECK(text && !strncmp(text, "0 of 1 file   time >1s   without libraries   by lines", 53));
	free(text);
	CHECK(!PAGE(page_sources, "ls", "-p", "("));
	CHECK(!strncmp(error, "-p: not a regular expression: '('", 33));
	CHECK(!PAGE(page_source, "ps", "other.py"));
	CHECK_STR(error, "nothing that ran comes from 'other.py'; ls lists files");
	CHECK(!PAGE(page_source, "ps", "/nowhere/other.py"));
	CHECK_STR(error, "no op was called in '/nowhere/other.py', and the file cannot be read: "
		  "No such file or directory");
	/* a caller's file, in which no op was called */
	snprintf(path, sizeof(path), "%s/caller.py", test_folder());
	file = fopen(path, "w");
	CHECK(file && fputs("def step():\n", file) >= 0 && fclose(file) == 0);
	text = PAGE(page_source, "ps", path, "-b", "1");
	CHECK(text && strstr(text, "no op was called in this file"));
	CHECK(text && strstr(text, "  L1    def step():\n"));
	free(text);
	unlink(path);
	model_free(model);
}

/* Each page is left where it was; a new one after going back takes what came on. */
TEST(page_history)
{
	struct command_call call;
	struct view view = { .model = NULL };
	struct pane *pane = pane_page.open(&view);
	static const char *const down[] = { "row-down", "3" };
	struct page page;

	for (int i = 0; i < 3; i++) {
		char command[24];

		page_init(&page);
		for (int line = 0; line < 9; line++)
			page_say(&page, ROLE_DEFAULT, 0, "%d", line);
		snprintf(command, sizeof(command), "ni %d", i);
		pane_page_take(pane, &page, command, i ? NULL : "ops");
		page_release(&page);
	}
	call = call_of(2, down);
	pane_page.command(pane, &view, &call);
	CHECK_STR(pane_page_go(pane, -1), "ni 1");
	CHECK_STR(pane_page_go(pane, -1), "ni 0");
	CHECK(!pane_page_go(pane, -1));
	CHECK_STR(pane_page_go(pane, 1), "ni 1");
	page_init(&page);
	pane_page_take(pane, &page, "ni 9", NULL);
	page_release(&page);
	CHECK(!pane_page_go(pane, 1));
	CHECK_STR(pane_page_go(pane, -1), "ni 1");
	pane_page.close(pane);
}

/* After h or l, the link keeps its column from line to line. */
TEST(page_link_keeps_its_column)
{
	static const char *const lines[][3] = {
		{ "a", "b", "cccccccc" }, { NULL }, { "aaaaaaaa", "b", NULL }, { "a", "bb", "c" },
	};
	const char *const down[] = { "row-down", "2" }, *const next[] = { "next-link" };
	const char *const open[] = { "open" };
	struct view view = { .ascii = true };
	struct pane *pane = pane_page.open(&view);
	struct command_call call = call_of(1, next);
	struct text_find find = { .shown = false };
	char error[PAGE_ERROR];
	struct page page;
	int width;

	page_init(&page);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		for (int k = 0; k < 3 && lines[i][k]; k++)
			page_link(&page, lines[i][k], 1, &lines[i][k]);
		page_end(&page);
	}
	CHECK_INT(page_link_begin(&page, 0, 2, &width), 2);
	CHECK_INT(width, 8);
	CHECK_INT(page_link_near(&page, 2, 2), 0);
	CHECK_INT(page_link_near(&page, 2, 8), 1);
	CHECK_INT(page_link_near(&page, 2, 80), 1);
	CHECK_INT(page_link_near(&page, 3, 2), 1);
	pane_page_take(pane, &page, "ni", NULL);
	page_release(&page);
	for (int i = 0; i < 2; i++)
		pane_page.command(pane, &view, &call);
	call = call_of(2, down);
	pane_page.command(pane, &view, &call);
	call = call_of(1, open);
	CHECK_INT(pane_page.command(pane, &view, &call), OUT_RUN_COMMAND);
	CHECK_STR(view.run_command, "aaaaaaaa");
	/* a search selects the link that it found */
	CHECK(text_find_set(&find, "^c", error, sizeof(error)));
	pane_page.go(pane, &view, 3, &find);
	pane_page.command(pane, &view, &call);
	CHECK_STR(view.run_command, "c");
	CHECK(text_find_set(&find, "abb", error, sizeof(error)));
	pane_page.go(pane, &view, 3, &find);
	pane_page.command(pane, &view, &call);
	CHECK_STR(view.run_command, "a");
	text_find_release(&find);
	pane_page.close(pane);
}
