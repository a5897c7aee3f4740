/* SPDX-License-Identifier: MIT */
/* Collects events in batches and runs babeltrace's graph over each. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/session/recording/ctf_source.h"
#include "probes/session/decode/fields.h"
#include "probes/session/decode/graph.h"
#include "probes/session/decode/guard.h"

#define BATCH_EVENTS 8192u
#define TEXT_CHUNK (1u << 20)		/* size of a chunk of strings */
#define ERROR_MAX 512

struct text_chunk {
	struct text_chunk *next;	/* owned */
	size_t used, size;
	char data[];
};

struct ctf_writer {
	bt_graph *graph;		/* owned */
	struct ctf_source source;
	char *path;			/* owned */
	struct event *batch;		/* owned, BATCH_EVENTS */
	size_t n;
	struct text_chunk *texts;	/* owned; the first is the one in use */
	int64_t last_ns;		/* time of the previous event; 0: none yet */
	int64_t begin_ns;		/* start of the batch */
	int64_t cut_ns;			/* the batch ends here; INT64_MAX: when it is full */
	uint64_t lost_packets;		/* lost before the batch */
	bool begun, failed;
	char error[ERROR_MAX];
	struct ctf_writer *next;	/* owned; next one in `broken` */
};

/* ---- strings ---- */

static const char *keep_event_text(struct ctf_writer *writer, const char *text)
{
	size_t size = strlen(text) + 1;
	struct text_chunk *chunk = writer->texts;

	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > TEXT_CHUNK ? size : TEXT_CHUNK;

		chunk = xmalloc(sizeof(*chunk) + room);
		*chunk = (struct text_chunk) { .next = writer->texts, .size = room };
		writer->texts = chunk;
	}
	memcpy(chunk->data + chunk->used, text, size);
	chunk->used += size;
	return chunk->data + chunk->used - size;
}

/* Frees all chunks except for the newest. */
static void reset_texts(struct ctf_writer *writer, bool all)
{
	struct text_chunk *first = writer->texts, *chunk = first && !all ? first->next : first;

	while (chunk) {
		struct text_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	writer->texts = all ? NULL : first;
	if (writer->texts) {
		first->next = NULL;
		first->used = 0;
	}
}

/* ---- the graph ---- */

/* The largest file's size. */
static off_t largest_file_size(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	struct stat st;
	off_t size = 0;

	while (dir && (entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, 0) && S_ISREG(st.st_mode) &&
		    st.st_size > size)
			size = st.st_size;
	if (dir)
		closedir(dir);
	return size;
}

/* The sink hides the system's error, so the same operation is tried once more. */
static int system_error(const char *path)
{
	char *file = xasprintf("%s/XXXXXX", path);
	int fd = mkostemp(file, O_CLOEXEC);
	int code = fd < 0 ? errno : posix_fallocate(fd, largest_file_size(path), 1 << 20);

	if (fd >= 0) {
		close(fd);
		unlink(file);
	}
	free(file);
	return code;
}

static bool writer_failed(struct ctf_writer *writer)
{
	int code = writer->failed ? 0 : system_error(writer->path);
	char text[ERROR_MAX];

	graph_take_error(text, sizeof(text), "cannot write the trace");
	if (writer->failed)
		return false;
	writer->failed = true;
	if (code)
		snprintf(writer->error, ERROR_MAX, "cannot write the trace: %s", strerror(code));
	else
		snprintf(writer->error, ERROR_MAX, "%s", text);
	return false;
}

/* Runs until the source has no more messages. */
static bool run_writer(struct ctf_writer *writer)
{
	bt_graph_run_once_status status = BT_GRAPH_RUN_ONCE_STATUS_OK;

	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK)
		status = bt_graph_run_once(writer->graph);
	if (status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN || status == BT_GRAPH_RUN_ONCE_STATUS_END)
		return true;
	return writer_failed(writer);
}

/* Writes one packet per stream, up to end_ns. */
static bool flush_batch(struct ctf_writer *writer, int64_t end_ns)
{
	struct ctf_source *source = &writer->source;

	if (writer->failed)
		return false;
	source->before_ns = writer->begun ? source->end_ns : writer->begin_ns;
	source->begin_ns = writer->begin_ns;
	source->end_ns = end_ns;
	source->events = writer->batch;
	source->count = writer->n;
	source->lost_packets = writer->lost_packets;
	source->stage = writer->begun ? CTF_LOST : CTF_STREAMS;
	if (!writer->begun) {
		if (!run_writer(writer))
			return false;
		source->stage = CTF_LOST;
	}
	writer->begun = true;
	writer->lost_packets = 0;
	if (!run_writer(writer))
		return false;
	writer->n = 0;
	writer->begin_ns = end_ns;
	reset_texts(writer, false);
	return true;
}

static bool add_ctf_sink(struct ctf_writer *writer, const bt_component_source *from)
{
	const bt_component_class_sink *class;
	const bt_component_sink *sink = NULL;
	const bt_plugin *plugin = graph_plugin("ctf");
	bt_value *params = bt_value_map_create();
	bool good = plugin && params &&
		!bt_value_map_insert_string_entry(params, "path", writer->path) &&
		!bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE) &&
		!bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE);

	class = good ? bt_plugin_borrow_sink_component_class_by_name_const(plugin, "fs") : NULL;
	good = class && !bt_graph_add_sink_component(writer->graph, class, "ctf", params,
						     BT_LOGGING_LEVEL_NONE, &sink) &&
		!bt_graph_connect_ports(writer->graph,
			bt_component_source_borrow_output_port_by_index_const(from, 0),
			bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
	bt_value_put_ref(params);
	return good;
}

