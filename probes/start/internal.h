/* SPDX-License-Identifier: MIT */
/* What the two files of the start library share. */
#ifndef PROBES_START_INTERNAL_H
#define PROBES_START_INTERNAL_H

#include "probes/start/start.h"

/* The hooks when there are any and this is their process, else NULL. */
const struct tft_start_hooks *start_hooks(void);

/* The next definition of a symbol after ours, looked up once; NULL: none. */
void *start_next(void **cache, const char *name);

void start_fd_look_up(void);

#endif
