/* SPDX-License-Identifier: MIT */
/*
 * Between libtftop-start.so, which is preloaded into every program, and libtftop-runtime.so, which
 * is in a process only if a probe is.
 *
 * The start library interposes the few functions of libc by which a program would destroy what
 * LTTng and the probes need until its end: it closes all descriptors, leaves by _exit, or replaces
 * itself by exec. Without hooks (no probe in the process) every wrapper is one load and a jump to
 * the next definition of the symbol.
 *
 * Always true:
 *  - Return values and errno are those that the program would see without tftop: for the program, a
 *    descriptor of LTTng is not open (EBADF).
 *  - Nothing is done in a child made by vfork or a bare clone: the hooks are valid only for the
 *    process that set them.
 *  - libc only; no allocation, no lock; async-signal-safe where the wrapped function is.
 *
 * It also interposes functions of frameworks (interpose.h), which a program without that framework
 * never calls.
 */
#ifndef PROBES_START_START_H
#define PROBES_START_START_H

#include <stdbool.h>

enum tft_leaving { TFT_LEAVING_EXIT = 1, TFT_LEAVING_EXEC = 2 };

enum tft_close {
	TFT_CLOSE,		/* close it */
	TFT_CLOSE_REFUSE,	/* it is LTTng's: fail with EBADF */
	/* LTTng closes a number that it had to give up: return 0 and do nothing */
	TFT_CLOSE_PRETEND,
};

/* Set by the runtime; *borrowed for the life of the process*. */
struct tft_start_hooks {
	/* The process is about to leave by _exit (status known) or exec. */
	void (*leaving)(enum tft_leaving how, int status);
	/* exec failed, and the process continues. */
	void (*back)(void);
	/* Whether LTTng uses this descriptor. Preserves errno. */
	bool (*owns_fd)(int fd);
	/* What a call of close() must do; the caller may be LTTng itself. */
	enum tft_close (*close_fd)(int fd);
	/* The program needs this number: makes LTTng give it up, within a time limit. */
	void (*yield_fd)(int fd);
};

/* Looked up by the runtime with dlsym. Called again after a fork, in the child. */
void tft_start_hook(const struct tft_start_hooks *hooks);

#endif
