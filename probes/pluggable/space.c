/* SPDX-License-Identifier: MIT */
/*
 * Everything in a space is first sorted by device and queue. Planes, lines and events are then
 * stored in three arrays, and each plane or line refers to a range of the next array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/pluggable/space.h"
#include "formats/xplane.pb-c.h"

#define STATS_MAX 6		/* statistics per event */
#define TEXT 160
#define OP_TEXT 512
#define DEVICE_STATS 4
#define NAMES_MAX 2048		/* names per plane; further ones share a single one */

enum stat_id {
	STAT_NONE, STAT_DEVICE, STAT_CORRELATION, STAT_OP, STAT_KERNEL, STAT_COPY, STAT_FILL,
	STAT_VENDOR, STAT_CLOCK, STAT_CORES, STAT_MEMORY, STAT_COUNT
};

static const char *const stat_names[STAT_COUNT] = {
	"", "device_id", "correlation_id", "tf_op", "kernel_details", "memcpy_details",
	"memset_details", "device_vendor", "clock_rate", "core_count", "memory_size",
};

struct packed_event {
	Xplane__XEvent event;
	Xplane__XStat stats[STATS_MAX], *list[STATS_MAX];
	char text[TEXT], op[OP_TEXT];
};

struct packed_plane {
	Xplane__XPlane plane;
	Xplane__XStat stats[DEVICE_STATS], *list[DEVICE_STATS];
	char name[TEXT];
};

struct packed_line {
	Xplane__XLine line;
	char name[TEXT];
	unsigned kinds;			/* bits for the kinds of work that ran */
};

struct packed_name {
	Xplane__XEventMetadataEntry entry;
	Xplane__XEventMetadata name;
};

struct space {
	struct rt_tap_work *work;
	uint32_t n_work;
	int64_t from_ns, real_ns;
	struct packed_event *events;
	struct packed_line *lines;
	struct packed_plane *planes;
	struct packed_name *names;
	uint32_t n_lines, n_planes, n_names, gpus, others;
	Xplane__XEvent **event_list;
	Xplane__XLine **line_list;
	Xplane__XPlane **plane_list;
	Xplane__XEventMetadataEntry **name_list;
	Xplane__XStatMetadata stats[STAT_COUNT];
	Xplane__XStatMetadataEntry stat_entries[STAT_COUNT], *stat_list[STAT_COUNT];
};

/* ---- order ---- */

static int by_place(const void *a, const void *b)
{
	const struct rt_tap_work *p = a, *q = b;

	if (p->device != q->device)
		return p->device < q->device ? -1 : 1;
	if (p->queue != q->queue)
		return p->queue < q->queue ? -1 : 1;
	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	return p->end_ns < q->end_ns ? -1 : p->end_ns > q->end_ns;
}

static uint32_t take_work(struct space *s, const struct tap *tap, int64_t to_ns)
{
	uint64_t dropped;
	uint32_t n = tap->count(&dropped), kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (tap->take(i, &s->work[kept], sizeof(*s->work)) &&
		    s->work[kept].start_ns >= s->from_ns &&
		    s->work[kept].start_ns < to_ns)
			kept++;
	if (kept)
		qsort(s->work, kept, sizeof(*s->work), by_place);
	return kept;
}

/* ---- stats ---- */

static void add_stat(Xplane__XStat *stat, Xplane__XStat **list, size_t *n, enum stat_id id,
		     uint64_t value, char *text)
{
	xplane__xstat__init(stat);
	stat->metadata_id = id;
	if (text) {
		stat->value_case = XPLANE__XSTAT__VALUE_STR_VALUE;
		stat->str_value = text;
	} else {
		stat->value_case = XPLANE__XSTAT__VALUE_UINT64_VALUE;
		stat->uint64_value = value;
	}
	list[(*n)++] = stat;
}

/* Writes "grid:8,8,1 block:16,16,1"; unknown parts are left out. */
static void kernel_details(char *text, const struct rt_tap_work *w)
{
	unsigned long long grid[3];
	uint32_t block[3];

	for (uint32_t i = 0; i < 3; i++) {
		block[i] = i < w->dims && w->local[i] ? w->local[i] : 1;
		grid[i] = i < w->dims ? (w->global[i] + block[i] - 1) / block[i] : 1;
	}
	snprintf(text, TEXT, "grid:%llu,%llu,%llu block:%u,%u,%u", grid[0], grid[1], grid[2],
		 block[0], block[1], block[2]);
}

static void copy_details(char *text, const struct rt_tap_work *w)
{
	const char *host = w->flags & TFT_CMD_PINNED ? "pinned" : "pageable";
	bool from_host = w->direction == TFT_DIR_H2D || w->direction == TFT_DIR_H2H;
	bool to_host = w->direction == TFT_DIR_D2H || w->direction == TFT_DIR_H2H ||
		w->direction == TFT_DIR_MAP;

	snprintf(text, TEXT, "kind_src:%s kind_dst:%s size:%llu dest:%u async:%d",
		 from_host || w->direction == TFT_DIR_UNMAP ? host : "device",
		 to_host ? host : "device", (unsigned long long)w->bytes, w->device,
		 !(w->flags & TFT_CMD_BLOCKING));
}

