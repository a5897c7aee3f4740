/* SPDX-License-Identifier: MIT */
#include "model/base/kernel_name.h"

#include <stdio.h>
#include <string.h>

#include "model/base/cxx.h"
#include "model/base/functor.h"
#include "model/base/names.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Copies a range without what encloses plain names: "a::b<c::d>" becomes "b<d>". */
static void kernel_copy_plain(const struct cxx *cxx, struct cxx_range range, char *out,
			      size_t size)
{
	size_t to = 0, word = 0;

	for (size_t at = range.from; at < range.to && to + 1 < size; ) {
		struct cxx_range here = { (uint16_t)at, range.to };

		if (cxx_begins(cxx, here, "(anonymous namespace)::")) {
			at += 23;
			continue;
		}
		if (cxx_begins(cxx, here, "::") && word < to && out[to - 1] != '>' &&
		    out[to - 1] != ')' && out[to - 1] != '}') {
			to = word;
			at += 2;
			continue;
		}
		out[to++] = cxx->text[at++];
		if (strchr("<>(){}, &*:", out[to - 1]))
			word = to;
	}
	out[to] = '\0';
}

/* Writes what a literal stands for, as "4" for "4u" and "1" for "(at::native::NormType)1". */
static bool kernel_literal(const struct cxx *cxx, struct cxx_range item, char *out, size_t size)
{
	const char *value = cxx->text + item.from, *close;
	size_t n = (size_t)(item.to - item.from);

	if (cxx_empty(item) || cxx_begins(cxx, item, "(anonymous"))
		return false;
	if (*value == '(') {
		close = memrchr(value, ')', n);
		if (!close)
			return false;
		n -= (size_t)(close + 1 - value);
		value = close + 1;
	} else if (!(*value >= '0' && *value <= '9') && *value != '-' &&
		   !cxx_is(cxx, item, "true") && !cxx_is(cxx, item, "false")) {
		return false;
	}
	while (n > 1 && *value <= '9' && strchr("ul", value[n - 1]))
		n--;
	snprintf(out, size, "%.*s", (int)n, value);
	return n > 0;
}

/* Adds sizes and types of numbers among a template's arguments, and those of traits among them,
 * behind the text of `length` bytes in out. */
static size_t kernel_numbers(const struct cxx *cxx, struct cxx_range list, unsigned depth,
			     char *out, size_t size, size_t length)
{
	struct cxx_range item, outer;
	struct cxx_part part;
	char word[FUNCTOR_TYPE_MAX];

	while (cxx_next_item(cxx, &list, &item)) {
		if (!kernel_literal(cxx, item, word, sizeof(word)) &&
		    !functor_number_type(cxx, item, word, sizeof(word))) {
			if (depth < 2 && cxx_last_part(cxx, item, &part, &outer) &&
			    (cxx_ends(cxx, part.name, "raits") ||
			     cxx_ends(cxx, part.name, "hape")))
				length = kernel_numbers(cxx, part.arguments, depth + 1, out, size,
							length);
			continue;
		}
		if (length + strlen(word) + 3 >= size)
			break;
		length += (size_t)snprintf(out + length, size - length, "%s%s",
					   length ? ", " : "<", word);
	}
	return length;
}

/* Whether the name is in that namespace, also where it is one of several parts of it. */
static bool kernel_is_inside(const struct cxx *cxx, struct cxx_range outer, const char *space)
{
	struct cxx_part part;

	while (cxx_next_part(cxx, &outer, &part))
		if (cxx_is(cxx, part.name, space))
			return true;
	return false;
}

/* What libraries of algorithms call their kernels: the algorithm is what is asked for. */
static const char *kernel_library(const struct cxx *cxx, struct cxx_range outer)
{
	if (kernel_is_inside(cxx, outer, "cub"))
		return "cub";
	return kernel_is_inside(cxx, outer, "thrust") ? "thrust" : "";
}

