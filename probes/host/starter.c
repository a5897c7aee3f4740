/* SPDX-License-Identifier: MIT */
#include "probes/host/starter.h"

#include <stdio.h>
#include <string.h>

#include "probes/host/usage.h"

#define CALL "from multiprocessing.forkserver import main; main("

struct image {
	struct usage_stat stat;
	char command[1024];		/* the arguments, each with a zero; maybe cut off */
	long length;
};

static bool image_read(const char *root, pid_t pid, struct image *image)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/proc/%d/stat", root, (int)pid);
	if (usage_read(path, image->command, sizeof(image->command)) <= 0 ||
	    !usage_stat(image->command, &image->stat))
		return false;
	snprintf(path, sizeof(path), "%s/proc/%d/cmdline", root, (int)pid);
	image->length = usage_read(path, image->command, sizeof(image->command));
	return image->length > 0;
}

/* Whether it is a server, or was forked from one. */
static bool runs_server(const struct image *image)
{
	const char *end = image->command + image->length, *after;

	for (const char *at = image->command; at < end; at = after) {
		after = at + strlen(at) + 1;
		if (!strcmp(at, "-c"))
			return after < end && strstr(after, CALL);
	}
	return false;
}

/* Whether there was no exec between the two. */
static bool image_same(const struct image *one, const struct image *other)
{
	return one->stat.stack == other->stat.stack && one->length == other->length &&
	       !memcmp(one->command, other->command, (size_t)one->length);
}

int32_t starter_of(const char *root, pid_t pid)
{
	struct image self, parent, above;

	if (!image_read(root, pid, &self) || !runs_server(&self) || self.stat.stack <= 1 ||
	    !image_read(root, (pid_t)self.stat.parent, &parent) || parent.stat.stack <= 1)
		return 0;
	if (!image_same(&self, &parent))
		return STARTER_SERVER;
	if (!image_read(root, (pid_t)parent.stat.parent, &above) || above.stat.stack <= 1 ||
	    image_same(&parent, &above))
		return 0;		/* a worker's own child */
	return (int32_t)parent.stat.parent;
}
