/* SPDX-License-Identifier: MIT */
/*
 * Nodes and source lines, kept so that they can be sent again: by (graph, name) and by (function,
 * name). Used on the runtime's thread or, after that has ended, on the one that ends the process.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/graphdef.h"
#include "probes/tensorflow/hash.h"
#include "probes/tensorflow/probe.h"

#define NODES_MAX 65536u
#define SLOTS (4 * NODES_MAX)	/* powers of two */
#define BLOCK_BYTES (1u << 20)
#define BLOCKS_MAX 32u
#define COVERED_SLOTS 8192u

struct node_kept {
	uint32_t graph, name, type, device, file, line, function, origin;
	uint32_t hash;		/* hash of the texts */
	const char *inputs, *attributes;
};

struct node_line {
	uint64_t key;		/* 0: unused */
	struct tf_line at;
};

/* Mapped when the first node comes; NULL: there is no memory, and nothing is kept. */
static struct node_tables {
	uint32_t slot[SLOTS];		/* id of a node; 0: unused */
	struct node_kept node[NODES_MAX + 1];
	struct node_line line[SLOTS];
	uint64_t covered[COVERED_SLOTS];
} *t;
static uint32_t n_nodes, n_lines, n_covered, n_blocks;
static char *block;
static size_t block_left;
static bool said_full;

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static bool ready(void)
{
	if (!t)
		t = map(sizeof(*t));
	return t != NULL;
}

static void full(const char *text)
{
	rt_dropped(1);
	if (!said_full)
		tf_blind(text);
	said_full = true;
}

/* ---- functions whose graphs have arrived ---- */

static uint64_t *covered_place(uint64_t key)
{
	uint32_t i = (uint32_t)(key >> 32) % COVERED_SLOTS;

	while (t->covered[i] && t->covered[i] != key)
		i = (i + 1) % COVERED_SLOTS;
	return &t->covered[i];
}

void tf_cover(const char *function)
{
	uint64_t key = tf_hash_name(1, function, strlen(function)), *place;

	if (!ready())
		return;
	place = covered_place(key);
	if (!*place && n_covered < COVERED_SLOTS / 2) {
		*place = key;
		n_covered++;
	}
}

bool tf_is_covered(const char *function)
{
	return ready() && *covered_place(tf_hash_name(1, function, strlen(function)));
}

/* ---- lines ---- */

/* The entry of a node in a function: an unused one, or its own; NULL: the table is full. */
static struct node_line *line_of(const char *function, const char *node, size_t length)
{
	uint64_t key = tf_hash_name(tf_hash_name(2, function, strlen(function)), node, length);
	uint32_t i = (uint32_t)(key >> 32) % SLOTS;

	while (t->line[i].key && t->line[i].key != key)
		i = (i + 1) % SLOTS;
	if (!t->line[i].key && n_lines >= NODES_MAX)
		return NULL;
	return &t->line[i];
}

static void set_line(const char *function, const char *node, const struct tf_line *value)
{
	uint64_t key = tf_hash_name(tf_hash_name(2, function, strlen(function)), node,
				    strlen(node));
	struct node_line *line = line_of(function, node, strlen(node));

	if (!line) {
		full("not all source lines were kept");
		return;
	}
	n_lines += !line->key;
	line->at = *value;
	line->key = key;
}

static void take_line(void *arg, const struct graphdef_line *found)
{
	static char node[GRAPHDEF_NAME_BYTES], file[GRAPHDEF_NAME_BYTES], function[256];
	struct tf_line line = { .line = found->line };

	pb_text(node, sizeof(node), found->node);
	line.file = rt_name(TFT_NAME_SOURCE, pb_text(file, sizeof(file), found->file));
	line.function = rt_name(TFT_NAME_SOURCE,
				pb_text(function, sizeof(function), found->function));
	set_line(arg, node, &line);
}

void tf_lines_take(const char *function, const void *data, size_t size)
{
	static char name[GRAPHDEF_NAME_BYTES];
	struct pb message = pb_of(data, size);
	size_t bytes = graphdef_scratch(message) * sizeof(uint64_t);
	uint64_t *scratch = ready() ? map(bytes) : NULL;

	if (!scratch) {
		rt_dropped(1);
		return;
	}
	snprintf(name, sizeof(name), "%s", function);
	graphdef_lines(message, scratch, take_line, name);
	munmap(scratch, bytes);
}

/* The line that the C API returned for a node of a function. */
static bool known_line(const char *function, const char *node, size_t length, struct tf_line *out)
{
	const struct node_line *line = line_of(function, node, length);

	if (!line || !line->key)
		return false;
	*out = line->at;
	return true;
}

/* Functions that were inlined into the graph that is being read. */
#define INLINED_MAX 32u
static char inlined[INLINED_MAX][GRAPHDEF_NAME_BYTES];
static uint32_t n_inlined, inlined_graph;

