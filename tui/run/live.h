/* SPDX-License-Identifier: MIT */
/*
 * A run as the user sees it: session (daemons, launcher, PROGRAM), reader and model put together;
 * batch and the screen use it in the same way. Also opens a recording, which is the same without a
 * PROGRAM.
 *
 * 	live = live_new(...)		forks; no thread yet, PROGRAM is not started
 * 	live_start(live)		starts daemons, reader, then PROGRAM; 0.1 ... 0.3 s
 * 	loop: poll live_fd(); call live_pump() when it is readable and every 500 ms,
 * 	or every 20 ms while live_hurries(),
 * 	until live_phase() is LIVE_DONE, or as long as the user looks
 * 	live_free(live)			clears everything away; PROGRAM is not touched
 *
 * Always true: PROGRAM runs even if tracing is impossible (the reason is a message in the model).
 * The model is finished exactly once, when the phase becomes LIVE_DONE. If a part of this chain
 * dies, that is reported, and the screen does not freeze.
 *
 * Threads: the main thread, except for the model, which the reader's thread feeds. All results are
 * *borrowed until live_free()*.
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
	LIVE_STARTING = 0,	/* PROGRAM has not started yet */
	LIVE_RUNNING,
	LIVE_STOPPED,		/* PROGRAM was stopped (Ctrl-Z) */
	LIVE_ENDING,		/* PROGRAM has ended, and the rest is being read */
	LIVE_DONE,		/* everything has been read, and the model is finished */
};

/*
 * Forks what must be forked before any thread exists (options->program or ->pids), or opens a
 * recording (options->open_path: the reader starts at once). screen: PROGRAM's terminal becomes a
 * pty of `size`. NULL: `error` says why, and *exit_status is tftop's exit status (125, 126, 127).
 */
struct live *live_new(const struct options *options, bool screen, const struct winsize *size,
		      char error[LIVE_ERROR_MAX], int *exit_status);

/* Starts PROGRAM, traced if possible. false: it could not be started, or attached to, at all
 * (live_error() says why, live_exit_status() is tftop's exit status). If this is not called, the
 * second live_pump() does it, when the screen is visible. */
bool live_start(struct live *live);
const char *live_error(const struct live *live);

/* To be polled for reading; -1: there is nothing to poll (a recording), call live_pump() every 100
 * ms. */
int live_fd(const struct live *live);

/* Handles everything that has happened, without waiting. */
void live_pump(struct live *live);

/* Whether the streams of another user's processes are being attached to: such a process must be
 * asked for its definitions before it ends. */
bool live_hurries(const struct live *live);

/* Sets the function that receives what PROGRAM writes to its pty, during live_pump(). */
void live_on_output(struct live *live, void (*take)(void *arg, const void *data, size_t size),
		    void *arg);

/* Whether a file of another profiler is shown, so that there is no folder. */
bool live_is_import(const struct live *live);

/* How much of a recording has been read, in per cent; -1: none is being read. */
int live_progress(const struct live *live);

/* What is shown came from a damaged cache: leave, live_free(), live_new(). */
bool live_must_reopen(const struct live *live);

enum live_phase live_phase(const struct live *live);
/* What PROGRAM does now and what tftop waits for, as a sentence for the screen while there is
 * nothing to show: "starting: python, no framework loaded yet". Takes the model's lock. */
const char *live_waiting_for(struct live *live, char *text, size_t size);

struct model *live_model(struct live *live);
/* The session, for keys, resizing, the level, detaching; NULL for a recording. */
struct session *live_session(struct live *live);
const struct report_run *live_run(struct live *live);
/* What tftop.json would say if it were written now; borrowed as above. */
struct recording;
void live_recording(const struct live *live, struct recording *out);

/* Whether PROGRAM has exited, and how; false while it runs. */
bool live_exited(const struct live *live, int *status, int *signal);
/* tftop's exit status: PROGRAM's own, 128 + signal, 125, 126, 127. */
int live_exit_status(const struct live *live);

/* Ends collecting early (the window is over): stops tracing; live_pump() reads the rest and
 * finishes the model. PROGRAM continues. */
void live_end(struct live *live);
/* The same, but waits for it (tftop is about to exit): at most 4 s. partial: the data may be
 * incomplete. */
void live_finish(struct live *live, bool partial);

/* Detaches from a program that ran already (-p): the probes write what is complete and are switched
 * off, the program continues, and everything that arrived is read; up to 4 s. For other programs
 * does nothing. */
void live_let_go(struct live *live);

/* Leaves a program that tftop started: it runs on. So does what it left running, if tftop stays for
 * that: then its exit status is known afterwards. */
void live_leave(struct live *live);

/* The name of PROGRAM's file, without its folder. */
const char *live_program_name(const struct live *live);

/* If a recording's reader does not end in time, what it feeds is kept: see reader_left_behind(). */
void live_free(struct live *live);

#endif
