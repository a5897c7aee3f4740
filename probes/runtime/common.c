/* SPDX-License-Identifier: MIT */
/* Totals, bounded locks, pages and the asymmetric barrier. */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/runtime/internal.h"

struct rt_totals rt_totals;
bool rt_have_membarrier;

bool rt_lock(pthread_mutex_t *lock)
{
	struct timespec until;

	if (pthread_mutex_trylock(lock) == 0)
		return true;
#if RT_TSAN
	/* ThreadSanitizer does not know the function below */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_mutex_timedlock(lock, &until) == 0)
		return true;
#else
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	if (pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until) == 0)
		return true;
#endif
	rt_dropped(1);
	return false;
}

void rt_unlock(pthread_mutex_t *lock)
{
	pthread_mutex_unlock(lock);
}

void rt_fork_lock(pthread_mutex_t *lock, bool *held, enum rt_fork stage)
{
	switch (stage) {
	case RT_FORK_BEFORE:
		*held = rt_lock(lock);
		break;
	case RT_FORK_PARENT:
		if (*held)
			rt_unlock(lock);
		break;
	case RT_FORK_CHILD:
		/* the thread that held it does not exist here */
		pthread_mutex_init(lock, NULL);
		break;
	}
}

void *rt_pages(size_t bytes)
{
	int saved = errno;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void rt_barrier_init(void)
{
	int saved = errno;

	rt_have_membarrier = syscall(SYS_membarrier,
		MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
	errno = saved;
}

void rt_barrier_heavy(void)
{
	int saved = errno;

	if (rt_have_membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	rt_fence(memory_order_seq_cst);
	errno = saved;
}

void rt_dropped(uint64_t n)
{
	atomic_fetch_add_explicit(&rt_totals.dropped, n, memory_order_relaxed);
}

void rt_vendor_dropped(uint64_t n)
{
	atomic_fetch_add_explicit(&rt_totals.vendor_dropped, n, memory_order_relaxed);
}

void rt_own_time(int64_t ns)
{
	atomic_fetch_add_explicit(&rt_totals.own_ns, ns, memory_order_relaxed);
}

uint32_t rt_correlation(void)
{
	return atomic_fetch_add_explicit(&rt_totals.correlations, 1,
					 memory_order_relaxed) + 1;
}

uint32_t rt_device_id(void)
{
	return atomic_fetch_add_explicit(&rt_totals.devices, 1, memory_order_relaxed) + 1;
}

uint32_t rt_queue_id(void)
{
	return atomic_fetch_add_explicit(&rt_totals.queues, 1, memory_order_relaxed) + 1;
}

uint32_t rt_series_id(void)
{
	static _Atomic uint32_t last;

	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}
