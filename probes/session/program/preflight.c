/* SPDX-License-Identifier: MIT */
#include "probes/session/program/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probes/schema/control.h"
#include "probes/process/executable.h"
#include "probes/process/process.h"

#define SCRIPT_DEPTH 4

/* ---- notes ---- */

__attribute__((format(printf, 2, 3)))
static void add_note(struct preflight *p, const char *format, ...)
{
	va_list args;

	if (p->note_count == PREFLIGHT_NOTES)
		return;
	va_start(args, format);
	vsnprintf(p->notes[p->note_count++], PREFLIGHT_NOTE_MAX, format, args);
	va_end(args);
}

__attribute__((format(printf, 3, 4)))
static void refuse_program(struct preflight *p, int status, const char *format, ...)
{
	va_list args;

	p->exit_status = status;
	va_start(args, format);
	vsnprintf(p->error, sizeof(p->error), format, args);
	va_end(args);
}

/* ---- finding, as execvp() does ---- */

static bool runnable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_on_path(const char *name, char *path, size_t size, bool *denied)
{
	const char *folders = getenv("PATH");
	struct stat st;

	if (!folders)
		folders = "/bin:/usr/bin";
	for (;;) {
		size_t length = strcspn(folders, ":");

		/* An empty entry is the working directory. */
		snprintf(path, size, "%.*s%s%s", (int)length, folders, length ? "/" : "", name);
		if (runnable(path))
			return true;
		*denied |= stat(path, &st) == 0 && S_ISREG(st.st_mode);
		if (!folders[length])
			return false;
		folders += length + 1;
	}
}

static void find_program_file(struct preflight *p, const char *name)
{
	bool denied = false;
	struct stat st;

	if (!*name) {
		refuse_program(p, 127, "program not found: ''");
		return;
	}
	if (!strchr(name, '/')) {
		if (find_on_path(name, p->path, sizeof(p->path), &denied))
			return;
		if (denied)
			refuse_program(p, 126,
				       "cannot run '%s': the file on the PATH is not executable",
				       name);
		else
			refuse_program(p, 127, "program not found on the PATH: '%s'", name);
		return;
	}
	snprintf(p->path, sizeof(p->path), "%s", name);
	if (stat(name, &st) != 0)
		refuse_program(p, errno == EACCES ? 126 : 127, "cannot run '%s': %s", name,
		       strerror(errno));
	else if (S_ISDIR(st.st_mode))
		refuse_program(p, 126, "cannot run '%s': it is a directory", name);
	else if (access(name, X_OK) != 0)
		refuse_program(p, 126, "cannot run '%s': %s", name, strerror(errno));
}

/* ---- what kind of file ---- */

static bool secure(int fd)
{
	char caps[64];
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid())
		return true;
	return geteuid() != 0 && fgetxattr(fd, "security.capability", caps, sizeof(caps)) > 0;
}

static enum preflight_kind read_file_kind(int fd, char *first, size_t size)
{
	ssize_t got = pread(fd, first, size - 1, 0);
	enum executable_kind kind = executable_kind(fd, NULL, NULL);

	first[got > 0 ? got : 0] = '\0';
	if (kind == EXECUTABLE_NONE)
		return PREFLIGHT_UNKNOWN;
	if (secure(fd))
		return PREFLIGHT_SECURE;
	switch (kind) {
	case EXECUTABLE_DYNAMIC: return PREFLIGHT_DYNAMIC;
	case EXECUTABLE_STATIC: return PREFLIGHT_STATIC;
	case EXECUTABLE_MUSL:		/* our libraries need glibc */
	case EXECUTABLE_FOREIGN: return PREFLIGHT_FOREIGN;
	default: return PREFLIGHT_UNKNOWN;
	}
}

enum preflight_kind preflight_kind(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	enum preflight_kind kind;
	char first[256];

	if (fd < 0)
		return PREFLIGHT_UNKNOWN;
	kind = read_file_kind(fd, first, sizeof(first));
	close(fd);
	return kind;
}

/* The interpreter of a "#!" line; with env, the program that env will run. */
static bool interpreter_of(const char *first, char *path, size_t size)
{
	const char *at = first + 2;
	size_t length;

	if (first[0] != '#' || first[1] != '!')
		return false;
	at += strspn(at, " \t");
	length = strcspn(at, " \t\n");
	snprintf(path, size, "%.*s", (int)length, at);
	if (!length || length < 4 || strcmp(path + length - 4, "/env") != 0 || !runnable(path))
		return length > 0;
	at += length;
	at += strspn(at, " \t");
	length = strcspn(at, " \t\n");
	if (length && at[0] != '-' && !memchr(at, '=', length)) {
		bool denied = false;
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (!find_on_path(name, path, size, &denied))
			snprintf(path, size, "%s", name);
	}
	return true;
}

