/* SPDX-License-Identifier: MIT */
/* Links of the selected event to others: marks in their rows, words in the sentence. */
#include "tui/timeline/pane_timeline.h"

#include <stdio.h>
#include <string.h>

#include "keymap/table.h"

/* time after which links are queried again, because later events may be linked */
#define LINKS_AGAIN_NS INT64_C(1000000000)

void timeline_links_update(struct timeline_pane *t, const struct view *view)
{
	uint64_t generation = model_generation(view->model);
	bool same = t->links_of.id == view->selected.id && t->links_of.row == view->selected.row;

	if (!t->has_selected) {
		t->n_links = 0;
		t->links_of = (struct span_ref){0};
		return;
	}
	if (same && (generation == t->links_generation ||
		     view->clock_ns - t->links_ns < LINKS_AGAIN_NS))
		return;
	t->links_of = view->selected;
	t->links_generation = generation;
	t->links_ns = view->clock_ns;
	t->n_links = model_span_links(view->model, view->selected, t->links, LINKS_MOST);
}

static bool is_before(enum link_kind kind)
{
	return kind == LINK_OP || kind == LINK_PRODUCER || kind == LINK_GRAPH;
}

static bool in_line(const struct span_link *link, const struct timeline_line *line)
{
	return link->ref.row == line->row &&
	       (line->lane == LANE_ALL || line->lane == link->ref.lane);
}

void timeline_links_mark(const struct timeline_pane *t, const struct view *view, int64_t w,
			 const struct timeline_line *line, const struct cell_style *style,
			 struct cell *cells)
{
	int64_t columns = (int64_t)t->columns;

	for (size_t i = 0; i < t->n_links; i++) {
		const struct span_link *link = &t->links[i];
		int64_t begin = link->start_ns - view->t0_ns, end = link->end_ns - view->t0_ns;

		if (!in_line(link, line))
			continue;
		if (end < 0 || begin >= w * columns) {
			if (link->kind == LINK_NODE && i && t->links[i - 1].kind == LINK_NODE)
				continue;
			cells_arrow(cells, end < 0 ? 0 : t->columns - 1, end < 0, style);
			continue;
		}
		begin = begin < 0 ? 0 : begin / w;
		end = end > w * columns ? columns : (end + w - 1) / w;
		end = end > begin ? end : begin + 1;
		/* Nodes are adjacent: arrows would cover them. */
		if (link->kind == LINK_NODE && i && t->links[i - 1].kind == LINK_NODE)
			cells_underline(cells, (size_t)begin, (size_t)end);
		else
			cells_link(cells, t->columns, (size_t)begin, (size_t)end,
				   is_before(link->kind), style);
	}
}

/* ---- words ---- */

static bool is_seen(const struct timeline_pane *t, const struct span_link *link)
{
	for (size_t i = 0; i < t->n_seen; i++)
		if (in_line(link, &t->seen[i].line))
			return true;
	return false;
}

static const char *row_label(const struct model_row *rows, size_t n, uint32_t row)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].id == row)
			return rows[i].label;
	return NULL;
}

static void key_of(const struct view *view, const char *command, char *text, size_t size)
{
	const struct binding *binding = view->keymap && command ?
		keymap_find(view->keymap, TABLE_TIMELINE, command) : NULL;

	text[0] = '\0';
	if (binding)
		keys_print(binding->keys, binding->count, text, size);
}

static const struct { const char *words, *command; } kinds[LINK_KINDS] = {
	[LINK_OP] = {"launched by", "to-op"},
	[LINK_WORK] = {"launched", "to-kernel"},
	[LINK_GRAPH] = {"in", NULL},		/* no key: it is above, in view */
	[LINK_NODE] = {"nodes", NULL},
	[LINK_MESSAGE] = {"message", "to-kernel"},
	[LINK_PRODUCER] = {"takes from", "to-producer"},
	[LINK_TAKER] = {"feeds", "to-consumer"},
};

/* Adds the event that the key goes to, the number of further ones, and its row if that is not on
 * the screen. */
void timeline_links_sentence(struct timeline_pane *t, const struct view *view,
			     const struct model_row *rows, size_t n_rows)
{
	for (int kind = 0; kind < LINK_KINDS; kind++) {
		const struct span_link *first = NULL;
		char key[KEY_SEQUENCE_MAX * KEY_NAME_MAX];
		const char *label;
		int rank = STRIP_NEEDED + 2 + kind;
		size_t n = 0;

		for (size_t i = 0; i < t->n_links; i++) {
			if (t->links[i].kind != (enum link_kind)kind)
				continue;
			if (!first || kind == LINK_PRODUCER)
				first = &t->links[i];
			n++;
		}
		/* The sentence names the launching op already. */
		if (!first || ((kind == LINK_OP || kind == LINK_GRAPH) && is_seen(t, first)))
			continue;
		key_of(view, kinds[kind].command, key, sizeof(key));
		if (*key)
			strip_add(&t->sentence, rank, 3, ROLE_ACCENT, ATTR_BOLD, "%s", key);
		strip_add(&t->sentence, rank, *key ? 1 : 3, ROLE_MUTED, 0, "%s", kinds[kind].words);
		strip_add(&t->sentence, rank, 1, ROLE_LABEL, 0, "%s", first->name)->least = 8;
		if (n > 1)
			strip_add(&t->sentence, rank, 1, ROLE_MUTED, 0, "+%zu", n - 1);
		label = is_seen(t, first) ? NULL : row_label(rows, n_rows, first->ref.row);
		if (label)
			strip_add(&t->sentence, rank + LINK_KINDS, 1, ROLE_MUTED, 0, "in %s",
				  label);
	}
}
