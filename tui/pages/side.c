/* SPDX-License-Identifier: MIT */
#include "tui/pages/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/time.h"
#include "tui/base/json_read.h"
#include "tui/table/steps.h"
#include "tui/draw/places.h"
#include "tui/pages/range_take.h"

#define DEVICES 8			/* most devices whose times are listed separately */

void side_release(struct side *side)
{
	for (size_t i = 0; i < side->n_kept; i++)
		free(side->kept[i]);
	free(side->kept);
	free(side->items);
	json_free(side->report);
	*side = (struct side) { .items = NULL };
}

bool side_has(const struct side *side, enum side_table table)
{
	for (size_t i = 0; i < side->n; i++)
		if (side->items[i].table == table)
			return true;
	return false;
}

int64_t side_sum(const struct side *side, enum side_table table)
{
	int64_t sum = 0;

	for (size_t i = 0; i < side->n; i++)
		if (side->items[i].table == table)
			sum += side->items[i].ns;
	return sum;
}

static const char *keep(struct side *side, char *text)
{
	grow(&side->kept, &side->cap_kept, side->n_kept, sizeof(*side->kept));
	side->kept[side->n_kept++] = text;
	return text;
}

static struct side_item *side_add_item(struct side *side, enum side_table table, const char *name)
{
	grow(&side->items, &side->cap, side->n, sizeof(*side->items));
	side->items[side->n] = (struct side_item) { .table = table, .name = name };
	return &side->items[side->n++];
}

/* ---- of a range ---- */

static void side_add_classes(struct side *side, struct model *model)
{
	struct step_breakdown parts;
	bool known;

	model_lock(model);
	known = side->when.is_step && model_step_breakdown(model, side->when.t0, &parts);
	model_unlock(model);
	for (int c = 0; c < STEP_CLASS_COUNT && known; c++)
		side_add_item(side, SIDE_CLASS, step_class_name((enum step_class)c))->ns =
			parts.ns[c];
}

/* Adds "idle: input"; with several devices "gpu1 idle: input". */
static void side_add_share(struct side *side, const char *label, const char *what, int64_t ns)
{
	char *name = xasprintf("%s%s%s", label, *label ? " " : "", what);

	side_add_item(side, SIDE_DEVICE, keep(side, name))->ns = ns;
}

static void side_add_device(struct side *side, struct model *model, const struct device_row *device,
			    const char *label)
{
	struct idle_gap idle;
	struct device_row row;
	bool known, why;
	char text[32];

	model_lock(model);
	known = model_device_window(model, device->id, side->when.t0, side->when.t1, &row);
	why = model_idle_window(model, device->id, side->when.t0, side->when.t1, &idle);
	model_unlock(model);
	if (!known)
		return;
	side_add_share(side, label, "kernels", row.kernel_ns);
	side_add_share(side, label, "copies", row.busy_ns - row.kernel_ns);
	if (!why)
		side_add_share(side, label, "idle", row.span_ns - row.busy_ns);
	for (int c = 0; c < IDLE_COUNT && why; c++) {
		snprintf(text, sizeof(text), "idle: %s", idle_name((enum idle_cause)c));
		side_add_share(side, label, text, idle.ns[c]);
	}
}

static void side_add_devices(struct side *side, struct model *model)
{
	struct device_row *rows;
	size_t n, used = 0, shown = 0;
	char label[12];

	model_lock(model);
	n = model_devices(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < n; i++)
		used += rows[i].busy_ns > 0;
	for (size_t i = 0; i < n && shown < DEVICES; i++) {
		if (rows[i].busy_ns <= 0)
			continue;
		shown++;
		places_device_label(label, sizeof(label), rows, n, rows[i].id);
		side_add_device(side, model, &rows[i], used > 1 ? label : "");
	}
	free(rows);
}

static size_t side_walk_report(struct side *side, struct model *model, struct turns *turns,
			       struct range_part **parts)
{
	struct range_ask ask = {
		.model = model, .t0 = side->when.t0, .t1 = side->when.t1, .most = SIDE_SPANS_MAX,
		.expected = SIDE_SPANS_MAX, .turns = turns, .by = RANGE_BY_ALL,
	};
	struct step_list steps = { .rows = NULL };
	const char *all;
	size_t n = range_take(&ask, parts, &side->state);

	model_lock(model);
	model_steps_update(model, &steps);
	model_unlock(model);
	/* "step 12" and "step 13" count as one range; otherwise no range of one step would occur in
	 * the other */
	for (size_t i = 0; i < n; i++) {
		struct range_part *part = &(*parts)[i];

		if (part->kind == RANGE_OP && steps_name(&steps.stats, part->name, &all))
			part->name = part->raw_name = all;
		if (part->op && steps_name(&steps.stats, part->op, &all))
			part->op = all;
	}
	step_list_release(&steps);
	return n;
}

