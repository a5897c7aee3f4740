/* SPDX-License-Identifier: MIT */
/* The state of a run, in words for the screen. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/run/live_internal.h"

void live_list_probes(struct live *live, char *text, size_t size)
{
	struct process_row *rows;
	size_t count, used = 0;

	model_lock(live->model);
	count = model_processes(live->model, &rows);
	model_unlock(live->model);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < rows[i].n_probes && k < 8; k++) {
			if (strstr(text, rows[i].probes[k]) || used >= size)
				continue;
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
						 rows[i].probes[k]);
		}
	free(rows);
}

bool live_has_warned(struct live *live)
{
	struct message_row *rows;
	bool warned = false;
	size_t count;

	model_lock(live->model);
	count = model_messages(live->model, &rows);
	model_unlock(live->model);
	for (size_t i = 0; i < count; i++)
		warned |= rows[i].level > 0;
	free(rows);
	return warned;
}

int live_progress(const struct live *live)
{
	int done;

	if (live->import && live->phase == LIVE_ENDING)
		return live_import_progress(live);
	if (live->session || live->phase != LIVE_ENDING || !live->reader)
		return -1;
	done = reader_progress(live->reader);
	return done < 0 ? 0 : done / 10;
}

const char *live_waiting_for(struct live *live, char *text, size_t size)
{
	const char *name = live_program_name(live);
	char probes[128], time[FMT_MAX], trigger[LIVE_TRIGGER_MAX];

	if (!live->session) {
		snprintf(text, size, live->phase == LIVE_DONE ? "nothing was recorded" :
			 "reading the recording, %d %%", live_progress(live));
		return text;
	}
	fmt_time(time, monotonic_ns() - live->started_ns);
	live_list_probes(live, probes, sizeof(probes));
	if (live->phase == LIVE_STARTING)
		snprintf(text, size, "starting the tracer");
	else if (live->exited)
		snprintf(text, size, "%s ended; no device work was seen", name);
	else if (live->phase == LIVE_STOPPED)
		snprintf(text, size, "%s is stopped", name);
	else if (!live->reader)
		snprintf(text, size, "%s runs untraced: see 8 messages", name);
	else if (probes[0] && live_is_triggered(live) && !live_triggers(live))
		snprintf(text, size, "%s: probes %s, waiting for %s, %s", name, probes,
			 live_trigger_name(live->options, trigger, sizeof(trigger)), time);
	else if (probes[0])
		snprintf(text, size, "%s: probes %s, no device work yet, %s", name, probes, time);
	else
		snprintf(text, size, "starting: %s, no framework loaded yet, %s", name, time);
	return text;
}
