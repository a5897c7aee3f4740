/* SPDX-License-Identifier: MIT */
/*
 * The script command follow-links: from the page that is shown along all links, breadth
 * first, each once. Each must open a page or do what it says without an error. For tests.
 *
 * Thread: the loop's.
 */
#ifndef TUI_FOLLOW_H
#define TUI_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

struct tui;

/* To that depth, at most so many links; *followed: how many. false: one failed, a sentence
 * in error. */
bool follow_links(struct tui *tui, int depth, size_t most, size_t *followed, char *error,
		  size_t error_size);

#endif
