/* SPDX-License-Identifier: MIT */
/*
 * lt: tensors that moved, as far as it was reported: messages between devices and processes, data
 * passed from op to op, copies by the op that requested them, and inputs that ops reported. pt: one
 * of them in full.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/flows.h"
#include "model/query/lines.h"
#include "tui/draw/labels.h"
#include "tui/lists/list_internal.h"

#define DETAILED_OPS 256u		/* number of ops whose shapes are queried */
#define DETAILED_ONCE 8u		/* ops that are queried while the lock is held once */
#define SHAPE_WIDTH 40
#define NAME_WIDTH 28

enum tensor_kind { TENSOR_MESSAGE, TENSOR_EDGE, TENSOR_COPY, TENSOR_INPUT, TENSOR_KINDS };
static const char *const kind_names[] = { "message", "edge", "copy", "input" };

static const struct list_flag flags[] = {
	{ 'n', "node_name_filter", LIST_REGEX, "name", NULL },
	{ 't', "shape_filter", LIST_REGEX, "shape", NULL },
	{ 'p', "op_filter", LIST_REGEX, "op", NULL },
	{ 'k', "kind", LIST_WORD, "kind", "message edge copy input" },
	{ 'b', "bytes", LIST_SIZES, "each", NULL },
	LIST_FLAG_WHERE,
	LIST_FLAGS_COMMON,
};

static const struct list_column columns[] = {
	{ .key = "bytes", .sum = LIST_SUM },
	{ .key = "each" },
	{ .key = "count", .sum = LIST_SUM },
	{ .key = "latency", .title = "latency p50" },
	{ .key = "kind" },
	{ .key = "from" },
	{ .key = "to" },
	{ .key = "producer" },
	{ .key = "consumer" },
	{ .key = "shape" },
	{ .key = "tensor", .sum = LIST_SUM_TEXT },
};

const struct list_kind list_tensors_kind = LIST_KIND(flags, columns, 0);

/* The strings belong to the model or to the list. */
struct tensor {
	enum tensor_kind kind;
	const char *name, *shape, *producer, *consumer, *from, *to;	/* NULL if unknown */
	uint64_t count;
	int64_t bytes;			/* -1 if unknown */
	/* time since its producer ended or since it was sent; -1 if unknown */
	int64_t p50_ns, p99_ns;
};

struct lt {
	struct tensor *tensors;		/* owned */
	size_t n, cap;
	struct list_copies copies;
	size_t ops_left;		/* number of ops whose shapes were not queried */
	struct list list;
};

static struct tensor *list_tensors_add(struct lt *lt, enum tensor_kind kind, const char *name)
{
	struct tensor *tensor;

	grow(&lt->tensors, &lt->cap, lt->n, sizeof(*lt->tensors));
	tensor = &lt->tensors[lt->n++];
	*tensor = (struct tensor) {
		.kind = kind, .name = name, .bytes = -1, .p50_ns = -1, .p99_ns = -1,
	};
	return tensor;
}

/* ---- shapes ---- */

static int bytes_of_type(const char *text, const char **end)
{
	int bits = 0;

	while (isalpha((unsigned char)*text)) {
		if (!strncmp(text, "bool", 4)) {
			*end = text + 4;
			return 1;
		}
		text++;
	}
	while (isdigit((unsigned char)*text) && bits < 1000)
		bits = bits * 10 + (*text++ - '0');
	while (isalnum((unsigned char)*text))
		text++;
	*end = text;
	return bits % 8 ? 0 : bits / 8;
}

/* Total size of "[64, 3, 32] f32, [3] i64" in bytes; -1 if the size of a part is unknown. */
static int64_t bytes_of_shapes(const char *text)
{
	int64_t sum = 0;

	while (*text) {
		int64_t one = 1;

		if (*text++ != '[')
			return -1;
		while (*text != ']') {
			char *end;
			long long n = strtoll(text, &end, 10);

			if (end == text || n < 0 || __builtin_mul_overflow(one, n, &one))
				return -1;
			text = end + strspn(end, ", ");
		}
		text += 1 + strspn(text + 1, " ");
		if (__builtin_mul_overflow(one, bytes_of_type(text, &text), &one) ||
		    (!one && !strchr(text, '0')) || __builtin_add_overflow(sum, one, &sum))
			return -1;
		text += strspn(text, ", ");
	}
	return sum;
}

/* ---- what there is ---- */

