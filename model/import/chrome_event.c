/* SPDX-License-Identifier: MIT */
/*
 * One event of a Chrome trace. What it is follows from its phase, its category (Kineto's) and
 * the names of its process and thread (TensorFlow's), which may come later in the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/hash.h"
#include "model/import/chrome_internal.h"

#define NONE UINT32_MAX
#define OPENS_MAX (1u << 20)

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return map_mix(hash_string(HASH_SEED ^ hash, text));
}

static bool is_in(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcasecmp(word, *list))
			return true;
	return false;
}

static uint32_t name_of(struct chrome_import *c, enum chrome_text which, uint8_t kind)
{
	return build_name(c->build, chrome_text(c, which), c->event.text[which].length, kind);
}

/* ---- processes and tracks ---- */

/* A number that no other id has; the id itself if it is a number. */
static uint32_t number_of(const char *text, uint32_t otherwise)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && number && number < 1u << 30 ?
	       (uint32_t)number : (1u << 30) + otherwise;
}

static uint32_t process_of(struct chrome_import *c)
{
	const char *pid = chrome_text(c, CHROME_PID);
	uint64_t key = hash_text(1, pid);
	uint32_t index = map_get(&c->process_by_key, key);

	if (index != NONE)
		return index;
	if (c->n_processes >= BUILD_PROCESSES_MAX) {
		build_problem(c->build, "too many processes: the others are put into one",
			      "event", c->events);
		return (uint32_t)c->n_processes - 1;
	}
	grow(&c->processes, &c->cap_processes, c->n_processes, sizeof(*c->processes));
	index = (uint32_t)c->n_processes++;
	c->processes[index] = (struct chrome_process) {
		.key = xstrdup(pid),
		.process = build_process(c->build, number_of(pid, index), c->file),
	};
	map_set(&c->process_by_key, key, index);
	return index;
}

/* Borrowed until the next process is made. */
static struct chrome_process *process_at(struct chrome_import *c)
{
	uint32_t index = process_of(c);

	return &c->processes[index];
}

static struct chrome_track *track_of(struct chrome_import *c)
{
	uint32_t process = process_of(c), index;
	const char *tid = chrome_text(c, CHROME_TID);
	uint64_t key = hash_text(process + 2, tid);
	struct chrome_track *track;

	index = map_get(&c->track_by_key, key);
	if (index != NONE)
		return &c->tracks[index];
	if (c->n_tracks >= BUILD_TRACKS_MAX) {
		build_problem(c->build, "too many threads: the others are put into one",
			      "event", c->events);
		return &c->tracks[c->n_tracks - 1];
	}
	grow(&c->tracks, &c->cap_tracks, c->n_tracks, sizeof(*c->tracks));
	index = (uint32_t)c->n_tracks++;
	track = &c->tracks[index];
	*track = (struct chrome_track) {
		.process = process, .open = NONE,
		.track = build_track(c->build, c->processes[process].process,
				     number_of(tid, index)),
	};
	if (track->track && *tid && (*tid < '0' || *tid > '9'))
		build_track_name(c->build, track->track, tid);
	map_set(&c->track_by_key, key, index);
	return track;
}

/* ---- names that the trace gives ---- */

static void take_metadata(struct chrome_import *c)
{
	const char *what = chrome_text(c, CHROME_NAME), *name = chrome_text(c, CHROME_ARG_NAME);
	struct chrome_process *process;

	if (!strcmp(what, "process_name") && *name) {
		process = process_at(c);
		free(process->name);
		process->name = xstrndup(name, 512);
	} else if (!strcmp(what, "thread_name") && *name) {
		struct chrome_track *track = track_of(c);

		if (track->track)
			build_track_name(c->build, track->track, name);
	} else if (!strcmp(what, "process_labels") &&
		   !strncmp(chrome_text(c, CHROME_ARG_LABELS), "GPU", 3)) {
		process_at(c)->is_device = true;
	}
}

/* ---- open events: B and E of a thread, b and e of an id ---- */

