/* SPDX-License-Identifier: MIT */
/*
 * The inside of the preflight: what was read of a process (preflight_facts.c) and the parts
 * that judge it. A part adds its lines and nothing else.
 */
#ifndef PROBES_ATTACH_PREFLIGHT_INTERNAL_H
#define PROBES_ATTACH_PREFLIGHT_INTERNAL_H

#include "probes/attach/preflight.h"
#include "probes/process/process.h"

/* The symbol by which a probe library can come late. */
#define ATTACH_ENTRY "tftop_probe_attach"

struct mapped_file {
	char *path;		/* owned; as the process names it, in its own root */
	bool deleted;
};

struct facts {
	pid_t pid;
	struct process_stat stat;
	uid_t uids[4];		/* real, effective, saved, of files */
	gid_t gids[4];
	uint64_t permitted;	/* capabilities */
	pid_t tgid, tracer, inner_pid;	/* inner: its number in its own namespace; 0 unknown */
	int seccomp, filters;	/* -1: unknown */
	bool has_memory;	/* a kernel thread and a zombie have none */
	struct mapped_file *files;	/* owned; each once */
	size_t n_files;
	bool files_known, environment_known;
	char *environment;	/* owned; as it was at its exec; NAME=value, NUL after each */
	size_t environment_size;
};

/* False: it is not there (errno). What may not be read is unknown. */
bool facts_read(struct facts *facts, pid_t pid);
void facts_free(struct facts *facts);

/* "" is found too; NULL: not set, or unknown. Borrowed. */
const char *facts_variable(const struct facts *facts, const char *name);

/* The first mapped file whose name (behind the last '/') begins with prefix. */
const struct mapped_file *facts_file(const struct facts *facts, const char *prefix);

/* A number of a text such as /proc/PID/status: what stands behind "name". -1: no line. */
long long text_number(const char *text, const char *name, int base);

/* Whole file, malloc'ed, *size set, at most 64 MiB; NULL and errno. */
char *attach_read_whole(const char *path, size_t *size);

/* The newest GLIBC_2.N that a library defines or needs; 0: none. */
int glibc_minor(const char *path);

/* Whether a library's table of names holds this one. */
bool has_name(const char *path, const char *name);

/* ---- parts, in the order in which they are told ---- */

void check_permission(struct attach_check *check, const struct facts *facts);
void check_program(struct attach_check *check, const struct facts *facts, const char *lib_dir);
void check_namespaces(struct attach_check *check, const struct facts *facts,
		      const char *lib_dir);
void check_lttng(struct attach_check *check, const struct facts *facts, const char *lib_dir);
/* facts NULL: the machine. */
void check_probes(struct attach_check *check, const struct facts *facts, const char *lib_dir);
void check_cupti(struct attach_check *check, const struct facts *facts);

#endif
