/* SPDX-License-Identifier: MIT */
/* Edges between ops, and which op is whose gradient. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/flows.h"
#include "model/ops/passes.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

TEST(passes_by_name)
{
	static const struct { const char *name, *base; enum pass pass; } names[] = {
		{"conv1/forward", "conv1", PASS_FORWARD},
		{"conv1/backward", "conv1", PASS_BACKWARD},
		{"layer.3.backward", "layer.3", PASS_BACKWARD},
		{"attention_bwd_2", "attention", PASS_BACKWARD},
		{"forward/head", "head", PASS_FORWARD},
		{"aten::addmm", "addmm", PASS_FORWARD},
		{"AddmmBackward0", "addmm", PASS_BACKWARD},
		{"NativeLayerNormBackward0", "native_layer_norm", PASS_BACKWARD},
		{"autograd::engine::evaluate_function: ConvolutionBackward0", "convolution",
		 PASS_BACKWARD},
		{"gradients/conv2d_1/Conv2DBackpropFilter", "conv2d_1/Conv2D", PASS_BACKWARD},
		{"gradients/max_pooling2d/MaxPoolGrad", "max_pooling2d/MaxPool", PASS_BACKWARD},
		{"gradients/model/conv_1/Conv2D_grad/Conv2DBackpropInput", "model/conv_1/Conv2D",
		 PASS_BACKWARD},
		{"gradient_tape/model/dense/MatMul/MatMul_1", "model/dense/MatMul/MatMul_1",
		 PASS_BACKWARD},
		{"model/conv2d_1/Conv2D", "", PASS_NONE},
		{"backward", "", PASS_NONE},
		{"Backward", "", PASS_NONE},
		{"/backward", "", PASS_NONE},
		{"", "", PASS_NONE},
	};
	char base[PASS_BASE_MAX], tiny[4];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK_INT(pass_of(names[i].name, base, sizeof(base)), names[i].pass);
		CHECK_STR(base, names[i].base);
	}
	CHECK_INT(pass_of("conv1/forward", tiny, sizeof(tiny)), PASS_NONE);
	CHECK_STR(tiny, "");
}

static const char *forward_of(const struct pass_pair *pairs, size_t n, const char *backward)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(pairs[i].backward, backward))
			return pairs[i].forward;
	return "";
}

TEST(passes_of_the_ops_that_were_seen)
{
	static const char *const names[] = {
		"conv1/forward", "conv1/backward", "model/conv2d_1/Conv2D",
		"gradients/conv2d_1/Conv2DBackpropFilter", "gradients/conv2d_1/Conv2DBackpropInput",
		"a/dense/MatMul", "b/dense/MatMul", "gradients/dense/MatMulGrad", "lonely/backward",
	};
	struct model *model = model_with_device();
	struct pass_pair *pairs;
	size_t n;

	for (uint32_t i = 0; i < 9; i++) {
		apply_one(model, ev_name(20 + i, NAME_OP, names[i]));
		apply_one(model, ev_op(20 + i, 1 + i, 0, 1000 * (int64_t)i, 100, 0));
	}
	n = model_passes(model, &pairs);
	CHECK_INT(n, 3);
	CHECK_STR(forward_of(pairs, n, "conv1/backward"), "conv1/forward");
	CHECK_STR(forward_of(pairs, n, "gradients/conv2d_1/Conv2DBackpropFilter"),
		  "model/conv2d_1/Conv2D");
	CHECK_STR(forward_of(pairs, n, "gradients/conv2d_1/Conv2DBackpropInput"),
		  "model/conv2d_1/Conv2D");
	/* Two could be meant: none is. */
	CHECK_STR(forward_of(pairs, n, "gradients/dense/MatMulGrad"), "");
	free(pairs);
	model_free(model);
}

static struct event edge_of(uint64_t from, uint64_t to, uint64_t bytes, int64_t after)
{
	return (struct event) {
		.type = EVENT_EDGE, .pid = PID, .tid = PID, .time_ns = BASE + after,
		.u.edge = { .from = from, .to = to, .bytes = bytes, .key = 9 },
	};
}

static const struct edge_row *edge_between(const struct edge_row *rows, size_t n,
					   const char *source, const char *destination)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].source && rows[i].destination && !strcmp(rows[i].source, source) &&
		    !strcmp(rows[i].destination, destination))
			return &rows[i];
	test_fail(__FILE__, __LINE__, "no edge %s to %s", source, destination);
}

