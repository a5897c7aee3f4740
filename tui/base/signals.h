/* SPDX-License-Identifier: MIT */
/*
 * Signals as something to poll: SIGTERM and SIGHUP, with a recording also SIGINT,
 * with a screen SIGTSTP and SIGCONT as well, go through a pipe of our own,
 * whichever thread they hit. Beside a PROGRAM without a screen SIGINT and SIGQUIT
 * are PROGRAM's alone: ignored. (Not a signalfd: a
 * blocked mask would be inherited by what is started, and threads of libraries
 * would have to share it.)
 *
 * Threads: the loop's; the handlers anywhere.
 */
#ifndef TUI_SIGNALS_H
#define TUI_SIGNALS_H

#include <stdbool.h>

enum signals_of { SIGNALS_PROGRAM, SIGNALS_RECORDING, SIGNALS_SCREEN };

/* What comes now waits for signals_start(): before anything is forked that
 * only a living tftop can let go or end. */
void signals_hold(void);
/* Must come before the screen is opened: curses takes only what is free. */
void signals_start(enum signals_of of);
void signals_end(void);			/* as they were */
int signals_fd(void);			/* readable when one is there */
int signals_next(void);			/* 0: none */
void signals_raise(int number);		/* as if it had come */
/* Stops this process as Ctrl-Z would; returns when it goes on. */
void signals_stop_here(void);

#endif
