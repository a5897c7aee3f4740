/* SPDX-License-Identifier: MIT */
#include "examples/cl_kernels.h"

#include <stddef.h>

/*
 * OpenCL C written as C tokens: the preprocessor turns it into one line of
 * text, which is why it has no directives and no // comments inside.
 * shape is always (batch, channels in, channels out, side).
 */
#define CL_SOURCE(...) #__VA_ARGS__

const char *const kernel_names[KERNELS] = {
	[KERNEL_SCALE_PIXELS] = "scale_pixels",
	[KERNEL_SHRINK_PIXELS] = "shrink_pixels",
	[KERNEL_CONV_FORWARD] = "conv_forward",
	[KERNEL_RELU_FORWARD] = "relu_forward",
	[KERNEL_POOL_FORWARD] = "pool_forward",
	[KERNEL_DENSE_FORWARD] = "dense_forward",
	[KERNEL_SOFTMAX_LOSS] = "softmax_loss",
	[KERNEL_DENSE_INPUT_GRADIENT] = "dense_input_gradient",
	[KERNEL_DENSE_WEIGHT_GRADIENT] = "dense_weight_gradient",
	[KERNEL_DENSE_BIAS_GRADIENT] = "dense_bias_gradient",
	[KERNEL_POOL_BACKWARD] = "pool_backward",
	[KERNEL_RELU_BACKWARD] = "relu_backward",
	[KERNEL_CONV_INPUT_GRADIENT] = "conv_input_gradient",
	[KERNEL_CONV_WEIGHT_GRADIENT] = "conv_weight_gradient",
	[KERNEL_CONV_BIAS_GRADIENT] = "conv_bias_gradient",
	[KERNEL_SGD_UPDATE] = "sgd_update",
	[KERNEL_CONV_RELU_POOL_FORWARD] = "conv_relu_pool_forward",
	[KERNEL_POOL_RELU_BACKWARD] = "pool_relu_backward",
	[KERNEL_CONV_GRADIENT] = "conv_gradient",
	[KERNEL_DENSE_GRADIENT] = "dense_gradient",
	[KERNEL_TOUCH] = "touch",
};

static const char helpers[] = CL_SOURCE(
/* One output of a 3x3 convolution; what lies outside the image is 0. */
float conv_at(__global const float *x, __global const float *w, float sum,
	      int4 shape, int sample, int out, int row, int column)
{
	const int side = shape.w;
	const int in = shape.y;
	const int top = row ? -1 : 0;
	const int bottom = row < side - 1 ? 1 : 0;
	const int left = column ? -1 : 0;
	const int right = column < side - 1 ? 1 : 0;

	for (int c = 0; c < in; c++) {
		__global const float *image = x + (sample * in + c) * side * side;
		__global const float *filter = w + (out * in + c) * 9;

		for (int i = top; i <= bottom; i++)
			for (int j = left; j <= right; j++)
				sum += image[(row + i) * side + column + j] *
				       filter[(i + 1) * 3 + j + 1];
	}
	return sum;
}

/* One weight's gradient: that weight's input times dy, over the batch. */
float conv_weight_sum(__global const float *x, __global const float *dy, int4 shape,
		      int out, int in, int tap)
{
	const int side = shape.w;
	const int i = tap / 3 - 1;
	const int j = tap % 3 - 1;
	const int top = i < 0 ? 1 : 0;
	const int bottom = i > 0 ? side - 1 : side;
	const int left = j < 0 ? 1 : 0;
	const int right = j > 0 ? side - 1 : side;
	float sum = 0.0f;

	for (int n = 0; n < shape.x; n++) {
		__global const float *image = x + (n * shape.y + in) * side * side;
		__global const float *slope = dy + (n * shape.z + out) * side * side;

		for (int row = top; row < bottom; row++)
			for (int column = left; column < right; column++)
				sum += image[(row + i) * side + column + j] *
				       slope[row * side + column];
	}
	return sum;
}

float conv_bias_sum(__global const float *dy, int4 shape, int out)
{
	const int pixels = shape.w * shape.w;
	float sum = 0.0f;

	for (int n = 0; n < shape.x; n++)
		for (int i = 0; i < pixels; i++)
			sum += dy[(n * shape.z + out) * pixels + i];
	return sum;
}

float dense_weight_sum(__global const float *x, __global const float *dy, int4 shape,
		       int out, int in)
{
	float sum = 0.0f;

	for (int n = 0; n < shape.x; n++)
		sum += x[n * shape.y + in] * dy[n * shape.z + out];
	return sum;
}

float dense_bias_sum(__global const float *dy, int4 shape, int out)
{
	float sum = 0.0f;

	for (int n = 0; n < shape.x; n++)
		sum += dy[n * shape.z + out];
	return sum;
}
);

