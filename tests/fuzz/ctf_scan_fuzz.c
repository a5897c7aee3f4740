/* SPDX-License-Identifier: MIT */
/*
 * What a crash leaves of a recording: any metadata and any stream are looked
 * over without a fault, and what is called a whole packet lies in its file.
 * The input: metadata, the bytes "\n====\n", a stream.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/session/ctf_scan.h"
#include "tests/fuzz/fuzz.h"

static const char border[] = "\n====\n";
static char folder[64];

static void write_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
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
	const uint8_t *at = memmem(data, size, border, sizeof(border) - 1);
	size_t metadata = at ? (size_t)(at - data) : size;
	size_t rest = at ? size - metadata - (sizeof(border) - 1) : 0;
	struct ctf_trace trace;
	char path[128];

	check_metadata(data, metadata);
	/* In memory where that can be: it is made 20 000 times. */
	snprintf(folder, sizeof(folder), "%s/tftop-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	FUZZ_CHECK(mkdtemp(folder));
	write_file("metadata", data, metadata);
	write_file("events_0", at ? at + sizeof(border) - 1 : data, rest);
	ctf_scan(&trace, folder);
	FUZZ_CHECK(trace.n_streams <= 1);
	for (size_t i = 0; i < trace.n_streams; i++)
		check_stream(&trace.streams[i], rest);
	ctf_release(&trace);
	snprintf(path, sizeof(path), "%s/metadata", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/events_0", folder);
	unlink(path);
	rmdir(folder);
}

FUZZ_TARGET("ctf_scan", run);
