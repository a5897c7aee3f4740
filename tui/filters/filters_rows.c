/* SPDX-License-Identifier: MIT */
#include "tui/filters/filters_rows.h"

#include "model/base/util.h"

enum filter_known filters_op(const struct op_row *op, enum filter_field field,
			     struct filter_value *value)
{
	bool ran = op->count > 0, launched = op->kernels + op->copies > 0;

	switch (field) {
	case FILTER_BY_NAME:
	case FILTER_BY_OP: return filter_words(value, op->name, op->raw_name);
	case FILTER_BY_RAW_NAME: return filter_words(value, op->raw_name, NULL);
	case FILTER_BY_TYPE: return filter_words(value, op->type, NULL);
	case FILTER_BY_KIND: return filter_number(value, op->is_range ? FILTER_RANGE : FILTER_OP);
	case FILTER_BY_COUNT:
	case FILTER_BY_CALLS: return filter_number(value, (int64_t)op->count);
	case FILTER_BY_TOTAL: return filter_number_if(value, op->total_ns, ran);
	case FILTER_BY_SELF: return filter_number_if(value, op->self_ns, ran);
	case FILTER_BY_DUR:
	case FILTER_BY_MEAN:
		return filter_number_if(value, ran ? op->total_ns / (int64_t)op->count : 0, ran);
	case FILTER_BY_MIN: return filter_number_if(value, op->min_ns, ran);
	case FILTER_BY_MAX: return filter_number_if(value, op->max_ns, ran);
	case FILTER_BY_P50: return filter_number_if(value, op->p50_ns, ran);
	case FILTER_BY_P99: return filter_number_if(value, op->p99_ns, ran);
	case FILTER_BY_DEVICE_TIME: return filter_number_if(value, op->device_ns, launched);
	case FILTER_BY_KERNELS: return filter_number(value, (int64_t)op->kernels);
	case FILTER_BY_BYTES: return filter_number(value, (int64_t)op->copy_bytes);
	case FILTER_BY_WAIT: return filter_number_if(value, op->wait_ns, op->handed > 0);
	case FILTER_BY_FILE: return filter_words(value, op->file, NULL);
	case FILTER_BY_LINE: return filter_number_if(value, op->line, op->file != NULL);
	default: return FILTER_UNKNOWN;
	}
}

enum filter_known filters_copy_part(const struct range_part *part, int64_t whole_ns,
				    enum filter_field field, struct filter_value *value)
{
	uint64_t rate = bytes_per_s(part->bytes, part->time_ns);

	switch (field) {
	case FILTER_BY_NAME: return filter_words(value, direction_name(part->direction), NULL);
	case FILTER_BY_OP: return filter_words(value, part->op, NULL);
	case FILTER_BY_KIND:
		return filter_number(value, part->direction == DIR_FILL ? FILTER_FILL : FILTER_COPY);
	case FILTER_BY_DIR: return filter_number(value, part->direction);
	case FILTER_BY_COUNT: return filter_number(value, (int64_t)part->count);
	case FILTER_BY_BYTES: return filter_number(value, (int64_t)part->bytes);
	case FILTER_BY_RATE: return filter_number_if(value, (int64_t)rate, rate > 0);
	case FILTER_BY_TOTAL: return filter_number(value, part->time_ns);
	case FILTER_BY_DUR:
	case FILTER_BY_MEAN:
		return filter_number_if(value, part->count ? part->time_ns / (int64_t)part->count : 0,
					part->count > 0);
	case FILTER_BY_MAX: return filter_number(value, part->longest_ns);
	case FILTER_BY_SHARE:
		return filter_number_if(value, whole_ns ? (int64_t)
			((__int128_t)part->time_ns * 1000000 / whole_ns) : 0, whole_ns > 0);
	case FILTER_BY_OPEN: return filter_number(value, part->open > 0);
	default: return FILTER_UNKNOWN;
	}
}
