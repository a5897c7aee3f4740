/* SPDX-License-Identifier: MIT */
/*
 * --check: prints what can be observed here, or in a process that runs, what
 * cannot, why, and what to do. Returns what tftop leaves with: 0 it can, 125 it
 * cannot. Main thread, no thread before (a child tries the network namespace).
 */
#ifndef TUI_CHECK_H
#define TUI_CHECK_H

struct options;

int check_run(const struct options *options);

#endif
