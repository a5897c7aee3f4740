/* SPDX-License-Identifier: MIT */
#include "model/query/name.h"

#include "model/base/util.h"
#include "model/idents/idents.h"
#include "model/totals/totals.h"

size_t model_op_names(struct model *model, struct name_total **out)
{
	size_t n = 0;

	*out = xcalloc(model->idents.n, sizeof(**out));
	for (uint32_t i = 0; i < model->idents.n; i++) {
		const struct ident *ident = ident_at(model, i);
		uint32_t name = names_resolve(&model->names, ident->name);

		if (name && (ident->count || ident->kernels || ident->copies))
			(*out)[n++] = (struct name_total){
				names_short(&model->names, name),
				ident->device_ns ? ident->device_ns : ident->self_ns,
			};
	}
	return n;
}

size_t model_kernel_names(struct model *model, struct name_total **out)
{
	size_t n = 0;

	*out = xcalloc(model->kernels.n, sizeof(**out));
	for (uint32_t i = 0; i < model->kernels.n; i++) {
		const struct kernel_total *total = store_at(&model->kernels, i);
		uint32_t name = names_resolve(&model->names, total->name);

		if (name)
			(*out)[n++] = (struct name_total){
				names_short(&model->names, name), total->total_ns,
			};
	}
	return n;
}

static bool is_called(struct model *model, uint32_t id, const char *name)
{
	return id && (!strcmp(names_raw(&model->names, id), name) ||
		      !strcmp(names_short(&model->names, id), name));
}

bool model_has_op(struct model *model, const char *name)
{
	for (uint32_t i = 0; i < model->idents.n; i++) {
		const struct ident *ident = ident_at(model, i);

		if ((ident->count || ident->kernels || ident->copies) &&
		    is_called(model, names_resolve(&model->names, ident->name), name))
			return true;
	}
	return false;
}

bool model_has_kernel(struct model *model, const char *name)
{
	for (uint32_t i = 0; i < model->kernels.n; i++) {
		const struct kernel_total *total = store_at(&model->kernels, i);

		if (is_called(model, names_resolve(&model->names, total->name), name))
			return true;
	}
	return false;
}
