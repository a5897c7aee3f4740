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

/* Makes a translation for the PID namespace of that process; NULL: memory is short, or the
 * namespace cannot be determined. */
struct pids *pids_new(pid_t pid);
void pids_free(struct pids *pids);

/* tftop's PID for an inner PID. The result is remembered, so that it stays valid after the process
 * has ended. It is the inner PID itself if the process had ended before, or if pids is NULL. */
uint32_t pids_outer(struct pids *pids, uint32_t inner);

#endif
