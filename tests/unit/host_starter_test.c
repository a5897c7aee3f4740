/* SPDX-License-Identifier: MIT */
/* Workers of a fork server, from made-up files of /proc. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "probes/host/starter.h"
#include "tests/unit/test.h"

#define SERVER "python3\0-B\0-c\0from multiprocessing.forkserver import main; main(5, 6, ['a'])"
#define SERVER_3_14 "python3\0-c\0import sys; from multiprocessing.forkserver import main; " \
		    "main(5, 6, ['a'], sys_argv=sys.argv[1:])\0train.py"
#define PROGRAM "python3\0train.py"

static void put(int pid, const char *name, const char *bytes, size_t n)
{
	char path[TEST_PATH_MAX + 64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/%d", test_folder(), pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/%d/%s", test_folder(), pid, name);
	file = fopen(path, "w");
	CHECK(file != NULL);
	CHECK_INT(fwrite(bytes, 1, n, file), n);
	CHECK(!fclose(file));
}

static void process(int pid, int parent, const char *command, size_t n, unsigned long stack)
{
	char stat[256];

	snprintf(stat, sizeof(stat), "%d (a) b) S %d 1 1 0 -1 0 9 8 7 6 1 2 3 4 20 0 1 0 123 456 7 "
		 "18446744073709551615 1 1 %lu 0 0\n", pid, parent, stack);
	put(pid, "stat", stat, strlen(stat));
	put(pid, "cmdline", command, n);
}

/* The zero behind the last argument is one of the command's. */
#define PROCESS(pid, parent, command, stack) process(pid, parent, command, sizeof(command), stack)

static int32_t starter(int pid)
{
	return starter_of(test_folder(), pid);
}

static void put_proc(void)
{
	char path[TEST_PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/proc", test_folder());
	mkdir(path, 0700);
	PROCESS(10, 1, PROGRAM, 0x7ffc1000);
	PROCESS(11, 10, SERVER, 0x7ffc2000);
	PROCESS(12, 11, SERVER, 0x7ffc2000);
}

TEST(host_starter_of_workers)
{
	put_proc();
	CHECK_INT(starter(10), 0);
	CHECK_INT(starter(11), STARTER_SERVER);
	CHECK_INT(starter(12), 10);
	/* a program of another parent that has such a server, and one of 3.14 */
	PROCESS(21, 12, SERVER_3_14, 0x7ffc3000);
	PROCESS(22, 21, SERVER_3_14, 0x7ffc3000);
	CHECK_INT(starter(21), STARTER_SERVER);
	CHECK_INT(starter(22), 12);
	/* a worker's own server has the same arguments, and another stack */
	PROCESS(23, 12, SERVER, 0x7ffc4000);
	CHECK_INT(starter(23), STARTER_SERVER);
	/* what a worker forks is its own */
	PROCESS(24, 12, SERVER, 0x7ffc2000);
	CHECK_INT(starter(24), 0);
	/* started by spawn; the tracker; a script whose argument looks like a server's */
	PROCESS(25, 10, "python\0-c\0from multiprocessing.spawn import spawn_main;spawn_main()", 9);
	PROCESS(26, 10, "python\0-c\0from multiprocessing.resource_tracker import main;main(5)", 9);
	PROCESS(27, 10, "python\0a.py\0from multiprocessing.forkserver import main; main(5)", 9);
	CHECK_INT(starter(25), 0);
	CHECK_INT(starter(26), 0);
	CHECK_INT(starter(27), 0);
}

/* What may not be seen, or is gone, is not guessed. */
TEST(host_starter_unknown)
{
	put_proc();
	PROCESS(11, 10, SERVER, 0);
	CHECK_INT(starter(12), 0);
	PROCESS(12, 11, SERVER, 1);
	CHECK_INT(starter(12), 0);
	PROCESS(12, 99, SERVER, 0x7ffc2000);	/* its parent has no files */
	CHECK_INT(starter(12), 0);
	put(12, "stat", "12 (a", 5);
	CHECK_INT(starter(12), 0);
	put(11, "cmdline", "", 0);
	CHECK_INT(starter(11), 0);
	CHECK_INT(starter(99), 0);
	put(30, "stat", "30 (a) S 10", 11);
	put(30, "cmdline", "python3\0-c", 10);
	CHECK_INT(starter(30), 0);
}
