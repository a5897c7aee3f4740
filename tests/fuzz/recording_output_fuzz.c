/* SPDX-License-Identifier: MIT */
/*
 * The file with PROGRAM's output: any bytes are read without a fault, and the text that is returned
 * lies in the file, in its order. Output that was saved comes back complete, also from a file that
 * is cut off later.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tui/run/recording.h"

#define FOLDER "recording_output.dir"
#define FILE_PATH FOLDER "/output"

static const uint8_t *file;		/* the part of the file that may still be returned */
static size_t left, taken;

static void take(void *arg, const void *data, size_t size)
{
	const uint8_t *at = memmem(file, left, data, size);

	FUZZ_CHECK(at);
	left -= (size_t)(at - file) + size;
	file = at + size;
	taken += size;
}

static bool read_again(const uint8_t *data, size_t size)
{
	char error[RECORDING_ERROR_MAX] = "";
	bool good;

	file = data;
	left = size;
	taken = 0;
	good = recording_output_read(FOLDER, take, NULL, error);
	FUZZ_CHECK(good == !error[0]);
	return good;
}

static void write_file(const uint8_t *data, size_t size)
{
	int fd = open(FILE_PATH, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && !close(fd));
}

/* Saves the data in pieces whose lengths the data determines. */
static void keep(const uint8_t *data, size_t size)
{
	char error[RECORDING_ERROR_MAX] = "";
	FILE *out;

	unlink(FILE_PATH);
	out = recording_output(FOLDER, error);
	FUZZ_CHECK(out);
	for (size_t at = 0; at < size; ) {
		size_t n = (size_t)data[at] + 1 < size - at ? (size_t)data[at] + 1 : size - at;

		recording_output_add(out, (int64_t)at, data + at, n);
		at += n;
	}
	FUZZ_CHECK(!fclose(out));
}

static void run(const uint8_t *data, size_t size)
{
	struct stat st;

	mkdir(FOLDER, 0700);
	write_file(data, size);
	read_again(data, size);
	keep(data, size);
	FUZZ_CHECK(read_again(data, size) && taken == size);
	if (size) {
		FUZZ_CHECK(!stat(FILE_PATH, &st) &&
			   !truncate(FILE_PATH, st.st_size - 1 - data[0] % st.st_size));
		read_again(data, size);
	}
	unlink(FILE_PATH);
	rmdir(FOLDER);
}

FUZZ_TARGET("recording_output", run);
