/* SPDX-License-Identifier: MIT */
/*
 * compare TRUTH REPORT: does tftop's report say what the program did?
 * compare --sum TRUTH... REPORT: several processes in one report; numbers are
 * added up per name; left out are queues, whose ids only one process knows,
 * and steps, which processes may make together.
 *
 * TRUTH is what a program of examples/ or tests/programs/ wrote about itself,
 * in the form of the report. Every number of TRUTH must be in REPORT, and what
 * REPORT lists must be in TRUTH. Sections that TRUTH leaves out are not
 * compared. One line per difference, at most 20; status 0 equal, 1 different, 2 bad input.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/live/differ.h"


static unsigned int compared;

/* what: the object that the key belongs to, for the message. */
static void same_number(const char *what, const char *key, const json_t *truth,
			const json_t *report)
{
	const json_t *value = json_object_get(report, key);

	compared++;
	if (value && !json_is_integer(value))
		differ("%s: %s is no whole number in the report", what, key);
	else if (number(truth, key) != number(report, key))
		differ("%s: %s is %lld, reported %s%lld", what, key, number(truth, key),
		       value ? "" : "absent, ", number(report, key));
}

/* --- rows ------------------------------------------------------------------- */

/* The keys that identify a row of a table. */
struct table {
	const char *name;
	const char *text_key;	/* NULL if there is none */
	const char *number_key; /* NULL if there is none */
};

static bool same_row(const struct table *table, const json_t *a, const json_t *b)
{
	if (table->text_key && strcmp(text(a, table->text_key), text(b, table->text_key)))
		return false;
	return !table->number_key || number(a, table->number_key) == number(b, table->number_key);
}

static void describe(const struct table *table, const char *owner, const json_t *row, char *out,
		     size_t size)
{
	char id[32] = "";

	if (table->number_key)
		snprintf(id, sizeof(id), "%s%lld", table->text_key ? " " : "",
			 number(row, table->number_key));
	snprintf(out, size, "%s%s%s '%s%s'", owner, *owner ? ", " : "", table->name,
		 table->text_key ? text(row, table->text_key) : "", id);
}

static const json_t *find_row(const struct table *table, const json_t *rows, const json_t *wanted)
{
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row)
		if (same_row(table, row, wanted))
			return row;
	return NULL;
}

/* A row in which nothing happened may be missing. */
static bool is_idle(const json_t *row)
{
	return !number(row, "count") && !number(row, "failed");
}

static void check_extra_rows(const struct table *table, const char *owner, const json_t *truth,
			     const json_t *report)
{
	const json_t *row;
	char what[512];
	size_t i, j;

	json_array_foreach((json_t *)report, i, row) {
		describe(table, owner, row, what, sizeof(what));
		if (!find_row(table, truth, row)) {
			if (!is_idle(row))
				differ("%s: reported %lld times, never happened", what,
				       number(row, "count"));
			continue;
		}
		for (j = 0; j < i; j++)
			if (same_row(table, json_array_get(report, j), row))
				differ("%s: reported twice", what);
	}
}

/*
 * Joins the rows of two arrays and passes each pair to check. owner: the object that contains the
 * arrays, "" at the top.
 */
static void compare_rows(const struct table *table, const char *owner, const json_t *truth,
			 const json_t *report,
			 void (*check)(const char *what, const json_t *truth,
				       const json_t *report))
{
	const json_t *row, *other;
	char what[512];
	size_t i;

	json_array_foreach((json_t *)truth, i, row) {
		describe(table, owner, row, what, sizeof(what));
		other = find_row(table, report, row);
		if (other)
			check(what, row, other);
		else if (!is_idle(row))
			differ("%s: not reported, happened %lld times", what,
			       number(row, "count"));
	}
	check_extra_rows(table, owner, truth, report);
}

/* --- sections --------------------------------------------------------------- */

static const struct table queue_counts = { "queue", NULL, "queue" };
static const struct table op_counts = { "op", "name", NULL };
static const struct table kernels = { "kernel", "name", NULL };
static const struct table copies = { "copies", "direction", "queue" };
static const struct table queues = { "queue", NULL, "id" };
static const struct table allocators = { "memory", "allocator", NULL };

