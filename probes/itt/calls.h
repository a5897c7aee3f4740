/* SPDX-License-Identifier: MIT */
/* The ITT functions that the probe takes over. */
#ifndef PROBES_ITT_CALLS_H
#define PROBES_ITT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct itt_hook {
	const char *name;	/* as in the static part's list */
	void (*ours)(void);
	bool keep;		/* needed also at level off, because it returns handles or names */
};

extern const struct itt_hook itt_hooks[];
extern const size_t itt_hook_count;

/* Called in the child after a fork. */
void itt_calls_fork_child(void);

#endif
