/* SPDX-License-Identifier: MIT */
/*
 * The device code of train_opencl: the layers of a small convolutional
 * network, forward and backward, and the update of its weights.
 *
 * Layouts (floats): activations [sample][channel][row][column], convolution
 * weights [out][in][3][3], dense weights [class][input]. All weights live in
 * one buffer and all gradients in a second one of the same layout; a kernel
 * gets the offset of its part. Every result is made by one work-item in one
 * fixed order, so that a run gives the same digits on any number of cores.
 */
#ifndef EXAMPLES_CL_KERNELS_H
#define EXAMPLES_CL_KERNELS_H

enum kernel_id {
	KERNEL_SCALE_PIXELS,
	KERNEL_SHRINK_PIXELS,
	KERNEL_CONV_FORWARD,
	KERNEL_RELU_FORWARD,
	KERNEL_POOL_FORWARD,
	KERNEL_DENSE_FORWARD,
	KERNEL_SOFTMAX_LOSS,
	KERNEL_DENSE_INPUT_GRADIENT,
	KERNEL_DENSE_WEIGHT_GRADIENT,
	KERNEL_DENSE_BIAS_GRADIENT,
	KERNEL_POOL_BACKWARD,
	KERNEL_RELU_BACKWARD,
	KERNEL_CONV_INPUT_GRADIENT,
	KERNEL_CONV_WEIGHT_GRADIENT,
	KERNEL_CONV_BIAS_GRADIENT,
	KERNEL_SGD_UPDATE,
	/* the same work in fewer, larger pieces (--fuse) */
	KERNEL_CONV_RELU_POOL_FORWARD,
	KERNEL_POOL_RELU_BACKWARD,
	KERNEL_CONV_GRADIENT,
	KERNEL_DENSE_GRADIENT,
	/* does next to nothing; for the commands that --fail breaks */
	KERNEL_TOUCH,
	KERNELS
};

/* Names as in the source, indexed by kernel_id; static. */
extern const char *const kernel_names[KERNELS];

/* Program source in parts, NULL-terminated; static. */
extern const char *const kernel_source[];

/* A source that every compiler refuses. */
extern const char kernel_broken_source[];

#endif
