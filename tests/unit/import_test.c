/* SPDX-License-Identifier: MIT */
/* Importers: numbers out of texts, order, what comes out of small files. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/import/import.h"
#include "model/import/keys.h"
#include "model/import/details.h"
#include "model/import/spool.h"
#include "tests/unit/test.h"

/* ---- numbers ---- */

static int64_t time_of(const char *text)
{
	int64_t ns = -77;

	return details_time(text, strlen(text), 1000, &ns) ? ns : -77;
}

/* Also where no byte has been kept yet. */
TEST(import_keys_empty)
{
	struct keys keys = { .n = 0 };

	CHECK_INT(keys_number(&keys, NULL, 0), 1);
	CHECK_INT(keys_number(&keys, "a", 1), 2);
	CHECK_INT(keys_number(&keys, "", 0), 1);
	CHECK_INT(keys_number(&keys, "a", 1), 2);
	keys_release(&keys);
}

TEST(import_times_are_exact)
{
	char text[64];

	CHECK_INT(time_of("1795307911680434.750"), 1795307911680434750);
	CHECK_INT(time_of("1.795307911680434750e15"), 1795307911680434750);
	CHECK_INT(time_of("0.0004"), 0);
	CHECK_INT(time_of("0.0005"), 1);
	CHECK_INT(time_of("-12.5"), -12500);
	CHECK_INT(time_of("1e-3"), 1);
	CHECK_INT(time_of("12E2"), 1200000);
	CHECK_INT(time_of("0e999999"), 0);
	CHECK_INT(time_of("1e999999"), -77);
	CHECK_INT(time_of("99999999999999999999999999999999999999999999"), -77);
	CHECK_INT(time_of("0.00000000000000000000000000000000000000000001"), 0);
	CHECK_INT(time_of(""), -77);
	CHECK_INT(time_of("-"), -77);
	CHECK_INT(time_of("1.2.3"), -77);
	CHECK_INT(time_of("12x"), -77);
	for (int64_t ns = 1; ns < INT64_C(1) << 60; ns = ns * 3 + 7) {
		snprintf(text, sizeof(text), "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
		CHECK_INT(time_of(text), ns);
	}
}

TEST(import_words)
{
	uint64_t grid[3], size = 0;
	char name[64];

	CHECK_INT(details_op("a/b:MatMul", 10), 3);
	CHECK_INT(details_op("Iterator::Root", 14), 0);
	CHECK_INT(details_op("EagerExecute: MatMul", 20), 0);
	CHECK_INT(details_op(":x", 2), 0);
	CHECK_INT(details_op("x:", 2), 0);
	CHECK(details_triple("regs:1 grid:1,2,3 block:4,5,6", "block", grid) && grid[2] == 6);
	CHECK(!details_triple("grid:1,2", "grid", grid));
	CHECK(!details_triple("subgrid:1,2,3", "grid", grid));
	CHECK(details_number("kind_src:x size:12", "size", &size) && size == 12);
	CHECK_INT(details_direction("kind_src:pageable kind_dst:device size:1"), DIR_H2D);
	CHECK_INT(details_direction("Memcpy DtoH (Device -> Pageable)"), DIR_D2H);
	CHECK_INT(details_direction("matmul_dtoh"), DIR_NONE);
	CHECK_INT(details_kind("edge_5:MEMCPYHtoD"), COMMAND_COPY);
	CHECK_INT(details_kind("my_memcpy_kernel"), COMMAND_KERNEL);
	CHECK_INT(details_kind("[CUDA memset]"), COMMAND_FILL);
	CHECK_INT(details_bytes("MEMCPYHtoD 123 bytes (PAGEABLE to DEVICE)"), 123);
	CHECK(details_python("<built-in method replay of _Graph object at 0x7f>", name, 64));
	CHECK_STR(name, "_Graph.replay");
	CHECK(details_python("<built-in method tensor of type object at 0x7f>", name, 64));
	CHECK_STR(name, "tensor");
	CHECK(details_python("<method 'add' of 'torch.Tensor' objects>", name, 64));
	CHECK_STR(name, "torch.Tensor.add");
	CHECK(details_python("<built-in function linear>", name, 64));
	CHECK_STR(name, "linear");
	CHECK(details_python("/home/me/torch/train.py(12): <module>", name, 64));
	CHECK_STR(name, "train.py:12 module");
	CHECK(details_python("<frozen importlib._bootstrap>(241): _call", name, 64));
	CHECK_STR(name, "frozen importlib._bootstrap:241 _call");
	CHECK(!details_python("nn.Module: Linear_0", name, 64));
	CHECK(!details_python("(): x", name, 64) && !details_python("", name, 64));
	CHECK_INT(details_step("ProfilerStep#12"), 12);
	CHECK_INT(details_step("ProfilerStep#"), -1);
	CHECK_INT(details_step("ProfilerStep#1x"), -1);
}

/* ---- order ---- */

static uint64_t seed = 20261122;

static uint64_t random_next(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1dull;
}

/* More than fit into memory at once: each comes out once, in order. */
TEST(import_spool_sorts_beyond_memory)
{
	struct spool *spool = spool_new();
	uint64_t n = IMPORT_ITEMS * 2 + 12345, out = 0, sum = 0, got = 0;
	const struct import_item *item;
	struct import_item last = { .start_ns = INT64_MIN };

	for (uint64_t i = 0; i < n; i++) {
		struct import_item next = {
			.start_ns = (int64_t)(random_next() % 1000000) - 500000,
			.dur_ns = (int64_t)(random_next() % 3), .place = random_next(),
		};

		sum += next.place;
		CHECK(spool_add(spool, &next));
	}
	CHECK_INT(spool_count(spool), n);
	spool_sort(spool);
	for (; (item = spool_next(spool)); out++, last = *item) {
		CHECK(item->start_ns >= last.start_ns);
		if (item->start_ns == last.start_ns)
			CHECK(item->dur_ns < last.dur_ns ||
			      (item->dur_ns == last.dur_ns && item->order > last.order));
		got += item->place;
	}
	CHECK_INT(out, n);
	CHECK_INT(got, sum);
	spool_free(spool);
}

/* Without room for the file, what is in memory stays. */
TEST(import_spool_without_room)
{
	struct spool *spool = spool_new();
	struct import_item item = { 0 };
	uint64_t out = 0;

	setenv("TMPDIR", "/proc/self/nowhere", 1);
	for (; item.start_ns < IMPORT_ITEMS; item.start_ns++)
		CHECK(spool_add(spool, &item));
	CHECK(!spool_add(spool, &item));
	spool_sort(spool);
	while (spool_next(spool))
		out++;
	CHECK_INT(out, IMPORT_ITEMS);
	spool_free(spool);
}

/* ---- small files ---- */

struct got {
	struct event events[64];
	size_t n;
	char said[4096];
	struct import *stop_at_once;
};

static void sink(void *arg, const struct event *events, size_t count)
{
	struct got *got = arg;

	for (size_t i = 0; i < count && got->n < 64; i++)
		if (events[i].type != EVENT_ALIVE && events[i].type != EVENT_NAME)
			got->events[got->n++] = events[i];
}

static void say(void *arg, int level, const char *text)
{
	struct got *got = arg;
	size_t used = strlen(got->said);

	snprintf(got->said + used, sizeof(got->said) - used, "%d %s\n", level, text);
}

static enum import_result read_all(struct got *got, const void *data, size_t size)
{
	struct import_options options = {
		.data = data, .size = size, .sink = sink, .say = say, .arg = got,
	};
	char error[IMPORT_ERROR_MAX];
	struct import *import = import_new(&options, error);
	enum import_result result;

	memset(got, 0, sizeof(*got));
	if (!import) {
		snprintf(got->said, sizeof(got->said), "%s", error);
		return IMPORT_NOTHING;
	}
	result = import_run(import);
	import_free(import);
	return result;
}

static enum import_result read_text(struct got *got, const char *text)
{
	return read_all(got, text, strlen(text));
}

static const struct event *find(const struct got *got, enum event_type type, size_t nth)
{
	for (size_t i = 0; i < got->n; i++)
		if (got->events[i].type == type && !nth--)
			return &got->events[i];
	return NULL;
}

/* Spans in any order: nested by time, a parent before its children. */
TEST(import_nests_by_time)
{
	static const char text[] =
		"[{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"name\":\"c\",\"ts\":3,\"dur\":1},"
		"{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"name\":\"b\",\"ts\":2,\"dur\":3},"
		"{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"name\":\"d\",\"ts\":5,\"dur\":1.5},"
		"{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"name\":\"a\",\"ts\":2,\"dur\":8}]";
	struct got got;
	const struct event_op *op[4];

	CHECK_INT(read_text(&got, text), IMPORT_WHOLE);
	for (int i = 0; i < 4; i++) {
		CHECK(find(&got, EVENT_OP, (size_t)i));
		op[i] = &find(&got, EVENT_OP, (size_t)i)->u.op;
		CHECK_INT(op[i]->instance, i + 1);
		CHECK_INT(op[i]->tid, 6);
	}
	CHECK_INT(op[0]->depth, 0);
	CHECK_INT(op[1]->parent, 1);
	CHECK_INT(op[2]->parent, 2);
	CHECK_INT(op[2]->depth, 2);
	CHECK_INT(op[3]->parent, 1);
	CHECK_INT(op[3]->start_ns, 5000);
	CHECK_INT(op[3]->dur_ns, 1500);
}

/* Times below zero are moved, all by the same. */
TEST(import_moves_what_counts_from_zero)
{
	struct got got;

	CHECK_INT(
		read_text(&got,
			  "[{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"name\":\"c\",\"ts\":-3,\"dur\":1},"
			  "{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"name\":\"c\",\"ts\":7,\"dur\":1}]"),
		IMPORT_WHOLE);
	CHECK(find(&got, EVENT_OP, 0)->u.op.start_ns > 0);
	CHECK_INT(find(&got, EVENT_OP, 1)->u.op.start_ns - find(&got, EVENT_OP, 0)->u.op.start_ns,
		  10000);
}

TEST(import_flows_are_edges)
{
	static const char text[] =
		"{\"traceEvents\":["
		"{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"from\",\"ts\":10,\"dur\":5},"
		"{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"id\":3,\"cat\":\"DataFlow\",\"name\":\"t\","
		"\"ts\":15},"
		"{\"ph\":\"t\",\"pid\":1,\"tid\":2,\"id\":3,\"cat\":\"DataFlow\",\"name\":\"t\","
		"\"ts\":20},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"to\",\"ts\":20,\"dur\":5},"
		"{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"id\":3,\"cat\":\"DataFlow\",\"name\":\"t\","
		"\"ts\":26},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"next\",\"ts\":27,\"dur\":5}]}";
	struct got got;

	CHECK_INT(read_text(&got, text), IMPORT_WHOLE);
	CHECK_INT(find(&got, EVENT_EDGE, 0)->u.edge.from, 1);
	CHECK_INT(find(&got, EVENT_EDGE, 0)->u.edge.to, 2);
	CHECK_INT(find(&got, EVENT_EDGE, 1)->u.edge.to, 3);
	CHECK(!find(&got, EVENT_EDGE, 2));
}

/* A run before its call (clocks that differ), and one whose call is not there. */
TEST(import_joins_by_correlation)
{
	static const char text[] =
		"[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":9,\"tid\":9,\"name\":"
		"\"cudaLaunchKernel\",\"ts\":10,\"dur\":1,\"args\":{\"correlation\":7}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":3,\"name\":\"k\",\"ts\":9,"
		"\"dur\":4,"
		"\"args\":{\"correlation\":7,\"device\":0,\"stream\":3}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":3,\"name\":\"lone\",\"ts\":20,"
		"\"dur\":4,"
		"\"args\":{\"correlation\":8,\"device\":0,\"stream\":3}},"
		"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":9,\"tid\":9,\"name\":\"cudaFree\","
		"\"ts\":30,"
		"\"dur\":1,\"args\":{\"correlation\":9}}]";
	struct got got;
	const struct event *launch, *run, *command;

	CHECK_INT(read_text(&got, text), IMPORT_WHOLE);
	launch = find(&got, EVENT_LAUNCH, 0);
	run = find(&got, EVENT_RUN, 0);
	command = find(&got, EVENT_COMMAND, 0);
	CHECK(launch && run && command && !find(&got, EVENT_LAUNCH, 1));
	CHECK_INT(launch->u.launch.correlation, run->u.run.correlation);
	CHECK_INT(launch->u.launch.queue, run->u.run.queue);
	CHECK_INT(run->pid, 9);
	CHECK_INT(command->u.command.how, HOW_NONE);
	CHECK_INT(command->pid, 9);	/* the only process of the host */
	CHECK(find(&got, EVENT_CALL, 1));
}

TEST(import_says_what_it_cannot_read)
{
	struct got got;

	CHECK_INT(read_text(&got,
			    "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2},\n"
			    "{\"ph\":\"X\",,}]}"),
		  IMPORT_PART);
	CHECK(find(&got, EVENT_OP, 0));
	CHECK(strstr(got.said, "damaged at line 2, byte "));
	CHECK_INT(read_text(&got,
			    "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-2},"
			    "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-2},"
			    "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"soon\"}]}"),
		  IMPORT_NOTHING);
	CHECK(strstr(got.said, "1 2 events with a negative duration were dropped\n"));
	CHECK(strstr(got.said, "1 1 event without a readable time was dropped\n"));
	CHECK_INT(read_text(&got, "{\"displayTimeUnit\":\"ms\"}"), IMPORT_NOTHING);
	CHECK_STR(got.said, "2 'memory' is JSON, but not a trace: it has no list 'traceEvents'\n");
	CHECK_INT(read_text(&got, "{\"rocprofiler-sdk-tool\":[{}]}"), IMPORT_NOTHING);
	CHECK_STR(got.said, "2 'memory' is the results of rocprofv3 as JSON, which tftop does not "
		  "read\n");
	CHECK_INT(read_text(&got, "hello"), IMPORT_NOTHING);
	CHECK(strstr(got.said, "tftop cannot open"));
}

/* One event far off does not make all the others wrong. */
TEST(import_leaves_out_what_is_far_off)
{
	struct got got;

	CHECK_INT(read_text(&got,
			    "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":2},"
			    "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1795307911680434,\"dur\":2},"
			    "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1795307911680438,\"dur\":2}]"),
		  IMPORT_WHOLE);
	CHECK(find(&got, EVENT_OP, 1) && !find(&got, EVENT_OP, 2));
	CHECK_INT(find(&got, EVENT_OP, 0)->u.op.start_ns, 1795307911680434000);
	CHECK(strstr(got.said, "1 of 3 events lie more than 30 days from the others"));
}

