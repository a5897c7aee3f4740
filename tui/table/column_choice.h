/* SPDX-License-Identifier: MIT */
/*
 * Which columns of which table the user wants: the words of `columns`, kept by
 * the pane's name, so that they are known before a pane is opened.
 *
 * Ownership: whoever made it, until column_choices_free(). Thread: the loop's.
 */
#ifndef TUI_COLUMN_CHOICE_H
#define TUI_COLUMN_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct table_kind;
struct column_choices;

struct column_choices *column_choices_new(void);
void column_choices_free(struct column_choices *choices);

/*
 * The words of one command for the table of `pane`: +KEY and -KEY change what is
 * shown, KEY,KEY says all of it in its order, reset forgets. All or nothing: false
 * with a sentence when a word is wrong. Keys are those of the kind, and `own` of
 * them that every table has.
 */
bool column_choices_apply(struct column_choices *choices, const char *pane,
			  const struct table_kind *kind, int argc, const char *const *argv,
			  char *error, size_t error_size);

/* '+' wanted, '-' not wanted, '=' wanted in place of all others, at *place (from 0);
 * 0: nothing was said about it. *only: some were chosen in place of all others. */
char column_choice_of(const struct column_choices *choices, const char *pane, const char *key,
		      size_t *place, bool *only);

#endif
