/* SPDX-License-Identifier: MIT */
/*
 * A run as the user sees it: session (daemons, launcher, PROGRAM), reader and
 * model put together; used by batch and by the screen in the same way. Also
 * opens a recording, which is the same without a PROGRAM.
 *
 *	live = live_new(...)		forks; no thread yet, PROGRAM not started
 *	live_start(live)		daemons, reader, then PROGRAM; 0.1 ... 0.3 s
 *	loop: poll live_fd(); live_pump() when it is readable and each 500 ms,
 *	each 20 ms while live_hurries()
 *	until live_phase() is LIVE_DONE, or as long as the user looks
 *	live_free(live)			clears everything away; PROGRAM is not touched
 *
 * Always true: PROGRAM runs even when tracing cannot (the reason is a message
 * in the model); the model is finished exactly once, when the phase becomes
 * LIVE_DONE; a dead path is told, never a frozen screen.
 *
 * Threads: the main thread, except for the model, which the reader's thread
 * feeds. Everything that is given out is *borrowed until live_free()*.
 */
#ifndef TUI_LIVE_H
#define TUI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "model/query/query.h"
#include "probes/session/session.h"
#include "tui/base/options.h"
#include "tui/report/report.h"

struct live;

#define LIVE_ERROR_MAX 512

enum live_phase {
	LIVE_STARTING = 0,	/* PROGRAM not started yet */
	LIVE_RUNNING,
	LIVE_STOPPED,		/* PROGRAM was stopped (Ctrl-Z) */
	LIVE_ENDING,		/* PROGRAM ended, the rest is being read */
	LIVE_DONE,		/* all is read: the model is finished */
};

/*
 * Forks what must be forked before any thread (options->program or ->pid), or opens a
 * recording (options->open_path: the reader runs at once). screen: PROGRAM's
 * terminal becomes a pty of `size`. NULL: error says why and *exit_status is
 * what tftop should leave with (125, 126, 127).
 */
struct live *live_new(const struct options *options, bool screen, const struct winsize *size,
		      char error[LIVE_ERROR_MAX], int *exit_status);

/* Starts PROGRAM, traced when that is possible; false: it could not be
 * started, or attached to, at all (live_error() says why, live_exit_status() what to
 * leave with). When it is not called, the second live_pump() does it: the screen is
 * up by then. */
bool live_start(struct live *live);
const char *live_error(const struct live *live);

/* Poll it for reading; -1: nothing to poll (a recording), pump each 100 ms. */
int live_fd(const struct live *live);

/* Takes in all that has happened, without waiting. */
void live_pump(struct live *live);

/* The streams of a user who came are being attached to: a process of his has to
 * be asked for its definitions before it ends. */
bool live_hurries(const struct live *live);

/* What PROGRAM wrote to its pty, as it comes, during live_pump(). */
void live_on_output(struct live *live, void (*take)(void *arg, const void *data, size_t size),
		    void *arg);

/* What is shown is a file of another profiler: there is no folder. */
bool live_is_import(const struct live *live);

/* How much of a recording has been read, in per cent; -1: none is being read. */
int live_progress(const struct live *live);

/* What is shown came from a damaged cache: leave, live_free(), live_new(). */
bool live_must_reopen(const struct live *live);

enum live_phase live_phase(const struct live *live);
/* What PROGRAM does now and what is waited for, in one sentence for the screen
 * while nothing can be shown: "starting: python, no framework loaded yet".
 * Takes the model's lock. */
const char *live_waiting_for(struct live *live, char *text, size_t size);

struct model *live_model(struct live *live);
/* Keys, resizing, level, letting go; NULL for a recording. */
struct session *live_session(struct live *live);
const struct report_run *live_run(struct live *live);
/* What tftop.json would say if it were written now; strings as above. */
struct recording;
void live_recording(const struct live *live, struct recording *out);

/* PROGRAM has exited and how; false while it runs. */
bool live_exited(const struct live *live, int *status, int *signal);
/* What tftop leaves with: PROGRAM's own, 128 + signal, 125, 126, 127. */
int live_exit_status(const struct live *live);

/* Ends collection early (window reached): stops tracing; live_pump() reads the
 * rest and finishes the model. PROGRAM runs on. */
void live_end(struct live *live);
/* The same, waiting for it (tftop is asked to leave): at most 4 s. partial:
 * what is there is not all there could have been. */
void live_finish(struct live *live, bool partial);

/* Of a program that ran already (-p): the probes write what is complete and are switched
 * off, it runs on, and all that came is read; up to 4 s. Others: nothing. */
void live_let_go(struct live *live);

/* The file that PROGRAM is, without its folder. */
const char *live_program_name(const struct live *live);

/* A recording's reader that does not come back in time keeps what it feeds: see
 * reader_left_behind(). */
void live_free(struct live *live);

#endif
