/* SPDX-License-Identifier: MIT */
/* Events for the model's tests, one process unless said. Times are ns. */
#ifndef TESTS_UNIT_MODEL_EVENTS_H
#define TESTS_UNIT_MODEL_EVENTS_H

#include "model/query/query.h"

#define PID 4121u
#define BASE INT64_C(1000000000)	/* when everything begins */
#define TICKS INT64_C(5000000000)	/* ticks are that much ahead of host time */

struct event ev_process(uint32_t pid, const char *command);
struct event ev_name(uint32_t id, enum name_kind kind, const char *text);
struct event ev_device(uint32_t id, const char *address);
struct event ev_queue(uint32_t id, uint32_t device);
struct event ev_clock(uint32_t device, int64_t host_ns, int64_t offset_ns);
/* name, instance, parent, start and duration after BASE; dur -1 announces. */
struct event ev_op(uint32_t name, uint64_t instance, uint64_t parent, int64_t start_ns,
		   int64_t dur_ns, unsigned flags);
/* A kernel on a queue, run at start after BASE for dur. */
struct event ev_kernel(uint32_t name, uint32_t queue, uint32_t correlation, int64_t start_ns,
		       int64_t dur_ns);
struct event ev_copy(uint32_t queue, enum direction direction, uint64_t bytes, int64_t start_ns,
		     int64_t dur_ns);
struct event ev_alive(int64_t ns);

void apply_one(struct model *model, struct event event);
/* For model/synth/synth.h: arg is the model. */
void feed_model(void *arg, const struct event *events, size_t count);
/* Names 1 ... 9 ("kernel1" ...), device 1, queues 1 and 2, its clock. */
struct model *model_with_device(void);

/* All questions about graphs, whatever is there; the lock is held. */
void ask_graphs(struct model *model);

/* Locked questions for short tests. */
struct model_status status_of(struct model *model);
/* Row of that kind with a number (of those of the kind, in order); id 0: none. */
struct model_row row_of(struct model *model, enum row_kind kind, int number);
struct kernel_row *kernel_named(struct kernel_row *rows, size_t n, const char *name);
struct op_row *op_named(struct op_row *rows, size_t n, const char *name);

#endif
