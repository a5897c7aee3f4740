/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "examples/marks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum marks_kind kind = MARKS_NONE;
static void *tool_library; /* owned; NULL without a tool */

static _Thread_local char stack_names[MARKS_DEPTH][MARKS_NAME_BYTES];
static _Thread_local int stack_depth;

/* --- NVTX, as its headers (version 3) lay it down ------------------------- */

typedef void (*any_function)(void);

#define NVTX_EXPORT_CALLBACKS	 1
#define NVTX_EXPORT_VERSION_INFO 3
#define NVTX_MODULE_CORE	 1
#define NVTX_MESSAGE_ASCII	 1
#define NVTX_PAYLOAD_INT64	 2
#define NVTX_CORE_SLOTS		 16
#define NVTX_CORE_RANGE_PUSH_EX	 8
#define NVTX_CORE_RANGE_PUSH_A	 9
#define NVTX_CORE_RANGE_POP	 11
#define NVTX_CORE_NAME_THREAD_A	 14

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	int64_t payload;
	int32_t message_type;
	const char *message;
};

struct nvtx_callbacks {
	size_t size;
	int (*module_function_table)(int module, any_function ***table, unsigned int *slots);
};

struct nvtx_version_info {
	size_t size;
	uint32_t version;
	uint32_t reserved;
	void (*set_injection_version)(uint32_t version);
};

/* What the tool fills in; NULL: it does not want that call. */
static struct {
	any_function slot[NVTX_CORE_SLOTS];
} nvtx_core;

static any_function *nvtx_core_table[NVTX_CORE_SLOTS + 1];

/* This program marks nothing of the other modules and has no table for them. */
static int nvtx_module_function_table(int module, any_function ***table, unsigned int *slots)
{
	if (module != NVTX_MODULE_CORE)
		return 0;
	if (table)
		*table = nvtx_core_table;
	if (slots)
		*slots = NVTX_CORE_SLOTS;
	return 1;
}

static void nvtx_set_injection_version(uint32_t version)
{
	(void)version;
}

/* The globals of a module begin so: a tool that comes later finds them by that. */
static struct {
	uint32_t state;			/* 0 fresh, 2 complete */
	struct nvtx_callbacks callbacks;
	struct nvtx_version_info version_info;
} nvtx_globals = {
	.callbacks = {
		.size = sizeof(struct nvtx_callbacks),
		.module_function_table = nvtx_module_function_table,
	},
	.version_info = {
		.size = sizeof(struct nvtx_version_info),
		.version = 3,
		.set_injection_version = nvtx_set_injection_version,
	},
};

static const void *nvtx_export_table(uint32_t id)
{
	switch (id) {
	case NVTX_EXPORT_CALLBACKS:
		return &nvtx_globals.callbacks;
	case NVTX_EXPORT_VERSION_INFO:
		return &nvtx_globals.version_info;
	default:
		return NULL;
	}
}

static void nvtx_load_tool(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	int (*init)(const void *(*)(uint32_t));
	int i;

	/* slot 0 is no function and has no place */
	for (i = 1; i < NVTX_CORE_SLOTS; i++)
		nvtx_core_table[i] = &nvtx_core.slot[i];
	if (!path)
		return;
	tool_library = dlopen(path, RTLD_LAZY);
	if (!tool_library)
		return;
	*(void **)&init = dlsym(tool_library, "InitializeInjectionNvtx2");
	if (init && init(nvtx_export_table))
		return;
	memset(&nvtx_core, 0, sizeof(nvtx_core));
	dlclose(tool_library);
	tool_library = NULL;
}

static void nvtx_load(void)
{
	nvtx_load_tool();
	__atomic_store_n(&nvtx_globals.state, 2, __ATOMIC_RELEASE);
}

/* A number at the end of the name, as in "step 12", goes along as payload. */
static void nvtx_push(const char *name)
{
	int (*push_ex)(const struct nvtx_attributes *) =
		(int (*)(const struct nvtx_attributes *))nvtx_core.slot[NVTX_CORE_RANGE_PUSH_EX];
	int (*push_a)(const char *) = (int (*)(const char *))nvtx_core.slot[NVTX_CORE_RANGE_PUSH_A];
	const char *number = strrchr(name, ' ');

	if (number && push_ex) {
		const struct nvtx_attributes attributes = {
			.version = 3,
			.size = sizeof(attributes),
			.payload_type = NVTX_PAYLOAD_INT64,
			.payload = strtoll(number, NULL, 10),
			.message_type = NVTX_MESSAGE_ASCII,
			.message = name,
		};

		push_ex(&attributes);
	} else if (push_a) {
		push_a(name);
	}
}

static void nvtx_pop(void)
{
	int (*pop)(void) = (int (*)(void))nvtx_core.slot[NVTX_CORE_RANGE_POP];

	if (pop)
		pop();
}

static void nvtx_thread_name(const char *name)
{
	void (*name_thread)(uint32_t, const char *) =
		(void (*)(uint32_t, const char *))nvtx_core.slot[NVTX_CORE_NAME_THREAD_A];

	if (name_thread)
		name_thread((uint32_t)gettid(), name);
}

