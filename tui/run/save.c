/* SPDX-License-Identifier: MIT */
/* The thread that writes a recording from the model. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording/export.h"
#include "model/query/query.h"
#include "model/base/util.h"
#include "probes/session/recording/ctf_writer.h"
#include "tui/base/atomic_file.h"
#include "tui/timeline/marks.h"
#include "tui/run/save.h"

#define BATCH 1024u
#define STREAMS 2

struct save {
	struct save_options options;
	char *path, *temporary;		/* owned */
	char *output, *output_file, *marks;	/* owned */
	pthread_t thread;
	atomic_bool over;
	/* used by the thread alone until it is over */
	struct model_export_gap gap;
	struct event last;		/* process and time of the last event */
	bool good;
	char error[RECORDING_ERROR_MAX];
};

/* ---- the thread ---- */

/* Returns a folder name made from the host name. */
static char *trace_folder(const struct save *save)
{
	const char *host = save->options.recording.run.host;
	char *path = xasprintf("%s/trace/%s", save->temporary, host && *host ? host : "host");

	for (char *c = path + strlen(save->temporary) + 7; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ' || (*c == '.' && c[-1] == '/'))
			*c = '_';
	return path;
}

/* Adds a message to the recording, with the process and time of its last event. */
static void say(const struct save *save, struct ctf_writer *writer, int level, const char *format,
		int64_t before_ns)
{
	char text[256], clock[FMT_MAX];
	struct event event = save->last;

	if (!event.pid)
		return;
	snprintf(text, sizeof(text), format, fmt_clock(clock, before_ns - save->options.first_ns));
	event.type = EVENT_MESSAGE;
	event.seq = 0;
	event.u.message = (struct event_message) { .level = level, .text = text };
	ctf_writer_add(writer, &event, 1);
}

/* Adds messages about what the recording does not contain. */
static void say_gap(const struct save *save, struct ctf_writer *writer)
{
	if (save->gap.spans_ns != INT64_MIN)
		say(save, writer, 1,
		    "details before %s had been discarded (--memory-limit) and are not in this "
		    "recording",
		    save->gap.spans_ns);
	else if (save->options.from_ns != INT64_MIN)
		say(save, writer, 0,
		    "saved without the events that ended before %s: totals are those of the rest",
		    save->options.from_ns);
	if (save->gap.calls_ns != INT64_MIN)
		say(save, writer, 1,
		    "calls, waits, builds and allocations before %s had been discarded "
		    "(--memory-limit) and are not in this recording",
		    save->gap.calls_ns);
}

static bool write_trace(struct save *save)
{
	const struct recording *recording = &save->options.recording;
	char *path = trace_folder(save);
	struct ctf_writer_options options = {
		.path = path, .host = recording->run.host ? recording->run.host : "",
		.offset_ns = recording->real_ns - recording->mono_ns, .streams = STREAMS,
	};
	struct ctf_writer *writer = ctf_writer_new(&options, save->error, sizeof(save->error));
	struct event *events = xreallocarray(NULL, BATCH, sizeof(*events));
	struct model_export *export;
	size_t n;

	free(path);
	if (!writer) {
		free(events);
		return false;
	}
	export = model_export_new(save->options.model, save->options.from_ns);
	while ((n = model_export_next(export, events, BATCH)) > 0) {
		save->last = events[n - 1];
		if (!ctf_writer_add(writer, events, n))
			break;
	}
	model_export_gap(export, &save->gap);
	model_export_free(export);
	free(events);
	say_gap(save, writer);
	return ctf_writer_close(writer, save->error, sizeof(save->error));
}

static bool copy_output(struct save *save, FILE *to)
{
	FILE *from = save->output_file ? fopen(save->output_file, "re") : NULL;
	char data[16384];
	size_t n;

	if (save->output)
		recording_output_add(to, save->options.output_ns, save->output,
				     strlen(save->output));
	while (from && (n = fread(data, 1, sizeof(data), from)) > 0)
		fwrite(data, 1, n, to);
	if (from)
		fclose(from);
	return !ferror(to);
}

static bool write_output(struct save *save)
{
	FILE *to;
	bool good;

	if (!save->output && !save->output_file)
		return true;
	to = recording_output(save->temporary, save->error);
	if (!to)
		return false;
	errno = 0;
	good = copy_output(save, to);
	if (fclose(to) || !good) {
		snprintf(save->error, sizeof(save->error), "PROGRAM's output: %s",
			 strerror(errno ? errno : EIO));
		return false;
	}
	return true;
}

static void *save_work(void *arg)
{
	struct save *save = arg;
	bool good = write_trace(save) && write_output(save) &&
		marks_write(save->marks, save->temporary, save->error, sizeof(save->error)) &&
		recording_write(save->temporary, &save->options.recording, save->error);

	if (good)
		good = !atomic_folder_commit(save->temporary, save->path, save->error,
					     sizeof(save->error));
	else
		atomic_folder_discard(save->temporary);
	save->good = good;
	atomic_store(&save->over, true);
	return NULL;
}

/* ---- the outside ---- */

static void release(struct save *save)
{
	free(save->path);
	free(save->output);
	free(save->output_file);
	free(save->marks);
	free(save);
}

struct save *save_start(const struct save_options *options, char *error, size_t size)
{
	struct save *save = xcalloc(1, sizeof(*save));
	int code;

	save->options = *options;
	save->path = xstrdup(options->path);
	save->output = options->output ? xstrdup(options->output) : NULL;
	save->marks = xstrdup(options->marks ? options->marks : "");
	save->output_file = options->output_file ? xstrdup(options->output_file) : NULL;
	save->temporary = atomic_folder_open(options->path, error, size);
	if (!save->temporary) {
		release(save);
		return NULL;
	}
	code = pthread_create(&save->thread, NULL, save_work, save);
	if (!code)
		return save;
	snprintf(error, size, "cannot save: %s", strerror(code));
	atomic_folder_discard(save->temporary);
	release(save);
	return NULL;
}

const char *save_path(const struct save *save)
{
	return save->path;
}

bool save_is_over(const struct save *save)
{
	return atomic_load(&save->over);
}

bool save_end(struct save *save, char sentence[SAVE_SENTENCE_MAX])
{
	char count[FMT_MAX], clock[FMT_MAX];
	bool good;
	int n;

	pthread_join(save->thread, NULL);
	good = save->good;
	if (!good) {
		snprintf(sentence, SAVE_SENTENCE_MAX, "cannot save to '%s': %s", save->path,
			 save->error);
	} else {
		n = snprintf(sentence, SAVE_SENTENCE_MAX, "saved %s spans to '%s'",
			     fmt_count(count, save->gap.spans), save->path);
		if (save->gap.spans_ns != INT64_MIN && n < SAVE_SENTENCE_MAX)
			snprintf(sentence + n, (size_t)(SAVE_SENTENCE_MAX - n),
				 "; details before %s had been discarded and are not in it",
				 fmt_clock(clock, save->gap.spans_ns - save->options.first_ns));
		n = (int)strlen(sentence);
		if (save->gap.calls_ns != INT64_MIN && n < SAVE_SENTENCE_MAX)
			snprintf(sentence + n, (size_t)(SAVE_SENTENCE_MAX - n),
				 "; calls and allocations before %s are not in it",
				 fmt_clock(clock, save->gap.calls_ns - save->options.first_ns));
	}
	release(save);
	return good;
}
