/* SPDX-License-Identifier: MIT */
/* Which traces a recording has, and reports about what is missing from them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/session/decode/graph.h"
#include "probes/session/recording/offline_internal.h"

#define UNKNOWN_MAX 64u			/* how many kinds of events are distinguished */
#define UNKNOWN_SHOWN 4u
#define SESSIONS_MAX 1000u		/* per recording: at most three per minute */
#define WHEN_MAX 96			/* room for a time with the words around it */

/* ---- finding ---- */

static void find_trace(void *arg, const char *folder)
{
	struct offline *offline = arg;
	struct ctf_trace **traces = reallocarray(offline->traces, offline->n_traces + 1,
						 sizeof(*traces));
	struct ctf_trace *trace = calloc(1, sizeof(*trace));

	if (traces)
		offline->traces = traces;
	if (!traces || !trace) {
		free(trace);
		return;
	}
	ctf_scan(trace, folder);
	offline->traces[offline->n_traces++] = trace;
	/* A trace with an unknown layout is read as a whole. */
	if (trace->metadata)
		offline->n_lanes += trace->known ? trace->n_streams : 1;
	if (trace->known)
		for (size_t i = 0; i < trace->n_streams; i++)
			atomic_fetch_add(offline->options->bytes_all, trace->streams[i].bytes);
}

bool offline_find(struct offline *offline, char *error, size_t size)
{
	if (!graph_folders(offline->options->path, find_trace, offline)) {
		snprintf(error, size, "too many traces below '%s'", offline->options->path);
		return false;
	}
	if (!offline->n_traces) {
		snprintf(error, size, "no CTF trace in or below '%s'", offline->options->path);
		return false;
	}
	return true;
}

/* ---- the lanes ---- */

static bool add_lane(struct offline *offline, const struct ctf_trace *trace,
		     const struct ctf_stream *stream)
{
	struct offline_lane *lane = &offline->lanes[offline->n_lanes];
	struct source_options options = {
		.trace = trace, .stream = stream, .dir = offline->dir,
		.number = (unsigned int)offline->n_lanes, .host = offline->options->host,
		.room = offline->room,
	};

	lane->trace = trace;
	lane->source = source_new(&options);
	offline->n_lanes += lane->source != NULL;
	return lane->source != NULL;
}

bool offline_open(struct offline *offline, char *error, size_t size)
{
	size_t cap = offline->n_lanes;
	bool good = true;

	dir_sweep();
	offline->dir_lock = dir_create(geteuid(), offline->dir, error, size);
	if (offline->dir_lock < 0) {
		offline->dir[0] = '\0';
		return false;
	}
	snprintf(error, size, "out of memory for the reader");
	offline->lanes = calloc(cap + 1, sizeof(*offline->lanes));
	offline->heap = calloc(cap + 1, sizeof(struct offline_lane *));
	if (!offline->lanes || !offline->heap)
		return false;
	offline->n_lanes = 0;
	for (size_t i = 0; good && i < offline->n_traces; i++) {
		const struct ctf_trace *trace = offline->traces[i];

		if (trace->metadata && !trace->known)
			good = add_lane(offline, trace, NULL);
		for (size_t k = 0; good && k < trace->n_streams; k++)
			good = !trace->streams[k].n_packets ||
				add_lane(offline, trace, &trace->streams[k]);
	}
	return good;
}

void offline_release_traces(struct offline *offline)
{
	/* The source of a lost thread still uses its trace. */
	for (size_t i = 0; !offline->n_lost && i < offline->n_traces; i++) {
		ctf_release(offline->traces[i]);
		free(offline->traces[i]);
	}
	if (!offline->n_lost)
		free(offline->traces);
}

void offline_count(struct offline *offline)
{
	uint64_t done = 0;

	for (size_t i = 0; i < offline->n_lanes; i++)
		done += source_bytes_done(offline->lanes[i].source);
	atomic_store(offline->options->bytes_done, done);
	atomic_store(offline->options->events, offline->n_events);
}

/* ---- reports ---- */

static void tell(struct offline *offline, int level, const char *text)
{
	struct event event = {
		.type = EVENT_MESSAGE, .host = offline->options->host,
		.time_ns = offline->time_ns,
	};

	event.u.message.level = (uint8_t)level;
	event.u.message.text = text;
	offline->options->sink(offline->options->sink_arg, &event, 1);
}

