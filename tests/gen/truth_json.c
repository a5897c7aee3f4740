/* SPDX-License-Identifier: MIT */
/* Writes the sums in the form of the report. */
#include <stdlib.h>
#include <string.h>

#include "model/query/query.h"
#include "model/base/util.h"
#include "tests/gen/truth_internal.h"
#include "tui/base/json.h"

static void write_trust(struct json *json, const struct truth *truth)
{
	json_key_object(json, "trust");
	json_key_uint(json, "events", truth->events);
	json_key_uint(json, "lost_events", truth->lost);
	json_key_uint(json, "lost_packets", 0);
	json_key_bool(json, "settled", true);
	json_key_object(json, "attribution");
	for (int how = 0; how < HOW_COUNT; how++)
		json_key_uint(json, how_name((enum how)how), truth->how[how]);
	json_end(json);
	json_end(json);
}

static void write_process(struct json *json, const struct truth *truth)
{
	json_key_array(json, "processes");
	json_object(json);
	json_key_uint(json, "pid", truth->pid);
	json_key_string(json, "host", truth->host);
	json_key_string(json, "command", truth->command);
	json_key_uint(json, "exit_status", 0);
	json_end(json);
	json_end(json);
}

/* Writes one device; each kernel is assumed to run on only one. */
static void write_device(struct json *json, struct truth *truth)
{
	const struct truth_span *spans = (const struct truth_span *)(void *)truth->spans.data;
	int64_t last = INT64_MIN, busy, kernels, copies;

	if (truth->n_devices != 1 || truth->drifts || !truth->spans.n)
		return;
	for (size_t i = 0; i < truth->spans.n; i++)
		if (spans[i].end > last)
			last = spans[i].end;
	busy = truth_union(truth, 0, -1);
	kernels = truth_union(truth, 0, 1);
	copies = truth_union(truth, 0, 0);
	json_key_array(json, "devices");
	json_object(json);
	json_key_uint(json, "id", 0);
	json_key_string(json, "name", truth->device);
	json_key_int(json, "busy_ns", busy);
	json_key_int(json, "kernel_ns", kernels);
	json_key_int(json, "copy_ns", copies);
	json_key_int(json, "overlap_ns", kernels + copies - busy);
	json_end(json);
	json_end(json);
}

static void write_queues(struct json *json, struct truth *truth)
{
	json_key_array(json, "queues");
	for (uint32_t i = 1; i < truth->queues.n; i++) {
		const struct truth_queue *queue = truth_at(&truth->queues, i);

		json_object(json);
		json_key_uint(json, "id", i - 1);
		json_key_uint(json, "number", i - 1);
		json_key_uint(json, "pid", truth->pid);
		json_key_uint(json, "device", queue->device - 1);
		json_key_bool(json, "in_order", queue->in_order);
		json_key_uint(json, "kernels", queue->n_kernels);
		json_key_uint(json, "copies", queue->n_copies);
		if (queue->failed)
			json_key_uint(json, "failed", queue->failed);
		/* each of many queues would need a scan over many runs */
		if (!truth->drifts && truth->queues.n * truth->spans.n < 200000000)
			json_key_int(json, "busy_ns", truth_union(truth, i, -1));
		json_end(json);
	}
	json_end(json);
}

/* ---- kernels ---- */

static void write_kernel_queues(struct json *json, struct truth *truth, uint32_t name)
{
	json_key_array(json, "by_queue");
	for (size_t i = 0; i < truth->kernels.n; i++) {
		const struct truth_kernel *kernel = truth_at(&truth->kernels, i);

		if (kernel->name != name || !kernel->count)
			continue;
		json_object(json);
		json_key_uint(json, "queue", kernel->queue - 1);
		json_key_uint(json, "count", kernel->count);
		json_key_int(json, "total_ns", kernel->total_ns);
		json_end(json);
	}
	json_end(json);
}

static void write_kernel_ops(struct json *json, struct truth *truth, uint32_t name)
{
	json_key_array(json, "ops");
	for (size_t i = 0; i < truth->kernel_ops.n; i++) {
		const struct truth_kernel_op *op = truth_at(&truth->kernel_ops, i);

		if (op->name != name)
			continue;
		json_object(json);
		if (op->op_name)
			json_key_string(json, "name", truth_name(truth, op->op_name));
		json_key_uint(json, "count", op->count);
		json_key_int(json, "total_ns", op->total_ns);
		json_key_string(json, "how", how_name((enum how)op->how));
		json_end(json);
	}
	json_end(json);
}

