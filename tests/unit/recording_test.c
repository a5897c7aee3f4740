/* SPDX-License-Identifier: MIT */
/* A recording's folder and files that are written beside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/base/atomic_file.h"
#include "tui/run/recording.h"

static char *command[] = { (char *)"./train \xff", (char *)"--name=\"x\"", (char *)"", NULL };
static char error[RECORDING_ERROR_MAX];

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	CHECK(out);
	fputs(text, out);
	fclose(out);
}

TEST(recording_comes_back_as_it_was)
{
	const char *dir = test_folder();
	char *path = xasprintf("%s/r", dir);
	struct recording out = {
		.run = { .command = command, .pid = 77, .host = "h", .start_unix_ns = 5,
			 .wall_ns = 123456789012345, .exit_status = 3 },
		.mono_ns = 1, .real_ns = 2, .raw_ns = 3, .finished = true, .partial = true,
	}, in;

	CHECK(recording_create(path, error));
	CHECK(recording_write(path, &out, error));
	CHECK(recording_read(path, &in, error));
	CHECK_STR(in.run.command[0], "./train \xef\xbf\xbd");
	CHECK_STR(in.run.command[1], command[1]);
	CHECK_STR(in.run.command[2], "");
	CHECK(!in.run.command[3]);
	CHECK_INT(in.run.pid, 77);
	CHECK_STR(in.run.host, "h");
	CHECK_INT(in.run.wall_ns, out.run.wall_ns);
	CHECK_INT(in.run.exit_status, 3);
	CHECK_INT(in.run.signal, 0);
	CHECK_INT(in.mono_ns + in.real_ns + in.raw_ns, 6);
	CHECK(in.finished && in.partial);
	recording_release(&in);
	free(path);
}

TEST(recording_that_never_ended_is_partial)
{
	const char *dir = test_folder();
	char *path = xasprintf("%s/r", dir);
	struct recording out = { .run = { .command = command, .wall_ns = -1, .exit_status = -1 } };
	struct recording in;

	CHECK(recording_create(path, error));
	CHECK(recording_write(path, &out, error));
	CHECK(recording_read(path, &in, error));
	CHECK(!in.finished);
	CHECK_INT(in.run.wall_ns, -1);
	CHECK_INT(in.run.exit_status, -1);
	recording_release(&in);
	free(path);
}

TEST(recording_folder_must_be_absent_or_empty)
{
	const char *dir = test_folder();
	char *path = xasprintf("%s/r", dir), *other = xasprintf("%s/r/other", dir);

	CHECK(recording_create(path, error));
	CHECK(recording_create(path, error));
	write_file(other, "x");
	CHECK(!recording_create(path, error));
	CHECK(strstr(error, "not empty"));
	CHECK(!recording_create(other, error));
	CHECK(strstr(error, "Not a directory"));
	CHECK(!recording_create("/proc/none/x", error));
	free(other);
	free(path);
}

TEST(recording_refuses_damaged_files)
{
	static const char *const bad[] = {
		"", "{", "[]", "{}", "{\"recording\": 2}", "{\"recording\": \"1\"}",
	};
	const char *dir = test_folder();
	char *path = xasprintf("%s/r", dir), *file;
	struct recording in;

	CHECK(recording_create(path, error));
	CHECK(!recording_read(path, &in, error));
	CHECK_STR(error, "");
	file = xasprintf("%s/tftop.json", path);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_file(file, bad[i]);
		CHECK(!recording_read(path, &in, error));
		CHECK(error[0]);
	}
	/* Values out of bounds count as absent. */
	write_file(
		file,
		"{\"recording\": 1, \"pid\": -4, \"exit_status\": 999, \"command\": [1, \"a\"]}");
	CHECK(recording_read(path, &in, error));
	CHECK_INT(in.run.pid, 0);
	CHECK_INT(in.run.exit_status, -1);
	CHECK_STR(in.run.command[0], "a");
	recording_release(&in);
	free(file);
	free(path);
}

TEST(beside_is_whole_or_not_there)
{
	const char *dir = test_folder();
	char *path = xasprintf("%s/f", dir);
	struct atomic_file file;
	struct stat st;

	CHECK(!atomic_file_open(&file, path, error, sizeof(error)));
	fputs("new", file.out);
	CHECK(stat(path, &st));		/* not yet */
	CHECK(!atomic_file_commit(&file, error, sizeof(error)));
	CHECK(!stat(path, &st) && st.st_size == 3);
	free(path);
	path = xasprintf("%s/none/f", dir);
	CHECK(atomic_file_open(&file, path, error, sizeof(error)));
	CHECK(strstr(error, "No such file"));
	CHECK(atomic_file_open(&file, dir, error, sizeof(error)));
	CHECK(strstr(error, "Is a directory"));
	if (!access("/dev/full", W_OK)) {
		CHECK(!atomic_file_open(&file, "/dev/full", error, sizeof(error)));
		fputs("x", file.out);
		CHECK(atomic_file_commit(&file, error, sizeof(error)));
		CHECK(strstr(error, "No space left"));
	}
	free(path);
}
