/* SPDX-License-Identifier: MIT */
/* Machine, C library and LTTng of the process: whether the probes can be loaded into it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/attach/place.h"
#include "probes/attach/preflight_internal.h"
#include "probes/attach/stage.h"
#include "probes/process/executable.h"
#include "probes/schema/control.h"

#define GLIBC_OLDEST 28		/* GLIBC_2.28 */
#define RUNTIME_LIBRARY "libtftop-runtime.so"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define MACHINE_NAME "x86-64"
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define MACHINE_NAME "aarch64"
#else
#define MACHINE EM_NONE
#define MACHINE_NAME "of another machine"
#endif

/* ---- the executable ---- */

/* Whether its machine is the probes'; otherwise reports that, and no more follows. */
static bool check_machine_of(struct attach_check *check, enum executable_kind kind,
			     unsigned int bits, uint16_t machine)
{
	if (kind == EXECUTABLE_NONE)
		attach_add(check, "program", ATTACH_CANNOT, "its executable is not an ELF file");
	else if (bits != 64 || machine != MACHINE)
		attach_add(check, "program", ATTACH_CANNOT,
			   "it is a %u-bit program for machine %u, and tftop's probes are for "
			   MACHINE_NAME,
			   bits == 32 ? 32 : 64, machine);
	else if (MACHINE != EM_X86_64)
		attach_add(check, "program", ATTACH_CANNOT,
			   "attaching works on x86-64 only, not on " MACHINE_NAME);
	else
		return true;
	return false;
}

/* Set-uid and similar programs: secure_getenv() in them ignores tftop's variables. */
static bool is_secure(const struct facts *t)
{
	Elf64_auxv_t words[64];
	ssize_t got;

	got = process_read(t->pid, "auxv", (char *)words, sizeof(words));
	for (ssize_t i = 0; i < got / (ssize_t)sizeof(words[0]); i++)
		if (words[i].a_type == AT_SECURE)
			return words[i].a_un.a_val != 0;
	return false;
}

/* Checks what the probe libraries, and tftop's LTTng if it is loaded too, were built for. */
static int glibc_needed(const struct facts *t, const char *lib_dir)
{
	char path[2048];
	int needed;

	snprintf(path, sizeof(path), "%s/" RUNTIME_LIBRARY, lib_dir);
	needed = glibc_minor(path);
	if (!lib_dir[0] || place_is_shared(t->pid, lib_dir))
		return needed;
	for (size_t i = 0; place_lttng[i]; i++) {
		int minor = place_find_library(place_lttng[i], lib_dir, path, sizeof(path)) ?
			    glibc_minor(path) : 0;

		needed = minor > needed ? minor : needed;
	}
	return needed;
}

static void check_glibc(struct attach_check *check, const struct facts *t,
			const struct mapped_file *libc, const char *lib_dir)
{
	int minor, needed = glibc_needed(t, lib_dir);
	struct attach_line *line;
	char path[4200];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)t->pid, libc->path);
	minor = libc->deleted ? 0 : glibc_minor(path);
	if (libc->deleted) {
		line = attach_add(check, "program", ATTACH_CANNOT, "its C library '%s' was "
				  "replaced on disk after the program started", libc->path);
		attach_hint(line, "restart the program");
	} else if (!minor && place_same_space(t->pid, "mnt") == 1 &&
		   !place_is_shared(t->pid, "/")) {
		line = attach_add(check, "program", ATTACH_CANNOT, "the program called chroot(): "
				  "its C library '%s' is outside its root now, and so would the "
				  "probes be", libc->path);
		attach_hint(line, "start the program with 'tftop -- PROGRAM'");
	} else if (!minor) {
		attach_add(check, "program", ATTACH_CANNOT, "its C library '%s' cannot be read: %s",
			   libc->path, strerror(errno));
	} else if (minor < GLIBC_OLDEST || minor < needed) {
		line = attach_add(check, "program", ATTACH_CANNOT,
				  "its glibc is version 2.%d, and these probes need 2.%d",
				  minor, needed > GLIBC_OLDEST ? needed : GLIBC_OLDEST);
		attach_hint(line, "build tftop on a system with a glibc that is no newer");
	} else {
		attach_add(check, "program", ATTACH_CAN,
			   MACHINE_NAME ", glibc 2.%d, dynamically linked", minor);
	}
}

static void say_kind(struct attach_check *check, const struct facts *t, enum executable_kind kind,
		     const char *lib_dir)
{
	const struct mapped_file *libc = facts_file(t, "libc.so.6");
	struct attach_line *line;

	if (!libc)
		libc = facts_file(t, "libc-2.");
	if (kind == EXECUTABLE_MUSL || facts_file(t, "ld-musl-")) {
		line = attach_add(check, "program", ATTACH_CANNOT,
				  "its C library is musl; the probes and LTTng need glibc");
		attach_hint(line, "run the program in an image with glibc (Debian, Ubuntu, Fedora, "
			    "not Alpine)");
	} else if (kind == EXECUTABLE_STATIC) {
		line = attach_add(check, "program", ATTACH_CANNOT, "the program is statically "
				  "linked: no library can be loaded into it");
		attach_hint(line, "link the program dynamically");
	} else if (is_secure(t)) {
		line = attach_add(check, "program", ATTACH_CANNOT, "the program runs set-uid, "
				  "set-gid or with file capabilities: LTTng ignores its "
				  "environment");
		attach_hint(line, "start the program as the user it runs as");
	} else if (!t->files_known) {
		attach_add(check, "program", ATTACH_CANNOT, "its memory mappings cannot be read");
	} else if (!libc) {
		check->bare = true;
		attach_add(check, "program", ATTACH_CANNOT, "no known C library is mapped: the "
			   "program is just starting, or has one of its own");
	} else {
		check_glibc(check, t, libc, lib_dir);
	}
}

