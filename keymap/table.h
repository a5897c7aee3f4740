/* SPDX-License-Identifier: MIT */
/*
 * Key tables: which keys run which command in which place. A key is looked up in the table of what
 * has the focus, then, if that table falls through, in generic; a binding to `none` hides that of
 * generic.
 *
 * Always true: within a table no sequence is the start of another one, so a sequence is either
 * complete, a start, or not bound.
 *
 * Ownership: the keymap owns its commands; pointers to bindings are borrowed until the next change.
 * Threads: the loop's only.
 */
#ifndef KEYMAP_TABLE_H
#define KEYMAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "keymap/key.h"

enum key_table {
	TABLE_GENERIC = 0,
	TABLE_TIMELINE,
	TABLE_TABLE,			/* lower panes that have rows */
	TABLE_PAGE,			/* pane 9: text with links */
	TABLE_OUTPUT,			/* pane 7 while PROGRAM gets its keys: no fall-through */
	TABLE_PROMPT,			/* while a line is typed: no fall-through */
	TABLE_DIALOG,			/* while a question is asked: no fall-through */
	KEY_TABLES
};

const char *key_table_name(enum key_table table);
int key_table_by_name(const char *name);	/* -1: there is none */
bool key_table_falls_through(enum key_table table);

struct binding {
	struct key keys[KEY_SEQUENCE_MAX];
	int count;
	char *command;			/* owned; a command line or "none" */
};

struct keymap {
	struct {
		struct binding *list;	/* owned; in the order in which they were bound */
		size_t count, cap;
	} tables[KEY_TABLES];
};

void keymap_init(struct keymap *keymap);
void keymap_release(struct keymap *keymap);

/* Binds keys, replacing an equal sequence. false with a sentence: one sequence is the start of the
 * other. The command line is not checked here. */
bool keymap_bind(struct keymap *keymap, enum key_table table, const struct key *keys,
		 int count, const char *command, char *error, size_t error_size);
/* false with a sentence: the keys are not bound. */
bool keymap_unbind(struct keymap *keymap, enum key_table table, const struct key *keys,
		   int count, char *error, size_t error_size);

/* Whether these keys are the start of the binding's longer sequence. */
bool binding_begins(const struct binding *binding, const struct key *keys, int count);

enum key_match { KEY_MATCH_NONE, KEY_MATCH_PREFIX, KEY_MATCH_COMMAND };

/* *found is set for KEY_MATCH_COMMAND. */
enum key_match keymap_lookup(const struct keymap *keymap, enum key_table table,
			     const struct key *keys, int count, const struct binding **found);

/* The first keys in the table (or, if it falls through, in generic) that run exactly this command
 * line. NULL: none. */
const struct binding *keymap_find(const struct keymap *keymap, enum key_table table,
				  const char *command);

#endif
