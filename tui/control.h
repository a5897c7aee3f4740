/* SPDX-License-Identifier: MIT */
/*
 * The control page (probes/schema/control.h) of the tftop that watches a process, accessed from
 * outside: --control. It is found through what the process has mapped; if no probe is in use in the
 * process yet, through the environment that it was started with, or through the tftop that holds
 * the page.
 * Threads: main.
 */
#ifndef TUI_CONTROL_H
#define TUI_CONTROL_H

#include <sys/types.h>

#include "tui/base/options.h"

/* Which tftop a process has: none that is visible, one that has ended and left probes, or one that
 * is alive (or whose page cannot be read). */
enum control_found { CONTROL_NONE, CONTROL_LEFT, CONTROL_WATCHED };
enum control_found control_look(pid_t pid);

/* Carries out --control PID level=LEVEL, and prints the old and the new level. Returns tftop's exit
 * status: 0 or 125. */
int control_run(const struct options *options);

#endif
