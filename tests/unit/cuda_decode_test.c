/* SPDX-License-Identifier: MIT */
/* CUPTI's records of every release, decoded: each lies at the end of a page that has
 * nothing after it, so that a byte too much ends the case. */
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/test.h"

#include "probes/cuda/decode.h"

static const uint32_t releases[] = {
	CUPTI_RELEASE(11, 4), CUPTI_RELEASE(11, 6), CUPTI_RELEASE(11, 7), CUPTI_RELEASE(11, 8),
	CUPTI_RELEASE(12, 0), CUPTI_RELEASE(12, 1), CUPTI_RELEASE(12, 2), CUPTI_RELEASE(12, 3),
	CUPTI_RELEASE(12, 4), CUPTI_RELEASE(12, 5), CUPTI_RELEASE(12, 6), CUPTI_RELEASE(12, 8),
	CUPTI_RELEASE(12, 9), CUPTI_RELEASE(13, 0), CUPTI_RELEASE(13, 1), CUPTI_RELEASE(13, 2),
	CUPTI_RELEASE(13, 3), CUPTI_RELEASE(13, 4), CUPTI_RELEASE(13, 5),
};
#define RELEASES (sizeof(releases) / sizeof(releases[0]))

#define PAGE 4096

/* Memory that ends where nothing follows. */
static uint8_t *cliff(void)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK(!mprotect(pages + PAGE, PAGE, PROT_NONE));
	return pages + PAGE;
}

/* The first size bytes of a record, before the cliff; the rest of it is nowhere. */
static bool decode(uint8_t *end, const void *record, size_t size, uint32_t release,
		   struct cuda_record *out)
{
	memcpy(end - size, record, size);
	return cuda_decode(end - size, size, release, out);
}

static struct cupti_kernel a_kernel(void)
{
	return (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL, .registers = 40, .start = 1000, .end = 3000,
		.completed = 3500, .device = 1, .context = 2, .stream = 7,
		.grid = { 10, 20, 30 }, .block = { 256, 2, 1 }, .shared_static = 1024,
		.shared_dynamic = 2048, .local_per_thread = 16, .correlation = 77, .grid_id = -1,
		.name = "_Z3addPf", .queued = 900, .submitted = 950, .launch_type = 1,
		.shared_executed = 65536, .graph_node = 0x500000009, .graph = 5,
		.channel = 3, .channel_type = 1, .cluster = { 2, 1, 1 }, .cluster_active = 9,
		.from_device = 1, .priority = -5, .model = 3,
	};
}

static bool since(uint32_t release, uint32_t major, uint32_t minor)
{
	return release >= CUPTI_RELEASE(major, minor);
}

TEST(cuda_decode_kernel)
{
	struct cupti_kernel k = a_kernel();
	uint8_t *end = cliff();
	struct cuda_record r;

	for (size_t i = 0; i < RELEASES; i++) {
		uint32_t at = releases[i];

		CHECK(decode(end, &k, cupti_record_size(k.kind, at), at, &r));
		CHECK_INT(r.what, CUDA_KERNEL);
		CHECK_INT(r.kind, CUPTI_KIND_CONCURRENT_KERNEL);
		CHECK(r.device == 1 && r.context == 2 && r.stream == 7 && r.correlation == 77);
		CHECK(r.start == 1000 && r.end == 3000 && !(r.flags & CUDA_NO_TIME));
		CHECK_STR(r.kernel.name, "_Z3addPf");
		CHECK(r.kernel.grid[0] == 10 && r.kernel.grid[1] == 20 && r.kernel.grid[2] == 30);
		CHECK(r.kernel.block[0] == 256 && r.kernel.block[1] == 2 && r.kernel.block[2] == 1);
		CHECK_INT(r.kernel.registers, 40);
		CHECK(r.kernel.shared_static == 1024 && r.kernel.shared_dynamic == 2048);
		CHECK(r.kernel.queued == 900 && r.kernel.submitted == 950);
		CHECK(r.graph == 5 && r.node == 0x500000009);
		CHECK_INT(!!(r.flags & CUDA_FROM_DEVICE), since(at, 13, 0));
	}
}