static void note_inlined(uint32_t graph, const char *function)
{
	if (graph != inlined_graph)
		n_inlined = 0;
	inlined_graph = graph;
	if (!*function)
		return;
	for (uint32_t i = 0; i < n_inlined; i++)
		if (!strcmp(inlined[i], function))
			return;
	if (n_inlined < INLINED_MAX)
		snprintf(inlined[n_inlined++], sizeof(inlined[0]), "%s", function);
}

/* ---- lines of nodes ---- */

static bool known(const char *graph, const char *node, size_t length, struct tf_line *line)
{
	return known_line(graph, node, length, line) || tf_line_made(graph, node, length, line);
}

static bool known_anywhere(const char *graph, const char *node, size_t length, struct tf_line *line)
{
	bool found = known(graph, node, length, line);

	for (uint32_t i = 0; !found && i < n_inlined; i++)
		found = known(inlined[i], node, length, line);
	return found;
}

/* What a name starts with if Grappler made the node from another one. */
static const char *const optimizers[] = {
	"ArithmeticOptimizer/", "ConstantFolding/", "LayoutOptimizer/", "Remapper/",
	"LoopOptimizer/", "DependencyOptimizer/", "AutoMixedPrecision/", "PinToHost/",
};

static size_t after_optimizer(const char *name)
{
	for (size_t i = 0; i < sizeof(optimizers) / sizeof(optimizers[0]); i++)
		if (!strncmp(name, optimizers[i], strlen(optimizers[i])))
			return strlen(optimizers[i]);
	return 0;
}

/* Removes the scopes of optimizers, and what surrounds a session's arguments and results:
 * "_arg_x_0_1" belongs to x. */
static void tf_nodes_strip(char *out, size_t size, const char *name)
{
	static const char *const ports[] = { "_arg_", "_retval_" };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		if (!strncmp(name, ports[i], strlen(ports[i]))) {
			snprintf(out, size, "%s", name + strlen(ports[i]));
			for (int cut = 0; cut < 2 && strrchr(out, '_'); cut++)
				*strrchr(out, '_') = '\0';
			return;
		}
	for (bool begins = true; *name && n + 1 < size; begins = out[n++] == '/', name++) {
		if (begins)
			name += after_optimizer(name);
		out[n] = *name;
		if (!*name)
			break;
	}
	out[n] = '\0';
}

/* Where the names of an inlined or lowered function start: after each "PartitionedCall/" and
 * "/_12/". NULL: there are no more. */
static const char *next_inner(const char *at, const char *end)
{
	for (; at < end; at++) {
		const char *slash = memchr(at, '/', (size_t)(end - at));

		if (!slash)
			return NULL;
		if (slash - at >= 15 && memmem(at, (size_t)(slash - at), "PartitionedCall", 15))
			return slash + 1;
		if (*at == '_' && strspn(at + 1, "0123456789") == (size_t)(slash - at - 1))
			return slash + 1;
		at = slash;
	}
	return NULL;
}

/* Whether the last part of a name was derived from another name: "Cast-0-Transpose...",
 * "Cast-folded", "ReorderCastLikeAndValuePreserving_uint8_Cast". */
static bool derive_part(const char *graph, const char *name, struct tf_line *line)
{
	const char *last = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	const char *cut = strchr(last, '-'), *under = last;
	size_t scope = (size_t)(last - name);
	char buf[GRAPHDEF_NAME_BYTES];

	if (cut && known_anywhere(graph, name, (size_t)(cut - name), line))
		return true;
	while ((under = strchr(under, '_')) && scope + strlen(under) < sizeof(buf)) {
		under++;
		snprintf(buf, sizeof(buf), "%.*s%s", (int)scope, name, under);
		cut = strchr(buf + scope, '-');
		if (*under &&
		    known_anywhere(graph, buf, cut ? (size_t)(cut - buf) : strlen(buf), line))
			return true;
	}
	return false;
}

/*
 * Finds the line by the name: that of the node from which an optimizer made it; of a node of an
 * inlined function that was rewritten ("StatefulPartitionedCall/MatMul"); of what it is a part of,
 * before a slash ("while/merge/_8" for the loop "while"). Takes the longest name that is known.
 */
static bool tf_nodes_derive(const char *graph, const char *full, struct tf_line *line)
{
	char name[GRAPHDEF_NAME_BYTES];
	const char *part, *end;

	tf_nodes_strip(name, sizeof(name), full);
	for (part = name; part; part = strchr(part, '/')) {
		part += part != name;
		if (known_anywhere(graph, part, strlen(part), line))
			return true;
	}
	if (derive_part(graph, name, line))
		return true;
	for (end = strrchr(name, '/'); end; end = memrchr(name, '/', (size_t)(end - name)))
		for (part = name; part; part = next_inner(part, end))
			if (part < end && known_anywhere(graph, part, (size_t)(end - part), line))
				return true;
	return false;
}

