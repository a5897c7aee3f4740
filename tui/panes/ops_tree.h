/* SPDX-License-Identifier: MIT */
/*
 * Pane 1 as a tree: which ops are visible below which, and in what order. As a tree or flat, the
 * pane's table has rows of struct op_line.
 *
 * Ownership: the tree owns everything inside it. Thread: the loop's; only ops_tree_take() queries
 * the model, whose lock the caller must hold.
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
	uint32_t open_depth;		/* deeper nodes are folded ... */
	uint64_t *turned;		/* owned; ... except for these, whose state is reversed */
	size_t n_turned, cap_turned;
};

void ops_tree_init(struct ops_tree *tree);
void ops_tree_release(struct ops_tree *tree);
void ops_tree_take(struct ops_tree *tree, struct model *model,
		   const struct optree_question *question);
/* The same for ops by scope. */
void ops_tree_take_scopes(struct ops_tree *tree, struct model *model);
/* The visible ops, siblings in the table's order. The caller owns *out. */
size_t ops_tree_lines(const struct ops_tree *tree, const struct table *table,
		      struct op_line **out);
/* The value that shares refer to: device time of the nodes at the top, or their total time if there
 * is none. */
uint64_t ops_tree_total(const struct ops_tree *tree, bool devices);
bool ops_tree_has_devices(const struct ops_tree *tree);

enum fold_word { FOLD_TURN, FOLD_SHUT, FOLD_SPREAD };
/* Folds or unfolds one branch, or all of them (id 0). */
void ops_tree_fold(struct ops_tree *tree, const struct op_line *line, enum fold_word word);

#endif
