/* SPDX-License-Identifier: MIT */
/* model/util: how numbers are written and read. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/test.h"

TEST(util_times)
{
	char buf[FMT_MAX];

	CHECK_STR(fmt_time(buf, 0), "0 ns");
	CHECK_STR(fmt_time(buf, 850), "850 ns");
	CHECK_STR(fmt_time(buf, 6100), "6.10 µs");
	CHECK_STR(fmt_time(buf, 80600000), "80.6 ms");
	CHECK_STR(fmt_time(buf, 4260000000), "4.26 s");
	CHECK_STR(fmt_time(buf, 999), "999 ns");
	CHECK_STR(fmt_time(buf, 999499), "999 µs");
	CHECK_STR(fmt_time(buf, 999500), "1.00 ms");
	CHECK_STR(fmt_time(buf, 9995), "10.0 µs");
	CHECK_STR(fmt_time(buf, 187000000000), "3m07s");
	CHECK_STR(fmt_time(buf, 7500000000000), "2h05m");
	CHECK_STR(fmt_time(buf, -6100), "-6.10 µs");
	CHECK(strlen(fmt_time(buf, INT64_MIN)) > 0);
	CHECK(strlen(fmt_time(buf, INT64_MAX)) > 0);
	CHECK_STR(fmt_time_fine(buf, 13410000), "13.41 ms");
	CHECK_STR(fmt_clock(buf, 27923000000), "0:00:27.9");
	CHECK_STR(fmt_clock(buf, 3723000000000), "1:02:03.0");
}

TEST(util_numbers)
{
	char buf[FMT_MAX];

	CHECK_STR(fmt_count(buf, 51380224), "51 380 224");
	CHECK_STR(fmt_count(buf, 0), "0");
	CHECK_STR(fmt_count(buf, UINT64_MAX), "18 446 744 073 709 551 615");
	CHECK_STR(fmt_bytes(buf, 512), "512 B");
	CHECK_STR(fmt_bytes(buf, 40960), "40.0 KiB");
	CHECK_STR(fmt_bytes(buf, 1610612736), "1.50 GiB");
	CHECK(strlen(fmt_bytes(buf, UINT64_MAX)) > 0);
	CHECK_STR(fmt_all_bytes(buf, 51380224), "51 380 224 bytes");
	CHECK_STR(fmt_all_bytes(buf, 1), "1 byte");
	CHECK_STR(fmt_tenths(buf, 0), "0.0");
	CHECK_STR(fmt_tenths(buf, 1234), "123.4");
	CHECK_STR(fmt_gflop(buf, 0), "0.0");
	CHECK_STR(fmt_gflop(buf, 1), "<0.1");
	CHECK_STR(fmt_gflop(buf, 1234 * UINT64_C(100000000)), "123.4");
	CHECK_INT(bytes_per_s(3, 2), 1500000000);
	CHECK_INT(bytes_per_s(3, 0), 0);
	CHECK(bytes_per_s(UINT64_MAX, 1) == UINT64_MAX);
	CHECK(bytes_per_s(UINT64_MAX, 1000000000) == UINT64_MAX);
	CHECK_STR(fmt_rate(buf, 12500000000), "12.5 GB/s");
	CHECK_STR(fmt_rate(buf, 12), "12 B/s");
	CHECK_STR(fmt_share(buf, 26, 100), "26 %");
	CHECK_STR(fmt_share(buf, 20457, 100000), "20 %");
	CHECK_STR(fmt_share(buf, 9, 1000), "0.9 %");
	CHECK_STR(fmt_share(buf, 1, 1000000), "<0.1 %");
	CHECK_STR(fmt_share(buf, 0, 1000000), "0.0 %");
	CHECK_STR(fmt_share(buf, 1, 0), "-");
	CHECK_STR(fmt_share(buf, UINT64_MAX, UINT64_MAX), "100 %");
}

TEST(util_reading)
{
	int64_t ns;
	uint64_t bytes;

	CHECK(parse_time_ns("250ns", &ns) && ns == 250);
	CHECK(parse_time_ns("3.5ms", &ns) && ns == 3500000);
	CHECK(parse_time_ns("1m", &ns) && ns == 60000000000);
	CHECK(parse_time_ns("2", &ns) && ns == 2000000000);
	CHECK(!parse_time_ns("", &ns) && !parse_time_ns("ms", &ns) && !parse_time_ns("1 s", &ns));
	CHECK(!parse_time_ns("-1s", &ns) && !parse_time_ns("1sx", &ns));
	CHECK(!parse_time_ns("99999999999999999999s", &ns) && !parse_time_ns("9999999999h", &ns));
	CHECK(parse_size_bytes("512M", &bytes) && bytes == 512u << 20);
	CHECK(parse_size_bytes("4k", &bytes) && bytes == 4096);
	CHECK(parse_size_bytes("1.5G", &bytes) && bytes == 3u << 29);
	CHECK(!parse_size_bytes("4kb", &bytes) && !parse_size_bytes(".", &bytes));
}

TEST(util_strbuf)
{
	struct strbuf buf;
	char *text;

	strbuf_init(&buf);
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&buf, "%d,", i);
	CHECK_INT(buf.length, 3890);
	CHECK(strncmp(buf.data, "0,1,2,", 6) == 0);
	text = strbuf_detach(&buf);
	CHECK_INT(strlen(text), 3890);
	CHECK_INT(buf.length, 0);
	strbuf_addc(&buf, 'x');
	strbuf_adds(&buf, "yz");
	CHECK_STR(buf.data, "xyz");
	free(text);
	strbuf_release(&buf);
	text = xasprintf("%s-%0300d", "a", 7);
	CHECK_INT(strlen(text), 302);
	free(text);
}

TEST(one_and_many)
{
	char text[FMT_MAX];

	CHECK_STR(fmt_many(text, 1, "error"), "1 error");
	CHECK_STR(fmt_many(text, 0, "error"), "0 errors");
	CHECK_STR(fmt_many(text, 2, "exact link"), "2 exact links");
	CHECK_STR(fmt_many(text, 12345, "copy"), "12 345 copies");
	CHECK_STR(fmt_many(text, 3, "key"), "3 keys");
	CHECK_STR(fmt_many(text, 3, "process"), "3 processes");
	CHECK_STR(fmt_many(text, 3, "launch"), "3 launches");
	CHECK_STR(fmt_many(text, 1, "launch"), "1 launch");
	CHECK_STR(fmt_many(text, UINT64_MAX, "launched command"),
		  "18 446 744 073 709 551 615 launched commands");
}
