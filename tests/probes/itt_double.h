/* SPDX-License-Identifier: MIT */
/*
 * A substitute for the static part of ITT, for machines without it (no distribution packages it):
 * its load protocol and the calls that itt_test.c makes, under their own names. With -DHAVE_ITT the
 * real one is compiled instead.
 */
#ifndef TESTS_PROBES_ITT_DOUBLE_H
#define TESTS_PROBES_ITT_DOUBLE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "probes/itt/abi.h"

typedef struct itt_domain __itt_domain;
typedef struct itt_string __itt_string_handle;
typedef struct itt_id __itt_id;
typedef int __itt_event;
typedef unsigned long long __itt_timestamp;
static const __itt_id __itt_null;

static struct {
	__itt_domain *(*domain_create)(const char *);
	__itt_string_handle *(*string_handle_create)(const char *);
	void (*task_begin)(const __itt_domain *, __itt_id, __itt_id, __itt_string_handle *);
	void (*task_begin_fn)(const __itt_domain *, __itt_id, __itt_id, void *);
	void (*task_end)(const __itt_domain *);
	void (*task_begin_overlapped)(const __itt_domain *, __itt_id, __itt_id,
				      __itt_string_handle *);
	void (*task_end_overlapped)(const __itt_domain *, __itt_id);
	void (*region_begin)(const __itt_domain *, __itt_id, __itt_id, __itt_string_handle *);
	void (*region_end)(const __itt_domain *, __itt_id);
	void (*frame_begin_v3)(const __itt_domain *, __itt_id *);
	void (*frame_end_v3)(const __itt_domain *, __itt_id *);
	void (*frame_submit_v3)(const __itt_domain *, __itt_id *, __itt_timestamp, __itt_timestamp);
	__itt_timestamp (*get_timestamp)(void);
	__itt_event (*event_create)(const char *, int);
	int (*event_start)(__itt_event);
	int (*event_end)(__itt_event);
	void (*marker)(const __itt_domain *, __itt_id, __itt_string_handle *, int);
	void (*thread_set_name)(const char *);
	void (*metadata_add)(const __itt_domain *, __itt_id, __itt_string_handle *, int, size_t,
			     void *);
	void (*pause)(void);
} itt;

#define ENTRY(name) { "__itt_" #name, (void **)&itt.name, NULL, NULL, -1 }
static struct itt_api itt_list[] = {
	ENTRY(domain_create), ENTRY(string_handle_create), ENTRY(task_begin),
	ENTRY(task_begin_fn), ENTRY(task_end), ENTRY(task_begin_overlapped),
	ENTRY(task_end_overlapped), ENTRY(region_begin), ENTRY(region_end),
	ENTRY(frame_begin_v3), ENTRY(frame_end_v3), ENTRY(frame_submit_v3),
	ENTRY(get_timestamp), ENTRY(event_create), ENTRY(event_start), ENTRY(event_end),
	ENTRY(marker), ENTRY(thread_set_name), ENTRY(metadata_add), ENTRY(pause),
	{ NULL, NULL, NULL, NULL, 0 },
};

static struct itt_global itt_global = {
	.magic = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 },
	.version_major = 3, .version_build = 20180723,
	.mutex_initialized = 1, .mutex = PTHREAD_MUTEX_INITIALIZER, .api_list = itt_list,
};

/* Runs at the start, and again if the variable is set later. */
__attribute__((constructor)) static void itt_load(void)
{
	const char *path = getenv(ITT_PATH_ENV);
	void *h = path ? dlopen(path, RTLD_LAZY) : NULL;
	void (*init)(struct itt_global *, int) = h ?
		(void (*)(struct itt_global *, int))dlsym(h, "__itt_api_init") : NULL;

	itt_global.library = h;
	if (init)
		init(&itt_global, -1);
	itt_global.api_initialized = 1;
}

/* As the macros do: does nothing if there is no function or the domain is disabled. */
#define SLOT(name) __atomic_load_n(&itt.name, __ATOMIC_ACQUIRE)
#define VOID(name, d, ...) do { \
	__typeof__(itt.name) fn_ = SLOT(name); \
	if ((d) && (d)->flags && fn_) \
		fn_(d, ##__VA_ARGS__); \
} while (0)
#define __itt_domain_create(n) (SLOT(domain_create) ? itt.domain_create(n) : NULL)
#define __itt_string_handle_create(n) \
	(SLOT(string_handle_create) ? itt.string_handle_create(n) : NULL)
#define __itt_task_begin(d, i, p, n) VOID(task_begin, d, i, p, n)
#define __itt_task_begin_fn(d, i, p, f) VOID(task_begin_fn, d, i, p, f)
#define __itt_task_end(d) VOID(task_end, d)
#define __itt_task_begin_overlapped(d, i, p, n) VOID(task_begin_overlapped, d, i, p, n)
#define __itt_task_end_overlapped(d, i) VOID(task_end_overlapped, d, i)
#define __itt_region_begin(d, i, p, n) VOID(region_begin, d, i, p, n)
#define __itt_region_end(d, i) VOID(region_end, d, i)
#define __itt_frame_begin_v3(d, i) VOID(frame_begin_v3, d, i)
#define __itt_frame_end_v3(d, i) VOID(frame_end_v3, d, i)
#define __itt_frame_submit_v3(d, i, b, e) VOID(frame_submit_v3, d, i, b, e)
#define __itt_marker(d, i, n, s) VOID(marker, d, i, n, s)
#define __itt_metadata_add(d, i, k, t, c, v) VOID(metadata_add, d, i, k, t, c, v)
#define __itt_metadata_u64 1
#define __itt_scope_task 2
#define __itt_get_timestamp() (SLOT(get_timestamp) ? itt.get_timestamp() : 0)
#define __itt_event_create(n, l) (SLOT(event_create) ? itt.event_create(n, l) : 0)
#define __itt_event_start(e) (SLOT(event_start) ? itt.event_start(e) : 0)
#define __itt_event_end(e) (SLOT(event_end) ? itt.event_end(e) : 0)
#define __itt_thread_set_name(n) do { \
	if (SLOT(thread_set_name)) \
		itt.thread_set_name(n); \
} while (0)
#define __itt_task_begin_ptr SLOT(task_begin)

static inline __itt_id __itt_id_make(void *addr, unsigned long long extra)
{
	__itt_id id = { (unsigned long long)(uintptr_t)addr, extra, 0 };

	return id;
}

#endif
