/* SPDX-License-Identifier: MIT */
#include "tui/pages/stack_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/hash.h"
#include "model/base/map.h"
#include "model/base/util.h"
#include "model/query/time.h"
#include "tui/base/text.h"
#include "tui/draw/labels.h"

#define FOLD_LEAST 2			/* rows: the fold takes one itself */

static void sum_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

/* ---- which nodes there are ---- */

/* The children of a node, or the roots of all trees: from *first on, each begins at the end of the
 * one before it. */
static uint32_t children_of(const struct stack_node *nodes, size_t n, uint32_t node,
			    uint32_t *first)
{
	*first = node == STACK_NONE ? 0 : node + 1;
	return node == STACK_NONE ? (uint32_t)n : nodes[node].end;
}

int64_t stack_ns(const struct stack_node *nodes, size_t n, uint32_t root)
{
	int64_t ns = 0;

	if (root != STACK_NONE)
		return nodes[root].ns;
	for (uint32_t i = 0; i < n; i = nodes[i].end)
		sum_ns(&ns, nodes[i].ns);
	return ns;
}

uint32_t stack_most_leaf(const struct stack_node *nodes, size_t n, uint32_t root)
{
	uint32_t first, end = children_of(nodes, n, root, &first), most = root;
	int64_t ns = 0;

	for (uint32_t i = first; i < end; i++)
		if (nodes[i].end == i + 1 && nodes[i].ns > ns) {
			most = i;
			ns = nodes[i].ns;
		}
	return most;
}

struct ranked { int64_t ns; uint32_t node; };

/* In preorder a parent is before its children, and it has as much time or more. */
static int by_most_ns(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->node < y->node ? -1 : 1;
}

size_t stack_mark_most(const struct stack_node *nodes, size_t n, uint32_t root, size_t most,
		       bool *marked, size_t *all)
{
	uint32_t first = root == STACK_NONE ? 0 : root;
	uint32_t end = root == STACK_NONE ? (uint32_t)n : nodes[root].end;
	struct ranked *ranked = xcalloc(end - first + 1, sizeof(*ranked));

	*all = end - first;
	for (uint32_t i = first; i < end; i++)
		ranked[i - first] = (struct ranked) { nodes[i].ns, i };
	if (*all)
		qsort(ranked, *all, sizeof(*ranked), by_most_ns);
	most = most < *all ? most : *all;
	for (size_t i = 0; i < most; i++)
		marked[ranked[i].node] = true;
	free(ranked);
	return most;
}

/* ---- cells ---- */

struct laying {
	const struct stack_node *nodes;
	struct stack_cell *cells;	/* the caller's */
	size_t n, cap;
};

static void cell_add(struct laying *l, struct stack_cell cell)
{
	grow(&l->cells, &l->cap, l->n, sizeof(*l->cells));
	l->cells[l->n++] = cell;
}

static int column_of(int64_t ns, int64_t whole_ns, int width)
{
	return whole_ns > 0 ? (int)((__int128)ns * width / whole_ns) : 0;
}

/* Siblings from `first` up to `end` side by side in `width` columns from x on. As they are sorted,
 * all behind the first that is too narrow are, too. */
static void lay_siblings(struct laying *l, uint32_t first, uint32_t end, uint32_t row, int x,
			 int width)
{
	struct stack_cell rest = { .row = row, .node = STACK_NONE };
	int64_t whole_ns = 0, before_ns = 0;
	size_t placed = 0;
	int to = 0;

	for (uint32_t i = first; i < end; i = l->nodes[i].end)
		sum_ns(&whole_ns, l->nodes[i].ns);
	for (uint32_t i = first; i < end; i = l->nodes[i].end) {
		int from = to, next;

		sum_ns(&before_ns, l->nodes[i].ns);
		next = column_of(before_ns, whole_ns, width);
		if (rest.count || next - from < STACK_CELL_LEAST) {
			rest.count++;
			sum_ns(&rest.ns, l->nodes[i].ns);
			continue;
		}
		cell_add(l, (struct stack_cell) {
			.row = row, .x = x + from, .width = next - from, .node = i,
			.ns = l->nodes[i].ns,
		});
		placed++;
		to = next;
	}
	if (!rest.count)
		return;
	/* it is always seen that there is more */
	if (to == width && placed && l->cells[l->n - 1].width > 1) {
		l->cells[l->n - 1].width--;
		to--;
	}
	rest.x = x + to;
	rest.width = width - to;
	cell_add(l, rest);
}

