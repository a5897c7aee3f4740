/* SPDX-License-Identifier: MIT */
/* The packets of recorded streams: which are undamaged, and what lies between them. */
#include "probes/session/recording/ctf_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/session/recording/ctf_metadata.h"

#define FILES_MAX 65536u		/* in one trace */
#define WINDOW 65536u			/* bytes that are searched for the next packet at a time */
#define MAGIC 0xc1fc1fc1u
#define INDEX_MAGIC 0xc1f1dcc1u
#define INDEX_HEADER 16u
#define INDEX_ENTRY_MIN 40u		/* enough for the time of the end */

struct packet_header {
	uint64_t id, instance, packet_bytes;
	int64_t begin_ns, end_ns;
};

/* ---- one header ---- */

static uint64_t read_number(const uint8_t *from, unsigned int bytes, bool big)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * (big ? bytes - 1 - i : i);
	return value;
}

static int64_t to_ns(const struct ctf_trace *trace, uint64_t ticks)
{
	unsigned __int128 ns = ticks;

	if (trace->frequency && trace->frequency != 1000000000)
		ns = ns * 1000000000u / trace->frequency;
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static uint64_t at_place(const uint8_t *raw, const struct ctf_place *place, bool big)
{
	return read_number(raw + place->offset, place->bytes, big);
}

/* Whether a packet's header is at offset, and its content within the file. */
static bool read_packet_header(const struct ctf_trace *trace, int fd, uint64_t offset,
			       uint64_t file_bytes, struct packet_header *out)
{
	const struct ctf_layout *layout = &trace->layout;
	uint64_t content, packet, room = file_bytes - offset;
	uint8_t raw[CTF_LAYOUT_MAX];
	bool big = trace->big_endian;

	if (room < layout->bytes ||
	    pread(fd, raw, layout->bytes, (off_t)offset) != (ssize_t)layout->bytes)
		return false;
	if (at_place(raw, &layout->magic, big) != MAGIC ||
	    memcmp(raw + layout->uuid.offset, trace->uuid, 16))
		return false;
	out->id = at_place(raw, &layout->stream, big);
	out->instance = at_place(raw, &layout->instance, big);
	content = at_place(raw, &layout->content, big);
	packet = at_place(raw, &layout->packet, big);
	if (packet % 8 || content > packet || content / 8 < layout->bytes ||
	    (content + 7) / 8 > room || packet / 8 > UINT32_MAX)
		return false;
	out->packet_bytes = packet / 8;
	out->begin_ns = to_ns(trace, at_place(raw, &layout->begin, big));
	out->end_ns = to_ns(trace, at_place(raw, &layout->end, big));
	return out->begin_ns <= out->end_ns;
}

/* ---- one file ---- */

static bool add_packet(struct ctf_stream *stream, const struct packet_header *header,
		       uint64_t offset)
{
	struct ctf_packet *packets = stream->packets;

	if (stream->n_packets == stream->cap_packets) {
		size_t cap = stream->cap_packets ? stream->cap_packets * 2 : 16;

		packets = reallocarray(packets, cap, sizeof(*packets));
		if (!packets)
			return false;
		stream->packets = packets;
		stream->cap_packets = cap;
	}
	packets[stream->n_packets++] = (struct ctf_packet){
		.offset = offset, .bytes = header->packet_bytes,
		.begin_ns = header->begin_ns, .end_ns = header->end_ns,
	};
	stream->bytes += header->packet_bytes;
	return true;
}

static void add_damage(struct ctf_stream *stream, const struct ctf_damage *damage)
{
	struct ctf_damage *damages = reallocarray(stream->damages, stream->n_damages + 1,
						  sizeof(*damages));

	if (!damages)
		return;
	stream->damages = damages;
	damages[stream->n_damages++] = *damage;
}

/* Where the next valid header of this stream is; file_bytes: there is none. */
static uint64_t find_next_packet(const struct ctf_trace *trace, const struct ctf_stream *stream,
				 int fd, uint64_t offset, uint64_t file_bytes)
{
	uint8_t window[WINDOW], mark[20];
	struct packet_header header;

	for (unsigned int i = 0; i < 4; i++)
		mark[i] = (uint8_t)(MAGIC >> 8 * (trace->big_endian ? 3 - i : i));
	memcpy(mark + 4, trace->uuid, 16);
	for (uint64_t at = offset + 1; at < file_bytes; at += WINDOW - sizeof(mark)) {
		ssize_t size = pread(fd, window, sizeof(window), (off_t)at);
		const uint8_t *found = window;

		for (; size > 0 && (found = memmem(found, (size_t)(window + size - found), mark,
						   sizeof(mark))); found++) {
			uint64_t place = at + (uint64_t)(found - window);

			if (read_packet_header(trace, fd, place, file_bytes, &header) &&
			    (!stream->n_packets || (header.id == stream->id &&
						    header.instance == stream->instance)))
				return place;
		}
	}
	return file_bytes;
}

/* Whether the packet fits here in the order of time. */
static bool packet_follows(const struct ctf_stream *stream, const struct packet_header *header)
{
	if (!stream->n_packets)
		return true;
	return header->id == stream->id && header->instance == stream->instance &&
	       header->begin_ns >= stream->packets[stream->n_packets - 1].begin_ns;
}

void ctf_scan_packets(const struct ctf_trace *trace, struct ctf_stream *stream, int fd,
		      uint64_t bytes)
{
	struct ctf_file *file;
	uint64_t offset = 0;

	stream->files = calloc(1, sizeof(*stream->files));
	if (!stream->files)
		return;
	stream->n_files = 1;
	file = &stream->files[0];
	file->bytes = bytes;
	file->whole = true;
	while (offset < file->bytes) {
		struct ctf_damage damage = { 0 };
		struct packet_header header;

		if (read_packet_header(trace, fd, offset, file->bytes, &header) &&
		    packet_follows(stream, &header)) {
			stream->id = header.id;
			stream->instance = header.instance;
			if (!add_packet(stream, &header, offset))
				return;
			file->n_packets++;
			offset += header.packet_bytes;
			file->whole &= offset <= file->bytes;
			continue;
		}
		damage.bytes = offset;
		damage.packets = 1;
		if (stream->n_packets)
			damage.begin_ns = stream->packets[stream->n_packets - 1].end_ns;
		offset = find_next_packet(trace, stream, fd, offset, file->bytes);
		damage.bytes = offset - damage.bytes;
		damage.tail = offset >= file->bytes;
		damage.end_ns = damage.begin_ns;
		if (!damage.tail && read_packet_header(trace, fd, offset, file->bytes, &header))
			damage.end_ns = header.begin_ns;
		add_damage(stream, &damage);
		file->whole = false;
	}
}

/* ---- the index of a file ---- */

/* How many packets were written, and until when; 0: no index. */
static uint64_t read_index(const struct ctf_trace *trace, int folder, const char *name,
			   int64_t *end_ns)
{
	uint8_t header[INDEX_HEADER], entry[INDEX_ENTRY_MIN];
	uint64_t count = 0, size;
	char path[300];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "index/%s.idx", name);
	fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    pread(fd, header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	    read_number(header, 4, true) == INDEX_MAGIC) {
		size = read_number(header + 12, 4, true);
		if (size >= INDEX_ENTRY_MIN)
			count = ((uint64_t)st.st_size - INDEX_HEADER) / size;
		if (count &&
		    pread(fd, entry, sizeof(entry), (off_t)(INDEX_HEADER + (count - 1) * size)) ==
			    (ssize_t)sizeof(entry))
			*end_ns = to_ns(trace, read_number(entry + 32, 8, true));
	}
	close(fd);
	return count;
}

