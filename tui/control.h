/* SPDX-License-Identifier: MIT */
/*
 * The control page (probes/schema/control.h) of the tftop that watches a process, from
 * outside: --control. It is found in what the process has mapped; where no probe is in use in
 * it yet, by the environment it was started with, or by the tftop that holds it.
 * Threads: main.
 */
#ifndef TUI_CONTROL_H
#define TUI_CONTROL_H

#include <sys/types.h>

#include "tui/base/options.h"

/* What a tftop has to do with a process: none was in it that can be seen, one that has gone
 * left probes in it, or one is there (or its page cannot be read). */
enum control_found { CONTROL_NONE, CONTROL_LEFT, CONTROL_WATCHED };
enum control_found control_look(pid_t pid);

/* --control PID level=LEVEL; prints what it was and is. What tftop leaves with: 0 or 125. */
int control_run(const struct options *options);

#endif