static void write_kernel(struct json *json, struct truth *truth, uint32_t name)
{
	struct truth_kernel sum = { .min_ns = INT64_MAX };
	const struct truth_queue *queue = NULL;

	for (size_t i = 0; i < truth->kernels.n; i++) {
		const struct truth_kernel *kernel = truth_at(&truth->kernels, i);

		if (kernel->name != name)
			continue;
		queue = truth_at(&truth->queues, kernel->queue);
		sum.count += kernel->count;
		sum.failed += kernel->failed;
		sum.total_ns += kernel->total_ns;
		if (kernel->count && kernel->min_ns < sum.min_ns)
			sum.min_ns = kernel->min_ns;
		if (kernel->max_ns > sum.max_ns)
			sum.max_ns = kernel->max_ns;
	}
	json_object(json);
	json_key_string(json, "name", truth_name(truth, name));
	json_key_uint(json, "device", queue ? queue->device - 1 : 0);
	json_key_uint(json, "count", sum.count);
	if (sum.failed)
		json_key_uint(json, "failed", sum.failed);
	if (sum.count) {
		json_key_int(json, "total_ns", sum.total_ns);
		json_key_int(json, "mean_ns", sum.total_ns / (int64_t)sum.count);
		json_key_int(json, "min_ns", sum.min_ns);
		json_key_int(json, "max_ns", sum.max_ns);
	}
	write_kernel_queues(json, truth, name);
	write_kernel_ops(json, truth, name);
	json_end(json);
}

static void write_kernels(struct json *json, struct truth *truth)
{
	struct map done = { .size = 0 };

	json_key_array(json, "kernels");
	for (size_t i = 0; i < truth->kernels.n; i++) {
		const struct truth_kernel *kernel = truth_at(&truth->kernels, i);

		if (map_get(&done, kernel->name) != MAP_NONE)
			continue;
		map_set(&done, kernel->name, 0);
		write_kernel(json, truth, kernel->name);
	}
	json_end(json);
	map_release(&done);
}

static void write_copies(struct json *json, struct truth *truth)
{
	json_key_array(json, "copies");
	for (uint32_t i = 1; i < truth->queues.n; i++)
		for (int d = 0; d < DIR_COUNT; d++) {
			const struct truth_queue *queue = truth_at(&truth->queues, i);
			const struct truth_copy *copy = &queue->copies[d];

			if (!copy->count && !copy->failed)
				continue;
			json_object(json);
			json_key_string(json, "direction", direction_name((enum direction)d));
			json_key_uint(json, "device", queue->device - 1);
			json_key_uint(json, "queue", i - 1);
			json_key_uint(json, "count", copy->count);
			json_key_uint(json, "bytes", copy->bytes);
			json_key_int(json, "total_ns", copy->total_ns);
			if (copy->total_ns > 0) {
				json_key_uint(json, "mean_bytes_per_s", (uint64_t)
					((__uint128_t)copy->bytes * 1000000000 /
					 (uint64_t)copy->total_ns));
				json_key_uint(json, "peak_bytes_per_s",
					      copy->peak ? copy->peak : copy->peak_small);
			}
			json_end(json);
		}
	json_end(json);
}

/* ---- ops ---- */

struct op_sum {
	uint32_t name, type;
	uint8_t framework;
	bool range;
	uint64_t count, kernels, copies, copy_bytes;
	int64_t total_ns, self_ns, min_ns, max_ns, device_ns;
};

static void sum_op(struct op_sum *sum, const struct truth_op *op)
{
	int64_t children = op->child_tid == op->tid ? op->children_ns : 0;
	int64_t self = op->dur_ns > children ? op->dur_ns - children : 0;

	sum->kernels += op->kernels;
	sum->copies += op->copies;
	sum->copy_bytes += op->copy_bytes;
	sum->device_ns += op->device_ns;
	sum->range &= !op->touched;
	if (!op->finished)
		return;
	sum->range &= (op->flags & (OP_RANGE | OP_INNER)) == OP_RANGE;
	if (!sum->count || op->dur_ns < sum->min_ns)
		sum->min_ns = op->dur_ns;
	sum->count++;
	sum->total_ns += op->dur_ns;
	sum->self_ns += self;
	if (op->dur_ns > sum->max_ns)
		sum->max_ns = op->dur_ns;
}

/* Launches in an op whose event was lost are known by the op's name alone. */
static struct op_sum *sum_ops(struct truth *truth, size_t *n)
{
	struct op_sum *sums = NULL;
	struct map rows = { .size = 0 };
	size_t cap = 0;

