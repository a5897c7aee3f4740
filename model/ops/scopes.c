/* SPDX-License-Identifier: MIT */
/*
 * Ops by the scope that they are in, as rows of a tree; see query/optree.h.
 *
 * A scope is a part of a name ("block1" of the node block1/conv/Conv2D), or a function of the
 * user's in which the op was called. The reported stacks tell which function called which: a
 * function with the same caller in all stacks is below its caller, others are at the top, so that
 * the content of a function is exact in any case. An op that modules (torch.nn.Module) ran is in
 * the nested scopes of these modules, as each call reports them.
 */
#include "model/base/hash.h"
#include "model/idents/idents.h"
#include "model/lines/lines.h"
#include "model/ops/optree_internal.h"
#include "model/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define PARTS_MAX 64u		/* parts of a path; deeper parts belong to the last one */
#define SEVERAL (NONE - 1)	/* callers */

enum part_kind { PART_NAME, PART_FUNCTION, PART_MODULE, PART_OP };

/* The properties that distinguish a node from its siblings. */
struct scope_part {
	enum part_kind kind;
	const char *text, *file;	/* borrowed; file: of a function */
	size_t length;
	uint64_t op;			/* name, type and framework */
};

struct scope_node {
	struct scope_part part;
	struct optree_row row;
	uint32_t first, next;
	uint32_t ops, below;		/* children */
};

struct function {
	const char *file, *name;
	uint32_t caller;		/* NONE, SEVERAL */
	uint32_t node;			/* NONE: none yet */
	bool busy;			/* its callers are being searched */
};

struct scopes {
	struct model *model;
	struct scope_node *nodes;	/* owned; parents before children */
	size_t n, cap;
	struct map by_part;
	struct function *functions;	/* owned */
	size_t n_functions, functions_cap;
	struct map by_function;
	bool device;			/* any device time */
};

/* ---- nodes ---- */

static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
	return map_mix(hash_bytes(hash, text, length));
}

