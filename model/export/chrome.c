/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, as chrome://tracing, Perfetto and TensorBoard read it: one JSON
 * object with events in any order. A group of the walk (walk.h) becomes a "process" and a track
 * becomes a "thread", whose name says what it is. Source: "Trace Event Format", Chromium's
 * catapult project.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/export/formats.h"
#include "model/export/walk.h"

struct chrome_sink {
	FILE *out;
	bool begun;
	uint32_t *groups;		/* owned; the group of each track */
	size_t n_groups, cap_groups;
};

static void begin_event(struct chrome_sink *c, char phase, const char *category, const char *name,
			uint32_t track)
{
	fputs(c->begun ? ",\n{\"ph\":\"" : "\n{\"ph\":\"", c->out);
	c->begun = true;
	putc(phase, c->out);
	putc('"', c->out);
	if (category)
		fprintf(c->out, ",\"cat\":\"%s\"", category);
	fputs(",\"name\":", c->out);
	put_json(c->out, name, strlen(name));
	fprintf(c->out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		track < c->n_groups ? c->groups[track] : 0, track);
}

static void put_time(struct chrome_sink *c, const char *key, int64_t ns)
{
	fprintf(c->out, ",\"%s\":", key);
	put_micros(c->out, ns);
}

static void chrome_put_track(void *arg, const struct track *track)
{
	struct chrome_sink *c = arg;
	bool group = track->kind == TRACK_GROUP;

	while (c->n_groups <= track->id) {
		grow(&c->groups, &c->cap_groups, c->n_groups, sizeof(*c->groups));
		c->groups[c->n_groups++] = 0;
	}
	c->groups[track->id] = group ? track->id : track->group;
	if (track->kind == TRACK_COUNTER)
		return;			/* its events carry its name */
	begin_event(c, 'M', NULL, group ? "process_name" : "thread_name", track->id);
	fputs(",\"args\":{\"name\":", c->out);
	put_json(c->out, track->name, strlen(track->name));
	fputs("}}", c->out);
	begin_event(c, 'M', NULL, group ? "process_sort_index" : "thread_sort_index", track->id);
	fprintf(c->out, ",\"args\":{\"sort_index\":%" PRIu32 "}}", track->id);
}

static void put_args(struct chrome_sink *c, const struct walk_slice *slice)
{
	if (!slice->n_args)
		return;
	fputs(",\"args\":{", c->out);
	for (size_t i = 0; i < slice->n_args; i++) {
		const struct arg *a = &slice->args[i];

		fprintf(c->out, "%s\"%s\":", i ? "," : "", a->key);
		if (a->text)
			put_json(c->out, a->text, strlen(a->text));
		else if (a->negative)
			fprintf(c->out, "%" PRId64, (int64_t)a->value);
		else
			fprintf(c->out, "%" PRIu64, a->value);
	}
	putc('}', c->out);
}

/* The same as timeline.py: an arrow from where data is produced to where it is used. */
static void put_flow(struct chrome_sink *c, char phase, const struct walk_slice *slice, uint64_t id,
		     int64_t at_ns)
{
	begin_event(c, phase, "DataFlow", "flow", slice->track);
	put_time(c, "ts", at_ns);
	fprintf(c->out, ",\"id\":%" PRIu64 "%s}", id, phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void chrome_put_slice(void *arg, const struct walk_slice *slice)
{
	struct chrome_sink *c = arg;
	int64_t last_ns = slice->start_ns;

	if (!slice->out_at_start && slice->dur_ns > 0)
		last_ns += slice->dur_ns - 1;
	/* A slice that has not ended has only a start. */
	begin_event(c, slice->dur_ns < 0 ? 'B' : 'X', slice->category, slice->name, slice->track);
	put_time(c, "ts", slice->start_ns);
	if (slice->dur_ns >= 0)
		put_time(c, "dur", slice->dur_ns);
	put_args(c, slice);
	putc('}', c->out);
	for (size_t i = 0; i < slice->n_in; i++)
		put_flow(c, 'f', slice, slice->flow_in[i], slice->start_ns);
	for (size_t i = 0; i < slice->n_out; i++)
		put_flow(c, 's', slice, slice->flow_out[i], last_ns);
}

static void put_instant(void *arg, const struct walk_slice *slice)
{
	struct chrome_sink *c = arg;

	begin_event(c, 'i', slice->category, slice->name, slice->track);
	put_time(c, "ts", slice->start_ns);
	fputs(",\"s\":\"t\"", c->out);
	put_args(c, slice);
	putc('}', c->out);
}

static void chrome_put_counter(void *arg, uint32_t track, const char *category, const char *name,
			       int64_t at_ns, int64_t value)
{
	struct chrome_sink *c = arg;

	begin_event(c, 'C', category, name, track);
	put_time(c, "ts", at_ns);
	fputs(",\"args\":{", c->out);
	put_json(c->out, name, strlen(name));
	fprintf(c->out, ":%" PRId64 "}}", value);
}

static void chrome_put_block(void *arg, const struct walk_allocation *block)
{
	struct chrome_sink *c = arg;

	begin_event(c, block->phase, "Allocation", block->allocator, block->track);
	put_time(c, "ts", block->at_ns);
	fprintf(c->out, ",\"id\":\"0x%" PRIx64 "\"", block->id);
	if (block->phase == 'O') {
		fprintf(c->out, ",\"args\":{\"snapshot\":{\"bytes\":%" PRIu64 ",\"address\":\"0x%"
			PRIx64 "\"", block->bytes, block->address);
		if (block->op) {
			fputs(",\"op\":", c->out);
			put_json(c->out, block->op, strlen(block->op));
		}
		fputs("}}", c->out);
	}
	putc('}', c->out);
}

static void put_maximum(void *arg, const struct maximum *maximum)
{
	struct chrome_sink *c = arg;

	begin_event(c, 'i', "Memory", "allocation maximum", maximum->track);
	put_time(c, "ts", maximum->at_ns);
	fputs(",\"s\":\"p\",\"args\":{\"allocator\":", c->out);
	put_json(c->out, maximum->allocator, strlen(maximum->allocator));
	fprintf(c->out, ",\"bytes\":%" PRId64 "}}", maximum->bytes);
}

bool chrome_write(const struct foreign_options *options, struct foreign_result *result,
		  char *error, size_t size)
{
	struct chrome_sink c = { .out = options->out };
	struct sink sink = {
		.track = chrome_put_track, .slice = chrome_put_slice, .instant = put_instant,
		.counter = chrome_put_counter, .block = chrome_put_block, .maximum = put_maximum,
		.arg = &c,
	};
	bool good;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"source\":\"tftop " TFTOP_VERSION
	      "\"},\"traceEvents\":[", c.out);
	good = walk_run(options, &sink, result);
	fputs("\n]}\n", c.out);
	free(c.groups);
	if (!good)
		snprintf(error, size, "%s", ferror(c.out) ? strerror(errno) : "stopped");
	return good;
}
