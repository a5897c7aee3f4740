/* SPDX-License-Identifier: MIT */
/* What ops are alike: identities. */
#include "model/core/model-internal.h"

#include "model/ops/optree-internal.h"

struct ident *ident_at(const struct model *model, uint32_t i)
{
	return store_at(&model->idents, i);
}

/* The domain of its ops is the graph whose nodes they are. */
static bool is_graph(uint8_t framework)
{
	return framework == FW_TENSORFLOW;
}

uint32_t ident_get(struct model *model, uint32_t name, uint32_t type, uint32_t domain,
		   uint8_t framework)
{
	uint64_t key = map_mix((uint64_t)name << 32 | type) ^
		       map_mix(((uint64_t)domain << 8 | framework) + 1);
	uint32_t first = map_get(&model->ident_by_hash, key);
	struct ident *ident;

	for (uint32_t i = first; i != NONE; i = ident->next) {
		ident = ident_at(model, i);
		if (ident->name == name && ident->type == type && ident->domain == domain &&
		    ident->framework == framework)
			return i;
	}
	if (model->idents.n >= IDENTS_MAX)
		return NONE;
	if (model->idents.n >= IDENTS_GRAPH_MAX && domain && is_graph(framework))
		return ident_get(model, name, type, 0, framework);
	ident = store_new(&model->idents);
	*ident = (struct ident) {
		.name = name, .type = type, .domain = domain, .framework = framework,
		.next = first,
	};
	map_set(&model->ident_by_hash, key, model->idents.n - 1);
	return model->idents.n - 1;
}

uint32_t ident_plain(struct model *model, uint32_t index)
{
	struct ident *ident = ident_at(model, index);
	uint32_t plain, domain;

	if (ident->plain)
		return ident->plain - 1;
	plain = steps_plain(model, ident->name);
	domain = is_graph(ident->framework) ? 0 : ident->domain;
	if (plain == names_resolve(&model->names, ident->name) && domain == ident->domain) {
		plain = index;
	} else {
		plain = ident_get(model, plain, ident->type, domain, ident->framework);
		if (plain == NONE)
			return index;
	}
	if (names_defined(&model->names, ident->name))
		ident->plain = plain + 1;
	return plain;
}
