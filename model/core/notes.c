/* SPDX-License-Identifier: MIT */
/* Losses, messages and odd events, see notes.h. */
#include "model/core/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"

#define LOSSES_MAX 65536u
#define MESSAGES_MAX 1000u
#define LOST_MAX (UINT64_C(1) << 40)	/* more events at once than a day could produce */

/* Merges neighbouring losses when there are too many to keep them apart. */
static void merge_losses(struct model *model)
{
	size_t to = 0;

	for (size_t i = 0; i + 1 < model->n_losses; i += 2, to++) {
		struct model_loss *a = &model->losses[i], *b = &model->losses[i + 1];

		model->losses[to] = (struct model_loss) {
			.begin_ns = a->begin_ns,
			.end_ns = a->end_ns > b->end_ns ? a->end_ns : b->end_ns,
			.count = a->count + b->count, .unplaced = a->unplaced + b->unplaced,
			.packets = a->packets || b->packets,
		};
	}
	if (model->n_losses % 2)
		model->losses[to++] = model->losses[model->n_losses - 1];
	model->losses_gone += model->n_losses - to;
	model->n_losses = to;
}

/*
 * The tracer says how many events a packet lost; the sequence numbers of a thread say where.
 * Events located in this way are removed from the wider loss, so that a second in which events
 * are missing only at its end is not reported as lost as a whole. Returns how many were moved.
 */
static uint64_t move_to_place(struct model *model, const struct event_lost *place)
{
	uint64_t left = place->placed;
	size_t to = 0;

	for (size_t i = 0; i < model->n_losses; i++) {
		struct model_loss *wide = &model->losses[i];

		if (left && wide->unplaced && wide->begin_ns <= place->end_ns &&
		    wide->end_ns >= place->begin_ns) {
			uint64_t here = wide->unplaced < left ? wide->unplaced : left;

			left -= here;
			wide->unplaced -= here;
			wide->count -= here;
			if (!wide->count)
				continue;
		}
		model->losses[to++] = *wide;
	}
	model->losses_gone += model->n_losses - to;
	model->n_losses = to;
	return place->placed - left;
}

bool note_lost(struct model *model, const struct event_lost *lost, uint32_t pid, uint32_t tid)
{
	struct model_loss loss = {
		.begin_ns = lost->begin_ns, .end_ns = lost->end_ns, .count = lost->count,
		.packets = lost->packets,
	};
	uint64_t *total = lost->packets ? &model->lost_packets : &model->lost_events;
	size_t at;

	if (loss.count > LOST_MAX) {
		model_bad(model, BAD_KIND);
		loss.count = 0;
	}
	/* An unknown count means at least one; with a thread, it is the place of losses that were
	 * counted before. */
	if (lost->count || !pid)
		*total += loss.count ? loss.count : 1;
	if (!time_ok(loss.begin_ns) || !time_ok(loss.end_ns) ||
	    loss.end_ns < loss.begin_ns) {
		model_bad(model, BAD_FAR);
		return false;
	}
	if (lost->placed)
		loss.count += move_to_place(model, lost);
	else if (!tid && !lost->packets)
		loss.unplaced = loss.count;
	if (model->n_losses >= LOSSES_MAX)
		merge_losses(model);
	grow(&model->losses, &model->cap_losses, model->n_losses, sizeof(loss));
	for (at = model->n_losses; at > 0 && model->losses[at - 1].begin_ns > loss.begin_ns; at--)
		model->losses[at] = model->losses[at - 1];
	model->losses[at] = loss;
	model->n_losses++;
	return true;
}

size_t model_losses(struct model *model, int64_t t0, int64_t t1, struct model_loss **out)
{
	size_t n = 0;

	*out = xreallocarray(NULL, model->n_losses, sizeof(**out));
	for (size_t i = 0; i < model->n_losses; i++)
		if (model->losses[i].begin_ns < t1 && model->losses[i].end_ns >= t0)
			(*out)[n++] = model->losses[i];
	return n;
}

/* Steps beyond the maximum still count as violations. */
void note_clock_step(struct model *model, int64_t time_ns)
{
	uint32_t at = model->n_clock_steps;

	if (at == CLOCK_STEPS_MAX || !time_ok(time_ns))
		return;
	model->n_clock_steps++;
	for (; at > 0 && model->clock_steps[at - 1] > time_ns; at--)
		model->clock_steps[at] = model->clock_steps[at - 1];
	model->clock_steps[at] = time_ns;
}

size_t model_clock_steps(struct model *model, int64_t t0, int64_t t1, int64_t *out, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 0; i < model->n_clock_steps && n < max; i++)
		if (model->clock_steps[i] >= t0 && model->clock_steps[i] < t1)
			out[n++] = model->clock_steps[i];
	return n;
}

void note_message(struct model *model, int64_t time_ns, int level, const char *text)
{
	uint32_t name = names_intern(&model->names, text);
	uint64_t key = (uint64_t)(uint32_t)level << 32 | name;

	if (!name || map_get(&model->message_by_text, key) != MAP_NONE)
		return;
	if (model->n_messages >= MESSAGES_MAX) {
		model_bad(model, BAD_FULL);
		return;
	}
	map_set(&model->message_by_text, key, (uint32_t)model->n_messages);
	grow(&model->messages, &model->cap_messages, model->n_messages, sizeof(*model->messages));
	model->messages[model->n_messages++] = (struct message_row) {
		.time_ns = time_ns, .level = level, .text = names_raw(&model->names, name),
	};
}

/* ---- what is wrong with events ---- */

void model_odd(struct model *model, enum bad_kind kind)
{
	struct bad *bad = &model->bads[kind];

	if (!bad->count++)
		bad->first_ns = model->noted_ns ? model->noted_ns : model->live_ns;
}

void model_bad(struct model *model, enum bad_kind kind)
{
	model_odd(model, kind);
	model->bad++;
}

static void bad_text(struct bad *bad, enum bad_kind kind)
{
	static const char *const texts[BAD_COUNT] = {
		[BAD_END] = "an end before its start",
		[BAD_FAR] = "a time far from all others",
		[BAD_ID] = "an impossible id", [BAD_REUSED] = "an id used for something else",
		[BAD_TWICE] = "a duplicate",
		[BAD_UNKNOWN] = "a queue that was never defined",
		[BAD_KIND] = "an impossible kind or value",
		[BAD_FULL] = "more than there is room for",
	};
	char times[FMT_MAX];

	snprintf(bad->text, sizeof(bad->text), "impossible events: %s, %s", texts[kind],
		 fmt_many(times, bad->count, "time"));
}

size_t notes_warnings(const struct model *model)
{
	size_t n = 0;

	for (size_t i = 0; i < model->n_messages; i++)
		n += model->messages[i].level > 0;
	for (int kind = 0; kind < BAD_COUNT; kind++)
		n += model->bads[kind].count > 0;
	return n;
}

size_t model_messages(struct model *model, struct message_row **out)
{
	size_t n = model->n_messages;

	*out = xreallocarray(NULL, n + BAD_COUNT, sizeof(**out));
	if (n)
		memcpy(*out, model->messages, n * sizeof(**out));
	for (int kind = 0; kind < BAD_COUNT; kind++) {
		struct bad *bad = &model->bads[kind];

		if (!bad->count)
			continue;
		bad_text(bad, (enum bad_kind)kind);
		(*out)[n++] = (struct message_row) {
			.time_ns = bad->first_ns, .level = 1, .text = bad->text,
		};
	}
	return n;
}
