/* SPDX-License-Identifier: MIT */
/*
 * The part of the ITT binary interface that is read, written by hand from its public description
 * (intel/ittapi: ittnotify.h, ittnotify_config.h; BSD-3-Clause or GPL-2.0). The static part that is
 * linked into a program (one copy per module) loads the library that INTEL_LIBITTNOTIFY64 names and
 * calls its __itt_api_init; the library walks the list of functions and stores its own.
 *
 * What is declared here has not changed from 2011 to 3.26: newer static parts add members after
 * api_list and string_list.
 */
#ifndef PROBES_ITT_ABI_H
#define PROBES_ITT_ABI_H

#include <pthread.h>

#define ITT_PATH_ENV "INTEL_LIBITTNOTIFY64"
#define ITT_BUILD_MIN 20110101ul	/* older builds have other list entries */

struct itt_domain {
	volatile int flags;	/* 0: the program's macros do not call the tool */
	const char *name;
	void *wide;
	int extra1;		/* for the tool: the id of the name */
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_id {	/* passed by value */
	unsigned long long d1, d2, d3;
};

struct itt_api {
	const char *name;	/* NULL ends the list */
	void **function;
	void *init_function;
	void *null_function;	/* the function that is called if there is no tool; may be NULL */
	int group;
};

struct itt_global {
	unsigned char magic[8];
	unsigned long version_major, version_minor, version_build;
	volatile long api_initialized, mutex_initialized, atomic_counter;
	pthread_mutex_t mutex;
	void *library;
	void *error_handler;
	const char **library_path;
	struct itt_api *api_list;
};

#endif
