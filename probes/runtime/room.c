/* SPDX-License-Identifier: MIT */
/* Memory of a thread's own, freed when the thread ends. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "probes/runtime/runtime.h"

/* The header of each block. */
struct room {
	struct room *next;	/* next block of the same thread */
	void **slot;
	size_t bytes;
	_Alignas(64) char own[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool made;

static void leave(void *arg)
{
	struct room *r = arg, *next;

	for (; r; r = next) {
		next = r->next;
		*r->slot = NULL;
		munmap(r, r->bytes);
	}
}

static void make_key(void)
{
	made = pthread_key_create(&key, leave) == 0;
}

void *rt_room(void **slot, size_t bytes)
{
	int saved = errno;
	struct room *r;

	pthread_once(&once, make_key);
	bytes += sizeof(*r);
	r = made ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) :
	    MAP_FAILED;
	if (r != MAP_FAILED) {
		*r = (struct room){
			.next = pthread_getspecific(key), .slot = slot, .bytes = bytes,
		};
		if (pthread_setspecific(key, r) != 0) {
			munmap(r, bytes);
			r = MAP_FAILED;
		}
	}
	errno = saved;
	if (r == MAP_FAILED) {
		rt_dropped(1);
		return NULL;
	}
	*slot = r->own;
	return r->own;
}