/* Packets that are in the index but not in the file were cut off. */
static void compare_index(const struct ctf_trace *trace, struct ctf_stream *stream, int folder,
			  const char *name)
{
	struct ctf_damage *last = stream->n_damages ? &stream->damages[stream->n_damages - 1] :
						      NULL;
	uint64_t known = stream->n_packets, indexed;
	struct ctf_damage tail = { .tail = true };
	int64_t end_ns = 0;

	indexed = read_index(trace, folder, name, &end_ns);
	for (size_t i = 0; i < stream->n_damages; i++)
		known += stream->damages[i].packets;
	if (indexed <= known)
		return;
	if (!last || !last->tail) {
		if (stream->n_packets)
			tail.begin_ns = tail.end_ns = stream->packets[stream->n_packets - 1].end_ns;
		add_damage(stream, &tail);
		if (!stream->n_damages)
			return;
		last = &stream->damages[stream->n_damages - 1];
	}
	last->packets += indexed - known;
	if (end_ns > last->end_ns)
		last->end_ns = end_ns;
}

void ctf_stream_release(struct ctf_stream *stream)
{
	for (size_t i = 0; i < stream->n_files; i++)
		free(stream->files[i].path);
	free(stream->files);
	free(stream->packets);
	free(stream->damages);
}

/* ---- the streams of a trace ---- */

