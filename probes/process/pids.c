/* SPDX-License-Identifier: MIT */
#include "probes/process/pids.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probes/process/process.h"

#define KNOWN_MAX 4096

struct pids {
	pthread_mutex_t lock;
	struct stat space;
	size_t count, last;
	struct {
		uint32_t inner, outer;
	} known[KNOWN_MAX];
};

static bool space_of(pid_t pid, struct stat *space)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, space) == 0;
}

/* The last number of NSpid is that of its own namespace. */
static uint32_t inner_of(pid_t pid)
{
	char text[4096];
	const char *at;
	size_t length;

	if (process_read(pid, "status", text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return 0;
	length = strcspn(at + 1, "\n") + 1;
	while (length && !isspace((unsigned char)at[length - 1]))
		length--;
	return (uint32_t)strtoul(at + length, NULL, 10);
}

struct pids *pids_new(pid_t pid)
{
	struct pids *pids = calloc(1, sizeof(*pids));

	if (pids && space_of(pid, &pids->space)) {
		pthread_mutex_init(&pids->lock, NULL);
		return pids;
	}
	free(pids);
	return NULL;
}

void pids_free(struct pids *pids)
{
	if (!pids)
		return;
	pthread_mutex_destroy(&pids->lock);
	free(pids);
}

static uint32_t find_outer_pid(const struct pids *pids, uint32_t inner)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint32_t outer = inner;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		struct stat space;

		if (pid <= 0 || !space_of(pid, &space) || space.st_ino != pids->space.st_ino ||
		    space.st_dev != pids->space.st_dev || inner_of(pid) != inner)
			continue;
		outer = (uint32_t)pid;
		break;
	}
	if (dir)
		closedir(dir);
	return outer;
}

uint32_t pids_outer(struct pids *pids, uint32_t inner)
{
	uint32_t outer = inner;
	size_t i;

	if (!pids || !inner)
		return inner;
	pthread_mutex_lock(&pids->lock);
	for (i = pids->last; i < pids->count && pids->known[i].inner != inner; i++)
		;
	if (i == pids->count)
		for (i = 0; i < pids->count && pids->known[i].inner != inner; i++)
			;
	if (i < pids->count) {
		outer = pids->known[i].outer;
		pids->last = i;
	} else {
		outer = find_outer_pid(pids, inner);
		if (pids->count < KNOWN_MAX) {
			pids->last = pids->count;
			pids->known[pids->count].inner = inner;
			pids->known[pids->count++].outer = outer;
		}
	}
	pthread_mutex_unlock(&pids->lock);
	return outer;
}
