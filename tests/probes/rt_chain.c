/* SPDX-License-Identifier: MIT */
/* A user's own preloaded library that wraps close() and counts its calls, as many tools do. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static int closed;

int close(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");

	__atomic_fetch_add(&closed, 1, __ATOMIC_RELAXED);
	return next(fd);
}

__attribute__((destructor)) static void tell(void)
{
	dprintf(2, "closed=%d\n", closed);
}
