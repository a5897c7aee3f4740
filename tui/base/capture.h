/* SPDX-License-Identifier: MIT */
/*
 * Captures standard error while the screen is shown, as libraries that print would damage the
 * picture. The text goes into an unnamed file; whole lines become messages, and at the end all of
 * it is written to the real standard error.
 *
 * Threads: the loop's only (others may print at any time).
 */
#ifndef TUI_CAPTURE_H
#define TUI_CAPTURE_H

struct capture;

/* NULL: standard error is not a terminal (and is left as it is), or no file can be made. */
struct capture *capture_start(void);
/* Hands on the lines printed since the last call. */
void capture_read(struct capture *capture, void (*line)(void *arg, const char *text), void *arg);
/* Restores standard error and writes the captured text to it. */
void capture_end(struct capture *capture);

#endif
