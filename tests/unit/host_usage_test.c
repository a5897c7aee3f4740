/* SPDX-License-Identifier: MIT */
/* What the kernel tells of a process (proc(5)), read from its texts; rates of it. */
#include <stdio.h>
#include <string.h>

#include "probes/host/usage.h"
#include "tests/unit/test.h"

#define SECOND INT64_C(1000000000)

TEST(host_usage_rates)
{
	CHECK_INT(usage_rate(100, 600, SECOND), 500);
	CHECK_INT(usage_rate(100, 600, SECOND * 5 / 4), 400);
	CHECK_INT(usage_rate(7, 7, SECOND), 0);
	CHECK_INT(usage_rate(0, 10000000000000, SECOND / 10), 100000000000000);
	/* it was reset, or no time has passed */
	CHECK_INT(usage_rate(600, 100, SECOND), -1);
	CHECK_INT(usage_rate(UINT64_MAX, 0, SECOND), -1);
	CHECK_INT(usage_rate(0, 1, 0), -1);
	CHECK_INT(usage_rate(0, 1, -SECOND), -1);
	/* more than a counter can hold */
	CHECK_INT(usage_rate(0, UINT64_MAX, 1), -1);
	CHECK_INT(usage_share(0, 8 * SECOND, SECOND), 8000);
	CHECK_INT(usage_share(SECOND, SECOND + SECOND / 4, SECOND / 2), 500);
	CHECK_INT(usage_share(SECOND, 0, SECOND), -1);
	CHECK_INT(usage_share(-1, SECOND, SECOND), -1);
	CHECK_INT(usage_share(0, SECOND, 0), -1);
}

TEST(host_usage_memory_and_disks)
{
	static const char io[] = "rchar: 3\nwchar: 4\nsyscr: 5\nsyscw: 6\nread_bytes: 4096\n"
				 "write_bytes: 18446744073709551615\ncancelled_write_bytes: 7\n";
	uint64_t value = 0;

	CHECK(usage_statm("1234 567 89 1 0 99 0\n", &value));
	CHECK_INT(value, 567);
	CHECK(!usage_statm("1234", &value) && !usage_statm("", &value));
	CHECK(!usage_statm("1234 -5", &value) && !usage_statm("1234 5x", &value));
	CHECK(usage_field(io, "read_bytes", ':', &value));
	CHECK_INT(value, 4096);
	/* not the end of another name, and the largest number */
	CHECK(usage_field(io, "write_bytes", ':', &value) && value == UINT64_MAX);
	CHECK(!usage_field(io, "bytes", ':', &value));
	CHECK(!usage_field("", "read_bytes", ':', &value));
	CHECK(!usage_field("read_bytes", "read_bytes", ':', &value));
	CHECK(!usage_field("read_bytes:", "read_bytes", ':', &value));
	CHECK(!usage_field("read_bytes: 18446744073709551616\n", "read_bytes", ':', &value));
}

#define HEADING "Inter-|   Receive      |  Transmit\n face |bytes packets |bytes packets\n"

TEST(host_usage_network)
{
	uint64_t in, out;

	CHECK(usage_net(HEADING "    lo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n"
				"  eth0: 1000 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
				"wlan0:3000 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0\n", &in, &out));
	CHECK_INT(in, 4000);
	CHECK_INT(out, 60);
	/* nothing but the loopback; nothing at all */
	CHECK(!usage_net(HEADING "    lo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n", &in, &out));
	CHECK(!usage_net(HEADING, &in, &out) && !usage_net("", &in, &out));
	/* a line that was cut counts as none, one that is odd spoils the sum */
	CHECK(usage_net(HEADING " eth0: 7 0 0 0 0 0 0 0 8 0 0\n eth1: 5 0 0 0 0 0 0 0 6", &in,
			&out));
	CHECK_INT(in, 7);
	CHECK(!usage_net(HEADING " eth0: 7 0 0 0 0 0 0 0 8 0 0\n eth1: 5 0\n", &in, &out));
	CHECK(!usage_net(HEADING " eth0 7 0 0 0 0 0 0 0 8 0 0\n", &in, &out));
}

