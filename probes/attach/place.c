/* SPDX-License-Identifier: MIT */
/* See place.h. */
#include "probes/attach/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/attach/place_porter.h"
#include "probes/process/process.h"

#define ANSWER_MS 5000
#define END_MS 1000

bool place_is_shared(pid_t pid, const char *path)
{
	char there[4096 + 64];
	struct stat a, b;

	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, path);
	return stat(path, &a) == 0 && stat(there, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int place_same_space(pid_t pid, const char *name)
{
	char path[64], own[64], theirs[64];
	ssize_t a, b;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	a = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	b = readlink(path, theirs, sizeof(theirs));
	if (a < 0 || b < 0)
		return -1;
	return a == b && !memcmp(own, theirs, (size_t)a);
}

int place_open_inside(pid_t pid, const char *path, int flags)
{
	int root = process_open_file(pid, "root", O_PATH | O_DIRECTORY), fd, saved;

	if (root < 0)
		return -1;
	fd = porter_open(root, path, flags);
	saved = errno;
	close(root);
	if (fd < 0 && saved == ENOSYS) {	/* Linux before 5.6, which has no places either */
		char whole[4096 + 64];

		snprintf(whole, sizeof(whole), "/proc/%d/root%s", (int)pid, path);
		return open(whole, flags | O_CLOEXEC);
	}
	errno = saved;
	return fd;
}

static bool same_space(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

uid_t place_inner_uid(pid_t pid, uid_t uid)
{
	unsigned int inside = uid, outside, count;
	char path[64];
	FILE *map;

	/* a process sees the numbers of the parent namespace for its own namespace */
	if (place_same_space(pid, "user") != 0)
		return uid;
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	map = fopen(path, "re");
	while (map && fscanf(map, "%u %u %u", &inside, &outside, &count) == 3) {
		if (uid < outside || uid - outside >= count)
			continue;
		inside += uid - outside;
		break;
	}
	if (map)
		fclose(map);
	return inside;
}

/* ---- whether it is possible ---- */

static bool has_admin_right(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	return syscall(SYS_capget, &head, data) == 0 &&
	       (data[0].effective & (1u << CAP_SYS_ADMIN)) &&
	       (data[0].effective & (1u << CAP_SYS_CHROOT));
}

/* Its mounts belong to its user namespace, which is of tftop's user but not tftop's own. */
static bool owns_its_mounts(pid_t pid)
{
	int mounts = process_open_file(pid, "ns/mnt", O_RDONLY);
	int user = process_open_file(pid, "ns/user", O_RDONLY);
	int own = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC), of = -1;
	uid_t owner = (uid_t)-1;
	bool owns = false;

	if (mounts >= 0 && user >= 0 && own >= 0)
		of = ioctl(mounts, NS_GET_USERNS);
	if (of >= 0)
		owns = same_space(of, user) && !same_space(user, own) &&
		       ioctl(user, NS_GET_OWNER_UID, &owner) == 0 && owner == geteuid();
	for (int i = 0, fds[] = { mounts, user, own, of }; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return owns;
}

static bool is_writable_folder(pid_t pid, const char *path)
{
	int fd = place_open_inside(pid, path, O_PATH | O_DIRECTORY);
	struct statvfs fs;
	bool fit = fd >= 0 && fstatvfs(fd, &fs) == 0 && !(fs.f_flag & ST_RDONLY);

	if (fd >= 0)
		close(fd);
	return fit;
}

static bool has_folder(pid_t pid)
{
	for (size_t i = 0; porter_parents[i]; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/%s", porter_parents[i]);
		if (is_writable_folder(pid, path))
			return true;
	}
	return false;
}

bool place_possible(pid_t pid, char *why, size_t size, char *hint, size_t hint_size)
{
	snprintf(hint, hint_size, "run tftop inside the container: 'docker exec', 'podman exec' or "
		 "'nsenter -t %d -a'",
		 (int)pid);
	if (!porter_is_possible()) {
		snprintf(why, size, "this kernel cannot mount into another namespace: Linux 5.6 or "
			 "newer is needed");
	} else if (geteuid() == 0 ? !has_admin_right() : !owns_its_mounts(pid)) {
		snprintf(why, size, geteuid() == 0 ? "tftop may not mount files there "
			 "(CAP_SYS_ADMIN)" :
			 "its mounts do not belong to a user namespace of tftop's user");
		if (geteuid() != 0)
			snprintf(hint, hint_size, "run tftop as root, or inside the container: "
				 "'docker exec', 'podman exec' or 'nsenter -t %d -a'", (int)pid);
	} else if (!is_writable_folder(pid, "/dev/shm")) {
		snprintf(why, size, "it has no writable '/dev/shm', which LTTng needs");
		snprintf(hint, hint_size, "mount one in the container: 'mount -t tmpfs -o "
			 "mode=1777 none /dev/shm'");
	} else if (!has_folder(pid)) {
		snprintf(why, size, "none of its /tmp, /var/tmp, /dev/shm and /run is writable, "
			 "where the probes would be put");
	} else {
		return true;
	}
	return false;
}

/* ---- the porter ---- */

static pid_t start_porter(const struct porter_job *job, int tftops)
{
	pid_t porter = fork();

	if (porter == 0) {
		if (tftops >= 0)
			close(tftops);
		porter_main(job);
	}
	return porter;
}

static bool hear_porter(int link, struct porter_answer *text, int *folder)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { text, sizeof(*text) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	struct pollfd p = { .fd = link, .events = POLLIN };
	struct cmsghdr *c;

	if (poll(&p, 1, ANSWER_MS) <= 0 ||
	    recvmsg(link, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*text))
		return false;
	text->text[sizeof(text->text) - 1] = '\0';
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(folder, CMSG_DATA(c), sizeof(*folder));
	return true;
}

bool place_open(struct container_place *place, pid_t pid, uid_t uid, const char *home, char *why,
		size_t size)
{
	struct porter_answer text = { .made = false };
	struct porter_job job = {
		.pid = pid, .inner_root = place_inner_uid(pid, uid) == 0, .home = home, .swept = -1,
	};
	int pair[2];

	*place = (struct container_place){ .target = pid, .link = -1, .folder = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		snprintf(why, size, "cannot create a pair of sockets: %s", strerror(errno));
		return false;
	}
	job.link = pair[1];
	place->link = pair[0];
	place->porter = start_porter(&job, pair[0]);
	close(pair[1]);
	if (place->porter < 0) {
		snprintf(why, size, "cannot create a process: %s", strerror(errno));
		place->porter = 0;
	} else if (!hear_porter(place->link, &text, &place->folder)) {
		snprintf(why, size, "the helper process that mounts the probes' files does not "
			 "answer");
	} else if (!text.made) {
		snprintf(why, size, "%s", text.text);
	} else {
		snprintf(place->path, sizeof(place->path), "%.60s", text.text);
		return true;
	}
	return false;
}

/* ---- copies ---- */

static bool copy_all(int from, int to)
{
	ssize_t got;

	while ((got = sendfile(to, from, NULL, 1 << 20)) > 0)
		;
	return got == 0;
}

bool place_copy(struct container_place *place, const char *path, char *why, size_t size)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int from = open(path, O_RDONLY | O_CLOEXEC), to = -1;
	bool done = false;

	if (from >= 0)
		to = openat(place->folder, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	/* independent of tftop's umask, because the program may belong to another user */
	if (to >= 0)
		done = copy_all(from, to) && fchmod(to, 0555) == 0;
	if (!done)
		snprintf(why, size, "cannot copy '%.200s' to '%s' for the program: %s", path,
			 place->path, strerror(errno));
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return done;
}

/* ---- the end ---- */

/* Whether the porter ended by itself in time. */
static bool has_ended_well(pid_t pid)
{
	int status = 0;

	for (int i = 0; i < END_MS; i++) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return WIFEXITED(status);
		if (got < 0 && errno != EINTR)
			return true;	/* another thread has read its status */
		poll(NULL, 0, 1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return false;
}

void place_remove(struct container_place *place)
{
	struct porter_job job = {
		.pid = place->target, .link = -1, .swept = place->folder,
		.swept_path = place->path,
	};

	if (place->link >= 0)
		close(place->link);
	place->link = -1;
	if (place->porter > 0 && !has_ended_well(place->porter) && place->folder >= 0) {
		place->porter = start_porter(&job, -1);
		if (place->porter > 0)
			has_ended_well(place->porter);
	}
	place->porter = 0;
	if (place->folder >= 0)
		close(place->folder);
	place->folder = -1;
}
