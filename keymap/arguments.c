/* SPDX-License-Identifier: MIT */
#include "keymap/arguments.h"

#include <stdio.h>
#include <string.h>

/* Copies one word of the text without the brackets around it; brackets inside of the word
 * ("ROW[:LANE:ID]") stay. *opened, *closed: the word has a bracket at its start, at its end. */
static const char *argument_take_word(const char *at, char word[ARGUMENT_TEXT], bool *opened,
				      bool *closed)
{
	size_t length = 0;
	int inside = 0;

	*opened = false;
	for (; *at == ' ' || *at == '['; at++)
		*opened |= *at == '[';
	for (; *at && *at != ' ' && (*at != ']' || inside); at++) {
		inside += (*at == '[') - (*at == ']');
		if (length + 1 < ARGUMENT_TEXT)
			word[length++] = *at;
	}
	word[length] = '\0';
	*closed = *at == ']';
	return at + strspn(at, "]");
}

void arguments_parse(const char *text, struct arguments *arguments)
{
	bool opened, closed, wants = false;
	char word[ARGUMENT_TEXT];

	arguments->count = 0;
	for (text = argument_take_word(text, word, &opened, &closed); *word;
	     text = argument_take_word(text, word, &opened, &closed)) {
		bool flag = word[0] == '-' && word[1];

		if (wants && !opened && !flag) {
			snprintf(arguments->list[arguments->count - 1].value, ARGUMENT_TEXT, "%s",
				 word);
			wants = false;
			continue;
		}
		if (arguments->count == ARGUMENTS_MAX)
			return;
		arguments->list[arguments->count] = (struct argument){.flag = flag};
		snprintf(arguments->list[arguments->count++].text, ARGUMENT_TEXT, "%s", word);
		wants = flag && !closed;
	}
}

static const struct argument *flag_of(const struct arguments *arguments, const char *word)
{
	for (int i = 0; i < arguments->count; i++)
		if (arguments->list[i].flag && !strcmp(arguments->list[i].text, word))
			return &arguments->list[i];
	return NULL;
}

/* Returns place number `place`, not counting flags; behind the last place, the last one if it
 * repeats itself, else NULL. */
static const struct argument *place_of(const struct arguments *arguments, int place, bool repeats)
{
	const struct argument *last = NULL;

	for (int i = 0; i < arguments->count; i++) {
		if (arguments->list[i].flag)
			continue;
		last = &arguments->list[i];
		if (!place--)
			return last;
	}
	return repeats ? last : NULL;
}

const char *arguments_next(const struct arguments *arguments, int argc, const char *const *argv,
			   bool repeats, bool *value)
{
	const struct argument *argument;
	int place = 0;

	*value = false;
	for (int i = 0; i < argc; i++) {
		argument = flag_of(arguments, argv[i]);
		if (!argument) {
			place++;
		} else if (*argument->value && ++i == argc) {
			*value = true;
			return argument->value;
		}
	}
	argument = place_of(arguments, place, repeats);
	return argument ? argument->text : "";
}

int arguments_rest(const struct arguments *arguments, int argc)
{
	int place = 0;

	for (int i = 0; i < arguments->count; i++) {
		if (arguments->list[i].flag)
			continue;
		if (!strcmp(arguments->list[i].text, "COMMAND"))
			return place <= argc && place ? place : -1;
		place++;
	}
	return -1;
}
