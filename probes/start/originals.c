/* SPDX-License-Identifier: MIT */
/* See originals.h. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "probes/imports/file.h"
#include "probes/start/originals.h"

#define PATH_BYTES MODULE_PATH_BYTES

static const char here;

/* Whether the address is in this library: such a definition is never an original. */
static bool is_ours(const void *address)
{
	struct address_module found, self;

	return module_of_address(address, &found) && module_of_address(&here, &self) &&
	       found.base == self.base;
}

static void *in_library(const char *path, const char *symbol)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *address;

	if (!library)
		return NULL;
	address = dlsym(library, symbol);
	dlclose(library);
	return address && !is_ours(address) ? address : NULL;
}

struct pick {
	const char *word;
	int skip;
	char path[PATH_BYTES];
};

static int pick_next(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct pick *p = arg;
	size_t length;

	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, p->word) || p->skip-- > 0)
		return 0;
	length = strlen(info->dlpi_name);
	if (length >= sizeof(p->path))
		return 0;
	memcpy(p->path, info->dlpi_name, length + 1);
	return 1;
}

/* No library may be opened while the list of all is walked, because that would take the loader's
 * locks in the wrong order. */
void *originals_in(const char *word, const char *symbol)
{
	struct pick p;
	void *address;

	p.word = word;
	for (int n = 0;; n++) {
		p.skip = n;
		if (!dl_iterate_phdr(pick_next, &p))
			return NULL;
		address = in_library(p.path, symbol);
		if (address)
			return address;
	}
}

bool originals_is_in(const char *word, const void *address)
{
	struct address_module m;

	return address && module_of_address(address, &m) && strstr(m.path, word);
}

void *originals_find(const char *word, const char *symbol, const void *caller)
{
	void *address = dlsym(RTLD_NEXT, symbol);
	struct address_module m;

	if (!address && caller && module_of_address(caller, &m) && m.path[0])
		address = in_library(m.path, symbol);
	if (!address)
		address = originals_in(word, symbol);
	/* the slot must not outlive the library */
	if (address && module_of_address(address, &m) && m.path[0])
		dlopen(m.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return address;
}