static const char forward[] = CL_SOURCE(
__kernel void scale_pixels(__global const uchar *pixels, __global float *x)
{
	const size_t i = get_global_id(0);

	x[i] = pixels[i] * (1.0f / 255.0f) - 0.5f;
}

/* shape: side and how many times larger the images come, in each direction. */
__kernel void shrink_pixels(__global const uchar *pixels, __global float *x, int2 shape)
{
	const int i = get_global_id(0);
	const int line = i / shape.x;
	const int column = i % shape.x;

	x[i] = pixels[((size_t)line * shape.x * shape.y + column) * shape.y] *
	       (1.0f / 255.0f) - 0.5f;
}

__kernel void conv_forward(__global const float *x, __global const float *params, int offset,
			   __global float *y, int4 shape)
{
	const int pixel = get_global_id(0);
	const int out = get_global_id(1) % shape.z;
	const int sample = get_global_id(1) / shape.z;
	__global const float *w = params + offset;
	__global const float *b = w + shape.z * shape.y * 9;

	y[(sample * shape.z + out) * shape.w * shape.w + pixel] =
		conv_at(x, w, b[out], shape, sample, out, pixel / shape.w, pixel % shape.w);
}

__kernel void relu_forward(__global float *y)
{
	const size_t i = get_global_id(0);

	y[i] = fmax(y[i], 0.0f);
}

/* shape.w is the side of the input; which keeps the winner of each 2x2. */
__kernel void pool_forward(__global const float *x, __global float *y, __global uchar *which,
			   int4 shape)
{
	const int half_side = shape.w / 2;
	const int pixel = get_global_id(0);
	const int plane = get_global_id(1);
	const int corner = pixel / half_side * 2 * shape.w + pixel % half_side * 2;
	__global const float *image = x + plane * shape.w * shape.w;
	float best = image[corner];
	uchar winner = 0;

	for (int k = 1; k < 4; k++) {
		const float v = image[corner + k / 2 * shape.w + k % 2];

		if (v > best) {
			best = v;
			winner = k;
		}
	}
	y[plane * half_side * half_side + pixel] = best;
	which[plane * half_side * half_side + pixel] = winner;
}

__kernel void conv_relu_pool_forward(__global const float *x, __global const float *params,
				     int offset, __global float *y, __global uchar *which,
				     int4 shape)
{
	const int half_side = shape.w / 2;
	const int pixel = get_global_id(0);
	const int plane = get_global_id(1);
	const int out = plane % shape.z;
	const int row = pixel / half_side * 2;
	const int column = pixel % half_side * 2;
	__global const float *w = params + offset;
	__global const float *b = w + shape.z * shape.y * 9;
	float best = 0.0f;
	uchar winner = 4;

	for (int k = 0; k < 4; k++) {
		const float v = conv_at(x, w, b[out], shape, plane / shape.z, out,
					row + k / 2, column + k % 2);

		if (v > best) {
			best = v;
			winner = k;
		}
	}
	y[plane * half_side * half_side + pixel] = best;
	which[plane * half_side * half_side + pixel] = winner;
}

__kernel void dense_forward(__global const float *x, __global const float *params, int offset,
			    __global float *y, int4 shape)
{
	const int out = get_global_id(0);
	const int sample = get_global_id(1);
	__global const float *w = params + offset;
	float sum = w[shape.z * shape.y + out];

	for (int i = 0; i < shape.y; i++)
		sum += x[sample * shape.y + i] * w[out * shape.y + i];
	y[sample * shape.z + out] = sum;
}

/* metrics: loss and hit of each sample; dy: gradient of the mean loss. */
__kernel void softmax_loss(__global const float *y, __global const uchar *labels,
			   __global float *dy, __global float *metrics, int4 shape)
{
	const int sample = get_global_id(0);
	const int label = labels[sample];
	__global const float *row = y + sample * shape.z;
	float largest = row[0];
	float sum = 0.0f;
	int guess = 0;

	for (int i = 1; i < shape.z; i++)
		if (row[i] > largest) {
			largest = row[i];
			guess = i;
		}
	for (int i = 0; i < shape.z; i++)
		sum += exp(row[i] - largest);
	for (int i = 0; i < shape.z; i++)
		dy[sample * shape.z + i] = (exp(row[i] - largest) / sum -
					    (i == label ? 1.0f : 0.0f)) / shape.x;
	metrics[sample * 2] = log(sum) + largest - row[label];
	metrics[sample * 2 + 1] = guess == label ? 1.0f : 0.0f;
}
);