static uint32_t push_open(struct chrome_import *c, int64_t start_ns, uint32_t name, uint32_t below)
{
	uint32_t index = c->free_open;

	if (index != NONE) {
		c->free_open = c->opens[index].below;
	} else {
		if (c->n_opens >= OPENS_MAX) {
			build_problem(c->build, "too many open events", "event", c->events);
			return below;
		}
		grow(&c->opens, &c->cap_opens, c->n_opens, sizeof(*c->opens));
		index = (uint32_t)c->n_opens++;
	}
	c->opens[index] = (struct chrome_open) { start_ns, name, below };
	return index;
}

/* Ends an event; returns the one around it. */
static uint32_t pop_open(struct chrome_import *c, uint32_t index, int64_t end_ns,
			 struct import_item *item)
{
	struct chrome_open *open = &c->opens[index];
	uint32_t below = open->below;

	item->start_ns = open->start_ns;
	item->dur_ns = end_ns - open->start_ns;
	if (open->name)
		item->name = open->name;
	open->below = c->free_open;
	c->free_open = index;
	build_add(c->build, item);
	return below;
}

static uint64_t async_key(struct chrome_import *c)
{
	uint64_t key = hash_text(3, chrome_text(c, CHROME_ID));

	key = hash_text(key, chrome_text(c, CHROME_CAT));
	return hash_text(key + process_of(c), chrome_text(c, CHROME_NAME));
}

static void take_async(struct chrome_import *c, struct import_item *item, bool begin)
{
	uint64_t key = async_key(c);
	uint32_t open = map_get(&c->async_by_key, key), next;

	item->flags = ITEM_ASYNC;
	if (begin) {
		next = push_open(c, item->start_ns, item->name, open);
		if (next != NONE)
			map_set(&c->async_by_key, key, next);
		return;
	}
	if (open == NONE) {
		build_problem(c->build, "an end without a start", "line or event", c->events);
		return;
	}
	next = pop_open(c, open, item->start_ns, item);
	if (next == NONE)
		map_remove(&c->async_by_key, key);
	else
		map_set(&c->async_by_key, key, next);
}

/* ---- spans ---- */

static void fill_shape(struct chrome_import *c, struct import_item *item)
{
	const struct chrome_event *e = &c->event;
	uint64_t global[3], grid[3], block[3];
	uint32_t local[3];

	if (e->n_grid == 3 && e->n_block == 3) {
		memcpy(grid, e->grid, sizeof(grid));
		memcpy(block, e->block, sizeof(block));
	} else if (!details_triple(chrome_text(c, CHROME_KERNEL_DETAILS), "grid", grid) ||
		   !details_triple(chrome_text(c, CHROME_KERNEL_DETAILS), "block", block)) {
		return;
	}
	for (int i = 0; i < 3; i++) {
		local[i] = (uint32_t)block[i];
		global[i] = grid[i] * block[i];
	}
	item->shape = build_shape(c->build, global, local);
}

/* Kineto's category says that it ran on a device. */
static void be_stream(struct chrome_import *c, struct chrome_track *track)
{
	char key[64], name[64];

	if (track->stream || !track->track)
		return;
	track->stream = true;
	snprintf(key, sizeof(key), "GPU %.40s", chrome_text(c, CHROME_DEVICE));
	snprintf(name, sizeof(name), "stream %.40s", c->event.there[CHROME_STREAM] ?
		 chrome_text(c, CHROME_STREAM) : chrome_text(c, CHROME_TID));
	build_track_name(c->build, track->track, name);
	build_stream(c->build, track->track, build_device(c->build, key));
}