/* Lengths and nesting that no file has: one sentence each, and nothing else. */
TEST(import_hostile_protobufs)
{
	static const uint8_t plane[] = {
		0x0a, 0x0c, 0x08, 1, 0x1a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
	};
	static const uint8_t text[] = { 0x0a, 8, 0x0a, 6, '/', 'j', 'o', 'b', ':', 'a', 0xff };
	struct got got;

	CHECK_INT(read_all(&got, plane, sizeof(plane)), IMPORT_NOTHING);
	CHECK(strstr(got.said, "byte 14\n"));
	CHECK_INT(read_all(&got, text, sizeof(text)), IMPORT_NOTHING);
	CHECK(strstr(got.said, "byte 10\n"));
	CHECK_INT(read_all(&got, "", 0), IMPORT_NOTHING);
}

static void stop_sink(void *arg, const struct event *events, size_t count)
{
	struct got *got = arg;

	got->n += count;
	import_stop(got->stop_at_once);
}

/* Asked to stop, it hands out no more than what it is at. */
TEST(import_stops)
{
	enum { SIZE = 1 << 20 };
	char *text = malloc(SIZE), error[IMPORT_ERROR_MAX];
	static struct got got;
	struct import_options options = {
		.data = text, .sink = stop_sink, .say = say, .arg = &got
	};
	size_t size = 1;

	text[0] = '[';
	for (int i = 0; i < 10000; i++)
		size += (size_t)snprintf(text + size, SIZE - size, "%s{\"ph\":\"X\",\"name\":\"a\","
					 "\"ts\":%d,\"dur\":1}", i ? "," : "", i + 1);
	options.size = size;
	got.stop_at_once = import_new(&options, error);
	CHECK(got.stop_at_once);
	CHECK_INT(import_run(got.stop_at_once), IMPORT_STOPPED);
	CHECK(got.n > 0 && got.n < 2000);
	import_free(got.stop_at_once);
	free(text);
}

