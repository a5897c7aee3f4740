/* SPDX-License-Identifier: MIT */
#include "tui/draw/labels.h"

#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include "model/query/cost.h"
#include "tui/draw/grid.h"

static const char *ellipsis(bool ascii)
{
	return ascii ? ".." : "…";
}

/* Length in bytes of the longest beginning of `text` that is at most `width` columns wide. */
static size_t bytes_within(const char *text, int width)
{
	const char *at = text, *good = text;
	int used = 0;

	while (*at) {
		int columns = text_columns(text_next(&at));

		if (columns < 0)
			columns = 1;
		if (used + columns > width)
			break;
		used += columns;
		good = at;
	}
	return (size_t)(good - text);
}

static void put(char *out, size_t size, const char *text, size_t bytes, const char *end)
{
	snprintf(out, size, "%.*s%s", (int)bytes, text, end);
}

void label_fit(char *out, size_t size, const char *text, int width, bool ascii)
{
	int dots = text_width(ellipsis(ascii));
	size_t bytes;

	if (width <= 0 || size == 0) {
		if (size)
			out[0] = '\0';
		return;
	}
	bytes = bytes_within(text, width);
	if (!text[bytes])
		put(out, size, text, bytes, "");
	else if (width <= dots)
		put(out, size, text, bytes, "");
	else
		put(out, size, text, bytes_within(text, width - dots), ellipsis(ascii));
}

void label_fit_sentence(char *out, size_t size, const char *text, int width, bool ascii)
{
	char work[LABEL_MAX], *open;

	label_fit(work, sizeof(work), text, width, ascii);
	open = strrchr(work, '(');
	if (strcmp(work, text) == 0 || !open || strchr(open, ')')) {
		snprintf(out, size, "%s", work);
		return;
	}
	/* A bracket that is not closed looks broken, so its content is left out with it. */
	while (open > work && open[-1] == ' ')
		open--;
	snprintf(out, size, "%.*s%s", (int)(open - work), work, ellipsis(ascii));
}

void label_fit_middle(char *out, size_t size, const char *text, int width, bool ascii)
{
	int dots = text_width(ellipsis(ascii));
	int all = text_width(text), head, skip;
	size_t begin, tail;

	if (all <= width || width < 8 + dots) {
		label_fit(out, size, text, width, ascii);
		return;
	}
	head = (width - dots) / 2;
	skip = all - (width - dots - head);
	begin = bytes_within(text, head);
	tail = bytes_within(text, skip);
	snprintf(out, size, "%.*s%s%s", (int)begin, text, ellipsis(ascii), text + tail);
}

void label_fit_end(char *out, size_t size, const char *text, int width, bool ascii)
{
	int dots = text_width(ellipsis(ascii)), all = text_width(text);
	const char *from;

	if (all <= width || width <= dots) {
		label_fit(out, size, text, width, ascii);
		return;
	}
	from = text + bytes_within(text, all - width + dots);
	while (text_width(from) > width - dots)
		text_next(&from);	/* a wide code point crossed the limit */
	snprintf(out, size, "%s%s", ellipsis(ascii), from);
}

void label_fit_words(char *out, size_t size, const char *text, int width, bool ascii)
{
	char work[LABEL_MAX];
	char *blank;

	snprintf(work, sizeof(work), "%s", text);
	while (text_width(work) > width && (blank = strrchr(work, ' ')) != NULL)
		*blank = '\0';
	label_fit(out, size, work, width, ascii);
}

void label_program(char *out, size_t size, const char *command)
{
	size_t end, begin;

	if (!command)
		command = "";
	end = strcspn(command, " \t\n");
	for (begin = end; begin > 0 && command[begin - 1] != '/'; begin--)
		;
	snprintf(out, size, "%.*s", (int)(end - begin), command + begin);
}

void label_command(char *out, size_t size, const char *command, int width, bool ascii)
{
	size_t begin;

	if (!command)
		command = "";
	for (begin = strcspn(command, " \t\n"); begin > 0 && command[begin - 1] != '/'; begin--)
		;
	label_fit(out, size, command + begin, width, ascii);
}

