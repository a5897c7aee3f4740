/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/namespaces.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/process/process.h"

/* Debian reserves 60000 to 64999 for itself and assigns those from 64000 on demand. */
#define UID_FIRST 64200
#define UID_COUNT 600

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t put;

	if (fd < 0)
		return -1;
	put = write(fd, text, strlen(text));
	close(fd);
	return put < 0 ? -1 : 0;
}

static int loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int result;

	if (fd < 0)
		return -1;
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	result = ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
	return result;
}

/* ---- quick acknowledgements ---- */

struct route_request {
	struct nlmsghdr head;
	struct rtmsg route;
	char attributes[128];
};

static void add_attribute(struct route_request *request, unsigned short type,
			  const void *data, size_t size)
{
	struct rtattr *a = (struct rtattr *)(void *)((char *)request +
						     NLMSG_ALIGN(request->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(a), data, size);
	request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) +
				  RTA_ALIGN(a->rta_len);
}

/*
 * Replaces the kernel's loopback route by the same one with metric quickack:
 * the relay daemon answers in two small writes without TCP_NODELAY, and Nagle
 * with a delayed acknowledgement would cost 40 ms each.
 */
static int quick_route(int fd, uint32_t address, unsigned char bits)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[256];
	} reply;
	struct {
		struct rtattr head;
		uint32_t value;
	} metric = { { RTA_LENGTH(sizeof(uint32_t)), RTAX_QUICKACK }, 1 };
	struct route_request request;
	uint32_t to = htonl(address), from = htonl(INADDR_LOOPBACK);
	uint32_t loopback = if_nametoindex("lo");

	memset(&request, 0, sizeof(request));
	request.head.nlmsg_len = NLMSG_LENGTH(sizeof(request.route));
	request.head.nlmsg_type = RTM_NEWROUTE;
	request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
	request.route.rtm_family = AF_INET;
	request.route.rtm_dst_len = bits;
	request.route.rtm_table = RT_TABLE_LOCAL;
	request.route.rtm_protocol = RTPROT_KERNEL;
	request.route.rtm_scope = RT_SCOPE_HOST;
	request.route.rtm_type = RTN_LOCAL;
	add_attribute(&request, RTA_DST, &to, sizeof(to));
	add_attribute(&request, RTA_PREFSRC, &from, sizeof(from));
	add_attribute(&request, RTA_OIF, &loopback, sizeof(loopback));
	add_attribute(&request, RTA_METRICS, &metric, sizeof(metric));
	if (send(fd, &request, request.head.nlmsg_len, 0) < 0)
		return -1;
	if (recv(fd, &reply, sizeof(reply), 0) < (ssize_t)NLMSG_LENGTH(sizeof(reply.error)))
		return -1;
	errno = -reply.error.error;
	return reply.error.error ? -1 : 0;
}

static void quick_acknowledgements(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return;
	/* If the kernel refuses, it is only slower. */
	if (quick_route(fd, 0x7f000000u, 8) == 0)
		quick_route(fd, INADDR_LOOPBACK, 32);
	close(fd);
}

int places_enter_network(uid_t inside)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNET | (inside ? CLONE_NEWUSER : 0)) != 0)
		return -1;
	if (inside) {
		/* Without "deny" an ordinary user may not write gid_map. */
		if (write_file("/proc/self/setgroups", "deny") != 0 && errno != ENOENT)
			return -1;
		snprintf(map, sizeof(map), "%u %u 1", (unsigned)inside, (unsigned)uid);
		if (write_file("/proc/self/uid_map", map) != 0)
			return -1;
		snprintf(map, sizeof(map), "%u %u 1", (unsigned)gid, (unsigned)gid);
		if (write_file("/proc/self/gid_map", map) != 0)
			return -1;
	}
	if (loopback_up() != 0)
		return -1;
	quick_acknowledgements();
	return 0;
}

/* ---- ports ---- */

/* A socket bound to some free port of 127.0.0.1; -1: none. */
static int bind_somewhere(uint16_t *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*port = 0;
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &length) == 0)
		*port = ntohs(address.sin_port);
	return fd;
}