static struct range_part *folded(const struct range_part *parts, size_t *n, unsigned by)
{
	struct range_part *copy = xcalloc(*n ? *n : 1, sizeof(*copy));

	if (*n)
		memcpy(copy, parts, *n * sizeof(*copy));
	*n = range_fold(copy, *n, by);
	return copy;
}

static void side_add_parts(struct side *side, enum side_table table, enum range_kind kind,
			   const struct range_part *parts, size_t n, unsigned by)
{
	struct range_part *list = folded(parts, &n, by);

	for (size_t i = 0; i < n; i++) {
		const struct range_part *part = &list[i];
		struct side_item *item;

		if (part->kind != kind)
			continue;
		item = side_add_item(side, table, kind != RANGE_COPY ? part->name :
				     part->direction ? direction_name(part->direction) : "other");
		*item = (struct side_item) {
			.table = table, .name = item->name, .shape = part->shape,
			.raw = kind == RANGE_COPY ? NULL : part->raw_name,
			.count_milli = part->count * 1000, .bytes = part->bytes,
				.ns = part->self_ns,
		};
	}
	free(list);
}

static int by_op(const void *a, const void *b)
{
	const char *x = ((const struct range_part *)a)->op, *y = ((const struct range_part *)b)->op;

	return !x || !y ? (x != NULL) - (y != NULL) : strcmp(x, y);
}

/* Kernels and copies that belong to one op are one item. */
static void side_add_launched(struct side *side, const struct range_part *parts, size_t n)
{
	struct range_part *list = folded(parts, &n, RANGE_BY_OP);
	struct side_item *item = NULL;
	const struct range_part *last = NULL;

	if (n)
		qsort(list, n, sizeof(*list), by_op);
	for (size_t i = 0; i < n; i++) {
		if (list[i].kind != RANGE_KERNEL && list[i].kind != RANGE_COPY)
			continue;
		if (!last || by_op(last, &list[i])) {
			item = side_add_item(side, SIDE_OP_DEVICE,
					     list[i].op ? list[i].op : "(in no op)");
			item->raw = list[i].op;
		}
		last = &list[i];
		item->count_milli += list[i].count * 1000;
		item->bytes += list[i].bytes;
		item->ns += list[i].time_ns;
	}
	free(list);
}

void side_of_range(struct side *side, struct model *model, const struct when *when,
		   struct turns *turns)
{
	struct range_part *parts;
	size_t n;

	*side = (struct side) { .when = *when, .length_ns = when->t1 - when->t0 };
	snprintf(side->title, sizeof(side->title), "%s", when->title);
	side_add_classes(side, model);
	side_add_devices(side, model);
	n = side_walk_report(side, model, turns, &parts);
	side_add_launched(side, parts, n);
	side_add_parts(side, SIDE_OP_HOST, RANGE_OP, parts, n, RANGE_BY_NAME | RANGE_BY_SHAPE);
	side_add_parts(side, SIDE_KERNEL, RANGE_KERNEL, parts, n, RANGE_BY_NAME | RANGE_BY_SHAPE);
	side_add_parts(side, SIDE_COPY, RANGE_COPY, parts, n, RANGE_BY_DIRECTION);
	side_add_parts(side, SIDE_COMPILE, RANGE_COMPILE, parts, n, RANGE_BY_NAME);
	free(parts);
}

/* ---- of a report ---- */

/* The mean per step, multiplied by `times`. */
static uint64_t per_step(const struct side *side, int64_t sum, unsigned times)
{
	uint64_t value = sum > 0 ? (uint64_t)sum : 0;

	return side->per ? (uint64_t)((__uint128_t)value * times / side->per) : value * times;
}

struct report_table {
	const char *member, *name, *raw, *count, *ns, *bytes;
	enum side_table table;
};

static void side_add_table(struct side *side, const struct report_table *t)
{
	const struct json_node *list = json_get(side->report, t->member);

	for (const struct json_node *at = list ? list->child : NULL; at; at = at->next) {
		const char *name = json_get_text(at, t->name, NULL);
		int64_t ns = json_get_int(at, t->ns, 0);
		struct side_item *item;

		if (!name || at->type != JSON_OBJECT || (ns <= 0 && t->table != SIDE_COPY))
			continue;
		item = side_add_item(side, t->table, name);
		item->raw = t->raw ? json_get_text(at, t->raw, name) : NULL;
		item->count_milli = per_step(side, json_get_int(at, t->count, 0), 1000);
		item->ns = (int64_t)per_step(side, ns, 1);
		item->bytes = t->bytes ? per_step(side, json_get_int(at, t->bytes, 0), 1) : 0;
	}
}

/* Rows with the same name (of several queues or devices) are one item. */
static int by_table_and_name(const void *a, const void *b)
{
	const struct side_item *x = a, *y = b;

	return x->table != y->table ? (x->table < y->table ? -1 : 1) : strcmp(x->name, y->name);
}