/* --- ITT, as its static part lays it down --------------------------------- */

#define ITT_GROUP_ALL	    (-1)
#define ITT_GROUP_THREAD    (1 << 2)
#define ITT_GROUP_STRUCTURE (1 << 12)

struct itt_domain {
	volatile int enabled;
	const char *name;
	void *name_wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_string;

struct itt_id {
	unsigned long long d1, d2, d3;
};

struct itt_api {
	const char *name;
	void **function;
	void *init_function;
	void *null_function;
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
	struct itt_global *next;
	void *thread_list, *domain_list, *string_list;
	int collection_state;
	void *counter_list;
	unsigned int ipt_collect_events;
	void *histogram_list;
};

static struct {
	struct itt_domain *(*domain_create)(const char *name);
	struct itt_string *(*string_handle_create)(const char *text);
	void (*task_begin)(const struct itt_domain *, struct itt_id, struct itt_id,
			   struct itt_string *);
	void (*task_end)(const struct itt_domain *);
	void (*thread_set_name)(const char *name);
} itt;

static struct itt_domain *itt_domain; /* borrowed from the tool */

static struct itt_api itt_api_list[] = {
	{ "__itt_domain_create", (void **)&itt.domain_create, NULL, NULL, ITT_GROUP_STRUCTURE },
	{ "__itt_string_handle_create", (void **)&itt.string_handle_create, NULL, NULL,
	  ITT_GROUP_STRUCTURE },
	{ "__itt_task_begin", (void **)&itt.task_begin, NULL, NULL, ITT_GROUP_STRUCTURE },
	{ "__itt_task_end", (void **)&itt.task_end, NULL, NULL, ITT_GROUP_STRUCTURE },
	{ "__itt_thread_set_name", (void **)&itt.thread_set_name, NULL, NULL, ITT_GROUP_THREAD },
	{ NULL, NULL, NULL, NULL, 0 },
};

static const char *itt_path;

static struct itt_global itt_global = {
	.magic = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 },
	.version_major = 3,
	.version_build = 20180723,
	.mutex_initialized = 1,
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.library_path = &itt_path,
	.api_list = itt_api_list,
};

static void itt_load(void)
{
	void (*init)(struct itt_global *, int);

	itt_path = getenv("INTEL_LIBITTNOTIFY64");
	if (!itt_path)
		return;
	tool_library = dlopen(itt_path, RTLD_LAZY);
	if (!tool_library)
		return;
	*(void **)&init = dlsym(tool_library, "__itt_api_init");
	if (!init) {
		dlclose(tool_library);
		tool_library = NULL;
		return;
	}
	itt_global.library = tool_library;
	init(&itt_global, ITT_GROUP_ALL);
	itt_global.api_initialized = 1;
	if (itt.domain_create)
		itt_domain = itt.domain_create("train_opencl");
}

static void itt_push(const char *name)
{
	static const struct itt_id none;
	struct itt_string *handle;

	if (!itt_domain || !itt_domain->enabled || !itt.string_handle_create || !itt.task_begin)
		return;
	/* the tool gives the same handle for the same text */
	handle = itt.string_handle_create(name);
	itt.task_begin(itt_domain, none, none, handle);
}

static void itt_pop(void)
{
	if (itt_domain && itt_domain->enabled && itt.task_end)
		itt.task_end(itt_domain);
}

/* --- what the program calls ------------------------------------------------ */

void marks_init(enum marks_kind wanted)
{
	kind = wanted;
	if (kind == MARKS_NVTX)
		nvtx_load();
	else if (kind == MARKS_ITT)
		itt_load();
}

/*
 * The tool's library stays loaded, as with both vendors' own loaders: its
 * threads may still be at work.
 */
void marks_release(void)
{
	kind = MARKS_NONE;
	memset(&nvtx_core, 0, sizeof(nvtx_core));
	memset(&itt, 0, sizeof(itt));
	itt_domain = NULL;
}

void marks_push(const char *format, ...)
{
	char *name;
	va_list args;

	if (kind == MARKS_NONE)
		return;
	if (stack_depth == MARKS_DEPTH)
		abort();
	name = stack_names[stack_depth++];
	va_start(args, format);
	vsnprintf(name, MARKS_NAME_BYTES, format, args);
	va_end(args);
	if (kind == MARKS_NVTX)
		nvtx_push(name);
	else
		itt_push(name);
}

void marks_pop(void)
{
	if (kind == MARKS_NONE)
		return;
	if (!stack_depth)
		abort();
	if (kind == MARKS_NVTX)
		nvtx_pop();
	else
		itt_pop();
	stack_depth--;
}

const char *marks_top(void)
{
	return stack_depth ? stack_names[stack_depth - 1] : NULL;
}

void marks_thread_name(const char *name)
{
	if (kind == MARKS_NVTX)
		nvtx_thread_name(name);
	else if (kind == MARKS_ITT && itt.thread_set_name)
		itt.thread_set_name(name);
}
