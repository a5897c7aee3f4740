/* SPDX-License-Identifier: MIT */
/* Kernels in the report: what they are by name, how they were launched, time by class. */
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/columns/kernels.h"
#include "model/query/class.h"
#include "model/query/launch.h"
#include "model/query/query.h"
#include "tui/base/json.h"
#include "tui/report/sections.h"

void report_limits_json(struct json *json, const struct device_limits *limits)
{
	char text[24];

	if (!limits->capability)
		return;
	snprintf(text, sizeof(text), "%u.%u", limits->capability / 10, limits->capability % 10);
	json_key_string(json, "capability", text);
	json_uint_if(json, "threads_per_unit", limits->threads);
	json_uint_if(json, "blocks_per_unit", limits->blocks);
	json_uint_if(json, "registers_per_unit", limits->registers);
	json_uint_if(json, "registers_per_block", limits->block_registers);
	json_uint_if(json, "shared_bytes_per_unit", limits->shared);
	json_uint_if(json, "shared_bytes_per_block", limits->block_shared);
	json_uint_if(json, "bandwidth_bytes_per_s", limits->bandwidth);
}

static void report_kernels_write_limited(struct json *json, unsigned limits)
{
	char text[64];

	json_key_array(json, "limited_by");
	for (unsigned bit = 1; bit <= OCCUPANCY_SHARED; bit <<= 1)
		if (limits & bit)
			json_string(json, occupancy_limits(text, sizeof(text), bit));
	json_end(json);
}

static void report_kernels_write_launch(struct json *json, const struct kernel_launch *l)
{
	json_object(json);
	json_key_array(json, "grid");
	for (uint32_t i = 0; i < 3; i++)
		json_uint(json, l->grid[i]);
	json_end(json);
	json_key_array(json, "block");
	for (uint32_t i = 0; i < 3; i++)
		json_uint(json, l->block[i]);
	json_end(json);
	json_uint_if(json, "registers", l->registers);
	json_key_uint(json, "shared_static_bytes", l->shared_static);
	json_key_uint(json, "shared_dynamic_bytes", l->shared_dynamic);
	json_key_uint(json, "count", l->count);
	if (l->timed)
		json_key_int(json, "total_ns", l->total_ns);
	if (!l->occupancy.unknown) {
		json_key(json, "occupancy");
		json_share(json, l->occupancy.warps, l->occupancy.warps_max);
		json_key_uint(json, "blocks_per_unit", l->occupancy.resident);
		report_kernels_write_limited(json, l->occupancy.limits);
		json_key(json, "waves");
		json_share(json, l->occupancy.waves_milli, 1000);
		json_key(json, "tail");
		json_share(json, l->occupancy.tail_milli, 1000);
	} else {
		json_key_string(json, "occupancy_unknown", l->occupancy.unknown);
	}
	json_end(json);
}

/* Of a device that has what occupancy is reckoned by. */
static void report_kernels_write_launches(struct json *json, struct model *model,
					  const struct kernel_row *row)
{
	struct kernel_launch *launches;
	size_t n;

	if (row->occupancy_milli < 0)
		return;
	model_lock(model);
	n = model_kernel_launches(model, row->raw_name, row->device, &launches);
	model_unlock(model);
	json_key_array(json, "launches");
	for (size_t i = 0; i < n; i++)
		report_kernels_write_launch(json, &launches[i]);
	json_end(json);
	free(launches);
}

static void report_kernels_write_types(struct json *json, const int64_t type_ns[KERNEL_TYPES])
{
	bool any = false;

	for (int type = NUMBER_UNKNOWN + 1; type < KERNEL_TYPES; type++) {
		if (type_ns[type] <= 0)
			continue;
		if (!any)
			json_key_object(json, "dtypes");
		any = true;
		json_key_int(json, kernel_type_name((enum kernel_type)type), type_ns[type]);
	}
	if (any)
		json_end(json);
}

void report_class_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	report_kernels_write_types(json, ((const struct kernel_class_row *)rows)[at].type_ns);
}

static int by_ns(const void *a, const void *b)
{
	const struct report_share *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

size_t report_classes(struct model *model, uint32_t device, struct report_share *shares,
		      int64_t *whole_ns)
{
	struct kernel_class_row *rows;
	int64_t ns[KERNEL_KINDS] = { 0 };
	size_t n = model_kernel_classes(model, &rows), used = 0;

	*whole_ns = 0;
	for (size_t i = 0; i < n; i++) {
		if (device != UINT32_MAX && rows[i].device != device)
			continue;
		ns[rows[i].kind] += rows[i].total_ns;
		*whole_ns += rows[i].total_ns;
	}
	free(rows);
	for (int kind = 0; kind < KERNEL_KINDS; kind++)
		if (ns[kind])
			shares[used++] = (struct report_share) {
				kernel_kind_name((enum kernel_kind)kind), ns[kind],
			};
	if (used)
		qsort(shares, used, sizeof(*shares), by_ns);
	return used;
}

void report_classes_text(struct model *model, FILE *out)
{
	struct report_share shares[KERNEL_KINDS];
	int64_t whole_ns;
	size_t n;

	model_lock(model);
	n = report_classes(model, UINT32_MAX, shares, &whole_ns);
	model_unlock(model);
	if (n && whole_ns > 0)
		report_shares("  by class  ", shares, n, whole_ns, out);
}

void report_kernel_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct kernel_row *row = &((const struct kernel_line *)rows)[at].row;

	if (row->count > row->untimed) {
		json_key_array(json, "histogram");
		for (size_t k = 0; k < KERNEL_SPREAD; k++)
			json_uint(json, row->spread[k]);
		json_end(json);
	}
	report_flop(json, row);
	report_kernels_write_launches(json, model, row);
	json_key_array(json, "by_queue");
	for (size_t k = 0; k < row->n_queues; k++) {
		json_object(json);
		json_key_uint(json, "queue", row->queues[k].queue);
		json_key_uint(json, "count", row->queues[k].count);
		json_key_int(json, "total_ns", row->queues[k].total_ns);
		json_end(json);
	}
	json_end(json);
	json_key_array(json, "ops");
	for (size_t k = 0; k < row->n_ops; k++) {
		json_object(json);
		json_text_if(json, "name", row->ops[k].name);
		json_key_uint(json, "count", row->ops[k].count);
		json_key_int(json, "total_ns", row->ops[k].total_ns);
		json_key_string(json, "how", how_name(row->ops[k].how));
		json_end(json);
	}
	json_end(json);
}