static void list_tensors_take_flows(struct lt *lt, struct model *model)
{
	struct flow_row *rows;
	size_t n = model_flows(model, &rows);

	for (size_t i = 0; i < n; i++) {
		struct tensor *t = list_tensors_add(lt, TENSOR_MESSAGE,
						    rows[i].key ? rows[i].key : "(no name)");

		t->count = rows[i].sent > rows[i].received ? rows[i].sent : rows[i].received;
		t->bytes = rows[i].sent ? (int64_t)rows[i].bytes : -1;
		t->from = rows[i].source;
		t->to = rows[i].destination;
		t->p50_ns = rows[i].latency_p50_ns;
		t->p99_ns = rows[i].latency_p99_ns;
	}
	free(rows);
}

static void list_tensors_take_edges(struct lt *lt, struct model *model)
{
	struct edge_row *rows;
	size_t n = model_edges(model, &rows);

	for (size_t i = 0; i < n; i++) {
		const char *source = rows[i].source ? rows[i].source : "?";
		struct tensor *t = list_tensors_add(lt, TENSOR_EDGE, rows[i].key ? rows[i].key :
						    list_keep(&lt->list, "%s → %s", source,
							      rows[i].destination ?
							      rows[i].destination : "?"));

		t->count = rows[i].count;
		t->bytes = rows[i].bytes ? (int64_t)rows[i].bytes : -1;
		t->producer = rows[i].source;
		t->consumer = rows[i].destination;
		t->p50_ns = rows[i].latency_p50_ns;
		t->p99_ns = rows[i].latency_p99_ns;
	}
	free(rows);
}

/* For copies between devices: the other device, if all copies on that queue go to the same one. */
static const char *peer_of(struct lt *lt, const struct copy_row *rows, size_t n,
			   const struct range_part *part)
{
	uint32_t peer = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].queue != part->queue || rows[i].direction != DIR_P2P)
			continue;
		if (peer != UINT32_MAX && peer != rows[i].peer)
			return "several devices";
		peer = rows[i].peer;
	}
	return list_device(&lt->list, &lt->copies.places, peer);
}

static void list_tensors_take_copies(struct lt *lt, const struct copy_row *rows, size_t n)
{
	for (size_t i = 0; i < lt->copies.n; i++) {
		const struct range_part *part = &lt->copies.parts[i];
		const char *device = list_device(&lt->list, &lt->copies.places, part->device);
		struct tensor *t;

		if (!part->op || part->direction == DIR_FILL || part->direction == DIR_UNMAP)
			continue;
		t = list_tensors_add(lt, TENSOR_COPY, part->op);
		t->count = part->count;
		t->bytes = (int64_t)part->bytes;
		t->from = part->direction == DIR_H2D ||
			part->direction == DIR_H2H ? "host" : device;
		t->to = part->direction == DIR_D2H || part->direction == DIR_H2H ||
			part->direction == DIR_MAP ? "host" :
			part->direction == DIR_P2P ? peer_of(lt, rows, n, part) : device;
		*(part->direction == DIR_H2D ? &t->consumer : &t->producer) = part->op;
	}
}

static void list_tensors_take_shapes(struct lt *lt, const struct op_row *op,
				     const struct op_detail *detail)
{
	for (size_t i = 0; i < detail->n_shapes; i++) {
		const struct op_shape *shape = &detail->shapes[i];
		struct tensor *t;
		int64_t each;

		if (!shape->shapes)
			continue;
		t = list_tensors_add(lt, TENSOR_INPUT, op->name);
		each = bytes_of_shapes(shape->shapes);
		t->shape = shape->shapes;
		t->consumer = op->raw_name;
		t->count = shape->count;
		if (each >= 0 && !__builtin_mul_overflow(each, (int64_t)shape->count, &each))
			t->bytes = each;
	}
}

/* Queries the inputs of the ops that take most time, a few at a time, because each query scans all
 * ops. */
static void list_tensors_take_inputs(struct lt *lt, struct model *model)
{
	struct op_row *ops;
	size_t n, asked = 0;

	model_lock(model);
	n = model_ops(model, &ops);
	for (size_t i = 0; i < n; i++) {
		struct op_detail detail;

		if (!ops[i].detailed)
			continue;
		if (asked++ >= DETAILED_OPS) {
			lt->ops_left++;
			continue;
		}
		if (model_op_detail(model, ops[i].raw_name, ops[i].type, ops[i].framework,
				    &detail)) {
			list_tensors_take_shapes(lt, &ops[i], &detail);
			op_detail_free(&detail);
		}
		if (asked % DETAILED_ONCE == 0) {
			model_unlock(model);
			model_lock(model);
		}
	}
	model_unlock(model);
	free(ops);
}

