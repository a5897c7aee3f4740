/* SPDX-License-Identifier: MIT */
/*
 * What a CUDA program of these tests knows about itself, written as JSON in the form of tftop's
 * report (tests/live/cuda_compare.py reads both). Names of kernels are those of the source if these
 * are extern "C", otherwise mangled ("raw_name"). Only what is certain to happen is written, so
 * there are no times. Each thread has a struct truth of its own, and truth_add() adds them up. C++,
 * because nvcc compiles nothing else.
 */
#ifndef TFTOP_TESTS_GPU_TRUTH_H
#define TFTOP_TESTS_GPU_TRUTH_H

#include <cuda_runtime.h>
#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>

struct truth_kernel {
	long count;
	std::map<std::string, long> by_queue, ops;	/* a queue without a name: "" */
};

struct truth_sum {
	long count, other, bytes, peak, live;
};

struct truth {
	std::map<std::string, truth_kernel> kernels;
	std::map<std::string, truth_sum> copies, memory;
	std::map<std::string, truth_sum> calls;		/* other: errors */
	long graph_launches, graph_nodes;
};

/* A call that must not fail: otherwise prints the line and the reason, and ends the program. */
#define CHECK(call) do { \
	cudaError_t status_ = (call); \
	if (status_ != cudaSuccess) { \
		fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
			cudaGetErrorString(status_)); \
		exit(1); \
	} \
} while (0)

static inline void truth_kernel_ran(struct truth *t, const char *name, const char *queue,
				    const char *op, long count)
{
	struct truth_kernel *k = &t->kernels[name];

	k->count += count;
	if (queue)
		k->by_queue[queue] += count;
	if (op)
		k->ops[op] += count;
}

static inline void truth_copied(struct truth *t, const char *direction, long bytes, long count)
{
	t->copies[direction].count += count;
	t->copies[direction].bytes += bytes * count;
}

static inline void truth_called(struct truth *t, const char *name, bool failed)
{
	t->calls[name].count++;
	t->calls[name].other += failed;
}

static inline void truth_allocated(struct truth *t, const char *allocator, long bytes)
{
	struct truth_sum *m = &t->memory[allocator];

	m->count++;
	m->live += bytes;
	if (m->live > m->peak)
		m->peak = m->live;
}

static inline void truth_freed(struct truth *t, const char *allocator, long bytes)
{
	t->memory[allocator].other++;
	t->memory[allocator].live -= bytes;
}

static inline void truth_add_sums(std::map<std::string, truth_sum> *to,
				  const std::map<std::string, truth_sum> &from)
{
	for (const auto &f : from) {
		struct truth_sum *s = &(*to)[f.first];

		s->count += f.second.count;
		s->other += f.second.other;
		s->bytes += f.second.bytes;
		s->live += f.second.live;
		s->peak = -1;	/* they need not have been live at the same time */
	}
}

static inline void truth_add(struct truth *to, const struct truth *from)
{
	for (const auto &f : from->kernels) {
		struct truth_kernel *k = &to->kernels[f.first];

		k->count += f.second.count;
		for (const auto &q : f.second.by_queue)
			k->by_queue[q.first] += q.second;
		for (const auto &o : f.second.ops)
			k->ops[o.first] += o.second;
	}
	truth_add_sums(&to->copies, from->copies);
	truth_add_sums(&to->memory, from->memory);
	truth_add_sums(&to->calls, from->calls);
	to->graph_launches += from->graph_launches;
	to->graph_nodes += from->graph_nodes;
}

static inline void truth_write_counts(FILE *f, const char *key, const char *name_key,
				      const std::map<std::string, long> &counts)
{
	const char *comma = "";

	if (counts.empty())
		return;
	fprintf(f, ", \"%s\": [", key);
	for (const auto &c : counts) {
		fprintf(f, "%s{ \"%s\": \"%s\", \"count\": %ld }", comma, name_key,
			c.first.c_str(), c.second);
		comma = ", ";
	}
	fprintf(f, "]");
}

static inline void truth_write_memory(FILE *f, const struct truth *t)
{
	const char *comma = ",\n  \"memory\": [\n    ";

	for (const auto &m : t->memory) {
		fprintf(f, "%s{ \"allocator\": \"%s\", \"allocations\": %ld, \"frees\": %ld,"
			" \"live_bytes\": %ld", comma, m.first.c_str(), m.second.count,
			m.second.other, m.second.live);
		fprintf(f, m.second.peak < 0 ? " }" : ", \"peak_bytes\": %ld }", m.second.peak);
		comma = ",\n    ";
	}
	if (!t->memory.empty())
		fprintf(f, " ]");
}

static inline void truth_write_calls(FILE *f, const struct truth *t)
{
	const char *comma = ",\n  \"calls\": [\n    ";

	for (const auto &c : t->calls) {
		fprintf(f, "%s{ \"name\": \"%s\", \"count\": %ld, \"errors\": %ld }", comma,
			c.first.c_str(), c.second.count, c.second.other);
		comma = ",\n    ";
	}
	if (!t->calls.empty())
		fprintf(f, " ]");
}

/* A program that records no allocations, or no calls, leaves these out, and they are not compared
 * then. Kernels and copies must be complete. */
static inline void truth_write_rows(FILE *f, const struct truth *t)
{
	const char *comma = "\n    ";

	fprintf(f, "  \"kernels\": [");
	for (const auto &k : t->kernels) {
		fprintf(f, "%s{ \"%s\": \"%s\", \"count\": %ld", comma,
			strncmp(k.first.c_str(), "_Z", 2) == 0 ? "raw_name" : "name",
			k.first.c_str(), k.second.count);
		truth_write_counts(f, "by_queue", "queue_name", k.second.by_queue);
		truth_write_counts(f, "ops", "name", k.second.ops);
		fprintf(f, " }");
		comma = ",\n    ";
	}
	fprintf(f, " ],\n  \"copies\": [");
	comma = "\n    ";
	for (const auto &c : t->copies) {
		fprintf(f, "%s{ \"direction\": \"%s\", \"count\": %ld, \"bytes\": %ld }", comma,
			c.first.c_str(), c.second.count, c.second.bytes);
		comma = ",\n    ";
	}
	fprintf(f, " ]");
	truth_write_memory(f, t);
	truth_write_calls(f, t);
	if (t->graph_launches)
		fprintf(f, ",\n  \"cuda\": { \"graph_launches\": %ld, \"graph_nodes\": %ld }",
			t->graph_launches, t->graph_nodes);
}

/* path NULL: writes nothing */
static inline void truth_write(const struct truth *t, const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!path)
		return;
	if (!f) {
		perror(path);
		exit(1);
	}
	fprintf(f, "{\n");
	truth_write_rows(f, t);
	fprintf(f, "\n}\n");
	fclose(f);
}

#endif
