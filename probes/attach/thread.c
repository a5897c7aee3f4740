/* SPDX-License-Identifier: MIT */
/*
 * See thread.h. What is safe: dlopen() takes the locks of the dynamic linker and of malloc. A
 * thread that waits in one of the system calls below holds neither, because libc makes these calls
 * on behalf of its caller. Nor does a thread that computes outside these libraries, unless it is in
 * a signal handler that interrupted them.
 */
#include "probes/attach/thread.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#ifdef __x86_64__

/* How far up the stack a signal handler's frame is searched for. */
#define FRAME_LOOK 8192
#define WAIT_LOOK 1024
/* How much stack dlopen() may need, on stacks that do not grow. */
#define STACK_NEEDED (64 << 10)
#define TASKS_MAX 20000

static const struct waiting_call {
	int nr, rank;
	int mask;	/* 1 + the argument that is a signal mask for the time of the call */
} waiting[] = {
	{ SYS_futex, 0, 0 }, { SYS_nanosleep, 0, 0 }, { SYS_clock_nanosleep, 0, 0 },
	{ SYS_poll, 0, 0 }, { SYS_ppoll, 0, 4 }, { SYS_select, 0, 0 }, { SYS_pselect6, 0, 6 },
	{ SYS_pause, 0, 0 }, { SYS_wait4, 0, 0 }, { SYS_waitid, 0, 0 },
	{ SYS_restart_syscall, 0, 0 },
	{ SYS_read, 1, 0 }, { SYS_readv, 1, 0 }, { SYS_recvfrom, 1, 0 }, { SYS_recvmsg, 1, 0 },
	{ SYS_accept, 1, 0 }, { SYS_accept4, 1, 0 },
	{ SYS_epoll_wait, 2, 0 }, { SYS_epoll_pwait, 2, 5 }, { SYS_rt_sigtimedwait, 2, 0 },
	{ SYS_io_getevents, 2, 0 }, { SYS_semop, 2, 0 }, { SYS_semtimedop, 2, 0 },
	{ SYS_msgrcv, 2, 0 },
};

static const struct waiting_call *waiting_call(int64_t nr)
{
	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		if (waiting[i].nr == nr)
			return &waiting[i];
	return NULL;
}

/* signal(7): these fail after a stop even if no handler ran; so do calls on sockets and inotify if
 * they have a time limit. Those that submit or transfer in part return how much instead. */
bool call_breaks(int64_t call)
{
	static const int breaking[] = {
		SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_rt_sigtimedwait,
		SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter, SYS_semop, SYS_semtimedop,
		SYS_msgrcv, SYS_msgsnd, SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg,
		SYS_recvmmsg, SYS_accept, SYS_accept4, SYS_connect, SYS_write, SYS_writev,
		SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
	};

	for (size_t i = 0; i < sizeof(breaking) / sizeof(breaking[0]); i++)
		if (breaking[i] == call)
			return true;
	return false;
}

/* The signal mask would have to be changed and restored inside the call. */
static bool has_mask(const struct target *t, const struct waiting_call *w,
		     const uint64_t *arguments)
{
	uint64_t mask = w->mask ? arguments[w->mask - 1] : 0;

	/* pselect6's argument points to the pointer and a size */
	if (mask && w->nr == SYS_pselect6 && !target_read(t, mask, &mask, sizeof(mask)))
		return true;
	return mask != 0;
}

/* FUTEX_WAIT is used by glibc's own locks, malloc's among them; conditions, joins and semaphores
 * use FUTEX_WAIT_BITSET. From other libraries both are safe. */
