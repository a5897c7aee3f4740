/* SPDX-License-Identifier: MIT */
/*
 * Which processes -p, --children and --join mean: numbers, names, what runs below them, what
 * a tftop has left running.
 *
 * A name is that of the process (/proc/PID/comm), of its command's file, or of the script or
 * module that an interpreter runs. Of the caller's processes only; root's are all.
 *
 * Always true: nothing is touched, all comes from /proc. Threads: main, before any other.
 */
#ifndef TUI_PROCESSES_H
#define TUI_PROCESSES_H

#include <stdbool.h>

#include "tui/base/options.h"

/* From options->attach, or --join, to options->pids. False: what was wrong has been said on stderr,
 * with those that a name may mean. */
bool processes_find(struct options *options);

#endif
