/* SPDX-License-Identifier: MIT */
/* Definitions, as the engine takes them in. */
#ifndef MODEL_ENGINE_DEFINE_H
#define MODEL_ENGINE_DEFINE_H

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

#endif
