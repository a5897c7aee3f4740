/* SPDX-License-Identifier: MIT */
/*
 * What the device did, as JSON in the form of tftop's report, for tests/live/cuda_compare.py. A
 * queue's name is that of its stream, as the CUDA probe names those that have none:
 *
 *	devices[]	name, address
 *	streams[]	id, context, device, priority, default; kernels, copies, busy_ns
 *	kernels[]	raw_name, device, count, total_ns, min_ns, max_ns; ops[] of these by name
 *			(of a graph's node the op that captured it), by_queue[] by queue_name
 *	copies[]	direction, device, to_device (p2p), stream, count, bytes, total_ns
 *	ops[]		name, count; kernels, kernel_ns, copies, copy_bytes, copy_ns of what it
 *			launched
 *	memory[]	allocator, allocations, frees, live_bytes, peak_bytes
 *	waits[]		name (of the call that blocked), count
 *	cuda		graph_launches, graph_nodes, compiles, failed (launches), dropped (records,
 *			by CUPTI's double)
 *
 * "copies" of a stream and an op are copies and fills. A program on a real device, which does
 * not know all of that, leaves keys out; what is left out is not compared.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/sim.h"

#define SLOTS 1024	/* per stream: kinds of work; a power of two */

struct sum {
	const char *name;	/* name of a kernel, or a direction */
	const struct sim_range *range, *within;	/* within: the op, as for kernels */
	int from, to;
	bool kernel;
	uint64_t count, bytes;
	int64_t ns, min_ns, max_ns;
};

struct sim_truth {
	struct sim_stream *stream;
	struct sim_truth *next;
	uint64_t kernels, copies;
	int64_t busy_ns;
	struct sum sums[SLOTS];
};

static struct sim_truth *truths;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong launches, nodes, compiles, failures, dropped;
static const char *const allocator_names[] = {
	"cuda device", "cuda pinned", "cuda managed", "cuda pool",
};
static struct {
	const char *name;
	uint64_t count;
} waits[32];
static struct allocator {
	uint64_t allocations, frees, live, peak;
} allocators[4];

void truth_stream(struct sim_stream *stream)
{
	struct sim_truth *t = calloc(1, sizeof(*t));

	t->stream = stream;
	pthread_mutex_lock(&lock);
	t->next = truths;
	truths = t;
	pthread_mutex_unlock(&lock);
	stream->truth = t;
}

static const char *direction(const struct sim_op *op)
{
	bool from = op->from == SIM_ON_DEVICE || op->from == SIM_MANAGED;
	bool to = op->to == SIM_ON_DEVICE || op->to == SIM_MANAGED;

	if (op->kind == SIM_FILL)
		return "fill";
	if (op->kind == SIM_PEER)
		return "p2p";
	return from ? to ? "d2d" : "d2h" : to ? "h2d" : "h2h";
}

static struct sum *sum_of(struct sim_truth *t, const struct sim_op *op)
{
	bool kernel = op->kind == SIM_KERNEL;
	const struct sim_range *within = op->captured ? op->captured : op->range;
	const char *name = kernel ? op->name : direction(op);
	int from = op->kind == SIM_PEER ? op->from_device : 0;
	int to = op->kind == SIM_PEER ? op->to_device : 0;
	uint64_t hash = ((uintptr_t)name >> 3) * 31 + (uintptr_t)op->range +
			(uintptr_t)within * 7 + (uint64_t)(from * 8 + to);

	for (uint32_t i = (uint32_t)(hash * 0x9e3779b97f4a7c15ull >> 32);; i++) {
		struct sum *s = &t->sums[i % SLOTS];

		if (!s->name)
			*s = (struct sum){ .name = name, .range = op->range,
					   .within = within, .from = from, .to = to,
					   .kernel = kernel, .min_ns = INT64_MAX };
		if (s->name == name && s->range == op->range && s->within == within &&
		    s->from == from && s->to == to)
			return s;
	}
}

void truth_op(const struct sim_op *op)
{
	struct sim_truth *t = op->stream->truth;
	int64_t ns = op->end_ns - op->start_ns;
	struct sum *s;

	if (op->kind == SIM_HOST)
		return;
	s = sum_of(t, op);
	s->count++;
	s->bytes += op->bytes;
	s->ns += ns;
	s->min_ns = ns < s->min_ns ? ns : s->min_ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	t->kernels += s->kernel;
	t->copies += !s->kernel;
	t->busy_ns += ns;
}

void truth_memory(const struct sim_memory *m)
{
	struct allocator *a = &allocators[m->pool ? 3 : m->place == SIM_PINNED ? 1 :
					  m->place == SIM_MANAGED ? 2 : 0];

	pthread_mutex_lock(&lock);
	if (m->release) {
		a->frees++;
		a->live -= m->bytes;
	} else {
		a->allocations++;
		a->live += m->bytes;
		a->peak = a->live > a->peak ? a->live : a->peak;
	}
	pthread_mutex_unlock(&lock);
}