static void check_count(const char *what, const json_t *truth, const json_t *report)
{
	same_number(what, "count", truth, report);
}

/* Leaves out launches outside of any op: a row without a name, which may be missing. */
static json_t *named_only(const json_t *ops)
{
	json_t *named = json_array(), *op;
	size_t i;

	json_array_foreach((json_t *)ops, i, op)
		if (*text(op, "name"))
			json_array_append(named, op);
	return named;
}

static void check_attribution_of(const char *what, const json_t *report)
{
	const json_t *op;
	size_t i;

	json_array_foreach(json_object_get(report, "ops"), i, op) {
		const char *how = text(op, "how");

		if (*text(op, "name") && strcmp(how, "exact") && strcmp(how, "event"))
			differ("%s, op '%s': attributed by '%s'", what, text(op, "name"), how);
	}
}

/* --- several truths --------------------------------------------------------- */

static void add_number(json_t *to, const json_t *from, const char *key)
{
	if (json_object_get(from, key))
		json_object_set_new(to, key, json_integer(number(to, key) + number(from, key)));
}

/* Adds rows to those with the same text, also in nested tables. */
static void add_rows(json_t *to, const json_t *rows, const char *key, const char *inner)
{
	static const char *const sums[] = { "count", "failed", "bytes", "errors" };
	const struct table table = { "", key, NULL };
	const json_t *row;
	json_t *sum;
	size_t i, k;

	json_array_foreach((json_t *)rows, i, row) {
		sum = (json_t *)find_row(&table, to, row);
		if (!sum) {
			sum = json_object();
			json_object_set(sum, key, json_object_get(row, key));
			json_object_set(sum, "how", json_object_get(row, "how"));
			if (inner && json_object_get(row, inner))
				json_object_set_new(sum, inner, json_array());
			json_array_append_new(to, sum);
		}
		for (k = 0; k < sizeof(sums) / sizeof(sums[0]); k++)
			add_number(sum, row, sums[k]);
		if (inner)
			add_rows(json_object_get(sum, inner), json_object_get(row, inner), "name",
				 NULL);
	}
}

static json_t *empty_sum(void)
{
	return json_pack("{s:i, s:[], s:[], s:[]}", "schema", 1, "kernels", "copies", "calls");
}

static void add_up(json_t *sum, const json_t *one)
{
	add_rows(json_object_get(sum, "kernels"), json_object_get(one, "kernels"), "name", "ops");
	add_rows(json_object_get(sum, "copies"), json_object_get(one, "copies"), "direction",
		 NULL);
	add_rows(json_object_get(sum, "calls"), json_object_get(one, "calls"), "name", NULL);
	if (json_object_get(one, "trust"))
		json_object_set(sum, "trust", json_object_get(one, "trust"));
}

static void check_kernel(const char *what, const json_t *truth, const json_t *report)
{
	json_t *ops = named_only(json_object_get(report, "ops"));

	same_number(what, "count", truth, report);
	same_number(what, "failed", truth, report);
	compare_rows(&queue_counts, what, json_object_get(truth, "by_queue"),
		     json_object_get(report, "by_queue"), check_count);
	if (json_object_get(truth, "ops")) {
		compare_rows(&op_counts, what, json_object_get(truth, "ops"), ops, check_count);
		check_attribution_of(what, report);
	}
	json_decref(ops);
}

static void check_copy(const char *what, const json_t *truth, const json_t *report)
{
	same_number(what, "count", truth, report);
	same_number(what, "failed", truth, report);
	if (json_object_get(truth, "bytes"))
		same_number(what, "bytes", truth, report);
}

static void check_queue(const char *what, const json_t *truth, const json_t *report)
{
	const json_t *in_order = json_object_get(truth, "in_order");

	same_number(what, "kernels", truth, report);
	same_number(what, "copies", truth, report);
	compared++;
	if (in_order && !json_equal(in_order, json_object_get(report, "in_order")))
		differ("%s: in_order is not %s", what, json_is_true(in_order) ? "true" : "false");
}

