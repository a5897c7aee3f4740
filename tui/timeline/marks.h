/* SPDX-License-Identifier: MIT */
/*
 * Marks: moments of the run that the user gave a name, like vi's. Kept with a recording in
 * a file `marks` beside its trace: a line each, "NAME TIME NOTE"; TIME is the model's, ns.
 *
 * Always true: names are 1 to MARK_NAME_MAX - 1 letters, digits, '_' or '-', and not a word
 * that tui/timeline/when.h knows; marks are by time.
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
/* Sets it, or moves the one of that name. name NULL: the first free letter; *set is it, until
 * the next change. false: a sentence in error. */
bool marks_set(struct marks *marks, const char *name, int64_t at_ns, const char *note,
	       const struct time_mark **set, char *error, size_t size);
const struct time_mark *marks_find(const struct marks *marks, const char *name); /* NULL: none */
bool marks_remove(struct marks *marks, const char *name);
/* Index of the first mark at or after t_ns. */
size_t marks_from(const struct marks *marks, int64_t t_ns);

/* What stands in the file; owned by the caller. */
char *marks_text(const struct marks *marks);
/* What is in the folder is added; no file is no error. false: a sentence in error; the lines
 * that could be read are there. */
bool marks_read(struct marks *marks, const char *folder, char *error, size_t size);
/* Replaces the file as a whole; no marks: removes it. */
bool marks_write(const char *text, const char *folder, char *error, size_t size);

#endif
