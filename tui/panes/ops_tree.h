/* SPDX-License-Identifier: MIT */
/*
 * Pane 1 as a tree: which ops are seen below which, in what order. Flat or not,
 * the pane's table has rows of struct op_line.
 *
 * Ownership: of what is inside, the tree's. Thread: the loop's; only
 * ops_tree_take() asks the model, whose lock the caller holds.
 */
#ifndef TUI_OPS_TREE_H
#define TUI_OPS_TREE_H

#include "model/columns/ops.h"
#include "model/query/optree.h"
#include "tui/table/table.h"

struct ops_tree {
	struct optree_row *rows;	/* owned; parents before children */
	size_t n;
	bool waits_known;
	uint32_t open_depth;		/* what is deeper is folded ... */
	uint64_t *turned;		/* owned; ... but for these, which are turned round */
	size_t n_turned, cap_turned;
};

void ops_tree_init(struct ops_tree *tree);
void ops_tree_release(struct ops_tree *tree);
void ops_tree_take(struct ops_tree *tree, struct model *model,
		   const struct optree_question *question);
/* The same of ops by scope. */
void ops_tree_take_scopes(struct ops_tree *tree, struct model *model);
/* What is seen, siblings in the table's order. *out owned by the caller. */
size_t ops_tree_lines(const struct ops_tree *tree, const struct table *table,
		      struct op_line **out);
/* What shares are of: device time of what is at the top, else its total. */
uint64_t ops_tree_total(const struct ops_tree *tree, bool devices);
bool ops_tree_has_devices(const struct ops_tree *tree);

enum fold_word { FOLD_TURN, FOLD_SHUT, FOLD_SPREAD };
/* One branch, or all of them (id 0). */
void ops_tree_fold(struct ops_tree *tree, const struct op_line *line, enum fold_word word);

#endif
