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

#define INDENT 23		/* column of the text, behind verdict and word */
#define NARROWEST 20	/* the text gets at least so many columns, however narrow the terminal is */

/* Columns behind the indent. If the output is no terminal, lines are not wrapped, so that grep
 * works. */
static size_t room(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return SIZE_MAX;
	return size.ws_col > INDENT + NARROWEST ? size.ws_col - INDENT : NARROWEST;
}

/* Prints the rest of a line from column INDENT on, wrapped into as many lines as needed. */
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
	char clean[ATTACH_WHY_MAX * 3], hint[ATTACH_HINT_MAX + 4];

	printf("  %-8s%-13s", verdicts[line->verdict], line->what);
	print_wrapped(text_clean(clean, sizeof(clean), line->why), width);
	if (!line->hint[0])
		return;
	printf("%*s", INDENT, "");
	snprintf(hint, sizeof(hint), "-> %s", line->hint);
	print_wrapped(text_clean(clean, sizeof(clean), hint), width);
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
	/* static, because it is too large for a stack frame */
	static struct attach_check check;
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
