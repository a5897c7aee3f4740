/* SPDX-License-Identifier: MIT */
/* A run and its recording: written with -o DIR, or opened again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "tui/run/live_internal.h"
#include "tui/run/thresholds.h"

static bool live_is_listed(struct model *model, uint32_t pid)
{
	struct process_row *rows;
	bool found = false;
	size_t count;

	model_lock(model);
	count = model_processes(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < count; i++)
		found |= rows[i].host == 0 && rows[i].pid == pid;
	free(rows);
	return found;
}

static void live_introduce_process(struct live *live, pid_t pid, const char *command)
{
	struct event event = { .type = EVENT_PROCESS };

	if (pid <= 0 || live_is_listed(live->model, (uint32_t)pid))
		return;
	event.pid = event.tid = (uint32_t)pid;
	event.time_ns = live->opened ? live->recording.mono_ns : monotonic_ns();
	event.u.process = (struct event_process){
		.schema = 1, .rank = -1, .world = -1,
		.host = live->run.host ? live->run.host : "", .command = command,
	};
	gate_apply(live->gate, &event, 1);
}

void live_introduce(struct live *live)
{
	struct strbuf command;

	strbuf_init(&command);
	for (char *const *word = live->run.command; word && *word; word++)
		strbuf_addf(&command, "%s%s", word == live->run.command ? "" : " ", *word);
	live_introduce_process(live, live->run.pid, command.data);
	strbuf_release(&command);
	for (size_t i = 1; live->others && i < live->options->n_pids; i++)
		if (session_attached(live->session, live->options->pids[i]))
			live_introduce_process(live, live->options->pids[i], live->others[i - 1]);
}

bool live_make_recording(struct live *live, char error[LIVE_ERROR_MAX])
{
	char text[RECORDING_ERROR_MAX];
	const char *dir = live->options->record_dir;

	if (!dir)
		return true;
	recording_clocks(&live->recording);
	live->recording.run = live->run;
	if (recording_create(dir, text) && recording_write(dir, &live->recording, text))
		return true;
	snprintf(error, LIVE_ERROR_MAX, "%s", text);
	return false;
}

void live_record_output(struct live *live, const void *data, size_t size)
{
	char error[RECORDING_ERROR_MAX];

	if (!live->options->record_dir || live->output_failed)
		return;
	if (!live->output)
		live->output = recording_output(live->options->record_dir, error);
	if (live->output) {
		recording_output_add(live->output, monotonic_ns(), data, size);
		return;
	}
	live->output_failed = true;
	live_say(live, 2, "%s", error);
}

void live_write_recording(struct live *live)
{
	char error[RECORDING_ERROR_MAX];

	if (!live->options->record_dir || !live->session)
		return;
	live->recording.run = live->run;
	live->recording.finished = true;
	live->recording.partial = live->stop_partial;
	if (live->output && (ferror(live->output) | fclose(live->output))) {
		live_say(live, 2, "cannot keep PROGRAM's output: %s", strerror(errno));
		live->failed = true;
	}
	live->output = NULL;
	if (!recording_write(live->options->record_dir, &live->recording, error)) {
		live_say(live, 2, "%s", error);
		live->failed = true;
	}
}

void live_recording(const struct live *live, struct recording *out)
{
	*out = live->recording;
	if (!live->opened)
		recording_clocks(out);
	out->run = live->run;
	if (live->session && live->phase != LIVE_DONE)
		out->run.wall_ns = monotonic_ns() - live->started_ns;
	out->finished = true;
	out->partial = live->phase != LIVE_DONE || live->stop_partial;
}

static bool start_file_reader(struct live *live, char error[LIVE_ERROR_MAX])
{
	char *trace = xasprintf("%s%s", live->options->open_path, live->foreign ? "" : "/trace");
	char text[READER_ERROR_MAX];
	struct reader_options reader = { .path = trace, .sink = live_sink, .sink_arg = live };
	bool good = true;

	/* A program without probes leaves an empty folder. */
	if (!reader_finds_trace(trace)) {
		if (access(trace, F_OK))
			live_say(live, 1, "the recording has no trace: '%s' is missing",
				 trace);
		live_finish_model(live);
	} else {
		live->phase = LIVE_ENDING;
		live->reader = reader_start(&reader, text);
		good = live->reader != NULL;
		if (!good)
			snprintf(error, LIVE_ERROR_MAX, "%s", text);
	}
	free(trace);
	return good;
}

void live_replay_output(struct live *live)
{
	char error[RECORDING_ERROR_MAX];

	if (!recording_output_read(live->options->open_path, live->take_output,
				   live->take_output_arg, error))
		live_say(live, 1, "%s", error);
}

