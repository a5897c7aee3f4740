/* SPDX-License-Identifier: MIT */
/* Session, reader and model combined into one run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/process/process.h"
#include "tui/run/live_internal.h"
#include "tui/base/log.h"

#define ATTACH_NS INT64_C(8000000000)	/* time for the viewer to reach the relay daemon */
#define DRAIN_NS 3000000000	/* longest wait for the remaining events without any arriving */
/* longest wait for all remaining events while they arrive */
#define DRAIN_MAX_NS 60000000000
#define STOP_NS 400000000		/* time for the reader of a recording to stop */
#define SILENT_NS 2000000000		/* beacons come each 50 ms, in batch each 250 */
#define CACHE_BATCH_MS 60000		/* time for the cache of a recording to be written */
#define CACHE_MS 2000
#define ASLEEP_NS 1000000000	/* if live_pump() was not called for so long, tftop was stopped */

void live_say(struct live *live, int level, const char *format, ...)
{
	char text[LIVE_ERROR_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_line("message %d: %s", level, text);
	model_message(live->model, level, text);
}

void live_sink(void *arg, const struct event *events, size_t count)
{
	struct live *live = arg;

	live_look_for_it(live, events, count);
	gate_apply(live->gate, events, count);
}

static int connect_relay(void *arg, uint16_t port)
{
	return session_connect(arg, port);
}

static uint32_t outer_pid(void *arg, uint32_t inner)
{
	return session_pid(arg, inner);
}

/* ---- making ---- */

static struct live *new_live(const struct options *options)
{
	struct live *live = xcalloc(1, sizeof(*live));

	live->options = options;
	live->run.wall_ns = -1;
	live->run.exit_status = -1;
	if (gethostname(live->host, sizeof(live->host) - 1) == 0)
		live->run.host = live->host;
	return live;
}

void live_new_model(struct live *live, bool keepable)
{
	struct model_options model = {
		.memory_limit = live->options->memory_limit_bytes, .keepable = keepable,
	};
	struct gate_window window = { 0 };

	/* The screen also shows what was before the window, and stops by itself. */
	if (options_batch(live->options))
		window = (struct gate_window){
			.from_step = live->options->from_step, .steps = live->options->steps,
			.for_ns = live->options->for_ns, .told = live->session != NULL,
		};
	if (!live->model)
		live->model = model_new(&model);
	live->gate = gate_new(live->model, &window);
}

static struct live *new_program(struct live *live, bool screen, const struct winsize *size,
				char error[LIVE_ERROR_MAX], int *exit_status)
{
	const struct options *options = live->options;
	char self[PATH_MAX], text[SESSION_ERROR_MAX];
	struct session_options session = {
		.argv = options->program, .pids = options->pids, .n_pids = options->n_pids,
		.n_given = options->n_given, .follow = options->children, .join = options->join,
		.stay = options->stay, .self_dir = self, .seen = live_has_come, .seen_arg = live,
		.lossless = options->lossless, .budget = options->budget,
		.probes = options->probes, .level = options->level, .trigger = options->trigger,
		.range = options->range, .record_dir = options->record_dir,
		.unhurried = options_batch(options), .screen = screen && !options->n_pids,
	};

	process_own_folder(self, sizeof(self));
	if (size)
		session.winsize = *size;
	live->run.command = options->program;
	if (options->n_pids)
		live_read_command(live);
	*exit_status = 125;
	if (!live_make_recording(live, error)) {
		live_free(live);
		return NULL;
	}
	live->session = session_fork(&session, text, exit_status);
	if (!live->session) {
		snprintf(error, LIVE_ERROR_MAX, "%s", text);
		live_free(live);
		return NULL;
	}
	live_new_model(live, false);
	live_begin_trigger(live);
	return live;
}

struct live *live_new(const struct options *options, bool screen, const struct winsize *size,
		      char error[LIVE_ERROR_MAX], int *exit_status)
{
	struct live *live = new_live(options);

	error[0] = '\0';
	*exit_status = 125;
	if (options->program || options->n_pids)
		return new_program(live, screen, size, error, exit_status);
	if (live_is_file(options->open_path) ? live_open_import(live, error) :
					       live_open_recording(live, error))
		return live;
	live_free(live);
	return NULL;
}

/* ---- starting ---- */

static void start_reader(struct live *live)
{
	char error[READER_ERROR_MAX];
	struct reader_options options = {
		.url = session_url(live->session), .sink = live_sink, .sink_arg = live,
		.connect = connect_relay, .connect_arg = live->session,
		.pid = outer_pid, .period_ns = session_period_ns(live->session),
	};

	live->reader = reader_start(&options, error);
	if (!live->reader) {
		live_say(live, 2, "cannot trace: %s", error);
		return;
	}
	log_line("reading '%s'", options.url);
	if (!reader_wait_attached(live->reader, (int)(process_patience(ATTACH_NS) / 1000000)))
		live_say(live, 2,
			 "the relay daemon does not answer: events of PROGRAM may be lost");
}

static bool not_started(struct live *live, const char *error)
{
	snprintf(live->error, sizeof(live->error),
		 live->options->n_pids ? "%s" : "cannot start PROGRAM: %s", error);
	live_say(live, 2, "%s", live->error);
	live->exit_code = 125;
	live->exited = true;
	live_finish(live, true);
	return false;
}

bool live_start(struct live *live)
{
	struct timespec real;
	char error[SESSION_ERROR_MAX];

	if (!live->session || live->phase != LIVE_STARTING)
		return true;
	if (!session_arm(live->session, error))
		start_reader(live);
	else if (live->options->n_pids)
		return not_started(live, error);
	else
		live_say(live, 2, "PROGRAM runs untraced: %s", error);
	log_line("the daemons and the reader are ready");
	clock_gettime(CLOCK_REALTIME, &real);
	live->run.start_unix_ns = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec;
	live->started_ns = monotonic_ns();
	live->phase = LIVE_RUNNING;
	if (!session_release(live->session, error)) {
		log_line("the environment of PROGRAM:\n%s", session_environment(live->session));
		return true;
	}
	return not_started(live, error);
}

/* ---- the end ---- */

void live_finish_model(struct live *live)
{
	char probes[128];

	if (live->finished)
		return;
	live->finished = true;
	live->phase = LIVE_DONE;
	live_introduce(live);
	live_tell_left(live);
	if (live->run.pid > 0 && (live->exited || !live->session))
		model_set_exited(live->model, 0, (uint32_t)live->run.pid, live->run.exit_status,
				 live->run.signal);
	if (live->reader && (reader_misses_streams(live->reader) ||
			     reader_reattached(live->reader) != live->reattached)) {
		live_say_reattached(live, true);
		live->stop_partial = true;
	}
	live_end_trigger(live);
	live_list_probes(live, probes, sizeof(probes));
	if (live->session && live->reader && !live->stop_partial && !probes[0] &&
	    !live_has_warned(live))
		live_say(live, 0,
			 "no events: PROGRAM loaded no runtime that tftop has a probe for");
	model_finish(live->model, live->stop_partial);
	log_line("everything is read: %" PRIu64 " events%s",
		 live->reader ? reader_events(live->reader) : 0,
		 live->stop_partial ? ", partial" : "");
	live_write_recording(live);
}

/* Stops tracing; data written until now is still read. */
static void stop(struct live *live, bool partial)
{
	if (live->phase >= LIVE_ENDING)
		return;
	live->phase = LIVE_ENDING;
	live->stop_ns = monotonic_ns();
	live->stop_partial |= partial;
	live->drain_until_ns = live->stop_ns + DRAIN_NS;
	live->drain_max_ns = partial ? live->drain_until_ns : live->stop_ns + DRAIN_MAX_NS;
	session_stop(live->session);
}

static void drain(struct live *live)
{
	live->draining = true;
	log_line("tracing stopped, took %" PRId64 " us", (monotonic_ns() - live->stop_ns) / 1000);
	if (!live->reader || !session_has_data(live->session))
		live_finish_model(live);
	else
		reader_drain(live->reader, live->stop_ns);
}

/* A reader that is behind gets more time as long as it makes progress. */
static void extend_drain(struct live *live)
{
	uint64_t events = reader_events(live->reader);

	if (!live->session || events == live->drain_events)
		return;
	live->drain_events = events;
	live->drain_until_ns = monotonic_ns() + DRAIN_NS;
	if (live->drain_until_ns > live->drain_max_ns)
		live->drain_until_ns = live->drain_max_ns;
}

/* Checks whether everything has been read. */
static void look_at_end(struct live *live)
{
	enum reader_state state;

	if (live->import) {
		live_look_at_import(live);
		return;
	}
	if (live->session && !live->draining && session_stopped(live->session))
		drain(live);
	if (live->phase == LIVE_DONE || (live->session && !live->draining))
		return;
	state = reader_state(live->reader);
	extend_drain(live);
	if (state == READER_FAILED) {
		live->stop_partial = true;
		/* Even without events, tftop's own recording says what program ran, and when. */
		if (live->foreign)
			live->exit_code = 125;
		if (!live->reader_told)
			live_say(live, 2, "%s", reader_error(live->reader));
		live->reader_told = true;
	}
	if (state == READER_ENDED && !reader_complete(live->reader)) {
		if (live->session)
			live_say(live, 2,
				 "the LTTng daemons stopped early: the last events of PROGRAM "
				 "are lost");
		live->stop_partial = true;
	}
	if (state >= READER_ENDED) {
		live_finish_model(live);
		live_keep_model(live, state == READER_ENDED && !live->stopped_reading);
	} else if (monotonic_ns() >= live->drain_until_ns) {
		reader_stop(live->reader);
		if (reader_in_sink(live->reader))
			return;	/* the thread is busy with the model; this is called again */
		live_say(live, 1, live->session ?
			 "the last events did not arrive in time: the end is incomplete" :
			 "the reader did not stop in time and was abandoned");
		live->stop_partial = true;
		live_finish_model(live);
	}
}

/* ---- what happens ---- */

static void live_program_ended(struct live *live, const struct session_event *event)
{
	live->ended_ns = event->time_ns;
	live->exited = live->run.ended = true;
	live->run.wall_ns = live->ended_ns - live->started_ns;
	live->run.signal = event->signal;
	live->run.exit_status = event->signal ? -1 : event->status;
	live->exit_code = live->options->n_pids ? 0 : event->signal ? 128 + event->signal :
			  event->status >= 0 ? event->status : 125;
	if (live->finished) {		/* the window ended before */
		model_set_exited(live->model, 0, (uint32_t)live->run.pid, live->run.exit_status,
				 live->run.signal);
		live_tell_left(live);
		live_write_recording(live);
	}
	stop(live, false);
}

static void exec_failed(struct live *live, const struct session_event *event)
{
	live_say(live, 2, "%s", event->text);
	live->exit_code = event->status;
	live->exited = true;
	stop(live, false);
}

static void live_take_event(struct live *live, const struct session_event *event)
{
	switch (event->type) {
	case SESSION_STARTED:
		log_line("PROGRAM is process %d", (int)event->pid);
		live->run.pid = event->pid;
		live->run.stopped_ns = event->stopped_ns;
		live->started_ns = event->time_ns;
		gate_begin(live->gate, event->time_ns);
		break;
	case SESSION_EXEC_FAILED:
		exec_failed(live, event);
		break;
	case SESSION_OUTPUT:
		live_record_output(live, event->data, event->size);
		if (live->take_output)
			live->take_output(live->take_output_arg, event->data, event->size);
		break;
	case SESSION_STOPPED:
		if (live->phase == LIVE_RUNNING)
			live->phase = LIVE_STOPPED;
		break;
	case SESSION_CONTINUED:
		if (live->phase == LIVE_STOPPED)
			live->phase = LIVE_RUNNING;
		break;
	case SESSION_EXITED:
		log_line("PROGRAM ended, status %d signal %d", event->status, event->signal);
		live_program_ended(live, event);
		break;
	case SESSION_CHILD:
		log_line("process %d of %d: %s", (int)event->pid, (int)event->parent, event->text);
		break;
	case SESSION_CHILD_EXITED:
		if (event->pid > 0 && event->status >= 0)
			model_set_exited(live->model, 0, (uint32_t)event->pid, event->status,
					 event->signal);
		break;
	case SESSION_MESSAGE:
		live_say(live, event->level, "%s", event->text);
		break;
	case SESSION_USER:
		if (live->reader)
			reader_attach_anew(live->reader);
		live->hurries = live->reader != NULL;
		break;
	case SESSION_RESTARTS:
	case SESSION_RESTARTED:
		live_take_restart(live, event);
		break;
	case SESSION_BROKEN:
		if (live->reader)
			reader_give_up(live->reader);
		live->restarts = false;
		live_say(live, 2, "tracing ended: %s; PROGRAM keeps running", event->text);
		live->stop_partial = true;
		break;
	default:
		break;
	}
}

static void take_all(struct live *live)
{
	struct session_event event;

	while (session_next(live->session, &event))
		live_take_event(live, &event);
}

void live_end(struct live *live)
{
	if (live->session)
		stop(live, false);
}

/* The data read so far is not the whole recording. */
static void stop_reading(struct live *live)
{
	live->stopped_reading = live->stop_partial = true;
	live->drain_until_ns = monotonic_ns() + STOP_NS;
	reader_stop(live->reader);
}

void live_wait(struct live *live, int timeout_ms)
{
	struct pollfd happens = { .fd = live_fd(live), .events = POLLIN };

	poll(&happens, 1, timeout_ms);
	if (live->session)
		take_all(live);
}

void live_finish(struct live *live, bool partial)
{
	if (live->session)
		stop(live, partial);
	else if (partial && live->import)
		live_stop_import(live);
	else if (partial && live->reader)
		stop_reading(live);
	while (live->phase == LIVE_ENDING) {
		if (!live->reader || (live->session && !live->draining))
			live_wait(live, live->import ? 5 : 50);
		else
			reader_wait_end(live->reader, 50);
		if (live->session)
			take_all(live);
		look_at_end(live);
	}
}

/* If no data arrives any more, this is reported, and not drawn as an idle program. After tftop
 * itself was stopped (Ctrl-Z), the silence is its own. */
static void live_watch(struct live *live)
{
	int64_t now_ns = monotonic_ns(), silent_ns;

	if (now_ns - live->watched_ns > ASLEEP_NS)
		live->awake_ns = now_ns;
	live->watched_ns = now_ns;
	if (!live->reader || live->phase != LIVE_RUNNING)
		return;
	if (reader_state(live->reader) == READER_FAILED) {
		if (!live->reader_told)
			live_say(live, 2, "%s; PROGRAM keeps running", reader_error(live->reader));
		live->reader_told = live->stop_partial = true;
		return;
	}
	if (reader_reattached(live->reader) != live->reattached) {
		live->reattached = reader_reattached(live->reader);
		live->hurries = false;
		live_say_reattached(live, false);
		session_ask_dump(live->session);
	}
	live_look_at_gap(live);
	if (!reader_streams(live->reader) || live->restarts)
		return;
	silent_ns = now_ns - reader_last_message_ns(live->reader);
	if (silent_ns > now_ns - live->awake_ns)
		silent_ns = now_ns - live->awake_ns;
	if (silent_ns > SILENT_NS && !live->silent_told) {
		live_say(live, 1, "the LTTng daemons have been silent for 2 s: "
		    "events may be late or lost");
		live->silent_told = true;
	} else if (silent_ns < SILENT_NS && live->silent_told) {
		live_say(live, 0, "the LTTng daemons are back");
		live->silent_told = false;
	}
}

void live_pump(struct live *live)
{
	if (!live->session) {
		if (live->phase == LIVE_ENDING)
			look_at_end(live);
		return;
	}
	/* In the first call, only the screen is shown. */
	if (live->phase == LIVE_STARTING) {
		if (live->pumped++ && !live_start(live))
			return;
		if (live->phase == LIVE_STARTING)
			return;
	}
	session_alive(live->session);
	take_all(live);
	live_watch(live);
	gate_tick(live->gate, monotonic_ns());
	if (live->phase < LIVE_ENDING && gate_closed(live->gate)) {
		session_set_level(live->session, TFT_LEVEL_OFF);
		stop(live, false);
	}
	if (live->phase == LIVE_ENDING)
		look_at_end(live);
}

/* ---- asking ---- */

bool live_hurries(const struct live *live)
{
	return live->hurries;
}

int live_fd(const struct live *live)
{
	return live->session ? session_fd(live->session) : -1;
}

void live_on_output(struct live *live,
		    void (*take_output)(void *arg, const void *data, size_t size), void *arg)
{
	live->take_output = take_output;
	live->take_output_arg = arg;
	if (live->opened && take_output)
		live_replay_output(live);
}

enum live_phase live_phase(const struct live *live)
{
	return live->phase;
}

struct model *live_model(struct live *live)
{
	return live->model;
}

struct session *live_session(struct live *live)
{
	return live->session;
}

const struct report_run *live_run(struct live *live)
{
	if (live->session && !live->exited && live->started_ns)
		live->run.wall_ns = monotonic_ns() - live->started_ns;
	return &live->run;
}

bool live_exited(const struct live *live, int *status, int *signal)
{
	*status = live->run.exit_status;
	*signal = live->run.signal;
	return live->exited;
}

int live_exit_status(const struct live *live)
{
	return live->failed ? 125 : live->exit_code;
}

/* The reader is freed first: its thread connects through the session. */
void live_free(struct live *live)
{
	bool back;

	if (!live)
		return;
	live_free_import(live);
	back = reader_free(live->reader);
	cache_release(&live->cache, options_batch(live->options) ? CACHE_BATCH_MS : CACHE_MS);
	session_free(live->session);
	if (live->output)
		fclose(live->output);
	if (!back && live->opened)
		return;			/* the thread may still use its sink in there */
	gate_free(live->gate);
	if (live->model)
		model_free(live->model);
	if (live->opened)
		recording_release(&live->recording);
	live_free_command(live);
	free(live);
}
