/* SPDX-License-Identifier: MIT */
/*
 * The tables of devices, copies and ops. Totals are kept by the names as they were used; here the
 * totals of names that turned out to be the same (defined late, or in several processes) become
 * one row.
 */
#include "model/align/hosts.h"
#include "model/graph/graph.h"
#include "model/lines/lines.h"
#include "model/rows/rows.h"
#include "model/totals/totals.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

size_t model_processes(struct model *model, struct process_row **out)
{
	struct names *names = &model->names;
	size_t n = 0;

	*out = xcalloc(model->processes.n, sizeof(**out));
	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct process *process = process_at(model, i);
		struct process_row *row = &(*out)[n++];

		*row = (struct process_row) {
			.host = process->host, .pid = process->pid,
			.parent = process->parent > 0 ? (uint32_t)process->parent : 0,
			.host_name = process->host_name ? names_raw(names, process->host_name) : "",
			.command = process->command ? names_raw(names, process->command) : "",
			.rank = process->rank, .exited = process->exited || process->replaced,
			.exit_status = process->exit_status, .exit_signal = process->exit_signal,
			.start_ns = process->start_ns, .n_probes = process->n_probes,
		};
		for (size_t k = 0; k < process->n_probes; k++) {
			row->probes[k] = names_raw(names, process->probes[k]);
			row->blind[k] = process->blind[k] ? names_raw(names, process->blind[k]) :
					"";
		}
	}
	return n;
}

/* ---- devices ---- */

static const char *text_of(struct model *model, uint32_t name)
{
	return name ? names_raw(&model->names, name) : "";
}

static void add_pid(struct device_row *row, uint32_t pid)
{
	size_t listed = row->n_pids < 16 ? row->n_pids : 16;

	for (size_t i = 0; i < listed; i++)
		if (row->pids[i] == pid)
			return;
	if (row->n_pids < 16)
		row->pids[row->n_pids] = pid;
	row->n_pids++;
}

static void device_identity(struct model *model, uint32_t index, struct device_row *row)
{
	const struct device *device = device_at(model, index);
	bool first = true;

	*row = (struct device_row) {
		.id = index, .api = text_of(model, device->api),
		.name = text_of(model, device->name), .vendor = text_of(model, device->vendor),
		.platform = text_of(model, device->platform),
		.driver = text_of(model, device->driver),
		.address = text_of(model, device->address), .host = "", .gpu = device->gpu,
		.units = device->units, .clock_mhz = device->clock_mhz,
		.memory_bytes = device->memory_bytes, .limits = device->limits,
	};
	for (uint32_t v = 0; v < model->views.n; v++) {
		const struct device_view *view = view_at(model, v);
		int64_t error;

		if (view->device != index)
			continue;
		add_pid(row, process_at(model, view->process)->pid);
		if (process_at(model, view->process)->host_name)
			row->host = text_of(model, process_at(model, view->process)->host_name);
		row->clock_violations += view->clock.violations;
		if (!clock_has(&view->clock))
			continue;
		/* The worst quality among the processes that use the device. */
		error = clock_error(&view->clock);
		if (first || view->clock.quality < row->clock_quality)
			row->clock_quality = view->clock.quality;
		add_ns(&error, hosts_error(model, process_at(model, view->process)->host));
		if (error > row->clock_error_ns)
			row->clock_error_ns = error;
		row->clock_known = !view->clock.guessed && (first || row->clock_known);
		first = false;
	}
}

/* Exact while all detail is kept. Of folded parts only the duration is known, not the place, so
 * the overlap may be slightly off. */
static int64_t overlap(const struct device_row *row)
{
	int64_t ns = row->kernel_ns + row->copy_ns - row->busy_ns;

	return ns > 0 ? ns : 0;
}

static bool is_listed(const struct model *model, uint32_t index)
{
	const struct device *device = device_at(model, index);

	return !device->alias && (device->defined || device->first_ns <= device->last_ns);
}

