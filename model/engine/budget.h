/* SPDX-License-Identifier: MIT */
/* The memory limit, see budget.c. */
#ifndef MODEL_ENGINE_BUDGET_H
#define MODEL_ENGINE_BUDGET_H

struct model;

/* Looks at what the model takes, and discards the oldest detail if that is too much. */
void budget_check(struct model *model);

#endif