static bool is_eager(const char *graph, const char **op)
{
	*op = graph + strlen(TF_GRAPH_EAGER) + 1;
	return !strncmp(graph, TF_GRAPH_EAGER " ", strlen(TF_GRAPH_EAGER) + 1);
}

static bool is_port(const char *type)
{
	return !strcmp(type, "_Arg") || !strcmp(type, "_Retval") || !strcmp(type, "_DeviceArg") ||
	       !strcmp(type, "_DeviceRetval");
}

static enum tft_origin find_line(const char *graph, const struct graphdef_node *n,
				 struct tf_line *line)
{
	const char *op;

	if (is_eager(graph, &op))
		return tf_line_eager(op, line) ? TFT_ORIGIN_FIRST : TFT_ORIGIN_NONE;
	if (n->first_name[0] &&
	    known(n->first_function, n->first_name, strlen(n->first_name), line))
		return TFT_ORIGIN_EXACT;
	if (known(graph, n->name, strlen(n->name), line))
		return TFT_ORIGIN_EXACT;
	if (tf_nodes_derive(graph, n->name, line))
		return TFT_ORIGIN_NAME;
	return is_port(n->type) && tf_line_eager(graph, line) ? TFT_ORIGIN_CALL : TFT_ORIGIN_NONE;
}

/* ---- nodes ---- */

static const char *tf_nodes_keep_text(const char *text)
{
	size_t n = strlen(text) + 1;
	char *at;

	if (n == 1)
		return "";
	if (block_left < n) {
		block = n_blocks < BLOCKS_MAX ? map(BLOCK_BYTES) : NULL;
		block_left = block ? BLOCK_BYTES : 0;
		if (!block)
			return NULL;
		n_blocks++;
	}
	at = block;
	memcpy(at, text, n);
	block += n;
	block_left -= n;
	return at;
}

static void send(uint32_t id)
{
	const struct node_kept *k = &t->node[id];
	struct tft_node node = {
		.id = id, .graph = k->graph, .name = k->name, .type = k->type,
		.device = k->device, .file = k->file, .line = k->line, .function = k->function,
		.origin = k->origin,
		.inputs = k->inputs, .attributes = k->attributes,
	};

	rt_emit_node(&node);
}

/* The id of a node; 0: there is no room. */
static uint32_t node_id(uint32_t graph, uint32_t name)
{
	uint32_t i = (uint32_t)tf_mix((uint64_t)graph << 32 | name) % SLOTS;

	for (; t->slot[i]; i = (i + 1) % SLOTS)
		if (t->node[t->slot[i]].graph == graph && t->node[t->slot[i]].name == name)
			return t->slot[i];
	if (n_nodes >= NODES_MAX)
		return 0;
	t->slot[i] = ++n_nodes;
	t->node[n_nodes].graph = graph;
	t->node[n_nodes].name = name;
	return n_nodes;
}

size_t tf_nodes_take(const char *graph, struct graphdef_node *n)
{
	struct tf_line line = { .line = 0 };
	struct node_kept *k, now;
	uint32_t id;

	if (!ready()) {
		rt_dropped(1);
		return 0;
	}
	if (n->first_function[0])
		tf_cover(n->first_function);
	now.graph = rt_name(TFT_NAME_NODE, graph);
	now.name = rt_name(TFT_NAME_NODE, n->name);
	id = now.graph && now.name ? node_id(now.graph, now.name) : 0;
	if (!id) {
		full("not all nodes of the graphs were kept");
		return 0;
	}
	k = &t->node[id];
	note_inlined(now.graph, n->first_function);
	now.type = rt_name(TFT_NAME_OP_TYPE, n->type);
	now.device = n->device[0] ? rt_name(TFT_NAME_NODE, n->device) : 0;
	now.origin = find_line(graph, n, &line);
	now.file = line.file;
	now.line = line.line;
	now.function = line.function;
	now.hash = (uint32_t)tf_hash_name(tf_hash_name(3, n->inputs, strlen(n->inputs)),
					  n->attributes,
				  strlen(n->attributes));
	if (k->inputs && k->type == now.type && k->device == now.device && k->hash == now.hash &&
	    k->file == now.file && k->line == now.line)
		return 0;
	now.inputs = tf_nodes_keep_text(n->inputs);
	now.attributes = tf_nodes_keep_text(n->attributes);
	if (!now.inputs || !now.attributes) {
		full("not all of the graphs' text was kept");
		now.inputs = now.inputs ? now.inputs : "";
		now.attributes = "";
	}
	*k = now;
	send(id);
	return strlen(n->inputs) + strlen(n->attributes) + strlen(n->name) + 64;
}

void tf_nodes_dump(void)
{
	for (uint32_t id = 1; id <= n_nodes; id++)
		if (t->node[id].inputs)
			send(id);
}

void tf_nodes_forget(void)
{
	t = NULL;
	block = NULL;
	block_left = 0;
	n_nodes = n_lines = n_covered = n_blocks = 0;
	said_full = false;
}