/* The other things a device does. */
TEST(cuda_decode_copies)
{
	struct cupti_copy c = {
		.kind = CUPTI_KIND_COPY, .way = CUPTI_COPY_H2D, .from = CUPTI_MEM_PINNED,
		.to = CUPTI_MEM_DEVICE, .flags = CUPTI_FLAG_ASYNC, .bytes = 1ull << 33,
		.start = 5, .end = 6, .device = 1, .context = 2, .stream = 3, .correlation = 4,
		.graph_node = 50, .graph = 6, .from_device = 1,
	};
	struct cupti_copy_peer p = {
		.kind = CUPTI_KIND_COPY_PEER, .way = CUPTI_COPY_P2P, .bytes = 100, .start = 5,
		.end = 6, .device = 1, .stream = 3, .src_device = 1, .dst_device = 2,
		.correlation = 4, .graph_node = 50, .graph = 6,
	};
	struct cupti_fill f = {
		.kind = CUPTI_KIND_FILL, .value = 0xff, .bytes = 200, .start = 5, .end = 6,
		.device = 1, .stream = 3, .correlation = 4, .flags = CUPTI_FLAG_ASYNC,
		.memory = CUPTI_MEM_DEVICE, .graph = 6, .graph_node = 50, .from_device = 1,
	};
	uint8_t *end = cliff();
	struct cuda_record r;

	for (size_t i = 0; i < RELEASES; i++) {
		uint32_t at = releases[i];

		CHECK(decode(end, &c, cupti_record_size(c.kind, at), at, &r));
		CHECK(r.what == CUDA_COPY && r.bytes == 1ull << 33);
		CHECK(r.copy.way == CUPTI_COPY_H2D && r.copy.from == CUPTI_MEM_PINNED);
		CHECK(r.copy.to == CUPTI_MEM_DEVICE && !r.copy.peer);
		CHECK(r.device == 1 && r.stream == 3 && r.correlation == 4 && r.graph == 6);
		CHECK(r.copy.src_device == CUPTI_ID_NONE);
		CHECK_INT(!!(r.flags & CUDA_FROM_DEVICE), since(at, 13, 0));

		CHECK(decode(end, &p, cupti_record_size(p.kind, at), at, &r));
		CHECK(r.what == CUDA_COPY && r.copy.peer && r.bytes == 100);
		CHECK(r.copy.src_device == 1 && r.copy.dst_device == 2 && r.correlation == 4);
		CHECK(r.graph == 6 && r.node == 50);

		CHECK(decode(end, &f, cupti_record_size(f.kind, at), at, &r));
		CHECK(r.what == CUDA_FILL && r.bytes == 200 && r.graph == 6 && r.node == 50);
		CHECK_INT(!!(r.flags & CUDA_FROM_DEVICE), since(at, 13, 0));
	}
}

