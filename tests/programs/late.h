/* SPDX-License-Identifier: MIT */
/*
 * Brings a probe library into the program that includes this header while it runs, as attaching
 * would: dlopen and tftop_probe_attach() on a thread that is not one of the program's.
 */
#ifndef TESTS_PROGRAMS_LATE_H
#define TESTS_PROGRAMS_LATE_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/schema/attach.h"

struct late {
	const char *library, *entry;
	int result;		/* enum tft_attached */
	const char *why;
};

static void *late_thread(void *arg)
{
	struct late *late = arg;
	void *probe = dlopen(late->library, RTLD_NOW | RTLD_LOCAL);
	int (*attach)(void);
	const char *(*why)(void);

	late->result = -100;
	late->why = "";
	if (!probe)
		late->why = dlerror();
	*(void **)&attach = probe ? dlsym(probe, late->entry) : NULL;
	*(void **)&why = probe ? dlsym(probe, "tftop_attach_why") : NULL;
	if (!attach || !why)
		return NULL;
	late->result = attach();
	late->why = why();
	return NULL;
}

/* Waits for the attach; if the result is not TFT_ATTACHED, says why on stderr. Returns the
 * result. */
static inline int late_call(const char *library, const char *entry)
{
	struct late late = { .library = library, .entry = entry };
	pthread_t thread;

	if (pthread_create(&thread, NULL, late_thread, &late)) {
		perror("late: no thread");
		exit(2);
	}
	pthread_join(thread, NULL);
	if (late.result)
		fprintf(stderr, "late: %d: %s\n", late.result, late.why);
	return late.result;
}

static inline int late_attach(const char *library)
{
	return late_call(library, "tftop_probe_attach");
}

#endif
