/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes that -p, --children and --join mean: by number, by name, those below them,
 * and those that a tftop has left running.
 *
 * A name is that of the process (/proc/PID/comm), of its command's file, or of the script or module
 * that an interpreter runs. Only the caller's processes count; for root all do.
 *
 * Always true: nothing is changed; everything comes from /proc. Threads: main, before any other.
 */
#ifndef TUI_PROCESSES_H
#define TUI_PROCESSES_H

#include <stdbool.h>

#include "tui/base/options.h"

/* Fills options->pids from options->attach, or for --join. false: the error was printed on stderr,
 * with the processes that a name may mean. */
bool processes_find(struct options *options);

#endif