void places_free_ports(uint16_t *ports, size_t count)
{
	int fds[8];

	/* All are held until the last is chosen, or the kernel may return one twice. */
	for (size_t i = 0; i < count; i++)
		fds[i] = bind_somewhere(&ports[i]);
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Whether a listener on the loopback can be reached. */
static bool loopback_works(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool works;

	works = listener >= 0 && client >= 0 &&
		bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		listen(listener, 1) == 0 &&
		getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
		connect(client, (struct sockaddr *)&address, sizeof(address)) == 0;
	if (listener >= 0)
		close(listener);
	if (client >= 0)
		close(client);
	return works;
}

/* ---- uids ---- */

int places_take_uid(uid_t uid)
{
	gid_t gid = (gid_t)uid;

	/* Refused in some user namespaces, where root has no other group anyway. */
	if (setgroups(0, NULL) != 0 && errno != EPERM)
		return -1;
	if (setresgid(gid, gid, gid) != 0)
		return -1;
	return setresuid(uid, uid, uid);
}

static bool uid_has_name(uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	if (!file)
		return false;
	while (!found && getline(&line, &room, file) > 0) {
		unsigned int id;

		if (sscanf(line, "%*[^:]:%*[^:]:%u:", &id) == 1)
			found = id == uid;
	}
	free(line);
	fclose(file);
	return found;
}

static bool uid_is_mapped(uid_t uid)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned int inside, count;
	bool mapped = false;

	if (!file)
		return true;
	while (!mapped && fscanf(file, "%u %*u %u", &inside, &count) == 2)
		mapped = uid >= inside && uid - inside < count;
	fclose(file);
	return mapped;
}

static void mark_used_uids(bool used[UID_COUNT])
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) != 0)
			continue;
		if (st.st_uid >= UID_FIRST && st.st_uid < UID_FIRST + UID_COUNT)
			used[st.st_uid - UID_FIRST] = true;
	}
	closedir(dir);
}

static uid_t find_free_uid(void)
{
	bool used[UID_COUNT] = { false };
	unsigned int start = (unsigned int)getpid();

	mark_used_uids(used);
	for (unsigned int i = 0; i < UID_COUNT; i++) {
		unsigned int at = (start + i) % UID_COUNT;
		uid_t uid = UID_FIRST + at;

		if (!used[at] && uid_is_mapped(uid) && !uid_has_name(uid))
			return uid;
	}
	/* In a container with few ids: any mapped one without a name. */
	for (uid_t uid = 1; uid < 65534; uid++)
		if (uid_is_mapped(uid) && !uid_has_name(uid))
			return uid;
	return 0;
}

/* ---- trying ---- */

#define TRIAL_LIMIT_NS 4000000000
#define TRIED_NETWORK 1
#define TRIED_UID 2

static void try_child(uid_t uid, bool root)
{
	int error = 0, worked = 0;

	if (places_enter_network(root ? 0 : geteuid()) == 0 && loopback_works())
		worked |= TRIED_NETWORK;
	else
		error = errno;
	if (!root || (uid && places_take_uid(uid) == 0))
		worked |= TRIED_UID;
	/* errno fits beside the two bits: 6 bits are enough for EPERM ... ENOSYS. */
	_exit(worked | ((error > 0 && error < 64 ? error : 0) << 2));
}

static void try_renamed(uid_t uid)
{
	_exit(places_enter_network(uid) == 0 && geteuid() == uid && loopback_works() ?
	      TRIED_NETWORK : 0);
}

/* The exit status of a child that tries; -1: it did not end in time. */
static int wait_for_trial(pid_t child)
{
	int64_t deadline = monotonic_ns() + process_patience(TRIAL_LIMIT_NS);
	int status = 0;

	if (child < 0)
		return -1;
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (monotonic_ns() > deadline)
			kill(child, SIGKILL);
		poll(NULL, 0, 1);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void places_try(struct daemon_places *places)
{
	bool root = geteuid() == 0;
	int worked;
	pid_t child;

	memset(places, 0, sizeof(*places));
	places->uid = root ? find_free_uid() : geteuid();
	child = fork();
	if (child == 0)
		try_child(places->uid, root);
	worked = wait_for_trial(child);
	if (worked < 0) {
		places->error = ETIMEDOUT;
		return;
	}
	places->network = worked & TRIED_NETWORK;
	places->other_uid = worked & TRIED_UID;
	places->error = worked >> 2;
	if (places->other_uid)
		return;
	places->uid = UID_FIRST;
	child = fork();
	if (child == 0)
		try_renamed(places->uid);
	places->renamed = wait_for_trial(child) == TRIED_NETWORK;
}
