/* SPDX-License-Identifier: MIT */
/*
 * Batch: tftop without a screen. It stays out of the way of the terminal: the signals of Ctrl-C and
 * Ctrl-\ reach only PROGRAM (while a recording is read, Ctrl-C ends tftop as SIGTERM does). When
 * PROGRAM stops, tftop stops as well, so that the shell gets control back. SIGTERM and SIGHUP are
 * passed on to PROGRAM, and tftop ends with a report of what it has collected. While tftop stays
 * for what PROGRAM left running (--join), these and Ctrl-C end that, and nobody else gets them.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tui/batch.h"
#include "tui/base/complain.h"
#include "tui/run/exports.h"
#include "tui/run/live.h"
#include "tui/base/options.h"
#include "tui/report/report.h"
#include "tui/base/signals.h"
#include "tui/run/thresholds.h"
#include "tui/filters/until.h"

#define PUMP_MS 500			/* the session's own timers wake the loop more often */
#define UNTIL_MS 50	/* while --until waits: events after the match are not wanted */
#define END_MS 2			/* while the last events arrive */
#define READ_MS 20	/* while a recording is read: each wake-up slows down the reader */
#define LEAVE_MS 500			/* time for PROGRAM to end after the signal was passed on */

/* Waits once and handles what happened. Returns the signal that asks tftop to quit, 0 if none. */
static int wait_and_pump(struct live *live, int timeout_ms)
{
	struct pollfd fds[2] = {
		{ .fd = signals_fd(), .events = POLLIN },
		{ .fd = live_fd(live), .events = POLLIN },
	};

	if (poll(fds, 2, timeout_ms) < 0 && errno != EINTR)
		return SIGTERM;
	live_pump(live);
	return signals_next();
}

static bool is_over(const struct live *live, const struct options *options)
{
	int status, signal;

	return live_phase(live) == LIVE_DONE &&
	       (!options->program || live_exited(live, &status, &signal));
}

/* Shows the progress in one line of the terminal, which is erased at the end. */
static void show_progress(const struct live *live, bool last)
{
	static int shown = -1;
	int progress = last ? -1 : live_progress(live);

	if (progress == shown || !isatty(STDERR_FILENO))
		return;
	if (progress >= 0)
		fprintf(stderr, "\rreading the recording: %d %%", progress);
	else
		fputs("\r\033[K", stderr);
	fflush(stderr);
	shown = progress;
}

static int look_ms(const struct live *live, bool waits)
{
	int progress = live_progress(live);

	if (live_phase(live) != LIVE_ENDING)
		return live_hurries(live) ? READ_MS : waits ? UNTIL_MS : PUMP_MS;
	return progress >= 0 && progress < 100 ? READ_MS : END_MS;
}

/* --until: collecting ends with the event that matches. */
static void look_until(struct live *live, struct until *until, bool *matched)
{
	char text[200], message[FILTER_TEXT_MAX + 300];
	struct span span;

	if (!until->filter || !until_look(until, &span))
		return;
	*matched = true;
	until_sentence(until, &span, text, sizeof(text));
	snprintf(message, sizeof(message), "collecting ended at %s: %s", text,
		 filter_text(until->filter));
	model_message(live_model(live), 0, message);
	session_set_level(live_session(live), TFT_LEVEL_OFF);
	live_end(live);
	until_stop(until);
}

/* Runs until PROGRAM has ended and everything is read, or a signal asks tftop to quit. */
static int batch_watch(struct live *live, const struct options *options, struct until *until,
		       bool *matched)
{
	enum live_phase before = live_phase(live);

	while (!is_over(live, options)) {
		int asked = wait_and_pump(live, look_ms(live, until->filter));

		look_until(live, until, matched);
		show_progress(live, asked);
		/* PROGRAM has ended, so that Ctrl-C is not meant for it any more. */
		if (options->stay && session_stays(live_session(live)))
			signals_take_interrupt();
		if (asked)
			return asked;
		if (live_phase(live) == LIVE_STOPPED && before != LIVE_STOPPED)
			raise(SIGTSTP);
		before = live_phase(live);
	}
	look_until(live, until, matched);
	show_progress(live, true);
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Passes the signal on and reports what was collected. */
static void batch_leave(struct live *live, const struct options *options, int asked)
{
	int64_t until_ms = now_ms() + LEAVE_MS;
	int status, signal;

	live_let_go(live);
	if (options->program)
		session_signal(live_session(live), asked);
	while (options->program && !live_exited(live, &status, &signal) && now_ms() < until_ms)
		wait_and_pump(live, 10);
	live_finish(live, true);
	if (options->program && !live_exited(live, &status, &signal))
		session_let_go(live_session(live));
}

static int write_reports(struct live *live, const struct options *options)
{
	const struct report_run *run = live_run(live);
	char error[LIVE_ERROR_MAX];
	int status = 0;

	if (options->json &&
	    report_json_file(live_model(live), run, options->json, error, sizeof(error))) {
		complain_on_stderr("%s", error);
		status = 125;
	}
	if (options->batch) {
		report_text(live_model(live), run, stderr);
		fflush(stderr);
	}
	return status;
}

static bool asked_to_stop(void)
{
	return signals_next() != 0;
}

/* Without a text report, nothing else shows these errors. */
static void print_errors(struct live *live)
{
	struct message_row *rows;
	size_t count;

	model_lock(live_model(live));
	count = model_messages(live_model(live), &rows);
	model_unlock(live_model(live));
	for (size_t i = 0; i < count; i++)
		if (rows[i].level == 2)
			complain_on_stderr("%s", rows[i].text);
	free(rows);
}

int batch_run(const struct options *options)
{
	char error[LIVE_ERROR_MAX];
	int status, failed, asked = 0, exit_status, exit_signal;
	struct until until = { .filter = NULL };
	struct filter *filter;
	bool matched = false, started;
	struct live *live;

	signals_hold();
	live = live_new(options, false, NULL, error, &status);
	if (!live) {
		complain_on_stderr("%s", error);
		return status;
	}
	thresholds_configure(live_model(live), options);
	signals_start(options->program ? SIGNALS_PROGRAM : SIGNALS_RECORDING);
	filter = options->until ? until_option(options, error, sizeof(error)) : NULL;
	if (filter)
		until_start(&until, live_model(live), filter, INT64_MIN);
	started = live_start(live);
	if (started)
		asked = batch_watch(live, options, &until, &matched);
	until_stop(&until);
	if (!started && options->n_pids) {
		complain_on_stderr("%s", live_error(live));
		live_free(live);
		return 125;
	}
	if (asked)
		batch_leave(live, options, asked);
	if (!options->batch)
		print_errors(live);
	failed = write_reports(live, options);
	if (!export_all(options, live_model(live), asked_to_stop))
		failed = 125;
	status = live_exit_status(live);
	if (asked && !options->n_pids && !live_exited(live, &exit_status, &exit_signal))
		status = 128 + asked;
	live_free(live);
	if (filter && !matched && !status)
		status = UNTIL_NEVER;
	return failed ? failed : status;
}
