/* SPDX-License-Identifier: MIT */
#include "examples/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/marks.h"

#define CHANNELS_1 8
#define CHANNELS_2 16
#define LOOK	   4 /* side of the corner that network_look reads */

struct layer {
	const char *name;
	cl_int4 shape;		  /* batch, in, out, side of the input */
	size_t offset, n_weights; /* in the buffer of all weights, floats */
	size_t n_biases;
	struct tensor params;			/* weights and biases */
	struct tensor weight_grads, bias_grads;
	struct tensor y;			/* before the maximum, dense: the result */
	struct tensor dy;			/* its gradient */
	struct tensor pooled, pooled_dy, which; /* behind the maximum */
};

struct network {
	struct cl_device *dev;
	bool fused;
	int shrink, pieces;
	size_t batch, n_params;
	float *host; /* n_params; owned */
	float *host_metrics;
	struct tensor params, grads, snapshot;
	struct tensor x, metrics;
	struct layer conv1, conv2, dense;
};

static size_t shape_size(const struct layer *l)
{
	return (size_t)l->shape.s[3] * (size_t)l->shape.s[3];
}

static void new_floats(struct network *net, struct tensor *t, size_t count)
{
	tensor_new(net->dev, t, CL_MEM_READ_WRITE, count, sizeof(float));
}

/* Gives the layer its part of the weights, behind those of the one before. */
static void place_layer(struct network *net, struct layer *l, const char *name, int in, int out,
			int side, size_t n_weights)
{
	l->name = name;
	l->shape = (cl_int4){ { (cl_int)net->batch, in, out, side } };
	l->offset = net->n_params;
	l->n_weights = n_weights;
	l->n_biases = (size_t)out;
	net->n_params += l->n_weights + l->n_biases;
}

static void make_parts(struct network *net, struct layer *l)
{
	tensor_part(&l->params, &net->params, l->offset, l->n_weights + l->n_biases);
	tensor_part(&l->weight_grads, &net->grads, l->offset, l->n_weights);
	tensor_part(&l->bias_grads, &net->grads, l->offset + l->n_weights, l->n_biases);
}

static void make_conv_buffers(struct network *net, struct layer *l)
{
	const size_t outputs = net->batch * l->n_biases * shape_size(l);

	make_parts(net, l);
	new_floats(net, &l->pooled, outputs / 4);
	new_floats(net, &l->pooled_dy, outputs / 4);
	tensor_new(net->dev, &l->which, CL_MEM_READ_WRITE, outputs / 4, 1);
	new_floats(net, &l->dy, outputs);
	if (!net->fused)
		new_floats(net, &l->y, outputs);
}

/* Uniform in +-sqrt(3 / inputs); biases 0. */
static void fill_params(float *to, const struct layer *l, size_t inputs, uint64_t *state)
{
	const float scale = sqrtf(3.0f / (float)inputs);
	size_t i;

	for (i = 0; i < l->n_weights + l->n_biases; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		to[l->offset + i] = i < l->n_weights ?
			scale * ((float)(*state >> 40) / (float)(1 << 23) - 1.0f) : 0.0f;
	}
}

static void upload_params(struct network *net, uint64_t seed)
{
	uint64_t state = seed ^ 0x5851f42d4c957f2du;

	fill_params(net->host, &net->conv1, 9, &state);
	fill_params(net->host, &net->conv2, CHANNELS_1 * 9, &state);
	fill_params(net->host, &net->dense, net->dense.n_weights / net->dense.n_biases, &state);
	cl_write(net->dev, 0, &net->params, net->host);
	/* the parts have no history yet: what follows must not overtake this */
	cl_settle(net->dev);
}

struct network *network_new(struct cl_device *dev, const struct network_options *o)
{
	struct network *net = calloc(1, sizeof(*net));
	const int side = o->side, classes = o->classes;
	const int features = CHANNELS_2 * (side / 4) * (side / 4);