TEST(cuda_decode_memory)
{
	struct cupti_memory m = {
		.kind = CUPTI_KIND_MEMORY, .operation = CUPTI_MEMORY_ALLOC,
		.memory = CUPTI_MEM_DEVICE, .correlation = 4, .address = 0x7f0000000000,
		.bytes = 512, .time = 99, .process = 1234, .device = 1, .context = 2,
		.stream = 3, .async = 1, .pool_type = CUPTI_POOL_LOCAL, .pool = 0x1000,
		.pool_size = 4096, .pool_used = 512,
	};
	struct cupti_pool p = {
		.kind = CUPTI_KIND_POOL, .operation = 3, .type = CUPTI_POOL_LOCAL,
		.process = 1234, .device = 1, .keep = 10, .address = 0x1000, .size = 4096,
		.threshold = 20, .time = 77, .used = 100, .managed = 1,
	};
	uint8_t *end = cliff();
	struct cuda_record r;

	for (size_t i = 0; i < RELEASES; i++) {
		uint32_t at = releases[i];

		CHECK(decode(end, &m, cupti_record_size(m.kind, at), at, &r));
		CHECK(r.what == CUDA_MEMORY && !r.memory.release && r.bytes == 512);
		CHECK(r.start == 99 && r.end == 99 && r.memory.address == 0x7f0000000000);
		CHECK(r.memory.pool == 0x1000 && r.memory.pool_size == 4096);
		CHECK_INT(r.memory.pool_used, 512);

		CHECK(decode(end, &p, cupti_record_size(p.kind, at), at, &r));
		CHECK(r.what == CUDA_POOL && r.pool.type == CUPTI_POOL_LOCAL);
		CHECK(r.pool.size == 4096 && r.pool.used == 100 && r.start == 77);
	}
	/* the first layout has no use of the pool */
	CHECK(decode(end, &m, 112, CUPTI_RELEASE(11, 4), &r) && !r.memory.pool_used);
	m.pool_type = CUPTI_POOL_IMPORTED;	/* then the size is a process */
	CHECK(decode(end, &m, 128, CUPTI_RELEASE(13, 0), &r) && !r.memory.pool_size);
	m.pool_type = 0;
	CHECK(decode(end, &m, 128, CUPTI_RELEASE(13, 0), &r) && !r.memory.pool);
	m.operation = CUPTI_MEMORY_FREE;
	CHECK(decode(end, &m, 128, CUPTI_RELEASE(13, 0), &r) && r.memory.release);
	m.operation = 3;
	CHECK(!decode(end, &m, 128, CUPTI_RELEASE(13, 0), &r) && r.what == CUDA_NOTHING);
}

TEST(cuda_decode_host)
{
	struct cupti_overhead o = {
		.kind = CUPTI_KIND_OVERHEAD, .what = CUPTI_OVERHEAD_FLUSH,
		.object_kind = CUPTI_OBJECT_THREAD, .object.of_host = { 10, 20 }, .start = 5,
		.end = 9, .correlation = 4,
	};
	struct cupti_graph g = {
		.kind = CUPTI_KIND_GRAPH, .correlation = 4, .start = 5, .end = 9, .device = 1,
		.graph = 6, .context = 2, .stream = 3, .end_device = 1, .end_context = 8,
	};
	struct cupti_jit j = {
		.kind = CUPTI_KIND_JIT, .entry = CUPTI_JIT_PTX, .operation = CUPTI_JIT_COMPILE,
		.device = 1, .start = 5, .end = 9, .correlation = 4, .process = 1, .thread = 2,
	};
	uint8_t *end = cliff();
	struct cuda_record r;

	for (size_t i = 0; i < RELEASES; i++) {
		uint32_t at = releases[i];

		CHECK(decode(end, &o, cupti_record_size(o.kind, at), at, &r));
		CHECK(r.what == CUDA_OVERHEAD && r.overhead.what == CUPTI_OVERHEAD_FLUSH);
		CHECK(r.device == CUPTI_ID_NONE && r.stream == CUPTI_ID_NONE);
		CHECK_INT(r.correlation, since(at, 12, 3) ? 4 : 0);
		CHECK_INT(!!cupti_record_size(g.kind, at), since(at, 11, 7));
		if (since(at, 11, 7)) {
			CHECK(decode(end, &g, cupti_record_size(g.kind, at), at, &r));
			CHECK(r.what == CUDA_GRAPH && r.graph == 6 && r.stream == 3);
		}
		if (!since(at, 11, 8)) {
			CHECK_INT(cupti_record_size(j.kind, at), 0);
			continue;
		}
		CHECK(decode(end, &j, cupti_record_size(j.kind, at), at, &r));
		CHECK(r.what == CUDA_JIT && r.jit.operation == CUPTI_JIT_COMPILE);
	}
	/* no stream, as it was called before 13.2 and since */
	g.stream = 0;
	CHECK(decode(end, &g, sizeof(g), CUPTI_RELEASE(13, 2), &r) && r.stream == CUPTI_ID_NONE);
	CHECK(r.context == 2);
	CHECK(decode(end, &g, sizeof(g), CUPTI_RELEASE(13, 1), &r) && r.stream == 0);
	g.stream = CUPTI_ID_NONE;
	CHECK(decode(end, &g, sizeof(g), CUPTI_RELEASE(13, 2), &r) && r.stream == CUPTI_ID_NONE);
	o.object_kind = CUPTI_OBJECT_STREAM;
	o.object.of_device.device = 1;
	o.object.of_device.context = 2;
	o.object.of_device.stream = 3;
	CHECK(decode(end, &o, sizeof(o), CUPTI_RELEASE(13, 0), &r));
	CHECK(r.device == 1 && r.context == 2 && r.stream == 3);
}

