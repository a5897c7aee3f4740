/* SPDX-License-Identifier: MIT */
/*
 * tftop without a screen: PROGRAM keeps its terminal, the report comes when it
 * has ended. Returns what tftop leaves with. Main thread, no thread before.
 */
#ifndef TUI_BATCH_H
#define TUI_BATCH_H

struct options;

int batch_run(const struct options *options);

#endif
