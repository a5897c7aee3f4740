/* SPDX-License-Identifier: MIT */
/* See late.h. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/start/internal.h"
#include "probes/start/late.h"

#define SETTLE_NS 50000000	/* after this time a lazy binding that had started is finished */

#define X(function) \
	extern char start_own_##function[] __attribute__((visibility("hidden")));
START_WRAPPED(X)
#undef X

static const struct wrapped {
	const char *name;
	void *ours;
} wrapped[] = {
#define X(function) { #function, start_own_##function },
	START_WRAPPED(X)
#undef X
};
#define WRAPPED (sizeof(wrapped) / sizeof(wrapped[0]))

static void *libcs[WRAPPED];	/* the originals of the functions that are replaced */

bool start_is_late(void)
{
	return dlsym(RTLD_DEFAULT, "close") != start_own_close;
}

void *start_libc_jump(const struct tft_import *import)
{
	for (size_t i = 0; i < WRAPPED; i++)
		if (!strcmp(wrapped[i].name, import->name))
			return libcs[i] && (import->unbound || import->now == libcs[i]) ?
			       wrapped[i].ours : NULL;
	return NULL;
}

void *start_close_jump(const struct tft_import *import)
{
	return strcmp(import->name, "close") ? NULL : start_libc_jump(import);
}

/* If another library's definition comes first, that one stays. */
static void find_libcs(void)
{
	for (size_t i = 0; i < WRAPPED; i++) {
		void *next = dlsym(RTLD_NEXT, wrapped[i].name);

		if (next == dlsym(RTLD_DEFAULT, wrapped[i].name))
			libcs[i] = next;
	}
}

/* Lets libraries that are loaded from now on find our definitions of frameworks' functions. */
static void offer(void)
{
	Dl_info self;

	if (dladdr(start_own_close, &self) && self.dli_fname)
		dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NODELETE);
}

static tft_replace_code *replacer;

void tftop_probe_replacer(tft_replace_code *replace)
{
	replacer = replace;
}

static int start_attach(void)
{
	static bool done;
	struct timespec settle = { 0, SETTLE_NS };

	if (done)
		start_frameworks_again(replacer);
	if (done || !start_is_late())
		return TFT_ATTACH_UNUSED;
	done = true;
	find_libcs();
	offer();
	/* first, so that no thread of the program waits for a probe to be loaded */
	start_frameworks_late(replacer);
	start_libraries_late();
	nanosleep(&settle, NULL);
	start_libraries_again();
	return TFT_ATTACH_READY;
}

int tftop_probe_attach(void)
{
	return start_attach();
}