static void look_inside(struct preflight *p)
{
	char file[4096], first[256];

	snprintf(file, sizeof(file), "%s", p->path);
	for (int depth = 0; depth < SCRIPT_DEPTH; depth++) {
		int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		char next[4096];

		memcpy(p->interpreter, file, sizeof(file));
		if (fd < 0) {
			p->kind = PREFLIGHT_UNKNOWN;
			return;
		}
		p->kind = read_file_kind(fd, first, sizeof(first));
		close(fd);
		if (p->kind != PREFLIGHT_UNKNOWN || !interpreter_of(first, next, sizeof(next)))
			return;
		if (!runnable(next)) {
			refuse_program(p, 126,
				       "cannot run '%s': its interpreter '%s' does not exist", file,
				       next);
			return;
		}
		memcpy(file, next, sizeof(file));
	}
}

/* ---- what will not be observed ---- */

/* The entry of names that the command line `command` starts with. */
static const char *find_command_name(const char *command, const char *const *names, size_t count)
{
	size_t length = strcspn(command, " ");
	const char *name = command;

	for (size_t i = 0; i < length; i++)
		if (command[i] == '/')
			name = command + i + 1;
	length = (size_t)(command + length - name);
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
			return names[i];
	return NULL;
}

const char *preflight_hider(const char *command)
{
	static const char *const hiders[] = {
		"sudo", "doas", "su", "pkexec", "docker", "podman", "nerdctl",
		"apptainer", "singularity", "enroot", "bwrap", "flatpak", "snap", "ssh",
		"srun", "systemd-run", "lxc", "machinectl", "kubectl", "chroot", "nsenter",
	};

	return find_command_name(command, hiders, sizeof(hiders) / sizeof(hiders[0]));
}

static bool changes_user(const char *command)
{
	static const char *const changers[] = {
		"setpriv", "runuser", "su", "sudo", "doas", "gosu", "su-exec", "chpst",
		"setuidgid", "s6-setuidgid", "capsh", "start-stop-daemon",
	};

	return find_command_name(command, changers, sizeof(changers) / sizeof(changers[0])) != NULL;
}

static void note_kind(struct preflight *p)
{
	const char *hider = preflight_hider(p->path);

	if (hider)
		add_note(p, "tftop cannot observe what '%s' runs in another container, on another "
		     "machine or as another user; run tftop there", hider);
	if (p->kind == PREFLIGHT_STATIC)
		add_note(p, "'%s' is statically linked: no probe can be loaded into it", p->path);
	else if (p->kind == PREFLIGHT_SECURE && !hider)
		add_note(p,
			 "'%s' is set-uid or has file capabilities: the system removes the probes "
			 "from its environment",
			 p->path);
	else if (p->kind == PREFLIGHT_FOREIGN)
		add_note(p,
			 "'%s' has another word size or C library than the probes: they cannot be "
			 "loaded into it",
			 p->path);
}

static bool user_daemon_runs(void)
{
	const char *home = getenv("LTTNG_HOME") ? getenv("LTTNG_HOME") : getenv("HOME");
	char path[4096], text[32], *end;
	long pid;

	if (!home || geteuid() == 0)
		return false;
	snprintf(path, sizeof(path), "%s/.lttng/lttng-sessiond.pid", home);
	if (process_read_file(path, text, sizeof(text)) <= 0)
		return false;
	pid = strtol(text, &end, 10);
	return end != text && pid > 1 && pid <= INT_MAX && kill((pid_t)pid, 0) == 0;
}

static void note_tracers(struct preflight *p)
{
	extern char **environ;

	if (getenv(TFT_CONTROL_ENV)) {
		add_note(p,
			 "this tftop runs under another one ('" TFT_CONTROL_ENV "' is set), which "
			 "will not see this program");
		return;
	}
	if (getenv("LTTNG_HOME"))
		add_note(p,
			 "your own LTTng traces PROGRAM ('LTTNG_HOME' is set): that session does "
			 "not see it while tftop runs");
	else if (user_daemon_runs())
		add_note(p,
			 "your own LTTng session daemon is running: it does not see PROGRAM while "
			 "tftop runs");
	for (char **e = environ; *e; e++) {
		if (strncmp(*e, "LTTNG_UST_", 10) != 0)
			continue;
		add_note(p, "'%.*s' is set, which also affects the probes",
		     (int)strcspn(*e, "="), *e);
		return;
	}
}

static void look_at_plugin(struct preflight *p)
{
	char text[sizeof(p->error)];

	switch (preflight_plugin(p->interpreter, text, sizeof(text))) {
	case PREFLIGHT_PLUGIN_FINE:
		break;
	case PREFLIGHT_PLUGIN_UNUSED:
		add_note(p, "%s", text);
		break;
	case PREFLIGHT_PLUGIN_FATAL:
		refuse_program(p, 125, "%s", text);
	}
}

void preflight_check(struct preflight *p, char *const *argv)
{
	memset(p, 0, sizeof(*p));
	if (!argv || !argv[0]) {
		refuse_program(p, 125, "no program given");
		return;
	}
	find_program_file(p, argv[0]);
	if (p->exit_status)
		return;
	look_inside(p);
	if (p->exit_status)
		return;
	p->changes_user = changes_user(p->path);
	note_kind(p);
	note_tracers(p);
	look_at_plugin(p);
}
