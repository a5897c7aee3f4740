/* SPDX-License-Identifier: MIT */
#include "keymap/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keymap/memory.h"

static const char *what_it_is(mode_t mode)
{
	return S_ISDIR(mode) ? "it is a folder, not a file" :
	       S_ISFIFO(mode) ? "it is a pipe, not a file" :
	       S_ISSOCK(mode) ? "it is a socket, not a file" : "it is a device, not a file";
}

FILE *file_open(const char *path, const char **why)
{
	/* Without O_NONBLOCK, opening a pipe waits for a writer. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), code = errno;
	FILE *file = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st)) {
		code = errno;
	} else if (fd >= 0 && !S_ISREG(st.st_mode)) {
		code = EINVAL;
	} else if (fd >= 0) {
		file = fdopen(fd, "r");
		code = errno;
	}
	if (fd >= 0 && !file)
		close(fd);
	*why = file ? NULL : fd >= 0 && code == EINVAL ? what_it_is(st.st_mode) : strerror(code);
	errno = code;
	return file;
}

char *file_text(const char *path, const char *what, size_t most, size_t *size, char *error,
		size_t error_size)
{
	const char *why;
	FILE *file = file_open(path, &why);
	char *text;

	if (!file) {
		snprintf(error, error_size, "cannot read the %s '%s': %s", what, path, why);
		return NULL;
	}
	text = key_realloc(NULL, most + 1, 1);
	*size = fread(text, 1, most + 1, file);
	if (ferror(file) || *size > most) {
		if (ferror(file))
			snprintf(error, error_size, "cannot read the %s '%s': %s", what, path,
				 strerror(EIO));
		else
			snprintf(error, error_size, "too large for a %s: '%s' (%zu KiB at most)",
				 what, path, most / 1024);
		free(text);
		text = NULL;
	} else {
		text[*size] = '\0';
	}
	fclose(file);
	return text;
}
