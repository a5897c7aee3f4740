/* SPDX-License-Identifier: MIT */
#include "probes/session/left.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/process/marks.h"
#include "probes/process/process.h"
#include "probes/session/program/children.h"

static bool left_runs(pid_t pid, struct process_stat *stat)
{
	return process_stat(pid, stat) && stat->state != 'Z' && stat->state != 'X';
}

static bool has_mark(pid_t pid, const struct left_marks *marks,
		     bool (*has)(pid_t pid, const char *dir))
{
	for (size_t i = 0; i < 2; i++)
		if (marks->dirs[i] && has(pid, marks->dirs[i]))
			return true;
	return false;
}

/* The command line with blanks between the words, or the name in the kernel without one. */
static void read_row(const struct left *left, struct session_left *row,
		     const struct process_stat *stat)
{
	children_command(row->pid, row->command, sizeof(row->command));
	if (!row->command[0])
		snprintf(row->command, sizeof(row->command), "%s", stat->comm);
	row->joins = has_mark(row->pid, &left->marks, marks_mapped);
}

static void left_add(struct left *left, pid_t pid)
{
	const struct left_marks *marks = &left->marks;
	struct process_stat stat;
	struct session_left *row;

	if (pid <= 1 || pid == marks->program || !left_runs(pid, &stat) ||
	    !(has_mark(pid, marks, marks_inherited) ||
	      (marks->mapped && has_mark(pid, marks, marks_mapped))) || marks_is_tftop(pid))
		return;
	if (left->count == LEFT_MAX) {
		left->more++;
		return;
	}
	left->start_ticks[left->count] = stat.start_ticks;
	left->worked_ticks[left->count] = stat.worked_ticks;
	row = &left->rows[left->count++];
	row->pid = pid;
	read_row(left, row, &stat);
}

void left_find(struct left *left)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	left->count = left->more = 0;
	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			left_add(left, (pid_t)atoi(entry->d_name));
	if (proc)
		closedir(proc);
}

void left_look(struct left *left)
{
	size_t kept = 0;

	left->works = false;
	for (size_t i = 0; i < left->count; i++) {
		struct process_stat stat;

		if (!left_runs(left->rows[i].pid, &stat) ||
		    stat.start_ticks != left->start_ticks[i])
			continue;
		left->rows[kept] = left->rows[i];
		left->start_ticks[kept] = left->start_ticks[i];
		left->works |= stat.state == 'R' || stat.state == 'D' ||
			       stat.worked_ticks != left->worked_ticks[i];
		left->worked_ticks[kept] = stat.worked_ticks;
		read_row(left, &left->rows[kept++], &stat);
	}
	left->count = kept;
}
