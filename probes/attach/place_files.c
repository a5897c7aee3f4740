/* SPDX-License-Identifier: MIT */
/* Finds the libraries that a place (place.h) needs besides the probes, as tftop loads them. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/attach/place.h"

/* Also what liblttng-ust itself needs: a container may lack it. */
const char *const place_lttng[] = {
	"liblttng-ust.so.1",
	"liblttng-ust-common.so.1",
	"liblttng-ust-tracepoint.so.1",
	"libnuma.so.1",
	"libnumatf.so",		/* the same in a bundle, where no program takes it for its own */
	NULL,
};

struct library_search {
	const char *name;
	char *path;
	size_t size;
};

static bool try_folder(const struct library_search *s, const char *folder, size_t length)
{
	return length &&
	       (size_t)snprintf(s->path, s->size, "%.*s/%s", (int)length, folder, s->name) <
		       s->size &&
	       access(s->path, R_OK) == 0;
}

/* Searches the folders of what this process has loaded: LTTng's other libraries, libc. */
static int beside(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	return slash && info->dlpi_name[0] == '/' &&
	       try_folder(data, info->dlpi_name, (size_t)(slash - info->dlpi_name));
}

bool place_find_library(const char *name, const char *lib_dir, char *path, size_t size)
{
	struct library_search s = { .name = name, .path = path, .size = size };
	const char *list = getenv("LD_LIBRARY_PATH");

	if (try_folder(&s, lib_dir, strlen(lib_dir)))
		return true;
	while (list && *list) {
		size_t length = strcspn(list, ":");

		if (list[0] == '/' && try_folder(&s, list, length))
			return true;
		list += length + (list[length] != '\0');
	}
	return dl_iterate_phdr(beside, &s) != 0;
}
