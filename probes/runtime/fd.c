/* SPDX-License-Identifier: MIT */
/*
 * Finds out which descriptors belong to LTTng. liblttng-ust-common keeps the set and does not
 * expose it; but its safe close calls back, under its lock, for a descriptor that is not in the
 * set, and the callback need not close it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "probes/runtime/internal.h"

#define YIELD_WAIT_NS 300000000
#define YIELDED_MAX 16
#define FD_SCAN 1024

/* Set while LTTng's own threads may already close descriptors: they come here, too. */
static int (*_Atomic safe_close)(int, int (*)(int));
static _Thread_local bool called __attribute__((tls_model("initial-exec")));

/* Numbers that the program took while LTTng still has them; 0: unused. */
static _Atomic int yielded[YIELDED_MAX];

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
		SET_REL(safe_close,
			(int (*)(int, int (*)(int)))dlsym(h, "lttng_ust_safe_close_fd"));
}

/* Whether it is in LTTng's set and the caller is not LTTng: its own threads, which hold the set's
 * lock, are called back for every number. */
static bool tracked(int fd)
{
	int (*ask)(int, int (*)(int)) = GET_ACQ(safe_close), saved = errno;

	if (!ask || fd < 0)
		return false;
	called = false;
	ask(fd, not_ours);
	errno = saved;
	return !called;
}

static _Atomic int *yielded_slot(int fd)
{
	for (int i = 0; i < YIELDED_MAX; i++)
		if (GET(yielded[i]) == fd)
			return &yielded[i];
	return NULL;
}

bool rt_fd_owned(int fd)
{
	return tracked(fd) && !(fd && yielded_slot(fd));
}

enum tft_close rt_fd_close(int fd)
{
	bool ours = tracked(fd);
	_Atomic int *slot = fd ? yielded_slot(fd) : NULL;

	if (!slot)
		return ours ? TFT_CLOSE_REFUSE : TFT_CLOSE;
	if (ours)
		return TFT_CLOSE;
	SET(*slot, 0);
	return TFT_CLOSE_PRETEND;
}

/* Counts LTTng's descriptors, either sockets or the others; shuts sockets down if requested. */
static int count_tracked(bool sockets, bool shut)
{
	int n = 0, type;
	socklen_t size;

	for (int fd = 3; fd < FD_SCAN; fd++) {
		size = sizeof(type);
		if (!tracked(fd) ||
		    (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) != sockets)
			continue;
		n++;
		if (shut)
			shutdown(fd, SHUT_RDWR);
	}
	return n;
}

/*
 * When a socket to the session daemon is shut down, LTTng's listener drops its buffers at once. It
 * closes the sockets themselves when it connects again: some seconds later, or never if the daemon
 * has another uid than this process (LTTng waits for a wake-up per uid). That close comes through
 * libtftop-start, which then leaves alone a number that was given away.
 */
void rt_fd_yield(int fd)
{
	int64_t until = rt_now_ns() + YIELD_WAIT_NS;
	struct timespec ms = { 0, 1000000 };
	int saved = errno;
	_Atomic int *slot;

	rt_emit_message(1, "the program reused a file descriptor of LTTng's: "
			   "its trace ends here, or has a gap of some seconds");
	count_tracked(true, true);
	while (tracked(fd) && count_tracked(false, false) && rt_now_ns() < until)
		nanosleep(&ms, NULL);
	slot = tracked(fd) && !yielded_slot(fd) ? yielded_slot(0) : NULL;
	if (slot)
		SET(*slot, fd);
	errno = saved;
}
