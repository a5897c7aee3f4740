/* SPDX-License-Identifier: MIT */
/*
 * What the files of a live run share (live.c, live_*.c). No other file includes this header.
 */
#ifndef TUI_LIVE_INTERNAL_H
#define TUI_LIVE_INTERNAL_H

#include "probes/session/live/reader.h"
#include "probes/session/session.h"
#include "tui/run/cache.h"
#include "tui/run/gate.h"
#include "tui/run/live.h"
#include "tui/run/recording.h"

struct live {
	const struct options *options;	/* borrowed */
	struct session *session;	/* owned; NULL: a recording */
	struct reader *reader;		/* owned; NULL: PROGRAM runs untraced */
	struct live_import *import;	/* owned; a file of another profiler, or NULL */
	struct model *model;		/* owned */
	struct gate *gate;		/* owned */
	enum live_phase phase;
	bool finished;			/* the model is finished */
	bool stop_partial;		/* whether it will be finished as partial */
	bool exited;
	_Atomic bool introduced;	/* see live_has_come() */
	unsigned int pumped;		/* how often live_pump() was called before the start */
	int exit_code;			/* tftop's exit status */
	int64_t started_ns, ended_ns;
	/* the last live_pump(); since when it is called regularly */
	int64_t watched_ns, awake_ns;
	int64_t stop_ns;		/* when tracing was stopped */
	bool draining;	/* tracing has stopped, and the reader knows how far to read */
	int64_t drain_until_ns, drain_max_ns;
	uint64_t drain_events;	/* how many events had been read when drain_until_ns was set */
	unsigned int reattached;	/* value of the reader when last looked at */
	bool hurries;			/* see live_hurries() */
	bool restarts;	/* daemons have died, and nothing of new ones has been read yet */
	unsigned int gaps;		/* value of the reader when last looked at */
	/* messages that are given once per episode have been given */
	bool reader_told, silent_told;
	struct recording recording;	/* the recording of -o, or the one that was opened */
	bool opened;			/* `recording` owns its strings */
	bool foreign;			/* CTF of another program: there is no tftop.json */
	struct cache cache;		/* cache of the recording that was opened */
	bool cache_damaged;
	bool stopped_reading;		/* reading was stopped before the end */
	FILE *output;			/* owned; file for PROGRAM's output in the recording */
	bool output_failed;
	bool failed;			/* a part of tftop itself failed: exit with 125 */
	char host[256];
	char **command;			/* owned; command of a program that ran already, or NULL */
	char **others;	/* owned; commands of all options->pids but the first, or NULL */
	char error[LIVE_ERROR_MAX];	/* why live_start() failed */
	struct report_run run;
	struct report_left *left;	/* owned; run.left of a live run, or NULL */
	void (*take_output)(void *arg, const void *data, size_t size);
	void *take_output_arg;
};

/* ---- live.c ---- */
void live_say(struct live *live, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The reader's sink; arg is the live. */
void live_sink(void *arg, const struct event *events, size_t count);
void live_new_model(struct live *live, bool keepable);
/* Finishes the model when everything has been read; the phase is LIVE_DONE afterwards. To be called
 * once. */
void live_finish_model(struct live *live);

/* Handles what happens within that time, or until the first event. */
void live_wait(struct live *live, int timeout_ms);

/* ---- live_attach.c ---- */
/* Reads the commands of options->pids from /proc; live->run.command is that of the first one. */
void live_read_command(struct live *live);
void live_free_command(struct live *live);
/* Whether the joined program has connected to this tftop; arg is the live. For --join only. */
bool live_has_come(void *arg);
/* Looks for that; called on the reader's thread. */
void live_look_for_it(struct live *live, const struct event *events, size_t count);

/* ---- live_left.c ---- */
/* Once PROGRAM has ended: tells which processes it left running, and puts them into the report. */
void live_tell_left(struct live *live);
void live_free_left(struct live *live);

/* ---- live_restart.c ---- */
/* Handles SESSION_RESTARTS and SESSION_RESTARTED. */
void live_take_restart(struct live *live, const struct session_event *event);
/* Has something been read of daemons that were started anew? */
/* That the reader attached anew, and why; at the end nobody asks for what it missed. */
void live_say_reattached(struct live *live, bool at_end);
void live_look_at_gap(struct live *live);

/* ---- live_trigger.c ---- */
#define LIVE_TRIGGER_MAX (2 * TFT_TRIGGER_TEXT + 32)
/* Describes options->trigger in words. */
const char *live_trigger_name(const struct options *options, char *text, size_t size);
/* Whether there is a trigger and the user has not chosen a level since. */
bool live_is_triggered(const struct live *live);
/* How often the trigger has begun, in all processes. */
uint64_t live_triggers(struct live *live);
/* Give the messages about the trigger at the start and at the end. */
void live_begin_trigger(struct live *live);
void live_end_trigger(struct live *live);

/* ---- live_words.c ---- */
/* What the probes report about themselves, such as "opencl nvtx". */
void live_list_probes(struct live *live, char *text, size_t size);
/* Whether there was a message that may explain why nothing was seen. */
bool live_has_warned(struct live *live);

/* ---- live_import.c ---- */
/* Whether the path is not a folder, and so not a recording of tftop. */
bool live_is_file(const char *path);
/* Opens options->open_path and starts reading it; false: error says why. */
bool live_open_import(struct live *live, char error[LIVE_ERROR_MAX]);
/* Handles the end of reading. */
void live_look_at_import(struct live *live);
void live_stop_import(struct live *live);
int live_import_progress(const struct live *live);
void live_free_import(struct live *live);

/* ---- live_recording.c ---- */
/* Passes PROGRAM's recorded output to live->take_output. */
void live_replay_output(struct live *live);
/* Called at the end: makes PROGRAM, or all processes that were attached to, appear in the list even
 * if no probe was in them. */
void live_introduce(struct live *live);
/* For -o DIR: makes the folder at the start, and reports it at the end. false: `error` says why. */
bool live_make_recording(struct live *live, char error[LIVE_ERROR_MAX]);
void live_record_output(struct live *live, const void *data, size_t size);
void live_write_recording(struct live *live);
/* Everything was read (ended), or nothing more can be: writes the cache. */
void live_keep_model(struct live *live, bool ended);
/* Opens options->open_path and starts reading it; false: error says why. */
bool live_open_recording(struct live *live, char error[LIVE_ERROR_MAX]);

#endif
