/* SPDX-License-Identifier: MIT */
/* stacks: what the page says in words, of the path that takes most time and of one node. */
#include "tui/pages/page_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/time.h"
#include "tui/draw/labels.h"
#include "tui/pages/stack_cells.h"

#define PATH_NODES 260u			/* as deep as stacks are */
#define STATES_SHOWN 8
#define WIDE 100			/* columns in which there is room for times beside shares */

/* ---- a path in words ---- */

#define LEFT_OUT STACK_NONE		/* in a path: "…" stands for some nodes */

struct path_step { uint32_t node; int width; };

/* The nodes from below `root` down to a node; without the thread, if there is only one. */
static size_t path_to(const struct stacks_page *s, uint32_t node, uint32_t root,
		      struct path_step *path)
{
	uint32_t at = node;
	size_t n = 0;

	for (; at != STACK_NONE && at != root && n < PATH_NODES; at = s->nodes[at].parent)
		if (s->nodes[at].parent != STACK_NONE || s->nodes[0].end != s->n || at == node)
			path[n++].node = at;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t swap = path[i].node;

		path[i].node = path[n - 1 - i].node;
		path[n - 1 - i].node = swap;
	}
	return n;
}

static int path_width(const struct path_step *path, size_t n)
{
	int width = 0;

	for (size_t i = 0; i < n; i++)
		width += path[i].width + (i ? 3 : 0);
	return width;
}

/* Leaves out what is at `at`; next to an ellipsis that is one ellipsis. */
static size_t path_leave_out(struct path_step *path, size_t n, size_t at)
{
	path[at] = (struct path_step) { LEFT_OUT, 1 };
	if (at + 1 < n && path[at + 1].node == LEFT_OUT) {
		memmove(path + at, path + at + 1, (n - at - 1) * sizeof(*path));
		n--;
	}
	if (at && path[at - 1].node == LEFT_OUT) {
		memmove(path + at - 1, path + at, (n - at) * sizeof(*path));
		n--;
	}
	return n;
}

/* Leaves out libraries' functions that have no place, from the outermost on; then others behind
 * the first. What is last stays, and what it was called by. */
static size_t path_fit(const struct stacks_page *s, struct path_step *path, size_t n, int width)
{
	for (size_t others = 0; others < 2; others++)
		for (size_t i = others; i + 2 < n && path_width(path, n) > width;) {
			size_t before = n;

			if (path[i].node == LEFT_OUT ||
			    (!others && !s->nodes[path[i].node].library)) {
				i++;
				continue;
			}
			n = path_leave_out(path, n, i);
			i += n == before;
		}
	return n;
}

/* Adds the nodes from below `root` down to a node, in so many columns if possible. */
static void page_stacks_add_path(struct stacks_page *s, uint32_t node, uint32_t root, int width)
{
	struct path_step path[PATH_NODES];
	char name[LABEL_MAX * 2];
	size_t n = path_to(s, node, root, path);

	for (size_t i = 0; i < n; i++)
		path[i].width = text_width(stack_name(name, sizeof(name),
						      &s->nodes[path[i].node]));
	n = path_fit(s, path, n, width);
	for (size_t i = 0; i < n; i++) {
		page_add(s->page, ROLE_MUTED, 0, "%s", i ? " › " : "");
		if (path[i].node == LEFT_OUT)
			page_add(s->page, ROLE_MUTED, 0, "…");
		else
			page_stacks_link(s, stack_name(name, sizeof(name),
						       &s->nodes[path[i].node]), path[i].node);
	}
}

