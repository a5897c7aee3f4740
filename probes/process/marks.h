/* SPDX-License-Identifier: MIT */
/*
 * Which tftop a process belongs to, from /proc. A program that a tftop started carries the path of
 * that tftop's control page (probes/schema/control.h) in its environment, and so do the processes
 * that inherit it. A probe that has started maps the page for reading. Only a tftop maps one for
 * writing.
 *
 * Another user's processes cannot be read, and belong to none. No state; any thread.
 */
#ifndef PROBES_PROCESS_MARKS_H
#define PROBES_PROCESS_MARKS_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a process was started with the control page of the tftop whose private folder is dir. */
bool marks_inherited(pid_t pid, const char *dir);
/* Whether a probe in it has mapped that page. */
bool marks_mapped(pid_t pid, const char *dir);
/* Whether it is a process of some tftop itself: tftop, its launcher, its keeper. */
bool marks_is_tftop(pid_t pid);

#endif
