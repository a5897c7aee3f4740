/* SPDX-License-Identifier: MIT */
#include "tui/table/column_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/table/table.h"

struct word {
	char sign;			/* '+', '-' or '=' */
	char *key;			/* owned */
};

struct choice {
	char *pane;			/* owned */
	struct word *words;		/* owned; each key occurs once */
	size_t n, cap;
};

struct column_choices {
	struct choice *list;
	size_t n, cap;
};

struct column_choices *column_choices_new(void)
{
	return xcalloc(1, sizeof(struct column_choices));
}

static void forget(struct choice *choice)
{
	for (size_t i = 0; i < choice->n; i++)
		free(choice->words[i].key);
	choice->n = 0;
}

void column_choices_free(struct column_choices *choices)
{
	for (size_t i = 0; choices && i < choices->n; i++) {
		forget(&choices->list[i]);
		free(choices->list[i].words);
		free(choices->list[i].pane);
	}
	if (choices)
		free(choices->list);
	free(choices);
}

static struct choice *find(const struct column_choices *choices, const char *pane)
{
	for (size_t i = 0; choices && i < choices->n; i++)
		if (strcmp(choices->list[i].pane, pane) == 0)
			return &choices->list[i];
	return NULL;
}

static void column_choice_say(struct choice *choice, char sign, const char *key)
{
	size_t i;

	for (i = 0; i < choice->n && strcmp(choice->words[i].key, key); i++)
		;
	if (i < choice->n) {
		/* a "+" among other "+" keeps its position */
		if (sign != '+' || choice->words[i].sign != '=')
			choice->words[i].sign = sign;
		return;
	}
	grow(&choice->words, &choice->cap, choice->n, sizeof(*choice->words));
	choice->words[choice->n++] = (struct word){sign, xstrdup(key)};
}

/* ---- words ---- */

static bool no_such(const char *pane, const struct table_kind *kind, const char *key, char *error,
		    size_t size)
{
	size_t at = (size_t)snprintf(error, size, "no column '%.40s' in %s; there are:", key, pane);

	for (size_t i = 0; i < kind->columns->n && at < size; i++)
		at += (size_t)snprintf(error + at, size - at, " %s", kind->columns->column[i].key);
	return false;
}

/* Calls `use` for each KEY of "+KEY,KEY"; returns false as soon as `use` does. */
static bool each_key(const char *word, bool (*use)(char sign, const char *key, void *arg),
		     void *arg)
{
	char sign = *word == '+' || *word == '-' ? *word : '=', key[64];

	word += sign != '=';
	for (;;) {
		size_t length = strcspn(word, ",");

		snprintf(key, sizeof(key), "%.*s", (int)(length < sizeof(key) ? length : 63), word);
		if (!use(sign, key, arg))
			return false;
		if (!word[length])
			return true;
		word += length + 1;
	}
}

struct checking {
	const char *pane;
	const struct table_kind *kind;
	char *error;
	size_t size;
	bool only;
};

static bool check(char sign, const char *key, void *arg)
{
	struct checking *c = arg;

	c->only |= sign == '=';
	if (sign == '-' && strcmp(key, c->kind->columns->column[0].key) == 0) {
		snprintf(c->error, c->size, "'%s' says what a row is and cannot be hidden", key);
		return false;
	}
	return table_kind_column(c->kind, key) ||
	       no_such(c->pane, c->kind, key, c->error, c->size);
}

struct column_taking {
	struct choice *choice;
	const struct table_kind *kind;
};

/* Uses the current name of the key. */
static bool take(char sign, const char *key, void *arg)
{
	struct column_taking *taking = arg;

	column_choice_say(taking->choice, sign, table_kind_column(taking->kind, key)->key);
	return true;
}

bool column_choices_apply(struct column_choices *choices, const char *pane,
			  const struct table_kind *kind, int argc, const char *const *argv,
			  char *error, size_t error_size)
{
	struct checking checking = { pane, kind, error, error_size, false };
	struct choice *choice = find(choices, pane);
	struct column_taking taking = { .kind = kind };
	int i;

	for (i = 0; i < argc; i++)
		if (strcmp(argv[i], "reset") && !each_key(argv[i], check, &checking))
			return false;
	if (!choice) {
		grow(&choices->list, &choices->cap, choices->n, sizeof(*choices->list));
		choice = &choices->list[choices->n++];
		*choice = (struct choice){.pane = xstrdup(pane)};
	}
	taking.choice = choice;
	if (checking.only)
		forget(choice);
	for (i = 0; i < argc; i++) {
		if (strcmp(argv[i], "reset") == 0)
			forget(choice);
		else
			each_key(argv[i], take, &taking);
	}
	return true;
}

char column_choice_of(const struct column_choices *choices, const char *pane, const char *key,
		      size_t *place, bool *only)
{
	const struct choice *choice = find(choices, pane);
	char sign = 0;

	*place = 0;
	*only = false;
	for (size_t i = 0; choice && i < choice->n; i++) {
		*only |= choice->words[i].sign == '=';
		if (strcmp(choice->words[i].key, key))
			continue;
		sign = choice->words[i].sign;
		*place = i;
	}
	return sign;
}
