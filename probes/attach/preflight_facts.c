/* SPDX-License-Identifier: MIT */
/* Reads the facts about a process and the files that it runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/attach/preflight_internal.h"

#define WHOLE_MAX (64u << 20)
#define FILES_MAX 4096		/* a process maps some hundreds */

char *attach_read_whole(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t used = 0, room = 1 << 16;
	char *data = NULL;

	if (fd < 0)
		return NULL;
	for (;;) {
		char *more = realloc(data, room + 1);
		ssize_t got;

		if (!more)
			break;
		data = more;
		got = read(fd, data + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		used += (size_t)got;
		if (got == 0 || used >= WHOLE_MAX) {
			close(fd);
			data[used] = '\0';
			*size = used;
			return data;
		}
		if (used == room)
			room *= 2;
	}
	free(data);
	close(fd);
	return NULL;
}

long long text_number(const char *text, const char *name, int base)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length))
			return strtoll(line + length, NULL, base);
	}
	return -1;
}

/* ---- status ---- */

static void read_ids(const char *text, const char *name, unsigned int ids[4])
{
	const char *at = strstr(text, name);

	if (!at ||
	    sscanf(at + strlen(name), "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		for (int i = 0; i < 4; i++)
			ids[i] = ~0u;
}

static pid_t read_inner_pid(const char *text)
{
	const char *at = strstr(text, "\nNSpid:");
	long pid = 0;
	char *end;

	if (!at)
		return 0;
	at += strlen("\nNSpid:");
	for (size_t length = strcspn(at, "\n"); length; length = strcspn(at, "\n")) {
		long next = strtol(at, &end, 10);

		if (end == at)
			break;
		pid = next;
		at = end;
	}
	return (pid_t)pid;
}

static bool read_status(struct facts *t)
{
	char path[64], *text;
	long long permitted;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)t->pid);
	text = attach_read_whole(path, &size);
	if (!text)
		return false;
	read_ids(text, "\nUid:", t->uids);
	read_ids(text, "\nGid:", t->gids);
	t->tgid = (pid_t)text_number(text, "Tgid:", 10);
	t->tracer = (pid_t)text_number(text, "TracerPid:", 10);
	t->seccomp = (int)text_number(text, "Seccomp:", 10);
	t->filters = (int)text_number(text, "Seccomp_filters:", 10);
	t->has_memory = text_number(text, "VmSize:", 10) >= 0;
	permitted = text_number(text, "CapPrm:", 16);
	t->permitted = permitted < 0 ? ~0ull : (uint64_t)permitted;
	t->inner_pid = read_inner_pid(text);
	free(text);
	return true;
}

/* ---- maps ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

static bool is_known(const struct facts *t, const char *path)
{
	/* The mappings of one file are adjacent, nearly always. */
	for (size_t i = t->n_files; i-- > 0;)
		if (!strcmp(t->files[i].path, path))
			return true;
	return false;
}

static void add_mapped_file(struct facts *t, size_t *room, char *path)
{
	bool deleted = ends_with(path, " (deleted)");

	if (deleted)
		path[strlen(path) - strlen(" (deleted)")] = '\0';
	if (t->n_files == FILES_MAX || is_known(t, path))
		return;
	if (t->n_files == *room) {
		size_t wanted = *room ? *room * 2 : 64;
		struct mapped_file *more = realloc(t->files, wanted * sizeof(*more));

		if (!more)
			return;
		t->files = more;
		*room = wanted;
	}
	t->files[t->n_files].path = strdup(path);
	t->files[t->n_files].deleted = deleted;
	t->n_files += t->files[t->n_files].path != NULL;
}

static void read_maps(struct facts *t)
{
	char path[64], *line = NULL;
	size_t size = 0, room = 0;
	ssize_t length;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	maps = fopen(path, "re");
	if (!maps)
		return;
	while ((length = getline(&line, &size, maps)) > 0) {
		char *at = strchr(line, '/');

		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (at)
			add_mapped_file(t, &room, at);
	}
	t->files_known = !ferror(maps) && t->n_files;
	free(line);
	fclose(maps);
}

bool facts_read(struct facts *t, pid_t pid)
{
	char path[64];

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	if (!process_stat(pid, &t->stat) || !read_status(t)) {
		errno = errno ? errno : ESRCH;
		return false;
	}
	read_maps(t);
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	t->environment = attach_read_whole(path, &t->environment_size);
	return true;
}

void facts_free(struct facts *t)
{
	for (size_t i = 0; i < t->n_files; i++)
		free(t->files[i].path);
	free(t->files);
	free(t->environment);
	memset(t, 0, sizeof(*t));
}

const char *facts_variable(const struct facts *t, const char *name)
{
	const char *at = t->environment, *end = at ? at + t->environment_size : at;
	size_t length = strlen(name);

	for (; at < end; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

const struct mapped_file *facts_file(const struct facts *t, const char *prefix)
{
	for (size_t i = 0; i < t->n_files; i++)
		if (!strncmp(basename(t->files[i].path), prefix, strlen(prefix)))
			return &t->files[i];
	return NULL;
}

/* ---- libraries ---- */

/*
 * From the file's string table: a version that a library defines or needs is in it as text, and no
 * library can need a version that is not in it.
 */
int glibc_minor(const char *path)
{
	static const char word[] = "GLIBC_2.";
	size_t size = 0;
	char *data = attach_read_whole(path, &size);
	const char *at = data, *end = data ? data + size : NULL;
	int newest = 0;

	while (at && (at = memmem(at, (size_t)(end - at), word, sizeof(word) - 1))) {
		int minor;

		at += sizeof(word) - 1;
		minor = atoi(at);
		if (minor > newest && minor < 1000)
			newest = minor;
	}
	free(data);
	return newest;
}

bool has_name(const char *path, const char *name)
{
	size_t size = 0, length = strlen(name);
	char *data = attach_read_whole(path, &size), word[128];
	bool has;

	word[0] = '\0';
	snprintf(word + 1, sizeof(word) - 1, "%s", name);
	has = data && memmem(data, size, word, length + 2);
	free(data);
	return has;
}
