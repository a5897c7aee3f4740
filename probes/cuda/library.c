/* SPDX-License-Identifier: MIT */
#include "probes/cuda/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probes/cuda/family.h"
#include "probes/cuda/find.h"
#include "probes/runtime/runtime.h"

static struct cupti_library library;
static void *library_handle;

/* ---- the driver ---- */

#define CUDA_NOT_INITIALIZED 3	/* CUDA_ERROR_NOT_INITIALIZED, cuda.h */

bool cupti_driver_runs(void)
{
	struct mapped m;
	union {
		void *object;
		int (*function)(int *count);
	} get;
	int count;
	void *h;

	find_mapped(&m);
	h = *m.cuda ? dlopen(m.cuda, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	get.object = h ? dlsym(h, "cuDeviceGetCount") : NULL;
	if (h)
		dlclose(h);	/* closes the reference, not the library */
	return get.object && get.function(&count) != CUDA_NOT_INITIALIZED;
}

static int driver_version(const struct mapped *m)
{
	void *h = *m->cuda ? dlopen(m->cuda, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	union {
		void *object;
		int (*function)(int *version);
	} get = { h ? dlsym(h, "cuDriverGetVersion") : NULL };
	int version = 0;

	if (get.object && get.function(&version))
		version = 0;
	if (h)
		dlclose(h);	/* closes the reference, not the library */
	return version;
}

/* ---- which release ---- */

/* The name that the library gives itself, whatever its file is called. */
static const char *library_soname(void *handle)
{
	struct link_map *map;
	const char *strings = NULL;
	size_t name = 0;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map->l_ld)
		return "";
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_SONAME)
			name = d->d_un.d_val;
	}
	return strings && name ? strings + name : "";
}

/* CUPTI numbered its releases one by one until 12.9: the list of cupti_version.h, and what the
 * libraries of 11.7 .. 12.1 really return. */
static uint32_t release_of(uint32_t version, void *handle)
{
	static const uint16_t counted[] = {
		[13] = CUPTI_RELEASE(11, 0), [14] = CUPTI_RELEASE(11, 1),
		[15] = CUPTI_RELEASE(11, 4), [16] = CUPTI_RELEASE(11, 5),
		[17] = CUPTI_RELEASE(11, 6), [18] = CUPTI_RELEASE(11, 8),
		[19] = CUPTI_RELEASE(12, 0), [20] = CUPTI_RELEASE(12, 2),
		[21] = CUPTI_RELEASE(12, 3), [22] = CUPTI_RELEASE(12, 4),
		[23] = CUPTI_RELEASE(12, 5), [24] = CUPTI_RELEASE(12, 6),
		[25] = CUPTI_RELEASE(12, 6), [26] = CUPTI_RELEASE(12, 8),
		[27] = CUPTI_RELEASE(12, 9), [28] = CUPTI_RELEASE(12, 9),
	};
	const char *name = library_soname(handle);
	int minor;

	if (version >= 130000)
		return CUPTI_RELEASE(version / 10000, version / 100 % 100);
	if (sscanf(name, "libcupti.so.11.%d", &minor) == 1 && minor >= 0 && minor < 10)
		return CUPTI_RELEASE(11, (uint32_t)minor);
	/* 12.0 and 12.1 still return the version of 11.8 */
	if (version == 18 && !strcmp(name, "libcupti.so.12"))
		return CUPTI_RELEASE(12, dlsym(handle, "cuptiGetGlobalCallbackState") ? 1 : 0);
	if (version >= sizeof(counted) / sizeof(counted[0]))
		return CUPTI_RELEASE(12, 9);
	return counted[version];
}

/* The path of a library that the linker has found by its name. */
static void name_path(struct cupti_library *l, void *handle)
{
	struct link_map *map;

	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map->l_name && *map->l_name)
		snprintf(l->path, sizeof(l->path), "%s", map->l_name);
}

static void name_version(struct cupti_library *lib)
{
	uint32_t update = lib->version >= 130000 ? lib->version % 100 :
			  lib->version == 28 ? 1 : 0;
	int n = snprintf(lib->version_text, sizeof(lib->version_text), "%u.%u",
			 lib->release / 1000, lib->release % 1000 / 10);

	if (update)
		snprintf(lib->version_text + n, sizeof(lib->version_text) - (size_t)n,
			 " update %u", update % 100);
}

/* ---- finding it ---- */

struct attempt {
	void *handle;
	char error[160]; /* the first file that exists and could not be loaded */
};