TEST(cuda_decode_objects)
{
	struct cupti_device d = {
		.kind = CUPTI_KIND_DEVICE, .bandwidth = 3352320000 / 1000, .memory = 80ull << 30,
		.warp = 32, .units = 132, .warps_per_unit = 64, .blocks_per_unit = 32,
		.shared_per_unit = 233472, .registers_per_unit = 65536,
		.registers_per_block = 65536, .shared_per_block = 49152, .major = 9, .minor = 0,
		.device = 1, .uuid = { 1, 2, 3 }, .name = "A GPU", .mig = 1,
		.mig_uuid = { 4, 5, 6 }, .clock = 1980000,
	};
	struct cupti_context c = {
		.kind = CUPTI_KIND_CONTEXT, .context = 2, .device = 1, .api = 1, .null_stream = 7,
		.parent = 9, .green = 1, .units = 16, .process = 1234,
	};
	struct cupti_stream s = {
		.kind = CUPTI_KIND_STREAM, .context = 2, .stream = 13, .priority = -3,
		.flag = CUPTI_STREAM_NON_BLOCKING,
	};
	uint8_t *end = cliff();
	struct cuda_record r;

	for (size_t i = 0; i < RELEASES; i++) {
		uint32_t at = releases[i];

		CHECK(decode(end, &d, cupti_record_size(d.kind, at), at, &r));
		CHECK(r.what == CUDA_DEVICE && r.of_device.bandwidth == 3352320000);
		CHECK(r.of_device.capability == 90 && r.of_device.threads_per_unit == 2048);
		CHECK(r.of_device.uuid[2] == 3 && r.of_device.mig_uuid[0] == 4 && r.of_device.mig);
		CHECK_STR(r.of_device.name, "A GPU");
		CHECK(decode(end, &c, cupti_record_size(c.kind, at), at, &r));
		CHECK(r.what == CUDA_CONTEXT && r.made_context.null_stream == 7);
		CHECK_INT(r.made_context.green, since(at, 12, 4));
		CHECK(decode(end, &s, cupti_record_size(s.kind, at), at, &r));
		CHECK(r.what == CUDA_STREAM && r.stream == 13 && r.made_stream.priority == -3);
	}
}

/* What newer libraries append is passed over, what older ones lack is nothing. */
TEST(cuda_decode_lengths)
{
	struct {
		struct cupti_kernel k;
		uint8_t more[64];
	} newer = { .k = a_kernel() };
	struct cupti_overhead o = { .kind = CUPTI_KIND_OVERHEAD, .correlation = 4 };
	uint8_t *end = cliff();
	struct cuda_record r;

	memset(newer.more, 0xff, sizeof(newer.more));
	CHECK(decode(end, &newer, sizeof(newer), CUPTI_RELEASE(14, 0), &r));
	CHECK(r.graph == 5 && r.correlation == 77 && r.flags & CUDA_FROM_DEVICE);
	/* a release that is in the table wrote no more than the table says */
	CHECK(decode(end, &o, sizeof(o), CUPTI_RELEASE(12, 3), &r) && r.correlation == 4);
	CHECK(decode(end, &o, sizeof(o), CUPTI_RELEASE(12, 2), &r) && !r.correlation);
	/* no release: only the length counts */
	CHECK(decode(end, &newer.k, 152, 0, &r) && r.node == 0x500000009 && !r.graph);
	for (size_t size = 0; size <= sizeof(newer.k); size++) {
		bool known = decode(end, &newer.k, size, CUPTI_RELEASE(13, 5), &r);

		CHECK(known == (size >= CUPTI_KERNEL_MIN));
		CHECK(known || r.what == CUDA_SHORT);
	}
}

