/* SPDX-License-Identifier: MIT */
/* The state of each thread: created at its first use, and reused by a later thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/runtime/internal.h"

#define NAMED_MAX 256	/* number of names for threads that have no state */
/* The key's destructor runs up to 4 times. In the first rounds destructors of others may still call
 * the runtime, so the state is released in the third. */
#if RT_TSAN
#define LAST_ROUND 1	/* ThreadSanitizer releases a thread before the last round */
#else
#define LAST_ROUND 3
#endif

_Thread_local struct rt_thread *rt_tls;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool lock_held;		/* held during a fork */
static _Atomic(struct rt_thread *) head;
static struct rt_thread *free_list;
static struct rt_thread *child_state;	/* state of the forking thread, in the child */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static struct rt_named_thread {
	uint32_t tid;
	char name[RT_THREAD_NAME];
} named[NAMED_MAX];
static uint32_t named_count;

static void copy_name(char *to, const char *from)
{
	size_t n = strnlen(from, RT_THREAD_NAME - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

static void send_thread(uint32_t tid, const char *name)
{
	struct tft_thread r = { .tid = tid, .name = name };

	rt_emit_thread(&r);
}

static void thread_ends(void *arg)
{
	struct rt_thread *th = arg;

	if (th != rt_tls)
		return;
	if (++th->exits < LAST_ROUND && pthread_setspecific(key, th) == 0)
		return;
	rt_stack_end(th);
	rt_trigger_thread_ends(th);
	rt_tls = NULL;
	if (!rt_lock(&lock))
		return;
	SET_REL(th->tid, 0);
	th->next_free = free_list;
	free_list = th;
	rt_unlock(&lock);
}

static void make_key(void)
{
	key_made = pthread_key_create(&key, thread_ends) == 0;
}

struct rt_thread *rt_threads(void)
{
	return GET_ACQ(head);
}

/* A state from the free list, or a new one, which is added to the list. The lock must be held. */
static struct rt_thread *state_get(void)
{
	struct rt_thread *th = child_state;

	if (th) {
		child_state = NULL;
	} else if (free_list) {
		th = free_list;
		free_list = th->next_free;
		return th;
	} else {
		th = rt_pages(sizeof(*th));
		if (!th)
			return NULL;
	}
	th->next = GET(head);
	SET_REL(head, th);
	return th;
}

struct rt_thread *rt_self_slow(void)
{
	int saved = errno;
	struct rt_thread *th = NULL;
	uint32_t tid;
	char comm[RT_THREAD_NAME] = "";

	pthread_once(&key_once, make_key);
	if (rt_lock(&lock)) {
		th = state_get();
		rt_unlock(&lock);
	}
	if (!th) {
		rt_dropped(1);	/* counts what the caller wanted to record */
		errno = saved;
		return NULL;
	}
	tid = (uint32_t)syscall(SYS_gettid);
	th->seq = 0;
	th->emitting = false;
	th->exits = 0;
	rt_tls = th;
	if (key_made)
		pthread_setspecific(key, th);
	if (prctl(PR_GET_NAME, comm) != 0)
		comm[0] = '\0';
	copy_name(th->name, comm);
	SET(th->own, !strncmp(comm, "tftop-", 6));
	SET(th->self, (uintptr_t)pthread_self());
	SET_REL(th->tid, tid);
	if (GET(rt_child_pending))
		rt_child_start();
	send_thread(tid, th->name);
	errno = saved;
	return th;
}

uint32_t rt_tid(void)
{
	struct rt_thread *th = rt_tls;

	if (!th && GET(rt_armed))
		th = rt_self_slow();
	return th ? GET(th->tid) : (uint32_t)syscall(SYS_gettid);
}

static bool name_state(uint32_t tid, const char *name)
{
	for (struct rt_thread *th = rt_threads(); th; th = th->next) {
		if (GET(th->tid) == tid) {
			copy_name(th->name, name);
			return true;
		}
	}
	return false;
}

static void name_other(uint32_t tid, const char *name)
{
	uint32_t i;

	for (i = 0; i < named_count && named[i].tid != tid; i++)
		;
	if (i == NAMED_MAX) {
		rt_dropped(1);
		return;
	}
	named[i].tid = tid;
	copy_name(named[i].name, name);
	if (i == named_count)
		named_count++;
}

void rt_thread_name(uint32_t tid, const char *name)
{
	char copy[RT_THREAD_NAME];

	if (!name || !GET(rt_armed))
		return;
	copy_name(copy, name);
	if (rt_tid() && rt_lock(&lock)) {
		if (!name_state(tid, copy))
			name_other(tid, copy);
		rt_unlock(&lock);
	}
	send_thread(tid, copy);
}

void rt_threads_dump(void)
{
	struct rt_named_thread copy;

	for (struct rt_thread *th = rt_threads(); th; th = th->next) {
		copy.tid = GET_ACQ(th->tid);
		if (!copy.tid || !rt_lock(&lock))
			continue;
		copy_name(copy.name, th->name);
		rt_unlock(&lock);
		send_thread(copy.tid, copy.name);
	}
	for (uint32_t i = 0; rt_lock(&lock); i++) {
		bool more = i < named_count;

		if (more)
			copy = named[i];
		rt_unlock(&lock);
		if (!more)
			break;
		send_thread(copy.tid, copy.name);
	}
}

/*
 * The child keeps the state of its only thread and drops the others: their pages are shared with
 * the parent and cost nothing until they are written.
 */
void rt_threads_fork(enum rt_fork stage)
{
	struct rt_thread *th = rt_tls;

	rt_fork_lock(&lock, &lock_held, stage);
	if (stage != RT_FORK_CHILD)
		return;
	SET(head, NULL);
	free_list = NULL;
	named_count = 0;
	child_state = th;
	rt_tls = NULL;
	if (!th)
		return;
	SET(th->events, 0);
	SET(th->calls, 0);
	SET(th->claim, 0);
	SET(th->closing, 0);
	SET(th->section, 0);
	memset(th->call, 0, sizeof(th->call));
	th->instance_next = th->instance_end = 0;
	rt_stack_fork_child(th);
	rt_batch_fork_child(th);
}