/* ---- the interface ---- */

/*
 * A graph that failed is never destroyed: babeltrace 2.0.4's sink frees memory twice when it is
 * destroyed after the disk was full (_bt_ctfser_increase_cur_packet_size keeps a pointer that it
 * freed).
 */
static struct ctf_writer *_Atomic broken;

static void release_writer(struct ctf_writer *writer)
{
	reset_texts(writer, true);
	if (writer->failed) {
		writer->next = atomic_load(&broken);
		while (!atomic_compare_exchange_weak(&broken, &writer->next, writer))
			;
		return;
	}
	graph_free(writer->graph);
	ctf_source_release(&writer->source);
	free(writer->batch);
	free(writer->path);
	free(writer);
}

struct ctf_writer *ctf_writer_new(const struct ctf_writer_options *options, char *error,
				  size_t size)
{
	struct ctf_writer *writer = xcalloc(1, sizeof(*writer));
	const bt_component_source *source = NULL;
	bool good;

	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	writer->path = xstrdup(options->path);
	writer->batch = xreallocarray(NULL, BATCH_EVENTS, sizeof(*writer->batch));
	writer->cut_ns = INT64_MAX;
	writer->source.options = *options;
	writer->source.stage = CTF_STREAMS;
	if (writer->source.options.streams > CTF_STREAMS_MAX)
		writer->source.options.streams = CTF_STREAMS_MAX;
	if (writer->source.options.offset_ns < 0)
		writer->source.options.offset_ns = 0;
	guard_lock();
	writer->graph = bt_graph_create(0);
	if (writer->graph)
		source = ctf_source_add(writer->graph, &writer->source);
	writer->source.options.host = NULL;
	good = source && add_ctf_sink(writer, source);
	guard_unlock();
	if (good)
		return writer;
	graph_take_error(error, size, "cannot write a trace");
	release_writer(writer);
	return NULL;
}

/* A loss without a thread gets its own packet. */
static bool add_lost(struct ctf_writer *writer, const struct event *event)
{
	const struct event_lost *lost = &event->u.lost;
	struct ctf_out_stream *stream = &writer->source.streams[
		event->tid % (writer->source.n_streams / 2)];

	if (!lost->count)
		return true;
	if (!event->pid && lost->begin_ns >= writer->last_ns && lost->end_ns >= lost->begin_ns) {
		if (!flush_batch(writer, lost->begin_ns))
			return false;
		writer->last_ns = lost->begin_ns;
		if (!lost->packets)
			writer->cut_ns = lost->end_ns;
		else
			writer->begin_ns = lost->end_ns;
	}
	if (lost->packets)
		writer->lost_packets += lost->count;
	else
		stream->lost += lost->count;
	return true;
}

static void copy_event(struct ctf_writer *writer, const struct event *event)
{
	struct event *copy = &writer->batch[writer->n++];
	const struct field_spec *field = writer->source.fields[event->type];

	*copy = *event;
	copy->time_ns = writer->last_ns;
	for (; field->name; field++) {
		const char **text = (const char **)(void *)((char *)copy + field->offset);

		if (field->store == STORE_TEXT)
			*text = *text ? keep_event_text(writer, *text) : "";
	}
}

static bool add_one(struct ctf_writer *writer, const struct event *event)
{
	int64_t time_ns = event->time_ns < 0 ? 0 : event->time_ns;

	if (event->type >= EVENT_TYPE_COUNT ||
	    (event->type != EVENT_LOST && !writer->source.class[event->type]))
		return true;
	if (!writer->begun) {
		/* Writes an empty packet first, so that a loss in the next one has a previous
		 * packet. */
		writer->begin_ns = writer->last_ns =
			event->type == EVENT_LOST && event->u.lost.begin_ns < time_ns &&
			event->u.lost.begin_ns > 0 ? event->u.lost.begin_ns : time_ns;
		if (!flush_batch(writer, writer->begin_ns))
			return false;
	}
	if (event->type == EVENT_LOST)
		return add_lost(writer, event);
	if (time_ns < writer->last_ns)
		time_ns = writer->last_ns;
	if (time_ns > writer->cut_ns) {
		if (!flush_batch(writer, writer->cut_ns))
			return false;
		writer->cut_ns = INT64_MAX;
	}
	if (writer->begin_ns > time_ns)
		writer->begin_ns = time_ns;
	writer->last_ns = time_ns;
	copy_event(writer, event);
	return writer->n < BATCH_EVENTS || flush_batch(writer, writer->last_ns);
}

bool ctf_writer_add(struct ctf_writer *writer, const struct event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (writer->failed || !add_one(writer, &events[i]))
			return false;
	return !writer->failed;
}

bool ctf_writer_close(struct ctf_writer *writer, char *error, size_t size)
{
	int64_t end_ns = writer->last_ns;
	bool good;

	if (writer->cut_ns != INT64_MAX && writer->cut_ns > end_ns)
		end_ns = writer->cut_ns;
	if (end_ns < writer->begin_ns)
		end_ns = writer->begin_ns;
	flush_batch(writer, end_ns);
	if (!writer->failed) {
		writer->source.stage = CTF_STREAM_ENDS;
		run_writer(writer);
	}
	good = !writer->failed;
	if (!good)
		snprintf(error, size, "%s", writer->error);
	release_writer(writer);
	return good;
}