void truth_launch(const struct sim_graph *graph)
{
	atomic_fetch_add(&launches, 1);
	atomic_fetch_add(&nodes, graph->nodes);
}

void truth_blocked(void)
{
	const struct sim_call *call = sim_thread.call;
	int i;

	while (call && call->outer)
		call = call->outer;
	pthread_mutex_lock(&lock);
	for (i = 0; call && i < 31 && waits[i].name && strcmp(waits[i].name, call->name); i++)
		;
	if (call) {
		waits[i].name = call->name;
		waits[i].count++;
	}
	pthread_mutex_unlock(&lock);
}

void truth_compile(void)
{
	atomic_fetch_add(&compiles, 1);
}

void truth_failed(void)
{
	atomic_fetch_add(&failures, 1);
}

void sim_count_dropped(uint64_t records)
{
	atomic_fetch_add(&dropped, records);
}

/* --- writing ---------------------------------------------------------------- */

/* One row for each sum of each stream, sorted by the keys of its table. */
struct row {
	const struct sim_stream *stream;
	const struct sum *sum;
};

static void text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 32)
			fprintf(f, "\\u%04x", *s);
		else
			fputc(*s, f);
	fputc('"', f);
}

static const char *range_name(const struct sim_range *range)
{
	return range ? range->name : "";
}

static int by_kernel(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int d = strcmp(x->sum->name, y->sum->name);

	d = d ? d : x->stream->context->device->ordinal - y->stream->context->device->ordinal;
	return d ? d : strcmp(range_name(x->sum->within), range_name(y->sum->within));
}

static int by_range(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(range_name(x->sum->range), range_name(y->sum->range));
}

static size_t collect(struct row **rows)
{
	size_t n = 0, room = 1;

	for (struct sim_truth *t = truths; t; t = t->next)
		room += SLOTS;
	*rows = calloc(room, sizeof(**rows));
	for (struct sim_truth *t = truths; t; t = t->next)
		for (int i = 0; i < SLOTS; i++)
			if (t->sums[i].name)
				(*rows)[n++] = (struct row){ t->stream, &t->sums[i] };
	return n;
}

static void write_devices(FILE *f)
{
	const char *sep = "";

	fputs("\"devices\": [", f);
	for (int i = 0; i < sim_settings.devices; i++) {
		struct sim_device *d = &sim_devices[i];

		fprintf(f, "%s\n {\"name\": ", sep);
		text(f, d->name);
		fputs(", \"address\": \"GPU-", f);
		for (int k = 0; k < 16; k++)
			fprintf(f, "%02x%s", d->uuid[k], k == 3 || k == 5 || k == 7 ||
				k == 9 ? "-" : "");
		fputs("\"}", f);
		sep = ",";
	}
	fputs("],\n\"streams\": [", f);
	sep = "";
	for (struct sim_truth *t = truths; t; t = t->next, sep = ",")
		fprintf(f, "%s\n {\"id\": %u, \"context\": %u, \"device\": %d, \"priority\": %d, "
			"\"default\": %s, \"kernels\": %llu, \"copies\": %llu, \"busy_ns\": %lld}",
			sep,
			t->stream->id, t->stream->context->uid, t->stream->context->device->ordinal,
			t->stream->priority, t->stream->legacy ? "true" : "false",
			(unsigned long long)t->kernels, (unsigned long long)t->copies,
			(long long)t->busy_ns);
	fputs("],\n", f);
}

static void write_kernel(FILE *f, const struct row *r, size_t n)
{
	struct sum all = { .min_ns = INT64_MAX };
	const char *sep = "";

	for (size_t i = 0; i < n; i++) {
		const struct sum *s = r[i].sum;

		all.count += s->count;
		all.ns += s->ns;
		all.min_ns = s->min_ns < all.min_ns ? s->min_ns : all.min_ns;
		all.max_ns = s->max_ns > all.max_ns ? s->max_ns : all.max_ns;
	}
	fputs("\n {\"raw_name\": ", f);
	text(f, r->sum->name);
	fprintf(f, ", \"device\": %d, \"count\": %llu, \"total_ns\": %lld, \"min_ns\": %lld, "
		"\"max_ns\": %lld,\n  \"ops\": [", r->stream->context->device->ordinal,
		(unsigned long long)all.count, (long long)all.ns, (long long)all.min_ns,
		(long long)all.max_ns);
	for (size_t i = 0; i < n;) {
		const struct sum *s = r[i].sum;
		uint64_t count = 0;
		int64_t ns = 0;

		for (; i < n && !strcmp(range_name(s->within), range_name(r[i].sum->within)); i++) {
			count += r[i].sum->count;
			ns += r[i].sum->ns;
		}
		if (!s->within)
			continue;
		fprintf(f, "%s{\"name\": ", sep);
		text(f, s->within->name);
		fprintf(f, ", \"count\": %llu, \"total_ns\": %lld}", (unsigned long long)count,
			(long long)ns);
		sep = ", ";
	}
	fputs("],\n  \"by_queue\": [", f);
	for (size_t i = 0; i < n; i++) {
		char name[40] = "default stream";

		if (!r[i].stream->legacy)
			snprintf(name, sizeof(name), "%sstream %u",
				 r[i].stream->per_thread ? "per-thread default " : "",
				 r[i].stream->id);
		fprintf(f, "%s{\"queue_name\": \"%s\", \"count\": %llu, \"total_ns\": %lld}",
			i ? ", " : "", name, (unsigned long long)r[i].sum->count,
			(long long)r[i].sum->ns);
	}
	fputs("]}", f);
}

