/* SPDX-License-Identifier: MIT */
/* `export` in the loop: one export at a time, with a message when it ends. */
#include <stdio.h>
#include <strings.h>

#include "model/base/util.h"
#include "tui/base/complain.h"
#include "tui/run/exports.h"
#include "tui/loop/loop.h"

/* Waits for the export. Returns false and a sentence in text if it failed. */
static bool finish(struct tui *tui, char text[EXPORT_SENTENCE_MAX])
{
	bool good = export_end(tui->export, text);

	tui->export = NULL;
	return good;
}

bool export_begin(struct tui *tui, const struct command_call *call, char *error, size_t size)
{
	/* "export FORMAT:FILE" and "export FORMAT FILE" are the same, as is either before `last` */
	bool joined = call->argc == 2 || (call->argc == 4 && !strcasecmp(call->argv[2], "last"));
	struct export_target target = { .from_ns = INT64_MIN };
	char text[EXPORT_SENTENCE_MAX];

	if (tui->export) {
		snprintf(error, size, "still exporting: %d %% done",
			 export_percent(tui->export));
		return false;
	}
	if (joined ? !export_parse(call->argv[1], &target, error, size) :
		     !foreign_parse(call->argv[1], &target.kind, error, size))
		return false;
	if (!joined)
		target.path = call->argv[2];
	model_lock(tui->model);
	model_status(tui->model, &tui->status);
	model_unlock(tui->model);
	if (!save_find_from(tui, call, joined ? 2 : 3, &target.from_ns, error, size))
		return false;
	tui->export = export_start(tui->model, &target, error, size);
	tui->export_percent = -1;
	if (!tui->export)
		return false;
	if (!tui->script) {
		tui_say(tui, false, "exporting to '%s' ...", target.path);
		return true;
	}
	/* In a script, the next line finds the export finished. */
	if (!finish(tui, text)) {
		snprintf(error, size, "%s", text);
		return false;
	}
	tui_say(tui, false, "%s", text);
	return true;
}

void export_look(struct tui *tui)
{
	char sentence[EXPORT_SENTENCE_MAX];
	int percent;
	bool good;

	if (!tui->export)
		return;
	percent = export_percent(tui->export);
	if (!export_is_over(tui->export)) {
		if (percent != tui->export_percent)
			tui_say(tui, false, "exporting: %d %%", percent);
		tui->export_percent = percent;
		return;
	}
	good = finish(tui, sentence);
	tui_say(tui, !good, "%s", sentence);
	if (!good)
		model_message(tui->model, 2, sentence);
	tui->dirty = true;
}

bool export_leave(struct tui *tui)
{
	char sentence[EXPORT_SENTENCE_MAX];
	bool good = true;

	if (tui->export) {
		good = finish(tui, sentence);
		if (!good)
			complain_on_stderr("%s", sentence);
	}
	return export_all(tui->options, tui->model, NULL) && good;
}
