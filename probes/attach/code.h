/* SPDX-License-Identifier: MIT */
/*
 * Code of a program that runs, replaced, and put back: what the stage asks for in its report
 * (stage.h), until tftop leaves.
 *
 * Always true:
 * - All threads stand meanwhile, each in front of an instruction that stays as it is: none is
 *   within the bytes that are replaced, nor will a signal's handler return to there. Where
 *   that is not so, or not all can be stopped in CODE_STOP_MS, all go on, and it is tried again.
 * - Each piece is written in one, so that it is whole or not there even if tftop dies, and only
 *   where the program's memory has what the stage said; all pieces or none.
 * - Put back is what was replaced by this tftop and is as it left it, while the condition holds
 *   under which it was replaced. What was put in its place stays where it is: threads may be in it.
 * - Only code of private mappings is written to, which becomes the process's own by that; it
 *   does not have to be writable.
 * - Interrupted system calls are made again, signals are delivered.
 *
 * What the stage asks for is not to be believed: nothing but that process is changed by it.
 *
 * Threads: any; the work is done on a thread of its own, see inject.h.
 */
#ifndef PROBES_ATTACH_CODE_H
#define PROBES_ATTACH_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/attach/report.h"

#define CODE_STOP_MS 40
#define CODE_THREADS_MAX 1024

struct code_result {
	bool replaced;		/* or put back */
	int64_t stopped_ns;	/* how long a thread was kept from its own work, at most */
	unsigned tries;		/* stops of all */
	char why[240];		/* of what was not, one clause */
};

/* codes: as report_read() gave it, asked for. Blocks for 2 s and a bit at most; the report is
 * answered, *result set. Whether they are replaced. */
bool code_replace(pid_t pid, const struct report *report, const struct stage_codes *codes,
		  struct code_result *result);

/* Blocks for 1 s and a bit at most. Whether the program has its own code again. */
bool code_put_back(pid_t pid, const struct stage_codes *codes, struct code_result *result);

#endif