/* Loads the model from the cache, or prepares one that can be saved as the next cache. */
static void open_cache(struct live *live)
{
	struct model *shape = model_new(NULL);

	thresholds_configure(shape, live->options);
	if (!live->foreign)
		cache_init(&live->cache, live->options, shape);
	live->model = cache_open(&live->cache, &live->cache_damaged);
	if (live->model) {
		live->finished = true;
		live->phase = LIVE_DONE;
		live_new_model(live, false);
	} else {
		live_new_model(live, cache_prepare(&live->cache));
		for (int i = 0; i < THRESHOLD_COUNT; i++)
			model_threshold_set(live->model, (enum threshold)i,
					    model_threshold(shape, (enum threshold)i));
	}
	model_free(shape);
}

bool live_must_reopen(const struct live *live)
{
	return cache_failed(&live->cache);
}

void live_keep_model(struct live *live, bool ended)
{
	if (!live->opened)
		return;
	/* Reported only now, because the next cache is not damaged. */
	if (ended)
		cache_write(&live->cache, live->model);
	if (live->cache_damaged)
		live_say(live, 1, "the recording's cache was damaged; tftop rebuilds it");
	live->cache_damaged = false;
}

/* ---- a folder that has recordings in it ---- */

#define BELOW_MOST 3u

struct recordings_below {
	size_t skip;			/* length of the path that they are below */
	char *name[BELOW_MOST];		/* owned; relative to it */
	size_t n;			/* how many there are; the first of them have a name */
	char *last;			/* owned; the last one that was found */
};

/* A trace whose folder, or one above it, is a recording of tftop. */
static void take_below(void *arg, const char *folder)
{
	struct recordings_below *below = arg;
	char *path = xstrdup(folder), *slash;

	for (; strlen(path) > below->skip; *slash = '\0') {
		char *file = xasprintf("%s/tftop.json", path);
		bool is_one = access(file, F_OK) == 0;

		free(file);
		if (is_one && (!below->last || strcmp(below->last, path))) {
			if (below->n < BELOW_MOST)
				below->name[below->n] = xstrdup(path + below->skip + 1);
			below->n++;
			free(below->last);
			below->last = xstrdup(path);
		}
		slash = strrchr(path, '/');
		if (is_one || !slash)
			break;
	}
	free(path);
}

/* Several recordings are not one, nor is a folder that happens to have one somewhere below. */
static bool has_recordings_below(const char *path, char error[LIVE_ERROR_MAX])
{
	struct recordings_below below = { .skip = strlen(path) };
	size_t at;

	while (below.skip > 1 && path[below.skip - 1] == '/')
		below.skip--;
	reader_trace_folders(path, take_below, &below);
	at = (size_t)snprintf(error, LIVE_ERROR_MAX, "'%s' is a folder with %s: open ", path,
			      below.n == 1 ? "a recording in it" : "recordings in it, not one");
	for (size_t i = 0; i < below.n && i < BELOW_MOST && at < LIVE_ERROR_MAX; i++)
		at += (size_t)snprintf(error + at, LIVE_ERROR_MAX - at, "%s'%s'",
				       i ? i + 1 == below.n ? " or " : ", " : "", below.name[i]);
	if (below.n > BELOW_MOST && at < LIVE_ERROR_MAX)
		snprintf(error + at, LIVE_ERROR_MAX - at, " or one of %zu more",
			 below.n - BELOW_MOST);
	for (size_t i = 0; i < below.n && i < BELOW_MOST; i++)
		free(below.name[i]);
	free(below.last);
	return below.n > 0;
}

bool live_open_recording(struct live *live, char error[LIVE_ERROR_MAX])
{
	char text[RECORDING_ERROR_MAX];

	if (!recording_read(live->options->open_path, &live->recording, text)) {
		if (!text[0] && has_recordings_below(live->options->open_path, error))
			return false;
		if (!text[0] && reader_finds_trace(live->options->open_path)) {
			live->foreign = true;
		} else {
			if (text[0])
				snprintf(error, LIVE_ERROR_MAX, "%s", text);
			else
				snprintf(error, LIVE_ERROR_MAX, "no 'tftop.json' in '%s', and no "
					 "CTF trace: this version opens no other recordings",
					 live->options->open_path);
			return false;
		}
	}
	live->opened = true;
	if (!live->foreign) {
		live->run = live->recording.run;
		live->stop_partial = live->recording.partial || !live->recording.finished;
	}
	live->drain_until_ns = INT64_MAX;
	open_cache(live);
	if (live->finished)
		return true;
	return start_file_reader(live, error);
}

