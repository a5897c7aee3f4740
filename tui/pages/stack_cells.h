/* SPDX-License-Identifier: MIT */
/*
 * Trees of calls (model/query/host.h) laid out for a page: which node gets which cells of an
 * icicle, what a node is called, which nodes come first. Knows nothing of pages, so that tests need
 * no screen.
 *
 * Always true: the cells of a row do not overlap, each lies below that of its parent, and what is
 * too narrow for a cell of its own is counted in the rest at the end of its parent's. Several rows
 * in which libraries only call on, each function one other, are folded to one, which says how many
 * they are. `root` is a node of which only what is below it counts, or STACK_NONE for all trees.
 *
 * Pure, any thread.
 */
#ifndef TUI_STACK_CELLS_H
#define TUI_STACK_CELLS_H

#include "model/query/host.h"

#define STACK_CELL_LEAST 3		/* columns: a separator and the beginning of a name */

struct stack_cell {
	uint32_t row;			/* 0: the root, or the threads */
	int x, width;
	uint32_t node;			/* STACK_NONE: the rest of the nodes, or folded rows */
	uint32_t count;			/* how many nodes the rest has, without those below them */
	uint32_t folded;		/* how many rows are folded to this one; 0: none */
	int64_t ns;
};
/* The cells from row to row, from left to right, of at most `rows` rows. *cells is the caller's to
 * free. *deeper: how many more rows there would be in this width. */
size_t stack_cells(const struct stack_node *nodes, size_t n, uint32_t root, int width,
		   uint32_t rows, struct stack_cell **cells, uint32_t *deeper);

/* Of all trees, or of those below a node. */
int64_t stack_ns(const struct stack_node *nodes, size_t n, uint32_t root);
/* The state with most time; STACK_NONE: there is no node. */
uint32_t stack_most_leaf(const struct stack_node *nodes, size_t n, uint32_t root);
/* Marks the `most` nodes with most time, so that the parent of each is marked, too; returns how
 * many are marked. *all: how many there are. */
size_t stack_mark_most(const struct stack_node *nodes, size_t n, uint32_t root, size_t most,
		       bool *marked, size_t *all);

/* A key for each node, made of the names of its callers, so that a node has the same one in a later
 * answer. Owned by the caller. */
uint64_t *stack_keys(const struct stack_node *nodes, size_t n);
/* "@KEY"; the function with this name; the function and place with this part. Of several, the one
 * with most time. STACK_NONE: there is none. */
uint32_t stack_find(const struct stack_node *nodes, size_t n, const char *text);

/* "load loader.py:12", "thread main 4121", "sleep". Returns `out`. */
const char *stack_name(char *out, size_t size, const struct stack_node *node);
/* "loader.py:12"; "": unknown. */
const char *stack_place(char *out, size_t size, const struct stack_node *node);
/* The name in exactly this many columns, shortened or filled with blanks. */
const char *stack_label(char *out, size_t size, const struct stack_node *node, int width);

#endif
