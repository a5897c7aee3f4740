/* SPDX-License-Identifier: MIT */
/*
 * --check: prints what can be observed on this machine, or in a running process, what cannot,
 * why, and what to do. Returns tftop's exit status: 0 if programs can be observed, 125 if not.
 * Main thread, before any other thread (a child process tries the network namespace).
 */
#ifndef TUI_CHECK_H
#define TUI_CHECK_H

struct options;

int check_run(const struct options *options);

#endif
