/* SPDX-License-Identifier: MIT */
/* TensorFlow's graph messages as the probe reads them: nothing outside of the message is read, and
 * texts are terminated and contain no NUL. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "model/base/util.h"
#include "probes/tensorflow/graphdef.h"
#include "tests/fuzz/fuzz.h"

struct bounds {
	const uint8_t *begin, *end;
};

static void check(const struct bounds *b, struct pb part)
{
	FUZZ_CHECK(!part.at || (part.at >= b->begin && part.end <= b->end && part.at <= part.end));
}

static void take(void *arg, const struct graphdef_line *line)
{
	check(arg, line->node);
	check(arg, line->file);
	check(arg, line->function);
	FUZZ_CHECK(line->line != 0);
}

/* The text can be shown on a terminal. */
static void check_text(const char *text)
{
	static locale_t utf8;
	locale_t before;
	wchar_t c;
	int n;

	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	before = uselocale(utf8);
	for (; *text; text += n) {
		n = mbtowc(&c, text, MB_CUR_MAX);
		FUZZ_CHECK(n > 0 && (c >= 0xa0 || c == '\n' || (c >= ' ' && c < 0x7f)));
	}
	uselocale(before);
}

static void read_nodes(enum graphdef_kind kind, const struct bounds *b, size_t size)
{
	static struct graphdef_node node;
	struct graphdef_walk walk = { .kind = kind, .message = pb_of(b->begin, size) };
	struct pb message;
	size_t n = 0;

	while (graphdef_next(&walk, &message)) {
		check(b, message);
		FUZZ_CHECK(++n <= size);
		if (!graphdef_node(message, &node))
			continue;
		FUZZ_CHECK(strlen(node.name) < sizeof(node.name) && node.name[0]);
		FUZZ_CHECK(strlen(node.inputs) < sizeof(node.inputs));
		FUZZ_CHECK(strlen(node.attributes) < sizeof(node.attributes));
		FUZZ_CHECK(!node.attributes[0] ||
			   node.attributes[strlen(node.attributes) - 1] == '\n');
		check_text(node.attributes);
	}
}

static void run(const uint8_t *data, size_t size)
{
	/* in memory of its own, so that a sanitizer detects each byte read outside */
	uint8_t *copy = xmalloc(size ? size : 1);
	struct bounds b = { copy, copy + size };
	struct pb message = pb_of(copy, size);
	static struct graphdef_node node;
	uint64_t *scratch;
	char name[64];

	if (size)
		memcpy(copy, data, size);
	read_nodes(GRAPHDEF_FUNCTION, &b, size);
	read_nodes(GRAPHDEF_METADATA, &b, size);
	for (size_t i = 0; graphdef_port(message, i, &node); i++)
		FUZZ_CHECK(i <= size && strlen(node.name) < sizeof(node.name));
	graphdef_function_name(message, name, sizeof(name));
	FUZZ_CHECK(strlen(name) < sizeof(name));
	scratch = xcalloc(graphdef_scratch(message), sizeof(*scratch));
	graphdef_lines(message, scratch, take, &b);
	free(scratch);
	free(copy);
}

FUZZ_TARGET("graphdef", run);