/* ---- many processes ---- */

static void count_definitions(void *arg, const struct event *events, size_t count)
{
	size_t *seen = arg;

	for (size_t i = 0; i < count; i++)
		seen[events[i].type]++;
}

/* Beyond 64, who was told what is looked up: each is told of each. */
TEST(import_tells_many_processes)
{
	size_t seen[EVENT_TYPE_COUNT] = { 0 }, size;
	char *text = NULL, error[IMPORT_ERROR_MAX];
	FILE *out = open_memstream(&text, &size);
	struct import *import;

	for (int i = 0; i < 100; i++)
		fprintf(out,
			"%s{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":%d,\"tid\":7,\"name\":\"k\","
			"\"ts\":%d,\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"grid\":[1,1,1],"
			"\"block\":[1,1,1]}}",
			i ? "," : "[", i + 1, i * 10 + 1);
	fputs("]", out);
	fclose(out);
	import = import_new(&(struct import_options) {
		.data = text, .size = size, .sink = count_definitions, .arg = seen,
	}, error);
	CHECK_INT(import_run(import), IMPORT_WHOLE);
	CHECK_INT(seen[EVENT_COMMAND], 100);
	CHECK_INT(seen[EVENT_NAME], 100);
	CHECK_INT(seen[EVENT_SHAPE], 100);
	import_free(import);
	free(text);
}

