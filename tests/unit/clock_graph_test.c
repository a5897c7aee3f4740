/* SPDX-License-Identifier: MIT */
/* Several hosts and a device: times over the path that is known best. */
#include <stdlib.h>

#include "model/clocks/clock_graph.h"
#include "tests/unit/test.h"

__extension__ typedef __int128 wide;

static int64_t signed_below(int64_t n)
{
	return (int64_t)test_below(2 * (uint64_t)n + 1) - n;
}

TEST(clock_graph_of_hosts_and_a_device)
{
	enum { HOSTS = 5 };

	for (int round = 0; round < 40; round++) {
		struct clock_graph *graph = clock_graph_new();
		struct clock device = { .n = 0 };
		struct event_clock pair = { .quality = CLOCK_KNOWN, .ticks = 9000, .host_ns = 7000,
					    .error_ns = 3 };
		struct clock_change change;
		int64_t offset[HOSTS] = { 0 }, ppb[HOSTS] = { 0 }, ns, error, other;
		const int64_t t0 = INT64_C(2000000000000);

		for (uint32_t h = 0; h < HOSTS; h++) {
			CHECK_INT(clock_graph_node(graph), h);
			offset[h] = h ? signed_below(INT64_C(1) << 40) : 0;
			ppb[h] = h ? signed_below(50000) : 0;
		}
		CHECK_INT(clock_graph_node(graph), HOSTS);
#define AT(h, t) ((t) + offset[h] + (int64_t)((wide)((t) - t0) * ppb[h] / 1000000000))
		CHECK(!clock_graph_map(graph, 1, 5, &ns, &error));
		for (int64_t m = 0; m < 4000; m++) {
			int64_t t = t0 + m * 2500000, wire = 20000 + (int64_t)test_below(100000);
			/* A ring with a chord, host 3 over slow wires only. */
			uint32_t a = (uint32_t)test_below(HOSTS), b = (a + 1) % HOSTS;

			if (test_below(4) == 0)
				b = (a + 2) % HOSTS;
			if (a == 3 || b == 3)
				wire += 3000000;
			if (test_below(2)) {
				uint32_t swap = a;

				a = b;
				b = swap;
			}
			CHECK(clock_graph_message(graph, a, AT(a, t), b, AT(b, t + wire)));
		}
		CHECK_INT(clock_graph_violations(graph), 0);
		for (uint32_t h = 0; h < HOSTS; h++) {
			int64_t t = t0 + INT64_C(9900000000);

			CHECK(clock_graph_map(graph, h, (uint64_t)AT(h, t), &ns, &error));
			CHECK(llabs(ns - t) <= error);
			CHECK(error <= (h == 3 ? 12000000 : 400000));
		}
		clock_add(&device, &pair, &change);
		CHECK(clock_graph_attach(graph, HOSTS, 2, &device));
		CHECK(clock_graph_map(graph, 2, (uint64_t)AT(2, t0 + 5000), &other, &error));
		CHECK(clock_graph_map(graph, HOSTS, (uint64_t)AT(2, t0 + 5000) + 2000, &ns,
				      &error));
		CHECK_INT(ns, other);
		CHECK(!clock_graph_message(graph, 0, 1, 0, 2) &&
		      !clock_graph_message(graph, 0, 1, 99, 2));
#undef AT
		clock_release(&device);
		clock_graph_free(graph);
	}
}