static struct cxx_range kernel_without_suffix(const struct cxx *cxx, struct cxx_range name)
{
	static const char *const words[] = { "_kernel", "Kernel" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (cxx_ends(cxx, name, words[i]) &&
		    (size_t)(name.to - name.from) > strlen(words[i]))
			name.to = (uint16_t)(name.to - strlen(words[i]));
	return name;
}

static void put_name(const char *text, char *out, size_t size)
{
	name_clean(text, out, size);
}

/* CUTLASS: its kernels are class templates, and what they are called is the argument. */
static bool kernel_name_cutlass(const struct cxx *cxx, struct cxx_range outer,
			 const struct cxx_part *kernel, enum name_detail detail, char *out,
			 size_t size)
{
	struct cxx_range item, rest = kernel->arguments, inside;
	struct cxx_part part;
	const char *atom;
	char text[NAME_SHORT_MAX * 2];
	size_t length;

	if (!kernel_is_inside(cxx, outer, "cutlass") || !cxx_next_item(cxx, &rest, &item) ||
	    !cxx_last_part(cxx, item, &part, &inside))
		return false;
	if (cxx_begins(cxx, part.name, "cutlass_")) {
		snprintf(text, sizeof(text), "%.*s", part.name.to - part.name.from,
			 cxx->text + part.name.from);
		put_name(text, out, size);
		return true;
	}
	if (detail > NAME_SHORT)
		return false;
	atom = memmem(cxx->text + item.from, (size_t)(item.to - item.from), "MMA_Atom<", 9);
	atom = atom ? strstr(atom, "SM") : NULL;
	length = atom ? strcspn(atom, "<>:, ") : 0;
	snprintf(text, sizeof(text), "cutlass · %.*s%s%.*s", part.name.to - part.name.from,
		 cxx->text + part.name.from, length ? " " : "", (int)length, atom ? atom : "");
	put_name(text, out, size);
	return true;
}

static void kernel_compose(const struct cxx *cxx, struct cxx_range outer,
			   const struct cxx_part *kernel, enum name_detail detail, char *out,
			   size_t size)
{
	struct functor_text words = { .numbered = detail == NAME_NUMBERS };
	char text[NAME_SHORT_MAX * 3], numbers[NAME_SHORT_MAX] = "";
	char type[FUNCTOR_TYPE_MAX + 2] = "";
	const char *library = kernel_library(cxx, outer);
	struct cxx_range name = kernel->name;
	size_t length;
	bool any = functor_take_all(cxx, kernel->arguments, &words, 0);

	if (words.rank < TYPE_REAL)
		functor_take_types(cxx, kernel->arguments, &words);
	if (detail == NAME_NUMBERS &&
	    (length = kernel_numbers(cxx, kernel->arguments, 0, numbers, sizeof(numbers), 0)) > 0)
		memcpy(numbers + length, ">", 2);
	if (words.rank && (!numbers[0] || any))
		snprintf(type, sizeof(type), "<%s>", words.type);
	if (any || *library)
		name = kernel_without_suffix(cxx, name);
	if (*library && cxx_begins(cxx, name, "Device") && name.to - name.from > 6)
		name.from = (uint16_t)(name.from + 6);
	if (*library && cxx_is(cxx, name, "_kernel_agent"))
		name.to = name.from;
	snprintf(text, sizeof(text), "%s%s%.*s%s%s%s%s", library,
		 !*library ? "" : cxx_empty(name) ? " ·" : " · ", name.to - name.from,
		 cxx->text + name.from, numbers, !any ? "" : *library ? " " : " · ", words.words,
		 type);
	put_name(text, out, size);
}

/* The name of the innermost class or namespace that has one, and "::"; empty: there is none. */
static void kernel_scope(const struct cxx *cxx, struct cxx_range outer, char *out, size_t size)
{
	struct cxx_part scope;

	*out = '\0';
	while (!cxx_empty(outer) && outer.to >= 2) {
		outer.to = (uint16_t)(outer.to - 2);
		if (!cxx_last_part(cxx, outer, &scope, &outer))
			return;
		if (cxx_empty(scope.name) || scope.lambda ||
		    cxx_begins(cxx, scope.name, "(anonymous") ||
		    cxx_begins(cxx, scope.name, "operator"))
			continue;
		snprintf(out, size, "%.*s::", scope.name.to - scope.name.from,
			 cxx->text + scope.name.from);
		return;
	}
}

bool kernel_name_of_cxx(const char *full, enum name_detail detail, char *out, size_t size)
{
	struct cxx cxx;
	struct cxx_range name, outer;
	struct cxx_part kernel, lambda;
	char text[CXX_MAX], scope[256];
	bool in_lambda;

	cxx_read(&cxx, full);
	name = (struct cxx_range){ 0, cxx.length };
	if (!cxx_last_part(&cxx, name, &kernel, &outer))
		return false;
	if (detail == NAME_ARGUMENTS) {
		kernel_copy_plain(&cxx, cxx_function(&cxx, name), text, sizeof(text));
		put_name(text, out, size);
		return *out != '\0';
	}
	/* A lambda, or the operator() of a class, is called after what it is in. */
	in_lambda = cxx_function_of_lambda(&cxx, name, &kernel, &lambda);
	if (!in_lambda &&
	    (cxx_empty(kernel.name) || cxx_begins(&cxx, kernel.name, "operator")) &&
	    !cxx_empty(outer)) {
		outer.to = (uint16_t)(outer.to - 2);
		if (!cxx_last_part(&cxx, outer, &kernel, &outer))
			return false;
	}
	if (cxx_empty(kernel.name))
		return false;
	if (detail == NAME_BARE || detail == NAME_SCOPED) {
		*scope = '\0';
		if (detail == NAME_SCOPED && !in_lambda)
			kernel_scope(&cxx, outer, scope, sizeof(scope));
		snprintf(text, sizeof(text), "%s%.*s", scope,
			 kernel.name.to - kernel.name.from, full + kernel.name.from);
		put_name(text, out, size);
	} else if (!kernel_name_cutlass(&cxx, outer, &kernel, detail, out, size)) {
		kernel_compose(&cxx, outer, &kernel, detail, out, size);
	}
	return *out != '\0';
}

/* ---- Tensile ---- */

/* "Cijk_Ailk_Bljk_": the indices of the product and of its factors. */
static const char *behind_indices(const char *at, char which)
{
	size_t n;

	if (*at != which)
		return NULL;
	n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz");
	return n >= 2 && n <= 8 && at[n + 1] == '_' ? at + n + 2 : NULL;
}

const char *kernel_name_tensile(const char *full)
{
	const char *at = strncmp(full, "Custom_", 7) ? full : full + 7;

	at = behind_indices(at, 'C');
	at = at ? behind_indices(at, 'A') : NULL;
	at = at ? behind_indices(at, 'B') : NULL;
	return at && *at ? at : NULL;
}

bool kernel_name_of_c(const char *full, enum name_detail detail, char *out, size_t size)
{
	const char *types = kernel_name_tensile(full), *tile, *end;
	char text[NAME_SHORT_MAX];

	tile = types ? strstr(types, "_MT") : NULL;
	if (!tile || detail == NAME_ARGUMENTS)
		return false;
	/* the tile, and then the matrix instruction: the rest is a hundred settings */
	end = tile + 1 + strcspn(tile + 1, "_");
	if (detail == NAME_NUMBERS && !strncmp(end, "_MI", 3))
		end += 1 + strcspn(end + 1, "_");
	types += strcspn(types, "_");
	if (!strncmp(types, "_BH_", 4) || !strncmp(types, "_BH", 4))
		types += 3;
	snprintf(text, sizeof(text), "%.*s%.*s", (int)(types - full), full, (int)(end - tile),
		 tile);
	put_name(text, out, size);
	return true;
}
