/* SPDX-License-Identifier: MIT */
#include "tui/control.h"
#include "tui/base/complain.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probes/schema/control.h"

#define PAGE_NAME "/control"
#define DELETED " (deleted)"
/* the same limit as in the probes (probes/runtime/control.c) */
#define ALIVE_NS INT64_C(5000000000)
#define PATH_BYTES 512

enum found { FOUND_NONE = 0, FOUND_GONE, FOUND_REFUSED, FOUND_LIVING };

struct control_map {
	enum found found;
	int fd;			/* FOUND_LIVING: opened for reading and writing */
	int error;		/* FOUND_REFUSED */
	char path[PATH_BYTES];
};

/* Returns the path in a line of /proc/PID/maps, terminated in place; "" if it has none. *deleted:
 * the file was removed. */
static char *control_path(char *line, bool *deleted)
{
	char *path = strchr(line, '/');
	size_t length;

	if (!path)
		return line + strlen(line);
	path[strcspn(path, "\n")] = '\0';
	length = strlen(path);
	*deleted = length > strlen(DELETED) && !strcmp(path + length - strlen(DELETED), DELETED);
	if (*deleted)
		path[length - strlen(DELETED)] = '\0';
	return path;
}

static bool is_page(const char *path)
{
	size_t length = strlen(path);

	return strstr(path, "/tftop-") && length > strlen(PAGE_NAME) && length < PATH_BYTES &&
	       !strcmp(path + length - strlen(PAGE_NAME), PAGE_NAME);
}

/* Whether the tftop of this control page still gives signs of life. Any process may have written
 * the file, so it is checked to be a page. */
static bool control_process_lives(int fd)
{
	struct tft_control page;
	struct timespec now;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != TFT_CONTROL_BYTES ||
	    pread(fd, &page, sizeof(page), 0) != (ssize_t)sizeof(page))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return page.magic == TFT_CONTROL_MAGIC && page.version == TFT_CONTROL_VERSION &&
	       !page.closed &&
	       (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - page.alive_ns < ALIVE_NS;
}

/* A process that was watched several times has several control pages; the best of them is kept. */
static void control_look_at(struct control_map *page, const char *path, bool deleted)
{
	int fd = deleted ? -1 : open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int error = errno;
	enum found found = FOUND_GONE;

	if (fd >= 0 && control_process_lives(fd))
		found = FOUND_LIVING;
	else if (!deleted && fd < 0 && error != ENOENT)
		found = FOUND_REFUSED;
	if (found > page->found) {
		page->found = found;
		page->fd = found == FOUND_LIVING ? fd : -1;
		page->error = error;
		snprintf(page->path, sizeof(page->path), "%s", path);
	}
	if (fd >= 0 && fd != page->fd)
		close(fd);
}

/* Returns false and sets errno if the process's mappings cannot be read. A probe maps the page for
 * reading; its tftop maps it for writing as well. */
static bool look_at_mapped(pid_t pid, bool writable, struct control_map *page)
{
	char name[64], line[PATH_BYTES + 128];
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps)) {
		bool deleted = false;
		char *path = control_path(line, &deleted);

		if (is_page(path) && (!writable || line[strcspn(line, " ") + 2] == 'w'))
			control_look_at(page, path, deleted);
	}
	fclose(maps);
	return true;
}

/* ---- where no probe is in use yet, and so nothing is mapped ---- */

/* Reads the environment that the process was started with: it names the tftop that started it or
 * its parent. */
static void look_at_environment(pid_t pid, struct control_map *page)
{
	static const char name[] = TFT_CONTROL_ENV "=";
	char file[64], *text = NULL;
	size_t size = 0;
	FILE *given;

	snprintf(file, sizeof(file), "/proc/%d/environ", (int)pid);
	given = fopen(file, "re");
	while (given && getdelim(&text, &size, '\0', given) > 0)
		if (!strncmp(text, name, strlen(name)) && is_page(text + strlen(name)))
			control_look_at(page, text + strlen(name), false);
	if (given)
		fclose(given);
	free(text);
}

