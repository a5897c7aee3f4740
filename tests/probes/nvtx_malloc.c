/* SPDX-License-Identifier: MIT */
/*
 * A program whose own malloc marks a range for every call, in new threads all the time: the probe
 * must not be entered again through the memory that LTTng or libc allocate. Prints the greatest
 * depth of malloc calls within malloc.
 */
#include "tests/probes/nvtx_double.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 50	/* without a guard the recursion would not end */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void __libc_free(void *at);

static atomic_bool marking;
static atomic_int deepest;
static __thread int depth __attribute__((tls_model("initial-exec")));

static void mark(void)
{
	int saved = errno;

	if (!marking || depth == DEPTH_MAX)
		return;
	if (++depth > deepest)
		deepest = depth;
	nvtxRangePushA("memory");
	nvtxRangePop();
	depth--;
	if (errno != saved)
		abort();
}

void *malloc(size_t bytes)
{
	mark();
	return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	mark();
	return __libc_calloc(n, bytes);
}

void free(void *at)
{
	mark();
	__libc_free(at);
}

static void *work(void *arg)
{
	for (int i = 0; i < 100; i++) {
		void *volatile at = malloc(64);

		free(at);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	pthread_key_t key;

	nvtxInitialize(NULL);
	for (int i = 0; i < 40; i++)	/* libc allocates for the later ones */
		pthread_key_create(&key, NULL);
	marking = true;
	for (int i = 0; i < 20; i++) {
		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	marking = false;
	printf("deepest %d\n", deepest);
	return 0;
}
