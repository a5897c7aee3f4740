/* SPDX-License-Identifier: MIT */
/*
 * Which columns of which table the user wants: the words of the command `columns`, kept by the
 * pane's name, so that they are known before the pane is opened.
 *
 * Ownership: the maker's, until column_choices_free(). Thread: the loop's.
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
 * Applies the words of one command to the table of `pane`: +KEY and -KEY change what is shown,
 * KEY,KEY sets all columns and their order, reset removes the choice. If a word is wrong, nothing
 * changes: false with a sentence. Keys are those of the kind, and `own` keys that every table has.
 */
bool column_choices_apply(struct column_choices *choices, const char *pane,
			  const struct table_kind *kind, int argc, const char *const *argv,
			  char *error, size_t error_size);

/* '+': wanted; '-': not wanted; '=': wanted instead of all others, at *place (from 0); 0: not
 * chosen. *only: some columns were chosen instead of all others. */
char column_choice_of(const struct column_choices *choices, const char *pane, const char *key,
		      size_t *place, bool *only);

#endif
