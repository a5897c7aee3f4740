/* SPDX-License-Identifier: MIT */
/* A whole file or none. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/util.h"
#include "tui/beside.h"

static int failed(char *error, size_t size, const char *path, int code)
{
	snprintf(error, size, "cannot write '%s': %s", path, strerror(code));
	return -1;
}

/* A new file in the same folder; its mode is what a plain open would give. */
static int create(struct beside *file)
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

int beside_open(struct beside *file, const char *path, char *error, size_t size)
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

int beside_check(const char *path, char *error, size_t size)
{
	struct beside file;
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return access(path, W_OK) ? failed(error, size, path, errno) : 0;
	if (beside_open(&file, path, error, size))
		return -1;
	fclose(file.out);
	unlink(file.temporary);
	free(file.temporary);
	return 0;
}

int beside_commit(struct beside *file, char *error, size_t size)
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
