/* SPDX-License-Identifier: MIT */
/*
 * What a session needs from this machine, whatever PROGRAM is: LTTng's programs, a private network
 * namespace, a folder, shared memory, the right to attach, the probes.
 *
 * Always true: nothing is changed, and no file is written. Threads: one at a time.
 */
#ifndef PROBES_SESSION_MACHINE_H
#define PROBES_SESSION_MACHINE_H

#include "probes/attach/preflight.h"

/* Fills check. lib_dir: folder of the probe libraries, "": there is none. */
void machine_check(struct attach_check *check, const char *lib_dir);

#endif
