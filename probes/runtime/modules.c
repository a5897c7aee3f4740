/* SPDX-License-Identifier: MIT */
/*
 * The libraries of the process, examined and loaded by the probes' own threads. A forked child does
 * not get fresh locks of the loader, so a fork waits until these threads are done.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "probes/imports/file.h"
#include "probes/runtime/internal.h"
#include "probes/schema/attach.h"

#define LOOK_NS 100000000		/* between two looks for what was loaded meanwhile */

static pthread_mutex_t loader_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loader_held;		/* held during a fork */

void rt_modules_fork(enum rt_fork stage)
{
	rt_fork_lock(&loader_lock, &loader_held, stage);
}

void *rt_dlopen(const char *file, int flags)
{
	void *h;

	if (!rt_lock(&loader_lock))
		return NULL;
	h = dlopen(file, flags);
	rt_unlock(&loader_lock);
	return h;
}

static int first(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof(info->dlpi_adds))
		*(uint64_t *)arg = info->dlpi_adds;
	return 1;
}

/* How many libraries were ever loaded. */
static uint64_t loaded_ever(void)
{
	uint64_t loaded = 0;

	if (rt_lock(&loader_lock)) {
		dl_iterate_phdr(first, &loaded);
		rt_unlock(&loader_lock);
	}
	return loaded;
}

void rt_modules_seen(struct rt_modules_watch *watch)
{
	atomic_store(&watch->loaded, loaded_ever());
	atomic_store(&watch->on, true);
}

bool rt_modules_came(struct rt_modules_watch *watch, int64_t now_ns)
{
	uint64_t loaded;

	if (!atomic_load(&watch->on) || now_ns - watch->looked_ns < LOOK_NS)
		return false;
	watch->looked_ns = now_ns;
	loaded = loaded_ever();
	return atomic_exchange(&watch->loaded, loaded) != loaded;
}

bool rt_modules_differ(const struct rt_modules_watch *watch)
{
	return loaded_ever() != atomic_load(&watch->loaded);
}

/* ---- XLA on a GPU ---- */

struct late_seen {
	bool plugin, driver;
};

static int late_look(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = info->dlpi_name ? basename(info->dlpi_name) : "";
	struct late_seen *seen = arg;

	(void)size;
	seen->plugin |= rt_begins(name, TFT_XLA_GPU);
	seen->driver |= rt_begins(name, TFT_XLA_DRIVER);
	return 0;
}

bool rt_late_xla(const char *probe)
{
	struct late_seen seen = { .plugin = false };
	char list[256];

	if (tft_xla_late_has(rt_env(TFT_XLA_LATE_ENV, list, sizeof(list)), probe))
		return false;
	if (!rt_lock(&loader_lock))
		return true;
	dl_iterate_phdr(late_look, &seen);
	rt_unlock(&loader_lock);
	return seen.plugin && seen.driver;
}

/* ---- all libraries ---- */

struct module_list {
	char *names;
	size_t used, size;
};

static int add_name(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module_list *list = arg;
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	size_t n = strlen(name) + 1;

	(void)size;
	if (list->used + n < list->size)	/* includes room for the end */
		memcpy(list->names + list->used, name, n);
	list->used += n;
	return 0;
}

/* All names, each ended by a NUL, owned by the caller; *end is behind the last one. */
static char *all_names(const char **end)
{
	struct module_list list = { .size = 16384 };

	for (;;) {
		list.names = malloc(list.size);
		list.used = 0;
		if (!list.names || !rt_lock(&loader_lock))
			break;
		dl_iterate_phdr(add_name, &list);
		rt_unlock(&loader_lock);
		if (list.used < list.size) {
			*end = list.names + list.used;
			return list.names;
		}
		free(list.names);
		list.size = list.used * 2;
	}
	free(list.names);
	rt_dropped(1);
	return NULL;
}

void rt_modules(void (*each)(void *handle, const char *name, void *arg), void *arg)
{
	int saved = errno;
	const char *end = NULL;
	char *names = all_names(&end);

	for (const char *name = names; name && name < end; name += strlen(name) + 1) {
		/* the program itself has no name; the kernel's library has no file */
		void *h = rt_dlopen(*name ? name : NULL, RTLD_LAZY | RTLD_NOLOAD);

		if (!h)
			continue;
		each(h, name, arg);
		dlclose(h);
	}
	free(names);
	errno = saved;
}

struct headers {
	const struct link_map *map;
	const ElfW(Phdr) *phdr;
	int count;
};

static int headers_of(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct headers *h = arg;

	(void)size;
	if (info->dlpi_addr != h->map->l_addr || strcmp(info->dlpi_name, h->map->l_name))
		return 0;
	h->phdr = info->dlpi_phdr;
	h->count = info->dlpi_phnum;
	return 1;
}

const ElfW(Phdr) *rt_module_phdr(void *handle, uintptr_t *base, int *count)
{
	struct headers h = { 0 };

	if (dlinfo(handle, RTLD_DI_LINKMAP, &h.map) || !rt_lock(&loader_lock))
		return NULL;
	dl_iterate_phdr(headers_of, &h);
	rt_unlock(&loader_lock);
	*base = h.map->l_addr;
	*count = h.count;
	return h.phdr;
}

bool rt_module_of(const void *address, struct address_module *module, bool *found)
{
	if (!rt_lock(&loader_lock))
		return false;
	*found = module_of_address(address, module);
	rt_unlock(&loader_lock);
	return true;
}

struct module_named {
	const char *begins;
	struct address_module *module;
};

static int is_named(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct module_named *named = arg;
	const char *path = info->dlpi_name ? info->dlpi_name : "";
	size_t length = strlen(path);

	(void)size;
	if (!rt_begins(basename(path), named->begins) || length >= MODULE_PATH_BYTES)
		return 0;
	named->module->base = info->dlpi_addr;
	memcpy(named->module->path, path, length + 1);
	return 1;
}

bool rt_module_named(const char *begins, struct address_module *module)
{
	struct module_named named = { begins, module };
	bool found;

	if (!rt_lock(&loader_lock))
		return false;
	found = dl_iterate_phdr(is_named, &named) != 0;
	rt_unlock(&loader_lock);
	return found;
}

void *rt_module_symbol(void *handle, const char *symbol)
{
	struct link_map *map = NULL, *of = NULL;
	void *at = dlsym(handle, symbol);
	Dl_info info;

	if (!at || dlinfo(handle, RTLD_DI_LINKMAP, &map) ||
	    !dladdr1(at, &info, (void **)&of, RTLD_DL_LINKMAP))
		return NULL;
	return of == map ? at : NULL;
}

void *rt_symbol(const char *name, size_t *size)
{
	const ElfW(Sym) *entry = NULL;
	Dl_info info;
	void *at;

	if (!rt_lock(&loader_lock))
		return NULL;
	at = dlsym(RTLD_DEFAULT, name);
	if (size)
		*size = at && dladdr1(at, &info, (void **)&entry, RTLD_DL_SYMENT) && entry ?
			entry->st_size : 0;
	rt_unlock(&loader_lock);
	return at;
}
