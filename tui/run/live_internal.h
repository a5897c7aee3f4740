/* SPDX-License-Identifier: MIT */
/*
 * What the files of a live run share (live.c, live_*.c). No other file includes this.
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
	struct reader *reader;		/* owned; NULL: PROGRAM runs bare */
	struct live_import *import;	/* owned; a file of another profiler, or NULL */
	struct model *model;		/* owned */
	struct gate *gate;		/* owned */
	enum live_phase phase;
	bool finished;			/* the model is */
	bool stop_partial;		/* how it will be finished */
	bool exited;
	_Atomic bool introduced;	/* see live_has_come() */
	unsigned int pumped;		/* live_pump() calls before the start */
	int exit_code;			/* what tftop leaves with */
	int64_t started_ns, ended_ns;
	int64_t watched_ns, awake_ns;	/* last live_pump(); since when they come regularly */
	int64_t stop_ns;		/* when tracing was stopped */
	bool draining;			/* it is, and the reader knows how far to read */
	int64_t drain_until_ns, drain_max_ns;
	uint64_t drain_events;		/* read when drain_until_ns was set */
	unsigned int reattached;	/* of the reader, when last looked at */
	bool hurries;			/* see live_hurries() */
	bool restarts;			/* daemons have died, nothing was read of others yet */
	unsigned int gaps;		/* of the reader, when last looked at */
	bool reader_told, silent_told;	/* messages said once an episode */
	struct recording recording;	/* of -o, or the one that was opened */
	bool opened;			/* it owns its strings */
	bool foreign;			/* CTF of others: no tftop.json */
	struct cache cache;		/* of the one that was opened */
	bool cache_damaged;
	bool stopped_reading;		/* before its end */
	FILE *output;			/* owned: PROGRAM's output in the recording */
	bool output_failed;
	bool failed;			/* tftop's own part: leave with 125 */
	char host[256];
	char **command;			/* owned; of a program that ran already, or NULL */
	char **others;			/* owned; of options->pids but the first, or NULL */
	char error[LIVE_ERROR_MAX];	/* why live_start() failed */
	struct report_run run;
	void (*take_output)(void *arg, const void *data, size_t size);
	void *take_output_arg;
};

/* ---- live.c ---- */
void live_say(struct live *live, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The reader's sink; arg is the live. */
void live_sink(void *arg, const struct event *events, size_t count);
void live_new_model(struct live *live, bool keepable);
/* All is read: the phase is LIVE_DONE after it. Once. */
void live_finish_model(struct live *live);

/* Takes in what happens within that time, or at the first thing that does. */
void live_wait(struct live *live, int timeout_ms);

/* ---- live_attach.c ---- */
/* Of options->pids, from /proc: live->run.command is the first one's. */
void live_read_command(struct live *live);
void live_free_command(struct live *live);
/* Whether it has introduced itself to this tftop; arg is the live. Of --join only. */
bool live_has_come(void *arg);
/* For that; the reader's thread. */
void live_look_for_it(struct live *live, const struct event *events, size_t count);

/* ---- live_restart.c ---- */
/* SESSION_RESTARTS and SESSION_RESTARTED. */
void live_take_restart(struct live *live, const struct session_event *event);
/* Has something been read of daemons that were started anew? */
/* That the reader attached anew, and why; at the end nobody asks for what it missed. */
void live_say_reattached(struct live *live, bool at_end);
void live_look_at_gap(struct live *live);

/* ---- live_trigger.c ---- */
#define LIVE_TRIGGER_MAX (2 * TFT_TRIGGER_TEXT + 32)
/* What options->trigger is, in words. */
const char *live_trigger_name(const struct options *options, char *text, size_t size);
/* There is a trigger, and nobody has chosen a level since. */
bool live_is_triggered(const struct live *live);
/* How often it began, in all processes. */
uint64_t live_triggers(struct live *live);
/* What is to be said at the start and at the end. */
void live_begin_trigger(struct live *live);
void live_end_trigger(struct live *live);

/* ---- live_words.c ---- */
/* What the probes that are there say of themselves: "opencl nvtx". */
void live_list_probes(struct live *live, char *text, size_t size);
/* Whether something was told that may be why nothing was seen. */
bool live_has_warned(struct live *live);

/* ---- live_import.c ---- */
/* Not a folder: nothing of tftop's own. */
bool live_is_file(const char *path);
/* Opens options->open_path and starts reading it; false: error says why. */
bool live_open_import(struct live *live, char error[LIVE_ERROR_MAX]);
/* Has all been read? */
void live_look_at_import(struct live *live);
void live_stop_import(struct live *live);
int live_import_progress(const struct live *live);
void live_free_import(struct live *live);

/* ---- live_recording.c ---- */
/* What PROGRAM had printed, to live->take_output. */
void live_replay_output(struct live *live);
/* At the end: PROGRAM itself, all that was attached to, is listed even when no probe was in it. */
void live_introduce(struct live *live);
/* -o DIR: made at the start, told at the end. false: error says why. */
bool live_make_recording(struct live *live, char error[LIVE_ERROR_MAX]);
void live_record_output(struct live *live, const void *data, size_t size);
void live_write_recording(struct live *live);
/* All was read (ended), or nothing can be: the cache. */
void live_keep_model(struct live *live, bool ended);
/* Opens options->open_path and starts reading it; false: error says why. */
bool live_open_recording(struct live *live, char error[LIVE_ERROR_MAX]);

#endif
