/* SPDX-License-Identifier: MIT */
/*
 * Scripts: one command of the prompt per line, and commands that wait for a
 * condition or check the screen (SCRIPTS in docs/tftop.1.in).
 *
 * Always true: a script never sleeps and never spins: a wait is a condition
 * with a deadline, which the loop checks when something has happened. The first
 * error ends the run as `FILE:LINE: message`; a command that answers with an error is one.
 *
 * Threads: the loop's only.
 */
#ifndef TUI_SCRIPT_H
#define TUI_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_ERROR 125
#define SCRIPT_TIMEOUT 124
#define SCRIPT_FAILED 1

struct tui;
struct script;
struct command_call;

/* Reads the whole file. NULL: a sentence in error. */
struct script *script_open(const char *path, char *error, size_t error_size);
void script_free(struct script *script);

/* Runs lines until one waits or the script ends. */
void script_run(struct script *script, struct tui *tui);
/* All lines are done; what `quit` or an error left with is in the tui. */
bool script_done(const struct script *script);
/* When the wait that is on gives up; INT64_MAX: no wait. */
int64_t script_deadline_ns(const struct script *script);
/* Says something to standard error when the run is over: errors and screens. */
void script_report(const struct script *script);

/* A command of GROUP_SCRIPT. false: a sentence in error. */
bool script_command(struct script *script, struct tui *tui, int id,
		    const struct command_call *call, char *error, size_t error_size);

/* "WxH" within 1x1 … 1000x1000. */
bool script_parse_size(const char *text, int *width, int *height);

#endif