/* "dense/MatMul:MatMul", in the form that XProf parses. */
static char *op_text(char *text, const struct rt_tap_work *w)
{
	bool typed = w->op_type && *w->op_type;

	snprintf(text, OP_TEXT, "%.*s%s%s", OP_TEXT * 3 / 4, w->op, typed ? ":" : "",
		 typed ? w->op_type : "");
	return text;
}

static void fill_event(struct space *s, struct packed_event *e, const struct rt_tap_work *w,
		       uint32_t name)
{
	Xplane__XEvent *event = &e->event;

	xplane__xevent__init(event);
	event->metadata_id = name;
	event->data_case = XPLANE__XEVENT__DATA_OFFSET_PS;
	event->offset_ps = (w->start_ns - s->from_ns) * 1000;
	event->duration_ps = (w->end_ns - w->start_ns) * 1000;
	event->stats = e->list;
	add_stat(&e->stats[0], e->list, &event->n_stats, STAT_DEVICE, w->device, NULL);
	add_stat(&e->stats[1], e->list, &event->n_stats, STAT_CORRELATION, w->correlation, NULL);
	if (*w->op)
		add_stat(&e->stats[2], e->list, &event->n_stats, STAT_OP, 0, op_text(e->op, w));
	if (w->direction == TFT_DIR_FILL) {
		snprintf(e->text, TEXT, "kind:device num_bytes:%llu async:%d",
			 (unsigned long long)w->bytes, !(w->flags & TFT_CMD_BLOCKING));
		add_stat(&e->stats[3], e->list, &event->n_stats, STAT_FILL, 0, e->text);
	} else if (w->direction) {
		copy_details(e->text, w);
		add_stat(&e->stats[3], e->list, &event->n_stats, STAT_COPY, 0, e->text);
	} else if (w->dims) {
		kernel_details(e->text, w);
		add_stat(&e->stats[3], e->list, &event->n_stats, STAT_KERNEL, 0, e->text);
	}
}

/* ---- names ---- */

static const char *name_of(const struct rt_tap_work *w)
{
	static const char *const copies[TFT_DIR_COUNT] = {
		"work", "MemcpyH2D", "MemcpyD2H", "MemcpyD2D", "MemcpyP2P", "MemcpyH2H", "Memset",
		"MemcpyD2H", "MemcpyH2D", "Send", "Recv",
	};

	if (w->direction && w->direction < TFT_DIR_COUNT)
		return copies[w->direction];
	return *w->name ? w->name : copies[0];
}

/* Few names, many events; the names of the plane start at `first`. */
static uint32_t name_id(struct space *s, uint32_t first, const char *text)
{
	struct packed_name *p;

	if (s->n_names - first >= NAMES_MAX)
		text = "(other)";
	for (uint32_t i = s->n_names; i-- > first; )
		if (s->names[i].name.name == text || !strcmp(s->names[i].name.name, text))
			return i - first + 1;
	p = &s->names[s->n_names];
	xplane__xevent_metadata__init(&p->name);
	xplane__xevent_metadata_entry__init(&p->entry);
	p->name.id = p->entry.key = s->n_names - first + 1;
	p->name.name = (char *)(uintptr_t)text;
	p->entry.value = &p->name;
	s->name_list[s->n_names++] = &p->entry;
	return (uint32_t)p->name.id;
}

/* "Stream #3(Compute,MemcpyH2D)" */
static void space_add_kind(struct packed_line *line, unsigned kind)
{
	static const char *const kinds[] = {
		"Compute", "MemcpyH2D", "MemcpyD2H", "MemcpyD2D", "MemcpyP2P", "MemcpyH2H",
		"Memset", "MemcpyD2H", "MemcpyH2D", "Send", "Recv",
	};
	const char *before = "";
	int n;

	if (line->kinds & kind)
		return;
	line->kinds |= kind;
	n = snprintf(line->name, TEXT, "Stream #%lld(", (long long)line->line.id);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!(line->kinds & 1u << i) || n >= TEXT)
			continue;
		n += snprintf(line->name + n, TEXT - (size_t)n, "%s%s", before, kinds[i]);
		before = ",";
	}
	if (n < TEXT - 1)
		memcpy(line->name + n, ")", 2);
	line->line.name = line->name;
}

/* ---- planes ---- */

static struct packed_plane *new_plane(struct space *s, const struct rt_tap_work *w)
{
	struct packed_plane *p = &s->planes[s->n_planes];
	Xplane__XPlane *plane = &p->plane;