	if (!net)
		cl_check(CL_OUT_OF_HOST_MEMORY, "network_new");
	net->dev = dev;
	net->fused = o->fused;
	net->shrink = o->shrink;
	net->pieces = o->pieces;
	net->batch = (size_t)o->batch;
	place_layer(net, &net->conv1, "conv1", 1, CHANNELS_1, side, CHANNELS_1 * 9);
	place_layer(net, &net->conv2, "conv2", CHANNELS_1, CHANNELS_2, side / 2,
		    CHANNELS_2 * CHANNELS_1 * 9);
	place_layer(net, &net->dense, "dense", features, classes, 1,
		    (size_t)classes * (size_t)features);
	net->host = malloc(net->n_params * sizeof(float));
	net->host_metrics = malloc(net->batch * 2 * sizeof(float));
	if (!net->host || !net->host_metrics)
		cl_check(CL_OUT_OF_HOST_MEMORY, "network_new");
	new_floats(net, &net->params, net->n_params);
	new_floats(net, &net->grads, net->n_params);
	new_floats(net, &net->snapshot, net->n_params);
	new_floats(net, &net->x, net->batch * shape_size(&net->conv1));
	new_floats(net, &net->metrics, net->batch * 2);
	make_conv_buffers(net, &net->conv1);
	make_conv_buffers(net, &net->conv2);
	make_parts(net, &net->dense);
	new_floats(net, &net->dense.y, net->batch * (size_t)classes);
	new_floats(net, &net->dense.dy, net->batch * (size_t)classes);
	upload_params(net, o->seed);
	return net;
}

static void release_layer(struct layer *l)
{
	struct tensor *own[] = { &l->y, &l->dy, &l->pooled, &l->pooled_dy, &l->which };
	size_t i;

	tensor_release(&l->params, false);
	tensor_release(&l->weight_grads, false);
	tensor_release(&l->bias_grads, false);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i]->buffer)
			tensor_release(own[i], true);
}

void network_free(struct network *net)
{
	release_layer(&net->conv1);
	release_layer(&net->conv2);
	release_layer(&net->dense);
	tensor_release(&net->params, true);
	tensor_release(&net->grads, true);
	tensor_release(&net->snapshot, true);
	tensor_release(&net->x, true);
	tensor_release(&net->metrics, true);
	free(net->host);
	free(net->host_metrics);
	free(net);
}

/* --- forward ----------------------------------------------------------------- */

void network_load(struct network *net, struct tensor *pixels)
{
	const cl_int2 shape = { { net->conv1.shape.s[3], net->shrink } };

	if (net->shrink > 1) {
		cl_launch(net->dev, &(struct launch){
			.kernel = KERNEL_SHRINK_PIXELS,
			.global = { net->x.count },
			.args = { ARG(pixels->buffer), ARG(net->x.buffer), ARG(shape) },
			.uses = { .read = { pixels }, .write = { &net->x } },
		});
		return;
	}
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_SCALE_PIXELS,
		.global = { net->x.count },
		.args = { ARG(pixels->buffer), ARG(net->x.buffer) },
		.uses = { .read = { pixels }, .write = { &net->x } },
	});
}

static void conv_forward_fused(struct network *net, struct layer *l, struct tensor *x)
{
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_CONV_RELU_POOL_FORWARD,
		.global = { shape_size(l) / 4, net->batch * l->n_biases },
		.args = { ARG(x->buffer), ARG(l->params.buffer), ARG(l->params.offset),
			  ARG(l->pooled.buffer), ARG(l->which.buffer), ARG(l->shape) },
		.uses = { .read = { x, &l->params }, .write = { &l->pooled, &l->which } },
	});
}

static void conv_forward(struct network *net, struct layer *l, struct tensor *x)
{
	marks_push("%s/forward", l->name);
	if (net->fused) {
		conv_forward_fused(net, l, x);
		marks_pop();
		return;
	}
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_CONV_FORWARD,
		.global = { shape_size(l), net->batch * l->n_biases },
		.args = { ARG(x->buffer), ARG(l->params.buffer), ARG(l->params.offset),
			  ARG(l->y.buffer), ARG(l->shape) },
		.uses = { .read = { x, &l->params }, .write = { &l->y } },
	});
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_RELU_FORWARD,
		.global = { l->y.count },
		.args = { ARG(l->y.buffer) },
		.uses = { .write = { &l->y } },
	});
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_POOL_FORWARD,
		.global = { shape_size(l) / 4, net->batch * l->n_biases },
		.args = { ARG(l->y.buffer), ARG(l->pooled.buffer), ARG(l->which.buffer),
			  ARG(l->shape) },
		.uses = { .read = { &l->y }, .write = { &l->pooled, &l->which } },
	});
	marks_pop();
}

static void dense_forward(struct network *net, struct layer *l, struct tensor *x)
{
	marks_push("%s/forward", l->name);
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_DENSE_FORWARD,
		.global = { l->n_biases, net->batch },
		.args = { ARG(x->buffer), ARG(l->params.buffer), ARG(l->params.offset),
			  ARG(l->y.buffer), ARG(l->shape) },
		.uses = { .read = { x, &l->params }, .write = { &l->y } },
	});
	marks_pop();
}

