/* SPDX-License-Identifier: MIT */
#include "tui/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/process/marks.h"
#include "probes/process/process.h"
#include "probes/session/session.h"
#include "tui/base/complain.h"
#include "tui/control.h"
#include "tui/base/text.h"

#define COMMAND_MAX 4096
#define COMM_MAX 15		/* length to which the kernel cuts the name of a process */
#define NAMED_MAX 256		/* most processes of one name that are examined */
#define CHILDREN_MAX 1024	/* most children of one process */

struct command {
	char text[COMMAND_MAX + 1];	/* the words, each followed by NUL */
	size_t size;
};

static bool read_command(pid_t pid, struct command *command)
{
	char path[64];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	got = process_read_file(path, command->text, sizeof(command->text));
	command->size = got > 0 ? (size_t)got : 0;
	return command->size > 0;
}

/* Returns the word behind it, NULL if there is none. */
static const char *next_word(const struct command *command, const char *word)
{
	word += strlen(word) + 1;
	return word < command->text + command->size ? word : NULL;
}

/* ---- names ---- */

static bool is_interpreter(const char *path)
{
	static const char *const names[] = {
		"python", "pypy", "bash", "sh", "dash", "zsh", "perl", "ruby", "julia", "lua",
	};
	const char *base = basename(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		/* "python3.11" is an interpreter, "shutdown" (which starts with "sh") is none */
		if (!strncmp(base, names[i], length) &&
		    !base[length + strspn(base + length, "0123456789.")])
			return true;
	}
	return false;
}

/* The script that an interpreter runs: a file, or Python's -m MODULE; NULL if there is none. */
static const char *script_of(const struct command *command)
{
	const char *word = next_word(command, command->text);

	while (word && word[0] == '-') {
		if (!strcmp(word, "-c") || !strcmp(word, "-"))
			return NULL;
		if (!strcmp(word, "-m"))
			return next_word(command, word);
		if (!strcmp(word, "-X") || !strcmp(word, "-W"))
			word = next_word(command, word);
		word = word ? next_word(command, word) : NULL;
	}
	return word;
}

/* Compares the whole name, or the name without its extension: "train" is train.py. */
static bool same_file(const char *path, const char *name)
{
	const char *base = basename(path), *dot = strrchr(base, '.');
	size_t length = strlen(name);

	return !strcmp(base, name) ||
	       (dot && (size_t)(dot - base) == length && !memcmp(base, name, length));
}

static bool process_is_called(pid_t pid, const char *name)
{
	struct process_stat stat;
	struct command command;
	const char *script;

	if (!process_stat(pid, &stat) || stat.state == 'Z' || stat.state == 'X' ||
	    !read_command(pid, &command))
		return false;
	if (!strcmp(stat.comm, name) || !strcmp(basename(command.text), name))
		return true;
	script = is_interpreter(command.text) ? script_of(&command) : NULL;
	return script && same_file(script, name);
}

static bool is_ours(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return pid != getpid() && stat(path, &st) == 0 &&
	       (geteuid() == 0 || st.st_uid == geteuid());
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static size_t find_named(const char *name, pid_t *pids, size_t max)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while (dir && n < max && (entry = readdir(dir))) {
		pid_t pid =
			isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;

		if (pid > 0 && is_ours(pid) && process_is_called(pid, name))
			pids[n++] = pid;
	}
	if (dir)
		closedir(dir);
	qsort(pids, n, sizeof(*pids), by_number);
	return n;
}

/* ---- who is below whom ---- */

