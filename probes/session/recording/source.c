/* SPDX-License-Identifier: MIT */
#include "probes/session/recording/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/session/decode/graph.h"

#define FAILURES_MAX 64u
#define WINDOW 64u	/* how many packets the graph gets at once after a failure */
#define MARGIN 64u			/* how many events one run of a graph may bring at most */
#define FILES_MAX 64u	/* how many pieces are cut out of one window; the rest comes later */
#define PATH_SIZE 512

struct stream_source {
	struct source_options options;
	char folder[PATH_SIZE];		/* folder of links; "": not made */
	int metadata_fd;		/* owned; file with the text of the metadata */
	int fds[FILES_MAX];		/* owned; files with the pieces that were cut out */
	size_t n_fds, n_links;
	bt_graph *graph;		/* owned */
	struct decode *decode;		/* owned */
	size_t first, end;		/* the packets that the graph gets */
	uint64_t begun;			/* packets that were begun before this graph */
	size_t counted;			/* packets that are included in bytes_done */
	bool opened;			/* for a source without a stream, which is opened once */
	unsigned int failures;
	_Atomic uint64_t bytes_done;
	struct source_end what;
};

struct stream_source *source_new(const struct source_options *options)
{
	struct stream_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->options = *options;
	source->metadata_fd = -1;
	source->decode = decode_new_stream(options->host, options->room);
	if (source->decode)
		return source;
	free(source);
	return NULL;
}

/* ---- the folder of links ---- */

static void clear_folder(struct stream_source *source)
{
	char path[PATH_SIZE + 32];

	for (size_t i = 0; i < source->n_links; i++) {
		snprintf(path, sizeof(path), "%s/s%zu", source->folder, i);
		unlink(path);
	}
	for (size_t i = 0; i < source->n_fds; i++)
		close(source->fds[i]);
	source->n_links = source->n_fds = 0;
}

static void remove_folder(struct stream_source *source)
{
	char path[PATH_SIZE + 32];

	if (!source->folder[0])
		return;
	clear_folder(source);
	snprintf(path, sizeof(path), "%s/metadata", source->folder);
	unlink(path);
	rmdir(source->folder);
	source->folder[0] = '\0';
}

static bool link_descriptor(int fd, const char *path)
{
	char target[64];

	snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
	return symlink(target, path) == 0;
}

/* With an unknown layout all streams are taken as they are. */
static bool link_all(struct stream_source *source)
{
	const struct ctf_trace *trace = source->options.trace;
	char path[PATH_SIZE + 32], *original;
	const struct dirent *entry;
	DIR *dir = opendir(trace->path);
	bool good = dir != NULL;

	while (good && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "metadata") ||
		    !strcmp(entry->d_name, "index") || entry->d_type == DT_FIFO)
			continue;
		snprintf(path, sizeof(path), "%s/s%zu", source->folder, source->n_links);
		good = asprintf(&original, "%s/%s", trace->path, entry->d_name) >= 0;
		if (good) {
			good = symlink(original, path) == 0;
			source->n_links += good;
			free(original);
		}
	}
	if (dir)
		closedir(dir);
	return good;
}

/* babeltrace may loop on damaged metadata in packets, so it gets the plain text. */
static bool make_link_folder(struct stream_source *source)
{
	const struct ctf_trace *trace = source->options.trace;
	char path[PATH_SIZE + 32];

	snprintf(source->folder, sizeof(source->folder), "%s/%u", source->options.dir,
		 source->options.number);
	if (mkdir(source->folder, 0700)) {
		source->folder[0] = '\0';
		return false;
	}
	snprintf(path, sizeof(path), "%s/metadata", source->folder);
	source->metadata_fd = memfd_create("metadata", MFD_CLOEXEC);
	return source->metadata_fd >= 0 &&
	       write_all(source->metadata_fd, trace->metadata, trace->metadata_bytes) &&
	       link_descriptor(source->metadata_fd, path) &&
	       (source->options.stream || link_all(source));
}

/* An unnamed temporary file, on a disk if there is one. */
static int make_nameless(void)
{
	const char *bases[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };

	for (size_t i = 0; i < 3; i++) {
		char path[PATH_SIZE];
		int fd;

		if (!bases[i] || !bases[i][0])
			continue;
		snprintf(path, sizeof(path), "%s/tftop-packets-XXXXXX", bases[i]);
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0) {
			unlink(path);
			return fd;
		}
	}
	return -1;
}

