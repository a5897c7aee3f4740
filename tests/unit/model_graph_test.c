/* SPDX-License-Identifier: MIT */
/* Graphs: what runs joined to nodes, edges, waits, lines; against plain scans. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording/export.h"
#include "model/query/graph.h"
#include "model/query/lines.h"
#include "tests/unit/model_graph.h"
#include "tests/unit/test.h"

TEST(model_graph_joins_by_rules)
{
	static const char *const nodes[] = { "a",	   "dense/MatMul", "while/add",
					     "out_RetVal", "deep/y",	   "x/MatMul" };
	static const struct { const char *op; const char *node; enum graph_rule rule;
	} ops[] = {
		{ "a", "a", GRAPH_EXACT },
		{ "StatefulPartitionedCall/PartitionedCall/dense/MatMul", "dense/MatMul",
		  GRAPH_INLINED },
		{ "outer/while/body/_1/while/add", "while/add", GRAPH_LOWERED },
		{ "out_retval_RetVal", "out_RetVal", GRAPH_RESULT },
		{ "model/layer/deep/y", "deep/y", GRAPH_SUFFIX },
		{ "nobody", NULL, GRAPH_NOT },
	};
	struct model *model = model_with_graph();
	struct graph_counts counts;
	struct graph_node node;

	for (uint32_t i = 0; i < 6; i++) {
		apply_one(model, ev_name(NAME0 + i, NAME_NODE, nodes[i]));
		apply_one(model, node_event(i + 1, NAME0 + i, "", i));
		apply_one(model, ev_name(NAME0 + 50 + i, NAME_OP, ops[i].op));
		apply_one(model, ran(NAME0 + 50 + i, i + 1, 1000 * (int64_t)i, 10 + (int64_t)i, 1));
	}
	for (uint32_t i = 0; i < 6; i++) {
		if (!ops[i].node) {
			CHECK(!found(model, ops[i].op, &node));
			continue;
		}
		CHECK(found(model, ops[i].op, &node));
		CHECK_STR(node.name, ops[i].node);
		CHECK_INT(node.rule, ops[i].rule);
		CHECK_INT(node.count, 1);
		CHECK_INT(node.total_ns, 10 + i);
	}
	model_lock(model);
	model_graph_counts(model, &counts);
	model_unlock(model);
	CHECK_INT(counts.nodes, 6);
	CHECK_INT(counts.graphs, 1);
	CHECK_INT(counts.ops, 6);
	for (int rule = GRAPH_NOT; rule < GRAPH_RULES; rule++)
		CHECK_INT(counts.joined[rule], 1);
	model_free(model);
}

/* The end of a path counts only for an op of the same type. */
TEST(model_graph_suffix_wants_the_type)
{
	struct model *model = model_with_graph();
	struct graph_node node;
	struct event event;

	apply_one(model, ev_name(NAME0, NAME_NODE, "add"));
	apply_one(model, node_event(1, NAME0, "", 0));
	apply_one(model, ev_name(NAME0 + 1, NAME_OP, "grad/add"));
	apply_one(model, ev_name(NAME0 + 2, NAME_OP_TYPE, "Relu"));
	event = ran(NAME0 + 1, 1, 100, 10, 1);
	event.u.op.op_type = NAME0 + 2;
	apply_one(model, event);
	CHECK(found(model, "add", &node));
	CHECK_INT(node.count, 0);
	model_free(model);
}

