/* SPDX-License-Identifier: MIT */
/*
 * exact TRUTH REPORT [SECTION...]: is all that TRUTH says in REPORT, value by
 * value? Rows of tables are joined by their texts and ids and may come in any
 * order; a table may have no row more than TRUTH. With sections, only these
 * are compared. One line per difference, at most 20; status 0 equal, 1
 * different, 2 bad input.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/live/differ.h"

static unsigned int compared;

/* The values that distinguish a row from the others of its table. */
static char *identity(const json_t *row)
{
	static const char *const keys[] = {
		"name", "type", "framework", "direction", "how", "allocator", "what",
		"cause", "id", "queue", "device", "number", "pid", "level", "text", "state",
		"file", "line", "function",
	};
	json_t *id = json_array();
	char *text;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(row, keys[i]);

		json_array_append(id, value ? value : json_null());
	}
	text = json_dumps(id, JSON_COMPACT);
	json_decref(id);
	return text;
}

static void same(const char *where, const json_t *truth, const json_t *report);

static void same_table(const char *where, const json_t *truth, const json_t *report)
{
	json_t *index = json_object(), *row;
	const char *left;
	char *id, *inner;
	size_t i;

	json_array_foreach((json_t *)report, i, row) {
		id = identity(row);
		if (json_object_get(index, id))
			differ("%s: row %s is there twice", where, id);
		json_object_set(index, id, row);
		free(id);
	}
	json_array_foreach((json_t *)truth, i, row) {
		id = identity(row);
		if (asprintf(&inner, "%s %s", where, id) < 0)
			abort();
		if (json_object_get(index, id))
			same(inner, row, json_object_get(index, id));
		else
			differ("%s: not reported", inner);
		json_object_del(index, id);
		free(id);
		free(inner);
	}
	json_object_foreach(index, left, row)
		differ("%s: row %s never happened", where, left);
	json_decref(index);
}

static void same_array(const char *where, const json_t *truth, const json_t *report)
{
	json_t *element;
	char inner[512];
	size_t i;

	if (json_is_object(json_array_get(truth, 0)) || json_is_object(json_array_get(report, 0))) {
		same_table(where, truth, report);
		return;
	}
	if (json_array_size(truth) != json_array_size(report))
		differ("%s: has %zu elements, reported %zu", where, json_array_size(truth),
		       json_array_size(report));
	json_array_foreach((json_t *)truth, i, element) {
		snprintf(inner, sizeof(inner), "%.480s[%zu]", where, i);
		if (i < json_array_size(report))
			same(inner, element, json_array_get(report, i));
	}
}

static void same(const char *where, const json_t *truth, const json_t *report)
{
	const char *key;
	json_t *value;
	char inner[512], *a, *b;

	if (json_is_object(truth) && json_is_object(report)) {
		json_object_foreach((json_t *)truth, key, value) {
			snprintf(inner, sizeof(inner), "%.400s%s%s", where, *where ? "." : "", key);
			if (json_object_get(report, key))
				same(inner, value, json_object_get(report, key));
			else if (!json_is_array(value) || json_array_size(value))
				differ("%s: absent", inner);
		}
		return;
	}
	if (json_is_array(truth) && json_is_array(report)) {
		same_array(where, truth, report);
		return;
	}
	compared++;
	if (json_equal(truth, report))
		return;
	a = json_dumps(truth, JSON_ENCODE_ANY);
	b = json_dumps(report, JSON_ENCODE_ANY);
	differ("%s: is %s, reported %s", where, a, b);
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	json_t *truth, *report;

	if (argc < 3) {
		fputs("usage: exact TRUTH REPORT [SECTION...]\n", stderr);
		return 2;
	}
	truth = load(argv[1]);
	report = load(argv[2]);
	if (argc == 3)
		same("", truth, report);
	for (int i = 3; i < argc; i++) {
		const json_t *a = json_object_get(truth, argv[i]);
		const json_t *b = json_object_get(report, argv[i]);

		if (a && b)
			same(argv[i], a, b);
		else if (a || b)
			differ("%s: is in one of the two only", argv[i]);
	}
	json_decref(truth);
	json_decref(report);
	if (!differences)
		printf("%u values equal\n", compared);
	return differences ? 1 : 0;
}
