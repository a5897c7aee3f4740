/* SPDX-License-Identifier: MIT */
/*
 * Translates PIDs. Events carry a process's PID in its own PID namespace; tftop shows the PID in
 * its own. One namespace below tftop's is supported, since two could use the same numbers.
 *
 * Threads: any.
 */
#ifndef PROBES_PROCESS_PIDS_H
#define PROBES_PROCESS_PIDS_H

#include <stdint.h>
#include <sys/types.h>

struct pids;

/* For the PID namespace of that process; NULL: out of memory, or it cannot be determined. */
struct pids *pids_new(pid_t pid);
void pids_free(struct pids *pids);

/* tftop's PID for an inner one. It is remembered, so that it stays valid when the process has
 * ended. The inner PID itself when the process had ended before, or pids is NULL. */
uint32_t pids_outer(struct pids *pids, uint32_t inner);

#endif
