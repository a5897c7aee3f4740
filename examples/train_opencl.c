/* SPDX-License-Identifier: MIT */
/*
 * train_opencl: a real, small training program for tftop to look at.
 *
 * It makes images, uploads them batch by batch, trains a convolutional network
 * on them with its own OpenCL kernels and prints the falling loss. Options
 * change how it uses OpenCL (queues, copies, fusion, errors), and --truth
 * writes down what it did, so that a test can compare. The same seed gives the
 * same digits. SIGINT, SIGTERM and SIGHUP end it after the step it is in,
 * with everything released and the truth written.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/cl_device.h"
#include "examples/cl_faults.h"
#include "examples/cl_truth.h"
#include "examples/input.h"
#include "examples/marks.h"
#include "examples/network.h"
#include "examples/options.h"

#define LEARNING_RATE	 0.08f
#define CHECKPOINT_STEPS 10

/* Where one batch lies on the device; batch N in slot N % n_slots. */
struct slot {
	struct tensor pixels, labels;
};

struct training {
	const struct options *options;
	struct cl_device dev;
	struct network *net;   /* owned */
	struct input *input;   /* owned */
	struct slot *slots;    /* owned */
	struct faults faults;  /* only with --fail */
	int n_slots;
	int upload_queue;
	int64_t uploaded; /* batches */
};

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction before, action = {
		.sa_handler = on_signal,
		.sa_flags = SA_RESTART | SA_RESETHAND,
	};
	size_t i;

	/* a second one ends it at once: a step may hang in the driver */
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* what the caller wanted ignored (nohup) stays ignored */
		sigaction(numbers[i], NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_slots(struct training *t)
{
	const struct options *o = t->options;
	const cl_mem_flags flags = CL_MEM_READ_ONLY | (o->pinned ? CL_MEM_ALLOC_HOST_PTR : 0);
	int i;

	t->n_slots = o->prefetch + 1;
	t->slots = calloc((size_t)t->n_slots, sizeof(*t->slots));
	if (!t->slots)
		cl_check(CL_OUT_OF_HOST_MEMORY, "calloc");
	for (i = 0; i < t->n_slots; i++) {
		tensor_new(&t->dev, &t->slots[i].pixels, flags,
			   (size_t)o->batch * (size_t)o->upload_side * (size_t)o->upload_side, 1);
		tensor_new(&t->dev, &t->slots[i].labels, flags, (size_t)o->batch, 1);
	}
}

static void open_training(struct training *t)
{
	const struct options *o = t->options;

	marks_push("init");
	cl_device_open(&t->dev, o->out_of_order, o->queues == 2, o->fail);
	t->upload_queue = o->queues - 1;
	t->net = network_new(&t->dev, &(struct network_options){
		.batch = o->batch, .side = o->side, .shrink = o->upload_side / o->side,
		.classes = INPUT_CLASSES, .pieces = o->pieces, .fused = o->fuse, .seed = o->seed,
	});
	t->input = input_new(&(struct input_options){
		.threads = o->input_threads, .ahead = o->prefetch + 1, .batch_size = o->batch,
		.side = o->upload_side, .delay_ms = o->delay_ms, .cached = o->cached,
		.seed = o->seed,
	});
	open_slots(t);
	if (o->fail)
		faults_init(&t->faults, &t->dev);
	marks_pop();
}

static void close_training(struct training *t)
{
	int i;

	cl_settle(&t->dev);
	input_free(t->input);
	if (t->options->fail)
		faults_release(&t->faults);
	for (i = 0; i < t->n_slots; i++) {
		tensor_release(&t->slots[i].pixels, true);
		tensor_release(&t->slots[i].labels, true);
	}
	free(t->slots);
	network_free(t->net);
	cl_device_close(&t->dev);
}

static void upload(struct training *t, struct tensor *to, const void *from)
{
	void *mapped;

	if (!t->options->pinned) {
		cl_write(&t->dev, t->upload_queue, to, from);
		return;
	}
	mapped = cl_map_for_write(&t->dev, t->upload_queue, to);
	memcpy(mapped, from, to->size_bytes);
	cl_unmap(&t->dev, t->upload_queue, to, mapped);
}

/* Brings the next batch on its way to the device. */
static void upload_batch(struct training *t)
{
	struct slot *slot = &t->slots[t->uploaded++ % t->n_slots];
	const struct batch *batch;
	int64_t start_ns;

	marks_push("input");
	start_ns = now_ns();
	batch = input_next(t->input);
	truth_input(now_ns() - start_ns);
	upload(t, &slot->pixels, batch->pixels);
	upload(t, &slot->labels, batch->labels);
	/* or the copies would only start when something else is flushed */
	cl_check(clFlush(t->dev.queues[t->upload_queue]), "clFlush");
	marks_pop();
}

static void checkpoint(struct training *t, int64_t step)
{
	float length, look;

	marks_push("checkpoint");
	length = network_checkpoint(t->net);
	look = network_look(t->net);
	marks_pop();
	if (!t->options->quiet)
		printf("step %lld checkpoint weights %.4f map %.4f\n", (long long)step, length,
		       look);
}

/* What a program does that keeps each step's outputs, and forgets them. */
static void leak(struct training *t)
{
	struct tensor lost;

	marks_push("log");
	tensor_new(&t->dev, &lost, CL_MEM_READ_WRITE, (size_t)t->options->leak_kib, 1024);
	marks_pop();
}

static void train_step(struct training *t, int64_t step)
{
	const struct options *o = t->options;
	struct slot *slot = &t->slots[step % t->n_slots];
	int64_t start_ns = now_ns();
	float loss, right;

	marks_push("step %lld", (long long)step);
	if (t->uploaded <= step)
		upload_batch(t);
	marks_push("input");
	network_load(t->net, &slot->pixels);
	marks_pop();
	network_train(t->net, &slot->labels, LEARNING_RATE);
	/* while the device works: ahead of need, but not further than this run goes */
	while (t->uploaded <= step + o->prefetch && t->uploaded < o->steps)
		upload_batch(t);
	if (o->fail)
		faults_step(&t->faults);
	if (o->leak_kib)
		leak(t);
	marks_push("metrics");
	network_metrics(t->net, &loss, &right);
	marks_pop();
	/* the metrics of this batch are here, so its memory is not needed any more */
	input_done(t->input);
	if (!o->quiet) {
		printf("step %lld loss %.4f right %.3f\n", (long long)step, loss, right);
		fflush(stdout);
	}
	if ((step + 1) % CHECKPOINT_STEPS == 0)
		checkpoint(t, step);
	marks_pop();
	if (o->ranges != MARKS_NONE)
		truth_step(now_ns() - start_ns);
}

static int finish(const struct options *o, int argc, char **argv, int64_t start_ns)
{
	const int number = stop_signal;
	int status = o->exit_status;

	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "train_opencl: output cannot be written: %s\n", strerror(errno));
		status = 1;
	}
	if (o->truth &&
	    truth_write(o->truth, argc, argv, status, number, now_ns() - start_ns)) {
		fprintf(stderr, "train_opencl: '%s' cannot be written: %s\n", o->truth,
			strerror(errno));
		status = 1;
	}
	truth_release();
	if (number) {
		/* so that the parent sees what ended this program */
		signal(number, SIG_DFL);
		raise(number);
	}
	return status;
}

int main(int argc, char **argv)
{
	const int64_t start_ns = now_ns();
	struct options options;
	struct training training = { .options = &options };
	int64_t step;

	options_parse(&options, argc, argv);
	catch_signals();
	marks_init(options.ranges);
	marks_thread_name("train");
	open_training(&training);
	for (step = 0; step < options.steps && !stop_signal; step++)
		train_step(&training, step);
	close_training(&training);
	marks_release();
	return finish(&options, argc, argv, start_ns);
}
