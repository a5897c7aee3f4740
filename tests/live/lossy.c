/* SPDX-License-Identifier: MIT */
/*
 * lossy WHOLE REPORT: REPORT is of a recording that lost events, WHOLE the truth
 * of the same program when nothing is lost. Is nothing in REPORT that did not
 * happen, and all that is missing said to be lost?
 *
 *  - What a kernel is said to have been launched by, exactly or by its event,
 *    launched it, and no more often than it really did.
 *  - Kernels, copies and ops are at most as many and as long as they were.
 *  - What is not there is lost: the events lost and those there are all there were.
 *  - The shares of device time that have a launch, an op, are those of the rows.
 *
 * Complexity: rows squared. One line per difference, at most 20; status 0 none, 1 some, 2 bad
 * input.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/live/differ.h"

static unsigned int sure;

/* Returns the row with the same values of these keys, NULL if there is none. */
static const json_t *like(const json_t *rows, const json_t *row, const char *const keys[])
{
	json_t *other;
	size_t i, k;

	json_array_foreach((json_t *)rows, i, other) {
		for (k = 0; keys[k]; k++) {
			const json_t *a = json_object_get(row, keys[k]);
			const json_t *b = json_object_get(other, keys[k]);

			if (a != b && (!a || !b || !json_equal(a, b)))
				break;
		}
		if (!keys[k])
			return other;
	}
	return NULL;
}

/* The value must not exceed the truth. */
static void no_more(const char *what, const json_t *row, const json_t *was)
{
	static const char *const sums[] = {
		"count", "total_ns", "bytes", "device_ns", "kernels", "copies", "copy_bytes",
	};

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (number(row, sums[i]) > number(was, sums[i]))
			differ("%s '%s': %s is %lld, was %lld", what, text(row, "name"), sums[i],
			       number(row, sums[i]), number(was, sums[i]));
}

static void check_kernels(const json_t *whole, const json_t *report)
{
	static const char *const by_name[] = { "name", "device", NULL };
	static const char *const by_op[] = { "name", "how", NULL };
	json_t *kernel, *op;
	size_t i, k;

	json_array_foreach(json_object_get(report, "kernels"), i, kernel) {
		const json_t *was = like(json_object_get(whole, "kernels"), kernel, by_name);

		if (!was) {
			differ("kernel '%s' never ran", text(kernel, "name"));
			continue;
		}
		no_more("kernel", kernel, was);
		json_array_foreach(json_object_get(kernel, "ops"), k, op) {
			const json_t *true_op = like(json_object_get(was, "ops"), op, by_op);
			const char *how = text(op, "how");

			if (strcmp(how, "exact") && strcmp(how, "event"))
				continue;
			if (!true_op)
				differ("kernel '%s': '%s' is called %s and is not",
				       text(kernel, "name"), text(op, "name"), how);
			else
				no_more("op of a kernel", op, true_op);
			sure++;
		}
	}
}

static void check_rows(const json_t *whole, const json_t *report, const char *table,
		       const char *const keys[])
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(report, table), i, row) {
		const json_t *was = like(json_object_get(whole, table), row, keys);

		if (was)
			no_more(table, row, was);
		else
			differ("%s: '%s' never was", table, text(row, "name"));
	}
}

/* If an op's own event was lost, only its name is known: sums over all rows of that name. */
static long long of_name(const json_t *root, const char *name, const char *key)
{
	long long sum = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "ops"), i, row)
		if (!strcmp(text(row, "name"), name))
			sum += number(row, key);
	return sum;
}

static void check_ops(const json_t *whole, const json_t *report)
{
	static const char *const sums[] = { "count", "total_ns", "device_ns", "kernels", "copies" };
	json_t *row;
	size_t i, k;

	json_array_foreach(json_object_get(report, "ops"), i, row) {
		const char *name = text(row, "name");

		for (k = 0; k < sizeof(sums) / sizeof(sums[0]); k++)
			if (of_name(report, name, sums[k]) > of_name(whole, name, sums[k]))
				differ("op '%s': %s is %lld, was %lld", name, sums[k],
				       of_name(report, name, sums[k]),
				       of_name(whole, name, sums[k]));
	}
}

static long long sum(const json_t *root, const char *table, const char *key)
{
	long long all = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, table), i, row)
		all += number(row, key);
	return all;
}

static void check_share(const char *what, const json_t *coverage, double part, double all)
{
	double share = json_number_value(json_object_get(coverage, what));

	if (all > 0 && (share > part / all || share < part / all - 0.0001))
		differ("coverage: %s is %.4f, the rows say %.4f", what, share, part / all);
}

static void check_trust(const json_t *whole, const json_t *report)
{
	const json_t *was = json_object_get(whole, "trust"), *is = json_object_get(report, "trust");
	const json_t *coverage = json_object_get(is, "coverage");
	double device =
		(double)(sum(report, "kernels", "total_ns") + sum(report, "copies", "total_ns"));

	if (number(is, "lost_events") + number(is, "events") != number(was, "events"))
		differ("%lld lost and %lld there, of %lld", number(is, "lost_events"),
		       number(is, "events"), number(was, "events"));
	if (!coverage)
		differ("nothing is said of the coverage");
	check_share("launched", coverage, device, device);
	check_share("ops", coverage, (double)sum(report, "ops", "device_ns"), device);
}

int main(int argc, char **argv)
{
	static const char *const of_copy[] = { "direction", "device", "queue", NULL };
	json_t *whole, *report;

	if (argc != 3) {
		fputs("usage: lossy WHOLE REPORT\n", stderr);
		return 2;
	}
	whole = load(argv[1]);
	report = load(argv[2]);
	check_kernels(whole, report);
	check_rows(whole, report, "copies", of_copy);
	check_ops(whole, report);
	check_trust(whole, report);
	if (!sure)
		differ("nothing is called exact or event");
	json_decref(whole);
	json_decref(report);
	if (!differences)
		printf("%u rows called exact or event\n", sure);
	return differences ? 1 : 0;
}
