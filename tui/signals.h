/* SPDX-License-Identifier: MIT */
/*
 * Signals as something to poll: SIGTERM, SIGHUP, SIGINT, SIGTSTP and SIGCONT
 * go through a pipe of our own, whichever thread they hit. (Not a signalfd: a
 * blocked mask would be inherited by what is started, and threads of libraries
 * would have to share it.)
 *
 * Threads: the loop's; the handlers anywhere.
 */
#ifndef TUI_SIGNALS_H
#define TUI_SIGNALS_H

/* Must come before the screen is opened: curses takes only what is free. */
void signals_start(void);
void signals_end(void);			/* as they were */
int signals_fd(void);			/* readable when one is there */
int signals_next(void);			/* 0: none */
void signals_raise(int number);		/* as if it had come */
/* Stops this process as Ctrl-Z would; returns when it goes on. */
void signals_stop_here(void);

#endif
