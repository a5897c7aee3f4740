/* SPDX-License-Identifier: MIT */
#include "tui/timeline/row_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/base/util.h"
#include "tui/timeline/timeline_row.h"

#define NO_ROW SIZE_MAX

void row_choice_release(struct row_choice *choice)
{
	for (size_t i = 0; i < choice->n_rules; i++)
		if (!choice->rules[i].row)
			regfree(&choice->rules[i].regex);
	free(choice->answers);
	free(choice->pinned);
	free(choice->places);
	memset(choice, 0, sizeof(*choice));
}

/* Whether the choice differs from the model's order in any way. */
static bool row_choice_any(const struct row_choice *choice)
{
	return choice->n_rules || choice->n_pinned || choice->n_places ||
	       choice->order != ROWS_BY_ACTIVITY;
}

static bool row_choice_is_pinned(const struct row_choice *choice, uint32_t row)
{
	for (size_t i = 0; i < choice->n_pinned; i++)
		if (choice->pinned[i] == row)
			return true;
	return false;
}

/* ---- rules ---- */

static void forget_answers(struct row_choice *choice)
{
	if (choice->n_answers)
		memset(choice->answers, 0, choice->n_answers * sizeof(*choice->answers));
}

/* "only" cancels the earlier rules in any case. */
static void forget_rules(struct row_choice *choice)
{
	for (size_t i = 0; i < choice->n_rules; i++)
		if (!choice->rules[i].row)
			regfree(&choice->rules[i].regex);
	choice->n_rules = 0;
	forget_answers(choice);
}

bool row_choice_add(struct row_choice *choice, enum row_rule what, const char *text,
		    char *error, size_t error_size)
{
	regex_t regex;

	if (strlen(text) >= ROW_RULE_TEXT) {
		snprintf(error, error_size, "the text for rows is too long: at most %u bytes",
			 ROW_RULE_TEXT - 1);
		return false;
	}
	if (what != ROW_ONLY && choice->n_rules == ROW_RULES) {
		snprintf(error, error_size,
			 "there can be at most %u rules for rows; 'rows reset' removes them",
			 ROW_RULES);
		return false;
	}
	if (!regex_make(&regex, text, REGEX_SMART, error, error_size))
		return false;
	if (what == ROW_ONLY && choice->n_rules)
		forget_rules(choice);
	choice->rules[choice->n_rules].what = what;
	choice->rules[choice->n_rules].row = 0;
	choice->rules[choice->n_rules].regex = regex;
	snprintf(choice->rules[choice->n_rules].text, ROW_RULE_TEXT, "%s", text);
	choice->n_rules++;
	return true;
}

bool row_choice_add_row(struct row_choice *choice, enum row_rule what, uint32_t row)
{
	if (choice->n_rules == ROW_RULES)
		return false;
	choice->rules[choice->n_rules].what = what;
	choice->rules[choice->n_rules].row = row;
	choice->rules[choice->n_rules].text[0] = '\0';
	choice->n_rules++;
	return true;
}

void row_choice_drop_last(struct row_choice *choice)
{
	if (!choice->n_rules)
		return;
	if (!choice->rules[--choice->n_rules].row)
		regfree(&choice->rules[choice->n_rules].regex);
	forget_answers(choice);
}

/* Rules change rarely and names hardly ever, so each name is matched once. */
static bool row_rule_says(struct row_choice *choice, size_t rule, const struct model_row *row)
{
	uint32_t bit = 1u << rule;
	struct row_answer *answer;

	if (choice->rules[rule].row)
		return choice->rules[rule].row == row->id;
	if (row->id >= choice->n_answers) {
		size_t n = row->id + 64;

		choice->answers = xreallocarray(choice->answers, n, sizeof(*choice->answers));
		memset(choice->answers + choice->n_answers, 0,
		       (n - choice->n_answers) * sizeof(*choice->answers));
		choice->n_answers = n;
	}
	answer = &choice->answers[row->id];
	if (answer->label != row->label)
		*answer = (struct row_answer) { .label = row->label };
	if (!(answer->asked & bit)) {
		answer->asked |= bit;
		if (!regexec(&choice->rules[rule].regex, row->label ? row->label : "", 0, NULL, 0))
			answer->yes |= bit;
	}
	return (answer->yes & bit) != 0;
}

