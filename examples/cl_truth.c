/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "examples/cl_truth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_QUEUES  4
#define MAX_KERNELS 64
#define MAX_OPS	    16
#define MAX_CALLS   16

static const char *const direction_names[TRUTH_DIRECTIONS] = {
	[TRUTH_H2D] = "h2d",   [TRUTH_D2H] = "d2h", [TRUTH_D2D] = "d2d",
	[TRUTH_FILL] = "fill", [TRUTH_MAP] = "map", [TRUTH_UNMAP] = "unmap",
};

/* Buffers. Nothing here is freed between allocations of one op and another, so
 * what an op allocated before the peak it held at the peak. */
struct memory_count {
	uint64_t live, peak, allocations, frees, allocated;
	struct { char *name; uint64_t bytes, at_peak; } ops[MAX_OPS]; /* names owned */
	int n_ops;
};

struct op_count {
	char *name; /* owned */
	uint64_t count;
};

struct kernel_count {
	const char *name;
	uint64_t count, failed;
	uint64_t by_queue[MAX_QUEUES];
	struct op_count ops[MAX_OPS];
	int n_ops;
};

struct step {
	int64_t dur_ns, input_ns;
	uint64_t kernels, h2d_bytes;
};

struct copy_count {
	uint64_t count, failed, bytes;
};

static struct {
	struct kernel_count kernel[MAX_KERNELS];
	int n_kernels;
	struct copy_count copy[TRUTH_DIRECTIONS][MAX_QUEUES];
	struct {
		const char *name;
		bool in_order;
		uint64_t kernels, copies;
	} queue[MAX_QUEUES];
	int n_queues;
	struct {
		const char *name;
		uint64_t errors;
	} call[MAX_CALLS];
	int n_calls;
	struct step *step;		/* owned, with room for cap_steps */
	size_t steps, cap_steps;
	struct step now;		/* not yet closed */
	struct memory_count memory;
	const char *device_name, *device_kind;
} truth;

static void die(const char *what)
{
	fprintf(stderr, "train_opencl: %s\n", what);
	exit(1);
}

void truth_queue(const char *name, bool in_order)
{
	if (truth.n_queues == MAX_QUEUES)
		die("too many queues for the truth");
	truth.queue[truth.n_queues].name = name;
	truth.queue[truth.n_queues++].in_order = in_order;
}

static struct kernel_count *find_kernel(const char *name)
{
	int i;

	for (i = 0; i < truth.n_kernels; i++)
		if (!strcmp(truth.kernel[i].name, name))
			return &truth.kernel[i];
	if (truth.n_kernels == MAX_KERNELS)
		die("too many kernels for the truth");
	truth.kernel[truth.n_kernels].name = name;
	return &truth.kernel[truth.n_kernels++];
}

static void count_op(struct kernel_count *kernel, const char *op)
{
	int i;

	for (i = 0; i < kernel->n_ops; i++)
		if (!strcmp(kernel->ops[i].name, op))
			break;
	if (i == kernel->n_ops) {
		if (kernel->n_ops == MAX_OPS)
			die("too many ops for the truth");
		kernel->ops[i].name = strdup(op);
		if (!kernel->ops[i].name)
			die("out of memory");
		kernel->n_ops++;
	}
	kernel->ops[i].count++;
}

void truth_kernel(const char *name, int queue, const char *op, bool failed)
{
	struct kernel_count *kernel = find_kernel(name);

	if (failed) {
		kernel->failed++;
		return;
	}
	kernel->count++;
	kernel->by_queue[queue]++;
	truth.now.kernels++;
	truth.queue[queue].kernels++;
	if (op)
		count_op(kernel, op);
}

void truth_copy(enum truth_direction direction, int queue, uint64_t bytes, bool failed)
{
	struct copy_count *copy = &truth.copy[direction][queue];

	if (failed) {
		copy->failed++;
		return;
	}
	copy->count++;
	copy->bytes += bytes;
	if (direction == TRUTH_H2D)
		truth.now.h2d_bytes += bytes;
	truth.queue[queue].copies++;
}

void truth_alloc(uint64_t bytes, const char *op)
{
	struct memory_count *memory = &truth.memory;
	int i;

	memory->allocations++;
	memory->allocated += bytes;
	memory->live += bytes;
	for (i = 0; op && i < memory->n_ops && strcmp(memory->ops[i].name, op); i++)
		;
	if (op && i == memory->n_ops) {
		if (i == MAX_OPS)
			die("too many ops for the truth");
		memory->ops[i].name = strdup(op);
		if (!memory->ops[i].name)
			die("out of memory");
		memory->n_ops++;
	}
	if (op)
		memory->ops[i].bytes += bytes;
	if (memory->live <= memory->peak)
		return;
	memory->peak = memory->live;
	for (i = 0; i < memory->n_ops; i++)
		memory->ops[i].at_peak = memory->ops[i].bytes;
}