static void softmax_loss(struct network *net, struct tensor *labels)
{
	struct layer *l = &net->dense;

	marks_push("loss");
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_SOFTMAX_LOSS,
		.global = { net->batch },
		.args = { ARG(l->y.buffer), ARG(labels->buffer), ARG(l->dy.buffer),
			  ARG(net->metrics.buffer), ARG(l->shape) },
		.uses = { .read = { &l->y, labels }, .write = { &l->dy, &net->metrics } },
	});
	marks_pop();
}

/* --- backward ---------------------------------------------------------------- */

/* Weights and biases of one layer, in one launch or in two. */
static void layer_gradient(struct network *net, struct layer *l, struct tensor *x, bool conv)
{
	const size_t columns = conv ? 9 : (size_t)l->shape.s[1];
	const size_t rows = l->n_weights / columns;

	if (net->fused) {
		cl_launch(net->dev, &(struct launch){
			.kernel = conv ? KERNEL_CONV_GRADIENT : KERNEL_DENSE_GRADIENT,
			.global = { l->n_weights + l->n_biases },
			.args = { ARG(x->buffer), ARG(l->dy.buffer), ARG(net->grads.buffer),
				  ARG(l->params.offset), ARG(l->shape) },
			.uses = { .read = { x, &l->dy },
				  .write = { &l->weight_grads, &l->bias_grads } },
		});
		return;
	}
	cl_launch(net->dev, &(struct launch){
		.kernel = conv ? KERNEL_CONV_WEIGHT_GRADIENT : KERNEL_DENSE_WEIGHT_GRADIENT,
		.global = { columns, rows },
		.args = { ARG(x->buffer), ARG(l->dy.buffer), ARG(net->grads.buffer),
			  ARG(l->params.offset), ARG(l->shape) },
		.uses = { .read = { x, &l->dy }, .write = { &l->weight_grads } },
	});
	cl_launch(net->dev, &(struct launch){
		.kernel = conv ? KERNEL_CONV_BIAS_GRADIENT : KERNEL_DENSE_BIAS_GRADIENT,
		.global = { l->n_biases },
		.args = { ARG(l->dy.buffer), ARG(net->grads.buffer), ARG(l->params.offset),
			  ARG(l->shape) },
		.uses = { .read = { &l->dy }, .write = { &l->bias_grads } },
	});
}

static void dense_backward(struct network *net, struct layer *l, struct tensor *x,
			   struct tensor *dx)
{
	marks_push("%s/backward", l->name);
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_DENSE_INPUT_GRADIENT,
		.global = { (size_t)l->shape.s[1], net->batch },
		.args = { ARG(l->dy.buffer), ARG(l->params.buffer), ARG(l->params.offset),
			  ARG(dx->buffer), ARG(l->shape) },
		.uses = { .read = { &l->dy, &l->params }, .write = { dx } },
	});
	layer_gradient(net, l, x, false);
	marks_pop();
}

/* From the gradient behind the maximum to the one before the ReLU. */
static void pool_relu_backward(struct network *net, struct layer *l)
{
	const bool fused = net->fused;

	if (!fused)
		cl_fill_zero(net->dev, 0, &l->dy);
	cl_launch(net->dev, &(struct launch){
		.kernel = fused ? KERNEL_POOL_RELU_BACKWARD : KERNEL_POOL_BACKWARD,
		.global = { shape_size(l) / 4, net->batch * l->n_biases },
		.args = { ARG(l->pooled_dy.buffer), ARG(l->which.buffer), ARG(l->dy.buffer),
			  ARG(l->shape) },
		.uses = { .read = { &l->pooled_dy, &l->which }, .write = { &l->dy } },
	});
	if (fused)
		return;
	cl_launch(net->dev, &(struct launch){
		.kernel = KERNEL_RELU_BACKWARD,
		.global = { l->y.count },
		.args = { ARG(l->y.buffer), ARG(l->dy.buffer) },
		.uses = { .read = { &l->y }, .write = { &l->dy } },
	});
}

