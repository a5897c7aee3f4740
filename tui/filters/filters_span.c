/* SPDX-License-Identifier: MIT */
#include "tui/filters/filters_span.h"

#include <stdio.h>

#include "model/base/util.h"

struct span_asked {
	const struct span *span;
	int64_t base_ns;
	char tid[12];
};

/* The kinds that events of a row can have; -1 ends the list. */
static const signed char kinds_of[][4] = {
	[ROW_THREAD] = { FILTER_OP, FILTER_RANGE, -1 },
	[ROW_QUEUE] = { FILTER_KERNEL, FILTER_FILL, FILTER_MARKER, -1 },
	[ROW_COPY] = { FILTER_COPY, FILTER_FILL, -1 },
	[ROW_COMPILE] = { FILTER_COMPILE, -1 },
	[ROW_GRAPH] = { FILTER_GRAPH, -1 },
};

static enum filter_kind kind_of(const struct span *span)
{
	switch (span->row_kind) {
	case ROW_THREAD: return span->is_range ? FILTER_RANGE : FILTER_OP;
	case ROW_COMPILE: return FILTER_COMPILE;
	case ROW_GRAPH: return FILTER_GRAPH;
	case ROW_COPY: return span->direction == DIR_FILL ? FILTER_FILL : FILTER_COPY;
	default: break;
	}
	if (span->kind == COMMAND_FILL)
		return FILTER_FILL;
	return span->kind == COMMAND_KERNEL ? FILTER_KERNEL : FILTER_MARKER;
}

static enum filter_known of_command(const struct span *span, enum filter_field field,
				    struct filter_value *value)
{
	int64_t dur_ns = span->end_ns - span->start_ns, delay_ns;
	bool kernel = span->kind == COMMAND_KERNEL;

	switch (field) {
	case FILTER_BY_OP: return filter_words(value, span->op, NULL);
	case FILTER_BY_CLASS:
		return filter_words(value, kernel ?
				    kernel_kind_name((enum kernel_kind)span->class.kind) : NULL,
				    NULL);
	case FILTER_BY_DTYPE:
		return filter_words(value, kernel ?
				    kernel_type_name((enum kernel_type)span->class.type) : NULL,
				    NULL);
	case FILTER_BY_DELAY:
		delay_ns = span->start_ns - span->call_ns - span->call_dur_ns;
		return filter_number_if(value, delay_ns > 0 ? delay_ns : 0, span->call_ns > 0);
	case FILTER_BY_BYTES: return filter_number_if(value, (int64_t)span->bytes, span->bytes > 0);
	case FILTER_BY_RATE:
		return filter_number_if(value, (int64_t)bytes_per_s(span->bytes, dur_ns),
					span->bytes && dur_ns > 0);
	case FILTER_BY_FLOP:
		return filter_number_if(value, (int64_t)flop_per_s(span->flop, dur_ns),
					span->flop && dur_ns > 0);
	case FILTER_BY_DIR:
		return filter_number_if(value, span->direction, span->direction != DIR_NONE);
	case FILTER_BY_DEVICE: return filter_words(value, span->device, NULL);
	case FILTER_BY_QUEUE: return filter_words(value, span->queue, NULL);
	case FILTER_BY_STATUS: return filter_number(value, span->status);
	default: return FILTER_UNKNOWN;
	}
}

static enum filter_known of_op(const struct span *span, enum filter_field field,
			       struct filter_value *value)
{
	switch (field) {
	case FILTER_BY_OP: return filter_words(value, span->name, span->raw_name);
	case FILTER_BY_TYPE: return filter_words(value, span->op_type, NULL);
	case FILTER_BY_WAIT: return filter_number_if(value, span->wait_ns, span->wait_ns > 0);
	case FILTER_BY_KERNELS: return filter_number(value, span->kernels);
	case FILTER_BY_DEVICE_TIME: return filter_number_if(value, span->device_ns,
							    span->kernels > 0);
	default: return FILTER_UNKNOWN;
	}
}

static enum filter_known filters_span_field(const void *arg, enum filter_field field,
					    struct filter_value *value)
{
	const struct span_asked *asked = arg;
	const struct span *span = asked->span;

	switch (field) {
	case FILTER_BY_NAME: return filter_words(value, span->name, span->raw_name);
	case FILTER_BY_RAW_NAME: return filter_words(value, span->raw_name, NULL);
	case FILTER_BY_KIND: return filter_number(value, kind_of(span));
	case FILTER_BY_DUR: return filter_number(value, span->end_ns - span->start_ns);
	case FILTER_BY_START: return filter_number(value, span->start_ns - asked->base_ns);
	case FILTER_BY_END: return filter_number_if(value, span->end_ns - asked->base_ns,
						    !span->open);
	case FILTER_BY_THREAD: return filter_words(value, span->thread, asked->tid);
	case FILTER_BY_PID: return filter_number(value, span->pid);
	case FILTER_BY_STEP: return filter_number_if(value, span->step, span->step >= 0);
	case FILTER_BY_FAILED: return filter_number(value, span->status < 0);
	case FILTER_BY_OPEN: return filter_number(value, span->open);
	case FILTER_BY_APPROXIMATE: return filter_number(value, span->approx);
	default: break;
	}
	return span->row_kind == ROW_THREAD || span->row_kind == ROW_COMPILE ?
	       of_op(span, field, value) : of_command(span, field, value);
}

bool filters_span(const struct filter *filter, const struct span *span, int64_t base_ns)
{
	struct span_asked asked = { span, base_ns, "" };

	if (span->tid)
		snprintf(asked.tid, sizeof(asked.tid), "%u", span->tid);
	return filter_match(filter, filters_span_field, &asked);
}

/* ---- before it is looked at ---- */

struct brief {
	const char *name, *raw;		/* NULL if they are known LATER */
	int kind;			/* -1 if it is known LATER */
	int64_t dur_ns;			/* -1 if it is known LATER */
};

static enum filter_known filters_span_field_brief(const void *arg, enum filter_field field,
						  struct filter_value *value)
{
	const struct brief *brief = arg;

	if (field == FILTER_BY_NAME && brief->name)
		return filter_words(value, brief->name, brief->raw);
	if (field == FILTER_BY_RAW_NAME && brief->name)
		return filter_words(value, brief->raw, NULL);
	if (field == FILTER_BY_KIND && brief->kind >= 0)
		return filter_number(value, brief->kind);
	if (field == FILTER_BY_DUR && brief->dur_ns >= 0)
		return filter_number(value, brief->dur_ns);
	return FILTER_LATER;
}

bool filters_may_name(const struct filter *filter, enum row_kind row, const char *name,
		      const char *raw)
{
	struct brief brief = { name, raw, 0, -1 };

	if (row >= sizeof(kinds_of) / sizeof(kinds_of[0]))
		return false;
	for (const signed char *kind = kinds_of[row]; *kind >= 0; kind++) {
		brief.kind = *kind;
		if (filter_ask(filter, filters_span_field_brief, &brief) != FILTER_NO)
			return true;
	}
	return false;
}

bool filters_may_time(const struct filter *filter, int64_t dur_ns)
{
	struct brief brief = { NULL, NULL, -1, dur_ns > 0 ? dur_ns : 0 };

	return filter_ask(filter, filters_span_field_brief, &brief) != FILTER_NO;
}