static void list_tensors_take_all(struct lt *lt, const struct page_call *call)
{
	struct copy_row *rows;
	size_t n;

	list_begin(&lt->list, &list_tensors_kind);
	model_lock(call->model);
	list_tensors_take_flows(lt, call->model);
	list_tensors_take_edges(lt, call->model);
	n = model_copies(call->model, &rows);
	model_unlock(call->model);
	list_copies_take(&lt->copies, call);
	list_tensors_take_copies(lt, rows, n);
	free(rows);
	list_tensors_take_inputs(lt, call->model);
}

static void release(struct lt *lt)
{
	list_copies_release(&lt->copies);
	list_release(&lt->list);
	free(lt->tensors);
}

/* ---- lt ---- */

static int64_t each_of(const struct tensor *t)
{
	return t->bytes >= 0 && t->count ? t->bytes / (int64_t)t->count : -1;
}

static enum filter_known of_tensor(const void *arg, enum filter_field by,
				   struct filter_value *value)
{
	const struct tensor *t = arg;

	switch (by) {
	case FILTER_BY_NAME: return filter_words(value, t->name, NULL);
	case FILTER_BY_OP: return filter_words(value, t->producer, t->consumer);
	case FILTER_BY_TYPE: return filter_words(value, kind_names[t->kind], NULL);
	case FILTER_BY_KIND:
		return filter_number_if(value, FILTER_COPY, t->kind == TENSOR_COPY);
	case FILTER_BY_DEVICE: return filter_words(value, t->from, t->to);
	case FILTER_BY_BYTES: return filter_number_if(value, t->bytes, t->bytes >= 0);
	case FILTER_BY_COUNT: return filter_number(value, (int64_t)t->count);
	case FILTER_BY_P50: return filter_number_if(value, t->p50_ns, t->p50_ns >= 0);
	case FILTER_BY_P99: return filter_number_if(value, t->p99_ns, t->p99_ns >= 0);
	default: return FILTER_UNKNOWN;
	}
}

static bool list_tensors_row_fits(const struct list_options *options, const struct tensor *t)
{
	const struct list_given *kind = list_given(options, 'k');

	return list_matches(options, 'n', t->name, NULL) &&
	       list_matches(options, 't', t->shape, NULL) &&
	       list_matches(options, 'p', t->producer, t->consumer) &&
	       (!kind || !strcmp(kind->text, kind_names[t->kind])) &&
	       (!list_given(options, 'b') || (each_of(t) >= 0 &&
					      list_within(options, 'b', each_of(t)))) &&
	       list_wants(options, of_tensor, t);
}

static void list_tensors_add_short(struct list *list, const char *text, int width,
				   const char *command)
{
	char fitted[LABEL_MAX];
	struct list_cell *cell;

	if (!text) {
		list_add(list, LIST_NONE, 0);
		return;
	}
	label_fit_middle(fitted, sizeof(fitted), text, width, false);
	cell = list_name(list, list_keep(list, "%s", fitted));
	if (command)
		list_link(cell, command, text);
}

static void list_tensors_add_row(struct list *list, const struct tensor *t)
{
	list_add(list, t->bytes >= 0 ? LIST_BYTES : LIST_NONE, t->bytes);
	list_add(list, each_of(t) >= 0 ? LIST_BYTES : LIST_NONE, each_of(t));
	list_add(list, LIST_COUNT, (int64_t)t->count);
	list_time(list, t->p50_ns, t->p50_ns >= 0, false);
	list_name(list, kind_names[t->kind]);
	list_tensors_add_short(list, t->from, NAME_WIDTH, NULL);
	list_tensors_add_short(list, t->to, NAME_WIDTH, NULL);
	list_tensors_add_short(list, t->producer, NAME_WIDTH, "ni");
	list_tensors_add_short(list, t->consumer, NAME_WIDTH, "ni");
	list_tensors_add_short(list, t->shape, SHAPE_WIDTH, NULL);
	list_link(list_name(list, t->name), "pt", t->name);
}

static void list_tensors_say_sources(struct page *page, const struct lt *lt)
{
	if (lt->n)
		page_say(page, ROLE_MUTED, 0, "message: between devices or processes; edge: from "
			 "op to op; copy: launched by an op; input: shapes that an op reported, "
			 "and how often it ran with them");
	else
		page_say(page, ROLE_MUTED, 0, "messages come from the tensorflow probe, shapes "
			 "from the pytorch probe, copies that ops launched from the probes of "
			 "devices");
	if (lt->ops_left)
		page_say(page, ROLE_WARN, 0, "inputs of %zu more ops are not listed: ni OP shows "
			 "them", lt->ops_left);
}