TEST(model_graph_finds_nodes)
{
	static const char *const names[] = { "conv/one", "conv/two", "dense/MatMul", "dense/Add" };
	struct model *model = model_with_graph();
	struct graph_node node;
	const char *choices[2];
	char error[512];
	uint32_t index;

	CHECK(!found(model, "conv/one", &node));
	for (uint32_t i = 0; i < 4; i++) {
		apply_one(model, ev_name(NAME0 + i, NAME_NODE, names[i]));
		apply_one(model, node_event(i + 1, NAME0 + i, "", 0));
	}
	CHECK(found(model, "conv/one", &node) && !strcmp(node.name, "conv/one"));
	CHECK(found(model, "dense/M", &node) && !strcmp(node.name, "dense/MatMul"));
	CHECK(found(model, "Ad+$", &node) && !strcmp(node.name, "dense/Add"));
	CHECK(found(model, "one", &node) && !strcmp(node.name, "conv/one"));
	/* its gradient has the name in it too: the path that ends so is meant */
	apply_one(model, ev_name(NAME0 + 4, NAME_NODE, "grad/conv/one/Conv"));
	apply_one(model, node_event(5, NAME0 + 4, "", 0));
	CHECK(found(model, "one", &node) && !strcmp(node.name, "conv/one"));
	model_lock(model);
	CHECK_INT(model_graph_choices(model, "conv/one", choices, 2), 0);
	CHECK_INT(model_graph_choices(model, "e/", choices, 2), 3);
	CHECK_STR(choices[0], "dense/MatMul");
	CHECK_STR(choices[1], "dense/Add");
	CHECK(!model_graph_find(model, "conv", &index, error, sizeof(error)));
	CHECK_STR(error, "2 nodes match 'conv': conv/one, conv/two");
	CHECK(!model_graph_find(model, "dens/MatMull", &index, error, sizeof(error)));
	CHECK(strstr(error, "no node 'dens/MatMull'; near: dense/MatMul") == error);
	CHECK(!model_graph_find(model, "(", &index, error, sizeof(error)));
	CHECK_STR(error, "no node '('");
	model_unlock(model);
	model_free(model);
}

/* ---- a made-up graph, against a plain scan ---- */

#define NODES 40
#define STEPS 30

struct made {
	int n_in[NODES], in[NODES][4];
	int64_t start[STEPS][NODES], end[STEPS][NODES];
};

static unsigned random_to(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % n;
}

static void make_graph(struct made *m, struct model *model, unsigned *seed)
{
	for (int i = 0; i < NODES; i++) {
		char name[32], inputs[128] = "";
		size_t length = 0;

		m->n_in[i] = i ? (int)random_to(seed, 4) : 0;
		for (int k = 0; k < m->n_in[i]; k++) {
			m->in[i][k] = (int)random_to(seed, (unsigned)i);
			length += (size_t)snprintf(inputs + length, sizeof(inputs) - length,
						   "%s%sn%d%s", k ? " " : "", k == 2 ? "^" : "",
						   m->in[i][k], k == 1 ? ":1" : "");
		}
		snprintf(name, sizeof(name), "n%d", i);
		/* a name may come after what is called so */
		if (i % 2)
			apply_one(model, ev_name(NAME0 + (uint32_t)i, NAME_NODE, name));
		apply_one(model, node_event((uint32_t)i + 1, NAME0 + (uint32_t)i, inputs,
					    (uint32_t)i % 7));
		if (i % 2 == 0)
			apply_one(model, ev_name(NAME0 + (uint32_t)i, NAME_NODE, name));
	}
}

static void run_steps(struct made *m, struct model *model, unsigned *seed)
{
	uint64_t instance = 0;

	for (int s = 0; s < STEPS; s++) {
		struct event events[NODES];

		for (int i = 0; i < NODES; i++) {
			int64_t ready = 100000 * (int64_t)s;

			for (int k = 0; k < m->n_in[i]; k++)
				if (m->end[s][m->in[i][k]] > ready)
					ready = m->end[s][m->in[i][k]];
			m->start[s][i] = ready + random_to(seed, 50);
			m->end[s][i] = m->start[s][i] + 1 + random_to(seed, 100);
			events[i] = ran(NAME0 + (uint32_t)i, ++instance, m->start[s][i],
					m->end[s][i] - m->start[s][i],
					s % 2 ? s : INT64_MIN + s);
		}
		/* threads tell in any order */
		for (int i = NODES; i > 1; i--) {
			int k = (int)random_to(seed, (unsigned)i);
			struct event swap = events[i - 1];

			events[i - 1] = events[k];
			events[k] = swap;
		}
		for (int i = 0; i < NODES; i++)
			apply_one(model, events[i]);
		if (s % 5 == 4)
			apply_one(model, ev_alive(100000 * (int64_t)(s + 1) - 1));
	}
	model_finish(model, false);
}

