/* SPDX-License-Identifier: MIT */
/*
 * LTTng's thread in a process whose daemon was gone sleeps 5 s every second time before it
 * looks for the next one (ust_listener_thread() of lttng-ust 2.13): a program that is
 * joined again would be seen that much later. Nothing in the process can end that sleep;
 * a tracer can, as if its time were over.
 *
 * Threads: any; no other one may wait for any child (waitpid(-1)) meanwhile.
 */
#ifndef PROBES_ATTACH_AWAKE_H
#define PROBES_ATTACH_AWAKE_H

#include <sys/types.h>

/* How many of LTTng's threads there were woken; each stands still for well below 1 ms. 0 also
 * where it may not be traced, or on another machine than x86-64. */
int attach_awake(pid_t pid);

#endif