/* Joins the files of one stream (LTTng starts a new file at a certain size). */
static bool join_stream_files(struct ctf_stream *to, struct ctf_stream *from)
{
	struct ctf_file *files = reallocarray(to->files, to->n_files + 1, sizeof(*files));
	struct ctf_packet *packets;

	if (!files)
		return false;
	to->files = files;
	packets = reallocarray(to->packets, to->n_packets + from->n_packets + 1, sizeof(*packets));
	if (!packets)
		return false;
	to->packets = packets;
	to->cap_packets = to->n_packets + from->n_packets + 1;
	for (size_t i = 0; i < from->n_packets; i++) {
		from->packets[i].file = (uint32_t)to->n_files;
		packets[to->n_packets++] = from->packets[i];
	}
	for (size_t i = 0; i < from->n_damages; i++)
		add_damage(to, &from->damages[i]);
	to->files[to->n_files++] = from->files[0];
	to->bytes += from->bytes;
	free(from->files);
	free(from->packets);
	free(from->damages);
	return true;
}

static void add_scanned_stream(struct ctf_trace *trace, struct ctf_stream *stream)
{
	struct ctf_stream *streams;

	/* Without a number for it, each file is a stream. */
	for (size_t i = 0; stream->n_packets && trace->layout.instance.bytes &&
	     i < trace->n_streams; i++) {
		struct ctf_stream *other = &trace->streams[i];

		if (other->n_packets && other->id == stream->id &&
		    other->instance == stream->instance) {
			if (!join_stream_files(other, stream))
				ctf_stream_release(stream);
			return;
		}
	}
	streams = reallocarray(trace->streams, trace->n_streams + 1, sizeof(*streams));
	if (!streams) {
		ctf_stream_release(stream);
		return;
	}
	trace->streams = streams;
	streams[trace->n_streams++] = *stream;
}

static int by_time(const void *a, const void *b)
{
	const struct ctf_packet *left = a, *right = b;

	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void scan_file(struct ctf_trace *trace, int folder, const char *name)
{
	struct ctf_stream stream = { 0 };
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno != ENOENT && errno != ENXIO && !trace->n_unreadable++)
		trace->unreadable_error = errno;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto out;
	trace->bytes += (uint64_t)st.st_size;
	ctf_scan_packets(trace, &stream, fd, (uint64_t)st.st_size);
	if (!stream.n_files || asprintf(&stream.files[0].path, "%s/%s", trace->path, name) < 0) {
		if (stream.n_files)
			stream.files[0].path = NULL;
		ctf_stream_release(&stream);
		goto out;
	}
	compare_index(trace, &stream, folder, name);
	add_scanned_stream(trace, &stream);
out:
	if (fd >= 0)
		close(fd);
}

/* Files of which only the index is left. */
static void scan_missing(struct ctf_trace *trace, int folder)
{
	const struct dirent *entry;
	int index = openat(folder, "index", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	DIR *dir = index >= 0 ? fdopendir(index) : NULL;

	if (!dir && index >= 0)
		close(index);
	while (dir && (entry = readdir(dir)) && trace->n_streams < FILES_MAX) {
		struct ctf_stream stream = { 0 };
		size_t length = strlen(entry->d_name);
		char name[256];

		if (length < 5 || length > 255 || strcmp(entry->d_name + length - 4, ".idx"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)length - 4, entry->d_name);
		if (!faccessat(folder, name, F_OK, 0))
			continue;
		compare_index(trace, &stream, folder, name);
		if (stream.n_damages)
			add_scanned_stream(trace, &stream);
	}
	if (dir)
		closedir(dir);
}

static bool is_stream_name(const char *name)
{
	return name[0] != '.' && strcmp(name, "metadata");
}

void ctf_scan(struct ctf_trace *trace, const char *folder)
{
	const struct dirent *entry;
	unsigned int files = 0;
	DIR *dir;

	memset(trace, 0, sizeof(*trace));
	trace->path = realpath(folder, NULL);
	if (!trace->path)
		trace->path = strdup(folder);
	if (!trace->path)
		return;
	ctf_metadata_read(trace);
	dir = trace->known ? opendir(trace->path) : NULL;
	while (dir && (entry = readdir(dir)) && files < FILES_MAX) {
		if (is_stream_name(entry->d_name)) {
			scan_file(trace, dirfd(dir), entry->d_name);
			files++;
		}
	}
	if (dir) {
		scan_missing(trace, dirfd(dir));
		closedir(dir);
	}
	for (size_t i = 0; i < trace->n_streams; i++)
		if (trace->streams[i].n_files > 1)
			qsort(trace->streams[i].packets, trace->streams[i].n_packets,
			      sizeof(struct ctf_packet), by_time);
}

void ctf_release(struct ctf_trace *trace)
{
	for (size_t i = 0; i < trace->n_streams; i++)
		ctf_stream_release(&trace->streams[i]);
	free(trace->streams);
	free(trace->metadata);
	free(trace->path);
	memset(trace, 0, sizeof(*trace));
}
