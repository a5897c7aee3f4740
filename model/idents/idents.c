/* SPDX-License-Identifier: MIT */
/* Identities of ops, see idents.h. */
#include "model/idents/idents.h"

#include "model/steps/steps.h"

/* TensorFlow's ops: the domain is the graph whose nodes they are. */
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

/* ---- states of instances ---- */

static struct recent_op *recent_op(struct model *model, uint32_t process, uint64_t instance)
{
	return &model->recent_ops[(instance + process * (RECENT_OPS / 4 + 1)) % RECENT_OPS];
}

uint32_t op_state_find(struct model *model, uint32_t process_index, uint64_t instance)
{
	struct recent_op *recent = recent_op(model, process_index, instance);
	uint32_t index = recent->state;

	if (recent->instance == (uint32_t)instance && index < model->op_states.n) {
		const struct op_state *state = op_state_at(model, index);

		if (state->instance == instance && state->process == process_index)
			return index;
	}
	index = map_get(&process_at(model, process_index)->ops, instance);
	if (index != MAP_NONE)
		*recent = (struct recent_op) { (uint32_t)instance, index };
	return index;
}

uint32_t op_state_get(struct model *model, uint32_t process_index, uint64_t instance)
{
	struct process *process = process_at(model, process_index);
	uint32_t index = op_state_find(model, process_index, instance);
	struct op_state *state;

	if (index != NONE)
		return index;
	if (model->waiting_states >= OPS_WAIT_MAX)
		return NONE;
	index = model->free_state;
	if (index != NONE) {
		state = op_state_at(model, index);
		model->free_state = state->next_free;
	} else {
		state = store_new(&model->op_states);
		index = model->op_states.n - 1;
	}
	*state = (struct op_state) {
		.instance = instance, .process = process_index, .ident = NONE, .row = NONE,
		.open = NONE, .first_row = NONE, .node = NONE,
	};
	map_set(&process->ops, instance, index);
	*recent_op(model, process_index, instance) =
		(struct recent_op) { (uint32_t)instance, index };
	model->waiting_states++;
	return index;
}
