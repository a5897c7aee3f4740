/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "examples/input.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/marks.h"

struct slot {
	struct batch batch;
	int64_t ready; /* number of the batch that lies here, -1: none yet */
};

struct input {
	int n_threads, batch_size, side, delay_ms;
	bool cached;
	uint64_t seed;
	pthread_t threads[INPUT_MAX_THREADS];

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct slot *slots; /* batch N lies in slot N % n_slots */
	int n_slots;
	int64_t next_to_make; /* by a worker */
	int64_t next_to_hand_out;
	int64_t done; /* batches below this one are free */
	bool stop;
	int named; /* workers that have taken their number */
};

static void die(const char *what)
{
	fprintf(stderr, "train_opencl: %s\n", what);
	exit(1);
}

/* splitmix64: one multiply-xorshift generator is enough for noise. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int random_below(uint64_t *state, int n)
{
	return (int)(next_random(state) % (uint64_t)n);
}

static bool inside(int label, int side, int row, int column, int at, int thickness)
{
	const int radius = side / 5 + thickness / 2;
	int dr, dc;

	switch (label) {
	case 0:
		return row >= at && row < at + thickness;
	case 1:
		return column >= at && column < at + thickness;
	case 2:
		dr = (row + column) / 2;
		return dr >= at && dr < at + thickness;
	default:
		dr = row - at;
		dc = column - (side - at);
		return dr * dr + dc * dc <= radius * radius;
	}
}

static int make_image(unsigned char *pixels, int side, uint64_t *state)
{
	const int label = random_below(state, INPUT_CLASSES);
	const int thickness = 2 + random_below(state, side / 8 + 1);
	const int at = side / 4 + random_below(state, side / 2);
	int row, column;

	for (row = 0; row < side; row++)
		for (column = 0; column < side; column++) {
			int v = random_below(state, 96);

			if (inside(label, side, row, column, at, thickness))
				v += 96 + random_below(state, 64);
			pixels[row * side + column] = (unsigned char)v;
		}
	return label;
}

static void make_batch(const struct input *in, struct batch *batch, int64_t number)
{
	uint64_t state = in->seed * 0x2545f4914f6cdd1du + (uint64_t)number;
	const size_t pixels = (size_t)in->side * (size_t)in->side;
	int i;

	marks_push("input/make");
	for (i = 0; i < in->batch_size; i++)
		batch->labels[i] = (unsigned char)make_image(batch->pixels + (size_t)i * pixels,
							     in->side,
							     &state);
	if (in->delay_ms) {
		struct timespec left = { in->delay_ms / 1000, in->delay_ms % 1000 * 1000000L };

		while (nanosleep(&left, &left))
			;
	}
	marks_pop();
}

static void *work(void *arg)
{
	struct input *in = arg;
	char name[32];

	pthread_mutex_lock(&in->lock);
	snprintf(name, sizeof(name), "input-%d", in->named++);
	pthread_mutex_unlock(&in->lock);
	pthread_setname_np(pthread_self(), name);
	marks_thread_name(name);

	pthread_mutex_lock(&in->lock);
	while (!in->stop) {
		const int64_t number = in->next_to_make;
		struct slot *slot = &in->slots[number % in->n_slots];

		if (number >= in->done + in->n_slots) {
			pthread_cond_wait(&in->changed, &in->lock);
			continue;
		}
		in->next_to_make++;
		pthread_mutex_unlock(&in->lock);
		make_batch(in, &slot->batch, number);
		pthread_mutex_lock(&in->lock);
		slot->ready = number;
		pthread_cond_broadcast(&in->changed);
	}
	pthread_mutex_unlock(&in->lock);
	return NULL;
}

/* Signals are the main thread's business. */
static void start_workers(struct input *in)
{
	sigset_t all, before;
	int i;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < in->n_threads; i++)
		if (pthread_create(&in->threads[i], NULL, work, in))
			die("an input thread cannot be started");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct input *input_new(const struct input_options *o)
{
	struct input *in = calloc(1, sizeof(*in));
	int i;

	if (!in)
		die("out of memory");
	in->n_threads = o->cached ? 0 : o->threads;
	in->batch_size = o->batch_size;
	in->side = o->side;
	in->seed = o->seed;
	in->delay_ms = o->delay_ms;
	in->cached = o->cached > 0;
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->changed, NULL);
	/* one in work per thread beyond those that are handed out */
	in->n_slots = in->cached ? o->cached : o->ahead + in->n_threads;
	in->slots = calloc((size_t)in->n_slots, sizeof(*in->slots));
	if (!in->slots)
		die("out of memory");
	for (i = 0; i < in->n_slots; i++) {
		in->slots[i].ready = -1;
		in->slots[i].batch.pixels = malloc((size_t)o->batch_size * (size_t)o->side *
						   (size_t)o->side);
		in->slots[i].batch.labels = malloc((size_t)o->batch_size);
		if (!in->slots[i].batch.pixels || !in->slots[i].batch.labels)
			die("out of memory");
		if (in->cached)
			make_batch(in, &in->slots[i].batch, i);
	}
	start_workers(in);
	return in;
}

void input_free(struct input *in)
{
	int i;

	pthread_mutex_lock(&in->lock);
	in->stop = true;
	pthread_cond_broadcast(&in->changed);
	pthread_mutex_unlock(&in->lock);
	for (i = 0; i < in->n_threads; i++)
		pthread_join(in->threads[i], NULL);
	for (i = 0; i < in->n_slots; i++) {
		free(in->slots[i].batch.pixels);
		free(in->slots[i].batch.labels);
	}
	free(in->slots);
	pthread_cond_destroy(&in->changed);
	pthread_mutex_destroy(&in->lock);
	free(in);
}

const struct batch *input_next(struct input *in)
{
	const int64_t number = in->next_to_hand_out++;
	struct slot *slot = &in->slots[number % in->n_slots];

	if (in->cached)
		return &slot->batch;
	if (!in->n_threads) {
		make_batch(in, &slot->batch, number);
		return &slot->batch;
	}
	pthread_mutex_lock(&in->lock);
	while (slot->ready != number)
		pthread_cond_wait(&in->changed, &in->lock);
	pthread_mutex_unlock(&in->lock);
	return &slot->batch;
}

void input_done(struct input *in)
{
	pthread_mutex_lock(&in->lock);
	in->done++;
	pthread_cond_broadcast(&in->changed);
	pthread_mutex_unlock(&in->lock);
}