size_t model_devices(struct model *model, struct device_row **out)
{
	size_t n = 0;

	*out = xcalloc(model->devices.n, sizeof(**out));
	for (uint32_t i = 0; i < model->devices.n; i++) {
		const struct device *device = device_at(model, i);
		struct device_row *row = &(*out)[n];

		if (!is_listed(model, i))
			continue;
		n++;
		device_identity(model, i, row);
		if (device->first_ns <= device->last_ns)
			row->span_ns = device->last_ns - device->first_ns;
		row->busy_ns = merged_total(&device->all);
		row->kernel_ns = merged_total(&device->kernels);
		row->copy_ns = merged_total(&device->copies);
		row->overlap_ns = overlap(row);
	}
	return n;
}

static int64_t finished_window(struct model *model, const struct merged *merged,
			       const struct row_filter *filter, int64_t t0, int64_t t1)
{
	struct row_walk walk = ROW_WALK(filter);
	int64_t busy = 0;
	uint32_t i;

	if (t1 <= t0)
		return 0;
	if (merged->full)
		return cover_window(&merged->cover, t0, t1);
	/* Nothing overlaps: the parts add up. */
	while ((i = row_walk(model, &walk)) != NONE) {
		struct row *row = row_at(model, i);

		for (uint32_t l = 0; l < row->n_lanes; l++)
			busy += lane_busy(&row->lanes[l], t0, t1);
	}
	return busy;
}

/* The earliest start of the open spans; INT64_MAX: there are none. */
static int64_t first_open(const struct model *model, const struct row_filter *filter)
{
	int64_t first = INT64_MAX;
	struct row_walk walk = ROW_WALK(filter);
	uint32_t i;

	while ((i = row_walk(model, &walk)) != NONE) {
		const struct row *row = row_at(model, i);

		for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
			if (open_at(model, o)->start_ns < first)
				first = open_at(model, o)->start_ns;
	}
	return first;
}

static int64_t within_window(int64_t t, int64_t t0, int64_t t1)
{
	return t < t0 ? t0 : t > t1 ? t1 : t;
}

/* As in the columns: everything from the first open start to the live edge counts as busy. */
static int64_t merged_window(struct model *model, const struct merged *merged, uint32_t device,
			     bool kernels, bool copies, int64_t t0, int64_t t1)
{
	struct row_filter filter = {
		.process = NONE, .queue = NONE, .device = device, .kernels = kernels,
		.copies = copies,
	};
	int64_t from = within_window(first_open(model, &filter), t0, t1);
	int64_t to = within_window(live_edge(model), from, t1);

	return finished_window(model, merged, &filter, t0, from) + (to - from) +
	       finished_window(model, merged, &filter, to, t1);
}

bool model_device_window(struct model *model, uint32_t index, int64_t t0, int64_t t1,
			 struct device_row *out)
{
	const struct device *device;

	if (index >= model->devices.n || !is_listed(model, index) || t1 <= t0)
		return false;
	device = device_at(model, index);
	device_identity(model, index, out);
	out->span_ns = t1 - t0;
	out->busy_ns = merged_window(model, &device->all, index, true, true, t0, t1);
	out->kernel_ns = merged_window(model, &device->kernels, index, true, false, t0, t1);
	out->copy_ns = merged_window(model, &device->copies, index, false, true, t0, t1);
	out->overlap_ns = overlap(out);
	return true;
}

size_t model_queues(struct model *model, struct queue_row **out)
{
	*out = xcalloc(model->queues.n, sizeof(**out));
	for (uint32_t i = 0; i < model->queues.n; i++) {
		const struct queue *queue = queue_at(model, i);

		(*out)[i] = (struct queue_row) {
			.id = i, .number = queue->number,
			.pid = process_at(model, queue->process)->pid,
			.device = queue_device(model, queue), .name = text_of(model, queue->name),
			.in_order = queue->flags & QUEUE_IN_ORDER,
			.fallback = queue->flags & QUEUE_DEFAULT, .priority = queue->priority,
			.profiled = queue->flags & QUEUE_PROFILED,
			.forced = queue->flags & QUEUE_FORCED, .kernels = queue->kernels,
			.copies = queue->n_copies, .failed = queue->failed,
			.busy_ns = merged_total(&queue->merged),
			.delay_p50_ns = hist_percentile(&queue->delay, 500),
			.delay_p99_ns = hist_percentile(&queue->delay, 990),
			.in_flight = queue->in_flight,
		};
	}
	return model->queues.n;
}

