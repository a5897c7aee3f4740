/* SPDX-License-Identifier: MIT */
/*
 * The images that train_opencl learns from: grey squares that show a
 * horizontal bar, a vertical bar, a slanted bar or a blob, in noise. Made on
 * the host, batch by batch, by worker threads or by the caller itself.
 *
 * Always true: batch N depends on the seed and on N only, so that threads
 * change nothing. Batches are handed out in order; the memory of a batch is
 * valid until input_done() was called for it.
 */
#ifndef EXAMPLES_INPUT_H
#define EXAMPLES_INPUT_H

#include <stdint.h>

#define INPUT_CLASSES 4
#define INPUT_MAX_THREADS 64

struct batch {
	unsigned char *pixels; /* batch_size x side x side; owned by the input */
	unsigned char *labels; /* batch_size */
};

struct input;

/*
 * threads 0: input_next() makes the batch itself. ahead: batches that may be
 * handed out and not yet done. delay_ms: a pause in the making of each batch,
 * as slow storage would cause it. cached: so many batches are made now and
 * handed out again and again, 0: none. Ends the program when it cannot be made.
 */
struct input_options {
	int threads, ahead, batch_size, side, delay_ms, cached;
	uint64_t seed;
};
struct input *input_new(const struct input_options *options);
/* Ends the workers and waits for them. */
void input_free(struct input *in);

/* The next batch, waiting for it; borrowed until input_done(). */
const struct batch *input_next(struct input *in);
/* The oldest batch still handed out is not needed any more. */
void input_done(struct input *in);

#endif