/* Where a row begins and ends among the cells, and whether in it libraries call on: each function
 * is alone below one of the row before, and a library's. */
struct cell_row { size_t begin, end; bool calls_on; };

static bool calls_on(const struct laying *l, const struct cell_row *above,
		     const struct cell_row *row)
{
	if (above->end - above->begin != row->end - row->begin)
		return false;
	for (size_t i = row->begin, k = above->begin; i < row->end; i++, k++)
		if (l->cells[i].node == STACK_NONE || l->cells[i].x != l->cells[k].x ||
		    l->cells[i].width != l->cells[k].width ||
		    !l->nodes[l->cells[i].node].library)
			return false;
	return true;
}

static size_t cell_rows_of(const struct laying *l, struct cell_row **rows)
{
	size_t n = 0, cap = 0;

	*rows = NULL;
	for (size_t at = 0; at < l->n; n++) {
		struct cell_row row = { .begin = at };

		while (at < l->n && l->cells[at].row == l->cells[row.begin].row)
			at++;
		row.end = at;
		row.calls_on = n && calls_on(l, &(*rows)[n - 1], &row);
		grow(rows, &cap, n, sizeof(**rows));
		(*rows)[n] = row;
	}
	return n;
}

/* Folds rows in which libraries call on, except for the last before something else, and numbers
 * the rows again. */
static void fold_rows(struct laying *l)
{
	struct cell_row *rows;
	size_t n = cell_rows_of(l, &rows), kept = 0;
	uint32_t row = 0;

	for (size_t r = 0; r < n; r++, row++) {
		size_t last = r;

		while (last < n && rows[last].calls_on)
			last++;
		if (last > r + FOLD_LEAST) {
			const struct stack_cell *end = &l->cells[rows[r].end - 1];
			int x = l->cells[rows[r].begin].x;

			l->cells[kept++] = (struct stack_cell) {
				.row = row, .x = x, .width = end->x + end->width - x,
				.node = STACK_NONE, .folded = (uint32_t)(last - 1 - r),
			};
			r = last - 2;
			continue;
		}
		for (size_t i = rows[r].begin; i < rows[r].end; i++, kept++) {
			l->cells[kept] = l->cells[i];
			l->cells[kept].row = row;
		}
	}
	l->n = kept;
	free(rows);
}

size_t stack_cells(const struct stack_node *nodes, size_t n, uint32_t root, int width,
		   uint32_t rows, struct stack_cell **cells, uint32_t *deeper)
{
	struct laying l = { .nodes = nodes };
	uint32_t first, end, last;
	size_t kept = 0;

	if (root == STACK_NONE && n)
		lay_siblings(&l, 0, (uint32_t)n, 0, 0, width);
	else if (n)
		lay_siblings(&l, root, nodes[root].end, 0, 0, width);
	for (size_t i = 0; i < l.n; i++) {
		struct stack_cell cell = l.cells[i];

		if (cell.node == STACK_NONE)
			continue;
		end = children_of(nodes, n, cell.node, &first);
		if (first < end)
			lay_siblings(&l, first, end, cell.row + 1, cell.x, cell.width);
	}
	fold_rows(&l);
	while (kept < l.n && l.cells[kept].row < rows)
		kept++;
	last = l.n ? l.cells[l.n - 1].row : 0;
	*deeper = kept < l.n ? last + 1 - rows : 0;
	*cells = l.cells;
	return kept;
}

/* ---- keys ---- */

