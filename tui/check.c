/* SPDX-License-Identifier: MIT */
#include "tui/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "probes/attach/preflight.h"
#include "probes/session/lttng/machine.h"
#include "probes/session/program/environ.h"
#include "probes/process/process.h"
#include "tui/base/options.h"
#include "tui/base/text.h"

#define INDENT 23		/* of what is said, behind verdict and word */
#define NARROWEST 20		/* columns for it, however narrow the terminal */

/* Columns behind the indent; on no terminal lines are whole, for grep. */
static size_t room(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return SIZE_MAX;
	return size.ws_col > INDENT + NARROWEST ? size.ws_col - INDENT : NARROWEST;
}

/* The rest of a line from column INDENT on, in as many lines as it needs. */
static void print_wrapped(const char *text, size_t width)
{
	while (strlen(text) > width) {
		size_t length = width;

		while (length && text[length] != ' ')
			length--;
		if (!length)
			length = width;
		printf("%.*s\n%*s", (int)length, text, INDENT, "");
		text += length + strspn(text + length, " ");
	}
	puts(text);
}

static void print_line(const struct attach_line *line, size_t width)
{
	static const char *const verdicts[] = { "can", "partly", "cannot", "none" };
	char clean[ATTACH_WHY_MAX * 3], todo[ATTACH_TODO_MAX + 4];

	printf("  %-8s%-13s", verdicts[line->verdict], line->what);
	print_wrapped(text_clean(clean, sizeof(clean), line->why), width);
	if (!line->todo[0])
		return;
	printf("%*s", INDENT, "");
	snprintf(todo, sizeof(todo), "-> %s", line->todo);
	print_wrapped(text_clean(clean, sizeof(clean), todo), width);
}

static void print_check(const struct attach_check *check)
{
	char clean[sizeof(check->error)];
	size_t width = room();
	bool probes = false;

	if (check->pid)
		printf("process %d: %s\n", (int)check->pid,
		       text_clean(clean, sizeof(clean), check->command[0] ? check->command : "-"));
	else
		puts("this machine");
	putchar('\n');
	for (size_t i = 0; i < check->count; i++) {
		if (check->lines[i].probe && !probes)
			putchar('\n');
		probes |= check->lines[i].probe;
		print_line(&check->lines[i], width);
	}
	putchar('\n');
	text_clean(clean, sizeof(clean), check->error);
	if (check->pid)
		printf("%d %s be attached to%s%s\n", (int)check->pid,
		       check->possible ? "can" : "cannot", clean[0] ? ": " : "", clean);
	else
		printf("programs %s be observed here%s%s\n", check->possible ? "can" : "cannot",
		       clean[0] ? ": " : "", clean);
}

int check_run(const struct options *options)
{
	struct environ_choice choice = { .lib_dir = "" };
	static struct attach_check check;	/* too large for a stack frame */
	char folder[PATH_MAX], error[256];
	bool possible = true;

	process_own_folder(folder, sizeof(folder));
	environ_choose(&choice, NULL, folder, error, sizeof(error));
	if (!options->n_pids) {
		machine_check(&check, choice.lib_dir);
		print_check(&check);
		possible = check.possible;
	}
	for (size_t i = 0; i < options->n_pids; i++) {
		attach_check_process(&check, options->pids[i], choice.lib_dir);
		if (i)
			putchar('\n');
		print_check(&check);
		possible &= check.possible;
	}
	return fflush(stdout) || !possible ? 125 : 0;
}
