/* SPDX-License-Identifier: MIT */
/*
 * Which of the model's rows the timeline shows, and in which order: what the user has hidden,
 * pinned, moved and sorted. Does not need the model.
 *
 * Rules are applied in the order in which they were given, so that the last one about a row counts.
 * Hiding a row also hides the rows below it; showing one also shows those that contain it. A rule
 * by name also applies to rows that appear later. Rows keep their place among the children of their
 * parent; pinned rows come before all others, hidden or not.
 *
 * Always true: a parent is followed by the rows below it, without other rows between.
 *
 * Complexity: O(rows log rows) per frame; a rule is tested once for each name.
 * Ownership: its own memory; labels are borrowed during the call, and their addresses remembered.
 * Thread: the loop's.
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
		uint32_t row;	/* the rule is about this row only; 0: about names */
		char text[ROW_RULE_TEXT];
		regex_t regex;			/* used if row is 0 */
	} rules[ROW_RULES];
	size_t n_rules;
	/* For each row id: what the rules say about its name. */
	struct row_answer { const char *label; uint32_t asked, yes; } *answers;	/* owned */
	size_t n_answers;
	uint32_t *pinned;			/* owned; in the order in which they were pinned */
	size_t n_pinned, cap_pinned;
	/* owned; rows that were moved by hand */
	struct row_place { uint32_t row, rank; } *places;
	size_t n_places, cap_places;
	enum row_order order;
	/* Results of the last row_choice_apply(). */
	size_t hidden;				/* rows that would have a line, but are hidden */
	size_t n_first;				/* pinned rows, including the rows below them */
};

void row_choice_release(struct row_choice *choice);

/* Adds a rule about names; false: `error` is a sentence. */
bool row_choice_add(struct row_choice *choice, enum row_rule what, const char *regex,
		    char *error, size_t error_size);
/* Adds a rule about a single row; false: there are too many rules. */
bool row_choice_add_row(struct row_choice *choice, enum row_rule what, uint32_t row);
/* Removes the rule that was added last. */
void row_choice_drop_last(struct row_choice *choice);
/* Pins or unpins the row; returns whether it is pinned now. */
bool row_choice_pin(struct row_choice *choice, uint32_t row);
/* Moves the row before the previous one of the same parent, or behind the next one; rows must be as
 * row_choice_apply() left them. false: it already is the first or the last one. */
bool row_choice_move(struct row_choice *choice, const struct model_row *rows, size_t n,
		     uint32_t row, bool up);

const char *row_order_name(enum row_order order);
int row_order_by_name(const char *name);	/* -1: there is none */

/*
 * Removes hidden rows from rows and puts the others in order; returns how many are left. start_ns:
 * when each row's first event started, for ROWS_BY_START; NULL: unknown. Pinned rows lose their
 * parent.
 */
size_t row_choice_apply(struct row_choice *choice, struct model_row *rows, size_t n,
			const int64_t *start_ns);

#endif