void truth_free(uint64_t bytes)
{
	truth.memory.frees++;
	truth.memory.live -= bytes;
}

void truth_error(const char *call)
{
	int i;

	for (i = 0; i < truth.n_calls; i++)
		if (!strcmp(truth.call[i].name, call))
			break;
	if (i == truth.n_calls) {
		if (i == MAX_CALLS)
			die("too many calls for the truth");
		truth.call[truth.n_calls++].name = call;
	}
	truth.call[i].errors++;
}

void truth_input(int64_t dur_ns)
{
	truth.now.input_ns += dur_ns;
}

void truth_step(int64_t dur_ns)
{
	if (truth.steps == truth.cap_steps) {
		size_t cap = truth.cap_steps ? 2 * truth.cap_steps : 64;
		struct step *more = realloc(truth.step, cap * sizeof(*more));

		if (!more)
			die("no memory for the truth");
		truth.step = more;
		truth.cap_steps = cap;
	}
	truth.now.dur_ns = dur_ns;
	truth.step[truth.steps++] = truth.now;
	truth.now = (struct step){ 0 };
}

void truth_device(const char *name, const char *kind)
{
	truth.device_name = name;
	truth.device_kind = kind;
}

/* --- JSON ------------------------------------------------------------------ */

/* Bytes that are not UTF-8 would need more; names here are plain text. */
static void put_string(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void put_run(FILE *out, int argc, char **argv, int exit_status, int signal,
		    int64_t wall_ns)
{
	int i;

	fputs("{ \"schema\": 1,\n  \"run\": { \"command\": [", out);
	for (i = 0; i < argc; i++) {
		if (i)
			fputs(", ", out);
		put_string(out, argv[i]);
	}
	fprintf(out, "], \"pid\": %ld, \"wall_ns\": %lld, ", (long)getpid(), (long long)wall_ns);
	if (signal)
		fprintf(out, "\"signal\": %d },\n", signal);
	else
		fprintf(out, "\"exit_status\": %d },\n", exit_status);
}

static void put_queues(FILE *out)
{
	int i;

	fputs("  \"queues\": [", out);
	for (i = 0; i < truth.n_queues; i++) {
		fprintf(out, "%s\n    { \"id\": %d, \"name\": ", i ? "," : "", i);
		put_string(out, truth.queue[i].name);
		fprintf(out, ", \"in_order\": %s, \"kernels\": %llu, \"copies\": %llu }",
			truth.queue[i].in_order ? "true" : "false",
			(unsigned long long)truth.queue[i].kernels,
			(unsigned long long)truth.queue[i].copies);
	}
	fputs(" ],\n", out);
}

static void put_kernel(FILE *out, const struct kernel_count *kernel)
{
	const char *comma = "";
	int i;

	fputs("\n    { \"name\": ", out);
	put_string(out, kernel->name);
	fprintf(out, ", \"count\": %llu, ", (unsigned long long)kernel->count);
	if (kernel->failed)
		fprintf(out, "\"failed\": %llu, ", (unsigned long long)kernel->failed);
	fputs("\"by_queue\": [", out);
	for (i = 0; i < truth.n_queues; i++) {
		if (!kernel->by_queue[i])
			continue;
		fprintf(out, "%s { \"queue\": %d, \"count\": %llu }", comma, i,
			(unsigned long long)kernel->by_queue[i]);
		comma = ",";
	}
	fputs(" ],\n      \"ops\": [", out);
	for (i = 0; i < kernel->n_ops; i++) {
		fprintf(out, "%s { \"name\": ", i ? "," : "");
		put_string(out, kernel->ops[i].name);
		fprintf(out, ", \"count\": %llu }", (unsigned long long)kernel->ops[i].count);
	}
	fputs(" ] }", out);
}

static void put_kernels(FILE *out)
{
	int i;

	fputs("  \"kernels\": [", out);
	for (i = 0; i < truth.n_kernels; i++) {
		if (i)
			putc(',', out);
		put_kernel(out, &truth.kernel[i]);
	}
	fputs(" ],\n", out);
}

static void put_copies(FILE *out)
{
	const char *comma = "";
	int direction, queue;

	fputs("  \"copies\": [", out);
	for (direction = 0; direction < TRUTH_DIRECTIONS; direction++) {
		for (queue = 0; queue < truth.n_queues; queue++) {
			const struct copy_count *copy = &truth.copy[direction][queue];

			if (!copy->count && !copy->failed)
				continue;
			fprintf(out,
				"%s\n    { \"direction\": \"%s\", \"queue\": %d, "
				"\"count\": %llu, \"bytes\": %llu",
				comma, direction_names[direction], queue,
				(unsigned long long)copy->count, (unsigned long long)copy->bytes);
			if (copy->failed)
				fprintf(out, ", \"failed\": %llu",
					(unsigned long long)copy->failed);
			fputs(" }", out);
			comma = ",";
		}
	}
	fputs(" ],\n", out);
}

static void put_steps(FILE *out)
{
	size_t i;

	fprintf(out, ",\n  \"steps\": { \"count\": %zu, \"series_ns\": [", truth.steps);
	for (i = 0; i < truth.steps; i++)
		fprintf(out, "%s%lld", i ? ", " : "", (long long)truth.step[i].dur_ns);
	fputs("],\n    \"input_ns\": [", out);
	for (i = 0; i < truth.steps; i++)
		fprintf(out, "%s%lld", i ? ", " : "", (long long)truth.step[i].input_ns);
	fputs("],\n    \"kernels\": [", out);
	for (i = 0; i < truth.steps; i++)
		fprintf(out, "%s%llu", i ? ", " : "", (unsigned long long)truth.step[i].kernels);
	fputs("],\n    \"h2d_bytes\": [", out);
	for (i = 0; i < truth.steps; i++)
		fprintf(out, "%s%llu", i ? ", " : "",
			(unsigned long long)truth.step[i].h2d_bytes);
	fputs("] }", out);
}

/* On one line, so that a test can take it away. */
static void put_memory(FILE *out)
{
	const struct memory_count *memory = &truth.memory;
	int i, most = -1;

	for (i = 0; i < memory->n_ops; i++)
		if (most < 0 || memory->ops[i].at_peak > memory->ops[most].at_peak)
			most = i;
	fprintf(out,
		"  \"memory\": [ { \"allocator\": \"opencl device:buffer\", \"live_bytes\": %llu, "
		"\"peak_bytes\": %llu, \"allocations\": %llu, \"allocated_bytes\": %llu, "
		"\"frees\": %llu, \"peak_ops\": [",
		(unsigned long long)memory->live, (unsigned long long)memory->peak,
		(unsigned long long)memory->allocations, (unsigned long long)memory->allocated,
		(unsigned long long)memory->frees);
	if (most >= 0)
		put_string(out, memory->ops[most].name);
	fputs("] } ],\n", out);
}

static void put_rest(FILE *out)
{
	int i;

	fputs("  \"calls\": [", out);
	for (i = 0; i < truth.n_calls; i++)
		fprintf(out, "%s\n    { \"name\": \"%s\", \"errors\": %llu }", i ? "," : "",
			truth.call[i].name, (unsigned long long)truth.call[i].errors);
	fputs(" ]", out);
	if (truth.device_name) {
		fputs(",\n  \"devices\": [ { \"id\": 0, \"kind\": ", out);
		put_string(out, truth.device_kind);
		fputs(", \"name\": ", out);
		put_string(out, truth.device_name);
		fputs(", \"api\": \"opencl\" } ]", out);
	}
	/* without ranges this program marks no steps, and says nothing of them */
	if (truth.steps)
		put_steps(out);
	fputs(" }\n", out);
}

int truth_write(const char *path, int argc, char **argv, int exit_status, int signal,
		int64_t wall_ns)
{
	char *beside;
	FILE *out;
	int saved;

	if (asprintf(&beside, "%s.%ld", path, (long)getpid()) < 0) {
		errno = ENOMEM;
		return -1;
	}
	out = fopen(beside, "w");
	if (!out)
		goto fail;
	put_run(out, argc, argv, exit_status, signal, wall_ns);
	put_queues(out);
	put_kernels(out);
	put_copies(out);
	put_memory(out);
	put_rest(out);
	if (ferror(out) | fclose(out)) {
		saved = errno;
		unlink(beside);
		errno = saved;
		goto fail;
	}
	if (rename(beside, path)) {
		saved = errno;
		unlink(beside);
		errno = saved;
		goto fail;
	}
	free(beside);
	return 0;

fail:
	saved = errno;
	free(beside);
	errno = saved;
	return -1;
}

void truth_release(void)
{
	int i, j;

	for (i = 0; i < truth.n_kernels; i++)
		for (j = 0; j < truth.kernel[i].n_ops; j++)
			free(truth.kernel[i].ops[j].name);
	for (i = 0; i < truth.memory.n_ops; i++)
		free(truth.memory.ops[i].name);
	free(truth.step);
	memset(&truth, 0, sizeof(truth));
}