uint64_t *stack_keys(const struct stack_node *nodes, size_t n)
{
	uint64_t *keys = xcalloc(n + 1, sizeof(*keys));

	for (size_t i = 0; i < n; i++) {
		const struct stack_node *node = &nodes[i];
		uint64_t key = node->parent == STACK_NONE ?
			       map_mix((uint64_t)node->pid << 32 | node->tid) : keys[node->parent];

		key = map_mix(key ^ ((uint64_t)node->line << 8 | (uint64_t)node->kind << 5 |
				     (node->kind == STACK_STATE ? node->doing : 0)));
		if (node->kind == STACK_FRAME)
			key = map_mix(hash_string(map_mix(hash_string(key, node->file)),
						  node->function));
		else if (node->kind == STACK_STATE)
			key = map_mix(hash_string(key, node->what));
		keys[i] = key;
	}
	return keys;
}

static uint32_t find_key(const struct stack_node *nodes, size_t n, const char *text)
{
	uint64_t *keys = stack_keys(nodes, n), key;
	uint32_t found = STACK_NONE;
	char *end;

	key = strtoull(text, &end, 16);
	for (uint32_t i = 0; *text && !*end && i < n && found == STACK_NONE; i++)
		if (keys[i] == key)
			found = i;
	free(keys);
	return found;
}

uint32_t stack_find(const struct stack_node *nodes, size_t n, const char *text)
{
	uint32_t exact = STACK_NONE, part = STACK_NONE;
	char name[LABEL_MAX * 2];

	if (*text == '@')
		return find_key(nodes, n, text + 1);
	for (uint32_t i = 0; i < n && *text; i++) {
		if (nodes[i].kind != STACK_FRAME)
			continue;
		if (!strcmp(nodes[i].function, text) &&
		    (exact == STACK_NONE || nodes[i].ns > nodes[exact].ns))
			exact = i;
		if (strstr(stack_name(name, sizeof(name), &nodes[i]), text) &&
		    (part == STACK_NONE || nodes[i].ns > nodes[part].ns))
			part = i;
	}
	return exact != STACK_NONE ? exact : part;
}

/* ---- names ---- */

const char *stack_place(char *out, size_t size, const struct stack_node *node)
{
	const char *file = path_last(node->file);

	if (node->line)
		snprintf(out, size, "%.128s:%" PRIu32, *file ? file : "line", node->line);
	else
		snprintf(out, size, "%.128s", file);
	return out;
}

static void name_frame(char *out, size_t size, const struct stack_node *node)
{
	char place[LABEL_MAX];

	stack_place(place, sizeof(place), node);
	if (*node->function && *place)
		snprintf(out, size, "%.200s %s", node->function, place);
	else
		snprintf(out, size, "%.200s", *node->function ? node->function :
			 *place ? place : "a function without a name");
}

const char *stack_name(char *out, size_t size, const struct stack_node *node)
{
	switch (node->kind) {
	case STACK_THREAD:
		snprintf(out, size, "thread %.80s%s%" PRIu32, node->thread,
			 *node->thread ? " " : "", node->tid);
		break;
	case STACK_UNKNOWN:
		snprintf(out, size, "calls unknown");
		break;
	case STACK_STATE:
		snprintf(out, size, "%s%s%.200s", doing_name(node->doing), *node->what ? " " : "",
			 node->what);
		break;
	default:
		name_frame(out, size, node);
	}
	return out;
}

const char *stack_label(char *out, size_t size, const struct stack_node *node, int width)
{
	char name[LABEL_MAX * 2];
	int used;

	stack_name(name, sizeof(name), node);
	if (text_width(name) > width && node->kind == STACK_FRAME && *node->function) {
		snprintf(name, sizeof(name), "%.200s:%" PRIu32, node->function, node->line);
		if (!node->line || text_width(name) > width)
			snprintf(name, sizeof(name), "%.200s", node->function);
	}
	label_fit(out, size, name, width, false);
	used = text_width(out);
	if (used < width)
		snprintf(out + strlen(out), size - strlen(out), "%*s", width - used, "");
	return out;
}