static void check_node(const struct made *m, struct model *model, int i)
{
	int64_t total = 0, waited = 0;
	struct graph_edge *edges;
	struct graph_node node;
	char name[32];
	size_t n, takers = 0;

	snprintf(name, sizeof(name), "n%d", i);
	CHECK(found(model, name, &node));
	for (int s = 0; s < STEPS; s++) {
		int64_t last = 0;

		total += m->end[s][i] - m->start[s][i];
		for (int k = 0; k < m->n_in[i]; k++)
			if (m->end[s][m->in[i][k]] > last)
				last = m->end[s][m->in[i][k]];
		waited += m->n_in[i] ? m->start[s][i] - last : 0;
	}
	CHECK_INT(node.count, STEPS);
	CHECK_INT(node.total_ns, total);
	CHECK_INT(node.waits, m->n_in[i] ? STEPS : 0);
	CHECK_INT(node.wait_mean_ns, m->n_in[i] ? waited / STEPS : -1);
	if (i % 7)
		CHECK_INT(node.line, (uint32_t)i % 7);
	else
		CHECK(node.how == GRAPH_LINE_EDGE || node.how == GRAPH_LINE_NONE);
	model_lock(model);
	n = model_graph_inputs(model, node.index, &edges);
	CHECK_INT(n, m->n_in[i]);
	for (size_t k = 0; k < n; k++) {
		struct graph_node input;

		snprintf(name, sizeof(name), "n%d", m->in[i][k]);
		CHECK_STR(edges[k].name, name);
		CHECK(model_graph_node(model, edges[k].node, &input));
		CHECK_STR(input.name, name);
		CHECK_INT(edges[k].control, k == 2);
		CHECK_INT(edges[k].slot, k == 1);
	}
	free(edges);
	for (int t = 0; t < NODES; t++) {
		bool takes = false;

		for (int k = 0; k < m->n_in[t]; k++)
			takes |= m->in[t][k] == i;
		takers += takes;
	}
	n = model_graph_outputs(model, node.index, &edges);
	CHECK_INT(n, takers);
	free(edges);
	model_unlock(model);
}

/* Each node's line, lent ones too: of a neighbour of its own that has one. */
static void lines_of(struct model *model, uint32_t line[NODES])
{
	struct graph_node node, from;
	char name[32];

	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		CHECK(found(model, name, &node));
		line[i] = node.line;
		if (node.how != GRAPH_LINE_EDGE)
			continue;
		model_lock(model);
		CHECK(model_graph_node(model, node.lent, &from));
		model_unlock(model);
		CHECK_INT(from.how, GRAPH_LINE_EXACT);
		CHECK_INT(from.line, node.line);
	}
}

static void check_lines(const struct made *m, struct model *model)
{
	uint32_t line[NODES];
	struct source_line *lines;
	struct source_row *files;
	size_t n;

	lines_of(model, line);
	model_lock(model);
	n = model_sources(model, NULL, &files);
	CHECK_INT(n, 1);
	CHECK_STR(files[0].file, "/home/me/train.py");
	CHECK(!files[0].library);
	n = model_source_lines(model, files[0].file, &lines);
	CHECK_INT(n, 6);
	for (size_t k = 0; k < n; k++) {
		int64_t total = 0;
		uint64_t nodes = 0;

		for (int i = 0; i < NODES; i++)
			if (line[i] == lines[k].line) {
				nodes++;
				for (int s = 0; s < STEPS; s++)
					total += m->end[s][i] - m->start[s][i];
			}
		CHECK_INT(lines[k].nodes, nodes);
		CHECK_INT(lines[k].cost.total_ns, total);
		CHECK_INT(lines[k].cost.calls, nodes * STEPS);
	}
	free(lines);
	free(files);
	model_unlock(model);
}

