/* SPDX-License-Identifier: MIT */
/*
 * Reports of other recordings, for diff. They are made by another tftop process, which shares no
 * memory with this one and can be stopped. One at a time is being made; a few are kept.
 *
 * Always true: no child process is left behind, even if tftop is killed; no file is written.
 * Thread: the loop's.
 */
#ifndef TUI_REPORTS_H
#define TUI_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_BYTES_MAX (256u << 20)
#define REPORTS_KEPT 4

struct report_kept {
	char *path, *text;		/* owned */
	size_t length;
};

struct reports {
	struct report_kept kept[REPORTS_KEPT];	/* the oldest first */
	size_t n;
	struct report_job *job;		/* owned; NULL: none is being made */
	/* Used by the caller, tui/loop/diff_loop.c. */
	char *line;			/* owned; the command that waits for the report */
	int64_t began_ns, said_ns;
	bool again;			/* the command is being run again */
};

enum reports_state { REPORTS_NONE, REPORTS_RUNNING, REPORTS_DONE, REPORTS_FAILED };

/* Whether an argument of diff is a folder, and so a recording. */
bool reports_wants(const char *word);
/* Borrowed until the next report is made; NULL: there is no report of that recording. r may be
 * NULL. */
const struct report_kept *reports_find(const struct reports *r, const char *path);
void reports_forget(struct reports *r, const char *path);

/* Starts making a report; none may be under way. false: `error` is a sentence. */
bool reports_start(struct reports *r, const char *path, char *error, size_t size);
/* The recording whose report is being made; NULL: none. */
const char *reports_path(const struct reports *r);
/* Whether it has ended; done: the report is kept; failed: `error` is a sentence. Never waits. */
enum reports_state reports_look(struct reports *r, char *error, size_t size);
/* Waits until it has ended, or for limit_ms: then it is stopped and has failed. */
enum reports_state reports_wait(struct reports *r, int limit_ms, char *error, size_t size);
void reports_stop(struct reports *r);
void reports_release(struct reports *r);

#endif