static bool is_own_lock(const struct target *t, const struct moment *m)
{
	return m->call == SYS_futex &&
	       (m->arguments[1] & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET &&
	       ((m->arguments[1] & FUTEX_CMD_MASK) != FUTEX_WAIT || range_has(&t->libc, m->pc));
}

/* The rank of a thread in this system call; -1: do not use it. */
static int call_rank(const struct target *t, const struct moment *m)
{
	const struct waiting_call *w = waiting_call(m->call);

	if (!w || is_own_lock(t, m) || has_mask(t, w, m->arguments) ||
	    range_has(&t->linker, m->pc) || range_has(&t->heaps, m->pc))
		return -1;
	return w->rank;
}

bool candidate_stack(const struct target *t, struct thread_candidate *c, uint64_t sp)
{
	FILE *maps = target_file(t->pid, "maps");
	struct target_mapping m;
	bool found = false;

	while (maps && !found && mapping_next(maps, &m))
		found = sp >= m.start && sp < m.end;
	if (maps)
		fclose(maps);
	if (found) {
		c->stack = (struct address_range){ m.start, m.end };
		c->main_stack = strcmp(m.path, "[stack]") == 0;
	}
	return found;
}

static bool candidate_read(const struct target *t, pid_t tid, struct thread_candidate *c)
{
	char file[64], line[256];
	struct moment m = { 0 };
	uint64_t *a = m.arguments;
	FILE *f;
	bool there;

	*c = (struct thread_candidate){ .tid = tid, .rank = RANK_RUNNING };
	snprintf(file, sizeof(file), "task/%d/syscall", (int)tid);
	if (!(f = target_file(t->pid, file)))
		return errno == EACCES;	/* not readable here, but the thread may run */
	there = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	if (!there)
		return false;
	if (sscanf(line, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64 " %" SCNx64, &m.call, &a[0], &a[1], &a[2], &a[3], &a[4],
		   &a[5], &m.sp, &m.pc) == 9) {
		c->sp = m.sp;
		c->rank = call_rank(t, &m);
		if (c->rank < 0)
			c->rank = RANK_RUNNING;
	}
	return true;
}

size_t candidates_find(const struct target *t, struct thread_candidate list[CANDIDATES_MAX])
{
	char path[64];
	struct dirent *e;
	size_t count = 0, seen = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	if (!(dir = opendir(path)))
		return 0;
	while ((e = readdir(dir)) && seen < TASKS_MAX) {
		struct thread_candidate c;
		size_t at = count;

		if (e->d_name[0] == '.' || !candidate_read(t, (pid_t)atoi(e->d_name), &c))
			continue;
		seen++;
		while (at > 0 && list[at - 1].rank > c.rank)
			at--;
		if (at == CANDIDATES_MAX)
			continue;
		if (count == CANDIDATES_MAX)
			count--;
		memmove(&list[at + 1], &list[at], (count - at) * sizeof(list[0]));
		list[at] = c;
		count++;
		if (count == CANDIDATES_MAX && list[count - 1].rank == 0)
			break;
	}
	closedir(dir);
	return count;
}

/* Searches the frames above. Unused old words there may look like one, which costs a try. */
static const char *stack_unsafe(const struct target *t, const struct thread_candidate *c,
				const struct moment *m)
{
	uint64_t words[FRAME_LOOK / 8], from = m->sp & ~7ull;
	size_t size = sizeof(words);

	if (c->stack.end - from < size)
		size = (size_t)(c->stack.end - from) & ~7ull;
	if (!target_read(t, from, words, size))
		return "its stack cannot be read";
	for (size_t i = 0; i < size / 8; i++) {
		if (words[i] == t->back.sigreturn)
			return "it was in a signal handler";
		/* a thread that sleeps while it waits for a lock */
		if (m->call >= 0 && i < WAIT_LOOK / 8 && range_has(&t->heaps, words[i]))
			return "it may have been waiting for an allocator";
	}
	return NULL;
}

const char *moment_unsafe(const struct target *t, const struct thread_candidate *c,
			  const struct moment *m, uint64_t room)
{
	if (m->sp < c->stack.start || m->sp >= c->stack.end)
		return "its stack was not known yet";
	/* glibc keeps its record of a thread at the upper end of the thread's stack */
	if (!c->main_stack && !(m->thread > m->sp && m->thread < c->stack.end))
		return "it was on a stack that the program made itself";
	if (m->sp - c->stack.start < room + (c->main_stack ? 0 : STACK_NEEDED))
		return "its stack was nearly full";
	if (m->call >= 0 && call_rank(t, m) < 0)
		return "it was in a system call that may be made while holding a lock";
	if (m->call < 0 && (range_has(&t->libc, m->pc) || range_has(&t->linker, m->pc) ||
			    range_has(&t->heaps, m->pc) || range_has(&t->own_heap, m->pc)))
		return "it was inside libc, the dynamic linker or an allocator";
	return stack_unsafe(t, c, m);
}

#endif
