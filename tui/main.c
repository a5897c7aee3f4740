/* SPDX-License-Identifier: MIT */
/*
 * tftop: a live profiler in the terminal. The command line decides between a report without a
 * screen (batch.c) and the screen (loop.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "probes/session/decode/guard.h"
#include "probes/session/live/reader.h"
#include "tui/batch.h"
#include "tui/base/atomic_file.h"
#include "tui/check.h"
#include "tui/base/complain.h"
#include "tui/control.h"
#include "tui/run/exports.h"
#include "tui/run/live.h"
#include "tui/base/log.h"
#include "tui/options.h"
#include "tui/processes.h"
#include "tui/base/signals.h"
#include "tui/tui.h"
#include "tui/filters/until.h"

/* Reads the terminal's size; returns false if there is no terminal. */
static bool terminal_size(struct winsize *size)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	bool good = fd >= 0 && ioctl(fd, TIOCGWINSZ, size) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

static void headless_size(const struct options *options, struct winsize *size)
{
	size->ws_col = options->columns ? (unsigned short)options->columns : 120;
	size->ws_row = options->rows ? (unsigned short)options->rows : 34;
}

static int screen_run(const struct options *options)
{
	char error[LIVE_ERROR_MAX];
	struct winsize size = { 0 };
	struct live *live;
	int status;

	if (options->headless) {
		headless_size(options, &size);
	} else if (!terminal_size(&size)) {
		complain_on_stderr("no terminal for the screen: use -b, --json=FILE or "
				   "--headless");
		return 125;
	}
	do {
		signals_hold();
		live = live_new(options, true, &size, error, &status);
		if (!live) {
			complain_on_stderr("%s", error);
			return status;
		}
		status = tui_run(options, live_model(live), live);
		live_free(live);
	} while (status == TUI_REOPEN);
	return status;
}

/* Shows a synthetic program on the screen; nothing is started. */
static int synth_run(const struct options *options)
{
	struct model_options limits = { .memory_limit = options->memory_limit_bytes };
	struct model *model = model_new(&limits);
	int status = tui_run(options, model, NULL);

	model_free(model);
	return status;
}

/* Errors that can be known in advance are reported now, not after PROGRAM has run for hours. */
static bool files_are_good(const struct options *options)
{
	struct filter *until = NULL;
	char error[OPTIONS_ERROR_MAX];

	if (options->config && access(options->config, R_OK)) {
		complain_on_stderr("cannot read the configuration '%s': %s", options->config,
				   strerror(errno));
		return false;
	}
	if (options->json && strcmp(options->json, "-") &&
	    atomic_file_check(options->json, error, sizeof(error))) {
		complain_on_stderr("%s", error);
		return false;
	}
	for (size_t i = 0; i < options->n_exports; i++)
		if (atomic_file_check(options->exports[i].path, error, sizeof(error))) {
			complain_on_stderr("%s", error);
			return false;
		}
	if (options->until) {
		until = until_option(options, error, sizeof(error));
		if (!until)
			complain_on_stderr("%s", error);
		filter_free(until);
	}
	return !options->until || until;
}

/* A thread that does not end may hold a lock that exit() waits for. */
static int leave(int status)
{
	if (!reader_left_behind())
		return status;
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}

int main(int argc, char **argv)
{
	char error[OPTIONS_ERROR_MAX];
	struct options options;
	int status;

	session_main_hook(argc, argv);
	guard_install();
	/* writing beyond the file size limit must return an error, not kill tftop */
	signal(SIGXFSZ, SIG_IGN);
	setlocale(LC_CTYPE, "");
	switch (options_parse(&options, argc, argv, error)) {
	case OPTIONS_DONE:
		return fflush(stdout) ? 125 : 0;
	case OPTIONS_ERROR:
		complain_on_stderr("%s", error);
		return 125;
	case OPTIONS_RUN:
		break;
	}
	if (options.control)
		return control_run(&options);
	if (!processes_find(&options))
		return 125;
	if (options.check)
		return check_run(&options);
	if (!files_are_good(&options))
		return 125;
	if ((options.debug || options.verbose) && !log_open(options.debug)) {
		complain_on_stderr("cannot write the log '%s': %s", options.debug, strerror(errno));
		return 125;
	}
	if (options.synth)
		return synth_run(&options);
	if (export_direct(&options, &status))
		return status;
	return leave(options_batch(&options) ? batch_run(&options) : screen_run(&options));
}
