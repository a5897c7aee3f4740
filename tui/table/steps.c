/* SPDX-License-Identifier: MIT */
#include "tui/table/steps.h"

#include <string.h>

#include "model/base/util.h"

size_t steps_from(const struct step_list *steps, int64_t t_ns)
{
	return FIRST_FROM(steps->rows, steps->n, t_ns);
}

bool steps_name(const struct step_stats *stats, const char *name, const char **all)
{
	static const char ranges[] = "range ";
	const char *source = stats->source;
	size_t head;

	if (!source || !name || strncmp(source, ranges, sizeof(ranges) - 1) != 0)
		return false;
	source += sizeof(ranges) - 1;
	head = strcspn(source, "#");
	if (!source[head] || strncmp(name, source, head) != 0 || !name[head] ||
	    name[head + strspn(name + head, "0123456789")])
		return false;
	*all = source;
	return true;
}

size_t steps_merge(const struct step_stats *stats, struct op_row *rows, size_t count)
{
	struct op_row *all = NULL;
	const char *name;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		bool step = steps_name(stats, rows[i].name, &name);

		if (!step || !all) {
			rows[kept] = rows[i];
			if (step) {
				all = &rows[kept];
				all->name = name;
			}
			kept++;
			continue;
		}
		all->count += rows[i].count;
		all->seen += rows[i].seen;
		all->total_ns += rows[i].total_ns;
		all->self_ns += rows[i].self_ns;
		all->device_ns += rows[i].device_ns;
		all->kernels += rows[i].kernels;
		all->copies += rows[i].copies;
		all->copy_bytes += rows[i].copy_bytes;
		if (rows[i].max_ns > all->max_ns)
			all->max_ns = rows[i].max_ns;
	}
	return kept;
}
