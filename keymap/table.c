/* SPDX-License-Identifier: MIT */
#include "keymap/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/memory.h"

static const struct { const char *name; bool falls_through; } tables[KEY_TABLES] = {
	[TABLE_GENERIC] = {"generic", false},
	[TABLE_TIMELINE] = {"timeline", true},
	[TABLE_TABLE] = {"table", true},
	[TABLE_PAGE] = {"page", true},
	[TABLE_OUTPUT] = {"output", false},
	[TABLE_PROMPT] = {"prompt", false},
	[TABLE_DIALOG] = {"dialog", false},
};

const char *key_table_name(enum key_table table)
{
	return tables[table].name;
}

int key_table_by_name(const char *name)
{
	int i;

	for (i = 0; i < KEY_TABLES; i++)
		if (strcmp(tables[i].name, name) == 0)
			return i;
	return -1;
}

bool key_table_falls_through(enum key_table table)
{
	return tables[table].falls_through;
}

void keymap_init(struct keymap *keymap)
{
	memset(keymap, 0, sizeof(*keymap));
}

void keymap_release(struct keymap *keymap)
{
	size_t i;
	int t;

	for (t = 0; t < KEY_TABLES; t++) {
		for (i = 0; i < keymap->tables[t].count; i++)
			free(keymap->tables[t].list[i].command);
		free(keymap->tables[t].list);
	}
	memset(keymap, 0, sizeof(*keymap));
}

/* Number of keys at the start that are equal in both bindings. */
static int common(const struct binding *binding, const struct key *keys, int count)
{
	int i;

	for (i = 0; i < count && i < binding->count; i++)
		if (!key_equal(binding->keys[i], keys[i]))
			break;
	return i;
}

bool binding_begins(const struct binding *binding, const struct key *keys, int count)
{
	return binding->count > count && common(binding, keys, count) == count;
}

bool keymap_bind(struct keymap *keymap, enum key_table table, const struct key *keys,
		 int count, const char *command, char *error, size_t error_size)
{
	struct binding *binding = NULL;
	size_t i;

	for (i = 0; i < keymap->tables[table].count; i++) {
		struct binding *other = &keymap->tables[table].list[i];
		int same = common(other, keys, count);

		if (same == count && same == other->count) {
			binding = other;
		} else if (same == count || same == other->count) {
			char a[KEY_SEQUENCE_MAX * KEY_NAME_MAX], b[sizeof(a)];

			keys_print(keys, count, a, sizeof(a));
			keys_print(other->keys, other->count, b, sizeof(b));
			snprintf(error, error_size,
				 "'%s' %s '%s', which runs '%.60s' (first: unbind %s %s)", a,
				 count < other->count ? "begins" : "goes on after", b,
				 other->command, tables[table].name, b);
			return false;
		}
	}
	if (!binding) {
		size_t n = keymap->tables[table].count;

		if (n == keymap->tables[table].cap) {
			keymap->tables[table].cap = n ? 2 * n : 32;
			keymap->tables[table].list = key_realloc(keymap->tables[table].list,
					keymap->tables[table].cap, sizeof(*binding));
		}
		keymap->tables[table].count++;
		binding = &keymap->tables[table].list[n];
		memset(binding, 0, sizeof(*binding));
		memcpy(binding->keys, keys, (size_t)count * sizeof(*keys));
		binding->count = count;
	}
	free(binding->command);
	binding->command = key_strdup(command);
	return true;
}

bool keymap_unbind(struct keymap *keymap, enum key_table table, const struct key *keys,
		   int count, char *error, size_t error_size)
{
	struct binding *list = keymap->tables[table].list;
	char name[KEY_SEQUENCE_MAX * KEY_NAME_MAX];
	size_t i, n = keymap->tables[table].count;

	for (i = 0; i < n; i++) {
		if (list[i].count != count || common(&list[i], keys, count) != count)
			continue;
		free(list[i].command);
		memmove(&list[i], &list[i + 1], (n - i - 1) * sizeof(*list));
		keymap->tables[table].count--;
		return true;
	}
	snprintf(error, error_size, "not bound in %s: '%s'", key_table_name(table),
		 keys_print(keys, count, name, sizeof(name)));
	return false;
}

enum key_match keymap_lookup(const struct keymap *keymap, enum key_table table,
			     const struct key *keys, int count, const struct binding **found)
{
	bool prefix = false;
	size_t i;

	*found = NULL;
	for (i = 0; i < keymap->tables[table].count; i++) {
		const struct binding *binding = &keymap->tables[table].list[i];
		int same = common(binding, keys, count);

		if (same < count)
			continue;
		if (same < binding->count) {
			prefix = true;
			continue;
		}
		if (strcmp(binding->command, "none") == 0)
			return KEY_MATCH_NONE;
		*found = binding;
		return KEY_MATCH_COMMAND;
	}
	if (prefix)
		return KEY_MATCH_PREFIX;
	if (tables[table].falls_through)
		return keymap_lookup(keymap, TABLE_GENERIC, keys, count, found);
	return KEY_MATCH_NONE;
}

const struct binding *keymap_find(const struct keymap *keymap, enum key_table table,
				  const char *command)
{
	size_t i;

	for (i = 0; i < keymap->tables[table].count; i++)
		if (strcmp(keymap->tables[table].list[i].command, command) == 0)
			return &keymap->tables[table].list[i];
	if (tables[table].falls_through)
		return keymap_find(keymap, TABLE_GENERIC, command);
	return NULL;
}
