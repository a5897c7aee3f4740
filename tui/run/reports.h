/* SPDX-License-Identifier: MIT */
/*
 * Reports of other recordings, for diff: made by another tftop, which shares no memory with
 * this one and can be stopped. One at a time is under way; a few are kept.
 *
 * Always true: no child is left behind, also when tftop is killed; no file is written. Thread: the
 * loop's.
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
	struct report_job *job;		/* owned; NULL: none under way */
	/* of who asked, tui/loop/diff_loop.c */
	char *line;			/* owned; the command that waits for it */
	int64_t began_ns, said_ns;
	bool again;			/* it is being run again */
};

enum reports_state { REPORTS_NONE, REPORTS_RUNNING, REPORTS_DONE, REPORTS_FAILED };

/* An argument of diff that is a folder: a recording. */
bool reports_wants(const char *word);
/* Borrowed until the next one is made; NULL: none is kept of it. r may be NULL. */
const struct report_kept *reports_find(const struct reports *r, const char *path);
void reports_forget(struct reports *r, const char *path);

/* Begins; none may be under way. false: a sentence in error. */
bool reports_start(struct reports *r, const char *path, char *error, size_t size);
/* NULL: none is under way. */
const char *reports_path(const struct reports *r);
/* Whether it is over; done: it is kept; failed: a sentence in error. Never waits. */
enum reports_state reports_look(struct reports *r, char *error, size_t size);
/* The same when it is over, or after limit_ms: then it is stopped and has failed. */
enum reports_state reports_wait(struct reports *r, int limit_ms, char *error, size_t size);
void reports_stop(struct reports *r);
void reports_release(struct reports *r);

#endif