TEST(model_graph_waits_edges_lines)
{
	unsigned seed = 20180611, first = seed;
	struct model *model = model_with_graph();
	struct made *m = calloc(1, sizeof(*m));

	printf("seed %u\n", first);
	make_graph(m, model, &seed);
	run_steps(m, model, &seed);
	for (int i = 0; i < NODES; i++)
		check_node(m, model, i);
	check_lines(m, model);
	free(m);
	model_free(model);
}

/* Ops that a model gives source lines for, and what is written again. */
static size_t count_of(struct model *model, enum event_type type)
{
	struct event events[64];
	struct model_export *x = model_export_new(model, 0);
	size_t n, count = 0;

	while ((n = model_export_next(x, events, 64)))
		for (size_t i = 0; i < n; i++)
			count += events[i].type == type;
	model_export_free(x);
	return count;
}

TEST(model_graph_export_and_source)
{
	struct model *model = model_with_graph();
	struct event info = {
		.type = EVENT_INFO, .pid = PID, .time_ns = BASE,
		.u.info = { .scope = "tensorflow", .key = "version", .value = "1" },
	};
	struct info_row *infos;
	struct op_row *ops;
	size_t n;

	apply_one(model, ev_name(NAME0, NAME_NODE, "a/MatMul"));
	apply_one(model, node_event(1, NAME0, "", 41));
	apply_one(model, node_event(1, NAME0, "b", 42));
	apply_one(model, ran(NAME0, 1, 100, 50, 1));
	apply_one(model, info);
	info.u.info.value = "2.21";
	apply_one(model, info);
	model_lock(model);
	n = model_ops(model, &ops);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(ops[i].name, "a/MatMul")) {
			CHECK_STR(ops[i].file, "/home/me/train.py");
			CHECK_INT(ops[i].line, 42);
		}
	free(ops);
	CHECK_INT(model_infos(model, &infos), 1);
	CHECK_STR(infos[0].value, "2.21");
	free(infos);
	model_unlock(model);
	CHECK_INT(count_of(model, EVENT_NODE), 1);
	CHECK_INT(count_of(model, EVENT_INFO), 1);
	model_free(model);
}

TEST(model_graph_odd)
{
	struct model *model = model_with_graph();
	struct graph_edge *edges;
	struct graph_node node;

	apply_one(model, node_event(0, NAME0, "", 0));
	apply_one(model, node_event(1, 0, "", 0));
	CHECK_INT(status_of(model).bad, 2);
	/* a loop, itself, nobody, nothing */
	apply_one(model, ev_name(NAME0, NAME_NODE, "me"));
	apply_one(model, node_event(1, NAME0, "  me ^me nobody:3 ^ : ", 0));
	/* the same id for another one */
	apply_one(model, ev_name(NAME0 + 1, NAME_NODE, "other"));
	apply_one(model, node_event(1, NAME0 + 1, "", 0));
	CHECK_INT(status_of(model).bad, 3);
	apply_one(model, ran(NAME0, 1, 100, 10, 1));
	model_finish(model, false);
	CHECK(found(model, "me", &node));
	CHECK_INT(node.waits, 0);
	model_lock(model);
	CHECK_INT(model_graph_inputs(model, node.index, &edges), 5);
	CHECK_INT(edges[0].node, node.index);
	CHECK_INT(edges[2].node, GRAPH_NONE);
	CHECK_STR(edges[2].name, "nobody");
	free(edges);
	CHECK_INT(model_graph_outputs(model, node.index, &edges), 1);
	free(edges);
	CHECK(!model_graph_node(model, 7, &node));
	model_unlock(model);
	model_free(model);
}

void ask_graphs(struct model *model)
{
	struct graph_counts counts;
	struct graph_edge *edges;
	struct graph_node node;
	struct source_row *files;
	struct info_row *infos;
	char error[256];
	uint32_t found;

	model_graph_counts(model, &counts);
	for (uint32_t i = 0; model_graph_node(model, i, &node); i++) {
		CHECK(node.total_ns >= 0 && node.attributes);
		model_graph_inputs(model, i, &edges);
		free(edges);
		model_graph_outputs(model, i, &edges);
		free(edges);
	}
	model_graph_find(model, "a.*", &found, error, sizeof(error));
	model_sources(model, NULL, &files);
	free(files);
	model_infos(model, &infos);
	free(infos);
}

