/* SPDX-License-Identifier: MIT */
/*
 * What the two files of the page of call stacks share. All functions that add to the page are for a
 * page with at least one node. The texts of nodes are the model's and stay; the lock is not needed.
 * Thread: the loop's.
 */
#ifndef TUI_PAGE_STACKS_H
#define TUI_PAGE_STACKS_H

#include "model/base/util.h"
#include "model/query/host.h"
#include "tui/pages/page_parts.h"
#include "tui/timeline/when.h"

struct stacks_page {
	struct page *page;
	struct page_book book;
	struct stacks_of of;
	struct when when;		/* t1 0: the whole run */
	/* words of the command that are kept in links */
	char *range[3], pid[16], tid[16];
	bool all;			/* -a */
	bool none_waited;		/* waited time was asked for, but there is none */
	struct stack_node *nodes;	/* owned */
	uint64_t *keys;			/* owned */
	size_t n;
	uint32_t root;			/* STACK_NONE: all trees */
	int width;
};

const char *stacks_share(char share[FMT_MAX], int64_t ns, int64_t whole_ns);
/* Adds a link to the page of the node; STACK_NONE: of all trees. */
void page_stacks_link(struct stacks_page *s, const char *text, uint32_t node);

/* Adds the path to the state that takes most time. */
void page_stacks_add_widest(struct stacks_page *s);
/* Adds the states among the nodes below the root, those of the same kind together: of the root
 * itself, or of all that it called, too. */
void page_stacks_add_states(struct stacks_page *s, const char *label, bool itself);
/* Says all of the node that was opened, with links to those that called it. */
void page_stacks_add_node(struct stacks_page *s);

#endif
