/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's own format: a sequence of packets, each with a track or an event. A name is sent
 * once, with the first packet that uses it. The start and the end of a slice are written
 * together: the reader sorts by time and keeps the order of packets with the same time, so the
 * start of an outer slice comes before that of an inner one.
 *
 * Message structs are filled in place and packed one by one, so memory does not grow. Source:
 * perfetto.dev, "TrackEvent" and "Synthetic track events".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/map.h"
#include "model/base/utf8.h"
#include "model/base/util.h"
#include "model/export/formats.h"
#include "model/export/walk.h"

#ifdef HAVE_PROTOBUF_C

#include "formats/perfetto.pb-c.h"

#define SEQUENCE 1u
#define STATE_CLEARED 1u
#define NEEDS_STATE 2u
#define TAG_PACKET 0x0a			/* tag of Trace.packet, with type bytes */
#define UUID_BASE UINT64_C(0x7f746f7000000000)	/* far from 0 and small numbers */
#define SHORT_NAMES 64

struct perfetto {
	FILE *out;
	uint8_t *packed;		/* owned */
	size_t cap;
	bool begun;
	struct map names;		/* ids of the names that were sent */
	/* The static strings that were sent, as categories or as names of arguments; iid: index +
	 * 1. */
	const char *categories[SHORT_NAMES], *keys[SHORT_NAMES];
	size_t n_categories, n_keys;
	struct strbuf clean[WALK_ARGS_MAX + 2];	/* copies of strings without invalid UTF-8 */
	size_t n_clean;
};

/* What is sent with one packet. */
struct perfetto_parts {
	Perfetto__TrackEvent event;
	Perfetto__InternedData interned;
	Perfetto__InternedString strings[2 + WALK_ARGS_MAX];
	size_t n_strings;
	Perfetto__InternedString *names[1], *categories[1], *keys[WALK_ARGS_MAX];
	Perfetto__DebugAnnotation annotations[WALK_ARGS_MAX], *annotation_list[WALK_ARGS_MAX];
	uint64_t category;
};

/* ---- packets ---- */

static void put_packet(struct perfetto *p, Perfetto__TracePacket *packet)
{
	size_t size, n = 0;
	uint8_t head[11];

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = 1;
	packet->sequence_flags = p->begun ? NEEDS_STATE : STATE_CLEARED;
	packet->has_first_packet_on_sequence = packet->first_packet_on_sequence = !p->begun;
	p->begun = true;
	size = perfetto__trace_packet__get_packed_size(packet);
	if (size > p->cap) {
		p->cap = size * 2;
		p->packed = xrealloc(p->packed, p->cap);
	}
	perfetto__trace_packet__pack(packet, p->packed);
	head[n++] = TAG_PACKET;
	for (size_t rest = size; ; rest >>= 7) {
		head[n++] = (uint8_t)((rest & 127) | (rest > 127 ? 128 : 0));
		if (rest <= 127)
			break;
	}
	fwrite(head, 1, n, p->out);
	fwrite(p->packed, 1, size, p->out);
	p->n_clean = 0;
}

/* The string itself, or a copy with U+FFFD; valid until the packet is written. */
static char *perfetto_clean_text(struct perfetto *p, const char *text)
{
	size_t length = strlen(text), i, n;
	struct strbuf *to;

	for (i = 0; i < length && (n = utf8_length(text + i, length - i)); i += n)
		;
	if (i == length || p->n_clean == sizeof(p->clean) / sizeof(p->clean[0]))
		return i == length ? (char *)(uintptr_t)text : (char *)(uintptr_t)"";
	to = &p->clean[p->n_clean++];
	if (!to->data)
		strbuf_init(to);
	strbuf_reset(to);
	for (i = 0; i < length; i += n ? n : 1) {
		n = utf8_length(text + i, length - i);
		if (n)
			strbuf_add(to, text + i, n);
		else
			strbuf_adds(to, "\xef\xbf\xbd");
	}
	return to->data;
}

static uint64_t uuid_of(uint32_t track)
{
	return track ? UUID_BASE + track : 0;
}

/* ---- tracks ---- */