	*n = 0;
	for (size_t i = 1; i < truth->ops.n; i++) {
		const struct truth_op *op = truth_at(&truth->ops, i);
		uint32_t name = op->known ? op->name : op->op_name;
		uint32_t type = op->known ? op->type : 0;
		uint8_t framework = op->known ? op->framework : FW_NONE;
		uint64_t key = (uint64_t)name << 28 | (uint64_t)type << 4 | framework;
		uint32_t at = map_get(&rows, key);

		if (!op->known && !op->kernels && !op->copies)
			continue;
		if (at == MAP_NONE) {
			at = (uint32_t)*n;
			map_set(&rows, key, at);
			grow(&sums, &cap, *n, sizeof(*sums));
			sums[(*n)++] = (struct op_sum) {
				.name = name, .type = type, .framework = framework, .range = true,
			};
		}
		sum_op(&sums[at], op);
	}
	map_release(&rows);
	return sums;
}

static void write_op(struct json *json, struct truth *truth, const struct op_sum *op)
{
	json_object(json);
	json_key_string(json, "name", truth_name(truth, op->name));
	if (op->type)
		json_key_string(json, "type", truth_name(truth, op->type));
	if (op->framework)
		json_key_string(json, "framework", framework_name((enum framework)op->framework));
	json_key_uint(json, "count", op->count);
	json_key_int(json, "total_ns", op->total_ns);
	json_key_int(json, "self_ns", op->self_ns);
	if (op->count) {
		json_key_int(json, "mean_ns", op->total_ns / (int64_t)op->count);
		json_key_int(json, "min_ns", op->min_ns);
		json_key_int(json, "max_ns", op->max_ns);
	}
	if (!op->range) {
		json_key_int(json, "device_ns", op->device_ns);
		json_key_uint(json, "kernels", op->kernels);
		json_key_uint(json, "copies", op->copies);
		json_key_uint(json, "copy_bytes", op->copy_bytes);
	}
	json_end(json);
}

static void write_ops(struct json *json, struct truth *truth)
{
	size_t n, ranges = 0;
	struct op_sum *sums = sum_ops(truth, &n);

	json_key_array(json, "ops");
	for (size_t i = 0; i < n; i++) {
		if (!sums[i].count && !sums[i].kernels && !sums[i].copies)
			continue;
		if (sums[i].range)
			ranges++;
		else
			write_op(json, truth, &sums[i]);
	}
	json_end(json);
	if (ranges) {
		json_key_array(json, "ranges");
		for (size_t i = 0; i < n; i++)
			if (sums[i].range && sums[i].count)
				write_op(json, truth, &sums[i]);
		json_end(json);
	}
	free(sums);
}

static void write_calls(struct json *json, struct truth *truth)
{
	json_key_array(json, "calls");
	for (uint32_t i = 1; i < truth->calls.n; i++) {
		uint64_t count = *(uint64_t *)truth_at(&truth->calls, i);

		if (!count)
			continue;
		json_object(json);
		json_key_string(json, "name", truth_name(truth, i));
		json_key_uint(json, "count", count);
		json_key_uint(json, "errors", 0);
		json_end(json);
	}
	json_end(json);
}

static int step_by_start(const void *a, const void *b)
{
	const struct truth_step *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void write_steps(struct json *json, struct truth *truth)
{
	int64_t sum = 0;

	if (!truth->steps.n)
		return;
	qsort(truth->steps.data, truth->steps.n, truth->steps.size, step_by_start);
	json_key_object(json, "steps");
	json_key_uint(json, "count", truth->steps.n);
	json_key_array(json, "series_ns");
	for (size_t i = 0; i < truth->steps.n; i++) {
		const struct truth_step *step = truth_at(&truth->steps, i);

		json_int(json, step->dur_ns);
		sum += step->dur_ns;
	}
	json_end(json);
	json_key_int(json, "mean_ns", sum / (int64_t)truth->steps.n);
	json_end(json);
}

void truth_write(struct truth *truth, FILE *out)
{
	struct json json;

	truth_settle(truth);
	json_init(&json, out);
	json_object(&json);
	json_key_int(&json, "schema", 1);
	write_trust(&json, truth);
	write_process(&json, truth);
	write_device(&json, truth);
	write_queues(&json, truth);
	write_kernels(&json, truth);
	write_copies(&json, truth);
	write_ops(&json, truth);
	write_calls(&json, truth);
	write_steps(&json, truth);
	truth_write_memory(&json, truth);
	json_end(&json);
	json_finish(&json);
}
