/* SPDX-License-Identifier: MIT */
/* Rows hidden, pinned, sorted and moved, against what their header promises. */
#include "tests/unit/test.h"
#include "tui/timeline/row_choice.h"

#include <stdlib.h>
#include <string.h>

#define ROWS 40

static const char *const names[] = {
	"main", "gpu0 H200", "stream 7", "stream 10", "h2d", "loader"
};

static size_t find(const struct model_row *rows, size_t n, uint32_t id)
{
	size_t i;

	for (i = 0; i < n && rows[i].id != id; i++)
		;
	return i;
}

/* Depth first, up to four deep. */
static void make_rows(struct model_row *rows, size_t n)
{
	uint32_t stack[4] = { 0 };
	size_t depth = 0;

	memset(rows, 0, n * sizeof(*rows));
	for (size_t i = 0; i < n; i++) {
		depth = depth > 3 ? 3 : depth;
		depth = test_random() % (depth + 1);
		rows[i].id = (uint32_t)(n - i);
		rows[i].parent = depth ? stack[depth - 1] : 0;
		rows[i].kind = ROW_QUEUE;
		rows[i].count = 1;
		rows[i].label = names[test_random() % 6];
		stack[depth++] = rows[i].id;
	}
}

static bool is_below(const struct model_row *rows, size_t n, uint32_t row, uint32_t above)
{
	while (row && row != above)
		row = rows[find(rows, n, row)].parent;
	return row == above;
}

/* What "only", then "hide", leave: those it names, what is around and below them; less the other.
 */
static bool is_left(const struct model_row *rows, size_t n, uint32_t id, const char *only,
		    const char *hide)
{
	bool left = false;

	for (size_t i = 0; i < n; i++)
		if (strstr(rows[i].label, only) && (is_below(rows, n, id, rows[i].id) ||
						    is_below(rows, n, rows[i].id, id)))
			left = true;
	for (size_t i = 0; i < n; i++)
		if (strstr(rows[i].label, hide) && is_below(rows, n, id, rows[i].id))
			left = false;
	return left;
}

TEST(row_choice_leaves_what_the_rules_say)
{
	for (int turn = 0; turn < 200; turn++) {
		struct row_choice choice = { .n_rules = 0 };
		struct model_row rows[ROWS], before[ROWS];
		const char *only = names[test_random() % 6], *hide = names[test_random() % 6];
		size_t n, left = 0;
		char error[200];

		make_rows(rows, ROWS);
		memcpy(before, rows, sizeof(rows));
		CHECK(row_choice_add(&choice, ROW_HIDE, ".", error, sizeof(error)));
		CHECK(row_choice_add(&choice, ROW_ONLY, only, error, sizeof(error)));
		CHECK(row_choice_add(&choice, ROW_HIDE, hide, error, sizeof(error)));
		n = row_choice_apply(&choice, rows, ROWS, NULL);
		for (size_t i = 0; i < ROWS; i++) {
			bool is = find(rows, n, before[i].id) < n;

			left += is;
			CHECK(is == is_left(before, ROWS, before[i].id, only, hide));
		}
		CHECK_INT(n, left);
		CHECK_INT(choice.hidden, ROWS - left);
		row_choice_release(&choice);
	}
}

/* Of those below one parent each comes after the one before it, by `order`. */
static bool in_order(const struct model_row *a, const struct model_row *b, enum row_order order,
		     const int64_t *start)
{
	if (order == ROWS_BY_NAME)
		return strverscmp(a->label, b->label) <= 0;
	if (order == ROWS_BY_START)
		return start[ROWS - a->id] <= start[ROWS - b->id];
	return order == ROWS_BY_ID ? a->id < b->id : a->id > b->id;
}

