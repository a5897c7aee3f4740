/* SPDX-License-Identifier: MIT */
/* The private folder of one tftop, while others start: probes/process/dir.c. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probes/process/dir.h"
#include "tests/unit/test.h"

/* Empty folders with a private folder's name */
static int count_empty(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;
	char path[1024];
	int count = 0;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", base, entry->d_name);
		if (!dir_is_name(path) || dir_count(path, 0))
			continue;
		/* dir_count() leaves out names that begin with a dot */
		snprintf(path, sizeof(path), "%s/%s/.lttng", base, entry->d_name);
		count += access(path, F_OK) != 0;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* One that another start's sweep looks at just when it is made, is given up: it does not stay. */
TEST(dir_create_beside_sweeps)
{
	const struct timespec moment = { 0, 20000000 };
	char path[DIR_PATH_MAX], error[256];
	int before = count_empty(dir_base()), made = 0;
	pid_t parent = getpid(), child = fork();

	CHECK(child >= 0);
	if (child < 0)
		return;
	while (child == 0) {
		dir_sweep();
		if (getppid() != parent)
			_exit(0);
	}
	for (int i = 0; i < 3000; i++) {
		int fd = dir_create(geteuid(), path, error, sizeof(error));

		if (fd < 0)
			continue;
		made++;
		CHECK(dir_remove(path));
		close(fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK(made > 2900);
	/* a tftop that starts beside this test has an empty one for a moment */
	for (int i = 0; i < 250 && count_empty(dir_base()) > before; i++)
		nanosleep(&moment, NULL);
	CHECK(count_empty(dir_base()) <= before);
}
