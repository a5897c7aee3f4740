/* SPDX-License-Identifier: MIT */
/*
 * The script command follow-links: follows all links from the shown page, breadth first, each once.
 * Each must open a page, or do what it says, without an error. For tests.
 *
 * Thread: the loop's.
 */
#ifndef TUI_FOLLOW_H
#define TUI_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

struct tui;

/* Follows links to that depth, at most this many; *followed: how many were followed. false: one
 * failed, and `error` is a sentence. */
bool follow_links(struct tui *tui, int depth, size_t most, size_t *followed, char *error,
		  size_t error_size);

#endif
