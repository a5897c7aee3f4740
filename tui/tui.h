/* SPDX-License-Identifier: MIT */
/*
 * The program with a screen (or headless, the same without a terminal).
 */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include "model/query.h"

struct live;
struct options;

/* Runs the loop until the user leaves; live may be NULL (a recording). Returns
 * tftop's exit status by interface.md section 1 and 4. Main thread. */
int tui_run(const struct options *options, struct model *model, struct live *live);

/* Keys, commands and options as text, for --help, man page and completion. */
void tui_print_keys(void);
void tui_print_commands(void);

#endif