TEST(cuda_decode_times)
{
	struct cupti_kernel k = a_kernel();
	struct cuda_record r;

	k.start = 0;
	CHECK(cuda_decode(&k, sizeof(k), CUPTI_RELEASE(13, 0), &r) && r.flags & CUDA_NO_TIME);
	k.start = 10;
	k.end = 0;
	CHECK(cuda_decode(&k, sizeof(k), CUPTI_RELEASE(13, 0), &r) && r.flags & CUDA_NO_TIME);
	k.end = 9;
	CHECK(cuda_decode(&k, sizeof(k), CUPTI_RELEASE(13, 0), &r) && r.flags & CUDA_NO_TIME);
	k.end = 10;
	CHECK(cuda_decode(&k, sizeof(k), CUPTI_RELEASE(13, 0), &r) && !(r.flags & CUDA_NO_TIME));
}

TEST(cuda_decode_kinds)
{
	struct cuda_record r;
	struct cupti_stream marker = { .kind = CUPTI_KIND_MARKER_DATA }, unknown = { .kind = 999 };
	struct cupti_stream external = { .kind = CUPTI_KIND_EXTERNAL };

	CHECK(!cuda_decode(&marker, sizeof(marker), CUPTI_RELEASE(13, 0), &r));
	CHECK_INT(r.what, CUDA_NOTHING);
	CHECK(!cuda_decode(&external, sizeof(external), CUPTI_RELEASE(13, 0), &r));
	CHECK_INT(r.what, CUDA_NOTHING);
	CHECK(!cuda_decode(&unknown, sizeof(unknown), CUPTI_RELEASE(13, 0), &r));
	CHECK_INT(r.what, CUDA_UNKNOWN);
	CHECK_INT(r.kind, 999);
	CHECK_INT(cupti_kind_since(CUPTI_KIND_HOST_LAUNCH), CUPTI_RELEASE(13, 1));
	CHECK_INT(cupti_kind_since(999), 0);
	CHECK_INT(cupti_record_size(CUPTI_KIND_HOST_LAUNCH, CUPTI_RELEASE(13, 0)), 0);
}

/* ---- the walk ---- */

struct scripted {
	size_t steps[8];	/* offsets, then SIZE_MAX: the result */
	int result, at;
};

static int scripted_next(void *user, uint8_t *buffer, size_t valid, void **record)
{
	struct scripted *s = user;

	(void)valid;
	if (s->steps[s->at] == SIZE_MAX)
		return s->result;
	*record = buffer + s->steps[s->at++];
	return CUPTI_OK;
}

static size_t put(uint8_t *buffer, size_t at, const void *record, uint32_t kind, uint32_t release)
{
	size_t size = cupti_record_size(kind, release);

	memcpy(buffer + at, record, size);
	return at + size;
}

