/* SPDX-License-Identifier: MIT */
#include "probes/process/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probes/process/process.h"
#include "probes/schema/control.h"

#define PAGE_NAME "/control"
#define LINE_MAX_BYTES 640		/* a line of maps with the path of a control page */

bool marks_inherited(pid_t pid, const char *dir)
{
	struct process_environment environment;
	size_t length = strlen(dir);
	const char *page;
	bool same;

	process_environment(pid, &environment);
	page = process_variable(&environment, TFT_CONTROL_ENV);
	same = page && !strncmp(page, dir, length) && !strcmp(page + length, PAGE_NAME);
	free(environment.text);
	return same;
}

/* Looks for a mapped control page: that of dir, or any if dir is NULL. */
static bool has_page(pid_t pid, const char *dir, bool writable)
{
	char name[64], line[LINE_MAX_BYTES];
	size_t length = dir ? strlen(dir) : 0;
	bool found = false;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');
		const char *page = path ? strstr(path, PAGE_NAME) : NULL;

		if (!page || (writable && line[strcspn(line, " ") + 2] != 'w'))
			continue;
		/* the page may have been deleted, which the kernel writes behind the path */
		page += strlen(PAGE_NAME);
		if (*page && *page != '\n' && *page != ' ')
			continue;
		found = dir ? !strncmp(path, dir, length) &&
			      !strncmp(path + length, PAGE_NAME, strlen(PAGE_NAME)) :
			      strstr(path, "/tftop-") != NULL;
	}
	if (maps)
		fclose(maps);
	return found;
}

bool marks_mapped(pid_t pid, const char *dir)
{
	return has_page(pid, dir, false);
}

bool marks_is_tftop(pid_t pid)
{
	char path[64];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &its) == 0 && stat("/proc/self/exe", &own) == 0 &&
	    its.st_ino == own.st_ino && its.st_dev == own.st_dev)
		return true;
	return has_page(pid, NULL, true);
}
