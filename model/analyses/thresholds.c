/* SPDX-License-Identifier: MIT */
/* The table of thresholds, and their values in a model. */
#include "model/analyses/thresholds.h"

#include "model/core/model.h"

#define THRESHOLD_INFO(id, name, initial, least, most, unit, help) \
	{ name, initial, least, most, unit, help },
const struct threshold_info threshold_table[THRESHOLD_COUNT] = {
	THRESHOLD_LIST(THRESHOLD_INFO)
};
#undef THRESHOLD_INFO

int64_t model_threshold(const struct model *model, enum threshold threshold)
{
	return model->thresholds[threshold];
}

bool model_threshold_set(struct model *model, enum threshold threshold, int64_t value)
{
	const struct threshold_info *info = &threshold_table[threshold];

	if (value < info->least || value > info->most)
		return false;
	model->thresholds[threshold] = value;
	atomic_fetch_add_explicit(&model->generation, 1, memory_order_relaxed);
	return true;
}
