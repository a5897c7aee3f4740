/* SPDX-License-Identifier: MIT */
/* Names that one probe knows and another one needs. They are few and rarely asked for: one table,
 * searched under a lock that is held around it alone. A forked child inherits them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/runtime/runtime.h"
#include "probes/runtime/spin.h"

#define THINGS 1024u
#define NAME_BYTES 64u

static struct rt_thing_entry {
	uint64_t handle;
	enum rt_thing what;	/* RT_THING_NONE: unused */
	char name[NAME_BYTES];
} things[THINGS];
static uint32_t used;		/* no entry at or above this index */
static _Atomic uint32_t busy, changes;

static struct rt_thing_entry *find(enum rt_thing what, uint64_t handle)
{
	for (uint32_t i = 0; i < used; i++)
		if (things[i].what == what && things[i].handle == handle)
			return &things[i];
	return NULL;
}

static struct rt_thing_entry *free_one(void)
{
	for (uint32_t i = 0; i < used; i++)
		if (things[i].what == RT_THING_NONE)
			return &things[i];
	return used < THINGS ? &things[used++] : NULL;
}

void rt_thing_name(enum rt_thing what, uint64_t handle, const char *name)
{
	int saved = errno;
	struct rt_thing_entry *t;

	if (!rt_spin_lock(&busy)) {
		rt_dropped(1);
		return;
	}
	t = find(what, handle);
	if (!t && name)
		t = free_one();
	if (t) {
		t->what = name ? what : RT_THING_NONE;
		t->handle = handle;
		snprintf(t->name, sizeof(t->name), "%s", name ? name : "");
		atomic_fetch_add(&changes, 1);
	}
	rt_spin_unlock(&busy);
	if (!t && name)
		rt_dropped(1);
	errno = saved;
}

bool rt_thing_named(enum rt_thing what, uint64_t handle, char *name, size_t size)
{
	const struct rt_thing_entry *t;

	if (!rt_spin_lock(&busy))
		return false;
	t = find(what, handle);
	if (t)
		snprintf(name, size, "%s", t->name);
	rt_spin_unlock(&busy);
	return t != NULL;
}

uint32_t rt_things(void)
{
	return atomic_load(&changes);
}
