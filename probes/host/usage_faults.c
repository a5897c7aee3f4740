/* SPDX-License-Identifier: MIT */
/*
 * See usage.h. The kernel counts minor page faults, but not their time. So the time of one is
 * measured: the sampler's thread maps some pages, touches each of them for the first time and gives
 * them back, and its own processor time is divided by the faults that the kernel counted. The
 * shortest of the first measurements counts: others found the caches cold. On a virtual machine a
 * fault took 0.9 to 1.9 us, of programs as well as here.
 *
 * A fault that clears a huge page, or waits for another thread's, takes longer than that: then what
 * is told is too little.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "probes/host/usage.h"

#define FAULT_PAGES 64u
#define FAULT_MEASUREMENTS 5
/* Fewer than that in a second matter to nobody, whatever they take. */
#define FAULTS_MANY 5000u

/* Belongs to the sampler's thread. */
static struct { int64_t one_ns; int measurements; } faults;

void usage_faults_begin(void)
{
	faults.one_ns = 0;
	faults.measurements = 0;
}

static int64_t thread_ns(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
		return -1;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static long thread_faults(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) ? -1 : r.ru_minflt;
}

static void faults_measure(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = FAULT_PAGES * page;
	long before = thread_faults(), count;
	int64_t begin_ns = thread_ns(), ns;
	volatile char *pages;

	faults.measurements++;
	if (before < 0 || begin_ns < 0)
		return;
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return;
	for (size_t i = 0; i < size; i += page)
		pages[i] = 1;
	munmap((void *)pages, size);
	ns = thread_ns() - begin_ns;
	count = thread_faults() - before;
	if (ns <= 0 || count <= 0)
		return;
	if (!faults.one_ns || ns / count < faults.one_ns)
		faults.one_ns = ns / count;
}

int64_t usage_fault_time(uint64_t n, uint64_t system_ns, int64_t dur_ns)
{
	int64_t ns;

	if (faults.measurements < FAULT_MEASUREMENTS &&
	    (__int128)n * 1000000000 >= (__int128)FAULTS_MANY * dur_ns)
		faults_measure();
	if (!faults.one_ns || __builtin_mul_overflow(n, faults.one_ns, &ns))
		return -1;
	return ns < (int64_t)system_ns ? ns : (int64_t)system_ns;
}
