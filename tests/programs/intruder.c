/* SPDX-License-Identifier: MIT */
/*
 * Another user of the machine, at what a tftop of somebody else's has: tries each
 * thing once and prints one line of it, "WHAT OBJECT: RESULT", the result "done" or
 * the error's name. tests/live/security.sh says which may be done.
 *
 *	intruder DIR PID...	DIR: tftop's private folder; PIDs: its processes and PROGRAM
 *	intruder --flood SOCKET	connects 64 times and writes garbage
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS 64

static void say(const char *what, const char *object, int failed)
{
	printf("%s %s: %s\n", what, object, failed ? strerrorname_np(errno) : "done");
}

static int close_both(int fd, int failed)
{
	int code = errno;

	if (fd >= 0)
		close(fd);
	errno = code;
	return failed;
}

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);

	return close_both(fd, fd < 0);
}

/* Returns a connected socket, or -1 and errno. */
static int join(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		close_both(fd, 0);
		return -1;
	}
	return fd;
}

static void at_folder(const char *dir)
{
	static const char *const files[] = { "control", "sessiond.log", "relayd.log" };
	static const char *const sockets[] = {
		"client-lttng-sessiond", "lttng-ust-sock-8", "sessiond-health",
		"sessiond-notification", "ustconsumerd64/command", "ustconsumerd64/error",
	};
	char path[512];
	DIR *d = opendir(dir);

	say("list", "folder", !d);
	if (d)
		closedir(d);
	snprintf(path, sizeof(path), "%s/mine", dir);
	say("write", "folder", try_open(path, O_WRONLY | O_CREAT | O_EXCL));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		say("read", files[i], try_open(path, O_RDONLY));
		say("write", files[i], try_open(path, O_WRONLY));
	}
	snprintf(path, sizeof(path), "%s/trace", dir);
	say("read", "trace", try_open(path, O_RDONLY | O_DIRECTORY));
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/.lttng/%s", dir, sockets[i]);
		fd = join(path);
		say("connect", sockets[i], fd < 0);
		close_both(fd, 0);
	}
}

static void at_ports(void)
{
	/* The relay's three ports and the agents' one, as keeper.c chooses them in a network
	 * namespace. */
	for (int port = 5342; port <= 5345; port++) {
		struct sockaddr_in address = {
			.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		char name[16];

		snprintf(name, sizeof(name), "%d", port);
		say("connect", name, connect(fd, (struct sockaddr *)&address, sizeof(address)));
		close_both(fd, 0);
	}
}

static void at_process(pid_t pid)
{
	static const char *const files[] = { "mem", "maps", "environ", "cwd/", "fd", "ns/net" };
	char path[64];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, files[i]);
		say("process", files[i], try_open(path, O_RDONLY));
	}
	say("process", "signal", kill(pid, 0));
	say("process", "ptrace", ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0);
}

/* Entries of /dev/shm; LTTng's own notice that there is a daemon is readable for all users. */
static void at_shared_memory(void)
{
	DIR *d = opendir("/dev/shm");
	const struct dirent *entry;
	struct stat st;
	char path[512];

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "lttng-ust-wait-8") ||
		    !strstr(entry->d_name, "ust"))
			continue;
		snprintf(path, sizeof(path), "/dev/shm/%s", entry->d_name);
		if (stat(path, &st) == 0 && st.st_uid != getuid() && !try_open(path, O_RDONLY))
			say("shm", entry->d_name, 0);
	}
	if (d)
		closedir(d);
}

static int flood(const char *path)
{
	static char garbage[4096];
	int fds[CONNECTIONS];

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (char)(i * 167 + 13);
	for (int i = 0; i < CONNECTIONS; i++) {
		fds[i] = join(path);
		if (fds[i] < 0)
			return 1;
		/* Sends complete messages of garbage, incomplete ones, and nothing at all. */
		if (i % 3)
			(void)!send(fds[i], garbage, i % 3 == 1 ? sizeof(garbage) : 3,
				    MSG_DONTWAIT);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--flood"))
		return flood(argv[2]);
	if (argc < 2)
		return 2;
	at_folder(argv[1]);
	at_ports();
	at_shared_memory();
	for (int i = 2; i < argc; i++)
		at_process((pid_t)atoi(argv[i]));
	return 0;
}
