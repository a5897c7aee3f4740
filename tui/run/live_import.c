/* SPDX-License-Identifier: MIT */
/* A file recorded by another profiler, read in a thread. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/base/util.h"
#include "model/import/import.h"
#include "tui/run/live_internal.h"

struct live_import {
	struct import *import;		/* owned */
	pthread_t thread;
	bool joined;
	_Atomic bool over;
	enum import_result result;	/* valid when the thread is over */
	char *command[2];		/* the command as the report shows it; borrowed */
};

static void say(void *arg, int level, const char *text)
{
	live_say(arg, level, "%s", text);
}

static void *run(void *arg)
{
	struct live *live = arg;

	live->import->result = import_run(live->import->import);
	live->import->over = true;
	return NULL;
}

bool live_is_import(const struct live *live)
{
	return live && live->import;
}

bool live_is_file(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && !S_ISDIR(st.st_mode);
}

bool live_open_import(struct live *live, char error[LIVE_ERROR_MAX])
{
	struct import_options options = {
		.path = live->options->open_path, .sink = live_sink, .say = say, .arg = live,
	};
	struct live_import *import = xcalloc(1, sizeof(*import));

	import->import = import_new(&options, error);
	if (!import->import) {
		size_t used = strlen(error);

		snprintf(error + used, LIVE_ERROR_MAX - used, "; to run a program, 'tftop -- %s'",
			 live->options->open_path);
		free(import);
		return false;
	}
	live->import = import;
	import->command[0] = (char *)(uintptr_t)live->options->open_path;
	live->run.command = import->command;
	live->run.host = NULL;
	live->drain_until_ns = INT64_MAX;
	live_new_model(live, false);
	live->phase = LIVE_ENDING;
	if (!pthread_create(&import->thread, NULL, run, live))
		return true;
	snprintf(error, LIVE_ERROR_MAX, "cannot start a thread to read '%s'",
		 live->options->open_path);
	import->joined = true;
	return false;
}

void live_look_at_import(struct live *live)
{
	struct live_import *import = live->import;
	struct model_status status;

	if (!import->over || import->joined)
		return;
	pthread_join(import->thread, NULL);
	import->joined = true;
	live->stop_partial |= import->result == IMPORT_PART || import->result == IMPORT_STOPPED;
	if (import->result == IMPORT_NOTHING)
		live->exit_code = 125;
	live_finish_model(live);
	model_lock(live->model);
	model_status(live->model, &status);
	model_unlock(live->model);
	if (status.first_ns <= status.last_ns)
		live->run.wall_ns = status.last_ns - status.first_ns;
}

void live_stop_import(struct live *live)
{
	import_stop(live->import->import);
	live->stop_partial = true;
}

int live_import_progress(const struct live *live)
{
	return import_progress(live->import->import) / 10;
}

void live_free_import(struct live *live)
{
	struct live_import *import = live->import;

	if (!import)
		return;
	import_stop(import->import);
	if (!import->joined)
		pthread_join(import->thread, NULL);
	import_free(import->import);
	free(import);
	live->import = NULL;
}