bool page_list_tensors(const struct page_call *call, struct page *page)
{
	struct list_options options;
	struct lt lt = { .n = 0 };

	if (!list_parse(call, &list_tensors_kind, &options))
		return false;
	list_tensors_take_all(&lt, call);
	lt.list.by = "bytes";
	lt.list.empty = "no tensor was seen to move; ri says which probes are active";
	for (size_t i = 0; i < lt.n; i++)
		if (list_tensors_row_fits(&options, &lt.tensors[i]))
			list_tensors_add_row(&lt.list, &lt.tensors[i]);
	list_print(&lt.list, call, &options, "tensors that moved", lt.n, page);
	list_tensors_say_sources(page, &lt);
	release(&lt);
	list_options_release(&options);
	return true;
}

/* ---- pt ---- */

static void field(struct page *page, const char *label, const char *text, const char *command)
{
	const char *argv[] = { command, text };

	if (!text)
		return;
	page_add(page, ROLE_MUTED, 0, "%-9s", label);
	if (command)
		page_link(page, text, 2, argv);
	else
		page_add(page, ROLE_DEFAULT, 0, "%s", text);
	page_end(page);
}

static void list_tensors_add_amounts(struct page *page, const struct tensor *t)
{
	char text[FMT_MAX], p99[FMT_MAX];

	page_add(page, ROLE_MUTED, 0, "%-9s", "moved");
	page_add(page, ROLE_DEFAULT, 0, "%s", fmt_many(text, t->count, "time"));
	if (t->bytes >= 0)
		page_add(page, ROLE_DEFAULT, 0, "   %s", fmt_all_bytes(text, (uint64_t)t->bytes));
	if (each_of(t) >= 0)
		page_add(page, ROLE_DEFAULT, 0, "   each %s",
			 fmt_all_bytes(text, (uint64_t)each_of(t)));
	page_end(page);
	if (t->p50_ns < 0)
		return;
	page_add(page, ROLE_MUTED, 0, "%-9s", "latency");
	page_say(page, ROLE_DEFAULT, 0, "p50 ≈%s   p99 ≈%s", fmt_time(text, t->p50_ns),
		 fmt_time(p99, t->p99_ns));
}

static void list_tensors_add_tensor(struct page *page, const struct tensor *t)
{
	const char *flows[] = { "flows" }, *copies[] = { "pc", t->name };

	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_TITLE, ATTR_BOLD, "%s", t->name);
	field(page, "kind", kind_names[t->kind], NULL);
	field(page, "shape", t->shape, NULL);
	field(page, "producer", t->producer, "ni");
	field(page, "consumer", t->consumer, "ni");
	field(page, "from", t->from, NULL);
	field(page, "to", t->to, NULL);
	list_tensors_add_amounts(page, t);
	if (t->kind != TENSOR_MESSAGE && t->kind != TENSOR_COPY)
		return;
	page_add(page, ROLE_MUTED, 0, "%-9s", "more");
	if (t->kind == TENSOR_COPY)
		page_link(page, "its copies", 2, copies);
	else
		page_link(page, "all messages", 1, flows);
	page_end(page);
}

static bool is_called(const struct tensor *t, const char *name, bool whole)
{
	return whole ? !strcmp(t->name, name) : strstr(t->name, name) != NULL;
}

static size_t count_called(const struct lt *lt, const char *name, bool whole)
{
	size_t n = 0;

	for (size_t i = 0; i < lt->n; i++)
		n += is_called(&lt->tensors[i], name, whole);
	return n;
}

bool page_tensor(const struct page_call *call, struct page *page)
{
	const char *name = call->argv[1];
	struct lt lt = { .n = 0 };
	bool whole;
	size_t n;

	list_tensors_take_all(&lt, call);
	whole = count_called(&lt, name, true) > 0;
	n = count_called(&lt, name, whole);
	if (n)
		page_say(page, ROLE_MUTED, 0, "No probe collects the values of tensors; this is "
			 "what is known of '%s':", name);
	for (size_t i = 0; i < lt.n; i++)
		if (is_called(&lt.tensors[i], name, whole))
			list_tensors_add_tensor(page, &lt.tensors[i]);
	if (!n)
		snprintf(call->error, call->error_size, lt.n ?
			 "no tensor that moved has '%.80s' in its name; lt lists them" :
			 "no tensor was seen to move, none is called '%.80s'; lt says why", name);
	release(&lt);
	return n > 0;
}
