/* SPDX-License-Identifier: MIT */
#include "tui/loop/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/hash.h"
#include "model/base/map.h"
#include "model/base/util.h"
#include "tui/loop/loop.h"
#include "tui/panes/pane_page.h"

struct followed_link {
	char *command;			/* owned */
	size_t from; /* index of the link that led to its page, SIZE_MAX for the first page */
	int depth;
};

struct link_walk {
	struct followed_link *links;	/* owned; the links before `next` have been followed */
	size_t n, cap, next;
	struct map seen;		/* hashes of the commands that were followed */
};

static uint64_t hash_of(const char *text)
{
	return map_mix(hash_string(HASH_SEED, text));
}

static void add_links(struct link_walk *walk, const struct tui *tui, size_t from, int depth)
{
	const struct page *page = pane_page_shown(tui->panes[PANE_PAGE]);

	for (size_t line = 0; line < page->n_lines; line++)
		for (size_t k = 0; k < page_links(page, line); k++) {
			const char *command = page_command(page, line, k);
			uint64_t key = hash_of(command);

			if (map_get(&walk->seen, key) != MAP_NONE)
				continue;
			map_set(&walk->seen, key, (uint32_t)walk->n);
			grow(&walk->links, &walk->cap, walk->n, sizeof(*walk->links));
			walk->links[walk->n++] =
				(struct followed_link){xstrdup(command), from, depth};
		}
}

static bool follow_one_link(struct link_walk *walk, struct tui *tui, size_t which, int depth,
			    char *error, size_t error_size)
{
	struct followed_link link = walk->links[which];
	const char *from =
		link.from == SIZE_MAX ? "the first page" : walk->links[link.from].command;
	char why[256];

	if (!tui_command(tui, link.command, why, sizeof(why))) {
		snprintf(error, error_size, "'%.80s', a link of '%.80s': %s", link.command, from,
			 why);
		return false;
	}
	if (tui->focus_lower && tui->lower == PANE_PAGE && link.depth < depth)
		add_links(walk, tui, which, link.depth + 1);
	return true;
}

bool follow_links(struct tui *tui, int depth, size_t most, size_t *followed, char *error,
		  size_t error_size)
{
	struct link_walk walk = { .n = 0 };
	bool good = true;

	*followed = 0;
	if (!tui->panes[PANE_PAGE]) {
		snprintf(error, error_size, "no page is shown");
		return false;
	}
	add_links(&walk, tui, SIZE_MAX, 1);
	for (; good && walk.next < walk.n && walk.next < most; walk.next++)
		good = follow_one_link(&walk, tui, walk.next, depth, error, error_size);
	*followed = walk.next;
	for (size_t i = 0; i < walk.n; i++)
		free(walk.links[i].command);
	free(walk.links);
	map_release(&walk.seen);
	return good;
}
