/* SPDX-License-Identifier: MIT */
/*
 * Replaces code of a running program, as the stage asks for in its report (stage.h), and puts the
 * original code back when tftop leaves.
 *
 * Always true:
 * - All threads are stopped meanwhile, and none of them is inside the bytes that are replaced,
 *   nor will a signal handler return to them. Where that is not so, or where not all threads stop
 *   within CODE_STOP_MS, all continue and it is tried again. A program that is stopped by a signal
 *   stays stopped.
 * - Each piece is written with one write, so that it is either whole or absent even if tftop
 *   dies. It is written only where the memory holds what the stage said. Either all pieces are
 *   written or none; if tftop is killed in between, the first pieces are replaced and the others
 *   are not, in the order of the request. The next tftop completes that.
 * - Only what this tftop replaced is put back, and only while it is unchanged and the condition
 *   holds under which it was replaced. The code that the pieces led to remains: threads may be in
 *   it.
 * - Only private mappings are written, which become the process's own copy. They need not be
 *   writable.
 * - System calls that the stop interrupts are repeated from the moment at which they are, and
 *   signals are delivered.
 *
 * The stage's request is not trusted: whatever it says, only that process is changed.
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
	int64_t stopped_ns;	/* how long a thread was stopped, at most */
	unsigned tries;		/* how often all threads were stopped */
	char why[240];		/* the reason when it failed */
};

/* codes: as report_read() returned it, in state ASKED. Returns whether the code was replaced;
 * answers the report and sets *result in any case. Blocks for slightly more than 2 s at most. */
bool code_replace(pid_t pid, const struct report *report, const struct stage_codes *codes,
		  struct code_result *result);

/* Returns whether the program has its own code again. Blocks for slightly more than 1 s at
 * most. */
bool code_put_back(pid_t pid, const struct stage_codes *codes, struct code_result *result);

#endif
