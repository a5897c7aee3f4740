/* SPDX-License-Identifier: MIT */
/* What the model is told beside events: losses and messages. Bounded. */
#include "model/model-internal.h"

#include "model/util.h"

#define LOSSES_MAX 65536u
#define MESSAGES_MAX 1000u

/* Neighbours become one when there are too many to keep apart. */
static void merge_losses(struct model *model)
{
	size_t to = 0;

	for (size_t i = 0; i + 1 < model->n_losses; i += 2, to++) {
		struct model_loss *a = &model->losses[i], *b = &model->losses[i + 1];

		model->losses[to] = (struct model_loss) {
			.begin_ns = a->begin_ns,
			.end_ns = a->end_ns > b->end_ns ? a->end_ns : b->end_ns,
			.count = a->count + b->count, .packets = a->packets || b->packets,
		};
	}
	if (model->n_losses % 2)
		model->losses[to++] = model->losses[model->n_losses - 1];
	model->n_losses = to;
}

void note_lost(struct model *model, const struct event_lost *lost)
{
	struct model_loss loss = {
		.begin_ns = lost->begin_ns, .end_ns = lost->end_ns, .count = lost->count,
		.packets = lost->packets,
	};
	uint64_t *total = lost->packets ? &model->lost_packets : &model->lost_events;
	size_t at;

	/* Unknown how many: at least one. With a thread, a place of known ones. */
	if (lost->count || !model->event->pid)
		*total += lost->count ? lost->count : 1;
	if (!time_ok(loss.begin_ns) || !time_ok(loss.end_ns) ||
	    loss.end_ns < loss.begin_ns) {
		model->bad++;
		return;
	}
	join_lost(model, process_known(model, model->event), loss.end_ns);
	if (model->n_losses >= LOSSES_MAX)
		merge_losses(model);
	grow(&model->losses, &model->cap_losses, model->n_losses, sizeof(loss));
	for (at = model->n_losses; at > 0 && model->losses[at - 1].begin_ns > loss.begin_ns; at--)
		model->losses[at] = model->losses[at - 1];
	model->losses[at] = loss;
	model->n_losses++;
}

void note_message(struct model *model, int64_t time_ns, int level, const char *text)
{
	uint32_t name = names_intern(&model->names, text);
	uint64_t key = (uint64_t)(uint32_t)level << 32 | name;

	if (!name || map_get(&model->message_by_text, key) != MAP_NONE)
		return;
	if (model->n_messages >= MESSAGES_MAX) {
		model->bad++;
		return;
	}
	map_set(&model->message_by_text, key, (uint32_t)model->n_messages);
	grow(&model->messages, &model->cap_messages, model->n_messages, sizeof(*model->messages));
	model->messages[model->n_messages++] = (struct message_row) {
		.time_ns = time_ns, .level = level, .text = names_raw(&model->names, name),
	};
}