static void fill_device(struct chrome_import *c, struct import_item *item)
{
	const char *details = chrome_text(c, CHROME_MEMCPY_DETAILS);

	item->bytes = strtoull(chrome_text(c, CHROME_BYTES), NULL, 10);
	if (*details) {
		details_number(details, "size", &item->bytes);
		item->kind = COMMAND_COPY;
		item->direction = (uint8_t)details_direction(details);
	}
	fill_shape(c, item);
	if (c->event.there[CHROME_TF_OP]) {
		const char *op = chrome_text(c, CHROME_TF_OP);
		size_t length = details_op(op, strlen(op));

		item->op_type = build_name(c->build, op, length ? length : strlen(op), NAME_OP);
	}
}

static void take_correlation(struct chrome_import *c, struct import_item *item)
{
	enum chrome_text which = c->event.there[CHROME_CORRELATION] ? CHROME_CORRELATION :
				 CHROME_CORRELATION_ID;
	uint64_t id = strtoull(chrome_text(c, which), NULL, 10);

	if (!c->event.there[which] || !id)
		return;
	item->correlation = build_correlation(c->build, id);
	item->flags |= ITEM_CALL;
}

static void take_step(struct chrome_import *c, const struct import_item *item)
{
	int64_t number = details_step(chrome_text(c, CHROME_NAME));
	struct import_item step = *item;

	step.type = ITEM_STEP;
	step.correlation = 0;
	if (number >= 0) {
		step.name = build_name(c->build, "ProfilerStep", 12, NAME_OP);
		step.place = (uint64_t)number;
	} else if (c->event.there[CHROME_STEP_NUM]) {
		step.place = strtoull(chrome_text(c, CHROME_STEP_NUM), NULL, 10);
	} else {
		return;
	}
	build_add(c->build, &step);
}

static void chrome_take_span(struct chrome_import *c, struct chrome_track *track,
			     struct import_item *item)
{
	static const char *const device[] = {
		"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", NULL
	};
	static const char *const ops[] = { "cpu_op", "operator", NULL };
	static const char *const ranges[] = { "user_annotation", NULL };
	const char *cat = chrome_text(c, CHROME_CAT);

	if (!strcasecmp(cat, "gpu_user_annotation"))
		return;			/* the range on the host appears again */
	if (is_in(cat, device)) {
		be_stream(c, track);
		item->kind = strcasestr(cat, "memcpy") ? COMMAND_COPY :
			     strcasestr(cat, "memset") ? COMMAND_FILL : COMMAND_KERNEL;
		if (item->kind != COMMAND_KERNEL)
			item->direction = item->kind == COMMAND_FILL ? DIR_FILL :
				(uint8_t)details_direction(chrome_text(c, CHROME_NAME));
	} else if (is_in(cat, ops)) {
		item->kind = FW_PYTORCH;
	} else if (is_in(cat, ranges)) {
		item->flags |= ITEM_RANGE;
	}
	if (c->event.there[CHROME_OP])
		item->op_type = name_of(c, CHROME_OP, NAME_OP_TYPE);
	if (c->event.there[CHROME_OP] && c->event.there[CHROME_ARG_NAME]) {
		item->name = name_of(c, CHROME_ARG_NAME, NAME_OP);
		item->flags |= ITEM_NODE;
	}
	/* one op for all steps, not one for each number */
	if (details_step(chrome_text(c, CHROME_NAME)) >= 0)
		item->name = build_name(c->build, "ProfilerStep", 12, NAME_OP);
	take_correlation(c, item);
	if (is_in(cat, device) || c->event.there[CHROME_TF_OP] ||
	    c->event.there[CHROME_MEMCPY_DETAILS] || c->event.there[CHROME_KERNEL_DETAILS])
		fill_device(c, item);
	build_add(c->build, item);
	if (!track->stream)
		take_step(c, item);
}

/* ---- the rest ---- */

static void take_counter(struct chrome_import *c, struct import_item *item)
{
	const struct chrome_event *e = &c->event;

	item->type = ITEM_COUNTER;
	for (unsigned int i = 0; i < e->n_counters; i++) {
		char *name = xasprintf("%s%s%s", chrome_text(c, CHROME_NAME),
				       e->n_counters > 1 ? " " : "",
				       e->n_counters > 1 ? e->counters[i].name : "");

		item->name = build_series(c->build, process_at(c)->process, 0, name,
					  strcasestr(name, "byte") ? "bytes" : "");
		item->place = (uint64_t)e->counters[i].value;
		build_add(c->build, item);
		free(name);
	}
}

