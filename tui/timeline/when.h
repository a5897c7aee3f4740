/* SPDX-License-Identifier: MIT */
/*
 * Times as the user types them: moments and ranges of the run, as words of commands (goto, mark,
 * range, measure, diff).
 *
 *   a moment   TIME since the start ("1.5s", "300ms"), start, end, cursor, a mark's name
 *   a range    two moments, "MOMENT..MOMENT", step N|slowest|fastest|median|first|last|here
 *              (the words also without "step"), window, selection, measured, run
 *
 * Takes the model's lock itself. Errors: a sentence. Thread: the loop's.
 */
#ifndef TUI_WHEN_H
#define TUI_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct view;

struct when_asks {
	struct model *model;		/* borrowed */
	const struct view *view;	/* borrowed, with its marks; NULL: there is no screen */
};

#define WHEN_TITLE_MAX 96

struct when {
	int64_t t0, t1;			/* t0 < t1 */
	bool is_step;
	int64_t step;			/* number of the step */
	char title[WHEN_TITLE_MAX];	/* such as "step 211 (slowest)" or "1.20 s to 1.25 s" */
};

/* The i-th of the words for a step ("slowest"), a range ("window") or a moment ("start"); NULL:
 * there are no more. */
enum when_words { WHEN_STEPS, WHEN_RANGES, WHEN_MOMENTS };
const char *when_word(enum when_words which, size_t i);
/* Whether the text is one of these words or a time, so that no mark can have that name. */
bool when_is_word(const char *text);
bool when_moment(const struct when_asks *asks, const char *text, int64_t *ns, char *error,
		 size_t size);
/* Reads a range from the words of argv from *at on, and advances *at past them. */
bool when_range(const struct when_asks *asks, int argc, const char *const *argv, int *at,
		struct when *out, char *error, size_t size);
/* Reads "12", "slowest", "next", ...; next and previous are relative to the cursor. */
bool when_step(const struct when_asks *asks, const char *which, struct when *out, char *error,
	       size_t size);

#endif
