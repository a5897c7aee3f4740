/* SPDX-License-Identifier: MIT */
/* What the files of the start library share. */
#ifndef PROBES_START_INTERNAL_H
#define PROBES_START_INTERNAL_H

#include "probes/start/start.h"

/* The hooks, if this is the process that set them; otherwise NULL. */
const struct tft_start_hooks *start_hooks(void);

/* The next definition of a symbol after that of this library, looked up once; NULL: there is
 * none. */
void *start_next(void **cache, const char *name);

void start_fd_look_up(void);

/* The functions of libc that are wrapped here. Each also has a name of its own that no other
 * library's definition can precede (START_OWN() in the file that has it). */
#define START_WRAPPED(X) \
	X(close) X(close_range) X(closefrom) X(dup2) X(dup3) X(_exit) X(_Exit) X(execve) X(execv) \
	X(execvp) X(execvpe) X(fexecve) X(execveat) X(execl) X(execlp) X(execle)
#define START_OWN(function) \
	__asm__(".globl start_own_" #function "\n" ".hidden start_own_" #function "\n" \
		".set start_own_" #function ", " #function "\n")

#endif
