/* SPDX-License-Identifier: MIT */
/*
 * tftop's own log, for --debug FILE and -v: what it did and when, one line each, "SECONDS text", in
 * seconds since the log was opened.
 *
 * Always true: without a log every call returns at once; a line is written immediately, so that the
 * log is complete up to a crash. Any thread.
 */
#ifndef TUI_LOG_H
#define TUI_LOG_H

#include <stdbool.h>

/* file NULL: standard error. false: it cannot be opened (errno). */
bool log_open(const char *file);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
