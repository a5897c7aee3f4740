/* SPDX-License-Identifier: MIT */
/* Preloaded: memory of processes is read slowly, so that a look of the sampler (probes/host) takes
 * a good part of the time, and whatever happens to the process happens in the middle of one. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n_to,
			 const struct iovec *from, unsigned long n_from, unsigned long flags)
{
	nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
	return syscall(SYS_process_vm_readv, pid, to, n_to, from, n_from, flags);
}
