/* SPDX-License-Identifier: MIT */
/*
 * StepStats as Chrome's trace JSON, with the same events that TensorFlow's own
 * tensorflow/python/client/timeline.py makes:
 *
 *  1. processes: the allocators, then for each device one for compute and one for its tensors;
 *  2. lanes: each node of a device is on the first lane whose last node ended before;
 *  3. each output is a tensor, created when its node starts, and last used when the last node ends
 *     that takes it (by the names in the nodes' labels);
 *  4. a slice for each node, and an arrow from the producer of each input if that is on another
 *     lane;
 *  5. with memory: objects created, shown and deleted, a counter for each allocator, and its
 *     maximum with the tensors that caused it.
 *
 * The data of one step is in memory as a whole, as its file was; names of tensors are found by
 * hash. Complexity: O(n log n).
 */
#include <stdio.h>

#include "model/base/hash.h"
#include "model/export/foreign.h"

#ifdef HAVE_PROTOBUF_C

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/map.h"
#include "model/base/util.h"
#include "model/export/formats.h"
#include "model/export/timeline_text.h"

#define ALLOCATORS 0		/* the process of the counters */

struct timeline_tensor {
	struct timeline_word name;
	uint32_t next;			/* index of the next one with the same hash, plus 1 */
	uint64_t id;			/* id of the object */
	uint32_t pid;			/* process of the device's tensors */
	int64_t created, last;		/* in microseconds */
	const char *allocator;
	int64_t bytes;
	/* The lane of its producer. */
	uint32_t from_pid, from_tid;
};

struct timeline_change { int64_t at, bytes; uint32_t tensor; };

struct timeline_export {
	const Tf__StepStats *stats;
	const struct foreign_kind *kind;
	FILE *out;
	uint64_t events, flows;
	uint32_t **lanes;		/* owned; the lanes of each device's nodes */
	size_t *owner;			/* owned; for each device the last one with the same name */
	struct timeline_tensor *tensors;		/* owned */
	size_t n_tensors, cap_tensors;
	struct map by_name;		/* hash -> index of the first one */
	struct strbuf text;
	/* For the maxima. */
	struct timeline_change *changes;
	size_t n_changes;
};

/* ---- output ---- */

static void timeline_begin_event(struct timeline_export *t, char phase)
{
	fprintf(t->out, "%s{\"ph\":\"%c\"", t->events ? ",\n" : "\n", phase);
	t->events++;
}

static void key_word(struct timeline_export *t, const char *key, struct timeline_word word)
{
	fprintf(t->out, ",\"%s\":", key);
	put_json(t->out, word.text, word.length);
}

static struct timeline_word word_of(const char *text)
{
	return (struct timeline_word) { text, strlen(text) };
}

static void place(struct timeline_export *t, const char *category, struct timeline_word name,
		  uint32_t pid, uint32_t tid, int64_t at)
{
	fprintf(t->out, ",\"cat\":\"%s\"", category);
	key_word(t, "name", name);
	fprintf(t->out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64, pid, tid, at);
}

static void put_process(struct timeline_export *t, const char *name, const char *what, uint32_t pid)
{
	timeline_begin_event(t, 'M');
	fprintf(t->out, ",\"name\":\"process_name\",\"pid\":%" PRIu32 ",\"args\":{\"name\":", pid);
	strbuf_reset(&t->text);
	strbuf_addf(&t->text, "%s%s", name, what);
	put_json(t->out, t->text.data, t->text.length);
	fputs("}}", t->out);
}

/* ---- processes and lanes ---- */

static uint32_t compute_pid(const struct timeline_export *t, size_t device)
{
	return 1 + 2 * (uint32_t)t->owner[device];
}

static int64_t end_of(const Tf__NodeExecStats *node)
{
	return (int64_t)((uint64_t)node->all_start_micros + (uint64_t)node->all_end_rel_micros);
}

static void assign_lanes(const Tf__DeviceStepStats *device, uint32_t *lanes)
{
	int64_t *ends = xcalloc(device->n_node_stats + 1, sizeof(*ends));
	size_t n = 1;

	for (size_t i = 0; i < device->n_node_stats; i++) {
		size_t l;

		for (l = 0; l < n && device->node_stats[i]->all_start_micros <= ends[l]; l++)
			;
		n += l == n;
		ends[l] = end_of(device->node_stats[i]);
		lanes[i] = (uint32_t)l;
	}
	free(ends);
}

