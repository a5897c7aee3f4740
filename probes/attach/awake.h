/* SPDX-License-Identifier: MIT */
/*
 * Ends the sleep of LTTng's thread in a process, so that it looks for its daemon now.
 *
 * When its daemon is gone, that thread sleeps for 5 s before every second attempt to find the
 * next one (ust_listener_thread() of lttng-ust 2.13). A program that is attached to or joined
 * again would be observed that much later. Nothing inside the process can end that sleep. A
 * tracer can: it lets the system call return as if the time were over.
 *
 * Threads: any; no other thread may wait for any child (waitpid(-1)) meanwhile.
 */
#ifndef PROBES_ATTACH_AWAKE_H
#define PROBES_ATTACH_AWAKE_H

#include <sys/types.h>

/* Returns how many threads were woken; each of them is stopped for well below 1 ms. 0 also where
 * the process may not be traced, and on machines other than x86-64. */
int attach_awake(pid_t pid);

#endif