/* The truth names the op that held most memory at the peak, if there was one. */
static void check_allocator(const char *what, const json_t *truth, const json_t *report)
{
	static const char *const keys[] = { "live_bytes", "peak_bytes", "allocations",
					    "allocated_bytes", "frees" };
	const char *ours = json_string_value(json_array_get(json_object_get(truth, "peak_ops"), 0));
	const char *theirs =
		json_string_value(json_array_get(json_object_get(report, "peak_ops"), 0));
	size_t k;

	for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		same_number(what, keys[k], truth, report);
	compared++;
	if (strcmp(ours ? ours : "", theirs ? theirs : ""))
		differ("%s: '%s' held most at the peak, reported '%s'", what, ours ? ours : "",
		       theirs ? theirs : "");
}

static void compare_queues(const json_t *truth, const json_t *report)
{
	const json_t *ours = json_object_get(truth, "queues");
	const json_t *theirs = json_object_get(report, "queues");
	const json_t *row, *other;
	char what[64];
	size_t i;

	compared++;
	if (json_array_size(ours) != json_array_size(theirs))
		differ("queues: there are %zu, reported %zu", json_array_size(ours),
		       json_array_size(theirs));
	json_array_foreach((json_t *)ours, i, row) {
		describe(&queues, "", row, what, sizeof(what));
		other = find_row(&queues, theirs, row);
		if (other)
			check_queue(what, row, other);
		else
			differ("%s: not reported", what);
	}
}

/* Compares only errors: the truth does not know how often a call was made. */
static void compare_calls(const json_t *truth, const json_t *report)
{
	static const struct table calls = { "call", "name", NULL };
	const json_t *ours = json_object_get(truth, "calls");
	const json_t *theirs = json_object_get(report, "calls");
	const json_t *row, *other;
	char what[256];
	size_t i;

	json_array_foreach((json_t *)ours, i, row) {
		describe(&calls, "", row, what, sizeof(what));
		other = find_row(&calls, theirs, row);
		if (other)
			same_number(what, "errors", row, other);
		else if (number(row, "errors"))
			differ("%s: not reported, failed %lld times", what,
			       number(row, "errors"));
	}
	json_array_foreach((json_t *)theirs, i, row)
		if (number(row, "errors") && !find_row(&calls, ours, row))
			differ("call '%s': %lld errors reported, none happened",
			       text(row, "name"), number(row, "errors"));
}

static void compare_run(const json_t *truth, const json_t *report)
{
	const json_t *ours = json_object_get(truth, "run");
	const json_t *theirs = json_object_get(report, "run");

	if (json_object_get(ours, "exit_status"))
		same_number("run", "exit_status", ours, theirs);
	if (json_object_get(ours, "signal"))
		same_number("run", "signal", ours, theirs);
	if (json_object_get(ours, "pid"))
		same_number("run", "pid", ours, theirs);
	compared++;
	if (json_object_get(ours, "command") &&
	    !json_equal(json_object_get(ours, "command"), json_object_get(theirs, "command")))
		differ("run: the command is another one");
}

static void compare_devices(const json_t *truth, const json_t *report)
{
	const json_t *ours = json_object_get(truth, "devices");
	const json_t *theirs = json_object_get(report, "devices");
	static const char *const keys[] = { "name", "kind", "api" };
	size_t i, k;

	compared++;
	if (json_array_size(ours) != json_array_size(theirs)) {
		differ("devices: there are %zu, reported %zu", json_array_size(ours),
		       json_array_size(theirs));
		return;
	}
	for (i = 0; i < json_array_size(ours); i++) {
		const json_t *a = json_array_get(ours, i), *b = json_array_get(theirs, i);

		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (json_object_get(a, keys[k]) &&
			    strcmp(text(a, keys[k]), text(b, keys[k])))
				differ("device %zu: %s is '%s', reported '%s'", i, keys[k],
				       text(a, keys[k]), text(b, keys[k]));
	}
}

/* One row per process. */
static void check_processes(const json_t *report)
{
	static const struct table processes = { "process", NULL, "pid" };
	const json_t *rows = json_object_get(report, "processes");
	const json_t *row;
	size_t i;

	compared++;
	json_array_foreach((json_t *)rows, i, row)
		if (find_row(&processes, rows, row) != row)
			differ("process '%lld': reported twice", number(row, "pid"));
}

