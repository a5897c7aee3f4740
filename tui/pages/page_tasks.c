/* SPDX-License-Identifier: MIT */
/* help tasks: questions that users have, each with the command that answers it. */
#include <string.h>

#include "keymap/words.h"
#include "tui/draw/page_call.h"

#define QUESTION_COLUMNS 58
#define COMMANDS_MOST 3

/* tests/questions.py asks the same questions, word for word, and compares the answers with the
 * report. A command that ends in a blank goes to the prompt, because a name has to be typed.
 * Without a command, the answer is always on the screen. */
static const struct task {
	const char *question, *commands[COMMANDS_MOST];
} tasks[] = {
	{"which op costs most device time", {"pane ops", "lp"}},
	{"where its kernels are on the timeline", {"le -k kernel", "le -k kernel -p "}},
	{"why the device was idle before the longest one", {"le -k kernel -l 1", "gaps run"}},
	{"which step was slowest, what differed from the median one",
	 {"step slowest", "diff slowest median", "goto step slowest"}},
	{"what feeds op X and who waited for whom", {"li ", "lo ", "flows"}},
	{"which source line costs most", {"lp -s self", "ls", "ps "}},
	{"which copies are pageable", {"lc -a pageable"}},
	{"how bandwidth compares with the best seen", {"lc", "pane copies"}},
	{"what grew in memory", {"pane memory", "allocator"}},
	{"what tftop itself costs", {NULL}},
	{"steps, samples, time to go", {"set steps-total = ", "set samples-per-step = "}},
	{"who synchronises with the device", {"waits"}},
	{"at which line the device waits for the host", {"pane host"}},
	{"who called that line, and what it waited for there", {"stacks"}},
	{"what the host did on the critical path of the slowest step",
	 {"step slowest", "pane steps"}},
	{"is this warm-up or steady", {"pane steps"}},
	{"what the program printed last", {"pane output"}},
};

static void page_tasks_add_command(struct page *page, const char *command)
{
	size_t length = strlen(command);
	const char *argv[9] = {"prompt"};
	struct words words;
	char error[80];
	bool typed = command[length - 1] == ' ';

	if (!words_split(&words, command, error, sizeof(error)))
		return;
	for (int i = 0; i < words.argc && i < 8; i++)
		argv[i + typed] = words.argv[i];
	page_add(page, ROLE_DEFAULT, 0, "  ");
	page_link(page, command, words.argc + typed, argv);
	if (typed)
		page_add(page, ROLE_MUTED, 0, "…");
	words_release(&words);
}

bool page_tasks(const struct page_call *call, struct page *page)
{
	(void)call;
	page_say(page, ROLE_COLUMN, 0, "I want to know …");
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		page_add(page, ROLE_DEFAULT, 0, " ");
		page_cell(page, ROLE_DEFAULT, -QUESTION_COLUMNS, tasks[i].question);
		for (int k = 0; k < COMMANDS_MOST && tasks[i].commands[k]; k++)
			page_tasks_add_command(page, tasks[i].commands[k]);
		if (!tasks[i].commands[0])
			page_add(page, ROLE_MUTED, 0, "  the first line of the screen");
		page_end(page);
	}
	page_say(page, ROLE_MUTED, 0, "Enter runs it, h and l choose among several; … waits for a "
		 "name, which Tab completes");
	return true;
}
