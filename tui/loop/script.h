/* SPDX-License-Identifier: MIT */
/*
 * Scripts: one command of the prompt per line, and commands that wait for a condition or check the
 * screen (SCRIPTS in docs/tftop.1.in).
 *
 * Always true: a script never sleeps and never spins: waiting means a condition with a deadline,
 * which the loop checks when something has happened. The first error ends the run as `FILE:LINE:
 * message`; a command that answers with an error is one, too.
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

/* Reads the whole file. NULL: `error` is a sentence. */
struct script *script_open(const char *path, char *error, size_t error_size);
void script_free(struct script *script);

/* Runs lines until one of them waits or the script ends. */
void script_run(struct script *script, struct tui *tui);
/* Whether all lines are done; the exit status of `quit` or of an error is in the tui. */
bool script_done(const struct script *script);
/* When the current wait gives up; INT64_MAX: there is no wait. */
int64_t script_deadline_ns(const struct script *script);
/* Writes errors and screens to standard error after the run. */
void script_report(const struct script *script);

/* Runs a command of GROUP_SCRIPT. false: `error` is a sentence. */
bool script_command(struct script *script, struct tui *tui, int id,
		    const struct command_call *call, char *error, size_t error_size);

/* Parses "WxH" within 1x1 ... 1000x1000. */
bool script_parse_size(const char *text, int *width, int *height);

#endif