static bool same_part(const struct scope_part *a, const struct scope_part *b)
{
	return a->kind == b->kind && a->file == b->file && a->op == b->op &&
	       a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static uint32_t scope_node_get(struct scopes *s, uint32_t parent, const struct scope_part *part)
{
	uint64_t id = hash_text(parent == OPTREE_TOP ? 0 : s->nodes[parent].row.id, part->text,
				part->length) ^ map_mix(part->op + part->kind);
	struct scope_node *node;
	uint32_t at;

	if (part->file)
		id ^= hash_text(1, part->file, strlen(part->file));
	id |= 1;
	for (; (at = map_get(&s->by_part, id)) != MAP_NONE; id += 2)
		if (s->nodes[at].row.parent == parent && same_part(&s->nodes[at].part, part))
			return at;
	grow(&s->nodes, &s->cap, s->n, sizeof(*s->nodes));
	at = (uint32_t)s->n++;
	node = &s->nodes[at];
	*node = (struct scope_node) {
		.part = *part, .first = NONE, .next = NONE,
		.row = { .id = id, .parent = parent, .is_scope = part->kind != PART_OP },
	};
	if (parent != OPTREE_TOP) {
		struct scope_node *outer = &s->nodes[parent];

		node->next = outer->first;
		outer->first = at;
		outer->ops += part->kind == PART_OP;
		outer->below += part->kind != PART_OP;
	}
	map_set(&s->by_part, id, at);
	return at;
}

/* ---- functions ---- */

static uint32_t function_of(struct scopes *s, const struct source_frame *frame)
{
	const char *file = frame->file ? names_raw(&s->model->names, frame->file) : NULL;
	const char *name = frame->function ? names_raw(&s->model->names, frame->function) : NULL;
	uint64_t key = map_mix((uintptr_t)file) ^ (uintptr_t)name;
	uint32_t at;

	if (!file || !name || lines_is_library(file) || frame_is_module(s->model, frame) ||
	    frame_is_changed(s->model, frame) || frame_is_task(s->model, frame))
		return NONE;
	for (; (at = map_get(&s->by_function, key)) != MAP_NONE; key++)
		if (s->functions[at].file == file && s->functions[at].name == name)
			return at;
	grow(&s->functions, &s->functions_cap, s->n_functions, sizeof(*s->functions));
	at = (uint32_t)s->n_functions++;
	s->functions[at] = (struct function) {
		.file = file, .name = name, .caller = NONE, .node = NONE,
	};
	map_set(&s->by_function, key, at);
	return at;
}

static void find_callers(struct scopes *s)
{
	const struct source_lines *l = s->model->lines;

	for (uint32_t i = 0; l && i < l->frames.n; i++) {
		uint32_t mine = function_of(s, frame_at(l, i)), caller = NONE;

		if (mine == NONE)
			continue;
		/* behind calls that changed while they were read it is not known */
		for (uint32_t f = frame_at(l, i)->parent; f != NONE && caller == NONE &&
		     !frame_is_changed(s->model, frame_at(l, f)); f = frame_at(l, f)->parent)
			caller = function_of(s, frame_at(l, f));
		/* recursion: the first caller says more */
		if (caller == NONE || caller == mine || s->functions[mine].caller == caller)
			continue;
		s->functions[mine].caller = s->functions[mine].caller == NONE ? caller : SEVERAL;
	}
}

static uint32_t function_node(struct scopes *s, uint32_t at)
{
	struct function *f = &s->functions[at];
	uint32_t caller = f->caller, parent = OPTREE_TOP;
	struct scope_part part = {
		.kind = PART_FUNCTION, .text = f->name, .file = f->file, .length = strlen(f->name),
	};

	if (f->node != NONE)
		return f->node;
	f->busy = true;
	if (caller != NONE && caller != SEVERAL && !s->functions[caller].busy)
		parent = function_node(s, caller);
	f->busy = false;
	return f->node = scope_node_get(s, parent, &part);
}

/* ---- modules ---- */

/* The module that a line ran in, below the modules around it; OPTREE_TOP: none. */
static uint32_t module_node(struct scopes *s, uint32_t frame)
{
	const struct source_lines *l = s->model->lines;
	const char *classes[PARTS_MAX];
	struct scope_part part = { .kind = PART_MODULE };
	uint32_t n = 0, node = OPTREE_TOP;

	for (uint32_t f = frame; f != NONE && n < PARTS_MAX; f = frame_at(l, f)->parent)
		if (frame_is_module(s->model, frame_at(l, f)))
			classes[n++] = names_raw(&s->model->names, frame_at(l, f)->function);
	while (n-- > 0) {
		part.text = classes[n];
		part.length = strlen(part.text);
		node = scope_node_get(s, node, &part);
	}
	return node;
}

/* ---- ops ---- */

/* Adds the sums of an op, or of its part that was called in one function. */
struct op_share {
	uint64_t count, unseen, kernels, copies, copy_bytes;
	int64_t self_ns, device_ns;
};

static void scope_add_share(struct scopes *s, uint32_t scope, const struct ident *ident,
			    const struct op_share *share)
{
	struct model *model = s->model;
	uint32_t name = steps_plain(model, ident->name);
	uint32_t type = names_resolve(&model->names, ident->type);
	struct scope_part part = {
		.kind = PART_OP, .text = "",
		.op = (uint64_t)name << 28 | (uint64_t)type << 4 | ident->framework,
	};
	struct optree_row *row;
	uint32_t at;

	if (!share->count && !share->kernels && !share->copies)
		return;
	at = scope_node_get(s, scope, &part);
	row = &s->nodes[at].row;
	row->name = name ? names_short(&model->names, name) : "?";
	row->type = type ? names_short(&model->names, type) : NULL;
	row->framework = (enum framework)ident->framework;
	row->count += share->count + share->unseen;
	row->seen += share->count;
	row->kernels += scaled_up(share->kernels, share->count, share->unseen);
	row->copies += scaled_up(share->copies, share->count, share->unseen);
	row->copy_bytes += scaled_up(share->copy_bytes, share->count, share->unseen);
	add_ns(&row->self_ns, scaled_up_ns(share->self_ns, share->count, share->unseen));
	add_ns(&row->device_self_ns, scaled_up_ns(share->device_ns, share->count,
						  share->unseen));
}

/* The scope of a graph's node or of a range, by its name; false: the name is not a path. */
static bool name_scope(struct scopes *s, const struct ident *ident, uint32_t *scope)
{
	struct names *names = &s->model->names;
	const char *text = ident->name ? names_raw(names, ident->name) : "";
	const char *type = ident->type ? names_raw(names, ident->type) : "", *end;
	struct scope_part part = { .kind = PART_NAME };

	*scope = OPTREE_TOP;
	/* names of these two frameworks are not paths; the probe's names of calls contain what
	 * was called */
	if (ident->framework == FW_PYTORCH || ident->framework == FW_JAX || !strchr(text, '/') ||
	    !strcmp(type, "eager") || !strcmp(type, "function") || !strcmp(type, "session"))
		return false;
	for (uint32_t i = 0; i < PARTS_MAX && (end = strchr(text, '/')); i++, text = end + 1) {
		part.text = text;
		part.length = (size_t)(end - text);
		if (part.length)
			*scope = scope_node_get(s, *scope, &part);
	}
	return true;
}

static void take_ident(struct scopes *s, uint32_t index)
{
	const struct ident *ident = ident_at(s->model, index);
	const struct ident_lines *more = ident_lines(s->model, index);
	struct op_share rest = {
		ident->count, ident_unseen(ident), ident->kernels, ident->copies,
		ident->copy_bytes, ident->self_ns, ident->device_ns,
	};
	uint32_t scope;

	if (name_scope(s, ident, &scope))
		more = NULL;
	for (uint32_t i = more ? more->uses : NONE; i != NONE;) {
		const struct line_use *use = use_at(s->model->lines, i);
		uint32_t in = module_node(s, use->frame), function = NONE;
		struct op_share share = {
			use->count, use_unseen(s->model, use),
			use->kernels + use->cpu_kernels, use->copies, use->copy_bytes,
			use->self_ns, use->device_ns + use->cpu_ns,
		};

		i = use->next;
		if (in == OPTREE_TOP)
			function = function_of(s, frame_at(s->model->lines, use->frame));
		if (function != NONE)
			in = function_node(s, function);
		if (in == OPTREE_TOP)
			continue;
		scope_add_share(s, in, ident, &share);
		rest.count -= share.count;
		rest.unseen -= share.unseen;
		rest.kernels -= share.kernels;
		rest.copies -= share.copies;
		rest.copy_bytes -= share.copy_bytes;
		rest.self_ns -= share.self_ns < rest.self_ns ? share.self_ns : rest.self_ns;
		rest.device_ns -= share.device_ns;
	}
	scope_add_share(s, scope, ident, &rest);
}

/* ---- the answer ---- */

static void scopes_add_up(struct scopes *s)
{
	for (size_t i = s->n; i-- > 0;) {
		struct optree_row *row = &s->nodes[i].row, *outer;

		if (!row->is_scope) {
			row->total_ns = row->self_ns;
			row->device_ns = row->device_self_ns;
		}
		s->device = s->device || row->device_ns > 0;
		if (row->parent == OPTREE_TOP)
			continue;
		outer = &s->nodes[row->parent].row;
		if (!row->is_scope) {
			add_ns(&outer->self_ns, row->self_ns);
			add_ns(&outer->device_self_ns, row->device_self_ns);
		}
		outer->count += row->count;
		outer->seen += row->seen;
		outer->kernels += row->kernels;
		outer->copies += row->copies;
		outer->copy_bytes += row->copy_bytes;
		add_ns(&outer->total_ns, row->total_ns);
		add_ns(&outer->device_ns, row->device_ns);
	}
}

/* Whether the only thing in it is another scope. */
static bool is_passed(const struct scopes *s, const struct scope_node *node)
{
	return node->row.is_scope && !node->ops && node->below == 1 &&
	       s->nodes[node->first].part.kind == node->part.kind;
}

static int by_scope_cost(const void *a, const void *b, void *arg)
{
	const struct scopes *s = arg;
	const struct scope_node *x = &s->nodes[*(const uint32_t *)a];
	const struct scope_node *y = &s->nodes[*(const uint32_t *)b];
	size_t least = x->part.length < y->part.length ? x->part.length : y->part.length;
	int order = memcmp(x->part.text, y->part.text, least);

	if (s->device && x->row.device_ns != y->row.device_ns)
		return x->row.device_ns > y->row.device_ns ? -1 : 1;
	if (x->row.total_ns != y->row.total_ns)
		return x->row.total_ns > y->row.total_ns ? -1 : 1;
	if (x->row.is_scope != y->row.is_scope)
		return x->row.is_scope ? -1 : 1;
	if (!x->row.is_scope)
		return strcmp(x->row.name, y->row.name);
	return order ? order : (x->part.length > y->part.length) -
	       (x->part.length < y->part.length);
}

struct written {
	struct optree_row *rows;
	size_t n;
	char *text;			/* the names of scopes, stored behind the rows */
};

/* The row of a scope, or of the only scope in it. */
static uint32_t scope_name_row(const struct scopes *s, uint32_t at, struct written *w,
			       struct optree_row *row)
{
	const struct scope_node *node = &s->nodes[at];
	char *text = w->text;

	for (; is_passed(s, node); node = &s->nodes[at = node->first]) {
		if (node->part.kind == PART_FUNCTION)
			continue;
		memcpy(w->text, node->part.text, node->part.length);
		w->text += node->part.length;
		*w->text++ = '/';
	}
	*row = node->row;
	if (!row->is_scope)
		return at;
	memcpy(w->text, node->part.text, node->part.length);
	w->text += node->part.length;
	*w->text++ = '\0';
	row->name = text;
	row->type = node->part.file ? basename(node->part.file) :
		    node->part.kind == PART_MODULE ? MODULE_FILE : "scope";
	row->children = node->ops + node->below;
	return at;
}

/* The children of a node (OPTREE_TOP: the top ones) and all below, in order. */
static void scopes_write_out(struct scopes *s, uint32_t index, uint32_t parent, uint32_t depth,
			     struct written *w)
{
	uint32_t *list = NULL;
	size_t count = 0, cap = 0;

	for (uint32_t i = index == OPTREE_TOP ? 0 : s->nodes[index].first; i < s->n;
	     i = index == OPTREE_TOP ? i + 1 : s->nodes[i].next) {
		if (index == OPTREE_TOP && s->nodes[i].row.parent != OPTREE_TOP)
			continue;
		grow(&list, &cap, count, sizeof(*list));
		list[count++] = i;
	}
	if (count > 1)
		qsort_r(list, count, sizeof(*list), by_scope_cost, s);
	for (size_t k = 0; k < count; k++) {
		uint32_t row = (uint32_t)w->n++;
		uint32_t at = scope_name_row(s, list[k], w, &w->rows[row]);

		w->rows[row].parent = parent;
		w->rows[row].depth = depth;
		scopes_write_out(s, at, row, depth + 1, w);
	}
	free(list);
}

size_t model_scopes(struct model *model, struct optree_row **out)
{
	struct scopes s = { .model = model };
	struct written w = { .n = 0 };
	size_t text = 0;

	find_callers(&s);
	for (uint32_t i = 0; i < model->idents.n; i++)
		take_ident(&s, i);
	scopes_add_up(&s);
	for (size_t i = 0; i < s.n; i++)
		text += s.nodes[i].part.length + 1;
	w.rows = xcalloc(s.n + text / sizeof(*w.rows) + 1, sizeof(*w.rows));
	w.text = (char *)(w.rows + s.n);
	scopes_write_out(&s, OPTREE_TOP, OPTREE_TOP, 0, &w);
	free(s.nodes);
	free(s.functions);
	map_release(&s.by_part);
	map_release(&s.by_function);
	*out = w.rows;
	return w.n;
}