static void write_kernels(FILE *f, struct row *rows, size_t n)
{
	const char *sep = "";

	fputs("\"kernels\": [", f);
	qsort(rows, n, sizeof(*rows), by_kernel);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && rows[end].sum->kernel == rows[i].sum->kernel &&
		     !strcmp(rows[end].sum->name, rows[i].sum->name) &&
		     rows[end].stream->context->device == rows[i].stream->context->device; end++)
			;
		if (!rows[i].sum->kernel)
			continue;
		fputs(sep, f);
		write_kernel(f, &rows[i], end - i);
		sep = ",";
	}
	fputs("],\n\"copies\": [", f);
	sep = "";
	for (size_t i = 0; i < n; i++) {
		const struct sum *s = rows[i].sum;

		if (s->kernel)
			continue;
		fprintf(f, "%s\n {\"direction\": \"%s\", \"device\": %d, ", sep, s->name,
			rows[i].stream->context->device->ordinal);
		if (s->from != s->to)
			fprintf(f, "\"from_device\": %d, \"to_device\": %d, ", s->from, s->to);
		fprintf(f, "\"stream\": %u, \"count\": %llu, \"bytes\": %llu, \"total_ns\": %lld}",
			rows[i].stream->id, (unsigned long long)s->count,
			(unsigned long long)s->bytes, (long long)s->ns);
		sep = ",";
	}
	fputs("],\n", f);
}

static void write_ops(FILE *f, struct row *rows, size_t n)
{
	const char *sep = "";

	fputs("\"ops\": [", f);
	qsort(rows, n, sizeof(*rows), by_range);
	for (size_t i = 0; i < n;) {
		const struct sim_range *range = rows[i].sum->range;
		struct sum k = { 0 }, c = { 0 };

		for (; i < n && rows[i].sum->range == range; i++) {
			struct sum *to = rows[i].sum->kernel ? &k : &c;

			to->count += rows[i].sum->count;
			to->bytes += rows[i].sum->bytes;
			to->ns += rows[i].sum->ns;
		}
		if (!range)
			continue;
		fprintf(f, "%s\n {\"name\": ", sep);
		text(f, range->name);
		fprintf(f,
			", \"count\": %llu, \"kernels\": %llu, \"kernel_ns\": %lld, \"copies\": "
			"%llu, "
			"\"copy_bytes\": %llu, \"copy_ns\": %lld}",
			(unsigned long long)atomic_load(&range->count), (unsigned long long)k.count,
			(long long)k.ns, (unsigned long long)c.count, (unsigned long long)c.bytes,
			(long long)c.ns);
		sep = ",";
	}
	fputs("],\n\"memory\": [", f);
	sep = "";
	for (int i = 0; i < 4; i++) {
		const struct allocator *a = &allocators[i];

		if (!a->allocations)
			continue;
		fprintf(f, "%s\n {\"allocator\": \"%s\", \"allocations\": %llu, \"frees\": %llu, "
			"\"live_bytes\": %llu, \"peak_bytes\": %llu}", sep, allocator_names[i],
			(unsigned long long)a->allocations, (unsigned long long)a->frees,
			(unsigned long long)a->live, (unsigned long long)a->peak);
		sep = ",";
	}
	fputs("],\n", f);
}

int sim_write_truth(const char *path)
{
	char part[4096];
	struct row *rows;
	size_t n;
	FILE *f;

	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "we");
	if (!f)
		return errno;
	pthread_mutex_lock(&lock);
	n = collect(&rows);
	fputs("{", f);
	write_devices(f);
	write_kernels(f, rows, n);
	write_ops(f, rows, n);
	fputs("\"waits\": [", f);
	for (int i = 0; waits[i].name; i++)
		fprintf(f, "%s{\"name\": \"%s\", \"count\": %llu}", i ? ", " : "", waits[i].name,
			(unsigned long long)waits[i].count);
	fprintf(f, "],\n\"cuda\": {\"graph_launches\": %llu, \"graph_nodes\": %llu, "
		"\"compiles\": %llu, \"failed\": %llu, \"dropped\": %llu}}\n",
		atomic_load(&launches), atomic_load(&nodes), atomic_load(&compiles),
		atomic_load(&failures), atomic_load(&dropped));
	pthread_mutex_unlock(&lock);
	free(rows);
	if (fclose(f) || rename(part, path))
		return errno ? errno : EIO;
	return 0;
}