/* Reports a failure; if nothing at all was read, keeps it as the reason for that. */
static void tell_failure(struct offline *offline, const char *text)
{
	if (offline->n_events)
		tell(offline, 2, text);
	else if (!offline->why[0])
		snprintf(offline->why, sizeof(offline->why), "%s", text);
}

/* packets 0: it is unknown how much was lost. */
static void tell_loss(struct offline *offline, int64_t begin_ns, int64_t end_ns, uint64_t packets)
{
	struct event event = {
		.type = EVENT_LOST, .host = offline->options->host, .time_ns = offline->time_ns,
	};

	event.u.lost = (struct event_lost){ begin_ns, end_ns > begin_ns ? end_ns : begin_ns,
					    packets, packets != 0, 0 };
	offline->options->sink(offline->options->sink_arg, &event, 1);
}

/* The first time in all streams, from which times are counted. */
static int64_t origin_ns(const struct offline *offline)
{
	int64_t first_ns = INT64_MAX;

	for (size_t i = 0; i < offline->n_traces; i++)
		for (size_t k = 0; k < offline->traces[i]->n_streams; k++) {
			const struct ctf_stream *stream = &offline->traces[i]->streams[k];

			if (stream->n_packets && stream->packets[0].begin_ns < first_ns)
				first_ns = stream->packets[0].begin_ns;
		}
	return first_ns;
}

/* One kind of missing data. */
struct missing {
	uint64_t packets, bytes;
	size_t streams;
	int64_t from_ns;
};

static void add_missing(struct missing *missing, const struct ctf_damage *damage)
{
	missing->packets += damage->packets;
	missing->bytes += damage->bytes;
	missing->streams++;
	if (damage->begin_ns && damage->begin_ns < missing->from_ns)
		missing->from_ns = damage->begin_ns;
}

/* Writes ", from 1.2 s on", or nothing if the time is unknown. */
static const char *when(char text[WHEN_MAX], const char *before, int64_t at_ns, int64_t origin,
			const char *after)
{
	char time[FMT_MAX];

	text[0] = '\0';
	if (at_ns != INT64_MAX && origin != INT64_MAX && at_ns >= origin) {
		fmt_time(time, at_ns - origin);
		snprintf(text, WHEN_MAX, "%s%s%s", before, time, after);
	}
	return text;
}

static bool tell_damage(struct offline *offline, int64_t origin)
{
	struct missing tail = { .from_ns = INT64_MAX }, inside = { .from_ns = INT64_MAX };
	char text[400], at[WHEN_MAX], bytes[FMT_MAX], streams[FMT_MAX], packets[FMT_MAX];

	for (size_t i = 0; i < offline->n_traces; i++)
		for (size_t k = 0; k < offline->traces[i]->n_streams; k++) {
			const struct ctf_stream *stream = &offline->traces[i]->streams[k];

			for (size_t n = 0; n < stream->n_damages; n++) {
				const struct ctf_damage *damage = &stream->damages[n];

				add_missing(damage->tail ? &tail : &inside, damage);
				tell_loss(offline, damage->begin_ns, damage->end_ns,
					  damage->packets);
			}
		}
	if (tail.packets) {
		snprintf(text, sizeof(text),
			 "the recording was cut off: of %s at least the last %s %s missing%s",
			 fmt_many(streams, tail.streams, "stream"),
			 fmt_many(packets, tail.packets, "packet"),
			 tail.packets == 1 ? "is" : "are",
			 when(at, ", from ", tail.from_ns, origin, " on"));
		tell(offline, 1, text);
	}
	if (inside.packets) {
		fmt_bytes(bytes, inside.bytes);
		snprintf(text, sizeof(text), "the recording is damaged: %s in the middle are not "
			 "packets and were skipped%s", bytes,
			 when(at, ", the first at ", inside.from_ns, origin, ""));
		tell(offline, 1, text);
	}
	return tail.packets || inside.packets;
}

/* ---- daemons that died and were replaced ---- */

/* The number of a session of tftop: the first one has none and counts as the first, later ones have
 * a number (keeper_start.c); LTTng adds day and time. 0: it is not a session of tftop. */