static void perfetto_put_track(void *arg, const struct track *track)
{
	struct perfetto *p = arg;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor told = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;

	told.has_uuid = 1;
	told.uuid = uuid_of(track->id);
	told.name = perfetto_clean_text(p, track->name ? track->name : "");
	told.has_parent_uuid = track->group != 0;
	told.parent_uuid = uuid_of(track->group);
	told.has_sibling_order_rank = 1;
	told.sibling_order_rank = (int32_t)track->id;
	if (track->kind == TRACK_GROUP) {
		/* A number of our own, because pids of several hosts may be the same. */
		process.has_pid = 1;
		process.pid = (int32_t)track->id;
		process.process_name = told.name;
		told.process = &process;
		told.has_child_ordering = 1;
		told.child_ordering = PERFETTO__TRACK_DESCRIPTOR__CHILD_ORDERING__EXPLICIT;
	} else if (track->kind == TRACK_COUNTER) {
		counter.has_unit = track->unit && !strcmp(track->unit, "bytes");
		counter.unit = PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES;
		if (track->unit && *track->unit && !counter.has_unit)
			counter.unit_name = perfetto_clean_text(p, track->unit);
		told.counter = &counter;
	}
	packet.track_descriptor = &told;
	put_packet(p, &packet);
}

/* ---- names that are sent once ---- */

static Perfetto__InternedString *add_string(struct perfetto_parts *parts, uint64_t iid, char *text)
{
	Perfetto__InternedString *string = &parts->strings[parts->n_strings++];

	perfetto__interned_string__init(string);
	string->has_iid = 1;
	string->iid = iid;
	string->name = text;
	return string;
}

/* The id of the name; *fresh: it must be sent. 0: there is no room. */
static uint64_t short_name(const char **list, size_t *n, const char *text, bool *fresh)
{
	size_t i;

	for (i = 0; i < *n && list[i] != text && strcmp(list[i], text); i++)
		;
	*fresh = i == *n && i < SHORT_NAMES;
	if (*fresh)
		list[(*n)++] = text;
	return i < SHORT_NAMES ? i + 1 : 0;
}

static void set_name(struct perfetto *p, struct perfetto_parts *parts,
		     const struct walk_slice *slice)
{
	if (!slice->name_id) {
		parts->event.name = perfetto_clean_text(p, slice->name);
		return;
	}
	parts->event.has_name_iid = 1;
	parts->event.name_iid = slice->name_id;
	if (map_get(&p->names, slice->name_id) != MAP_NONE)
		return;
	map_set(&p->names, slice->name_id, 0);
	parts->names[parts->interned.n_event_names++] =
		add_string(parts, slice->name_id, perfetto_clean_text(p, slice->name));
	parts->interned.event_names = parts->names;
}

static void set_category(struct perfetto *p, struct perfetto_parts *parts, const char *category)
{
	bool fresh;

	parts->category = short_name(p->categories, &p->n_categories, category, &fresh);
	if (!parts->category)
		return;
	parts->event.category_iids = &parts->category;
	parts->event.n_category_iids = 1;
	if (fresh)
		parts->categories[parts->interned.n_event_categories++] =
			add_string(parts, parts->category, (char *)(uintptr_t)category);
	parts->interned.event_categories = parts->categories;
}

static void set_args(struct perfetto *p, struct perfetto_parts *parts,
		     const struct walk_slice *slice)
{
	for (size_t i = 0; i < slice->n_args; i++) {
		const struct arg *arg = &slice->args[i];
		Perfetto__DebugAnnotation *to =
			&parts->annotations[parts->event.n_debug_annotations];
		bool fresh;
		uint64_t iid = short_name(p->keys, &p->n_keys, arg->key, &fresh);

		if (!iid)
			continue;
		if (fresh)
			parts->keys[parts->interned.n_debug_annotation_names++] =
				add_string(parts, iid, (char *)(uintptr_t)arg->key);
		perfetto__debug_annotation__init(to);
		to->has_name_iid = 1;
		to->name_iid = iid;
		if (arg->text)
			to->string_value = perfetto_clean_text(p, arg->text);
		to->has_int_value = !arg->text && arg->negative;
		to->int_value = (int64_t)arg->value;
		to->has_uint_value = !arg->text && !arg->negative;
		to->uint_value = arg->value;
		parts->annotation_list[parts->event.n_debug_annotations++] = to;
	}
	parts->event.debug_annotations = parts->annotation_list;
	parts->interned.debug_annotation_names = parts->keys;
}

