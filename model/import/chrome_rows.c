/* SPDX-License-Identifier: MIT */
/* Where the events of a Chrome trace stand: processes, rows, streams, and what their names mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/import/chrome_internal.h"

#define NONE MAP_NONE

/* ---- keys ---- */

void chrome_key_begin(struct chrome_import *c, char kind)
{
	strbuf_reset(&c->key);
	strbuf_addc(&c->key, kind);
}

void chrome_key_number(struct chrome_import *c, uint32_t number)
{
	strbuf_add(&c->key, &number, sizeof(number));
}

void chrome_key_text(struct chrome_import *c, enum chrome_text which)
{
	chrome_key_number(c, (uint32_t)c->event.text[which].length);
	strbuf_add(&c->key, chrome_text(c, which), c->event.text[which].length);
}

uint32_t chrome_key(struct chrome_import *c)
{
	return build_key(c->build, c->key.data, c->key.length);
}

/* ---- processes and rows ---- */

/* A number that no other id has; the id itself if it is a number that can be one. */
static uint32_t number_of(const char *text, uint32_t otherwise)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	return *text >= '1' && *text <= '9' && !*end && number < 1u << 30 ?
	       (uint32_t)number : (1u << 30) + otherwise;
}

static bool is_number(const char *text)
{
	return number_of(text, 0) != 1u << 30;
}