/* ---- copies ---- */

static int copy_by_total(const void *a, const void *b)
{
	const struct copy_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	return (int)x->direction - (int)y->direction;
}

static uint32_t peer_of(const struct model *model, const struct copy_total *total)
{
	const struct process *process = process_at(model, queue_at(model, total->queue)->process);
	uint32_t view = total->peer ? map_get(&process->views, total->peer) : MAP_NONE;

	return view == MAP_NONE ? UINT32_MAX : view_at(model, view)->device;
}

size_t model_copies(struct model *model, struct copy_row **out)
{
	*out = xcalloc(model->copies.n, sizeof(**out));
	for (uint32_t i = 0; i < model->copies.n; i++) {
		const struct copy_total *total = store_at(&model->copies, i);
		struct copy_row *row = &(*out)[i];

		*row = (struct copy_row) {
			.direction = (enum direction)total->direction, .queue = total->queue,
			.device = queue_device(model, queue_at(model, total->queue)),
			.count = total->count, .failed = total->failed, .bytes = total->bytes,
			.approx = total->approx, .untimed = total->untimed,
				  .total_ns = total->total_ns,
			.peer = peer_of(model, total), .pinned = total->pinned,
		};
		if (row->direction == DIR_MAP || row->direction == DIR_UNMAP ||
		    total->total_ns <= 0)
			continue;
		row->mean_bytes_per_s = bytes_per_s(total->timed_bytes, total->total_ns);
		row->peak_bytes_per_s = total->peak ? total->peak : total->peak_small;
	}
	if (model->copies.n)
		qsort(*out, model->copies.n, sizeof(**out), copy_by_total);
	return model->copies.n;
}

/* ---- ops ---- */

static int op_by_total(const void *a, const void *b)
{
	const struct op_row *x = a, *y = b;

	return DESCENDING(x, y, device_ns) ?: DESCENDING(x, y, total_ns) ?:
	       strcmp(x->name, y->name);
}

/* No collisions: name ids have 24 bits, frameworks fewer than 4. */
static uint64_t op_key(uint32_t name, uint32_t type, uint8_t framework)
{
	return (uint64_t)name << 28 | (uint64_t)type << 4 | framework;
}

/* The histogram of durations of a row, which mostly is that of a single identity. */
struct op_hist {
	const struct hist *one;		/* borrowed */
	struct hist sum;		/* the sum over several */
	struct hist waits;
	int64_t line_ns;		/* time of the row's line */
};

static void op_row_add(struct op_row *row, struct op_hist *hist, const struct ident *ident)
{
	uint64_t seen = ident->count, unseen = ident_unseen(ident);

	if (ident->count && (!row->count || ident->min_ns < row->min_ns))
		row->min_ns = ident->min_ns;
	if (hist->one) {
		if (!hist->sum.total)
			hist_merge(&hist->sum, hist->one);
		hist_merge(&hist->sum, &ident->hist);
	} else {
		hist->one = &ident->hist;
	}
	row->count += seen + unseen;
	row->seen += seen;
	add_ns(&row->total_ns, scaled_up_ns(ident->total_ns, seen, unseen));
	add_ns(&row->self_ns, scaled_up_ns(ident->self_ns, seen, unseen));
	add_ns(&row->device_ns, scaled_up_ns(ident->device_ns, seen, unseen));
	if (ident->max_ns > row->max_ns)
		row->max_ns = ident->max_ns;
	row->kernels += scaled_up(ident->kernels, seen, unseen);
	row->copies += scaled_up(ident->copies, seen, unseen);
	row->copy_bytes += scaled_up(ident->copy_bytes, seen, unseen);
	row->cpu_kernels += scaled_up(ident->cpu_kernels, seen, unseen);
	add_ns(&row->cpu_ns, scaled_up_ns(ident->cpu_ns, seen, unseen));
	row->detailed |= ident->lines != 0;
	row->handed += ident->handed;
	add_ns(&row->wait_ns, ident->wait_ns);
	if (ident->max_wait_ns > row->max_wait_ns)
		row->max_wait_ns = ident->max_wait_ns;
	if (ident->handed)
		hist_merge(&hist->waits, &ident->waits);
	row->is_range &= ident->ranges == ident->count && !ident->inner;
}

