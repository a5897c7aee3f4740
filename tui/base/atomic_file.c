/* SPDX-License-Identifier: MIT */
/* Writes a file or a folder completely or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/util.h"
#include "tui/base/atomic_file.h"

static int failed(char *error, size_t size, const char *path, int code)
{
	snprintf(error, size, "cannot write '%s': %s", path, strerror(code));
	return -1;
}

/* Creates a new file in the same folder, with the mode that a plain open() would give it. */
static int create(struct atomic_file *file)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	file->temporary = xasprintf("%s.XXXXXX", file->path);
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask);
	return fd;
}

int atomic_file_open(struct atomic_file *file, const char *path, char *error, size_t size)
{
	struct stat st;
	int fd, code;

	file->path = path;
	file->temporary = NULL;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return failed(error, size, path, EISDIR);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	else
		fd = create(file);
	file->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (file->out)
		return 0;
	code = errno;
	if (fd >= 0) {
		close(fd);
		if (file->temporary)
			unlink(file->temporary);
	}
	free(file->temporary);
	return failed(error, size, path, code);
}

int atomic_file_check(const char *path, char *error, size_t size)
{
	struct atomic_file file;
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return access(path, W_OK) ? failed(error, size, path, errno) : 0;
	if (atomic_file_open(&file, path, error, size))
		return -1;
	fclose(file.out);
	unlink(file.temporary);
	free(file.temporary);
	return 0;
}

void atomic_file_discard(struct atomic_file *file)
{
	fclose(file->out);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
}

int atomic_file_commit(struct atomic_file *file, char *error, size_t size)
{
	int code = 0;

	errno = 0;
	if (fflush(file->out) || ferror(file->out))
		code = errno ? errno : EIO;
	else if (file->temporary && fsync(fileno(file->out)))
		code = errno;
	if (fclose(file->out) && !code)
		code = errno;
	if (file->temporary && !code && rename(file->temporary, file->path))
		code = errno;
	if (file->temporary && code)
		unlink(file->temporary);
	free(file->temporary);
	return code ? failed(error, size, file->path, code) : 0;
}

/* ---- folders ---- */

/* The folder must be absent or empty; else returns what is wrong with it. */
static int folder_problem(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int code = 0;

	if (!dir)
		return errno == ENOENT ? 0 : errno;
	while (!code && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			code = ENOTEMPTY;
	closedir(dir);
	return code;
}

char *atomic_folder_open(const char *path, char *error, size_t size)
{
	int code = folder_problem(path);
	size_t length = strlen(path);
	mode_t mask = umask(0);
	char *temporary;

	umask(mask);
	while (length > 1 && path[length - 1] == '/')
		length--;
	temporary = xasprintf("%.*s.XXXXXX", (int)length, path);
	if (code == ENOTEMPTY) {
		snprintf(error, size,
			 "folder '%s' is not empty: choose an empty or absent one", path);
	} else if (code || !mkdtemp(temporary)) {
		failed(error, size, path, code ? code : errno);
	} else {
		chmod(temporary, 0777 & ~mask);
		return temporary;
	}
	free(temporary);
	return NULL;
}

static int sync_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), code = 0;

	(void)st, (void)type, (void)at;
	if (fd < 0 || fsync(fd))
		code = errno;
	if (fd >= 0)
		close(fd);
	return code;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)at;
	/* Truncating frees the blocks of a file even if another process has it open. */
	if (type != FTW_F || !truncate(path, 0) || errno)
		remove(path);
	return 0;
}

int atomic_folder_commit(char *temporary, const char *path, char *error, size_t size)
{
	int code = nftw(temporary, sync_one, 16, FTW_PHYS | FTW_DEPTH);

	if (code < 0)
		code = errno;
	if (!code && rename(temporary, path))
		code = errno;
	if (code) {
		atomic_folder_discard(temporary);
		return failed(error, size, path, code);
	}
	free(temporary);
	return 0;
}

void atomic_folder_discard(char *temporary)
{
	nftw(temporary, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	free(temporary);
}