/* Kineto's "[memory]": an allocation or, if its bytes are negative, a free. */
static void chrome_take_memory(struct chrome_import *c, struct import_item *item)
{
	int64_t bytes = strtoll(chrome_text(c, CHROME_SIZE), NULL, 10);
	bool gpu = !strcmp(chrome_text(c, CHROME_DEVICE_TYPE), "1");
	char key[64];

	snprintf(key, sizeof(key), "GPU %.40s", chrome_text(c, CHROME_DEVICE_ID));
	item->type = bytes < 0 ? ITEM_FREE : ITEM_ALLOC;
	item->name = build_name(c->build, gpu ? "gpu" : "host", gpu ? 3 : 4, NAME_ALLOCATOR);
	item->place = strtoull(chrome_text(c, CHROME_ADDRESS), NULL, 10);
	item->bytes = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	item->shape = gpu ? build_device(c->build, key) : 0;
	build_add(c->build, item);
}

static void take_flow(struct chrome_import *c, struct import_item *item, char phase)
{
	const char *cat = chrome_text(c, CHROME_CAT);
	uint64_t id;

	/* From launch to run: the correlation says that. From forward to backward: that is not
	 * data. */
	if (!strcmp(cat, "ac2g") || !strcmp(cat, "async_gpu") || !strcmp(cat, "async_cpu_to_gpu") ||
	    !strcmp(cat, "fwdbwd") || !strcmp(cat, "forward_backward"))
		return;
	id = hash_text(hash_text(5, cat), chrome_text(c, CHROME_ID));
	item->type = phase == 's' ? ITEM_FLOW_FROM : ITEM_FLOW_TO;
	item->correlation = build_flow(c->build, hash_text(id, chrome_text(c, CHROME_NAME)));
	build_add(c->build, item);
}

static bool read_time(struct chrome_import *c, enum chrome_text which, int64_t *ns)
{
	return details_time(chrome_text(c, which), c->event.text[which].length, c->scale, ns);
}

static void take_instant(struct chrome_import *c, struct import_item *item)
{
	if (c->event.there[CHROME_ADDRESS] && c->event.there[CHROME_SIZE]) {
		chrome_take_memory(c, item);
		return;
	}
	item->type = ITEM_INSTANT;
	build_add(c->build, item);
}

static void take_end(struct chrome_import *c, struct chrome_track *track, struct import_item *item)
{
	if (track->open == NONE)
		build_problem(c->build, "an end without a start", "event", c->events);
	else
		track->open = pop_open(c, track->open, item->start_ns, item);
}

void chrome_event_take(struct chrome_import *c)
{
	char phase = *chrome_text(c, CHROME_PH);
	struct import_item item = { .type = ITEM_SPAN };
	struct chrome_track *track;

	if (phase == 'M') {
		take_metadata(c);
		return;
	}
	if (!phase || !strchr("XBEbeSFiInRCstf", phase))
		return;			/* objects, and events that draw nothing */
	if (!read_time(c, CHROME_TS, &item.start_ns) ||
	    (phase == 'X' && c->event.there[CHROME_DUR] &&
	     !read_time(c, CHROME_DUR, &item.dur_ns))) {
		build_problem(c->build, "an event without a readable time", "event", c->events);
		return;
	}
	/* Both ends are rounded in the same way. */
	track = track_of(c);
	item.track = track->track;
	item.name = name_of(c, CHROME_NAME, NAME_OP);
	switch (phase) {
	case 'X':
		chrome_take_span(c, track, &item);
		break;
	case 'B':
		track->open = push_open(c, item.start_ns, item.name, track->open);
		break;
	case 'E':
		take_end(c, track, &item);
		break;
	case 'b': case 'e': case 'S': case 'F':
		take_async(c, &item, phase == 'b' || phase == 'S');
		break;
	case 'C':
		take_counter(c, &item);
		break;
	case 's': case 't': case 'f':
		take_flow(c, &item, phase);
		break;
	default:
		take_instant(c, &item);
	}
}