static void allocate_pids(struct timeline_export *t)
{
	size_t n = t->stats->n_dev_stats;

	put_process(t, "Allocators", "", ALLOCATORS);
	t->lanes = xcalloc(n + 1, sizeof(*t->lanes));
	t->owner = xcalloc(n + 1, sizeof(*t->owner));
	for (size_t i = 0; i < n; i++) {
		const Tf__DeviceStepStats *device = t->stats->dev_stats[i];

		put_process(t, device->device, " Compute", 1 + 2 * (uint32_t)i);
		put_process(t, device->device, " Tensors", 2 + 2 * (uint32_t)i);
		for (size_t j = i; j < n; j++)
			if (!strcmp(t->stats->dev_stats[j]->device, device->device))
				t->owner[i] = j;
		t->lanes[i] = xcalloc(device->n_node_stats + 1, sizeof(*t->lanes[i]));
		assign_lanes(device, t->lanes[i]);
	}
}

/* ---- tensors ---- */

static uint64_t word_hash(struct timeline_word word)
{
	return hash_bytes(HASH_SEED, word.text, word.length);
}

static bool same(struct timeline_word a, struct timeline_word b)
{
	return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

static struct timeline_tensor *find_tensor(const struct timeline_export *t,
					   struct timeline_word name)
{
	uint32_t at = map_get(&t->by_name, word_hash(name));

	for (at = at == MAP_NONE ? 0 : at + 1; at; at = t->tensors[at - 1].next)
		if (same(t->tensors[at - 1].name, name))
			return &t->tensors[at - 1];
	return NULL;
}

/* A tensor replaces an earlier one with the same name, at the same index. */
static struct timeline_tensor *new_tensor(struct timeline_export *t, struct timeline_word name)
{
	struct timeline_tensor *tensor = find_tensor(t, name);
	uint32_t next, first;

	if (tensor) {
		next = tensor->next;
		name = tensor->name;
	} else {
		first = map_get(&t->by_name, word_hash(name));
		next = first == MAP_NONE ? 0 : first + 1;
		grow(&t->tensors, &t->cap_tensors, t->n_tensors, sizeof(*t->tensors));
		tensor = &t->tensors[t->n_tensors];
		name.text = xstrndup(name.text, name.length);
		map_set(&t->by_name, word_hash(name), (uint32_t)t->n_tensors);
		*tensor = (struct timeline_tensor) {
			.id = t->n_tensors++, .name = name, .next = next,
		};
		return tensor;
	}
	*tensor = (struct timeline_tensor) { .id = t->n_tensors, .name = name, .next = next };
	return tensor;
}

static void put_object(struct timeline_export *t, char phase, const struct timeline_tensor *tensor,
		       int64_t at, uint32_t tid, const Tf__NodeOutput *output)
{
	timeline_begin_event(t, phase);
	place(t, "Tensor", tensor->name, tensor->pid, tid, at);
	fprintf(t->out, ",\"id\":%" PRIu64, tensor->id);
	if (output) {
		describe_tensor(&t->text, output->tensor_description);
		fputs(",\"args\":{\"snapshot\":{\"tensor_description\":", t->out);
		put_json(t->out, t->text.data, t->text.length);
		fputs("}}", t->out);
	}
	putc('}', t->out);
}

static void timeline_take_output(struct timeline_export *t, size_t device,
				 const Tf__NodeExecStats *node, size_t index, uint32_t tid)
{
	const Tf__NodeOutput *output = node->output[index];
	const Tf__AllocationDescription *allocation = output->tensor_description ?
		output->tensor_description->allocation_description : NULL;
	struct timeline_tensor *tensor;

	strbuf_reset(&t->text);
	strbuf_adds(&t->text, node->node_name);
	if (index)
		strbuf_addf(&t->text, ":%zu", index);
	tensor = new_tensor(t, (struct timeline_word) { t->text.data, t->text.length });
	tensor->pid = compute_pid(t, device) + 1;
	tensor->created = node->all_start_micros;
	tensor->last = end_of(node);
	tensor->allocator = allocation ? allocation->allocator_name : "";
	tensor->bytes = allocation ? allocation->requested_bytes : 0;
	tensor->from_pid = compute_pid(t, device);
	tensor->from_tid = tid;
	if (!t->kind->memory)
		return;
	put_object(t, 'N', tensor, tensor->created, tid, NULL);
	put_object(t, 'O', tensor, tensor->last - 1, tid, output);
}

/* When the producer of each tensor ended, taken before anybody has used it. */
static int64_t *ends_of_producers(const struct timeline_export *t)
{
	int64_t *ends = xcalloc(t->n_tensors + 1, sizeof(*ends));

	for (size_t i = 0; i < t->n_tensors; i++)
		ends[i] = t->tensors[i].last;
	return ends;
}

static void analyze_tensors(struct timeline_export *t)
{
	for (size_t d = 0; d < t->stats->n_dev_stats; d++) {
		const Tf__DeviceStepStats *device = t->stats->dev_stats[d];

		for (size_t i = 0; i < device->n_node_stats; i++)
			for (size_t o = 0; o < device->node_stats[i]->n_output; o++)
				timeline_take_output(t, d, device->node_stats[i], o,
						     t->lanes[d][i]);
	}
}

/* ---- compute ---- */

static void put_op(struct timeline_export *t, const Tf__NodeExecStats *node, uint32_t pid,
		   uint32_t tid, bool is_gpu, struct timeline_word inputs)
{
	struct timeline_word name = word_of(node->node_name), op, input;
	unsigned n = 0;

	if (is_gpu)
		label_of_kernel(node->timeline_label, node->node_name, &name, &op);
	else if (!strcmp(node->node_name, "RecvTensor"))
		op = name;
	else
		op = label_of_op(node->timeline_label).op;
	timeline_begin_event(t, 'X');
	place(t, "Op", op, pid, tid, node->all_start_micros);
	fprintf(t->out, ",\"dur\":%" PRId64 ",\"args\":{\"name\":", node->all_end_rel_micros);
	put_json(t->out, name.text, name.length);
	key_word(t, "op", op);
	while (label_input(&inputs, &input)) {
		fprintf(t->out, ",\"input%u\":", n++);
		put_json(t->out, input.text, input.length);
	}
	fputs("}}", t->out);
}

static void put_arrow(struct timeline_export *t, const struct timeline_tensor *tensor,
		      int64_t produced, uint32_t pid, uint32_t tid, int64_t taken)
{
	if (!t->kind->dataflow || (tensor->from_pid == pid && tensor->from_tid == tid))
		return;
	timeline_begin_event(t, 's');
	place(t, "DataFlow", tensor->name, tensor->from_pid, tensor->from_tid, produced);
	fprintf(t->out, ",\"id\":%" PRIu64 "}", t->flows);
	timeline_begin_event(t, 't');
	place(t, "DataFlow", tensor->name, pid, tid, taken);
	fprintf(t->out, ",\"id\":%" PRIu64 "}", t->flows++);
}

/* Partitioning inserts a Send and a Recv: "node/_12" belongs to the node. */
static struct timeline_tensor *find_input(const struct timeline_export *t,
					  struct timeline_word name)
{
	struct timeline_tensor *tensor = find_tensor(t, name);

	for (size_t i = name.length; !tensor && i-- > 1; )
		if (i + 1 < name.length && name.text[i] == '/' && name.text[i + 1] == '_') {
			name.length = i;
			return find_tensor(t, name);
		}
	return tensor;
}

static void show_node(struct timeline_export *t, const Tf__NodeExecStats *node, uint32_t pid,
		      uint32_t tid, bool is_gpu, const int64_t *produced)
{
	bool with_inputs = !is_gpu && strcmp(node->node_name, "RecvTensor");
	struct timeline_word inputs = { NULL, 0 }, input;

	if (with_inputs)
		inputs = label_of_op(node->timeline_label).inputs;
	put_op(t, node, pid, tid, is_gpu, inputs);
	while (label_input(&inputs, &input)) {
		struct timeline_tensor *tensor = find_input(t, input);

		if (!tensor)
			continue;
		if (end_of(node) - 1 > tensor->last)
			tensor->last = end_of(node) - 1;
		put_arrow(t, tensor, produced[tensor - t->tensors], pid, tid,
			  node->all_start_micros);
	}
}

static void show_compute(struct timeline_export *t)
{
	int64_t *produced = ends_of_producers(t);

	for (size_t d = 0; d < t->stats->n_dev_stats; d++) {
		const Tf__DeviceStepStats *device = t->stats->dev_stats[d];
		bool is_gpu = strstr(device->device, "/stream:") ||
			strstr(device->device, "/memcpy");

		for (size_t i = 0; i < device->n_node_stats; i++)
			show_node(t, device->node_stats[i], compute_pid(t, d), t->lanes[d][i],
				  is_gpu, produced);
	}
	free(produced);
}

/* ---- memory ---- */

static int timeline_by_allocator(const void *a, const void *b, void *arg)
{
	const struct timeline_change *p = a, *q = b;
	const struct timeline_tensor *tensors = arg, *s = &tensors[p->tensor],
		*r = &tensors[q->tensor];
	int order = strcmp(s->allocator, r->allocator);
	size_t length = s->name.length < r->name.length ? s->name.length : r->name.length;

	if (order)
		return order;
	if (p->at != q->at)
		return p->at < q->at ? -1 : 1;
	if (p->bytes != q->bytes)
		return p->bytes < q->bytes ? -1 : 1;
	order = memcmp(s->name.text, r->name.text, length);
	if (order)
		return order;
	return s->name.length < r->name.length ? -1 : s->name.length > r->name.length;
}

static void put_tensors(struct timeline_export *t, const struct timeline_change *changes, size_t n)
{
	bool *there = xcalloc(t->n_tensors + 1, sizeof(*there)), first = true;

	for (size_t i = 0; i < n; i++)
		there[changes[i].tensor] = changes[i].bytes >= 0;
	for (size_t i = 0; i < t->n_tensors; i++) {
		if (!there[i])
			continue;
		fputs(first ? "" : ",", t->out);
		put_json(t->out, t->tensors[i].name.text, t->tensors[i].name.length);
		first = false;
	}
	free(there);
}

/* Applies one allocator's changes: writes its counter, and puts its maximum into *most. */
static int64_t timeline_put_counter(struct timeline_export *t,
				    const struct timeline_change *changes, size_t n, size_t *most)
{
	struct timeline_word name = word_of(t->tensors[changes[0].tensor].allocator);
	uint64_t total = 0;
	int64_t maximum = 0;

	*most = 0;
	for (size_t i = 0; i < n; i++) {
		total += (uint64_t)changes[i].bytes;
		if ((int64_t)total > maximum) {
			maximum = (int64_t)total;
			*most = i + 1;
		}
		timeline_begin_event(t, 'C');
		place(t, "Memory", name, ALLOCATORS, 0, changes[i].at);
		fputs(",\"args\":{", t->out);
		put_json(t->out, name.text, name.length);
		fprintf(t->out, ":%" PRId64 "}}", (int64_t)total);
	}
	return maximum;
}

static void take_changes(struct timeline_export *t)
{
	t->changes = xcalloc(2 * t->n_tensors + 1, sizeof(*t->changes));
	for (size_t i = 0; i < t->n_tensors; i++) {
		const struct timeline_tensor *tensor = &t->tensors[i];

		put_object(t, 'D', tensor, tensor->last, 0, NULL);
		t->changes[t->n_changes++] = (struct timeline_change) {
			tensor->created, tensor->bytes, (uint32_t)i,
		};
		t->changes[t->n_changes++] = (struct timeline_change) {
			tensor->last, -tensor->bytes, (uint32_t)i,
		};
	}
	if (t->n_changes)
		qsort_r(t->changes, t->n_changes, sizeof(*t->changes), timeline_by_allocator,
			t->tensors);
}

static void show_memory(struct timeline_export *t)
{
	char *maxima = NULL;
	size_t size = 0;
	FILE *out = t->out, *later = open_memstream(&maxima, &size);

	take_changes(t);
	for (size_t i = 0, n, most; i < t->n_changes; i += n) {
		const struct timeline_change *from = &t->changes[i];
		const char *allocator = t->tensors[from->tensor].allocator;
		int64_t maximum;

		for (n = 1; i + n < t->n_changes &&
		     !strcmp(t->tensors[from[n].tensor].allocator, allocator); n++)
			;
		maximum = timeline_put_counter(t, from, n, &most);
		t->out = later;
		fputs(i ? "," : "", later);
		put_json(later, allocator, strlen(allocator));
		fprintf(later, ":{\"timestamp\":%" PRId64 ",\"num_bytes\":%" PRId64
			",\"tensors\":[", most ? from[most - 1].at : 0, maximum);
		put_tensors(t, from, most);
		fputs("]}", later);
		t->out = out;
	}
	fclose(later);
	fprintf(out, "\n],\"allocatorMaximums\":{%s}}\n", maxima);
	free(maxima);
}

/* ---- the whole ---- */

static void release(struct timeline_export *t)
{
	for (size_t i = 0; i < t->n_tensors; i++)
		free((char *)(uintptr_t)t->tensors[i].name.text);
	for (size_t i = 0; i < t->stats->n_dev_stats; i++)
		free(t->lanes[i]);
	free(t->lanes);
	free(t->owner);
	free(t->tensors);
	free(t->changes);
	map_release(&t->by_name);
	strbuf_release(&t->text);
}

/* Unpacks StepStats, alone or within a RunMetadata; NULL: it is neither. *all: must be freed. */
static const Tf__StepStats *unpack(const void *data, size_t size,
					 Tf__RunMetadata **metadata, Tf__StepStats **all)
{
	*all = NULL;
	*metadata = tf__run_metadata__unpack(NULL, size, data);
	if (*metadata && (*metadata)->step_stats && (*metadata)->step_stats->n_dev_stats &&
	    *(*metadata)->step_stats->dev_stats[0]->device)
		return (*metadata)->step_stats;
	*all = tf__step_stats__unpack(NULL, size, data);
	if (*all && (*all)->n_dev_stats && *(*all)->dev_stats[0]->device)
		return *all;
	return NULL;
}

static void unpacked(Tf__RunMetadata *metadata, Tf__StepStats *all)
{
	if (metadata)
		tf__run_metadata__free_unpacked(metadata, NULL);
	if (all)
		tf__step_stats__free_unpacked(all, NULL);
}

bool foreign_is_step_stats(const void *data, size_t size)
{
	Tf__RunMetadata *metadata;
	Tf__StepStats *all;
	bool good = unpack(data, size, &metadata, &all) != NULL;

	unpacked(metadata, all);
	return good;
}

bool foreign_step_stats(const void *data, size_t size, const struct foreign_kind *kind, FILE *out,
			struct foreign_result *result, char *error, size_t error_size)
{
	struct timeline_export t = { .kind = kind, .out = out };
	Tf__RunMetadata *metadata;
	Tf__StepStats *all;

	*result = (struct foreign_result) { .gap_ns = INT64_MIN };
	t.stats = unpack(data, size, &metadata, &all);
	if (!t.stats) {
		unpacked(metadata, all);
		snprintf(error, error_size, "the file contains no StepStats");
		return false;
	}
	strbuf_init(&t.text);
	fputs("{\"traceEvents\":[", out);
	allocate_pids(&t);
	analyze_tensors(&t);
	show_compute(&t);
	if (kind->memory)
		show_memory(&t);
	else
		fputs("\n]}\n", out);
	result->written = t.events;
	release(&t);
	unpacked(metadata, all);
	if (!ferror(out))
		return true;
	snprintf(error, error_size, "%s", strerror(errno));
	return false;
}

#else

bool foreign_is_step_stats(const void *data, size_t size)
{
	return false;
}

bool foreign_step_stats(const void *data, size_t size, const struct foreign_kind *kind, FILE *out,
			struct foreign_result *result, char *error, size_t error_size)
{
	snprintf(error, error_size, "this tftop was built without protobuf-c");
	return false;
}

#endif