/* ---- a file that becomes shorter ---- */

/* Opened, then cut to `left` bytes, then read: what was before the cut, and one
 * sentence. */
static void check_shorter(const char *begin, size_t n, off_t size, off_t left, bool some)
{
	char path[PATH_MAX], error[IMPORT_ERROR_MAX];
	struct got got = { .n = 0 };
	struct import_options options = { .path = path, .sink = sink, .say = say, .arg = &got };
	struct import *import;
	int fd;

	snprintf(path, sizeof(path), "%s/shorter", test_folder());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, begin, n) == (ssize_t)n && !ftruncate(fd, size));
	import = import_new(&options, error);
	CHECK(import && !ftruncate(fd, left));
	CHECK_INT(import_run(import), some ? IMPORT_PART : IMPORT_NOTHING);
	CHECK_INT(got.n > 0, some);
	CHECK(strstr(got.said, "1 the file became shorter while it was read: "));
	CHECK(!strstr(strstr(got.said, "became shorter") + 1, "\n1 "));
	import_free(import);
	close(fd);
	unlink(path);
}

static const char space_begin[] =
	/* a plane: "/host:CPU", a line with one event, its metadata "work" */
	"\x0a\x2c\x12\x09/host:CPU"
	"\x1a\x11\x08\x05\x18\x80\x94\xeb\xdc\x03\x22\x07\x08\x01\x10\x01\x18\xe8\x07"
	"\x22\x0c\x08\x01\x12\x08\x08\x01\x12\x04work"
	"\x12\xff\xff\xff\x0f";			/* and an error of 32 MiB - 1 */

TEST(import_of_a_file_that_is_cut_meanwhile)
{
	static const char json[] = "[{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"name\":\"c\",\"ts\":3,"
		"\"dur\":1},";
	size_t n = sizeof(space_begin) - 1;

	check_shorter(space_begin, n, 8 << 20, 1 << 20, true);	/* in memory */
	check_shorter(space_begin, n, 80 << 20, 70 << 20, true);	/* copied */
	check_shorter(space_begin, n, 80 << 20, (70 << 20) + 123, true);
	check_shorter(space_begin, n, 8 << 20, 0, false);
	check_shorter(json, sizeof(json) - 1, 8 << 20, sizeof(json) - 1, true);
}