void page_stacks_add_widest(struct stacks_page *s)
{
	int64_t whole_ns = stack_ns(s->nodes, s->n, s->root);
	uint32_t leaf = stack_most_leaf(s->nodes, s->n, s->root);
	char share[FMT_MAX], time[FMT_MAX], text[2 * FMT_MAX + 8];

	if (leaf == s->root)
		return;
	snprintf(text, sizeof(text), "%s of %s: ",
		 stacks_share(share, s->nodes[leaf].ns, whole_ns), fmt_time(time, whole_ns));
	page_label(s->page, "most");
	page_add(s->page, ROLE_DEFAULT, ATTR_BOLD, "%s", text);
	page_stacks_add_path(s, leaf, s->root, s->width - 9 - text_width(text));
	page_end(s->page);
}

/* ---- the node that was opened ---- */

void page_stacks_add_states(struct stacks_page *s, const char *label, bool itself)
{
	int64_t ns[DOING_COUNT] = { 0 }, whole_ns = stack_ns(s->nodes, s->n, s->root);
	uint32_t first = s->root == STACK_NONE ? 0 : s->root;
	uint32_t end = s->root == STACK_NONE ? (uint32_t)s->n : s->nodes[s->root].end;
	char share[FMT_MAX], time[FMT_MAX];
	int shown = 0;

	for (uint32_t i = first; i < end; i++)
		if (s->nodes[i].kind == STACK_STATE && (!itself || s->nodes[i].parent == s->root))
			ns[s->nodes[i].doing] += s->nodes[i].ns;
	for (; shown < STATES_SHOWN; shown++) {
		int most = 0;

		for (int k = 1; k < DOING_COUNT; k++)
			most = ns[k] > ns[most] ? k : most;
		if (ns[most] <= 0)
			break;
		if (!shown)
			page_label(s->page, label);
		page_add(s->page, ROLE_DEFAULT, 0, "%s%s %s", shown ? " · " : "",
			 doing_name((enum doing_kind)most),
			 stacks_share(share, ns[most], whole_ns));
		if (s->width >= WIDE)
			page_add(s->page, ROLE_MUTED, 0, " %s", fmt_time(time, ns[most]));
		ns[most] = 0;
	}
	if (shown)
		page_end(s->page);
}

static int64_t own_ns(const struct stacks_page *s)
{
	int64_t ns = 0;

	for (uint32_t i = s->root + 1; i < s->nodes[s->root].end; i = s->nodes[i].end)
		ns += s->nodes[i].kind == STACK_STATE ? s->nodes[i].ns : 0;
	return ns;
}

void page_stacks_add_node(struct stacks_page *s)
{
	const struct stack_node *node = &s->nodes[s->root];
	int64_t whole_ns = stack_ns(s->nodes, s->n, STACK_NONE);
	char name[LABEL_MAX * 2], time[FMT_MAX], share[FMT_MAX];

	page_blank(s->page);
	page_say(s->page, ROLE_TITLE, ATTR_BOLD, "%s", stack_name(name, sizeof(name), node));
	page_label(s->page, "callers");
	page_stacks_link(s, "all", STACK_NONE);
	if (node->parent != STACK_NONE) {
		page_add(s->page, ROLE_MUTED, 0, " › ");
		page_stacks_add_path(s, node->parent, STACK_NONE, s->width - 15);
		page_main(s->page);
	}
	page_end(s->page);
	if (node->kind == STACK_FRAME && node->line) {
		page_label(s->page, "source");
		page_to_line(s->page, node->file, node->line, node->function);
		page_end(s->page);
	}
	page_label(s->page, "took");
	page_add(s->page, ROLE_DEFAULT, 0, "%s, %s of all", fmt_time(time, node->ns),
		 stacks_share(share, node->ns, whole_ns));
	if (node->kind == STACK_FRAME)
		page_add(s->page, ROLE_DEFAULT, 0, "   in itself %s, %s of it",
			 fmt_time(time, own_ns(s)), stacks_share(share, own_ns(s), node->ns));
	page_add(s->page, ROLE_MUTED, 0, "   process %" PRIu32 ", thread %" PRIu32, node->pid,
		 node->tid);
	page_end(s->page);
	if (node->kind == STACK_FRAME)
		page_stacks_add_states(s, "itself", true);
}
