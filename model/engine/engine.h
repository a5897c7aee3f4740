/* SPDX-License-Identifier: MIT */
/* What the engine (model.c) takes from its other files: definitions of processes, threads,
 * devices, queues, names and launch shapes (define.c), and the memory limit (budget.c). */
#ifndef MODEL_ENGINE_H
#define MODEL_ENGINE_H

struct arrival;
struct model;

void apply_process(struct model *model, const struct arrival *in);
void apply_exit(struct model *model, const struct arrival *in);
void apply_probe(struct model *model, const struct arrival *in);
void apply_name(struct model *model, const struct arrival *in);
void apply_thread(struct model *model, const struct arrival *in);
void apply_device(struct model *model, const struct arrival *in);
void apply_queue(struct model *model, const struct arrival *in);
void apply_shape(struct model *model, const struct arrival *in);

/* Measures the memory that the model takes and discards the oldest detail while it is over
 * the limit. */
void budget_check(struct model *model);

#endif