static const char backward[] = CL_SOURCE(
__kernel void dense_input_gradient(__global const float *dy, __global const float *params,
				   int offset, __global float *dx, int4 shape)
{
	const int in = get_global_id(0);
	const int sample = get_global_id(1);
	float sum = 0.0f;

	for (int i = 0; i < shape.z; i++)
		sum += dy[sample * shape.z + i] * params[offset + i * shape.y + in];
	dx[sample * shape.y + in] = sum;
}

__kernel void dense_weight_gradient(__global const float *x, __global const float *dy,
				    __global float *grads, int offset, int4 shape)
{
	const int in = get_global_id(0);
	const int out = get_global_id(1);

	grads[offset + out * shape.y + in] = dense_weight_sum(x, dy, shape, out, in);
}

__kernel void dense_bias_gradient(__global const float *dy, __global float *grads, int offset,
				  int4 shape)
{
	const int out = get_global_id(0);

	grads[offset + shape.z * shape.y + out] = dense_bias_sum(dy, shape, out);
}

/* Weights first, then biases, as they lie in the buffer. */
__kernel void dense_gradient(__global const float *x, __global const float *dy,
			     __global float *grads, int offset, int4 shape)
{
	const int i = get_global_id(0);
	const int weights = shape.z * shape.y;

	grads[offset + i] = i < weights ?
		dense_weight_sum(x, dy, shape, i / shape.y, i % shape.y) :
		dense_bias_sum(dy, shape, i - weights);
}

/* Scatters into dx, which was filled with 0 before. */
__kernel void pool_backward(__global const float *dy, __global const uchar *which,
			    __global float *dx, int4 shape)
{
	const int half_side = shape.w / 2;
	const int pixel = get_global_id(0);
	const int plane = get_global_id(1);
	const int i = plane * half_side * half_side + pixel;
	const int corner = pixel / half_side * 2 * shape.w + pixel % half_side * 2;

	dx[plane * shape.w * shape.w + corner + which[i] / 2 * shape.w + which[i] % 2] = dy[i];
}

__kernel void relu_backward(__global const float *y, __global float *dy)
{
	const size_t i = get_global_id(0);

	if (y[i] <= 0.0f)
		dy[i] = 0.0f;
}

__kernel void pool_relu_backward(__global const float *dy, __global const uchar *which,
				 __global float *dx, int4 shape)
{
	const int half_side = shape.w / 2;
	const int pixel = get_global_id(0);
	const int plane = get_global_id(1);
	const int i = plane * half_side * half_side + pixel;
	const int corner = pixel / half_side * 2 * shape.w + pixel % half_side * 2;

	for (int k = 0; k < 4; k++)
		dx[plane * shape.w * shape.w + corner + k / 2 * shape.w + k % 2] =
			which[i] == k ? dy[i] : 0.0f;
}

__kernel void conv_input_gradient(__global const float *dy, __global const float *params,
				  int offset, __global float *dx, int4 shape)
{
	const int side = shape.w;
	const int row = get_global_id(0) / side;
	const int column = get_global_id(0) % side;
	const int in = get_global_id(1) % shape.y;
	const int sample = get_global_id(1) / shape.y;
	const int top = row < side - 1 ? 0 : 1;
	const int bottom = row ? 2 : 1;
	const int left = column < side - 1 ? 0 : 1;
	const int right = column ? 2 : 1;
	float sum = 0.0f;

	for (int out = 0; out < shape.z; out++) {
		__global const float *slope = dy + (sample * shape.z + out) * side * side;
		__global const float *filter = params + offset + (out * shape.y + in) * 9;

		for (int i = top; i <= bottom; i++)
			for (int j = left; j <= right; j++)
				sum += slope[(row + 1 - i) * side + column + 1 - j] *
				       filter[i * 3 + j];
	}
	dx[(sample * shape.y + in) * side * side + get_global_id(0)] = sum;
}

__kernel void conv_weight_gradient(__global const float *x, __global const float *dy,
				   __global float *grads, int offset, int4 shape)
{
	const int tap = get_global_id(0);
	const int in = get_global_id(1) % shape.y;
	const int out = get_global_id(1) / shape.y;

	grads[offset + (out * shape.y + in) * 9 + tap] =
		conv_weight_sum(x, dy, shape, out, in, tap);
}

__kernel void conv_bias_gradient(__global const float *dy, __global float *grads, int offset,
				 int4 shape)
{
	const int out = get_global_id(0);

	grads[offset + shape.z * shape.y * 9 + out] = conv_bias_sum(dy, shape, out);
}

__kernel void conv_gradient(__global const float *x, __global const float *dy,
			    __global float *grads, int offset, int4 shape)
{
	const int i = get_global_id(0);
	const int weights = shape.z * shape.y * 9;

	grads[offset + i] = i < weights ?
		conv_weight_sum(x, dy, shape, i / 9 / shape.y, i / 9 % shape.y, i % 9) :
		conv_bias_sum(dy, shape, i - weights);
}

__kernel void sgd_update(__global float *params, __global const float *grads, int offset,
			 float rate)
{
	const size_t i = offset + get_global_id(0);

	params[i] -= rate * grads[i];
}

__kernel void touch(__global float *x)
{
	x[get_global_id(0)] += 1.0f;
}
);

const char *const kernel_source[] = { helpers, forward, backward, NULL };

const char kernel_broken_source[] = CL_SOURCE(
__kernel void broken(__global float *x)
{
	x[0] = this_name_was_never_declared;
}
);