uint32_t chrome_process_of(struct chrome_import *c)
{
	const char *pid = chrome_text(c, CHROME_PID);
	uint32_t key, index;

	chrome_key_begin(c, 'p');
	chrome_key_text(c, CHROME_PID);
	key = chrome_key(c);
	index = map_get(&c->process_by_key, key);
	if (index != NONE)
		return index;
	if (c->n_processes && (!key || c->n_processes >= BUILD_PROCESSES_MAX)) {
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

uint32_t chrome_row_of(struct chrome_import *c)
{
	uint32_t process = chrome_process_of(c), index, key;

	chrome_key_begin(c, 'r');
	chrome_key_number(c, process);
	chrome_key_text(c, CHROME_TID);
	key = chrome_key(c);
	index = map_get(&c->row_by_key, key);
	if (index != NONE)
		return index;
	if (c->n_rows && (!key || c->n_rows >= BUILD_TRACKS_MAX)) {
		build_problem(c->build, "too many threads: the others are put into one",
			      "event", c->events);
		return (uint32_t)c->n_rows - 1;
	}
	grow(&c->rows, &c->cap_rows, c->n_rows, sizeof(*c->rows));
	index = (uint32_t)c->n_rows++;
	c->rows[index] = (struct chrome_row) {
		.process = process, .tid = xstrdup(chrome_text(c, CHROME_TID)),
	};
	map_set(&c->row_by_key, key, index);
	return index;
}

uint32_t chrome_thread(struct chrome_import *c, uint32_t index)
{
	struct chrome_row *row = &c->rows[index];

	if (!row->thread)
		row->thread = build_track(c->build, c->processes[row->process].process,
					  number_of(row->tid, index));
	return row->thread;
}

/* The device and the stream are those that the event names; where it names none, those that the
 * row stands for. */
uint32_t chrome_stream(struct chrome_import *c, uint32_t row)
{
	bool device = c->event.there[CHROME_DEVICE], stream = c->event.there[CHROME_STREAM];
	char name[128];
	uint32_t key, at, track;

	chrome_key_begin(c, 's');
	chrome_key_number(c, row);
	chrome_key_text(c, device ? CHROME_DEVICE : CHROME_PID);
	chrome_key_text(c, stream ? CHROME_STREAM : CHROME_TID);
	key = chrome_key(c);
	at = map_get(&c->stream_by_key, key);
	if (at != NONE)
		return c->streams[at].track;
	track = build_track(c->build, c->processes[c->rows[row].process].process, 0);
	if (!key || !track)
		return 0;
	snprintf(name, sizeof(name), "stream %.100s",
		 chrome_text(c, stream ? CHROME_STREAM : CHROME_TID));
	build_track_name(c->build, track, name);
	snprintf(name, sizeof(name), "GPU %.100s",
		 chrome_text(c, device ? CHROME_DEVICE : CHROME_PID));
	build_stream(c->build, track, build_device(c->build, name));
	grow(&c->streams, &c->cap_streams, c->n_streams, sizeof(*c->streams));
	c->streams[c->n_streams] = (struct chrome_stream) { row, track, device || stream };
	map_set(&c->stream_by_key, key, (uint32_t)c->n_streams++);
	return track;
}

/* ---- names that the trace gives ---- */

void chrome_take_metadata(struct chrome_import *c)
{
	const char *what = chrome_text(c, CHROME_NAME), *name = chrome_text(c, CHROME_ARG_NAME);
	uint32_t at;

	if (!strcmp(what, "process_name") && *name) {
		at = chrome_process_of(c);
		free(c->processes[at].name);
		c->processes[at].name = xstrndup(name, 512);
	} else if (!strcmp(what, "thread_name") && *name) {
		at = chrome_row_of(c);
		free(c->rows[at].name);
		c->rows[at].name = xstrndup(name, 512);
	} else if (!strcmp(what, "process_labels") &&
		   !strncmp(chrome_text(c, CHROME_ARG_LABELS), "GPU", 3)) {
		at = chrome_process_of(c);
		c->processes[at].is_device = true;
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

	for (size_t i = 0; derived[i]; i++)
		if (!strcasecmp(name, derived[i]))
			return true;
	return false;
}

static void chrome_be_stream(struct chrome_import *c, struct chrome_row *row, const char *name,
			     const char *device, size_t length)
{
	char *key = xstrndup(device, length);

	build_track_name(c->build, row->thread, name);
	build_stream(c->build, row->thread, build_device(c->build, key));
	row->placed = true;
	free(key);
}

/* XProf: process "/device:GPU:0", thread "Stream #14(Compute)"; process "/device:TPU:0", thread
 * "XLA Ops". */
static void place_xprof(struct chrome_import *c, struct chrome_row *row, const char *device)
{
	struct build_track *track = &c->build->tracks[row->thread - 1];
	const char *name = row->name ? row->name : "";
	char text[128];

	if (strstr(device, "/device:CPU") == device)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(name, "("), name);
	if (!strncmp(name, "Stream #", 8))
		chrome_be_stream(c, row, text, device, strcspn(device + 1, "/ ") + 1);
	else if (strstr(device, "/device:TPU") == device &&
		 (!strcmp(name, "XLA Ops") || !strcmp(name, "Sparse Core Ops")))
		chrome_be_stream(c, row, name, device, strcspn(device + 1, "/ ") + 1);
	else if (is_derived(name))
		track->kind = TRACK_SKIP;
}

/* TensorFlow's timeline.py: process ".../device:GPU:0/stream:14 Compute", whose threads are
 * lanes. */
static void place_timeline(struct chrome_import *c, struct chrome_row *row, const char *process,
			   bool all_streams)
{
	const char *at = strstr(process, "/stream:"), *device = strstr(process, "/device:");

	if (all_streams && (!at || !strncmp(at, "/stream:all", 11))) {
		c->build->tracks[row->thread - 1].kind = TRACK_SKIP;
		return;
	}
	if (!device || strstr(device, "/device:CPU") == device)
		device = process;
	chrome_be_stream(c, row, at ? at + 1 : "memcpy", device, strcspn(device + 1, "/ ") + 1);
}

/* What the names of the file's processes say of it; gpu: the last of rocprof's, borrowed. */
struct chrome_kind { bool streams, rocprof; unsigned gpus; const char *gpu; };

/* rocprof's name for a device: "GPU0". */
static bool is_gpu(const char *process)
{
	return !strncmp(process, "GPU", 3) && process[3] &&
	       strspn(process + 3, "0123456789") == strlen(process + 3);
}

/* rocprof: processes "GPU0", whose threads are queues, "COPY", "CPU HIP API", "Markers and
 * Ranges". */
static void place_rocprof(struct chrome_import *c, struct chrome_row *row, const char *process,
			  struct chrome_kind kind)
{
	struct build_track *track = &c->build->tracks[row->thread - 1];
	char name[128];

	if (is_gpu(process)) {
		snprintf(name, sizeof(name), "queue %.100s", row->tid);
		chrome_be_stream(c, row, name, process, strlen(process));
	} else if (!strcmp(process, "COPY")) {
		chrome_be_stream(c, row, "copies", kind.gpus == 1 ? kind.gpu : process,
				 strlen(kind.gpus == 1 ? kind.gpu : process));
	} else if (!strcmp(process, "CPU HIP API") || !strcmp(process, "CPU HSA API") ||
		   !strcmp(process, "CPU KFD API")) {
		track->calls = true;
	} else if (!strcmp(process, "Markers and Ranges")) {
		track->ranges = true;
	}
}

static struct chrome_kind chrome_kind_of(const struct chrome_import *c)
{
	struct chrome_kind kind = { .gpu = NULL };

	for (size_t i = 0; i < c->n_processes; i++) {
		const char *name = c->processes[i].name ? c->processes[i].name : "";
		const char *at = strstr(name, "/stream:");

		kind.streams |= at && strncmp(at, "/stream:all", 11);
		if (is_gpu(name)) {
			kind.gpus++;
			kind.gpu = name;
		}
		kind.rocprof |= !strcmp(name, "CPU HIP API") || !strcmp(name, "CPU HSA API");
	}
	return kind;
}

/* A row of which no category says what it is. */
static void place_by_name(struct chrome_import *c, struct chrome_row *row, struct chrome_kind kind)
{
	const char *process = c->processes[row->process].name;
	const char *device = process ? strstr(process, "/device:") : NULL;

	if (!process || !row->thread || row->host || row->stream || row->aside)
		return;
	if (strstr(process, "/stream:") || strstr(process, "/memcpy"))
		place_timeline(c, row, process, kind.streams);
	else if (device && !strstr(process, " Compute"))
		place_xprof(c, row, device);
	else if (kind.rocprof)
		place_rocprof(c, row, process, kind);
}

/* The process whose host rows the work of a device belongs to, where no launch says it. */
static uint32_t home_of(const struct chrome_import *c)
{
	for (int sure = 1; sure >= 0; sure--)
		for (size_t i = 0; i < c->n_processes; i++) {
			const struct chrome_process *process = &c->processes[i];

			if (sure ? process->is_host : !process->is_device)
				return process->process;
		}
	return 0;
}

static void name_row(struct chrome_import *c, struct chrome_row *row)
{
	char text[160];

	if (!row->thread || row->placed)
		return;
	if (row->aside && !row->host)
		build_track_name(c->build, row->thread, row->aside);
	else if (row->name)
		build_track_name(c->build, row->thread, row->name);
	else if (*row->tid && !is_number(row->tid)) {
		snprintf(text, sizeof(text), "%s%.128s", strspn(row->tid, "-0123456789") ==
			 strlen(row->tid) ? "thread " : "", row->tid);
		build_track_name(c->build, row->thread, text);
	}
}

static void name_processes(struct chrome_import *c)
{
	for (size_t i = 0; i < c->n_processes; i++) {
		struct chrome_process *process = &c->processes[i];
		struct build_process *p = &c->build->processes[process->process - 1];
		const char *name = process->name;

		if (!name && strspn(process->key, "-0123456789") < strlen(process->key))
			name = process->key;
		if (!name)
			continue;
		free(p->command);
		p->command = xstrdup(name);
	}
}

/* Streams that the file does not number are called as their rows are. */
static void name_stream(struct chrome_import *c, const struct chrome_stream *stream)
{
	const struct chrome_row *row = &c->rows[stream->row];
	struct build_track *track = &c->build->tracks[stream->track - 1];
	const char *process = c->processes[row->process].name;

	if (stream->named)
		return;
	if (row->name)
		build_track_name(c->build, stream->track, row->name);
	if (process)
		track->device = build_device(c->build, process);
}

void chrome_place_rows(struct chrome_import *c)
{
	struct chrome_kind kind = chrome_kind_of(c);
	uint32_t home;

	for (size_t i = 0; i < c->n_rows; i++) {
		struct chrome_row *row = &c->rows[i];

		if (row->thread && row->stream)
			c->build->tracks[row->thread - 1].sure_only = true;
		place_by_name(c, row, kind);
		name_row(c, row);
		c->processes[row->process].is_device |= row->stream || row->placed;
		c->processes[row->process].is_host |= row->host;
	}
	for (size_t i = 0; i < c->n_streams; i++)
		name_stream(c, &c->streams[i]);
	name_processes(c);
	home = home_of(c);
	/* What no launch assigns to a process belongs to the first one of the host. */
	for (size_t i = 0; i < c->n_streams && home; i++)
		c->build->tracks[c->streams[i].track - 1].process = home;
	for (size_t i = 0; i < c->n_rows && home; i++) {
		const struct chrome_row *row = &c->rows[i];

		if (row->placed || (row->thread && row->aside &&
				    !c->processes[row->process].is_host))
			c->build->tracks[row->thread - 1].process = home;
	}
}

void chrome_release_rows(struct chrome_import *c)
{
	struct map *const maps[] = {
		&c->process_by_key, &c->row_by_key, &c->stream_by_key, &c->open_by_key,
		&c->account_by_key, &c->hidden_by_key,
	};

	for (size_t i = 0; i < c->n_processes; i++) {
		free(c->processes[i].key);
		free(c->processes[i].name);
	}
	for (size_t i = 0; i < c->n_rows; i++) {
		free(c->rows[i].tid);
		free(c->rows[i].name);
	}
	for (size_t i = 0; i < c->n_accounts; i++)
		map_release(&c->accounts[i].live);
	for (size_t i = 0; i < c->n_hidden; i++)
		free(c->hidden[i].category);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_release(maps[i]);
	free(c->processes);
	free(c->rows);
	free(c->streams);
	free(c->opens);
	free(c->accounts);
	free(c->hidden);
	spool_free(c->later);
	strbuf_release(&c->key);
}