/* A row of the forest, as positions in the list of rows, in the model's order. */
struct row_node {
	size_t parent;			/* NO_ROW if it has no parent */
	size_t end;			/* index behind the last row below it */
	bool shown, pinned;
};

static void make_forest(const struct model_row *rows, size_t n, struct row_node *nodes)
{
	size_t around = NO_ROW;

	for (size_t i = 0; i < n; i++) {
		while (around != NO_ROW && rows[around].id != rows[i].parent) {
			nodes[around].end = i;
			around = nodes[around].parent;
		}
		nodes[i] = (struct row_node) { .parent = around, .end = n, .shown = true };
		around = i;
	}
}

static void apply_rule(struct row_choice *choice, size_t rule, const struct model_row *rows,
		       size_t n, struct row_node *nodes)
{
	bool show = choice->rules[rule].what != ROW_HIDE;

	for (size_t i = 0; i < n && choice->rules[rule].what == ROW_ONLY; i++)
		nodes[i].shown = false;
	for (size_t i = 0; i < n; i++) {
		if (!row_rule_says(choice, rule, &rows[i]))
			continue;
		for (size_t k = i; k < nodes[i].end; k++)
			nodes[k].shown = show;
		for (size_t k = nodes[i].parent; show && k != NO_ROW; k = nodes[k].parent)
			nodes[k].shown = true;
	}
}

/* ---- order ---- */

struct sorting {
	const struct row_choice *choice;
	const struct model_row *rows;
	const int64_t *start_ns;
};

static uint32_t rank_of(const struct row_choice *choice, uint32_t row)
{
	for (size_t i = 0; i < choice->n_places; i++)
		if (choice->places[i].row == row)
			return choice->places[i].rank;
	return UINT32_MAX;
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct model_row *x = &s->rows[i], *y = &s->rows[k];
	uint32_t rank_x = rank_of(s->choice, x->id), rank_y = rank_of(s->choice, y->id);
	int order = 0;

	if (rank_x != rank_y)
		return rank_x < rank_y ? -1 : 1;
	if (s->choice->order == ROWS_BY_NAME)
		order = strverscmp(x->label ? x->label : "", y->label ? y->label : "");
	else if (s->choice->order == ROWS_BY_ID)
		order = x->id < y->id ? -1 : 1;
	else if (s->choice->order == ROWS_BY_START && s->start_ns &&
		 s->start_ns[i] != s->start_ns[k])
		order = s->start_ns[i] < s->start_ns[k] ? -1 : 1;
	return order ? order : i < k ? -1 : 1;
}

/* Outputs the direct children in [begin, end), in order, each followed by its descendants. */
static void row_choice_put_out(struct sorting *s, const struct row_node *nodes, size_t begin,
			       size_t end, uint32_t parent, struct model_row *out, size_t *n_out)
{
	size_t *list, n = 0;

	if (begin >= end)
		return;
	list = xreallocarray(NULL, end - begin, sizeof(*list));
	for (size_t i = begin; i < end; i = nodes[i].end)
		list[n++] = i;
	qsort_r(list, n, sizeof(*list), by_order, s);
	for (size_t i = 0; i < n; i++) {
		size_t at = list[i];

		if (!nodes[at].shown || nodes[at].pinned)
			continue;
		out[*n_out] = s->rows[at];
		out[*n_out].parent = parent;
		++*n_out;
		row_choice_put_out(s, nodes, at + 1, nodes[at].end, s->rows[at].id, out, n_out);
	}
	free(list);
}

/* A pinned row below another pinned row is shown separately. */
static void put_pinned(struct sorting *s, struct row_node *nodes, size_t n, struct model_row *out,
		       size_t *n_out)
{
	for (size_t i = 0; i < n; i++)
		nodes[i].pinned = row_choice_is_pinned(s->choice, s->rows[i].id);
	for (size_t p = 0; p < s->choice->n_pinned; p++)
		for (size_t i = 0; i < n; i++) {
			if (s->rows[i].id != s->choice->pinned[p])
				continue;
			out[*n_out] = s->rows[i];
			out[*n_out].parent = 0;
			++*n_out;
			row_choice_put_out(s, nodes, i + 1, nodes[i].end, s->rows[i].id, out,
					   n_out);
			break;
		}
}