/* What has no line takes that of what it takes, else of who takes from it; at most
 * four edges away, the nearest first. */
TEST(model_graph_lends_lines)
{
	static const struct {
		const char *name, *inputs;
		uint32_t line, origin;
		const char *lent;	/* NULL: none */
		enum graph_line how;
	} nodes[] = {
		{ "made", "", 3, ORIGIN_EXACT, "made", GRAPH_LINE_EXACT },
		{ "named", "", 4, ORIGIN_NAME, "named", GRAPH_LINE_NAME },
		{ "called", "", 5, ORIGIN_CALL, "called", GRAPH_LINE_CALL },
		{ "first", "", 6, ORIGIN_FIRST, "first", GRAPH_LINE_FIRST },
		{ "old", "", 7, ORIGIN_NONE, "old", GRAPH_LINE_EXACT },
		{ "data", "^made named:1", 0, 0, "named", GRAPH_LINE_EDGE },
		{ "control", "^made", 0, 0, "made", GRAPH_LINE_EDGE },
		{ "given", "", 0, 0, "taker", GRAPH_LINE_EDGE },
		{ "taker", "given", 8, ORIGIN_EXACT, "taker", GRAPH_LINE_EXACT },
		{ "far1", "made", 0, 0, "made", GRAPH_LINE_EDGE },
		{ "far2", "far1", 0, 0, "made", GRAPH_LINE_EDGE },
		{ "far3", "far2", 0, 0, "made", GRAPH_LINE_EDGE },
		{ "far4", "far3", 0, 0, "made", GRAPH_LINE_EDGE },
		{ "far5", "far4", 0, 0, NULL, GRAPH_LINE_NONE },
		{ "alone", "nobody", 0, 0, NULL, GRAPH_LINE_NONE },
	};
	const uint32_t n = sizeof(nodes) / sizeof(nodes[0]);
	struct model *model = model_with_graph();
	struct graph_counts counts;
	struct graph_node node, from;
	struct event event;

	for (uint32_t i = 0; i < n; i++) {
		/* those that take come before what they take */
		uint32_t k = n - 1 - i;

		apply_one(model, ev_name(NAME0 + k, NAME_NODE, nodes[k].name));
		event = node_event(k + 1, NAME0 + k, nodes[k].inputs, nodes[k].line);
		event.u.node.origin = nodes[k].origin;
		apply_one(model, event);
		apply_one(model, ev_name(NAME0 + 50 + k, NAME_OP, nodes[k].name));
		apply_one(model, ran(NAME0 + 50 + k, k + 1, 1000 * (int64_t)k, 10, 1));
	}
	for (uint32_t i = 0; i < n; i++) {
		CHECK(found(model, nodes[i].name, &node));
		CHECK_INT(node.how, nodes[i].how);
		CHECK_INT(node.line != 0, nodes[i].lent != NULL);
		if (!nodes[i].lent)
			continue;
		CHECK(found(model, nodes[i].lent, &from));
		CHECK_INT(node.lent, from.index);
		CHECK_INT(node.line, from.line);
		CHECK_STR(node.file, "/home/me/train.py");
	}
	model_lock(model);
	model_graph_counts(model, &counts);
	model_unlock(model);
	CHECK_INT(counts.lines[GRAPH_LINE_EXACT], 3);
	CHECK_INT(counts.lines[GRAPH_LINE_NAME], 1);
	CHECK_INT(counts.lines[GRAPH_LINE_CALL], 1);
	CHECK_INT(counts.lines[GRAPH_LINE_FIRST], 1);
	CHECK_INT(counts.lines[GRAPH_LINE_EDGE], 7);
	CHECK_INT(counts.lines[GRAPH_LINE_NONE], 2);
	model_free(model);
}