static unsigned session_number(const struct ctf_trace *trace)
{
	const char *at = trace->path;
	unsigned pid, number, day, time;

	while ((at = strstr(at, "/tftop-"))) {
		int n = sscanf(++at, "tftop-%9u-%9u-%9u-%9u", &pid, &number, &day, &time);

		if (n == 4)
			return number;
		if (n == 3)
			return 1;
	}
	return 0;
}

/* The times of all sessions with numbers from least to most; false: there are none. */
static bool sessions_span(const struct offline *offline, unsigned least, unsigned most,
			  int64_t *begin_ns, int64_t *end_ns)
{
	*begin_ns = INT64_MAX;
	*end_ns = INT64_MIN;
	for (size_t i = 0; i < offline->n_traces; i++) {
		const struct ctf_trace *trace = offline->traces[i];
		unsigned number = session_number(trace);

		for (size_t k = 0; number >= least && number <= most && k < trace->n_streams; k++) {
			const struct ctf_stream *stream = &trace->streams[k];

			if (!stream->n_packets)
				continue;
			if (stream->packets[0].begin_ns < *begin_ns)
				*begin_ns = stream->packets[0].begin_ns;
			if (stream->packets[stream->n_packets - 1].end_ns > *end_ns)
				*end_ns = stream->packets[stream->n_packets - 1].end_ns;
		}
	}
	return *begin_ns <= *end_ns;
}

/* Reports gaps in the same way as during the live run (tui/run/live_restart.c). */
static void tell_gaps(struct offline *offline, int64_t origin)
{
	char text[400], begin[FMT_MAX], end[FMT_MAX];
	int64_t first, before, after, last;
	unsigned most = 0;

	for (size_t i = 0; i < offline->n_traces; i++)
		if (session_number(offline->traces[i]) > most)
			most = session_number(offline->traces[i]);
	for (unsigned n = 2; n <= most && n <= SESSIONS_MAX; n++) {
		if (!sessions_span(offline, n, n, &after, &last) ||
		    !sessions_span(offline, 1, n - 1, &first, &before) || after <= before)
			continue;
		tell_loss(offline, before, after, 0);
		snprintf(text, sizeof(text),
			 "the LTTng daemons were replaced: what PROGRAM did between %s and %s of "
			 "the run is missing",
			 fmt_time(begin, before - origin), fmt_time(end, after - origin));
		tell(offline, 1, text);
	}
}

/* Why the description of a trace is missing; false: it is not. */
static bool metadata_problem(const struct ctf_trace *trace, char *text, size_t size)
{
	if (trace->metadata)
		return false;
	if (trace->metadata_error == ENOENT)
		snprintf(text, size, "the description of the trace in '%.200s' is missing (no "
			 "'metadata' beside the streams)", trace->path);
	else if (trace->metadata_error)
		snprintf(text, size, "cannot read '%.200s/metadata': %s", trace->path,
			 strerror(trace->metadata_error));
	else
		snprintf(text, size, "the description of the trace in '%.200s' is damaged",
			 trace->path);
	return true;
}

static bool tell_metadata(struct offline *offline)
{
	bool any = false;
	char text[400], files[FMT_MAX];

	for (size_t i = 0; i < offline->n_traces; i++) {
		const struct ctf_trace *trace = offline->traces[i];

		any |= !trace->metadata || trace->metadata_cut || trace->n_unreadable;
		if (metadata_problem(trace, text, sizeof(text)))
			tell_failure(offline, text);
		if (trace->metadata_cut)
			tell(offline, 1, "the description of the trace is cut off: events that are "
			     "defined after the cut cannot be read");
		if (trace->n_unreadable) {
			snprintf(text, sizeof(text), "cannot read %s of '%.200s': %s",
				 fmt_many(files, trace->n_unreadable, "file"), trace->path,
				 strerror(trace->unreadable_error));
			tell_failure(offline, text);
		}
	}
	return any;
}

