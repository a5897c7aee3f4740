/* SPDX-License-Identifier: MIT */
#include "tui/filters/filters_rows.h"

#include "model/base/util.h"

enum filter_known filters_copy_part(const struct range_part *part, int64_t whole_ns,
				    enum filter_field field, struct filter_value *value)
{
	uint64_t rate = bytes_per_s(part->bytes, part->time_ns);

	switch (field) {
	case FILTER_BY_NAME: return filter_words(value, direction_name(part->direction), NULL);
	case FILTER_BY_OP: return filter_words(value, part->op, NULL);
	case FILTER_BY_KIND:
		return filter_number(value, part->direction == DIR_FILL ? FILTER_FILL :
				     FILTER_COPY);
	case FILTER_BY_DIR: return filter_number(value, part->direction);
	case FILTER_BY_COUNT: return filter_number(value, (int64_t)part->count);
	case FILTER_BY_BYTES: return filter_number(value, (int64_t)part->bytes);
	case FILTER_BY_RATE: return filter_number_if(value, (int64_t)rate, rate > 0);
	case FILTER_BY_TOTAL: return filter_number(value, part->time_ns);
	case FILTER_BY_DUR:
	case FILTER_BY_MEAN:
		return filter_number_if(value, part->count ? part->time_ns / (int64_t)part->count :
					0, part->count > 0);
	case FILTER_BY_MAX: return filter_number(value, part->longest_ns);
	case FILTER_BY_SHARE:
		return filter_number_if(value, whole_ns ? (int64_t)
			((__int128_t)part->time_ns * 1000000 / whole_ns) : 0, whole_ns > 0);
	case FILTER_BY_OPEN: return filter_number(value, part->open > 0);
	default: return FILTER_UNKNOWN;
	}
}