/* Appends bytes of a file; what the file does not have (padding) is zero. */
static bool append_bytes(int to, uint64_t *at, int from, uint64_t offset, uint64_t bytes)
{
	uint64_t left = bytes;
	loff_t in = (loff_t)offset, out = (loff_t)*at;
	char buffer[65536];

	while (left) {
		ssize_t done = copy_file_range(from, &in, to, &out, left, 0);

		if (done > 0) {
			left -= (uint64_t)done;
			continue;
		}
		/* Not possible between these file systems: copy. */
		done = pread(from, buffer, left < sizeof(buffer) ? left : sizeof(buffer), in);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 || (done > 0 && pwrite(to, buffer, (size_t)done, out) != done))
			return false;
		if (!done)
			break;
		in += done;
		out += done;
		left -= (uint64_t)done;
	}
	*at += bytes;
	return ftruncate(to, (off_t)*at) == 0;
}

/* Packets [first, end), all of one file. */
static bool add_packets(struct stream_source *source, size_t first, size_t end)
{
	const struct ctf_stream *stream = source->options.stream;
	const struct ctf_packet *packets = stream->packets;
	const struct ctf_file *file = &stream->files[packets[first].file];
	char path[PATH_SIZE + 32];
	uint64_t used = 0;
	bool good = true;
	int from, to;

	snprintf(path, sizeof(path), "%s/s%zu", source->folder, source->n_links);
	if (file->whole && end - first == file->n_packets) {
		good = symlink(file->path, path) == 0;
		source->n_links += good;
		return good;
	}
	from = open(file->path, O_RDONLY | O_CLOEXEC);
	to = make_nameless();
	for (size_t i = first; good && i < end; i++)
		good = from >= 0 && to >= 0 &&
			append_bytes(to, &used, from, packets[i].offset, packets[i].bytes);
	if (from >= 0)
		close(from);
	good = good && link_descriptor(to, path);
	if (!good) {
		if (to >= 0)
			close(to);
		return false;
	}
	source->fds[source->n_fds++] = to;
	source->n_links++;
	return true;
}

/* Shows babeltrace the packets from `first` on, up to `end`. */
static bool fill_folder(struct stream_source *source)
{
	const struct ctf_stream *stream = source->options.stream;

	clear_folder(source);
	for (size_t i = source->first, next; i < source->end; i = next) {
		if (source->n_fds == FILES_MAX) {
			source->end = i;
			break;
		}
		for (next = i + 1; next < source->end; next++)
			if (stream->packets[next].file != stream->packets[i].file)
				break;
		if (!add_packets(source, i, next))
			return false;
	}
	return true;
}

/* ---- running ---- */

/* babeltrace delivers 15 at once, for which there is room, see MARGIN. */
static void take(void *arg, const bt_message *message)
{
	struct stream_source *source = arg;

	decode_message(source->decode, message);
}

static graph_status consume(bt_message_iterator *iterator, void *arg)
{
	return graph_each(iterator, take, arg);
}

static void source_complain(struct stream_source *source, const char *error)
{
	if (!source->what.error[0])
		snprintf(source->what.error, sizeof(source->what.error), "%s", error);
}

static void close_graph(struct stream_source *source)
{
	graph_free(source->graph);
	source->graph = NULL;
}

static bool build_graph(struct stream_source *source)
{
	char error[512];

	source->graph = graph_build_stream(source->folder, consume, source, error, sizeof(error));
	if (!source->graph)
		source_complain(source, error);
	source->begun = decode_counts(source->decode)->packets_begun;
	return source->graph != NULL;
}

static bool build(struct stream_source *source)
{
	if (!source->folder[0] && !make_link_folder(source)) {
		source_complain(source, "cannot create a folder of links");
		remove_folder(source);
		return false;
	}
	if (source->options.stream && !fill_folder(source)) {
		source_complain(source, "cannot copy the undamaged packets");
		return false;
	}
	return build_graph(source);
}

/* The packets from `first` on are lost, and nothing follows. */
static void give_up(struct stream_source *source, size_t first)
{
	const struct ctf_stream *stream = source->options.stream;

	source->what.unread = true;
	if (stream && first < stream->n_packets)
		decode_lost(source->decode, stream->packets[first].begin_ns,
			    stream->packets[stream->n_packets - 1].end_ns,
			    stream->n_packets - first, true);
}

/* After a failure: whether babeltrace accepts the metadata without any stream. */
static bool is_described(struct stream_source *source)
{
	clear_folder(source);
	if (!source->folder[0])
		return true;		/* the cause is another one */
	if (build_graph(source)) {
		close_graph(source);
		return true;
	}
	snprintf(source->what.error, sizeof(source->what.error),
		 "babeltrace does not accept the description of the trace: it is damaged, or of an "
		 "unknown kind");
	return false;
}

