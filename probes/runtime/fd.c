/* SPDX-License-Identifier: MIT */
/*
 * Which descriptors are LTTng's. liblttng-ust-common keeps the set and lets
 * nobody look; but its safe close calls back, under its lock, for a descriptor
 * that is not in the set, and a callback need not close.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "probes/runtime/internal.h"

#define YIELD_WAIT_NS 300000000

static int (*safe_close)(int, int (*)(int));
static _Thread_local bool called __attribute__((tls_model("initial-exec")));

static int not_ours(int fd)
{
	(void)fd;
	called = true;
	return 0;
}

void rt_fd_start(void)
{
	void *h = dlopen("liblttng-ust-common.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (h)
		safe_close = (int (*)(int, int (*)(int)))dlsym(h, "lttng_ust_safe_close_fd");
}

bool rt_fd_owned(int fd)
{
	int saved = errno;
	bool owned;

	if (!safe_close || fd < 0)
		return false;
	called = false;
	safe_close(fd, not_ours);
	owned = !called;
	errno = saved;
	return owned;
}

/*
 * A socket to the session daemon that is shut down makes LTTng's listener
 * close everything it has through it; it connects again by itself. Waits until
 * the descriptor is out of the set; after that the number is the program's,
 * whatever happened.
 */
void rt_fd_yield(int fd)
{
	int64_t until = rt_now_ns() + YIELD_WAIT_NS;
	struct timespec ms = { 0, 1000000 };
	int saved = errno;

	rt_dropped(1);
	for (int other = 3; other < 1024; other++)
		if (rt_fd_owned(other))
			shutdown(other, SHUT_RDWR);
	while (rt_fd_owned(fd) && rt_now_ns() < until)
		nanosleep(&ms, NULL);
	errno = saved;
}