static long long work_done(const json_t *truth)
{
	const json_t *row;
	long long sum = 0;
	size_t i;

	json_array_foreach(json_object_get(truth, "kernels"), i, row)
		sum += number(row, "count");
	json_array_foreach(json_object_get(truth, "copies"), i, row)
		sum += number(row, "count");
	return sum;
}

static void check_trust(const json_t *truth, const json_t *report)
{
	static const char *const losses[] = { "lost_events", "lost_packets" };
	static const char *const weak[] = { "fifo", "guess", "none" };
	const json_t *trust = json_object_get(report, "trust");
	const json_t *how = json_object_get(trust, "attribution");
	long long known = number(how, "exact") + number(how, "event");
	size_t i;

	compared += 7;
	for (i = 0; i < 2; i++)
		if (!json_is_integer(json_object_get(trust, losses[i])))
			differ("trust: %s is absent", losses[i]);
		else if (number(trust, losses[i]))
			differ("trust: %s is %lld", losses[i], number(trust, losses[i]));
	for (i = 0; i < 3; i++)
		if (number(how, weak[i]))
			differ("trust: %lld commands attributed by '%s'", number(how, weak[i]),
			       weak[i]);
	/* markers and barriers are attributed too, but appear in no table */
	if (known < work_done(truth))
		differ("trust: %lld commands attributed, %lld were run", known, work_done(truth));
	if (!json_is_true(json_object_get(trust, "settled")))
		differ("trust: the report is not settled");
}

static void compare_all(const json_t *truth, const json_t *report, const struct table *copy_table)
{
	if (json_object_get(truth, "run"))
		compare_run(truth, report);
	if (json_object_get(truth, "devices"))
		compare_devices(truth, report);
	if (json_object_get(truth, "queues"))
		compare_queues(truth, report);
	if (json_object_get(truth, "kernels"))
		compare_rows(&kernels, "", json_object_get(truth, "kernels"),
			     json_object_get(report, "kernels"), check_kernel);
	if (json_object_get(truth, "copies"))
		compare_rows(copy_table, "", json_object_get(truth, "copies"),
			     json_object_get(report, "copies"), check_copy);
	if (json_object_get(truth, "memory"))
		compare_rows(&allocators, "", json_object_get(truth, "memory"),
			     json_object_get(report, "memory"), check_allocator);
	if (json_object_get(truth, "calls"))
		compare_calls(truth, report);
	if (json_object_get(truth, "steps"))
		same_number("steps", "count", json_object_get(truth, "steps"),
			    json_object_get(report, "steps"));
	check_processes(report);
	check_trust(truth, report);
}

static json_t *load_of_schema(const char *path)
{
	json_t *root = load(path);

	if (number(root, "schema") != 1) {
		fprintf(stderr, "compare: '%s': not of schema 1\n", path);
		exit(2);
	}
	return root;
}

static int compare_sums(int n_truths, char **truths, const char *report)
{
	static const struct table by_direction = { "copies", "direction", NULL };
	json_t *ours = empty_sum(), *theirs = empty_sum(), *one;
	int i;

	for (i = 0; i < n_truths; i++) {
		one = load_of_schema(truths[i]);
		add_up(ours, one);
		json_decref(one);
	}
	one = load_of_schema(report);
	add_up(theirs, one);
	json_decref(one);
	compare_all(ours, theirs, &by_direction);
	json_decref(ours);
	json_decref(theirs);
	return differences ? 1 : 0;
}

int main(int argc, char **argv)
{
	json_t *truth, *report;

	if (argc > 3 && !strcmp(argv[1], "--sum"))
		return compare_sums(argc - 3, argv + 2, argv[argc - 1]);
	if (argc != 3) {
		fputs("usage: compare TRUTH REPORT | compare --sum TRUTH... REPORT\n", stderr);
		return 2;
	}
	truth = load_of_schema(argv[1]);
	report = load_of_schema(argv[2]);
	compare_all(truth, report, &copies);
	json_decref(truth);
	json_decref(report);
	if (!differences)
		printf("%u numbers equal\n", compared);
	return differences ? 1 : 0;
}
