/* SPDX-License-Identifier: MIT */
/*
 * See limit.h. /proc/self/cgroup has the path of the group in its hierarchy, for version 2 as
 * "0::PATH", for version 1 as "ID:CONTROLLERS:PATH"; /proc/self/mountinfo has the mounts, each with
 * the path that is its root (cgroups(7), proc(5)). A path that the mount's root is not above is in
 * another part of the hierarchy. Only files that lie on that very mount are believed, as another
 * one may lie over it.
 */
#include "probes/host/limit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/host/usage.h"

#define LIMIT_PATH 1024u
#define LIMIT_DEPTH 32			/* groups above the process's own */

/* Of the sampler's thread. */
static struct {
	char line[8192];		/* of mountinfo; longer ones are left out */
	char text[4096];
	char group[2][LIMIT_PATH];	/* the process's group, by version less 1; "": none */
	char dir[LIMIT_PATH];
} at;

/* ---- texts ---- */

/* Whether a list such as "cpu,cpuacct" has the word. */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, word, length) && (list[length] == ',' || !list[length]))
			return true;
	}
	return false;
}

/* The next part of a text up to the character, which becomes its end; NULL: that is missing. */
static char *part(char **text, char end)
{
	char *begin = *text, *to = strchr(begin, end);

	if (!to)
		return NULL;
	*to = '\0';
	*text = to + 1;
	return begin;
}

/* Paths in mountinfo have blanks and the like as \040. */
static void limit_unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		unsigned value = 0;
		int n = 0;

		while (n < 3 && text[0] == '\\' && text[n + 1] >= '0' && text[n + 1] <= '7')
			value = value * 8 + (unsigned)(text[++n] - '0');
		*to = n == 3 ? (char)value : *text;
		text += n == 3 ? 4 : 1;
	}
	*to = '\0';
}

static bool read_group(char *line)
{
	char *id = part(&line, ':'), *controllers = id ? part(&line, ':') : NULL;
	bool v1 = controllers && list_has(controllers, "cpu");

	/* "/../x" is above the root of the namespace */
	if (!controllers || line[0] != '/' || !strncmp(line, "/..", 3) ||
	    strlen(line) >= LIMIT_PATH)
		return false;
	if (!v1 && (*controllers || strcmp(id, "0")))
		return false;
	memcpy(at.group[v1 ? 0 : 1], line, strlen(line) + 1);
	return true;
}

static bool find_groups(const char *root)
{
	char *text = at.text, *line;
	bool any = false;

	at.group[0][0] = at.group[1][0] = '\0';
	snprintf(at.dir, sizeof(at.dir), "%s/proc/self/cgroup", root);
	if (usage_read(at.dir, at.text, sizeof(at.text)) < 0)
		return false;
	while ((line = part(&text, '\n')))
		any |= read_group(line);
	return any;
}

/* What cpu.stat says that the group was stopped for; -1: nothing, or not in this form. */
static int64_t stopped_ns(const struct limit_level *level)
{
	char text[1024];
	uint64_t count;
	ssize_t n = syscall(SYS_pread64, level->fd, text, sizeof(text) - 1, (off_t)0);

	text[n > 0 ? n : 0] = '\0';
	if (!usage_field(text, level->v1 ? "throttled_time" : "throttled_usec", ' ', &count) ||
	    (!level->v1 && __builtin_mul_overflow(count, 1000u, &count)) || count > INT64_MAX)
		return -1;
	return (int64_t)count;
}

/* "30000 100000" of cpu.max and "30000" of cpu.cfs_quota_us are limits, "max 100000" and "-1" are
 * none. */
static bool is_limited(const char *text, bool v1)
{
	uint64_t quota, period;

	return usage_number(&text, &quota) && quota &&
	       (v1 || (usage_number(&text, &period) && period));
}

/* ---- groups ---- */

/* A mount of a hierarchy. */
struct limit_mount {
	uint64_t id;
	const char *root, *point;
	bool v1;
};

/* The file of the group in at.dir, whose path there ends at `end`. */
static const char *file_of(size_t end, const char *name)
{
	snprintf(at.dir + end, sizeof(at.dir) - end, "/%s", name);
	return at.dir;
}

/* root: as in limits_find(); below one there are no mounts. */
static bool is_on(int fd, const struct limit_mount *mount, const char *root)
{
	char path[64];
	uint64_t id;

	if (*root)
		return true;
	snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", fd);
	return usage_read(path, at.text, sizeof(at.text)) > 0 &&
	       usage_field(at.text, "mnt_id", ':', &id) && id == mount->id;
}

