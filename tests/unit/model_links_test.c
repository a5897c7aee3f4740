/* SPDX-License-Identifier: MIT */
/* What one event has to do with others. */
#include <string.h>

#include "model/query/links.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define ROUNDS 40
#define ROUND_NS 100000

static struct event edge_of(uint64_t from, uint64_t to, int64_t after)
{
	return (struct event) {
		.type = EVENT_EDGE, .pid = PID, .tid = PID, .time_ns = BASE + after,
		.u.edge = { .from = from, .to = to, .bytes = 8 },
	};
}

/* Each round: 1 and 2 feed 3, which feeds 4; 3 launches two kernels and a copy. */
static struct model *rounds(void)
{
	struct model *model = model_with_device();

	for (uint64_t i = 0; i < ROUNDS; i++) {
		int64_t t = ROUND_NS * (int64_t)(i + 1);
		uint64_t id = 10 * i;
		struct event work;

		for (uint32_t op = 1; op <= 4; op++)
			apply_one(model, ev_op(op, id + op, 0, t + 20000 * op, 10000, 0));
		apply_one(model, edge_of(id + 1, id + 3, t + 60000));
		apply_one(model, edge_of(id + 2, id + 3, t + 60000));
		apply_one(model, edge_of(id + 3, id + 4, t + 80000));
		for (uint32_t k = 0; k < 3; k++) {
			work = ev_kernel(5 + k, 1 + k % 2, (uint32_t)(3 * i + k + 1),
					 t + 65000 + 5000 * k, 1000);
			if (k == 2)
				work = ev_copy(1, DIR_H2D, 64, t + 75000, 1000);
			work.u.command.op = id + 3;
			work.u.command.op_name = 3;
			apply_one(model, work);
		}
	}
	model_finish(model, false);
	return model;
}

static size_t of_kind(const struct span_link *links, size_t n, enum link_kind kind,
		      const struct span_link **first)
{
	size_t count = 0;

	*first = NULL;
	for (size_t i = 0; i < n; i++) {
		if (links[i].kind != kind)
			continue;
		if (!count++)
			*first = &links[i];
		else
			CHECK(links[i].start_ns >= links[i - 1].start_ns || kind == LINK_WORK);
	}
	return count;
}

static void check_neighbours(const struct span_link *links, size_t n, int64_t round_ns)
{
	const struct span_link *first;

	CHECK_INT(of_kind(links, n, LINK_PRODUCER, &first), 2);
	CHECK_STR(first[0].name, "kernel1");
	CHECK_INT(first[0].start_ns, round_ns + 20000);
	CHECK_STR(first[1].name, "kernel2");
	CHECK_INT(first[1].start_ns, round_ns + 40000);
	CHECK_INT(of_kind(links, n, LINK_TAKER, &first), 1);
	CHECK_STR(first->name, "kernel4");
	CHECK_INT(first->start_ns, round_ns + 80000);
}

TEST(links_of_an_op_and_of_its_work)
{
	struct model *model = rounds();
	uint32_t thread = row_of(model, ROW_THREAD, 0).id;
	uint32_t queue = row_of(model, ROW_QUEUE, 0).id;
	struct span_link links[20];
	const struct span_link *first;
	struct span_ref ref;
	size_t n;

	model_lock(model);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t t = BASE + ROUND_NS * (i + 1);

		CHECK(model_span_at(model, thread, LANE_ALL, t + 60001, &ref));
		n = model_span_links(model, ref, links, 20);
		CHECK_INT(of_kind(links, n, LINK_WORK, &first), 3);
		for (size_t k = 0; k < 3; k++)
			CHECK(first[k].start_ns >= t + 65000 && first[k].end_ns <= t + 77000);
		CHECK_INT(of_kind(links, n, LINK_OP, &first), 0);
		check_neighbours(links, n, t);
		CHECK(model_span_at(model, queue, LANE_ALL, t + 65001, &ref));
		n = model_span_links(model, ref, links, 20);
		CHECK_INT(of_kind(links, n, LINK_OP, &first), 1);
		CHECK_INT(first->start_ns, t + 60000);
		CHECK_INT(of_kind(links, n, LINK_WORK, &first), 0);
		check_neighbours(links, n, t);
		/* as many as there is room for */
		CHECK_INT(model_span_links(model, ref, links, 2), 2);
	}
	/* what feeds nothing and launches nothing */
	CHECK(model_span_at(model, thread, LANE_ALL, BASE + ROUND_NS + 20001, &ref));
	n = model_span_links(model, ref, links, 20);
	CHECK_INT(of_kind(links, n, LINK_PRODUCER, &first), 0);
	CHECK_INT(of_kind(links, n, LINK_TAKER, &first), 1);
	CHECK_STR(first->name, "kernel3");
	CHECK_INT(model_span_links(model, (struct span_ref){ 9999, 0, 1 }, links, 20), 0);
	model_unlock(model);
	model_free(model);
}