/* Two producers, a consumer; whatever the order. */
TEST(edges_after_the_last_input)
{
	struct event events[5 * 30];
	struct edge_row *rows;
	const struct edge_row *row;

	for (int round = 0; round < 40; round++) {
		struct model *model = model_with_device();
		size_t n = 0;

		for (uint64_t i = 0; i < 30; i++) {
			int64_t t = 100000 * (int64_t)i;
			uint64_t id = 10 * i + 1;

			events[n++] = ev_op(1, id, 0, t, 1000, 0);
			events[n++] = ev_op(2, id + 1, 0, t + 2000, 3000 + (int64_t)i, 0);
			/* Starts 7000 after the second has ended. */
			events[n++] = ev_op(3, id + 2, 0, t + 12000 + (int64_t)i, 500, 0);
			events[n++] = edge_of(id, id + 2, 100, t + 12000);
			events[n++] = edge_of(id + 1, id + 2, 10, t + 12000);
		}
		for (size_t i = n; i > 1 && round; i--) {
			size_t other = test_below(i);
			struct event swap = events[i - 1];

			events[i - 1] = events[other];
			events[other] = swap;
		}
		for (size_t i = 0; i < n; i++)
			apply_one(model, events[i]);
		if (round % 2)
			apply_one(model, ev_alive(BASE + 100000000));
		else
			model_finish(model, false);
		CHECK_INT(model_edges(model, &rows), 2);
		row = edge_between(rows, 2, "kernel1", "kernel3");
		CHECK_STR(row->key, "kernel9");
		CHECK_INT(row->count, 30);
		CHECK_INT(row->bytes, 3000);
		CHECK_INT(row->measured, 0);
		CHECK_INT(row->latency_p50_ns, -1);
		row = edge_between(rows, 2, "kernel2", "kernel3");
		CHECK_INT(row->count, 30);
		CHECK_INT(row->measured, 30);
		CHECK(row->latency_p50_ns >= 6800 && row->latency_p50_ns <= 7200);
		CHECK(row->latency_p99_ns >= 6800 && row->latency_p99_ns <= 7200);
		free(rows);
		CHECK_INT(status_of(model).bad, 0);
		model_free(model);
	}
}

TEST(edges_that_cannot_be_measured)
{
	struct model *model = model_with_device();
	struct edge_row *rows;

	apply_one(model, ev_op(1, 1, 0, 0, 5000, 0));
	/* Begins before its input has ended: it takes it bit by bit. */
	apply_one(model, ev_op(2, 2, 0, 1000, 100, 0));
	apply_one(model, edge_of(1, 2, 8, 1100));
	/* One of its inputs was never seen: which was the last is not known. */
	apply_one(model, ev_op(3, 3, 0, 9000, 100, 0));
	apply_one(model, edge_of(1, 3, 8, 9100));
	apply_one(model, edge_of(99, 3, 8, 9100));
	/* Impossible ones. */
	apply_one(model, edge_of(0, 3, 8, 9100));
	apply_one(model, edge_of(3, 3, 8, 9100));
	apply_one(model, edge_of(1, 3, UINT64_MAX, 9100));
	CHECK_INT(status_of(model).bad, 3);
	model_finish(model, false);
	CHECK_INT(model_edges(model, &rows), 3);
	CHECK_INT(edge_between(rows, 3, "kernel1", "kernel2")->measured, 1);
	CHECK_INT(edge_between(rows, 3, "kernel1", "kernel2")->latency_p50_ns, 0);
	CHECK_INT(edge_between(rows, 3, "kernel1", "kernel3")->measured, 0);
	free(rows);
	model_free(model);
}

/* More than there is room for: counted all the same, the oldest early. */
TEST(edges_without_an_end)
{
	struct model *model = model_with_device();
	struct edge_row *rows;
	uint64_t n = 300000, count = 0;
	size_t n_rows;

	for (uint64_t i = 0; i < n; i++)
		apply_one(model, edge_of(1 + i, 1 + i / 3 + n, 1, 1000));
	model_finish(model, false);
	n_rows = model_edges(model, &rows);
	for (size_t i = 0; i < n_rows; i++)
		count += rows[i].count;
	CHECK_INT(count, n);
	free(rows);
	model_free(model);
}
