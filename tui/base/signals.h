/* SPDX-License-Identifier: MIT */
/*
 * Signals as a descriptor that can be polled. SIGTERM and SIGHUP, with a recording also SIGINT, and
 * with a screen also SIGTSTP and SIGCONT, are written to a pipe, whichever thread they hit. If
 * PROGRAM has no screen beside it, SIGINT and SIGQUIT are meant for PROGRAM alone, and tftop
 * ignores them. (A signalfd would need a blocked mask, which started programs would inherit and
 * threads of libraries would have to share.)
 *
 * Threads: the loop's; the handlers run on any thread.
 */
#ifndef TUI_SIGNALS_H
#define TUI_SIGNALS_H

#include <stdbool.h>

enum signals_of { SIGNALS_PROGRAM, SIGNALS_RECORDING, SIGNALS_SCREEN };

/* Keeps signals that arrive from now on until signals_start(). To be called before anything is
 * forked that only a living tftop can release or end. */
void signals_hold(void);
/* To be called before the screen is opened, because curses handles only signals that are still
 * free. */
void signals_start(enum signals_of of);
/* From now on SIGINT asks tftop to quit; for SIGNALS_PROGRAM, once PROGRAM has ended. */
void signals_take_interrupt(void);
void signals_end(void);			/* restores the previous handlers */
int signals_fd(void);			/* readable if there is a signal */
int signals_next(void);			/* the next signal; 0: none */
void signals_raise(int number);		/* acts as if this signal had arrived */
/* Stops this process as Ctrl-Z does; returns when it continues. */
void signals_stop_here(void);

#endif
