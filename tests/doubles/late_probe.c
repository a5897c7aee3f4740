/* SPDX-License-Identifier: MIT */
/*
 * A probe that is loaded late, for the stage: writes its environment and the blocked signals to the
 * file in $LATE_OUT, waits until somebody has opened the FIFO $LATE_GATE to write, and returns
 * $LATE_RESULT.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probes/schema/attach.h"

const char *tftop_attach_why(void)
{
	return getenv("LATE_RESULT") ? "it was told so" : "";
}

int tftop_probe_attach(void)
{
	const char *set = getenv("LATE_SET"), *lent = getenv("LATE_LENT"),
		*result = getenv("LATE_RESULT"), *gate = getenv("LATE_GATE");
	int fd = open(getenv("LATE_OUT"), O_WRONLY | O_APPEND | O_CLOEXEC);
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	dprintf(fd, "set %s lent %s blocked %d\n", set ? set : "none", lent ? lent : "none",
		sigismember(&blocked, SIGINT));
	close(fd);
	if (gate)
		close(open(gate, O_RDONLY | O_CLOEXEC));
	return result ? atoi(result) : 0;
}
