/* SPDX-License-Identifier: MIT */
/*
 * Which of the model's rows the timeline shows, and in which order: what the
 * user hid, pinned, moved and sorted. Does not need the model.
 *
 * Rules are applied in the order they were given, so that the last one about a row
 * counts. Hiding a row also hides the rows below it; showing one also shows those that
 * contain it. A rule by name also applies to rows that appear later.
 * Rows keep their place among those of their parent; pinned ones stand before
 * all others, hidden or not.
 *
 * Always true: parents stand before what is below them, and nothing between.
 *
 * Complexity: O(rows log rows) a frame; a rule is asked once for each name.
 * Ownership: its own memory; labels are borrowed during the call, and their
 * addresses remembered. Thread: the loop's.
 */
#ifndef TUI_ROW_CHOICE_H
#define TUI_ROW_CHOICE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/query.h"

#define ROW_RULES 32u
#define ROW_RULE_TEXT 100u

enum row_rule { ROW_HIDE, ROW_SHOW, ROW_ONLY };

enum row_order { ROWS_BY_ACTIVITY, ROWS_BY_NAME, ROWS_BY_ID, ROWS_BY_START, ROW_ORDERS };

struct row_choice {
	struct {
		enum row_rule what;
		uint32_t row;			/* it alone; 0: by name */
		char text[ROW_RULE_TEXT];
		regex_t regex;			/* when row is 0 */
	} rules[ROW_RULES];
	size_t n_rules;
	/* By row id: what the rules said to its name. */
	struct row_answer { const char *label; uint32_t asked, yes; } *answers;	/* owned */
	size_t n_answers;
	uint32_t *pinned;			/* owned; in the order of pinning */
	size_t n_pinned, cap_pinned;
	struct row_place { uint32_t row, rank; } *places;	/* owned; moved by hand */
	size_t n_places, cap_places;
	enum row_order order;
	/* of the last row_choice_apply() */
	size_t hidden;				/* rows that would have a line */
	size_t n_first;				/* pinned, with what is below them */
};

void row_choice_release(struct row_choice *choice);

/* By name; false: a sentence in error. */
bool row_choice_add(struct row_choice *choice, enum row_rule what, const char *regex,
		    char *error, size_t error_size);
/* A row by itself; false: too many rules. */
bool row_choice_add_row(struct row_choice *choice, enum row_rule what, uint32_t row);
/* The rule that was added last is gone. */
void row_choice_drop_last(struct row_choice *choice);
/* Pins it, or takes the pin out; returns whether it is pinned now. */
bool row_choice_pin(struct row_choice *choice, uint32_t row);
/* Before the one above it that has the same parent, or behind the one below it; rows as
 * row_choice_apply() left them. false: it is the first or the last one. */
bool row_choice_move(struct row_choice *choice, const struct model_row *rows, size_t n,
		     uint32_t row, bool up);

const char *row_order_name(enum row_order order);
int row_order_by_name(const char *name);	/* -1: none */

/*
 * Takes what is hidden out of rows and puts the others in order; returns how
 * many are left. start_ns: when each row's first event began, for
 * ROWS_BY_START; NULL: not known. Pinned rows lose their parent.
 */
size_t row_choice_apply(struct row_choice *choice, struct model_row *rows, size_t n,
			const int64_t *start_ns);

#endif