/* Reports what babeltrace did not accept. */
static bool tell_unread(struct offline *offline, int64_t origin)
{
	uint64_t bad = 0;
	size_t unread = 0, lost = 0;
	int64_t from_ns = INT64_MAX;
	char text[800], at[WHEN_MAX];
	const char *first = NULL;

	for (size_t i = 0; i < offline->n_lanes; i++) {
		const struct source_end *end;

		lost += offline->lanes[i].lost;
		if (offline->lanes[i].lost)
			continue;
		end = source_end(offline->lanes[i].source);
		bad += end->bad_packets;
		unread += end->unread || offline->lanes[i].starved;
		if (end->bad_packets && end->bad_ns && end->bad_ns < from_ns)
			from_ns = end->bad_ns;
		if (!first && end->error[0])
			first = end->error;
	}
	if (lost)
		tell_failure(offline, "the data is damaged, and babeltrace could not read part of "
			     "it");
	if (bad) {
		snprintf(text, sizeof(text),
			 "the recording is damaged: %" PRIu64 " packet%s skipped%s (%s)",
			 bad, bad == 1 ? " was" : "s were",
			 when(at, ", the first at ", from_ns, origin, ""), first ? first : "");
		tell(offline, 1, text);
	}
	if (unread) {
		snprintf(text, sizeof(text), "%s%s", offline->n_events ?
			 "the rest of the recording cannot be read: " : "",
			 first ? first : "too many damaged packets");
		tell_failure(offline, text);
	}
	return lost || bad || unread;
}

/* ---- events of other providers ---- */

struct unknown {
	size_t count;
	uint64_t events;
	struct kind { const char *name; uint64_t events; } kinds[UNKNOWN_MAX];
};

static void add_unknown(void *arg, const char *name, uint64_t events)
{
	struct unknown *unknown = arg;
	size_t i;

	unknown->events += events;
	for (i = 0; i < unknown->count && strcmp(unknown->kinds[i].name, name); i++)
		;
	if (i == UNKNOWN_MAX)
		return;
	unknown->kinds[i].name = name;
	unknown->kinds[i].events += events;
	if (i == unknown->count)
		unknown->count++;
}

static int by_events(const void *a, const void *b)
{
	const struct kind *left = a, *right = b;

	return left->events < right->events ? 1 : left->events > right->events ? -1 : 0;
}

/* Reports unknown events; returns how many there are. */
static uint64_t tell_unknown(struct offline *offline)
{
	struct unknown unknown = { 0 };
	struct strbuf text;

	for (size_t i = 0; i < offline->n_lanes; i++)
		if (!offline->lanes[i].lost)
			decode_unknown(source_decode(offline->lanes[i].source), add_unknown,
				       &unknown);
	if (!unknown.events)
		return 0;
	qsort(unknown.kinds, unknown.count, sizeof(unknown.kinds[0]), by_events);
	strbuf_init(&text);
	strbuf_addf(&text, "%" PRIu64 " events are unknown to tftop and were skipped:",
		    unknown.events);
	for (size_t i = 0; i < unknown.count && i < UNKNOWN_SHOWN; i++)
		strbuf_addf(&text, "%s '%.64s' %" PRIu64 " times", i ? "," : "",
			    unknown.kinds[i].name, unknown.kinds[i].events);
	if (unknown.count > UNKNOWN_SHOWN)
		strbuf_addf(&text, ", and %s%zu more kinds",
			    unknown.count == UNKNOWN_MAX ? "at least " : "",
			    unknown.count - UNKNOWN_SHOWN);
	tell(offline, 1, text.data);
	strbuf_release(&text);
	return unknown.events;
}

enum offline_end offline_tell(struct offline *offline, char *error, size_t size)
{
	int64_t origin = origin_ns(offline);
	uint64_t unknown;
	bool partial;

	offline_count(offline);
	if (atomic_load(offline->options->stop))
		return OFFLINE_PARTIAL;
	partial = tell_damage(offline, origin);
	tell_gaps(offline, origin);
	partial |= tell_metadata(offline);
	partial |= tell_unread(offline, origin);
	unknown = tell_unknown(offline);
	if (partial && !offline->n_events && !unknown) {
		snprintf(error, size, "nothing of the recording can be read%s%.*s",
			 offline->why[0] ? ": " : "", (int)size - 64, offline->why);
		return OFFLINE_FAILED;
	}
	if (offline->why[0])
		tell(offline, 2, offline->why);
	return partial ? OFFLINE_PARTIAL : OFFLINE_WHOLE;
}
