/* SPDX-License-Identifier: MIT */
/* What is done to the text of a name: it is cleaned, demangled and shortened. */
#include "model/base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IBERTY
#include <libiberty/demangle.h>
#endif

#include "model/base/kernel_name.h"
#include "model/base/utf8.h"
#include "model/base/util.h"

#define DEMANGLE_MAX 4096u		/* longer input is left as it is */

/* C0, DEL, C1, and characters that change the direction of text. */
static bool is_control(const unsigned char *text, size_t length)
{
	if (length == 1)
		return text[0] < 0x20 || text[0] == 0x7f;
	if (length == 2)
		return text[0] == 0xc2 && text[1] < 0xa0;
	if (length == 3 && text[0] == 0xe2)
		return (text[1] == 0x80 && text[2] >= 0x8b && text[2] <= 0x8f) ||
		       (text[1] == 0x80 && text[2] >= 0xa8 && text[2] <= 0xae) ||
		       (text[1] == 0x81 && text[2] >= 0xa0 && text[2] <= 0xaf);
	return false;
}

size_t name_clean(const char *text, char *out, size_t size)
{
	const unsigned char *in = (const unsigned char *)text;
	size_t at = 0;

	while (*in) {
		size_t length = utf8_length((const char *)in, SIZE_MAX);

		if (at + (length ? length : 1) >= size)
			break;
		if (!length || is_control(in, length)) {
			out[at++] = *in == '\t' || *in == '\n' ? ' ' : '?';
			in += length ? length : 1;
			continue;
		}
		memcpy(out + at, in, length);
		at += length;
		in += length;
	}
	out[at] = '\0';
	return at;
}

void name_mend(char *text)
{
	const unsigned char *in = (const unsigned char *)text;
	size_t length;

	while (*in) {
		length = utf8_length((const char *)in, SIZE_MAX);
		memmove(text, in, length);
		text += length;
		in += length ? length : 1;
	}
	*text = '\0';
}

/* The suffix of a kernel's part on another thread. */
static const char part[] = ", part";

/* Length of the name without that suffix. */
static size_t whole_length(const char *name)
{
	size_t length = strlen(name), behind = sizeof(part) - 1;

	return length > behind && !strcmp(name + length - behind, part) ? length - behind : length;
}

bool name_demangle(const char *raw, char **out)
{
#ifdef HAVE_IBERTY
	size_t length = whole_length(raw), size;
	char *name, *text;

	if (strncmp(raw, "_Z", 2) != 0 || length > DEMANGLE_MAX)
		return false;
	name = xstrdup(raw);
	name[length] = '\0';
	text = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
	free(name);
	if (!text)
		return false;
	if (raw[length]) {
		size = strlen(text) + sizeof(part);
		text = xreallocarray(text, size, 1);
		memcpy(text + size - sizeof(part), part, sizeof(part));
	}
	/* SYCL kernels are named after their type: "typeinfo name for X". */
	if (strncmp(text, "typeinfo name for ", 18) == 0)
		memmove(text, text + 18, strlen(text + 18) + 1);
	*out = text;
	return true;
#else
	(void)raw;
	(void)out;
	return false;
#endif
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (c & 0x80);
}

/* "(anonymous namespace)" and "{lambda(int)#1}" are not parameter lists. */
static void fold_special(char *text)
{
	static const char anonymous[] = "(anonymous namespace)::";
	char *at;

	while ((at = strstr(text, anonymous)))
		memmove(at, at + sizeof(anonymous) - 1, strlen(at + sizeof(anonymous) - 1) + 1);
	while ((at = strstr(text, "{lambda("))) {
		char *close = strchr(at, '}');

		if (!close)
			break;
		memcpy(at, "lambda", 6);
		memmove(at + 6, close + 1, strlen(close + 1) + 1);
	}
}

/* Whether the text looks like C++, and not like a path, a sentence or a label with brackets. */
static bool looks_like_cxx(const char *text)
{
	return strstr(text, "::") || strncmp(text, "void ", 5) == 0 ||
	       (strchr(text, '<') && strchr(text, '>'));
}

static void cut(const char *text, char *out, size_t size)
{
	/* cuts between two characters; the text is clean already */
	name_clean(text, out, size);
}

/*
 * Shortens the names of Python frameworks' ops that are not C++. A node of the backward pass runs
 * within the engine's op, so the two must not look the same. A name whose brackets distinguish it
 * from many others is kept whole.
 */