/* ---- shortening of names ---- */

static void drop_parameters(char *name)
{
	char *paren = strchr(name, '(');

	while (paren && (paren == name || (paren[1] == ')' && paren[2] == '(')))
		paren = strchr(paren + 1, '(');	/* operator()(…), (anonymous) */
	if (paren) {
		*paren = '\0';
		while (paren > name && paren[-1] == ' ')
			*--paren = '\0';
	}
}

static void drop_templates(char *name)
{
	char *from = name, *to = name;
	int depth = 0;

	for (; *from; from++) {
		if (*from == '<' && from > name)
			depth++;
		else if (*from == '>' && depth > 0)
			depth--;
		else if (!depth)
			*to++ = *from;
	}
	*to = '\0';
}

/* Keeps the text behind the last `mark`, unless that text is empty. */
static void keep_after(char *name, const char *mark)
{
	char *at = name, *last = NULL;
	size_t length = strlen(mark);

	while ((at = strstr(at, mark)) != NULL) {
		at += length;
		last = at;
	}
	if (last && *last)
		memmove(name, last, strlen(last) + 1);
}

/* "step 12": the number distinguishes the label from others, so the word is shortened. */
static bool fit_numbered(char *out, size_t size, const char *name, int width, bool ascii)
{
	size_t length = strlen(name), digits = 0;
	int head;

	while (digits < length && name[length - digits - 1] >= '0' &&
	       name[length - digits - 1] <= '9')
		digits++;
	if (!digits || digits + 1 >= length || name[length - digits - 1] != ' ')
		return false;
	head = width - (int)digits - text_width(ellipsis(ascii));
	if (head < 1)
		return false;
	snprintf(out, size, "%.*s%s%s", (int)bytes_within(name, head), name, ellipsis(ascii),
		 name + length - digits);
	return true;
}

void label_shorten(char *out, size_t size, const char *name, int width, bool ascii)
{
	char work[1024];
	bool cxx = strstr(name, "::") || strchr(name, '<') || strchr(name, '(');
	int step;

	/* "reduce · sum<float>" is short already, and both its ends tell it apart */
	if (strstr(name, " · ")) {
		label_fit_middle(out, size, name, width, ascii);
		return;
	}
	snprintf(work, sizeof(work), "%s", name);
	for (step = 0; step < 5 && text_width(work) > width; step++) {
		switch (step) {
		case 0:
			if (cxx)
				drop_parameters(work);
			break;
		case 1:
			if (cxx)
				drop_templates(work);
			break;
		case 2:
			if (cxx)
				keep_after(work, " ");
			break;
		case 3:
			keep_after(work, "::");
			break;
		case 4:
			keep_after(work, "/");
			break;
		}
	}
	if (text_width(work) > width && fit_numbered(out, size, work, width, ascii))
		return;
	label_fit(out, size, work, width, ascii);
}

/* In tenths of a percent, rounded. */
static int64_t tenths_of(int64_t ns, int64_t whole_ns)
{
	__int128 doubled = (__int128)ns * 2000 / whole_ns;

	return (int64_t)((doubled + (doubled < 0 ? -1 : 1)) / 2);
}

char *fmt_own_cost(char *out, size_t size, const struct own_cost *cost)
{
	int64_t up = cost->high_ns - cost->ns, down = cost->ns - cost->low_ns;
	int64_t share = tenths_of(cost->ns, cost->step_ns);
	int64_t around = tenths_of(up > down ? up : down, cost->step_ns);
	int64_t most = share + around > 0 ? share + around : 1;

	if (share <= 0)	/* cannot be told from none */
		snprintf(out, size, "< %lld.%lld %%", (long long)most / 10, (long long)most % 10);
	else if (share < 100 || around < 10)
		snprintf(out, size, "%lld.%lld %% ± %lld.%lld", (long long)share / 10,
			 (long long)share % 10, (long long)around / 10, (long long)around % 10);
	else
		snprintf(out, size, "%lld %% ± %lld", (long long)(share + 5) / 10,
			 (long long)(around + 5) / 10);
	return out;
}
