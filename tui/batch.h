/* SPDX-License-Identifier: MIT */
/*
 * tftop without a screen: PROGRAM keeps its terminal, and the report is printed when it has
 * ended. Returns tftop's exit status. Main thread, before any other thread.
 */
#ifndef TUI_BATCH_H
#define TUI_BATCH_H

struct options;

int batch_run(const struct options *options);

#endif
