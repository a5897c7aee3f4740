/* SPDX-License-Identifier: MIT */
/* Which packets of a recorded stream are whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/session/recording/ctf_metadata.h"
#include "probes/session/recording/ctf_scan.h"
#include "tests/unit/test.h"

#define PACKET 160u
#define PACKETS 5u

static const char lttng[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 64; align = 8; signed = false; } := unsigned long;\n"
	"trace {\n\tuuid = \"00010203-0405-0607-0809-0a0b0c0d0e0f\";\n\tbyte_order = le;\n"
	"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t  uuid[16];\n"
	"\t\tuint32_t stream_id;\n\t\tuint64_t stream_instance_id;\n\t};\n};\n"
	"clock { freq = 1000000000; /* Hz; */ };\n"
	"struct packet_context {\n\tuint64_clock_monotonic_t timestamp_begin;\n"
	"\tuint64_clock_monotonic_t timestamp_end;\n\tuint64_t content_size;\n"
	"\tuint64_t packet_size;\n\tuint64_t packet_seq_num;\n"
	"\tunsigned long events_discarded;\n\tuint32_t cpu_id;\n};\n";

static void put(uint8_t *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static void make_packet(uint8_t *to, unsigned int n)
{
	memset(to, 0xee, PACKET);
	put(to, 0xc1fc1fc1, 4);
	for (unsigned int i = 0; i < 16; i++)
		to[4 + i] = (uint8_t)i;
	put(to + 20, 1, 4);
	put(to + 24, 7, 8);
	put(to + 32, 1000 + n * 100, 8);
	put(to + 40, 1090 + n * 100, 8);
	put(to + 48, 120 * 8, 8);
	put(to + 56, PACKET * 8, 8);
}

struct made {
	uint8_t data[PACKET * PACKETS];
	struct ctf_trace trace;
	struct ctf_stream stream;
	int fd;
};

static void make(struct made *made)
{
	memset(made, 0, sizeof(*made));
	for (unsigned int i = 0; i < PACKETS; i++)
		make_packet(made->data + i * PACKET, i);
	ctf_metadata_take(&made->trace, (const uint8_t *)lttng, sizeof(lttng) - 1);
	CHECK(made->trace.known);
	CHECK_INT(made->trace.layout.bytes, 84);
	CHECK_INT(made->trace.metadata_cut, 0);
	made->fd = memfd_create("stream", MFD_CLOEXEC);
}

static void scan(struct made *made, size_t size)
{
	ctf_stream_release(&made->stream);
	memset(&made->stream, 0, sizeof(made->stream));
	CHECK(!ftruncate(made->fd, 0));
	CHECK(pwrite(made->fd, made->data, size, 0) == (ssize_t)size);
	ctf_scan_packets(&made->trace, &made->stream, made->fd, size);
}

static void end(struct made *made)
{
	ctf_stream_release(&made->stream);
	ctf_release(&made->trace);
	close(made->fd);
}

TEST(ctf_scan_cut_at_every_byte)
{
	struct made made;

	make(&made);
	for (size_t size = 0; size <= sizeof(made.data); size++) {
		/* Padding need not be there. */
		size_t whole = size / PACKET + (size % PACKET >= 120);
		bool torn = size % PACKET && size % PACKET < 120;

		scan(&made, size);
		CHECK_INT(made.stream.n_packets, whole);
		CHECK_INT(made.stream.n_damages, torn);
		CHECK(made.stream.files[0].whole == (size % PACKET == 0));
		if (torn) {
			CHECK(made.stream.damages[0].tail);
			CHECK_INT(made.stream.damages[0].bytes, size % PACKET);
			CHECK_INT(made.stream.damages[0].begin_ns,
				  whole ? 1090 + ((int)whole - 1) * 100 : 0);
		}
	}
	end(&made);
}

/* A damaged header costs its packet and no other. */
TEST(ctf_scan_damaged_header)
{
	struct made made;

	for (unsigned int n = 0; n < PACKETS; n++)
		for (unsigned int at = 0; at < 20; at++) {
			make(&made);
			made.data[n * PACKET + at] ^= 0x10;
			scan(&made, sizeof(made.data));
			CHECK_INT(made.stream.n_packets, PACKETS - 1);
			CHECK_INT(made.stream.n_damages, 1);
			CHECK_INT(made.stream.damages[0].bytes, PACKET);
			CHECK(made.stream.damages[0].tail == (n == PACKETS - 1));
			if (n && n < PACKETS - 1) {
				CHECK_INT(made.stream.damages[0].begin_ns, 990 + n * 100);
				CHECK_INT(made.stream.damages[0].end_ns, 1100 + n * 100);
			}
			end(&made);
		}
}

/* A size that leads elsewhere is noticed at the place it leads to. */
TEST(ctf_scan_wrong_size)
{
	struct made made;

	make(&made);
	put(made.data + PACKET + 56, (PACKET + 24) * 8, 8);
	scan(&made, sizeof(made.data));
	CHECK_INT(made.stream.n_packets, PACKETS - 1);
	CHECK_INT(made.stream.n_damages, 1);
	for (size_t i = 1; i < made.stream.n_packets; i++)
		CHECK(made.stream.packets[i].offset >=
		      made.stream.packets[i - 1].offset + made.stream.packets[i - 1].bytes);
	end(&made);
}

TEST(ctf_metadata_whole_declarations)
{
	static const char *const texts[][2] = {
		{ "/* CTF 1.8 */\na { x; };\nb { y", "/* CTF 1.8 */\na { x; };\n" },
		{ "/* CTF 1.8 */\na { s = \"};\"; };\nb", "/* CTF 1.8 */\na { s = \"};\"; };\n" },
		{ "/* CTF 1.8 */\na { x; };\n/* }; ", "/* CTF 1.8 */\na { x; };\n" },
		{ "/* CTF 1.8 */\na { x; };\n\n", "/* CTF 1.8 */\na { x; };\n" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint64_t cut;
		size_t size;
		char *text = ctf_metadata_text((const uint8_t *)texts[i][0], strlen(texts[i][0]),
					       &size, &cut);

		CHECK(text && size == strlen(texts[i][1]) && !memcmp(text, texts[i][1], size));
		CHECK((cut > 0) == (i < 3));
		free(text);
	}
}
