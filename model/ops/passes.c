/* SPDX-License-Identifier: MIT */
#include "model/ops/passes.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/idents/idents.h"
#include "model/lines/lines.h"
#include "model/query/flows.h"

/*
 * What a name has before and after the base; the first row that fits is used. A camel-case base
 * is converted to the name of torch's forward op ("NativeLayerNorm" -> "native_layer_norm").
 * `last`: the suffix belongs to the last component only, the part before it is kept
 * ("conv1/Conv2DBackpropInput" -> "conv1/Conv2D").
 */
static const struct pattern {
	enum pass pass;
	const char *prefix, *suffix;
	bool camel;
	bool any_tail;			/* digits may follow the suffix */
} patterns[] = {
	/* PyTorch: autograd's nodes and their operators */
	{PASS_BACKWARD, "autograd::engine::evaluate_function: ", "Backward", true, true},
	{PASS_FORWARD, "aten::", "", false, false},
	/* TensorFlow: tf.gradients and GradientTape */
	{PASS_BACKWARD, "gradients/", "BackpropFilter", false, true},
	{PASS_BACKWARD, "gradients/", "BackpropInput", false, true},
	{PASS_BACKWARD, "gradients/", "Grad", false, true},
	{PASS_BACKWARD, "gradients/", "_grad", false, true},
	{PASS_BACKWARD, "gradients/", "", false, false},
	{PASS_BACKWARD, "gradient_tape/", "BackpropFilter", false, true},
	{PASS_BACKWARD, "gradient_tape/", "BackpropInput", false, true},
	{PASS_BACKWARD, "gradient_tape/", "Grad", false, true},
	{PASS_BACKWARD, "gradient_tape/", "", false, false},
	/* names that people write */
	{PASS_FORWARD, "forward/", "", false, false},
	{PASS_BACKWARD, "backward/", "", false, false},
	{PASS_FORWARD, "", "/forward", false, false},
	{PASS_BACKWARD, "", "/backward", false, false},
	{PASS_FORWARD, "", ".forward", false, false},
	{PASS_BACKWARD, "", ".backward", false, false},
	{PASS_FORWARD, "", "_forward", false, true},
	{PASS_BACKWARD, "", "_backward", false, true},
	{PASS_FORWARD, "", "_fwd", false, true},
	{PASS_BACKWARD, "", "_bwd", false, true},
	{PASS_FORWARD, "", "/fwd", false, false},
	{PASS_BACKWARD, "", "/bwd", false, false},
	{PASS_BACKWARD, "", "Backward", true, true},
};

static const char *after_prefix(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) ? NULL : name + length;
}

/* The length of the part before the suffix; 0: the suffix does not fit, or the part is empty. */
static size_t before_suffix(const char *text, const struct pattern *pattern)
{
	size_t length = strlen(text), suffix = strlen(pattern->suffix);

	while (pattern->any_tail && length && (isdigit((unsigned char)text[length - 1]) ||
					       text[length - 1] == '_'))
		length--;
	if (length <= suffix || strncmp(text + length - suffix, pattern->suffix, suffix))
		return 0;
	return length - suffix;
}

/* "NativeLayerNorm" -> "native_layer_norm", in `size` bytes. */
static void to_snake(const char *text, size_t length, char *out, size_t size)
{
	size_t to = 0;

	for (size_t i = 0; i < length && to + 2 < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (isupper(c) && i && islower((unsigned char)text[i - 1]))
			out[to++] = '_';
		out[to++] = (char)tolower(c);
	}
	out[to] = '\0';
}

/* In "gradients/a/Conv2D_grad/Conv2DBackpropInput" the op is the part before "_grad". */
static void cut_at_grad(char *base)
{
	char *grad = strstr(base, "_grad/");

	if (grad && grad != base)
		*grad = '\0';
}