/* Opens the next graph; false: everything has been read. */
static bool open_next(struct stream_source *source)
{
	const struct ctf_stream *stream = source->options.stream;

	if (!stream) {
		if (source->opened)
			return false;
		source->opened = true;
		if (build(source))
			return true;
		source->what.unread = true;
		is_described(source);
		return false;
	}
	while (source->first < stream->n_packets && !source->what.unread) {
		source->end = stream->n_packets;
		if (source->failures && source->end - source->first > WINDOW)
			source->end = source->first + WINDOW;
		if (build(source))
			return true;
		if (!source->failures && !is_described(source)) {
			give_up(source, source->first);
			break;
		}
		/* First try smaller pieces, then leave them out. */
		if (++source->failures > 1) {
			source->what.bad_packets += source->end - source->first;
			decode_lost(source->decode, stream->packets[source->first].begin_ns,
				    stream->packets[source->end - 1].end_ns,
				    source->end - source->first, true);
			source->first = source->end;
		}
		if (source->failures > FAILURES_MAX)
			give_up(source, source->first);
	}
	return false;
}

/* The packet that babeltrace was reading is lost; continues after it. */
static void skip_packet(struct stream_source *source)
{
	const struct ctf_stream *stream = source->options.stream;
	uint64_t begun = decode_counts(source->decode)->packets_begun - source->begun;
	size_t bad = source->first + (begun ? (size_t)begun - 1 : 0);
	char error[512];

	graph_take_error(error, sizeof(error), "a packet is damaged");
	source_complain(source, error);
	close_graph(source);
	if (!stream || ++source->failures > FAILURES_MAX || bad >= stream->n_packets) {
		give_up(source, bad);
		return;
	}
	if (!source->what.bad_packets++)
		source->what.bad_ns = stream->packets[bad].begin_ns;
	decode_lost(source->decode, stream->packets[bad].begin_ns, stream->packets[bad].end_ns, 1,
		    true);
	source->first = bad + 1;
}

static void count_bytes(struct stream_source *source)
{
	const struct ctf_stream *stream = source->options.stream;
	uint64_t done = source->bytes_done;
	size_t to;

	if (!stream)
		return;
	to = source->first;
	if (source->graph)
		to += (size_t)(decode_counts(source->decode)->packets_begun - source->begun);
	for (; source->counted < to && source->counted < stream->n_packets; source->counted++)
		done += stream->packets[source->counted].bytes;
	atomic_store_explicit(&source->bytes_done, done, memory_order_relaxed);
}

/* For some damage babeltrace's plug-in returns success with an error pending, and aborts at the
 * next call. */
static bool left_error(void)
{
	const bt_error *error = bt_current_thread_take_error();

	if (error)
		bt_current_thread_move_error(error);
	return error != NULL;
}

/* Runs until the batch is full; false: the end. */
static bool fill_batch(struct stream_source *source, const atomic_bool *stop)
{
	while (!atomic_load_explicit(stop, memory_order_relaxed)) {
		bt_graph_run_once_status status;

		if (!source->graph && (source->what.unread || !open_next(source)))
			return false;
		status = bt_graph_run_once(source->graph);
		if ((status != BT_GRAPH_RUN_ONCE_STATUS_OK &&
		     status != BT_GRAPH_RUN_ONCE_STATUS_AGAIN &&
		     status != BT_GRAPH_RUN_ONCE_STATUS_END) || left_error()) {
			skip_packet(source);
		} else if (status == BT_GRAPH_RUN_ONCE_STATUS_END) {
			close_graph(source);
			source->first = source->end;
		}
		if (decode_count(source->decode) + MARGIN > source->options.room)
			return true;
	}
	return false;
}

struct decode_batch *source_next(struct stream_source *source, struct decode_batch *fresh,
				 const atomic_bool *stop)
{
	bool more = fill_batch(source, stop);

	count_bytes(source);
	if (!more && !decode_count(source->decode)) {
		remove_folder(source);
		return NULL;
	}
	source->what.events = decode_counts(source->decode)->events;
	return decode_swap(source->decode, fresh);
}

uint64_t source_bytes_done(const struct stream_source *source)
{
	return atomic_load_explicit(&((struct stream_source *)source)->bytes_done,
				    memory_order_relaxed);
}

const struct source_end *source_end(const struct stream_source *source)
{
	return &source->what;
}

const struct decode *source_decode(const struct stream_source *source)
{
	return source->decode;
}

void source_free(struct stream_source *source)
{
	if (!source)
		return;
	if (source->graph)
		close_graph(source);
	remove_folder(source);
	if (source->metadata_fd >= 0)
		close(source->metadata_fd);
	decode_free(source->decode);
	free(source);
}