void check_program(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	enum executable_kind kind;
	unsigned int bits = 0;
	uint16_t machine = 0;
	int fd;

	fd = process_open_file(t->pid, "exe", O_RDONLY);
	if (fd < 0) {
		attach_add(check, "program", ATTACH_CANNOT, "its executable cannot be read: %s",
			   strerror(errno));
		return;
	}
	kind = executable_kind(fd, &bits, &machine);
	close(fd);
	if (check_machine_of(check, kind, bits, machine))
		say_kind(check, t, kind, lib_dir);
}

/* ---- LTTng ---- */

/* Whether the tftop of this control page has detached, though its folder still exists. */
static bool has_let_go(pid_t pid, const char *page)
{
	struct tft_control control = { .closed = 0 };
	int fd = place_open_inside(pid, page, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	/* also if it was removed since the mappings were read */
	bool gone = fd < 0 ? errno == ENOENT :
		    pread(fd, &control, sizeof(control), 0) == (ssize_t)sizeof(control) &&
		    control.closed;

	if (fd >= 0)
		close(fd);
	return gone;
}

/* The folder of the control page that tftop's runtime has mapped there; false: none. */
static bool control_folder(const struct facts *t, char *folder, size_t size, bool *there)
{
	for (size_t i = 0; i < t->n_files; i++) {
		const char *path = t->files[i].path, *name = basename(path);

		if (strcmp(name, "control") || !strstr(path, "/tftop-"))
			continue;
		snprintf(folder, size, "%.*s", (int)(name - path - 1), path);
		*there = !t->files[i].deleted && !has_let_go(t->pid, path);
		return true;
	}
	return false;
}

/* The process makes a link to the next tftop's folder where the last one's was. If no probe was in
 * use, this is not visible from here: the process reports whether it can. */
static bool may_link(const struct facts *t, const char *folder)
{
	const char *slash = strrchr(folder, '/');
	char parent[256];
	struct stat st;

	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - folder) : 0, folder);
	return t->uids[1] == 0 || !slash ||
	       (stat(parent, &st) == 0 && ((st.st_mode & S_IWOTH) || st.st_uid == t->uids[1]));
}

static void say_ours(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	char folder[256] = "?", runtime[2048];
	struct attach_line *line;
	bool there = false;

	snprintf(runtime, sizeof(runtime), "%s/" RUNTIME_LIBRARY, lib_dir);
	if (control_folder(t, folder, sizeof(folder), &there) && there) {
		line = attach_add(check, "LTTng", ATTACH_CANNOT, "another tftop is attached (its "
				  "folder is '%s')", folder);
		attach_hint(line, "quit that tftop first, or restart the program");
	} else if (has_name(runtime, STAGE_RUNTIME_ENTRY) &&
		   (check->apart || may_link(t, folder))) {
		check->again = true;
		attach_add(check, "LTTng", ATTACH_CAN, "an earlier tftop was attached; its probes "
			   "are still loaded and can be used again");
	} else {
		line = attach_add(check, "LTTng", ATTACH_CANNOT, "an earlier tftop was attached, "
				  "and LTTng in the program remains bound to its folder '%s'",
				  folder);
		attach_hint(line, "attach as the same user as before, or restart the program");
	}
}

static void say_foreign(struct attach_check *check, const struct facts *t)
{
	const char *home = facts_variable(t, "LTTNG_HOME");
	struct attach_line *line;

	if (!home)
		home = facts_variable(t, "HOME");
	line = attach_add(check, "LTTng", ATTACH_CANNOT, "LTTng-UST is already loaded and bound to "
			  "the session daemon of '%.200s'; it accepts no second one",
			  home ? home : "an unknown home");
	attach_hint(line, "start the program with 'tftop -- PROGRAM', or use that daemon's session "
		    "('lttng')");
}

void check_lttng(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	const struct mapped_file *old = facts_file(t, "liblttng-ust.so.0");
	struct attach_line *line;

	if (!t->files_known)
		return;
	if (old) {
		line = attach_add(check, "LTTng", ATTACH_CANNOT, "'%.200s' of LTTng-UST 2.12 or "
				  "older is loaded; the probes need 2.13, and both in one process "
				  "would crash it", old->path);
		attach_hint(line, "start the program with LTTng-UST 2.13 or without LTTng");
	} else if (facts_file(t, RUNTIME_LIBRARY)) {
		say_ours(check, t, lib_dir);
	} else if (facts_file(t, "liblttng-ust.so.")) {
		say_foreign(check, t);
	} else {
		attach_add(check, "LTTng", ATTACH_CAN, "not loaded yet: tftop loads it with the "
			   "probes");
	}
}
