/* SPDX-License-Identifier: MIT */
/*
 * Which processes -p and --children mean: numbers, names, and what runs below them.
 *
 * A name is that of the process (/proc/PID/comm), of its command's file, or of the script or
 * module that an interpreter runs. Of the caller's processes only; root's are all.
 *
 * Always true: nothing is touched, all comes from /proc. Threads: main, before any other.
 */
#ifndef TUI_PROCESSES_H
#define TUI_PROCESSES_H

#include <stdbool.h>

#include "tui/options.h"

/* From options->attach to options->pids. False: what was wrong has been said on stderr,
 * with those that a name may mean. */
bool processes_find(struct options *options);

#endif