/* ---- events ---- */

static void put_event(struct perfetto *p, struct perfetto_parts *parts,
		      Perfetto__TrackEvent__Type type, uint32_t track, int64_t at_ns)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	parts->event.has_type = 1;
	parts->event.type = type;
	parts->event.has_track_uuid = 1;
	parts->event.track_uuid = uuid_of(track);
	packet.has_timestamp = 1;
	packet.timestamp = at_ns > 0 ? (uint64_t)at_ns : 0;
	packet.track_event = &parts->event;
	if (parts->n_strings)
		packet.interned_data = &parts->interned;
	put_packet(p, &packet);
}

static void put_begin(struct perfetto *p, const struct walk_slice *slice,
		      Perfetto__TrackEvent__Type type)
{
	struct perfetto_parts parts;
	size_t n = 0, all = slice->n_out + slice->n_in;
	uint64_t few[64], *flows = all > 64 ? xreallocarray(NULL, all, sizeof(*flows)) : few;

	parts.n_strings = 0;
	perfetto__track_event__init(&parts.event);
	perfetto__interned_data__init(&parts.interned);
	set_name(p, &parts, slice);
	set_category(p, &parts, slice->category);
	set_args(p, &parts, slice);
	for (size_t i = 0; i < slice->n_out; i++)
		flows[n++] = slice->flow_out[i];
	parts.event.flow_ids = flows;
	parts.event.n_flow_ids = n;
	for (size_t i = 0; i < slice->n_in; i++)
		flows[n++] = slice->flow_in[i];
	parts.event.terminating_flow_ids = flows + parts.event.n_flow_ids;
	parts.event.n_terminating_flow_ids = n - parts.event.n_flow_ids;
	put_event(p, &parts, type, slice->track, slice->start_ns);
	if (flows != few)
		free(flows);
}

static void perfetto_put_slice(void *arg, const struct walk_slice *slice)
{
	struct perfetto *p = arg;
	struct perfetto_parts parts;

	put_begin(p, slice, PERFETTO__TRACK_EVENT__TYPE__SLICE_BEGIN);
	if (slice->dur_ns < 0)
		return;
	parts.n_strings = 0;
	perfetto__track_event__init(&parts.event);
	put_event(p, &parts, PERFETTO__TRACK_EVENT__TYPE__SLICE_END, slice->track,
		  slice->start_ns + slice->dur_ns);
}

static void put_instant(void *arg, const struct walk_slice *slice)
{
	put_begin(arg, slice, PERFETTO__TRACK_EVENT__TYPE__INSTANT);
}

static void perfetto_put_counter(void *arg, uint32_t track, const char *category,
				 const char *name, int64_t at_ns, int64_t value)
{
	struct perfetto_parts parts;

	parts.n_strings = 0;
	perfetto__track_event__init(&parts.event);
	parts.event.has_counter_value = 1;
	parts.event.counter_value = value;
	put_event(arg, &parts, PERFETTO__TRACK_EVENT__TYPE__COUNTER, track, at_ns);
}

bool perfetto_write(const struct foreign_options *options, struct foreign_result *result,
		    char *error, size_t size)
{
	struct perfetto p = { .out = options->out };
	struct sink sink = {
		.track = perfetto_put_track, .slice = perfetto_put_slice, .instant = put_instant,
		.counter = perfetto_put_counter, .arg = &p,
	};
	bool good = walk_run(options, &sink, result);

	for (size_t i = 0; i < sizeof(p.clean) / sizeof(p.clean[0]); i++)
		free(p.clean[i].data);
	map_release(&p.names);
	free(p.packed);
	if (!good)
		snprintf(error, size, "%s", ferror(p.out) ? strerror(errno) : "stopped");
	return good;
}

#else

bool perfetto_write(const struct foreign_options *options, struct foreign_result *result,
		    char *error, size_t size)
{
	snprintf(error, size, "cannot export perfetto: this tftop was built without protobuf-c; "
		 "use chrome");
	return false;
}

#endif