/* ---- at the end: what the names mean ---- */

static bool is_derived(const char *name)
{
	static const char *const derived[] = {
		"Framework Name Scope", "Framework Ops", "XLA Modules", "XLA Ops", "Steps",
		"Async XLA Ops", "Launch Stats", "Source code", "TensorFlow Name Scope",
		"TensorFlow Ops", NULL
	};

	return is_in(name, derived);
}

/* TensorBoard: process "/device:GPU:0", thread "Stream #14(Compute)". timeline.py: process
 * ".../device:GPU:0/stream:14 Compute", whose threads are lanes. */
static void place_track(struct chrome_import *c, struct chrome_track *track, bool all_streams)
{
	struct chrome_process *process = &c->processes[track->process];
	const char *name = process->name ? process->name : "", *at = strstr(name, "/stream:");
	struct build_track *t = &c->build->tracks[track->track - 1];
	const char *device = strstr(name, "/device:");
	char *key;

	if (track->stream || (!at && !strstr(name, "/memcpy") && (!device || strstr(name, " "
										    "Compute"))))
		return;
	if (!device || strstr(device, "/device:CPU") == device)
		device = name;
	if (!at && !strstr(name, "/memcpy")) {
		if (!t->name || strncmp(t->name, "Stream #", 8)) {
			if (t->name && is_derived(t->name))
				t->kind = TRACK_SKIP;
			return;
		}
		t->name[strcspn(t->name, "(")] = '\0';
	} else if (all_streams && (!at || !strncmp(at, "/stream:all", 11))) {
		t->kind = TRACK_SKIP;
		return;
	} else {
		build_track_name(c->build, track->track, at ? at + 1 : "memcpy");
	}
	key = xstrndup(device, strcspn(device + 1, "/ ") + 1);
	build_stream(c->build, track->track, build_device(c->build, key));
	track->stream = true;
	free(key);
}

void chrome_finish(struct chrome_import *c)
{
	uint32_t home = 0;
	bool streams = false;

	for (size_t i = 0; i < c->n_processes; i++) {
		const char *at = c->processes[i].name ? strstr(c->processes[i].name, "/stream:") :
			NULL;

		streams |= at && strncmp(at, "/stream:all", 11);
	}
	for (size_t i = 0; i < c->n_tracks; i++)
		if (c->tracks[i].track)
			place_track(c, &c->tracks[i], streams);
	for (size_t i = 0; i < c->n_tracks; i++)
		c->processes[c->tracks[i].process].is_device |= c->tracks[i].stream;
	for (size_t i = 0; i < c->n_processes; i++) {
		struct chrome_process *process = &c->processes[i];
		struct build_process *p = &c->build->processes[process->process - 1];

		if (!home && !process->is_device)
			home = process->process;
		if (process->name) {
			free(p->command);
			p->command = xstrdup(process->name);
		}
	}
	/* Host tracks that no launch assigns to a process belong to the first one. */
	for (size_t i = 0; i < c->n_tracks && home; i++)
		if (c->tracks[i].stream)
			c->build->tracks[c->tracks[i].track - 1].process = home;
	for (size_t i = 0; i < c->n_tracks; i++)
		if (c->tracks[i].open != NONE)
			build_problem(c->build, "a start without an end: left out", "thread", i);
}

void chrome_release(struct chrome_import *c)
{
	for (size_t i = 0; i < c->n_processes; i++) {
		free(c->processes[i].key);
		free(c->processes[i].name);
	}
	free(c->processes);
	free(c->tracks);
	free(c->opens);
	map_release(&c->process_by_key);
	map_release(&c->track_by_key);
	map_release(&c->async_by_key);
}