TEST(host_usage_processes)
{
	struct usage_stat stat;
	const char *list = "12 345 6 ";

	CHECK(usage_stat("77 (a) b (c) R 55 1 1 0 -1 4194560 9 8 7 6 100 20 3 4 20 -5 1 0 "
			 "123456 8192000 250 18446744073709551615 1 1 140720000000\n", &stat));
	CHECK_INT(stat.parent, 55);
	CHECK_INT(stat.ticks, 127);
	CHECK_INT(stat.start_ticks, 123456);
	CHECK_INT(stat.pages, 250);
	CHECK_INT(stat.stack, 140720000000);
	CHECK(usage_stat("77 (a) R 55 1 1 0 -1 4194560 9 8 7 6 100 20 3 4 20 5 1 0 1 2 3\n",
			 &stat));
	CHECK_INT(stat.stack, 0);
	CHECK(!usage_stat("", &stat) && !usage_stat("77 (a", &stat));
	CHECK(!usage_stat("77 (a)", &stat) && !usage_stat("77 (a) R", &stat));
	CHECK(!usage_stat("77 (a) R 55 1 1 0 -1 4194560 9 8 7 6 100 20\n", &stat));
	CHECK(!usage_stat("77 (a) R 55 1 1 x -1 4194560 9 8 7 6 100 20 3 4 20 0 1 0 1 1 1\n",
			  &stat));
	CHECK_INT(usage_next_pid(&list), 12);
	CHECK_INT(usage_next_pid(&list), 345);
	CHECK_INT(usage_next_pid(&list), 6);
	CHECK_INT(usage_next_pid(&list), 0);
	list = "4294967297";
	CHECK_INT(usage_next_pid(&list), 0);
}

/* Whatever the text is: within its bounds, which the sanitizers watch. */
TEST(host_usage_any_text)
{
	static const char letters[] = "0123456789 \n\t:()-xlo";
	struct usage_stat stat;
	uint64_t a, b;

	for (int i = 0; i < 20000; i++) {
		char text[120];
		size_t n = (size_t)test_below(sizeof(text));
		const char *list = text;

		for (size_t k = 0; k < n; k++)
			text[k] = letters[test_below(sizeof(letters) - 1)];
		text[n < sizeof(text) ? n : n - 1] = '\0';
		usage_stat(text, &stat);
		usage_net(text, &a, &b);
		usage_statm(text, &a);
		usage_field(text, "lo", ':', &a);
		while (usage_next_pid(&list))
			;
		CHECK(list <= text + n);
	}
}

/* The kernel's own texts, of this process. */
TEST(host_usage_of_this_process)
{
	char text[4096];
	struct usage_stat stat;
	uint64_t pages;

	CHECK(usage_read("/proc/self/nothing", text, sizeof(text)) < 0);
	CHECK(usage_read("/proc/self/stat", text, 8) == 7 && strlen(text) == 7);
	if (usage_read("/proc/self/statm", text, sizeof(text)) <= 0)
		test_skip("/proc/self/statm");
	CHECK(usage_statm(text, &pages) && pages > 0);
	CHECK(usage_read("/proc/self/stat", text, sizeof(text)) > 0 && usage_stat(text, &stat));
	CHECK(stat.pages > 0 && stat.start_ticks > 0);
}

/* What one takes is measured, once there are many; never more than the kernel worked at all. */
TEST(host_usage_fault_time)
{
	int64_t ns;

	usage_faults_begin();
	CHECK_INT(usage_fault_time(0, SECOND, SECOND), -1);
	CHECK_INT(usage_fault_time(4999, SECOND, SECOND), -1);
	ns = usage_fault_time(100000, UINT64_C(1000) * SECOND, SECOND);
	CHECK(ns >= 100000 && ns % 100000 == 0);
	CHECK_INT(usage_fault_time(100000, 1000, SECOND), 1000);
	/* known from now on; the shortest of some measurements */
	ns = usage_fault_time(10, SECOND, SECOND);
	CHECK(ns >= 10);
	for (int i = 0; i < 10; i++) {
		int64_t next_ns = usage_fault_time(1000000, INT64_MAX, SECOND) / 100000;

		CHECK(next_ns <= ns && next_ns > 0);
		ns = next_ns;
	}
	CHECK_INT(usage_fault_time(0, SECOND, SECOND), 0);
	CHECK_INT(usage_fault_time(UINT64_MAX, SECOND, SECOND), -1);
	CHECK_INT(usage_fault_time((uint64_t)INT64_MAX, SECOND, SECOND), -1);
	usage_faults_begin();
	CHECK_INT(usage_fault_time(10, SECOND, SECOND), -1);
}