static bool try_load(const char *path, void *arg)
{
	struct attempt *a = arg;
	const char *said;

	a->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (a->handle) {
		snprintf(library.path, sizeof(library.path), "%s", path);
		return true;
	}
	said = dlerror();
	if (said && *path == '/' && !*a->error)
		snprintf(a->error, sizeof(a->error), "%s", said);
	return false;
}

/* Tries what the user has named: a file, or a folder that contains one. */
static bool try_named(const char *named, int major, struct attempt *a)
{
	struct stat st;
	char path[FIND_PATH_MAX];

	if (stat(named, &st) || !S_ISDIR(st.st_mode))
		return try_load(named, a);
	for (const char *const *name = find_names(major); *name; name++) {
		snprintf(path, sizeof(path), "%s/%s", named, *name);
		if (!stat(path, &st) && try_load(path, a))
			return true;
	}
	snprintf(path, sizeof(path), "%s/libcupti.so", named);
	return try_load(path, a);
}

/* Returns the handle, or NULL and the reason. */
static void *library_load(const struct mapped *m, char *why, size_t size)
{
	char value[PATH_MAX];
	const char *named = rt_env(TFT_CUPTI_ENV, value, sizeof(value));
	struct attempt a = { NULL, "" };
	int release, major;

	if (*m->cupti) {
		a.handle = dlopen(m->cupti, RTLD_LAZY | RTLD_NOLOAD);
		if (a.handle) {
			snprintf(library.path, sizeof(library.path), "%s", m->cupti);
			if (*m->second)
				snprintf(library.note, sizeof(library.note), "two libcupti are "
					 "loaded, the first is used: '%.280s', not '%.280s'",
					 m->cupti, m->second);
			return a.handle;
		}
	}
	release = driver_version(m);
	major = m->major ? m->major : release / 1000;
	if (named && *named) {
		if (!try_named(named, major, &a))
			snprintf(why, size, TFT_CUPTI_ENV "='%s' could not be loaded: %s", named,
				 *a.error ? a.error : "there is no such file");
		return a.handle;
	}
	if (find_files(m, major, release, try_load, &a))
		return a.handle;
	if (*a.error)
		snprintf(why, size, "libcupti could not be loaded: %s", a.error);
	else
		snprintf(why, size, "there is no libcupti for CUDA %d: not among the program's "
			 "libraries, not in the linker's paths, not in /usr/local/cuda*; "
			 TFT_CUPTI_ENV "=FILE names one (it comes with the toolkit, or with "
			 "pip install nvidia-cuda-cupti)", major);
	return NULL;
}

const struct cupti_library *cupti_find(char *why, size_t size)
{
	union {
		void *object;
		int (*function)(uint32_t *version);
	} get_version;
	struct mapped m;
	const char *lacks;
	void *handle;
	int result;

	find_mapped(&m);
	if (!*m.cuda) {
		snprintf(why, size, "libcuda is not loaded: CUDA is not in use here");
		return NULL;
	}
	handle = library_load(&m, why, size);
	if (!handle)
		return NULL;
	library_handle = handle;
	library.driver = driver_version(&m);
	name_path(&library, handle);
	get_version.object = dlsym(handle, "cuptiGetVersion");
	result = get_version.object ? get_version.function(&library.version) : CUPTI_UNKNOWN;
	if (result || !library.version) {
		snprintf(why, size,
			 "'%s' does not tell its version (%d): it is not libcupti, or too new "
			 "for this driver", library.path, result);
		return NULL;
	}
	library.release = release_of(library.version, handle);
	name_version(&library);
	lacks = family_resolve(&library, handle);
	if (library.release < CUPTI_RELEASE(11, 4) || lacks) {
		snprintf(why, size, "'%s' is CUPTI %s%s%s; 11.4 is the oldest that is supported",
			 library.path, library.version_text, lacks ? " without " : "",
			 lacks ? lacks : "");
		return NULL;
	}
	return &library;
}

void *cupti_handle(void)
{
	return library_handle;
}

bool cupti_is_mapped(void)
{
	struct mapped m;

	find_mapped(&m);
	return *m.cupti;
}

/* ---- rules by version ---- */

bool cupti_null_buffer(const struct cupti_library *lib)
{
	return lib->release >= CUPTI_RELEASE(12, 9);
}

bool cupti_slows_down(const struct cupti_library *lib)
{
	return lib->version >= 130200 && lib->version <= 130400;
}

bool cupti_has_kind(const struct cupti_library *lib, uint32_t kind)
{
	uint32_t since = cupti_kind_since(kind);

	return since && lib->release >= since;
}
