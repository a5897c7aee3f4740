/* SPDX-License-Identifier: MIT */
/* `save` in the loop: one at a time, with a message when it ends. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/base/util.h"
#include "tui/loop/loop.h"
#include "tui/run/save.h"

/* The lines of output that pane 7 has kept. */
static char *kept_output(const struct program_output *output)
{
	struct strbuf text;
	size_t n = output_count(output);

	if (!n)
		return NULL;
	strbuf_init(&text);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&text, "%s\n", output_line(output, i));
	return strbuf_detach(&text);
}

static void save_describe(const struct tui *tui, struct recording *out)
{
	static char program[] = "synthetic";
	static char *const command[] = { program, NULL };

	if (tui->live) {
		live_recording(tui->live, out);
		return;
	}
	*out = (struct recording) {
		.run = { .command = command, .host = "synth", .wall_ns = -1, .exit_status = -1 },
		.mono_ns = SYNTH_BASE_NS, .real_ns = SYNTH_BASE_NS, .raw_ns = SYNTH_BASE_NS,
		.finished = true, .partial = !tui->status.finished,
	};
}

bool save_find_from(const struct tui *tui, const struct command_call *call, int at,
		    int64_t *from_ns, char *error, size_t size)
{
	const struct model_status *status = &tui->status;
	int64_t length_ns, end_ns = status->finished ? status->last_ns : status->live_ns;

	*from_ns = INT64_MIN;
	if (call->argc == at)
		return true;
	if (call->argc != at + 2 || strcasecmp(call->argv[at], "last")) {
		snprintf(error, size, "usage: %s [last TIME]",
			 !strcmp(call->argv[0], "save") ? "save DIR" : "export FORMAT FILE");
		return false;
	}
	if (!parse_time_ns(call->argv[at + 1], &length_ns) || length_ns <= 0) {
		snprintf(error, size, "'%s' is not a time; write 5s or 200ms", call->argv[at + 1]);
		return false;
	}
	*from_ns = end_ns - length_ns;
	return true;
}

/* Waits for a save that is in progress. Returns false and a sentence in error if it failed. */
static bool save_finish(struct tui *tui, char *error, size_t size)
{
	char sentence[SAVE_SENTENCE_MAX];
	bool good;

	if (!tui->save)
		return true;
	good = save_end(tui->save, sentence);
	tui->save = NULL;
	if (!good)
		snprintf(error, size, "%s", sentence);
	else
		tui_say(tui, false, "%s", sentence);
	return good;
}

bool save_begin(struct tui *tui, const struct command_call *call, char *error, size_t size)
{
	struct save_options options = { .model = tui->model, .path = call->argv[1] };
	char *output = NULL, *file = NULL, *marks;

	if (tui->save) {
		snprintf(error, size, "still saving to '%s'", save_path(tui->save));
		return false;
	}
	model_lock(tui->model);
	model_status(tui->model, &tui->status);
	model_unlock(tui->model);
	if (!save_find_from(tui, call, 2, &options.from_ns, error, size))
		return false;
	options.first_ns = tui->status.first_ns;
	if (options.first_ns > tui->status.live_ns)
		options.first_ns = tui->status.live_ns;		/* the run has no length yet */
	save_describe(tui, &options.recording);
	if (tui->options->open_path && !live_is_import(tui->live))
		options.output_file = file = xasprintf("%s/output", tui->options->open_path);
	else
		options.output = output = kept_output(tui->output);
	options.output_ns = tui->status.live_ns;
	options.marks = marks = marks_text(&tui->marks);
	tui->save = save_start(&options, error, size);
	free(marks);
	free(output);
	free(file);
	if (!tui->save)
		return false;
	/* In a script, the next line finds the save finished. */
	if (tui->script)
		return save_finish(tui, error, size);
	tui_say(tui, false, "saving to '%s' ...", options.path);
	return true;
}

void save_look(struct tui *tui)
{
	char sentence[SAVE_SENTENCE_MAX];
	bool good;

	if (!tui->save || !save_is_over(tui->save))
		return;
	good = save_end(tui->save, sentence);
	tui->save = NULL;
	tui_say(tui, !good, "%s", sentence);
	if (!good)
		model_message(tui->model, 2, sentence);
	tui->dirty = true;
}

void save_leave(struct tui *tui)
{
	char error[SAVE_SENTENCE_MAX];

	if (!save_finish(tui, error, sizeof(error)) && !tui->save_error)
		tui->save_error = xstrdup(error);
}