enum pass pass_of(const char *name, char *base, size_t size)
{
	base[0] = '\0';
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const struct pattern *pattern = &patterns[i];
		const char *text = after_prefix(name, pattern->prefix);
		size_t length = text ? before_suffix(text, pattern) : 0;

		if (!length || length >= size)
			continue;
		if (pattern->camel) {
			if (memchr(text, '/', length) || !isupper((unsigned char)*text))
				continue;
			to_snake(text, length, base, size);
		} else {
			memcpy(base, text, length);
			base[length] = '\0';
		}
		cut_at_grad(base);
		return pattern->pass;
	}
	return PASS_NONE;
}

/* ---- the ops that were seen ---- */

/* The last two components: TensorFlow's gradients omit the outer scopes. */
static const char *tail_of(const char *name)
{
	const char *last = strrchr(name, '/'), *at = last;

	while (at && at > name && at[-1] != '/')
		at--;
	return last ? at : name;
}

struct seen_names {
	struct map by_text;		/* name id of a base or tail -> name id of the op */
	struct model *model;
};

static uint32_t find(struct seen_names *seen, const char *text)
{
	return map_get(&seen->by_text, names_intern(&seen->model->names, text));
}

static void note(struct seen_names *seen, const char *text, uint32_t op)
{
	uint32_t id = names_intern(&seen->model->names, text);

	/* Two ops have this tail: neither is chosen. */
	if (id)
		map_set(&seen->by_text, id, map_get(&seen->by_text, id) == MAP_NONE ||
			map_get(&seen->by_text, id) == op ? op : 0);
}

/* Pairs that ops reported themselves: for each backward op the most frequent forward op. */
static size_t add_exact(struct model *model, struct pass_pair *out, struct map *done)
{
	size_t n = 0;

	for (uint32_t i = 0; model->lines && i < model->idents.n; i++) {
		const struct ident_lines *more = ident_lines(model, i);
		const struct backward_use *use;

		for (uint32_t k = more ? more->backward : NONE; k != NONE; k = use->next) {
			uint32_t id, at;

			use = store_at(&model->lines->backward, k);
			id = names_resolve(&model->names, ident_at(model, use->ident)->name);
			at = map_get(done, id);
			if (at != MAP_NONE && out[at].links >= use->count)
				continue;
			if (at == MAP_NONE)
				map_set(done, id, at = (uint32_t)n++);
			out[at] = (struct pass_pair) {
				names_short(&model->names, ident_at(model, i)->name),
				names_short(&model->names, id), use->count,
			};
		}
	}
	return n;
}

size_t model_passes(struct model *model, struct pass_pair **out)
{
	struct seen_names exact = { .model = model }, tails = { .model = model };
	struct map done = { .size = 0 };
	char base[PASS_BASE_MAX];
	size_t n = 0;

	*out = xcalloc(model->idents.n, sizeof(**out));
	n = add_exact(model, *out, &done);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < model->idents.n; i++) {
			uint32_t id = names_resolve(&model->names, ident_at(model, i)->name), other;
			const char *name = names_raw(&model->names, id);
			enum pass pass = name ? pass_of(name, base, sizeof(base)) : PASS_NONE;

			if (!name || !ident_at(model, i)->count)
				continue;
			if (!round && pass != PASS_BACKWARD) {
				note(&exact, pass == PASS_FORWARD ? base : name, id);
				note(&tails, tail_of(name), id);
			}
			if (!round || pass != PASS_BACKWARD || map_get(&done, id) != MAP_NONE)
				continue;
			map_set(&done, id, 0);
			other = find(&exact, base);
			if (other == MAP_NONE || !other)
				other = find(&tails, base);
			if (other != MAP_NONE && other)
				(*out)[n++] = (struct pass_pair) {
					names_short(&model->names, other),
					names_short(&model->names, id), 0,
				};
		}
	map_release(&exact.by_text);
	map_release(&tails.by_text);
	map_release(&done);
	return n;
}
