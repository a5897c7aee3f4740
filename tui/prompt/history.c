/* SPDX-License-Identifier: MIT */
#include "tui/prompt/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/util.h"

#define FILE_MOST (1 << 20)		/* bytes at the end of the file that are read */
#define LINE_MOST 4096
#define SLACK 200	/* number of lines over HISTORY_MOST at which the file is rewritten */

/* ---- lines ---- */

static bool history_take_line(struct history *history, const char *line, size_t length)
{
	if (!length || length >= LINE_MOST || memchr(line, '\0', length))
		return false;
	if (history->count && strlen(history->lines[history->count - 1]) == length &&
	    !memcmp(history->lines[history->count - 1], line, length))
		return false;
	if (history->count == HISTORY_MOST) {
		free(history->lines[0]);
		memmove(history->lines, history->lines + 1,
			--history->count * sizeof(*history->lines));
	}
	grow(&history->lines, &history->cap, history->count, sizeof(*history->lines));
	history->lines[history->count++] = xstrndup(line, length);
	return true;
}

static void forget(struct history *history)
{
	for (size_t i = 0; i < history->count; i++)
		free(history->lines[i]);
	history->count = 0;
}

size_t history_find(const struct history *history, size_t at, bool older, const char *text,
		    size_t length, bool inside, const char *except)
{
	while (older ? at > 0 : at + 1 < history->count) {
		const char *line = history->lines[older ? --at : ++at];

		if (strcmp(line, except) &&
		    (inside ? memmem(line, strlen(line), text, length) != NULL
			    : !strncmp(line, text, length)))
			return at;
	}
	return history->count;
}

/* ---- the file ---- */

/* Opens and locks a plain file. Another tftop may have replaced it meanwhile. */
static int open_locked(const char *path)
{
	struct stat own, named;

	for (int i = 0; i < 10; i++) {
		int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			      0600);

		if (fd < 0)
			return -1;
		/* if the lock is held for long, continue without it */
		if (!fstat(fd, &own) && S_ISREG(own.st_mode) && !flock(fd, LOCK_EX | LOCK_NB) &&
		    !stat(path, &named) && named.st_ino == own.st_ino && named.st_dev == own.st_dev)
			return fd;
		close(fd);
	}
	return -1;
}

static void read_lines(struct history *history, int fd)
{
	struct stat st;
	char *text, *at, *end;
	off_t from = 0;
	ssize_t size;

	if (fstat(fd, &st) || st.st_size <= 0)
		return;
	if (st.st_size > FILE_MOST)
		from = st.st_size - FILE_MOST;
	text = xrealloc(NULL, FILE_MOST);
	size = pread(fd, text, FILE_MOST, from);
	at = text;
	end = text + (size > 0 ? size : 0);
	if (from && (at = memchr(text, '\n', (size_t)(end - text))))
		at++;
	while (at && at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!newline)
			newline = end;
		history_take_line(history, at, (size_t)(newline - at));
		at = newline + 1;
	}
	free(text);
}

/* Of root, in somebody's folder: that one's. */
static void give(int fd, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	struct stat st;

	if (geteuid() || !slash)
		return;
	folder = xstrndup(path, (size_t)(slash - path));
	if (!stat(folder, &st) && st.st_uid && fchown(fd, st.st_uid, st.st_gid))
		st.st_uid = 0;		/* if this fails, the file stays root's */
	free(folder);
}

/* Replaces the file by one with the lines that are kept; fd is the locked file. */
static void write_anew(struct history *history)
{
	char *beside = xasprintf("%s.%d", history->path, (int)getpid());
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct strbuf text;

	if (fd >= 0) {
		strbuf_init(&text);
		for (size_t i = 0; i < history->count; i++)
			strbuf_addf(&text, "%s\n", history->lines[i]);
		give(fd, history->path);
		if (!write_all(fd, text.data, text.length) || rename(beside, history->path))
			unlink(beside);
		strbuf_release(&text);
		close(fd);
	}
	free(beside);
}

static size_t history_lines(int fd)
{
	char block[16384];
	off_t at = 0;
	ssize_t n;
	size_t lines = 0;

	while (at < FILE_MOST && (n = pread(fd, block, sizeof(block), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			lines += block[i] == '\n';
		at += n;
	}
	return at >= FILE_MOST ? SIZE_MAX : lines;
}

/* Keeps lines that other tftops have added since. */
static void shrink_file(struct history *history, int fd)
{
	struct history all = {.path = history->path};

	if (history_lines(fd) <= HISTORY_MOST + SLACK)
		return;
	read_lines(&all, fd);
	write_anew(&all);
	forget(&all);
	free(all.lines);
}

/* ---- where ---- */

/* Returns $XDG_STATE_HOME/tftop, which is created with its parents; NULL if this fails. */
static char *state_folder(void)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *folder, *at;
	struct stat st;

	if (xdg && *xdg == '/')
		folder = xasprintf("%s/tftop", xdg);
	else if (home && *home == '/')
		folder = xasprintf("%s/.local/state/tftop", home);
	else
		return NULL;
	for (at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(folder, 0700);
		*at = '/';
	}
	mkdir(folder, 0700);
	if (!stat(folder, &st) && S_ISDIR(st.st_mode))
		return folder;
	free(folder);
	return NULL;
}

void history_open(struct history *history, bool keep)
{
	char *folder = keep ? state_folder() : NULL;
	int fd;

	memset(history, 0, sizeof(*history));
	if (!folder)
		return;
	history->path = xasprintf("%s/history", folder);
	free(folder);
	fd = open_locked(history->path);
	if (fd < 0)
		return;
	read_lines(history, fd);
	give(fd, history->path);
	close(fd);
}

void history_close(struct history *history)
{
	forget(history);
	free(history->lines);
	free(history->path);
	memset(history, 0, sizeof(*history));
}

void history_add(struct history *history, const char *line)
{
	size_t length = strlen(line);
	char *text;
	int fd;

	if (*line == ' ' || strchr(line, '\n') || !history_take_line(history, line, length) ||
	    !history->path)
		return;
	fd = open_locked(history->path);
	if (fd < 0)
		return;
	text = xasprintf("%s\n", line);
	write_all(fd, text, length + 1);
	free(text);
	shrink_file(history, fd);
	close(fd);
}
