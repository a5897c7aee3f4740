/* SPDX-License-Identifier: MIT */
/* See place_porter.h. */
#include "probes/attach/place_porter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/attach/place.h"
#include "probes/process/process.h"

#define PREFIX "tftop-"
#define NAME_BYTES (sizeof(PREFIX) + 6)
#define MOUNT_SIZE "128m"	/* memory is used only for what is written */

/* From linux/mount.h, which cannot be included together with every glibc's header. */
enum {
	TREE_CLONE = 1, TREE_CLOEXEC = O_CLOEXEC, MOVE_FROM_EMPTY = 0x4, MOVE_TO_EMPTY = 0x40,
	CONFIG_STRING = 1, CONFIG_CREATE = 6, FS_CLOEXEC = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4,
};

/* For programs of root, the first folder is one in which only root can reuse a name. */
const char *const porter_parents[] = { "run", "tmp", "var/tmp", "dev/shm", NULL };

int porter_open(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	/* EAGAIN: a folder on the path is being renamed */
	for (int i = 0; i < 8; i++) {
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}

bool porter_is_possible(void)
{
	return (syscall(SYS_openat2, -1, "", NULL, 0) >= 0 || errno != ENOSYS) &&
	       (syscall(SYS_open_tree, -1, "", 0) >= 0 || errno != ENOSYS);
}

struct porter {
	const struct porter_job *job;
	int root;		/* root folder of the target */
	int sockets, control;	/* mounts that have not been moved to their place; -1: none */
	int parent, mount;	/* -1: not made yet */
	/* folder of the mount, locked to show that its porter is alive; -1: not open yet */
	int folder;
	char name[NAME_BYTES];
	char path[64];
	const char *failed;	/* what failed, with errno */
};

static bool fails(struct porter *p, const char *what)
{
	p->failed = what;
	return false;
}

/* ---- entering the target's namespaces ---- */

static bool is_own(int space, const char *own)
{
	struct stat a, b;

	return fstat(space, &a) == 0 && stat(own, &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

static int clone_of(const char *home, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", home, name);
	return (int)syscall(SYS_open_tree, AT_FDCWD, path,
			    TREE_CLONE | TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
}

/* An ordinary user may mount in the target's user namespace, if anywhere. */
static bool enter_namespaces(struct porter *p)
{
	int mounts = process_open_file(p->job->pid, "ns/mnt", O_RDONLY);
	int user = geteuid() ? process_open_file(p->job->pid, "ns/user", O_RDONLY) : -1;

	p->root = process_open_file(p->job->pid, "root", O_PATH | O_DIRECTORY);
	if (p->root < 0 || mounts < 0 || (geteuid() && user < 0))
		return fails(p, "cannot open its namespaces");
	if (user >= 0 && !is_own(user, "/proc/self/ns/user") && setns(user, CLONE_NEWUSER))
		return fails(p, "cannot enter its user namespace");
	/* tftop's files become mounts of that namespace, which it may clone */
	if (user >= 0 && p->job->home && unshare(CLONE_NEWNS))
		return fails(p, "cannot create a mount namespace");
	if (p->job->home) {
		p->sockets = clone_of(p->job->home, PLACE_HOME);
		p->control = clone_of(p->job->home, PLACE_CONTROL);
		if (p->sockets < 0 || p->control < 0)
			return fails(p, "cannot mount tftop's folder in the container");
	}
	if (!is_own(mounts, "/proc/self/ns/mnt") && setns(mounts, CLONE_NEWNS))
		return fails(p, "cannot enter its mount namespace");
	close(mounts);
	if (user >= 0)
		close(user);
	/* entering another user namespace has reset it */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return true;
}

/* ---- the mount ---- */

static int move_into_place(int from, int to)
{
	return (int)syscall(SYS_move_mount, from, "", to, "", MOVE_FROM_EMPTY | MOVE_TO_EMPTY);
}

static int new_mount(void)
{
	int context = (int)syscall(SYS_fsopen, "tmpfs", FS_CLOEXEC), mount = -1;

	if (context < 0)
		return -1;
	if (syscall(SYS_fsconfig, context, CONFIG_STRING, "size", MOUNT_SIZE, 0) == 0 &&
	    syscall(SYS_fsconfig, context, CONFIG_STRING, "mode", "0755", 0) == 0 &&
	    syscall(SYS_fsconfig, context, CONFIG_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FS_CLOEXEC, ATTR_NOSUID | ATTR_NODEV);
	close(context);
	return mount;
}

/* Makes a new folder in one of the parents. */
static bool make_place_folder(struct porter *p, const char *parent)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	unsigned char random[6];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	memcpy(p->name, PREFIX, sizeof(PREFIX));
	for (size_t i = 0; i < sizeof(random); i++)
		p->name[sizeof(PREFIX) - 1 + i] = letters[random[i] % (sizeof(letters) - 1)];
	p->name[sizeof(p->name) - 1] = '\0';
	snprintf(p->path, sizeof(p->path), "/%s/%s", parent, p->name);
	p->parent = porter_open(p->root, parent, O_RDONLY | O_DIRECTORY);
	if (p->parent >= 0 && mkdirat(p->parent, p->name, 0755) == 0)
		return true;
	if (p->parent >= 0)
		close(p->parent);
	p->parent = -1;
	return false;
}

static bool find_folder(struct porter *p)
{
	int error = ENOENT;

	for (size_t i = p->job->inner_root ? 0 : 1; porter_parents[i]; i++) {
		if (make_place_folder(p, porter_parents[i]))
			return true;
		if (errno != ENOENT)
			error = errno;
	}
	errno = error;
	return fails(p, "cannot create a folder in its /tmp, /var/tmp, /dev/shm or /run");
}

static bool put_mount(struct porter *p, int *what, const char *name, bool folder)
{
	int at;

	if (*what < 0)
		return true;
	at = openat(p->mount, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (folder ? O_DIRECTORY : 0));
	if (at < 0 || move_into_place(*what, at) != 0)
		return false;
	close(at);
	close(*what);
	*what = -1;
	return true;
}

static bool make_mount(struct porter *p)
{
	int on = openat(p->parent, p->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), file;

	p->mount = new_mount();
	if (on < 0 || p->mount < 0)
		return fails(p, "cannot mount a tmpfs in the container");
	file = openat(p->mount, PLACE_CONTROL, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	p->folder = openat(p->mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file < 0 || mkdirat(p->mount, PLACE_HOME, 0755) != 0 || p->folder < 0 ||
	    flock(p->folder, LOCK_EX | LOCK_NB) != 0)
		return fails(p, "cannot write to the tmpfs in the container");
	close(file);
	if (move_into_place(p->mount, on) != 0)
		return fails(p, "cannot mount a tmpfs in the container");
	close(on);
	if (!put_mount(p, &p->sockets, PLACE_HOME, true) ||
	    !put_mount(p, &p->control, PLACE_CONTROL, false))
		return fails(p, "cannot mount tftop's folder in the container");
	return true;
}

/* Uses the mount itself, because the path could lead elsewhere by now. */
static void take_away(int mount)
{
	if (fchdir(mount) == 0)
		umount2(".", MNT_DETACH);
	if (chdir("/") != 0)
		return;
}

/* ---- remains of killed porters ---- */

/* Removes a mount of this user at such a path if no porter holds its lock. */
static void sweep_one(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st, above;
	struct statfs fs;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && fstat(parent, &above) == 0 && st.st_dev != above.st_dev &&
	    st.st_uid == geteuid() && fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC &&
	    faccessat(fd, PLACE_HOME, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		take_away(fd);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void sweep_places(struct porter *p)
{
	for (size_t i = 0; porter_parents[i]; i++) {
		int parent = porter_open(p->root, porter_parents[i], O_RDONLY | O_DIRECTORY);
		DIR *dir = parent >= 0 ? fdopendir(parent) : NULL;
		struct dirent *entry;

		while (dir && (entry = readdir(dir)))
			if (strlen(entry->d_name) == NAME_BYTES - 1 &&
			    !strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
				sweep_one(dirfd(dir), entry->d_name);
		if (dir)
			closedir(dir);
		else if (parent >= 0)
			close(parent);
	}
}

/* ---- the porter's main function ---- */

/* One message: the answer, and the folder when there is one. */
static void answer_tftop(int link, const struct porter_answer *text, int folder)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = "" };
	struct iovec part = { (void *)text, sizeof(*text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (folder >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &folder, sizeof(folder));
	}
	sendmsg(link, &message, MSG_NOSIGNAL);
}

/* tftop and the porter share the lock, because they share the open file. */
static bool make_place(struct porter *p)
{
	struct porter_answer text = { .made = false };

	if (enter_namespaces(p)) {
		sweep_places(p);
		text.made = find_folder(p) && make_mount(p);
	}
	if (text.made)
		snprintf(text.text, sizeof(text.text), "%s", p->path);
	else
		snprintf(text.text, sizeof(text.text), "%s: %s", p->failed, strerror(errno));
	answer_tftop(p->job->link, &text, text.made ? p->folder : -1);
	return text.made;
}

static void wait_for_end(int link)
{
	char byte;
	ssize_t got;

	do {
		got = read(link, &byte, 1);
	} while (got > 0 || (got < 0 && errno == EINTR));
}

/* The folder can be removed when nothing is mounted on it any more. */
static void clear_place(struct porter *p)
{
	char parent[64];
	const char *slash = strrchr(p->job->swept_path, '/');

	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - p->job->swept_path),
		 p->job->swept_path);
	take_away(p->job->swept);
	p->parent = porter_open(p->root, parent, O_RDONLY | O_DIRECTORY);
	if (p->parent >= 0)
		unlinkat(p->parent, slash + 1, AT_REMOVEDIR);
}

_Noreturn void porter_main(const struct porter_job *job)
{
	struct porter p = {
		.job = job, .root = -1, .sockets = -1, .control = -1, .parent = -1, .mount = -1,
		.folder = -1,
	};
	const int kept[] = { job->link, job->swept };

	prctl(PR_SET_NAME, "tftop-porter");
	setsid();
	process_shrug_signals();
	process_null_stdio();
	process_keep_fds(kept, 2);
	umask(0);
	if (job->swept >= 0) {
		if (enter_namespaces(&p))
			clear_place(&p);
		_exit(0);
	}
	if (make_place(&p))
		wait_for_end(job->link);
	if (p.mount >= 0)
		take_away(p.mount);
	if (p.parent >= 0)
		unlinkat(p.parent, p.name, AT_REMOVEDIR);
	_exit(0);
}
