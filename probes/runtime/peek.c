/* SPDX-License-Identifier: MIT */
/* Reads memory that may not be mapped. */
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probes/runtime/runtime.h"

static ssize_t peek_file(void *to, const void *from, size_t bytes)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = pread(fd, to, bytes, (off_t)(uintptr_t)from);
	close(fd);
	return got;
}

size_t rt_peek(void *to, const void *from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)from, bytes };
	int saved = errno;
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	/* if a sandbox forbids the call */
	if (got < 0 && (errno == EPERM || errno == ENOSYS))
		got = peek_file(to, from, bytes);
	errno = saved;
	return got > 0 ? (size_t)got : 0;
}