/* dx: NULL for the first layer, whose input has no gradient. */
static void conv_backward(struct network *net, struct layer *l, struct tensor *x,
			  struct tensor *dx)
{
	marks_push("%s/backward", l->name);
	pool_relu_backward(net, l);
	if (dx)
		cl_launch(net->dev, &(struct launch){
			.kernel = KERNEL_CONV_INPUT_GRADIENT,
			.global = { shape_size(l), net->batch * (size_t)l->shape.s[1] },
			.args = { ARG(l->dy.buffer), ARG(l->params.buffer),
				  ARG(l->params.offset), ARG(dx->buffer), ARG(l->shape) },
			.uses = { .read = { &l->dy, &l->params }, .write = { dx } },
		});
	layer_gradient(net, l, x, true);
	marks_pop();
}

/* Pieces run on one queue in order: the first waits for what all of them need. */
static void update_layer(struct network *net, struct layer *l, const float *rate)
{
	const size_t count = l->n_weights + l->n_biases;
	const size_t pieces = count < (size_t)net->pieces ? count : (size_t)net->pieces;
	size_t i;

	for (i = 0; i < pieces; i++) {
		const size_t begin = count * i / pieces, end = count * (i + 1) / pieces;
		const cl_int offset = l->params.offset + (cl_int)begin;
		struct launch launch = {
			.kernel = KERNEL_SGD_UPDATE,
			.global = { end - begin },
			.args = { ARG(net->params.buffer), ARG(net->grads.buffer), ARG(offset),
				  ARG(*rate) },
			.uses = { .write = { &l->params } },
		};

		if (!i) {
			launch.uses.read[0] = &l->weight_grads;
			launch.uses.read[1] = &l->bias_grads;
		}
		cl_launch(net->dev, &launch);
	}
}

static void update(struct network *net, float rate)
{
	struct layer *a = &net->conv1, *b = &net->conv2, *c = &net->dense;

	marks_push("sgd");
	if (net->fused) {
		cl_launch(net->dev, &(struct launch){
			.kernel = KERNEL_SGD_UPDATE,
			.global = { net->n_params },
			.args = { ARG(net->params.buffer), ARG(net->grads.buffer),
				  ARG(net->params.offset), ARG(rate) },
			.uses = { .read = { &a->weight_grads, &a->bias_grads, &b->weight_grads,
					    &b->bias_grads, &c->weight_grads, &c->bias_grads },
				  .write = { &a->params, &b->params, &c->params } },
		});
	} else {
		update_layer(net, a, &rate);
		update_layer(net, b, &rate);
		update_layer(net, c, &rate);
	}
	marks_pop();
}

void network_train(struct network *net, struct tensor *labels, float rate)
{
	conv_forward(net, &net->conv1, &net->x);
	conv_forward(net, &net->conv2, &net->conv1.pooled);
	dense_forward(net, &net->dense, &net->conv2.pooled);
	softmax_loss(net, labels);
	dense_backward(net, &net->dense, &net->conv2.pooled, &net->conv2.pooled_dy);
	conv_backward(net, &net->conv2, &net->conv1.pooled, &net->conv1.pooled_dy);
	conv_backward(net, &net->conv1, &net->x, NULL);
	update(net, rate);
}

/* --- what comes back to the host --------------------------------------------- */

void network_metrics(struct network *net, float *loss, float *right)
{
	size_t i;

	cl_read(net->dev, 0, &net->metrics, net->host_metrics);
	*loss = *right = 0.0f;
	for (i = 0; i < net->batch; i++) {
		*loss += net->host_metrics[i * 2];
		*right += net->host_metrics[i * 2 + 1];
	}
	*loss /= (float)net->batch;
	*right /= (float)net->batch;
}

float network_checkpoint(struct network *net)
{
	const struct uses uses = {
		.read = { &net->conv1.params, &net->conv2.params, &net->dense.params },
		.write = { &net->snapshot },
	};
	float sum = 0.0f;
	size_t i;

	cl_copy(net->dev, 0, &net->params, &net->snapshot, &uses);
	cl_read(net->dev, 0, &net->snapshot, net->host);
	for (i = 0; i < net->n_params; i++)
		sum += net->host[i] * net->host[i];
	return sqrtf(sum);
}

float network_look(struct network *net)
{
	float corner[LOOK * LOOK], sum = 0.0f;
	size_t i;

	cl_read_corner(net->dev, 0, &net->conv1.pooled, corner, LOOK, LOOK,
		       (size_t)net->conv1.shape.s[3] / 2);
	for (i = 0; i < LOOK * LOOK; i++)
		sum += corner[i];
	return sum / (LOOK * LOOK);
}
