/* SPDX-License-Identifier: MIT */
/*
 * Looks over recorded CTF before babeltrace reads it: which packets are whole.
 *
 * A recording ends where a crash ended it: in the middle of a packet, with metadata that stops
 * inside a word, with files of which only the name reached the disk. babeltrace 2 reads nothing
 * of a trace with such a file. So every packet's header is checked here, and babeltrace is given
 * the whole packets.
 *
 * LTTng's index beside the streams says how many packets there should be, and until when; it is
 * not required.
 *
 * Understood (`known`) are packet headers and contexts of plain integers with magic number, UUID,
 * times and sizes, the same for all streams: LTTng's, and those that babeltrace writes. Other
 * traces are left to babeltrace as they are.
 *
 * Always true of a known trace: a listed packet lies within its file (except for padding at its
 * end) and has the trace's magic number and UUID, and its times do not run backwards. Packets of
 * a stream are in the order of its files.
 *
 * Complexity: one small read for each packet; after a damaged header, all bytes up to the next
 * good one. Threads: any, one at a time. Times: ticks of the trace's clock as nanoseconds.
 * Errors: short of memory is a trace without streams; files that cannot be opened are counted.
 */
#ifndef PROBES_SESSION_CTF_SCAN_H
#define PROBES_SESSION_CTF_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTF_LAYOUT_MAX 256u		/* bytes of header and context that are read */

struct ctf_packet {
	uint64_t offset;		/* in its file */
	uint64_t bytes;
	int64_t begin_ns, end_ns;
	uint32_t file;			/* index in the stream's files */
};

/* What is missing of a stream. */
struct ctf_damage {
	int64_t begin_ns, end_ns;	/* between which times; 0: unknown */
	uint64_t bytes;			/* present, but in no whole packet */
	uint64_t packets;		/* lost, as far as is known: 1 or more */
	bool tail;			/* nothing whole follows */
};

struct ctf_file {
	char *path;			/* owned */
	uint64_t bytes;
	bool whole;			/* nothing but whole packets */
	size_t n_packets;
};

struct ctf_stream {
	uint64_t id, instance;
	struct ctf_file *files;		/* owned */
	size_t n_files;
	struct ctf_packet *packets;	/* owned */
	size_t n_packets, cap_packets;
	struct ctf_damage *damages;	/* owned */
	size_t n_damages;
	uint64_t bytes;			/* of the packets */
};

/* Where a number lies at a packet's beginning. */
struct ctf_place {
	uint16_t offset;
	uint8_t bytes;			/* 0: there is none */
};

/* Where the numbers lie: in the packet's header, and in its context, which follows. */
struct ctf_layout {
	struct ctf_place magic, uuid, stream, instance;
	struct ctf_place begin, end, content, packet;
	uint16_t bytes;			/* of both */
};

struct ctf_trace {
	char *path;			/* owned: the folder */
	bool known;			/* the layout is understood: the rest is valid */
	struct ctf_layout layout;
	char *metadata;			/* owned: as text, whole declarations only, packed
					 * (ctf_pack.h); NULL: none */
	size_t metadata_bytes;
	uint64_t metadata_cut;		/* bytes that were cut at its end */
	int metadata_error;		/* why its file cannot be read; 0: it can */
	bool big_endian;
	uint8_t uuid[16];
	uint64_t frequency;		/* of the clock, Hz */
	struct ctf_stream *streams;	/* owned */
	size_t n_streams;
	uint64_t bytes;			/* of all files with events */
	size_t n_unreadable;		/* files, for want of a right or a good disk */
	int unreadable_error;		/* why the first one is */
};

void ctf_scan(struct ctf_trace *trace, const char *folder);
void ctf_release(struct ctf_trace *trace);

/* Finds the packets of one file. stream: all zero; freed by ctf_stream_release(). */
void ctf_scan_packets(const struct ctf_trace *trace, struct ctf_stream *stream, int fd,
		      uint64_t bytes);
void ctf_stream_release(struct ctf_stream *stream);

/* The text of metadata, in packets or plain, cut after its last whole declaration; NULL: there is
 * none. *cut: the bytes that were cut. */
char *ctf_metadata_text(const uint8_t *data, size_t size, size_t *text_size, uint64_t *cut);

#endif
