/* SPDX-License-Identifier: MIT */
#include "tui/panes/ops_tree.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define OPEN_DEPTH 2

void ops_tree_init(struct ops_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree->open_depth = OPEN_DEPTH;
}

void ops_tree_release(struct ops_tree *tree)
{
	free(tree->rows);
	free(tree->turned);
	memset(tree, 0, sizeof(*tree));
}

void ops_tree_take(struct ops_tree *tree, struct model *model,
		   const struct optree_question *question)
{
	free(tree->rows);
	tree->n = model_optree(model, question, &tree->waits_known, &tree->rows);
}

void ops_tree_take_scopes(struct ops_tree *tree, struct model *model)
{
	free(tree->rows);
	tree->waits_known = false;
	tree->n = model_scopes(model, &tree->rows);
}

bool ops_tree_has_devices(const struct ops_tree *tree)
{
	for (size_t i = 0; i < tree->n; i++)
		if (tree->rows[i].device_self_ns > 0)
			return true;
	return false;
}

uint64_t ops_tree_total(const struct ops_tree *tree, bool devices)
{
	uint64_t total = 0;

	for (size_t i = 0; i < tree->n; i++)
		if (tree->rows[i].parent == OPTREE_TOP)
			total += (uint64_t)(devices ? tree->rows[i].device_ns :
						      tree->rows[i].total_ns);
	return total;
}

/* ---- folding ---- */

static size_t turned_at(const struct ops_tree *tree, uint64_t id)
{
	size_t i;

	for (i = 0; i < tree->n_turned && tree->turned[i] != id; i++)
		;
	return i;
}

static bool is_folded(const struct ops_tree *tree, const struct optree_row *row)
{
	bool folded = row->depth + 1 >= tree->open_depth;

	return turned_at(tree, row->id) < tree->n_turned ? !folded : folded;
}

void ops_tree_fold(struct ops_tree *tree, const struct op_line *line, enum fold_word word)
{
	size_t at;

	if (!line) {
		tree->open_depth = word == FOLD_SPREAD ? UINT32_MAX : 1;
		tree->n_turned = 0;
		return;
	}
	if (!line->branch || (word == FOLD_SHUT && line->folded) ||
	    (word == FOLD_SPREAD && !line->folded))
		return;
	at = turned_at(tree, line->id);
	if (at < tree->n_turned) {
		tree->turned[at] = tree->turned[--tree->n_turned];
		return;
	}
	grow(&tree->turned, &tree->cap_turned, tree->n_turned, sizeof(*tree->turned));
	tree->turned[tree->n_turned++] = line->id;
}

/* ---- lines ---- */

struct writing {
	const struct ops_tree *tree;
	const struct table *table;
	/* lists of children, by their parent's index, in any order */
	const uint32_t *first, *next;
	struct op_line *all, *out;	/* all: by the index of the row */
	size_t n;
};

static int compare(const void *a, const void *b, void *arg)
{
	const struct writing *w = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int result = table_compare(w->table, &w->all[left], &w->all[right]);

	return result ? result : left < right ? -1 : left > right;
}

static void ops_tree_write_lines(struct writing *w, uint32_t first)
{
	uint32_t *list = NULL;
	size_t n = 0, cap = 0, i;

	for (uint32_t at = first; at != OPTREE_TOP; at = w->next[at]) {
		grow(&list, &cap, n, sizeof(*list));
		list[n++] = at;
	}
	if (n > 1)
		qsort_r(list, n, sizeof(*list), compare, w);
	for (i = 0; i < n; i++) {
		w->out[w->n++] = w->all[list[i]];
		if (w->all[list[i]].branch && !w->all[list[i]].folded)
			ops_tree_write_lines(w, w->first[list[i]]);
	}
	free(list);
}

static struct op_line ops_tree_line_of(const struct ops_tree *tree, const struct optree_row *row)
{
	return (struct op_line) {
		.op = {
			.name = row->name ? row->name : "outside of ops",
			.type = row->name ? row->type : "", .framework = row->framework,
			.is_range = row->is_range, .count = row->count, .seen = row->seen,
			.total_ns = row->total_ns, .self_ns = row->self_ns,
			.device_ns = row->device_ns, .max_ns = row->max_ns,
			.kernels = row->kernels, .copies = row->copies,
			.copy_bytes = row->copy_bytes,
		},
		.wait_ns = tree->waits_known ? row->wait_ns : -1, .id = row->id,
		.depth = row->depth, .branch = row->children > 0,
		.folded = is_folded(tree, row), .is_scope = row->is_scope,
	};
}

size_t ops_tree_lines(const struct ops_tree *tree, const struct table *table,
		      struct op_line **out)
{
	uint32_t *links = xreallocarray(NULL, 2 * tree->n + 1, sizeof(*links));
	uint32_t *first = links, *next = links + tree->n, top = OPTREE_TOP;
	struct writing w = {
		.tree = tree, .table = table, .first = first, .next = next,
		.all = xreallocarray(NULL, tree->n, sizeof(*w.all)),
		.out = xreallocarray(NULL, tree->n, sizeof(*w.out)),
	};

	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t *list = tree->rows[i].parent == OPTREE_TOP ? &top :
				 &first[tree->rows[i].parent];

		first[i] = OPTREE_TOP;
		next[i] = *list;
		*list = i;
		w.all[i] = ops_tree_line_of(tree, &tree->rows[i]);
	}
	ops_tree_write_lines(&w, top);
	free(links);
	free(w.all);
	*out = w.out;
	return w.n;
}
