/* SPDX-License-Identifier: MIT */
/*
 * The program with a screen (or headless, the same without a terminal).
 */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include "model/query/query.h"

struct live;
struct options;

/* the recording's cache was damaged, and the recording must be opened again */
#define TUI_REOPEN (-1)

/* Starts the run (live_start()), then loops until the user leaves; live may be NULL
 * (options->synth). Returns tftop's exit status (EXIT STATUS in docs/tftop.1.in), or TUI_REOPEN.
 * Main thread. */
int tui_run(const struct options *options, struct model *model, struct live *live);

/* For the man page and completion, one per line, fields separated by tabs: TABLE KEYS COMMAND; NAME
 * ALIAS GROUP ARGUMENTS KEYS HELP; NAME DEFAULT CHOICES HELP; for the fields of filters NAME TYPE
 * HELP. */
void tui_print_keys(void);
void tui_print_commands(void);
void tui_print_settings(void);
void tui_print_filters(void);

#endif
