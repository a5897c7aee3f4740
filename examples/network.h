/* SPDX-License-Identifier: MIT */
/*
 * The network of train_opencl: two 3x3 convolutions, each with bias, ReLU and
 * 2x2 maximum, one dense layer, softmax with cross-entropy, plain gradient
 * descent. Each layer's work is marked as a range LAYER/forward and
 * LAYER/backward; all of it runs on queue 0.
 *
 * Ownership: a network owns its buffers until network_free. Only the main
 * thread may call these.
 */
#ifndef EXAMPLES_NETWORK_H
#define EXAMPLES_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "examples/cl_device.h"

struct network;

/*
 * side must be divisible by 4; shrink: the images come that many times larger
 * in each direction; fused: fewer, larger kernels, else each layer's weights
 * are updated in so many pieces.
 */
struct network_options {
	int batch, side, shrink, classes, pieces;
	bool fused;
	uint64_t seed;
};
struct network *network_new(struct cl_device *dev, const struct network_options *options);
void network_free(struct network *net);

/* pixels: bytes on the device, images as they come; becomes the input. */
void network_load(struct network *net, struct tensor *pixels);
/* labels: bytes on the device, one per sample. */
void network_train(struct network *net, struct tensor *labels, float rate);

/* Mean loss and share of right guesses of the batch just trained; waits. */
void network_metrics(struct network *net, float *loss, float *right);

/* Copies the weights aside and reads them; their length as a vector; waits. */
float network_checkpoint(struct network *net);
/* Mean of the corner of the first map behind the first layer; waits. */
float network_look(struct network *net);

#endif
