/* SPDX-License-Identifier: MIT */
/*
 * Inside the preflight: what was read of a process (preflight_facts.c), and the parts that judge
 * it. A part adds its lines and does nothing else.
 */
#ifndef PROBES_ATTACH_PREFLIGHT_INTERNAL_H
#define PROBES_ATTACH_PREFLIGHT_INTERNAL_H

#include "probes/attach/preflight.h"
#include "probes/process/process.h"

/* The symbol by which a probe library can come late. */
#define ATTACH_ENTRY "tftop_probe_attach"

struct mapped_file {
	char *path;		/* owned; in the root of the process */
	bool deleted;
};

struct facts {
	pid_t pid;
	struct process_stat stat;
	uid_t uids[4];		/* real, effective, saved, for files */
	gid_t gids[4];
	uint64_t permitted;	/* capabilities */
	pid_t tgid, tracer, inner_pid;	/* inner_pid: in its own PID namespace; 0: unknown */
	int seccomp, filters;	/* -1: unknown */
	bool has_memory;	/* false: a kernel thread or a zombie */
	struct mapped_file *files;	/* owned; each once */
	size_t n_files;
	bool files_known;
	char *environment;	/* owned; as at its exec: NAME=value, each with a NUL */
	size_t environment_size;
};

/* False and errno: there is no such process. What may not be read is marked as unknown. */
bool facts_read(struct facts *facts, pid_t pid);
void facts_free(struct facts *facts);

/* The value of a variable, which may be ""; NULL: not set, or unknown. Borrowed. */
const char *facts_variable(const struct facts *facts, const char *name);

/* The first mapped file whose name (behind the last '/') begins with prefix. */
const struct mapped_file *facts_file(const struct facts *facts, const char *prefix);

/* The number after `name` at the start of a line, in a text such as /proc/PID/status; -1: there
 * is no such line. */
long long text_number(const char *text, const char *name, int base);

/* The whole file, malloc'ed, 64 MiB at most, its size in *size; NULL and errno. */
char *attach_read_whole(const char *path, size_t *size);

/* The newest N of GLIBC_2.N that a library defines or needs; 0: none. */
int glibc_minor(const char *path);

/* Whether a library's symbol names include this one. */
bool has_name(const char *path, const char *name);

/* ---- the parts, in the order of the report ---- */

void check_permission(struct attach_check *check, const struct facts *facts);
void check_program(struct attach_check *check, const struct facts *facts, const char *lib_dir);
void check_namespaces(struct attach_check *check, const struct facts *facts,
		      const char *lib_dir);
void check_lttng(struct attach_check *check, const struct facts *facts, const char *lib_dir);
/* facts NULL: the machine is checked. */
void check_probes(struct attach_check *check, const struct facts *facts, const char *lib_dir);
void check_cupti(struct attach_check *check, const struct facts *facts);

#endif