/* Whether a descriptor of that process is the pidfd of `of`. */
static bool control_folder_has(const char *process, pid_t of)
{
	char path[320], line[128];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%.16s/fdinfo", process);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder))) {
		FILE *info;
		int pid;

		snprintf(path, sizeof(path), "/proc/%.16s/fdinfo/%.255s", process, entry->d_name);
		info = fopen(path, "re");
		while (info && !found && fgets(line, sizeof(line), info))
			found = sscanf(line, "Pid: %d", &pid) == 1 && pid == of;
		if (info)
			fclose(info);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* A tftop that attached to the process holds a pidfd of it, and has mapped the control page. Once
 * it has gone, nothing of it is left there; a keeper that still ends its daemons holds theirs. */
static void look_at_holders(pid_t pid, struct control_map *page)
{
	enum found before = page->found;
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	while (proc && page->found < FOUND_LIVING && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    control_folder_has(entry->d_name, pid))
			look_at_mapped((pid_t)atoi(entry->d_name), true, page);
	if (page->found == FOUND_GONE)
		page->found = before;
	if (proc)
		closedir(proc);
}

/* Returns false and sets errno if the process cannot be examined. */
static bool find_page(pid_t pid, struct control_map *page)
{
	*page = (struct control_map){ .fd = -1 };
	if (!look_at_mapped(pid, false, page))
		return false;
	if (page->found < FOUND_REFUSED)
		look_at_environment(pid, page);
	if (page->found < FOUND_REFUSED)
		look_at_holders(pid, page);
	return true;
}

static int control_refuse(pid_t pid, const struct control_map *page)
{
	int id = (int)pid;

	/* only root may see the descriptors of other users' processes */
	if (page->found == FOUND_NONE)
		complain_on_stderr("no tftop%s watches process %d: 'tftop -p %d' attaches to it",
				   geteuid() ? " of yours" : "", id, id);
	else if (page->found == FOUND_GONE)
		complain_on_stderr("the tftop that watched process %d has gone: 'tftop -p %d' "
				   "watches it again",
				   id, id);
	else
		complain_on_stderr("cannot change the level of process %d: '%s': %s: only the user "
				   "of its tftop and root can",
				   id, page->path, strerror(page->error));
	return 125;
}

enum control_found control_look(pid_t pid)
{
	struct control_map page;

	if (!find_page(pid, &page) || page.found == FOUND_NONE)
		return CONTROL_NONE;
	if (page.fd >= 0)
		close(page.fd);
	return page.found == FOUND_GONE ? CONTROL_LEFT : CONTROL_WATCHED;
}

static bool control_level(const struct control_map *page, const struct options *options)
{
	uint32_t was, level = (uint32_t)options->level, trigger, none = TFT_TRIGGER_NONE;
	off_t at = offsetof(struct tft_control, level),
	      trigger_at = offsetof(struct tft_control, trigger);

	if (pread(page->fd, &was, sizeof(was), at) != (ssize_t)sizeof(was) ||
	    pread(page->fd, &trigger, sizeof(trigger), trigger_at) != (ssize_t)sizeof(trigger) ||
	    pwrite(page->fd, &level, sizeof(level), at) != (ssize_t)sizeof(level) ||
	    pwrite(page->fd, &none, sizeof(none), trigger_at) != (ssize_t)sizeof(none))
		return false;
	printf("process %d: the level was %s%s and is now %s\n", (int)options->control,
	       options_level_name(was > TFT_LEVEL_FULL ? TFT_LEVEL_FULL : (enum tft_level)was),
	       trigger ? " where --trigger allows it" : "", options_level_name(options->level));
	return true;
}

static const char *budget_text(char text[32], uint32_t percent)
{
	if (percent)
		snprintf(text, 32, "%u %%", percent);
	return percent ? text : "none";
}

static bool control_budget(const struct control_map *page, const struct options *options)
{
	uint32_t was, budget = (uint32_t)options->budget;
	off_t at = offsetof(struct tft_control, budget);
	char before[32], now[32];

	if (pread(page->fd, &was, sizeof(was), at) != (ssize_t)sizeof(was) ||
	    pwrite(page->fd, &budget, sizeof(budget), at) != (ssize_t)sizeof(budget))
		return false;
	printf("process %d: the budget was %s and is now %s\n", (int)options->control,
	       budget_text(before, was), budget_text(now, budget));
	return true;
}

int control_run(const struct options *options)
{
	pid_t pid = options->control;
	struct control_map page;
	bool done;

	if (!find_page(pid, &page)) {
		if (errno == ENOENT || errno == ESRCH)
			complain_on_stderr("there is no process %d: --control takes the PID of one "
					   "that tftop watches",
					   (int)pid);
		else
			complain_on_stderr("cannot look at process %d: %s: only its user and root "
					   "can",
					   (int)pid, strerror(errno));
		return 125;
	}
	if (page.found != FOUND_LIVING)
		return control_refuse(pid, &page);
	done = options->control_budget ? control_budget(&page, options) :
					 control_level(&page, options);
	if (!done)
		complain_on_stderr("cannot write '%s': %s", page.path, strerror(errno));
	close(page.fd);
	return done && !fflush(stdout) ? 0 : 125;
}