static void op_waits(struct op_row *row, const struct hist *hist)
{
	int64_t p50 = hist_percentile(hist, 500), p99 = hist_percentile(hist, 990);

	if (!row->handed)
		return;
	row->wait_p50_ns = p50 > row->max_wait_ns ? row->max_wait_ns : p50;
	row->wait_p99_ns = p99 > row->max_wait_ns ? row->max_wait_ns : p99;
}

/* The middle of a histogram's bucket may lie outside the smallest and largest values seen. */
static void op_times(struct op_row *row, const struct hist *hist)
{
	int64_t p50 = hist_percentile(hist, 500), p99 = hist_percentile(hist, 990);

	if (!row->count)
		return;
	row->mean_ns = row->total_ns / (int64_t)row->count;
	row->p50_ns = p50 < row->min_ns ? row->min_ns : p50 > row->max_ns ? row->max_ns : p50;
	row->p99_ns = p99 < row->min_ns ? row->min_ns : p99 > row->max_ns ? row->max_ns : p99;
}

/* The line that the op itself reported takes precedence over the line of its graph node. */
static void op_source(struct model *model, uint32_t ident, struct op_row *row, struct op_hist *sums)
{
	const char *file;
	uint32_t line, lines;
	int64_t ns;

	if (line_of_ident(model, ident, &file, &line, &lines, &ns)) {
		if (!sums->line_ns || ns > sums->line_ns) {
			row->file = file;
			row->line = line;
			sums->line_ns = ns ? ns : 1;
		}
		if (lines > row->lines)
			row->lines = lines;
	} else if (!row->file && graph_source(model, ident, &row->file, &row->line)) {
		row->lines = 1;
	}
}

/* how many ops are handled until the lock is yielded: half a millisecond */
#define OPS_AT_ONCE 512u

size_t model_ops(struct model *model, struct op_row **out)
{
	struct map rows = { .size = 0 };
	uint32_t idents = model->idents.n;	/* more may come while others have the lock */
	struct op_hist *hists = xcalloc(idents, sizeof(*hists));
	size_t n = 0;

	*out = xcalloc(idents, sizeof(**out));
	for (uint32_t i = 0; i < idents; i++) {
		const struct ident *ident = ident_at(model, i);
		uint32_t name = names_resolve(&model->names, ident->name);
		uint32_t type = names_resolve(&model->names, ident->type);
		uint64_t key = op_key(name, type, ident->framework);
		uint32_t at = map_get(&rows, key);

		if (i % OPS_AT_ONCE == OPS_AT_ONCE - 1)
			model_yield(model);
		if (!ident->count && !ident->kernels && !ident->copies)
			continue;
		if (at == MAP_NONE) {
			at = (uint32_t)n++;
			map_set(&rows, key, at);
			(*out)[at] = (struct op_row) {
				.name = name ? names_short(&model->names, name) : "?",
				.raw_name = name ? names_raw(&model->names, name) : "?",
				.type = type ? names_short(&model->names, type) : NULL,
				.framework = (enum framework)ident->framework, .is_range = true,
			};
		}
		op_source(model, i, &(*out)[at], &hists[at]);
		graph_latency(model, i, &(*out)[at]);
		op_row_add(&(*out)[at], &hists[at], ident);
	}
	for (size_t i = 0; i < n; i++) {
		op_times(&(*out)[i], hists[i].sum.total ? &hists[i].sum : hists[i].one);
		op_waits(&(*out)[i], &hists[i].waits);
		hist_release(&hists[i].sum);
		hist_release(&hists[i].waits);
		if (i % OPS_AT_ONCE == OPS_AT_ONCE - 1)
			model_yield(model);
	}
	free(hists);
	map_release(&rows);
	model_yield(model);
	if (n)
		qsort(*out, n, sizeof(**out), op_by_total);
	return n;
}
