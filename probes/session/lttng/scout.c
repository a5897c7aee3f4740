/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/scout.h"

#include <dlfcn.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probes/schema/control.h"
#include "probes/process/process.h"

/* liblttng-ust trusts its environment only if real and effective uid are equal. */
static bool become(uid_t uid, gid_t gid)
{
	if (gid != getegid() && (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0))
		return false;
	return setresuid(uid, uid, uid) == 0;
}

_Noreturn static void scout_main(const char *dir, const char *library_dir, uid_t uid, gid_t gid,
				 int fd)
{
	struct rlimit no_core = { 0, 0 };
	char library[2048], byte = 0;

	prctl(PR_SET_NAME, "tftop-scout");
	process_default_signals();
	process_keep_fds(&fd, 1);
	setrlimit(RLIMIT_CORE, &no_core);
	if (!become(uid, gid))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("LTTNG_HOME", dir, 1);
	setenv("LTTNG_UST_REGISTER_TIMEOUT", "3000", 1);
	unsetenv("LTTNG_UST_DEBUG");
	unsetenv(TFT_CONTROL_ENV);
	/* Its constructor returns when it has registered with the daemon. */
	snprintf(library, sizeof(library), "%s/libtftop-runtime.so", library_dir);
	if (!dlopen(library, RTLD_NOW | RTLD_LOCAL))
		_exit(1);
	if (write(fd, &byte, 1) == 1)
		while (read(fd, &byte, 1) > 0)
			;
	_exit(0);
}

pid_t scout_start(const char *dir, const char *library_dir, uid_t uid, gid_t gid, int *fd)
{
	int pair[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	child = fork();
	if (child == 0)
		scout_main(dir, library_dir, uid, gid, pair[1]);
	close(pair[1]);
	if (child > 0)
		*fd = pair[0];
	else
		close(pair[0]);
	return child;
}