static void merge_items(struct side *side)
{
	size_t kept = 0;

	if (side->n)
		qsort(side->items, side->n, sizeof(*side->items), by_table_and_name);
	for (size_t i = 0; i < side->n; i++) {
		struct side_item *last = kept ? &side->items[kept - 1] : NULL;

		if (!last || by_table_and_name(last, &side->items[i])) {
			side->items[kept++] = side->items[i];
			continue;
		}
		last->count_milli += side->items[i].count_milli;
		last->bytes += side->items[i].bytes;
		last->ns += side->items[i].ns;
	}
	side->n = kept;
}

/* "sleep in load, loader.py": lines are not the same in two versions of a program. */
static void side_add_host(struct side *side, const struct json_node *row)
{
	const char *state = json_get_text(row, "state", ""), *what = json_get_text(row, "what", "");
	const char *function = json_get_text(row, "function", "");
	const char *file = path_last(json_get_text(row, "file", ""));
	char *name;

	if (*function)
		name = xasprintf("%s in %s, %s", state, function, file);
	else if (*what && !strcmp(state, doing_name(DOING_NATIVE)))
		name = xasprintf("%s in %s", state, what);
	else
		name = xstrdup(state);
	side_add_item(side, SIDE_HOST, keep(side, name))->ns = json_get_int(row, "ns", 0);
}

static void side_add_means(struct side *side, const struct json_node *breakdown)
{
	const struct json_node *host = breakdown ? json_get(breakdown, "host") : NULL;
	char key[32];

	for (int c = 0; c < STEP_CLASS_COUNT && breakdown; c++) {
		const char *name = step_class_name((enum step_class)c);

		snprintf(key, sizeof(key), "%s_ns", name);
		side_add_item(side, SIDE_CLASS, name)->ns = json_get_int(breakdown, key, 0);
	}
	for (const struct json_node *at = host ? host->child : NULL; at; at = at->next)
		side_add_host(side, at);
}

static void side_add_report_device(struct side *side, const struct json_node *device,
				   const char *label)
{
	const struct json_node *idle = json_get(device, "idle");
	int64_t kernels = json_get_int(device, "kernel_ns", 0), ns;
	char text[32], key[32];

	side_add_share(side, label, "kernels", (int64_t)per_step(side, kernels, 1));
	side_add_share(side, label, "copies", (int64_t)per_step(side,
								json_get_int(device, "busy_ns", 0) -
								kernels, 1));
	for (int c = 0; c < IDLE_COUNT && idle; c++) {
		const char *name = idle_name((enum idle_cause)c);

		snprintf(key, sizeof(key), "%s_ns", name);
		snprintf(text, sizeof(text), "idle: %s", name);
		ns = json_get_int(idle, key, 0);
		if (c == IDLE_OTHER)	/* in a report, this includes the time of the host */
			ns -= json_get_int(idle, "host_ns", 0);
		side_add_share(side, label, text, (int64_t)per_step(side, ns, 1));
	}
}

static void side_add_report_devices(struct side *side)
{
	const struct json_node *list = json_get(side->report, "devices");
	size_t used = 0, shown = 0;
	char label[24];

	for (const struct json_node *at = list ? list->child : NULL; at; at = at->next)
		used += json_get_int(at, "busy_ns", 0) > 0;
	for (const struct json_node *at = list ? list->child : NULL; at && shown < DEVICES;
	     at = at->next) {
		if (json_get_int(at, "busy_ns", 0) <= 0)
			continue;
		snprintf(label, sizeof(label), "device %zu", shown++);
		side_add_report_device(side, at, used > 1 ? label : "");
	}
}

bool side_of_report(struct side *side, struct json_node *report, const char *title, char *error,
		    size_t size)
{
	static const struct report_table tables[] = {
		{ "ops", "name", "raw_name", "count", "device_ns", NULL, SIDE_OP_DEVICE },
		{ "ops", "name", "raw_name", "count", "self_ns", NULL, SIDE_OP_HOST },
		{ "kernels", "name", "raw_name", "count", "total_ns", NULL, SIDE_KERNEL },
		{ "copies", "direction", NULL, "count", "total_ns", "bytes", SIDE_COPY },
		{ "compiles", "what", NULL, "count", "total_ns", NULL, SIDE_COMPILE },
	};
	const struct json_node *steps = json_get(report, "steps");

	*side = (struct side) { .report = report, .is_report = true };
	snprintf(side->title, sizeof(side->title), "%s", title);
	if (!json_get(report, "tftop") || !json_get(report, "kernels")) {
		snprintf(error, size, "no report of tftop (--json=FILE writes one)");
		side_release(side);
		return false;
	}
	side->per = (uint64_t)json_get_int(steps, "count", 0);
	side->length_ns = json_get_int(steps, "mean_ns", 0);
	side->state.whole = true;
	side_add_means(side, json_get(steps, "breakdown"));
	side_add_report_devices(side);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		side_add_table(side, &tables[i]);
	merge_items(side);
	return true;
}