size_t row_choice_apply(struct row_choice *choice, struct model_row *rows, size_t n,
			const int64_t *start_ns)
{
	struct sorting s = { choice, rows, start_ns };
	struct model_row *out;
	struct row_node *nodes;
	size_t n_out = 0;

	choice->hidden = choice->n_first = 0;
	if (!n || !row_choice_any(choice))
		return n;
	nodes = xreallocarray(NULL, n, sizeof(*nodes));
	out = xreallocarray(NULL, n, sizeof(*out));
	make_forest(rows, n, nodes);
	for (size_t i = 0; i < choice->n_rules; i++)
		apply_rule(choice, i, rows, n, nodes);
	for (size_t i = 0; i < n; i++)
		choice->hidden += !nodes[i].shown && row_worth_a_line(&rows[i]) &&
				  !row_choice_is_pinned(choice, rows[i].id);
	put_pinned(&s, nodes, n, out, &n_out);
	choice->n_first = n_out;
	row_choice_put_out(&s, nodes, 0, n, 0, out, &n_out);
	memcpy(rows, out, n_out * sizeof(*out));
	free(nodes);
	free(out);
	return n_out;
}

/* ---- by hand ---- */

bool row_choice_pin(struct row_choice *choice, uint32_t row)
{
	for (size_t i = 0; i < choice->n_pinned; i++) {
		if (choice->pinned[i] != row)
			continue;
		memmove(&choice->pinned[i], &choice->pinned[i + 1],
			(--choice->n_pinned - i) * sizeof(*choice->pinned));
		return false;
	}
	grow(&choice->pinned, &choice->cap_pinned, choice->n_pinned, sizeof(*choice->pinned));
	choice->pinned[choice->n_pinned++] = row;
	return true;
}

static void set_rank(struct row_choice *choice, uint32_t row, uint32_t rank)
{
	for (size_t i = 0; i < choice->n_places; i++)
		if (choice->places[i].row == row) {
			choice->places[i].rank = rank;
			return;
		}
	grow(&choice->places, &choice->cap_places, choice->n_places, sizeof(*choice->places));
	choice->places[choice->n_places++] = (struct row_place) { row, rank };
}

static bool move_pinned(struct row_choice *choice, uint32_t row, bool up)
{
	for (size_t i = 0; i < choice->n_pinned; i++) {
		size_t to = up ? i - 1 : i + 1;
		uint32_t other;

		if (choice->pinned[i] != row)
			continue;
		if (to >= choice->n_pinned)
			return false;
		other = choice->pinned[to];
		choice->pinned[to] = row;
		choice->pinned[i] = other;
		return true;
	}
	return false;
}

/* All rows with that parent get their positions as ranks, then two of them are swapped. */
bool row_choice_move(struct row_choice *choice, const struct model_row *rows, size_t n,
		     uint32_t row, bool up)
{
	uint32_t rank = 0, before = 0, next_rank, other = 0;
	const struct model_row *at = NULL;
	bool passed = false;

	if (row_choice_is_pinned(choice, row))
		return move_pinned(choice, row, up);
	for (size_t i = choice->n_first; i < n && !at; i++)
		at = rows[i].id == row ? &rows[i] : NULL;
	for (size_t i = choice->n_first; at && i < n; i++) {
		if (rows[i].parent != at->parent || !row_worth_a_line(&rows[i]))
			continue;
		if (rows[i].id == row)
			passed = true;
		else if (!passed)
			before = rows[i].id;
		else if (!other)
			other = rows[i].id;
	}
	other = up ? before : other;
	if (!other)
		return false;
	for (size_t i = choice->n_first; i < n; i++)
		if (rows[i].parent == at->parent)
			set_rank(choice, rows[i].id, rank++);
	rank = rank_of(choice, row);
	next_rank = rank_of(choice, other);
	set_rank(choice, row, next_rank);
	set_rank(choice, other, rank);
	return true;
}

/* ---- words ---- */

static const char *const order_names[ROW_ORDERS] = { "activity", "name", "id", "start" };

const char *row_order_name(enum row_order order)
{
	return order_names[order];
}

int row_order_by_name(const char *name)
{
	for (int i = 0; i < ROW_ORDERS; i++)
		if (strcmp(order_names[i], name) == 0)
			return i;
	return -1;
}
