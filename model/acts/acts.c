/* SPDX-License-Identifier: MIT */
#include "model/acts/acts.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "model/core/model.h"

#define ACTS_MIN 32768u
#define ACTS_MAX (2u * SLICE_ACTS_MAX)

void acts_new(struct model *model)
{
	size_t max = model->memory_limit / 8 / (sizeof(struct act) + sizeof(struct start_key));

	model->acts = xcalloc(1, sizeof(*model->acts));
	waiting_init(&model->acts->waiting);
	model->acts->max = max < ACTS_MIN ? ACTS_MIN : max > ACTS_MAX ? ACTS_MAX : max;
}

void acts_free(struct model *model)
{
	waiting_release(&model->acts->waiting);
	free(model->acts);
}

size_t acts_bytes(const struct model *model)
{
	return waiting_bytes(&model->acts->waiting);
}

static void drop_half(struct acts *acts)
{
	size_t half = acts->waiting.n / 2;

	waiting_drop(&acts->waiting, half);
	acts->looked = 0;
	acts->dropped += half;
	acts->dropped_now += half;
}

void acts_push(struct model *model, const struct act *act)
{
	struct acts *acts = model->acts;

	if (acts->waiting.n == acts->max)
		drop_half(acts);
	waiting_push(&acts->waiting, act);
}
