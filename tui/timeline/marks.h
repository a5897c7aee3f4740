/* SPDX-License-Identifier: MIT */
/*
 * Marks: moments of the run that the user has named, like vi's. They are stored with a recording
 * (of a run that is being recorded at once, of one that is shown on demand) in a file `marks`
 * beside its trace, one per line, "NAME TIME NOTE"; TIME is the model's, in ns.
 *
 * Always true: names are 1 to MARK_NAME_MAX - 1 letters, digits, '_' or '-', and not a word that
 * tui/timeline/when.h reserves; marks are sorted by time.
 *
 * Ownership: the set owns its marks. Thread: the loop's.
 */
#ifndef TUI_MARKS_H
#define TUI_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARK_NAME_MAX 24
#define MARK_NOTE_MAX 200
#define MARKS_MAX 1000

struct time_mark {
	char name[MARK_NAME_MAX], note[MARK_NOTE_MAX];
	int64_t start_ns;
};

struct marks {
	struct time_mark *list;		/* owned */
	size_t n, cap;
};

void marks_release(struct marks *marks);
/* Sets a mark, or moves the one of that name. name NULL: uses the first unused letter. *set is the
 * mark, until the next change. false: `error` is a sentence. */
bool marks_set(struct marks *marks, const char *name, int64_t at_ns, const char *note,
	       const struct time_mark **set, char *error, size_t size);
/* NULL: there is none */
const struct time_mark *marks_find(const struct marks *marks, const char *name);
bool marks_remove(struct marks *marks, const char *name);
/* Index of the first mark at or after t_ns. */
size_t marks_from(const struct marks *marks, int64_t t_ns);

/* The contents of the file; owned by the caller. */
char *marks_text(const struct marks *marks);
/* Adds the marks of the file in this folder; it is not an error if there is no file. false: `error`
 * is a sentence; the lines that could be read were added. */
bool marks_read(struct marks *marks, const char *folder, char *error, size_t size);
/* Replaces the file as a whole; without marks, removes it. */
bool marks_write(const char *text, const char *folder, char *error, size_t size);

#endif
