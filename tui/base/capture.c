/* SPDX-License-Identifier: MIT */
#include "tui/base/capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/base/util.h"

#define LINE_MAX_BYTES 1024
#define REPLAY_MAX (64 * 1024)		/* bounds the output of a library that prints without end */

struct capture {
	int saved, file;		/* owned */
	off_t read;
	char line[LINE_MAX_BYTES];
	size_t length;
};

struct capture *capture_start(void)
{
	struct capture *capture;
	int file;

	if (!isatty(STDERR_FILENO))
		return NULL;
	file = memfd_create("tftop-stderr", MFD_CLOEXEC);
	if (file < 0)
		return NULL;
	capture = xcalloc(1, sizeof(*capture));
	capture->file = file;
	fflush(stderr);
	capture->saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	/* appends, because other code writes through its own copies of the descriptor */
	fcntl(file, F_SETFL, O_APPEND);
	if (capture->saved < 0 || dup2(file, STDERR_FILENO) < 0) {
		if (capture->saved >= 0)
			close(capture->saved);
		close(file);
		free(capture);
		return NULL;
	}
	return capture;
}

static void capture_take_line(struct capture *capture, const char *data, size_t size,
			      void (*line)(void *arg, const char *text), void *arg)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (data[i] != '\n' && capture->length < sizeof(capture->line) - 1) {
			capture->line[capture->length++] = data[i] ? data[i] : '?';
			continue;
		}
		capture->line[capture->length] = '\0';
		if (capture->length)
			line(arg, capture->line);
		capture->length = 0;
	}
}

void capture_read(struct capture *capture, void (*line)(void *arg, const char *text), void *arg)
{
	char data[4096];
	ssize_t got;
	int reads;

	if (!capture)
		return;
	for (reads = 0; reads < 16; reads++) {
		got = pread(capture->file, data, sizeof(data), capture->read);
		if (got <= 0)
			break;
		capture->read += got;
		capture_take_line(capture, data, (size_t)got, line, arg);
	}
}

void capture_end(struct capture *capture)
{
	char data[4096];
	off_t at = 0;
	ssize_t got;

	if (!capture)
		return;
	fflush(stderr);
	dup2(capture->saved, STDERR_FILENO);
	while (at < REPLAY_MAX && (got = pread(capture->file, data, sizeof(data), at)) > 0) {
		if (write(STDERR_FILENO, data, (size_t)got) != got)
			break;
		at += got;
	}
	close(capture->saved);
	close(capture->file);
	free(capture);
}
