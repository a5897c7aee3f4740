/* SPDX-License-Identifier: MIT */
/* Events for the tests of the model, of one process unless stated otherwise. Times are ns. */
#ifndef TESTS_UNIT_MODEL_EVENTS_H
#define TESTS_UNIT_MODEL_EVENTS_H

#include "model/query/query.h"

#define PID 4121u
#define BASE INT64_C(1000000000)	/* time at which everything starts */
#define TICKS INT64_C(5000000000)	/* how far ticks are ahead of host time */

struct event ev_process(uint32_t pid, const char *command);
struct event ev_name(uint32_t id, enum name_kind kind, const char *text);
struct event ev_device(uint32_t id, const char *address);
struct event ev_queue(uint32_t id, uint32_t device);
struct event ev_clock(uint32_t device, int64_t host_ns, int64_t offset_ns);
/* What a process uses, in 1/1000 of a processor; 0: unknown. */
struct use { uint32_t cores; int64_t own, children; };
/* Counts it n times, period_ns apart, from BASE on. */
void apply_use(struct model *model, const struct use *use, int64_t period_ns, int n);
/* An op with name, instance, parent, start (after BASE) and duration; dur -1 announces it. */
struct event ev_op(uint32_t name, uint64_t instance, uint64_t parent, int64_t start_ns,
		   int64_t dur_ns, unsigned flags);
/* A kernel on a queue that ran at start (after BASE) for dur. */
struct event ev_kernel(uint32_t name, uint32_t queue, uint32_t correlation, int64_t start_ns,
		       int64_t dur_ns);
/* The same, launched by a call of call_ns that ends when it starts. */
struct event ev_launched(uint32_t correlation, int64_t start_ns, int64_t dur_ns, int64_t call_ns);
struct event ev_copy(uint32_t queue, enum direction direction, uint64_t bytes, int64_t start_ns,
		     int64_t dur_ns);
/* A line, which that one calls (0: only the line). */
struct event ev_frame(uint32_t id, uint32_t parent, uint32_t file, uint32_t function,
		      uint32_t line);
/* What a thread did from start (after BASE) for dur, at a line and in a stack (0: unknown). */
struct event ev_doing(uint32_t tid, enum doing_kind doing, uint32_t frame, uint32_t stack,
		      int64_t start_ns, int64_t dur_ns);
struct event ev_alive(int64_t ns);

void apply_one(struct model *model, struct event event);
/* For model/synth/synth.h: arg is the model. */
void feed_model(void *arg, const struct event *events, size_t count);
/* A model with names 1 ... 9 ("kernel1" ...), device 1, queues 1 and 2, and its clock. */
struct model *model_with_device(void);
/* The processor, as device 2 of api "cpu", with queue 9. */
void add_processor(struct model *model);

/* Another model of what this one gives back to be saved. The caller owns it. */
struct model *saved_again(struct model *model);

/* The finding with this id, NULL: it is not told. *list is the caller's to free. */
struct finding;
struct finding *finding_of(struct model *model, const char *id, struct finding **list);

/* Makes all queries about graphs, whatever there is; the lock must be held. */
void ask_graphs(struct model *model);

/* Queries that take the lock themselves, for short tests. */
struct model_status status_of(struct model *model);
/* The row of that kind with this number, in display order; id 0: there is none. */
struct model_row row_of(struct model *model, enum row_kind kind, int number);
struct kernel_row *kernel_named(struct kernel_row *rows, size_t n, const char *name);
struct op_row *op_named(struct op_row *rows, size_t n, const char *name);

#endif
