/* SPDX-License-Identifier: MIT */
/*
 * Gives targets that see other files than tftop the files that they need (probes/attach/place.h).
 * Targets with the same root share one place. It is removed with the last of them that runs, since
 * it keeps their mount namespace alive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "probes/attach/place.h"
#include "probes/attach/stage.h"
#include "probes/session/targets/targets.h"

struct session_apart {
	struct session_apart *next;
	struct container_place place;
	/* identifies the root folder and the namespace that it is for */
	struct stat root, space;
};

static bool read_identity(pid_t pid, struct stat *root, struct stat *space)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (stat(path, root) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat(path, space) == 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* ---- contents of a place ---- */

struct filling {
	struct session *session;
	struct container_place *place;
	char *why;
	size_t size;
};

static bool copy_library(void *arg, const char *name)
{
	struct filling *f = arg;
	char path[1200];

	snprintf(path, sizeof(path), "%s/%s", f->session->probes.lib_dir, name);
	return place_copy(f->place, path, f->why, f->size);
}

static bool fill_place(struct filling *f)
{
	const struct environ_choice *probes = &f->session->probes;
	char path[1200];

	if (!copy_library(f, STAGE_LIBRARY) || !environ_each_library(probes, copy_library, f))
		return false;
	/* if LTTng needs a file that is missing, dlopen() in the target reports that */
	for (size_t i = 0; place_lttng[i]; i++)
		if (place_find_library(place_lttng[i], probes->lib_dir, path, sizeof(path)) &&
		    !place_copy(f->place, path, f->why, f->size))
			return false;
	return true;
}

bool apart_open(struct session *s, struct session_target *target, char *why, size_t size)
{
	struct session_apart *a;
	struct stat root, space;
	struct filling f;

	if (!target->is_apart || target->apart)
		return true;
	if (!read_identity(target->pid, &root, &space)) {
		snprintf(why, size, "the process has just ended");
		return false;
	}
	for (a = s->aparts; a; a = a->next)
		if (is_same_file(&a->root, &root) && is_same_file(&a->space, &space)) {
			target->apart = a;
			return true;
		}
	a = calloc(1, sizeof(*a));
	if (!a) {
		snprintf(why, size, "out of memory");
		return false;
	}
	a->root = root;
	a->space = space;
	f = (struct filling){ .session = s, .place = &a->place, .why = why, .size = size };
	if (!place_open(&a->place, target->pid, s->uid, s->ready.dir, why, size) ||
	    !fill_place(&f)) {
		place_remove(&a->place);
		free(a);
		return false;
	}
	a->next = s->aparts;
	s->aparts = a;
	target->apart = a;
	return true;
}

static bool is_needed(const struct session *s, const struct session_apart *a)
{
	for (size_t i = 0; i < s->n_targets; i++)
		if (s->targets[i].apart == a && !s->targets[i].ended && s->targets[i].fd >= 0)
			return true;
	return false;
}

void apart_clear(struct session *s)
{
	struct session_apart **at = &s->aparts;

	while (*at) {
		struct session_apart *a = *at;

		if (is_needed(s, a)) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		for (size_t i = 0; i < s->n_targets; i++)
			if (s->targets[i].apart == a)
				s->targets[i].apart = NULL;
		place_remove(&a->place);
		free(a);
	}
}

const char *apart_dir(const struct session *s, const struct session_target *target)
{
	return target && target->apart ? target->apart->place.path : s->ready.dir;
}

int apart_folder(const struct session_target *target)
{
	return target->apart ? target->apart->place.folder : -1;
}

const char *apart_libraries(const struct session_target *target)
{
	return target && target->apart ? target->apart->place.path : NULL;
}