	xplane__xplane__init(plane);
	plane->id = s->n_planes + 1;
	if (w->gpu == 1)
		snprintf(p->name, TEXT, "/device:GPU:%u", s->gpus++);
	else
		snprintf(p->name, TEXT, "/device:CUSTOM:%u", s->others++);
	plane->name = p->name;
	plane->lines = s->line_list + s->n_lines;
	plane->event_metadata = s->name_list + s->n_names;
	plane->stat_metadata = s->stat_list + 1;
	plane->n_stat_metadata = STAT_COUNT - 1;
	plane->stats = p->list;
	add_stat(&p->stats[0], p->list, &plane->n_stats, STAT_VENDOR, 0,
		 (char *)(uintptr_t)(*w->vendor ? w->vendor : w->device_name));
	add_stat(&p->stats[1], p->list, &plane->n_stats, STAT_CLOCK,
		 (uint64_t)w->clock_mhz * 1000, NULL);
	add_stat(&p->stats[2], p->list, &plane->n_stats, STAT_CORES, w->units, NULL);
	add_stat(&p->stats[3], p->list, &plane->n_stats, STAT_MEMORY, w->memory_bytes, NULL);
	s->plane_list[s->n_planes++] = plane;
	return p;
}

static struct packed_line *new_line(struct space *s, struct packed_plane *plane, uint32_t i)
{
	struct packed_line *line = &s->lines[s->n_lines];

	xplane__xline__init(&line->line);
	line->line.id = s->work[i].queue;
	line->line.timestamp_ns = s->from_ns + s->real_ns;
	line->line.events = s->event_list + i;
	s->line_list[s->n_lines++] = &line->line;
	plane->plane.n_lines++;
	return line;
}

static void space_build(struct space *s)
{
	struct packed_plane *plane = NULL;
	struct packed_line *line = NULL;
	uint32_t first_name = 0;

	for (uint32_t i = 0; i < s->n_work; i++) {
		const struct rt_tap_work *w = &s->work[i];
		bool fresh = !i || w[-1].device != w->device;

		if (fresh) {
			first_name = s->n_names;
			plane = new_plane(s, w);
		}
		if (fresh || w[-1].queue != w->queue)
			line = new_line(s, plane, i);
		fill_event(s, &s->events[i], w, name_id(s, first_name, name_of(w)));
		s->event_list[i] = &s->events[i].event;
		line->line.n_events++;
		space_add_kind(line, 1u << (w->direction < TFT_DIR_COUNT ? w->direction : 0));
		plane->plane.n_event_metadata = s->n_names - first_name;
	}
}

static void name_stats(struct space *s)
{
	for (int i = 1; i < STAT_COUNT; i++) {
		xplane__xstat_metadata__init(&s->stats[i]);
		xplane__xstat_metadata_entry__init(&s->stat_entries[i]);
		s->stats[i].id = s->stat_entries[i].key = i;
		s->stats[i].name = (char *)(uintptr_t)stat_names[i];
		s->stat_entries[i].value = &s->stats[i];
		s->stat_list[i] = &s->stat_entries[i];
	}
}

static uint8_t *space_pack_planes(struct space *s, size_t *size)
{
	Xplane__XSpace space = XPLANE__XSPACE__INIT;
	uint8_t *out;

	space.planes = s->plane_list;
	space.n_planes = s->n_planes;
	*size = xplane__xspace__get_packed_size(&space);
	out = malloc(*size + 1);
	if (out)
		xplane__xspace__pack(&space, out);
	else
		*size = 0;
	return out;
}

static bool space_reserve(struct space *s, uint32_t n)
{
	s->work = calloc(n, sizeof(*s->work));
	s->events = calloc(n, sizeof(*s->events));
	s->lines = calloc(n, sizeof(*s->lines));
	s->planes = calloc(n, sizeof(*s->planes));
	s->names = calloc(n, sizeof(*s->names));
	s->event_list = calloc(n, sizeof(*s->event_list));
	s->line_list = calloc(n, sizeof(*s->line_list));
	s->plane_list = calloc(n, sizeof(*s->plane_list));
	s->name_list = calloc(n, sizeof(*s->name_list));
	return s->work && s->events && s->lines && s->planes && s->names && s->event_list &&
	       s->line_list && s->plane_list && s->name_list;
}

static void release(struct space *s)
{
	free(s->work);
	free(s->events);
	free(s->lines);
	free(s->planes);
	free(s->names);
	free(s->event_list);
	free(s->line_list);
	free(s->plane_list);
	free(s->name_list);
}

uint8_t *space_pack(const struct tap *tap, int64_t from_ns, int64_t to_ns, int64_t real_ns,
		    size_t *size)
{
	struct space s = { .from_ns = from_ns, .real_ns = real_ns };
	uint64_t dropped;
	uint32_t n = tap->count(&dropped);
	uint8_t *out = NULL;

	*size = 0;
	if (n && space_reserve(&s, n)) {
		s.n_work = take_work(&s, tap, to_ns);
		name_stats(&s);
		space_build(&s);
		if (s.n_work)
			out = space_pack_planes(&s, size);
	}
	release(&s);
	return out;
}
