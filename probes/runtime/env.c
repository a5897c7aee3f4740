/* SPDX-License-Identifier: MIT */
/*
 * The program's environment, read from beside. getenv() takes no lock: while another thread calls
 * setenv(), it may read a list that has been freed, and the program dies. Python does that whenever
 * os.environ is set, and our threads run beside it. So all is copied by reads that may fail; what
 * is torn is no variable.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/runtime/runtime.h"

#define ENTRIES 64
#define NAME_BYTES 64

static bool env_is(const char *entry, const char *name, size_t length)
{
	char head[NAME_BYTES];

	return length < sizeof(head) && rt_peek(head, entry, length + 1) == length + 1 &&
	       !memcmp(head, name, length) && head[length] == '=';
}

static const char *env_copy(const char *value, char *text, size_t size)
{
	size_t got = rt_peek(text, value, size);

	return memchr(text, '\0', got) ? text : NULL;
}

const char *rt_env(const char *name, char *text, size_t size)
{
	char **list = __atomic_load_n(&environ, __ATOMIC_ACQUIRE), *entry[ENTRIES];
	size_t length = strlen(name), n = ENTRIES;

	for (size_t at = 0; list && n == ENTRIES; at += n) {
		n = rt_peek(entry, list + at, sizeof(entry)) / sizeof(*entry);
		for (size_t i = 0; i < n; i++) {
			if (!entry[i])
				return NULL;
			if (env_is(entry[i], name, length))
				return env_copy(entry[i] + length + 1, text, size);
		}
	}
	return NULL;
}