static void limit_add_level(struct limits *limits, const struct limit_mount *mount, size_t end,
			    const char *root)
{
	struct limit_level level = { .v1 = mount->v1 };

	if (usage_read(file_of(end, mount->v1 ? "cpu.cfs_quota_us" : "cpu.max"), at.text,
		       sizeof(at.text)) <= 0 || !is_limited(at.text, mount->v1))
		return;
	level.fd = (int)syscall(SYS_openat, AT_FDCWD, file_of(end, "cpu.stat"),
				O_RDONLY | O_CLOEXEC, 0);
	if (level.fd < 0)
		return;
	level.at_ns = stopped_ns(&level);
	if (level.at_ns < 0 || !is_on(level.fd, mount, root))
		syscall(SYS_close, level.fd);
	else
		limits->level[limits->n++] = level;
}

/* Adds the process's group and those above it, as far as the mount has them; false: it has not. */
static bool limit_add_groups(struct limits *limits, const struct limit_mount *mount,
			     const char *root)
{
	const char *group = at.group[mount->v1 ? 0 : 1];
	size_t above = strcmp(mount->root, "/") ? strlen(mount->root) : 0, end, last;

	if (strncmp(group, mount->root, above) || (above && group[above] && group[above] != '/'))
		return false;
	group += above;
	last = strlen(root) + strlen(mount->point);
	end = last + (strcmp(group, "/") ? strlen(group) : 0);
	if (end + sizeof("/cpu.cfs_quota_us") > sizeof(at.dir))
		return false;
	snprintf(at.dir, sizeof(at.dir), "%s%s%s", root, mount->point, group);
	if (usage_read(file_of(end, "cpu.stat"), at.text, sizeof(at.text)) < 0)
		return false;
	for (int depth = 0; depth < LIMIT_DEPTH && limits->n < LIMIT_LEVELS; depth++) {
		limit_add_level(limits, mount, end, root);
		if (end <= last)
			break;
		while (end > last && at.dir[--end] != '/')
			;
	}
	return true;
}

/* A line of mountinfo, "ID PARENT DEVICE ROOT POINT OPTIONS … - TYPE SOURCE OPTIONS". */
static void see_mount(struct limits *limits, char *line, bool found[2], const char *root)
{
	char *field[6], *type = strstr(line, " - ");
	const char *id;
	struct limit_mount mount;

	if (!type)
		return;
	*type = '\0';
	type += 3;
	for (int i = 0; i < 5; i++)
		if (!(field[i] = part(&line, ' ')))
			return;
	id = field[0];
	field[5] = part(&type, ' ');
	if (!field[5] || !part(&type, ' ') || !usage_number(&id, &mount.id))
		return;
	mount.v1 = !strcmp(field[5], "cgroup");
	if ((!mount.v1 && strcmp(field[5], "cgroup2")) || found[mount.v1 ? 0 : 1] ||
	    !at.group[mount.v1 ? 0 : 1][0] || (mount.v1 && !list_has(type, "cpu")))
		return;
	limit_unescape(field[3]);
	limit_unescape(field[4]);
	mount.root = field[3];
	mount.point = field[4];
	found[mount.v1 ? 0 : 1] = limit_add_groups(limits, &mount, root);
}

/* Calls see_mount() with each line that is whole. */
static void see_mounts(struct limits *limits, int fd, const char *root)
{
	bool found[2] = { false, false }, skips = false;
	size_t length = 0;
	ssize_t n;

	while ((n = syscall(SYS_read, fd, at.line + length, sizeof(at.line) - length)) > 0) {
		char *line = at.line, *end;

		length += (size_t)n;
		while ((end = memchr(line, '\n', length))) {
			*end = '\0';
			if (!skips)
				see_mount(limits, line, found, root);
			skips = false;
			length -= (size_t)(end + 1 - line);
			line = end + 1;
		}
		memmove(at.line, line, length);
		if (length == sizeof(at.line)) {
			skips = true;
			length = 0;
		}
	}
}

void limits_begin(struct limits *limits)
{
	*limits = (struct limits) { .n = 0 };
}

void limits_find(struct limits *limits, const char *root)
{
	int fd;

	limits_look(limits);
	while (limits->n)
		syscall(SYS_close, limits->level[--limits->n].fd);
	if (!find_groups(root))
		return;
	snprintf(at.dir, sizeof(at.dir), "%s/proc/self/mountinfo", root);
	fd = (int)syscall(SYS_openat, AT_FDCWD, at.dir, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	see_mounts(limits, fd, root);
	syscall(SYS_close, fd);
}

void limits_look(struct limits *limits)
{
	int64_t most_ns = 0;

	for (uint32_t i = 0; i < limits->n; i++) {
		struct limit_level *level = &limits->level[i];
		int64_t now_ns = stopped_ns(level);

		if (now_ns < 0)
			continue;
		if (now_ns - level->at_ns > most_ns)
			most_ns = now_ns - level->at_ns;
		level->at_ns = now_ns;
	}
	if (__builtin_add_overflow(limits->total_ns, most_ns, &limits->total_ns))
		limits->total_ns = INT64_MAX;
}
