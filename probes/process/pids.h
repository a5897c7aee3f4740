/* SPDX-License-Identifier: MIT */
/*
 * Process numbers. Events carry what a process is called in its own PID namespace; tftop shows
 * what it is called in tftop's. Of one namespace below tftop's own, as two could have equal numbers.
 *
 * Threads: any.
 */
#ifndef PROBES_SESSION_PIDS_H
#define PROBES_SESSION_PIDS_H

#include <stdint.h>
#include <sys/types.h>

struct pids;

/* Those of the namespace in which pid is; NULL: no memory, or it cannot be told. */
struct pids *pids_new(pid_t pid);
void pids_free(struct pids *pids);

/* Remembered, so that it holds when the process has ended; the same number for one that
 * had ended before it was asked for. NULL: as it is. */
uint32_t pids_outer(struct pids *pids, uint32_t inner);

#endif
