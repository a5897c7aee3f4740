/* SPDX-License-Identifier: MIT */
/*
 * found REPORT: the findings of a report, one a line as `ID COST NAME TITLE`: the
 * cost in ns, what the evidence is called ("-" without a name); "none" when there
 * is none.
 * found TRUTH KEY FROM: the mean of steps.KEY in what a program of examples/
 * wrote about itself, from step FROM on, to the nearest.
 * Status 2: the file is not what it should be.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/live/differ.h"

static int list(const char *path)
{
	json_t *root = load(path), *findings = json_object_get(root, "findings"), *one;
	size_t i;

	if (!json_is_array(findings)) {
		fprintf(stderr, "found: '%s': nothing was looked at\n", path);
		return 2;
	}
	json_array_foreach(findings, i, one) {
		const char *id = json_string_value(json_object_get(one, "id"));
		const char *title = json_string_value(json_object_get(one, "title"));
		json_t *cost = json_object_get(one, "cost_ns_per_step");
		json_t *evidence = json_object_get(one, "evidence");
		const char *name = json_string_value(json_object_get(evidence, "name"));

		if (!id || !title || !json_is_integer(cost) ||
		    !json_string_value(json_object_get(one, "severity")) ||
		    !json_is_object(evidence)) {
			fprintf(stderr, "found: '%s': finding %zu has not all it should\n", path,
				i);
			return 2;
		}
		printf("%s %lld %s %s\n", id, (long long)json_integer_value(cost),
		       name ? name : "-", title);
	}
	if (!json_array_size(findings))
		puts("none");
	json_decref(root);
	return 0;
}

static int mean(const char *path, const char *key, size_t from)
{
	json_t *root = load(path), *list = json_object_get(json_object_get(root, "steps"), key);
	long long sum = 0, n = 0;
	size_t i;

	for (i = from; i < json_array_size(list); i++, n++)
		sum += json_integer_value(json_array_get(list, i));
	if (!n) {
		fprintf(stderr, "found: '%s': no steps.%s from %zu on\n", path, key, from);
		return 2;
	}
	printf("%lld\n", (sum + n / 2) / n);
	json_decref(root);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return list(argv[1]);
	if (argc == 4)
		return mean(argv[1], argv[2], (size_t)strtoul(argv[3], NULL, 10));
	fputs("usage: found REPORT | found TRUTH KEY FROM\n", stderr);
	return 2;
}
