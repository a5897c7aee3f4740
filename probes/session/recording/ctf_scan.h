/* SPDX-License-Identifier: MIT */
/*
 * Examines recorded CTF before babeltrace reads it: which packets are whole.
 *
 * A recording ends where a crash ended it: in the middle of a packet, with metadata that stops
 * inside a word, with files of which only the name reached the disk. babeltrace 2 reads nothing of
 * a trace with such a file. So every packet's header is checked here, and babeltrace is given only
 * whole packets.
 *
 * LTTng's index files say how many packets there should be, and until when; they are not required.
 *
 * Understood (`known`) are packet headers and contexts that consist of plain integers, with magic
 * number, UUID, times and sizes, the same for all streams: those of LTTng, and those that
 * babeltrace writes. Other traces are left to babeltrace as they are.
 *
 * Always true for a known trace: a listed packet lies within its file (except for padding at its
 * end) and has the trace's magic number and UUID, and its times do not go backwards. Packets of a
 * stream are in the order of its files.
 *
 * Complexity: one small read for each packet; after a damaged header, all bytes up to the next good
 * one. Threads: any, one at a time. Times: ticks of the trace's clock as nanoseconds. Errors: if
 * memory is short, the trace has no streams; files that cannot be opened are counted.
 */
#ifndef PROBES_SESSION_CTF_SCAN_H
#define PROBES_SESSION_CTF_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTF_LAYOUT_MAX 256u		/* maximum size of header and context that are read */

struct ctf_packet {
	uint64_t offset;		/* offset in its file */
	uint64_t bytes;
	int64_t begin_ns, end_ns;
	uint32_t file;			/* index in the stream's files */
};

/* What is missing from a stream. */
struct ctf_damage {
	int64_t begin_ns, end_ns;	/* the times between which it is missing; 0: unknown */
	uint64_t bytes;			/* bytes that are there, but in no whole packet */
	uint64_t packets;		/* packets that were lost, as far as is known: 1 or more */
	bool tail;			/* no whole packet follows */
};

struct ctf_file {
	char *path;			/* owned */
	uint64_t bytes;
	bool whole;			/* the file consists of whole packets only */
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
	uint64_t bytes;			/* bytes of the packets */
};

/* Where a number is at a packet's start. */
struct ctf_place {
	uint16_t offset;
	uint8_t bytes;			/* 0: the packet has no such number */
};

/* Where the numbers are: in the packet's header, and in its context, which follows. */
struct ctf_layout {
	struct ctf_place magic, uuid, stream, instance;
	struct ctf_place begin, end, content, packet;
	uint16_t bytes;			/* size of both together */
};

struct ctf_trace {
	char *path;			/* owned: the folder */
	bool known;	/* the layout is understood, and the other members are valid */
	struct ctf_layout layout;
	/* owned; text that consists of whole declarations, packed (ctf_pack.h); NULL: none */
	char *metadata;
	size_t metadata_bytes;
	uint64_t metadata_cut;		/* how many bytes were cut off its end */
	int metadata_error;		/* why its file cannot be read; 0: it can be read */
	bool big_endian;
	uint8_t uuid[16];
	uint64_t frequency;		/* frequency of the clock in Hz */
	struct ctf_stream *streams;	/* owned */
	size_t n_streams;
	uint64_t bytes;			/* size of all files with events */
	size_t n_unreadable;		/* files that may not be read, or that are on a bad disk */
	int unreadable_error;		/* errno for the first of them */
};

void ctf_scan(struct ctf_trace *trace, const char *folder);
void ctf_release(struct ctf_trace *trace);

/* Finds the packets of one file. stream: all zero; ctf_stream_release() frees it. */
void ctf_scan_packets(const struct ctf_trace *trace, struct ctf_stream *stream, int fd,
		      uint64_t bytes);
void ctf_stream_release(struct ctf_stream *stream);

/* The text of metadata, in packets or plain, cut after its last whole declaration; NULL: there is
 * none. *cut: how many bytes were cut off. */
char *ctf_metadata_text(const uint8_t *data, size_t size, size_t *text_size, uint64_t *cut);

#endif