TEST(row_choice_sorts_siblings_and_keeps_trees_together)
{
	for (int turn = 0; turn < 200; turn++) {
		struct row_choice choice = { .order =
						     (enum row_order)(test_random() % ROW_ORDERS) };
		struct model_row rows[ROWS], before[ROWS];
		int64_t start[ROWS];
		uint32_t pinned = 1 + (uint32_t)(test_random() % ROWS);

		make_rows(rows, ROWS);
		memcpy(before, rows, sizeof(rows));
		for (size_t i = 0; i < ROWS; i++)
			start[i] = (int64_t)(test_random() % 20);
		CHECK(row_choice_pin(&choice, pinned));
		CHECK_INT(row_choice_apply(&choice, rows, ROWS, start), ROWS);
		CHECK(rows[0].id == pinned && rows[0].parent == 0);
		for (size_t i = 0; i < ROWS; i++) {
			size_t last = find(before, ROWS, rows[i].id);

			CHECK(is_below(before, ROWS, rows[i].id, pinned) == (i < choice.n_first));
			if (i)
				CHECK(rows[i].id == pinned ||
				      rows[i].parent == before[last].parent);
			/* behind its parent, nothing of others between */
			for (size_t k = i; rows[i].parent && rows[k].id != rows[i].parent; k--)
				CHECK(k > 0 && is_below(before, ROWS, rows[k].id, rows[i].parent));
			for (size_t k = choice.n_first; k < i; k++)
				CHECK(i < choice.n_first || rows[k].parent != rows[i].parent ||
				      in_order(&rows[k], &rows[i], choice.order, start));
		}
		CHECK(!row_choice_pin(&choice, pinned));
		row_choice_release(&choice);
	}
}

TEST(row_choice_moves_a_row_past_its_neighbour)
{
	struct row_choice choice = { .n_rules = 0 };
	struct model_row rows[4] = {
		{ .id = 7, .kind = ROW_DEVICE, .label = "gpu0" },
		{ .id = 8, .parent = 7, .kind = ROW_QUEUE, .count = 1, .label = "stream 7" },
		{ .id = 9, .parent = 7, .kind = ROW_QUEUE, .label = "never used" },
		{ .id = 10, .parent = 7, .kind = ROW_QUEUE, .count = 1, .label = "stream 8" },
	};
	size_t n = row_choice_apply(&choice, rows, 4, NULL);

	CHECK(!row_choice_move(&choice, rows, n, 8, true));
	CHECK(!row_choice_move(&choice, rows, n, 10, false));
	CHECK(!row_choice_move(&choice, rows, n, 7, false));
	CHECK(row_choice_move(&choice, rows, n, 8, false));
	n = row_choice_apply(&choice, rows, n, NULL);
	CHECK_INT(n, 4);
	/* the one without a line is passed over */
	CHECK(find(rows, n, 10) < find(rows, n, 8));
	CHECK(row_choice_move(&choice, rows, n, 8, true));
	n = row_choice_apply(&choice, rows, n, NULL);
	CHECK(find(rows, n, 8) < find(rows, n, 10));
	row_choice_release(&choice);
}

TEST(row_choice_says_what_is_wrong)
{
	struct row_choice choice = { .n_rules = 0 };
	char error[200], text[ROW_RULE_TEXT + 1];
	size_t i;

	CHECK(!row_choice_add(&choice, ROW_HIDE, "gpu(", error, sizeof(error)));
	CHECK(strstr(error, "'gpu('"));
	memset(text, 'a', ROW_RULE_TEXT);
	text[ROW_RULE_TEXT] = '\0';
	CHECK(!row_choice_add(&choice, ROW_HIDE, text, error, sizeof(error)));
	CHECK(strstr(error, "99 bytes"));
	for (i = 0; i < ROW_RULES; i++)
		CHECK(row_choice_add(&choice, ROW_HIDE, "a", error, sizeof(error)));
	CHECK(!row_choice_add(&choice, ROW_HIDE, "a", error, sizeof(error)));
	CHECK(strstr(error, "rows reset"));
	CHECK(!row_choice_add_row(&choice, ROW_HIDE, 1));
	CHECK(row_choice_add(&choice, ROW_ONLY, "a", error, sizeof(error)));
	CHECK_INT(choice.n_rules, 1);
	CHECK_INT(row_order_by_name("start"), ROWS_BY_START);
	CHECK_INT(row_order_by_name("colour"), -1);
	row_choice_release(&choice);
}
