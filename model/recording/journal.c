/* SPDX-License-Identifier: MIT */
/* The journal: a queue of blocks of entries. */
#include "model/recording/journal.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/totals/totals.h"

#define BLOCK 1023u
#define SHARE 16u			/* the journal's share of the memory limit is 1/16 */

struct journal_block {
	struct journal_block *next;	/* owned */
	uint64_t number;		/* number of its first entry */
	struct journal_entry entries[BLOCK];
};

static struct journal_entry *journal_add(struct model *model)
{
	struct journal *journal = model->journal;
	struct journal_block *block = journal->last;

	if (!block || journal->n - block->number == BLOCK) {
		block = xmalloc(sizeof(*block));
		block->next = NULL;
		block->number = journal->n;
		if (journal->last)
			journal->last->next = block;
		else
			journal->first = block;
		journal->last = block;
		journal->bytes += sizeof(*block);
	}
	while (journal->bytes > model->memory_limit / SHARE && journal->first != journal->last) {
		struct journal_block *old = journal->first;

		journal->first = old->next;
		journal->first_number = old->next->number;
		if (old->entries[BLOCK - 1].time_ns > journal->from_ns)
			journal->from_ns = old->entries[BLOCK - 1].time_ns;
		journal->bytes -= sizeof(*old);
		free(old);
	}
	return &block->entries[journal->n++ - block->number];
}

static int32_t small(int32_t result)
{
	return result > 0x7fffff ? 0x7fffff : result < -0x800000 ? -0x800000 : result;
}

static void fill_times(struct journal_entry *entry, int64_t start_ns, int64_t dur_ns,
		       int32_t result)
{
	entry->start_ns = start_ns;
	entry->dur_ns = dur_ns;
	entry->result = small(result);
}

/* For allocators: what they gave out and took back, and the regions that these are parts of. */
static void journal_fill_memory(struct model *model, const struct arrival *in,
				struct journal_entry *entry)
{
	const struct event *event = in->event;

	if (event->type == EVENT_ALLOC) {
		entry->name = local_name(model, in->process, event->u.alloc.allocator);
		entry->other = local_name(model, in->process, event->u.alloc.op_name);
		entry->id = event->u.alloc.device;
		entry->a = event->u.alloc.address;
		entry->b = event->u.alloc.bytes;
		entry->start_ns = (int64_t)event->u.alloc.op;
	} else if (event->type == EVENT_REGION) {
		entry->name = local_name(model, in->process, event->u.region.allocator);
		entry->id = event->u.region.device;
		entry->a = event->u.region.address;
		entry->b = event->u.region.bytes;
		entry->result = event->u.region.joined;
	} else {
		entry->name = local_name(model, in->process, event->u.free.allocator);
		entry->a = event->u.free.address;
	}
}

static void journal_fill_event(struct model *model, const struct arrival *in,
			       struct journal_entry *entry)
{
	const struct event *event = in->event;

	switch ((enum event_type)event->type) {
	case EVENT_CALL:
		fill_times(entry, event->u.call.start_ns, event->u.call.dur_ns,
			   event->u.call.result);
		entry->name = local_name(model, in->process, event->u.call.name);
		entry->id = event->u.call.correlation;
		break;
	case EVENT_WAIT:
		fill_times(entry, event->u.wait.start_ns, event->u.wait.dur_ns,
			   event->u.wait.result);
		entry->name = local_name(model, in->process, event->u.wait.name);
		entry->id = event->u.wait.correlation;
		entry->other = event->u.wait.queue;
		entry->a = event->u.wait.op;
		entry->b = local_name(model, in->process, event->u.wait.op_name);
		break;
	case EVENT_COMPILE:
		fill_times(entry, event->u.compile.start_ns, event->u.compile.dur_ns,
			   event->u.compile.result);
		entry->name = names_intern(&model->names, event->u.compile.what);
		entry->other = names_intern(&model->names, event->u.compile.options);
		entry->id = text_first_line(model, event->u.compile.log);
		break;
	case EVENT_EDGE:
		entry->name = local_name(model, in->process, event->u.edge.key);
		entry->a = event->u.edge.from;
		entry->b = event->u.edge.to;
		entry->start_ns = (int64_t)event->u.edge.bytes;
		break;
	case EVENT_FLOW:
		fill_times(entry, event->u.flow.at_ns, event->u.flow.dur_ns, event->u.flow.phase);
		entry->name = local_name(model, in->process, event->u.flow.name);
		entry->id = (uint32_t)event->u.flow.op;
		entry->other = (uint32_t)(event->u.flow.op >> 32);
		entry->a = event->u.flow.key;
		entry->b = event->u.flow.bytes;
		break;
	case EVENT_REQUEST:
		fill_times(entry, event->u.request.start_ns, event->u.request.dur_ns, 0);
		entry->name = local_name(model, in->process, event->u.request.name);
		entry->id = event->u.request.passes;
		entry->other = event->u.request.sequences;
		entry->a = (uint64_t)event->u.request.first_ns;
		entry->b = (uint64_t)event->u.request.rest_ns;
		break;
	case EVENT_COUNTER:
		entry->id = event->u.counter.series;
		entry->start_ns = event->u.counter.at_ns;
		entry->a = (uint64_t)event->u.counter.value;
		break;
	default:
		journal_fill_memory(model, in, entry);
	}
}

/* Entries of threads that report many at once do not arrive in order. */
static int64_t when(const struct event *event)
{
	int64_t at_ns = event->type == EVENT_ALLOC ? event->u.alloc.at_ns :
			event->type == EVENT_FREE ? event->u.free.at_ns : 0;

	return at_ns && time_ok(at_ns) ? at_ns : event->time_ns;
}

void journal_keep(struct model *model, const struct arrival *in)
{
	const struct event *event = in->event;
	struct journal_entry *entry;

	if (event->type != EVENT_CALL && event->type != EVENT_WAIT &&
	    event->type != EVENT_COMPILE && event->type != EVENT_ALLOC &&
	    event->type != EVENT_FREE && event->type != EVENT_REGION && event->type != EVENT_EDGE &&
	    event->type != EVENT_FLOW && event->type != EVENT_COUNTER &&
	    event->type != EVENT_REQUEST)
		return;
	entry = journal_add(model);
	*entry = (struct journal_entry) {
		.time_ns = when(event), .process = in->process->index, .tid = event->tid,
		.type = event->type,
	};
	journal_fill_event(model, in, entry);
}

const struct journal_entry *journal_get(const struct journal *journal, uint64_t number,
					const struct journal_block **at)
{
	const struct journal_block *block = *at && number >= (*at)->number ? *at : journal->first;

	if (number < journal->first_number || number >= journal->n)
		return NULL;
	while (number - block->number >= BLOCK)
		block = block->next;
	*at = block;
	return &block->entries[number - block->number];
}

void journal_new(struct model *model)
{
	model->journal = xcalloc(1, sizeof(*model->journal));
	model->journal->from_ns = INT64_MIN;
}

size_t journal_bytes(const struct model *model)
{
	return sizeof(*model->journal) + model->journal->bytes;
}

void journal_free(struct model *model)
{
	struct journal *journal = model->journal;

	while (journal->first) {
		struct journal_block *next = journal->first->next;

		free(journal->first);
		journal->first = next;
	}
	free(journal);
}