TEST(cuda_walk_table)
{
	struct cupti_kernel k = a_kernel();
	struct cupti_copy c = { .kind = CUPTI_KIND_COPY, .bytes = 5 };
	struct cupti_stream n = { .kind = CUPTI_KIND_MARKER };
	uint8_t *end = cliff();

	for (size_t i = 0; i < RELEASES; i++) {
		uint32_t at = releases[i];
		size_t size = 2 * cupti_record_size(k.kind, at) + cupti_record_size(c.kind, at) +
			      cupti_record_size(n.kind, at);
		uint8_t *buffer = end - size;
		struct cuda_walk walk;
		struct cuda_record r;
		uint8_t marker[256] = { CUPTI_KIND_MARKER };

		put(buffer, put(buffer, put(buffer, put(buffer, 0, &k, k.kind, at), marker, n.kind,
					    at), &c, c.kind, at), &k, k.kind, at);
		cuda_walk_begin(&walk, buffer, size, at, NULL, NULL);
		CHECK(cuda_walk_next(&walk, &r) && r.what == CUDA_KERNEL);
		CHECK(cuda_walk_next(&walk, &r) && r.what == CUDA_COPY && r.bytes == 5);
		CHECK(cuda_walk_next(&walk, &r) && r.what == CUDA_KERNEL && r.correlation == 77);
		CHECK(!cuda_walk_next(&walk, &r) && !cuda_walk_next(&walk, &r));
		CHECK(walk.result == CUPTI_MAX_LIMIT && !cuda_walk_left(&walk));
		CHECK(!walk.unknown && !walk.short_ && !walk.odd);
		/* a buffer that ends in the midst of a record: the last is not read */
		cuda_walk_begin(&walk, buffer, size - 1, at, NULL, NULL);
		CHECK(cuda_walk_next(&walk, &r) && cuda_walk_next(&walk, &r));
		CHECK(!cuda_walk_next(&walk, &r) && walk.result == CUPTI_INVALID_KIND);
		CHECK(cuda_walk_left(&walk) > cupti_record_size(k.kind, at));
	}
}

TEST(cuda_walk_library)
{
	struct cupti_kernel k = a_kernel();
	uint8_t *end = cliff(), *buffer = end - 1000;
	struct scripted s = { .steps = { 0, 300, 340, 752, SIZE_MAX }, .result = CUPTI_MAX_LIMIT };
	struct cuda_walk walk;
	struct cuda_record r;
	uint32_t unknown = 200;

	/* a library from after our time, with longer kernels and a kind of its own */
	memcpy(buffer, &k, sizeof(k));
	memcpy(buffer + 300, &unknown, sizeof(unknown));
	memcpy(buffer + 340, &k, sizeof(k));
	k.correlation = 78;
	memcpy(buffer + 752, &k, sizeof(k));
	cuda_walk_begin(&walk, buffer, 1000, CUPTI_RELEASE(14, 0), scripted_next, &s);
	CHECK(cuda_walk_next(&walk, &r) && r.correlation == 77);
	CHECK(cuda_walk_next(&walk, &r) && r.correlation == 77);
	CHECK(cuda_walk_next(&walk, &r) && r.correlation == 78 && r.graph == 5);
	CHECK(!cuda_walk_next(&walk, &r));
	CHECK(walk.unknown == 1 && walk.odd == 2 && walk.result == CUPTI_MAX_LIMIT);

	/* one that goes nowhere, back, or out of the buffer */
	for (int i = 0; i < 3; i++) {
		static const size_t bad[] = { 0, 998, 100000 };

		s = (struct scripted){ .steps = { 0, bad[i], SIZE_MAX } };
		cuda_walk_begin(&walk, buffer, 1000, CUPTI_RELEASE(13, 5), scripted_next, &s);
		CHECK(cuda_walk_next(&walk, &r) && !cuda_walk_next(&walk, &r));
		CHECK(walk.result == CUPTI_UNKNOWN && cuda_walk_left(&walk) == 1000);
	}
	s = (struct scripted){ .steps = { SIZE_MAX }, .result = CUPTI_INVALID_KIND };
	cuda_walk_begin(&walk, buffer, 1000, CUPTI_RELEASE(13, 5), scripted_next, &s);
	CHECK(!cuda_walk_next(&walk, &r) && cuda_walk_left(&walk) == 1000);
	cuda_walk_begin(&walk, buffer, 0, CUPTI_RELEASE(13, 5), scripted_next, &s);
	CHECK(!cuda_walk_next(&walk, &r) && !cuda_walk_left(&walk));
}