static bool shorten_framework(const char *full, char *out, size_t size)
{
	static const struct { const char *prefix, *instead; } whole[] = {
		{ "enumerate(DataLoader)#_SingleProcess", "DataLoader next" },
		{ "enumerate(DataLoader)#_MultiProcessing", "DataLoader next (workers)" },
		{ "PjitFunction(", NULL }, { "ThunkExecutor::", NULL }, { "np.asarray(", NULL },
	};
	static const char node[] = "autograd::engine::evaluate_function: ";
	char rest[NAME_SHORT_MAX], text[sizeof(rest) + 16];
	const char *after;

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strncmp(full, whole[i].prefix, strlen(whole[i].prefix))) {
			cut(whole[i].instead ? whole[i].instead : full, out, size);
			return true;
		}
	if (!strncmp(full, node, sizeof(node) - 1) && full[sizeof(node) - 1]) {
		name_shorten(full + sizeof(node) - 1, rest, sizeof(rest));
		snprintf(text, sizeof(text), "autograd: %s", rest);
		cut(text, out, size);
		return true;
	}
	/* "Optimizer.step#SGD.step" */
	after = strncmp(full, "Optimizer.", 10) ? NULL : strchr(full, '#');
	if (!after || !after[1])
		return false;
	cut(after + 1, out, size);
	return true;
}

/* A parallel loop of PyTorch is identified by the function that contains it. */
static bool shorten_loop(const char *full, char *out, size_t size)
{
	static const char begin[] = "invoke_parallel<at::parallel_for<";
	const char *at = strstr(full, begin);
	char *text;

	if (!at)
		return false;
	text = xstrdup(at + sizeof(begin) - 1);
	fold_special(text);
	text[strcspn(text, "(<")] = '\0';
	at = strrchr(text, ':');
	cut(at ? at + 1 : text, out, size);
	free(text);
	return true;
}

static void shorten_part(const char *full, size_t length, enum name_detail detail, char *out,
			 size_t size)
{
	char *whole = xstrdup(full), name[NAME_SHORT_MAX], text[NAME_SHORT_MAX + sizeof(part)];

	whole[length] = '\0';
	name_shorten_to(whole, detail, name, sizeof(name));
	free(whole);
	snprintf(text, sizeof(text), "%s%s", name, part);
	cut(text, out, size);
}

/* The first names that a mangled name has, where it cannot be demangled: it is cut, or too long. */
static bool shorten_mangled(const char *full, char *out, size_t size)
{
	const char *at = full + 3, *last = NULL;
	size_t length = 0;
	char text[NAME_SHORT_MAX];

	if (strncmp(full, "_ZN", 3) != 0)
		return false;
	while (*at >= '1' && *at <= '9') {
		char *end;
		unsigned long n = strtoul(at, &end, 10);

		if (n >= NAME_SHORT_MAX || strnlen(end, n) < n)
			break;
		if (strncmp(end, "_GLOBAL__N", 10) != 0) {
			last = end;
			length = n;
		}
		at = end + n;
	}
	if (!last)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)length, last);
	cut(text, out, size);
	return true;
}

void name_shorten_to(const char *full, enum name_detail detail, char *out, size_t size)
{
	if (full[whole_length(full)]) {
		shorten_part(full, whole_length(full), detail, out, size);
		return;
	}
	if (shorten_framework(full, out, size) || shorten_loop(full, out, size) ||
	    kernel_name_of_c(full, detail, out, size))
		return;
	if (looks_like_cxx(full) || (strchr(full, '(') && full[strlen(full) - 1] == ')' &&
				     is_word(full[0]) && !strchr(full, ' '))) {
		if (kernel_name_of_cxx(full, detail, out, size))
			return;
	} else if (detail != NAME_ARGUMENTS && shorten_mangled(full, out, size)) {
		return;
	}
	cut(full, out, size);
}

void name_shorten(const char *full, char *out, size_t size)
{
	name_shorten_to(full, NAME_SHORT, out, size);
}

uint32_t names_function(struct names *names, uint32_t name, enum name_detail detail)
{
	const char *raw = name ? names_raw(names, name) : "", *in = strstr(raw, " in ");
	size_t length = in ? (size_t)(in - raw) : strlen(raw);
	char symbol[DEMANGLE_MAX], text[NAME_SHORT_MAX + 210], shorter[NAME_SHORT_MAX];
	char *full;

	if (raw[0] != '_' || raw[1] != 'Z' || length >= sizeof(symbol))
		return name;
	snprintf(symbol, sizeof(symbol), "%.*s", (int)length, raw);
	if (!name_demangle(symbol, &full))
		return name;
	name_shorten_to(full, detail, shorter, sizeof(shorter));
	free(full);
	snprintf(text, sizeof(text), "%s%.200s", shorter, raw + length);
	return names_intern(names, text);
}