static bool has(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static bool is_below_one(const pid_t *pids, size_t n, pid_t pid)
{
	struct process_stat stat;

	for (int depth = 0; depth < 64 && process_stat(pid, &stat) && stat.parent > 1; depth++) {
		pid = stat.parent;
		if (has(pids, n, pid))
			return true;
	}
	return false;
}

/* Removes processes below others in the list: they are included with those. */
static size_t keep_uppermost(pid_t *pids, size_t n)
{
	pid_t all[NAMED_MAX];
	size_t kept = 0;

	memcpy(all, pids, n * sizeof(*pids));
	for (size_t i = 0; i < n; i++)
		if (!is_below_one(all, n, all[i]))
			pids[kept++] = all[i];
	return kept;
}

/* ---- the whole ---- */

static void print_process(pid_t pid)
{
	struct command command;
	char clean[COMMAND_MAX * 3];

	if (!read_command(pid, &command))
		return;
	for (size_t i = 0; i + 1 < command.size; i++)
		if (!command.text[i])
			command.text[i] = ' ';
	fprintf(stderr, "%8d  %s\n", (int)pid, text_clean(clean, sizeof(clean), command.text));
}

static bool add(struct options *options, pid_t pid)
{
	if (has(options->pids, options->n_pids, pid))
		return true;
	if (options->n_pids == OPTIONS_PIDS_MAX) {
		complain_on_stderr("there are more than %d processes: name the ones to watch with "
				   "-p",
				   OPTIONS_PIDS_MAX);
		return false;
	}
	options->pids[options->n_pids++] = pid;
	return true;
}

static bool processes_add_named(struct options *options, const char *name)
{
	pid_t pids[NAMED_MAX];
	size_t n = find_named(name, pids, NAMED_MAX);
	const char *whose = geteuid() ? " of yours" : "";

	if (options->children)
		n = keep_uppermost(pids, n);
	if (n == 1)
		return add(options, pids[0]);
	if (!n) {
		complain_on_stderr("no process%s is called '%s': -p takes a PID, or the name of a "
				   "running program or script",
				   whose, name);
		return false;
	}
	complain_on_stderr("%zu processes%s are called '%s': give -p their PIDs", n, whose, name);
	for (size_t i = 0; i < n; i++)
		print_process(pids[i]);
	return false;
}

static bool add_children(struct options *options)
{
	pid_t children[CHILDREN_MAX];

	for (size_t i = 0; i < options->n_pids; i++) {
		size_t n = process_children(options->pids[i], children, CHILDREN_MAX);

		for (size_t k = 0; k < n; k++) {
			struct process_stat stat;

			/* tftop itself, if it was started by a shell in this process */
			if (children[k] == getpid() || !process_stat(children[k], &stat) ||
			    stat.state == 'Z')
				continue;
			if (!add(options, children[k]))
				return false;
		}
	}
	return true;
}

/* ---- --join ---- */

static bool join_one(struct options *options, pid_t pid)
{
	char known[SESSION_KNOWN_MAX];

	switch (control_look(pid)) {
	case CONTROL_WATCHED:
		complain_on_stderr("a tftop already watches process %d: 'tftop --control %d "
				   "level=LEVEL' changes its level; --join works once that tftop "
				   "has gone",
				   (int)pid, (int)pid);
		return false;
	case CONTROL_LEFT:
		options->pids[0] = pid;
		options->n_pids = options->n_given = 1;
		/* A process that was attached to is attached to again. */
		options->join = session_can_join(pid, known);
		return true;
	default:
		complain_on_stderr("no tftop left process %d running: 'tftop -p %d' attaches to it",
				   (int)pid, (int)pid);
		return false;
	}
}

static bool has_ended(pid_t pid)
{
	struct process_stat stat;

	return !process_stat(pid, &stat) || stat.state == 'Z' || stat.state == 'X';
}

/* Not a tftop that is ending, which still has its page. Nor what has ended meanwhile, such as a
 * command that a program has just run: whose child it was cannot be told any more. Also root's own:
 * for processes of other users, root has to name them. */
static size_t find_left(pid_t *pids, size_t max)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t n = 0, uppermost, there = 0;
	uid_t uid;

	while (dir && n < max && (entry = readdir(dir))) {
		pid_t pid =
			isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;

		if (pid > 0 && process_uid(pid, &uid) && uid == geteuid() && !marks_is_tftop(pid) &&
		    control_look(pid) == CONTROL_LEFT)
			pids[n++] = pid;
	}
	if (dir)
		closedir(dir);
	qsort(pids, n, sizeof(*pids), by_number);
	uppermost = keep_uppermost(pids, n);
	for (size_t i = 0; i < uppermost; i++)
		if (!has_ended(pids[i]))
			pids[there++] = pids[i];
	return there;
}

static bool find_joined(struct options *options)
{
	pid_t pids[NAMED_MAX];
	size_t n;

	if (options->n_pids)
		return join_one(options, options->pids[0]);
	n = find_left(pids, NAMED_MAX);
	if (n == 1)
		return join_one(options, pids[0]);
	if (!n) {
		complain_on_stderr("no tftop left a program of yours running: 'tftop -p PID' "
				   "attaches to a running program");
		return false;
	}
	complain_on_stderr("tftop left %zu programs of yours running: give --join the PID of one",
			   n);
	for (size_t i = 0; i < n; i++)
		print_process(pids[i]);
	return false;
}

bool processes_find(struct options *options)
{
	if (options->join)
		return find_joined(options);
	for (size_t i = 0; i < options->n_attach; i++) {
		const char *word = options->attach[i];

		if (isdigit((unsigned char)*word) ? !add(options, (pid_t)atoi(word)) :
						    !processes_add_named(options, word))
			return false;
	}
	options->n_given = options->n_pids;
	return !options->children || add_children(options);
}
