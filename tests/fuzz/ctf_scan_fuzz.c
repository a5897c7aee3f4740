/* SPDX-License-Identifier: MIT */
/*
 * Damaged recordings: any metadata and any stream are scanned without a fault, and each packet that
 * is reported as whole lies in its file. The input: metadata, the bytes "\n====\n", a stream.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/session/recording/ctf_metadata.h"
#include "probes/session/decode/ctf_pack.h"
#include "probes/session/recording/ctf_scan.h"
#include "tests/fuzz/fuzz.h"

static const char border[] = "\n====\n";

/* Metadata that has been packed cannot be packed further. */
static void check_pack(const char *text, size_t size)
{
	size_t once_size = 0, again_size = 0;
	char *once = ctf_pack(text, size, &once_size), *again;

	if (!once)
		return;
	again = ctf_pack(once, once_size, &again_size);
	FUZZ_CHECK(again && again_size == once_size && !memcmp(once, again, once_size));
	free(once);
	free(again);
}

static void check_metadata(const uint8_t *data, size_t size)
{
	size_t text_size = 0;
	uint64_t cut = 0;
	char *text = ctf_metadata_text(data, size, &text_size, &cut);

	if (!text)
		return;
	FUZZ_CHECK(text_size && text_size <= size + 1 && text[text_size - 1] == '\n');
	FUZZ_CHECK(!memchr(text, '\0', text_size));
	FUZZ_CHECK(cut <= size + 1);
	check_pack(text, text_size);
	free(text);
}

static void check_stream(const struct ctf_stream *stream, size_t size)
{
	uint64_t end = 0;

	for (size_t i = 0; i < stream->n_packets; i++) {
		const struct ctf_packet *packet = &stream->packets[i];

		FUZZ_CHECK(packet->file < stream->n_files);
		FUZZ_CHECK(packet->offset >= end && packet->offset < size && packet->bytes);
		FUZZ_CHECK(packet->begin_ns <= packet->end_ns);
		FUZZ_CHECK(!i || packet->begin_ns >= packet[-1].begin_ns);
		end = packet->offset + packet->bytes;
	}
	for (size_t i = 0; i < stream->n_damages; i++)
		FUZZ_CHECK(stream->damages[i].bytes <= size && stream->damages[i].packets);
}

static void run(const uint8_t *data, size_t size)
{
	static int file = -1;
	const uint8_t *at = memmem(data, size, border, sizeof(border) - 1);
	size_t metadata = at ? (size_t)(at - data) : size;
	size_t rest = at ? size - metadata - (sizeof(border) - 1) : 0;
	struct ctf_stream stream = { 0 };
	struct ctf_trace trace = { 0 };

	if (file < 0)
		file = memfd_create("stream", MFD_CLOEXEC);
	FUZZ_CHECK(file >= 0 && !ftruncate(file, (off_t)rest));
	FUZZ_CHECK(!rest || pwrite(file, at + sizeof(border) - 1, rest, 0) == (ssize_t)rest);
	check_metadata(data, metadata);
	ctf_metadata_take(&trace, data, metadata);
	if (trace.known)
		ctf_scan_packets(&trace, &stream, file, rest);
	check_stream(&stream, rest);
	ctf_stream_release(&stream);
	ctf_release(&trace);
}

FUZZ_TARGET("ctf_scan", run);
