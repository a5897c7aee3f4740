/* SPDX-License-Identifier: MIT */
#include "tui/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "tui/base/log.h"
#include "tui/base/signals.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define STATUS_NS (8 * SECOND)
#define INTERRUPT_NS (3 * SECOND)	/* then SIGTERM is sent */
#define TERMINATE_NS (5 * SECOND)	/* then a message says that it does not end */
#define SLOW_NS (50 * MS)	/* a terminal that takes longer than this gets fewer frames */
#define NUMBERS_NS (400 * MS)		/* time between new numbers while following */
#define PRINT_NS (5 * SECOND)		/* time between pictures on a terminal that only prints */
#define KEYS_PER_TURN 64

int64_t tui_clock(const struct tui *tui)
{
	struct timespec now;

	if (tui->virtual_clock)
		return tui->virtual_ns;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

bool tui_program_runs(const struct tui *tui)
{
	return tui->live && live_session(tui->live) && live_phase(tui->live) < LIVE_ENDING;
}

const char *tui_program_name(const struct tui *tui)
{
	return tui->live ? live_program_name(tui->live) : "the program";
}

bool tui_command(struct tui *tui, const char *line, char *error, size_t error_size)
{
	return tui->commands->line(tui, line, error, error_size);
}

void tui_say(struct tui *tui, bool error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tui->view.status, sizeof(tui->view.status), format, args);
	va_end(args);
	tui->view.status_error = error;
	tui->status_until_ns = tui_clock(tui) + STATUS_NS;
	tui->dirty = true;
}

/* ---- leaving ---- */

void tui_leave(struct tui *tui)
{
	save_leave(tui);
	tui->left_running |= tui_program_runs(tui);
	if (tui_program_runs(tui) && tui->options->n_pids)
		live_let_go(tui->live);
	else if (tui_program_runs(tui))
		live_leave(tui->live);
	tui->quit = true;
}

void tui_stop_program(struct tui *tui)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
	static const char *const names[] = {"SIGINT", "SIGTERM", "SIGKILL"};
	struct session *session = tui->live ? live_session(tui->live) : NULL;

	if (!tui_program_runs(tui)) {
		tui->quit = true;
		return;
	}
	if (tui->options->n_pids) {
		tui_leave(tui);
		return;
	}
	if (tui->stop < STOP_KILLED)
		tui->stop++;
	session_signal(session, signals[tui->stop - 1]);
	session_signal(session, SIGCONT);	/* a stopped program handles no other signal */
	tui->stop_ns = tui_clock(tui);
	tui_say(tui, false, "stopping %s (%s)", tui_program_name(tui), names[tui->stop - 1]);
	tui->status_until_ns = INT64_MAX;
}

/* The second signal is sent automatically, the third one only if the user asks for it. */
static void check_stop(struct tui *tui)
{
	int64_t since = tui_clock(tui) - tui->stop_ns;

	if (tui->stop == STOP_NOT || !tui_program_runs(tui))
		return;
	if (tui->stop == STOP_INTERRUPTED && since >= INTERRUPT_NS) {
		tui_stop_program(tui);
	} else if (tui->stop == STOP_TERMINATED && since >= TERMINATE_NS) {
		tui->stop_ns = INT64_MAX / 2;
		tui_say(tui, true, "%s does not end: q s kills it, q l leaves it running",
			tui_program_name(tui));
		if (tui->script)
			tui_leave(tui);
	}
}

void tui_end_collecting(struct tui *tui)
{
	tui->limits_reached = true;
	if (!tui_program_runs(tui))
		return;
	session_set_level(live_session(tui->live), TFT_LEVEL_OFF);
	live_end(tui->live);
}

/* --for and --steps: collecting ends and the screen freezes; PROGRAM continues. */
static void check_limits(struct tui *tui)
{
	const struct options *options = tui->options;
	bool reached = false;

	if (tui->limits_reached || !tui_program_runs(tui))
		return;
	if (options->for_ns > 0)
		reached = tui_clock(tui) - tui->start_ns >= options->for_ns;
	if (options->steps > 0)
		reached |= (int64_t)tui->status.steps >= options->from_step + options->steps;
	if (!reached)
		return;
	tui_end_collecting(tui);
	tui->view.following = false;
	tui_say(tui, false, "collecting has ended, as asked for; %s keeps running",
		tui_program_name(tui));
}

static void check_phase(struct tui *tui)
{
	int phase;

	if (!tui->live)
		return;
	phase = (int)live_phase(tui->live);
	if (phase != tui->live_phase)
		tui->dirty = true;
	tui->live_phase = phase;
	if (phase == LIVE_DONE && !tui->script &&
	    (tui->options->quit || tui->options->headless || tui->stop))
		tui->quit = true;
	if (!tui->quit && live_must_reopen(tui->live))
		tui->reopen = tui->quit = true;
	check_limits(tui);
	check_stop(tui);
}

/* ---- keys ---- */

/* Sets the window to the range that the pane wants to show, with a margin. */
static void show_range(struct tui *tui)
{
	struct view *view = &tui->view;
	int64_t margin = (view->range_t1_ns - view->range_t0_ns) / 8 + 1;

	tui->window_set = true;
	window_fit(&tui->window, tui->layout.columns, view->range_t0_ns - margin,
		   view->range_t1_ns + margin);
	view->t0_ns = tui->window.t0_ns;
	view->t1_ns = window_end_ns(&tui->window);
	tui->panes[0]->ops->reveal(tui->panes[0], view, NULL);
}

static void show_pane(struct tui *tui)
{
	struct view *view = &tui->view;
	int i;

	for (i = 1; i < TUI_PANES_MAX; i++)
		if (tui->panes[i] && !strcmp(tui->panes[i]->ops->name, view->show_pane))
			break;
	if (i == TUI_PANES_MAX)
		return;
	tui->lower = i;
	tui->focus_lower = true;
	frame_update(tui, true);
	if (tui->panes[i]->ops->reveal)
		tui->panes[i]->ops->reveal(tui->panes[i], view, view->show_key);
}

/* Runs a link of a pane; the command may free the pane's text. */
static void run_linked(struct tui *tui)
{
	char *command = xstrdup(tui->view.run_command), error[512];

	if (!tui_command(tui, command, error, sizeof(error)))
		tui_say(tui, true, "%s", error);
	free(command);
}

void tui_apply(struct tui *tui, unsigned outcome)
{
	if (outcome & OUT_FREEZE)
		tui->view.following = false;
	if (outcome & OUT_FOLLOW)
		tui->view.following = true;
	if (outcome & OUT_FOCUS_TIMELINE)
		tui->focus_lower = false;
	if (outcome & OUT_SHOW_CURSOR) {
		window_show(&tui->window, tui->view.cursor_ns);
		tui->view.t0_ns = tui->window.t0_ns;
		tui->view.t1_ns = window_end_ns(&tui->window);
	}
	if (outcome & OUT_SHOW_RANGE)
		show_range(tui);
	if (outcome & OUT_SHOW_PANE)
		show_pane(tui);
	if (outcome & OUT_RUN_COMMAND)
		run_linked(tui);
	if (outcome & OUT_WORK)
		slow_pane(tui);
	if (outcome & OUT_QUIT)
		tui->quit = true;
	if (outcome != OUT_NONE)
		tui->dirty = true;
	if (tui->view.status[0] && !tui->status_until_ns)
		tui->status_until_ns = tui_clock(tui) + STATUS_NS;
}

void tui_key(struct tui *tui, struct key key)
{
	enum key_table table = frame_key_table(tui);
	const struct binding *binding;
	char error[256];
	int count;

	tui->key_ns = tui_clock(tui);
	tui->dirty = true;
	if (tui->status_until_ns != INT64_MAX) {
		tui->view.status[0] = '\0';
		tui->status_until_ns = 0;
	}
	if (slow_stopped_by(tui, key) || tui->commands->answer_key(tui, key))
		return;
	if (tui->pending_count && key.code == KEYSYM_ESC) {
		tui->pending_count = 0;
		return;
	}
	tui->pending[tui->pending_count++] = key;
	count = tui->pending_count;
	switch (keymap_lookup(&tui->keymap, table, tui->pending, count, &binding)) {
	case KEY_MATCH_PREFIX:
		if (count < KEY_SEQUENCE_MAX)
			return;
		break;
	case KEY_MATCH_COMMAND:
		tui->pending_count = 0;
		if (!tui_command(tui, binding->command, error, sizeof(error)))
			tui_say(tui, true, "%s", error);
		return;
	case KEY_MATCH_NONE:
		tui_unbound_key(tui, table, key);
		break;
	}
	tui->pending_count = 0;
}

static void read_keys(struct tui *tui)
{
	struct key key;
	struct mouse mouse;
	int n, width, height;

	for (n = 0; tui->screen && n < KEYS_PER_TURN && !tui->quit && !slow_holds_keys(tui); n++)
		switch (screen_read(tui->screen, &key, &mouse)) {
		case SCREEN_NOTHING:
			return;
		case SCREEN_CLOSED:
			signals_raise(SIGHUP);
			return;
		case SCREEN_RESIZED:
			screen_size(tui->screen, &width, &height);
			tui_resize(tui, width, height);
			break;
		case SCREEN_KEY:
			tui_key(tui, key);
			break;
		case SCREEN_PASTED:
			tui_pasted_key(tui, key);
			break;
		case SCREEN_MOUSE:
			tui_mouse(tui, mouse);
			break;
		}
}

void tui_resize(struct tui *tui, int width, int height)
{
	struct winsize size = {.ws_col = (unsigned short)width, .ws_row = (unsigned short)height};

	tui->width = width;
	tui->height = height;
	grid_resize(&tui->grid, width, height);
	if (tui->live && live_session(tui->live))
		session_resize(live_session(tui->live), &size);
	tui->key_ns = tui_clock(tui);
	tui->dirty = true;
}

/* ---- signals ---- */

static void pass_on_and_leave(struct tui *tui, int number)
{
	if (tui_program_runs(tui))
		session_signal(live_session(tui->live), number);
	if (!tui->options->n_pids)
		tui->exit_status = 128 + number;
	tui_leave(tui);
}

static void take_signals(struct tui *tui)
{
	char error[256];
	int number;

	while ((number = signals_next()) != 0)
		switch (number) {
		case SIGTERM:
		case SIGHUP:
			pass_on_and_leave(tui, number);
			break;
		case SIGINT:
			if (!tui_command(tui, "quit", error, sizeof(error)))
				tui_say(tui, true, "%s", error);
			break;
		case SIGTSTP:
			if (!tui_command(tui, "suspend", error, sizeof(error)))
				tui_say(tui, true, "%s", error);
			break;
		case SIGCONT:
			if (tui->screen)
				screen_redraw(tui->screen);
			tui->dirty = true;
			break;
		}
}

/* ---- frames ---- */

/* Time between two frames: keys are answered fast, data is updated at reading speed. */
static int64_t frame_interval(const struct tui *tui, int64_t now)
{
	bool keys = now - tui->key_ns < SECOND / 2;
	int fps = tui->settings.value[keys ? SETTING_KEY_FPS : SETTING_FOLLOW_FPS];
	int64_t interval = SECOND / fps;

	if (!keys && !tui->view.following)
		interval = SECOND / 2;
	if (tui->screen && screen_only_prints(tui->screen))
		return tui->key_ns > tui->frame_ns ? 0 : PRINT_NS;
	if (tui->draw_cost_ns > SLOW_NS)
		interval *= tui->draw_cost_ns > 4 * SLOW_NS ? 4 : 2;
	return interval;
}

static int64_t frame_due(const struct tui *tui, int64_t now)
{
	return tui->frame_ns + frame_interval(tui, now);
}

/* Whether the terminal has taken all of the last picture. */
static bool terminal_takes(struct tui *tui)
{
	int64_t now;

	if (!screen_ready(tui->screen))
		return false;
	if (!tui->drawing_ns)
		return true;
	now = tui_clock(tui);
	tui->draw_cost_ns += (now - tui->drawing_ns - tui->draw_cost_ns) / 8;
	tui->drawing_ns = 0;
	/* tests/bench reads this line: at this time the screen showed this step. */
	log_line("frame t=%lld step=%lld", (long long)now,
		 (long long)tui->status.last_step_number);
	return true;
}

/* While the timeline moves, numbers change slowly enough to be read; they are also most of what a
 * frame writes. The answer to a key is drawn completely. */
static bool numbers_due(const struct tui *tui, int64_t now)
{
	return !tui->screen || tui->key_ns >= tui->numbers_ns || !tui->view.following ||
	       now - tui->numbers_ns >= NUMBERS_NS;
}

static void show_frame(struct tui *tui)
{
	int64_t before = tui_clock(tui);
	bool all = numbers_due(tui, before);

	if (tui->screen && !terminal_takes(tui))
		return;
	tui->dirty = false;
	tui->commands->follow_page(tui);
	frame_update(tui, all);
	frame_draw(tui);
	tui->frame_ns = tui_clock(tui);
	tui->numbers_old = !all;
	if (all)
		tui->numbers_ns = tui->frame_ns;
	if (!tui->screen)
		return;
	tui->drawing_ns = tui_clock(tui);
	screen_set_mouse(tui->screen, tui->settings.value[SETTING_MOUSE]);
	screen_draw(tui->screen, &tui->theme, &tui->grid);
	terminal_takes(tui);
}

static void take_stderr(void *arg, const char *text)
{
	struct tui *tui = arg;

	model_message(tui->model, 0, text);
}

static void look_for_changes(struct tui *tui)
{
	uint64_t generation = model_generation(tui->model);
	uint64_t output = output_generation(tui->output);

	run_look(tui);
	run_look_at_budget(tui);
	if (generation != tui->seen_generation || output != tui->seen_output ||
	    (tui->numbers_old && numbers_due(tui, tui_clock(tui))))
		tui->dirty = true;
	tui->seen_generation = generation;
	tui->seen_output = output;
	if (tui->status_until_ns && tui->status_until_ns <= tui_clock(tui)) {
		tui->status_until_ns = 0;
		tui->view.status[0] = '\0';
		tui->dirty = true;
	}
}

/* One turn without waiting: handles what happened and draws when a frame is due. */
static void tui_turn(struct tui *tui)
{
	int64_t now;

	take_signals(tui);
	slow_look(tui);
	read_keys(tui);
	if (tui->live)
		live_pump(tui->live);
	if (tui->synth && !tui->virtual_clock)
		synth_advance(tui->synth, tui_clock(tui) - tui->start_ns, tui->output);
	capture_read(tui->capture, take_stderr, tui);
	check_phase(tui);
	save_look(tui);
	export_look(tui);
	diff_look(tui);
	look_for_changes(tui);
	now = tui_clock(tui);
	if (tui->dirty && !tui->quit && now >= frame_due(tui, now))
		show_frame(tui);
}

/* Virtual clock: advances the time by this amount, with a frame each tenth of a second. */
static void tui_advance(struct tui *tui, int64_t ns)
{
	int64_t end = tui->virtual_ns + ns;

	while (tui->virtual_ns < end) {
		int64_t step = end - tui->virtual_ns;

		tui->virtual_ns += step < SECOND / 10 ? step : SECOND / 10;
		synth_advance(tui->synth, tui->virtual_ns, tui->output);
		look_for_changes(tui);
		show_frame(tui);
	}
}

/* ---- waiting ---- */

static int wait_ms(const struct tui *tui, bool blocked)
{
	int64_t now = tui_clock(tui), until = now + SECOND, deadline;

	if (tui->live || tui->synth || tui->stop)
		until = now + TUI_PUMP_MS * MS;
	if (tui->live && live_phase(tui->live) == LIVE_DONE)
		until = now + SECOND;
	if (tui->slow.turns)
		return 0;
	if (tui->save || tui->export || tui->reports.job)
		until = now + TUI_PUMP_MS * MS;
	if (tui->dirty && !blocked && frame_due(tui, now) < until)
		until = frame_due(tui, now);
	if (tui->status_until_ns && tui->status_until_ns < until)
		until = tui->status_until_ns;
	if (tui->script) {
		deadline = script_deadline_ns(tui->script);
		if (deadline < until)
			until = deadline;
	}
	return until <= now ? 0 : (int)((until - now + MS - 1) / MS);
}

static void wait_for_something(struct tui *tui)
{
	struct pollfd fds[3];
	int count = 0, terminal = -1;
	bool blocked = false;

	fds[count++] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
	if (tui->live && live_fd(tui->live) >= 0)
		fds[count++] = (struct pollfd){.fd = live_fd(tui->live), .events = POLLIN};
	if (tui->screen) {
		terminal = count;
		fds[count] = (struct pollfd){.fd = screen_fd(tui->screen), .events = POLLIN};
		/* the terminal is full: the next frame waits until it has read */
		blocked = !terminal_takes(tui);
		if (blocked)
			fds[count].events |= POLLOUT;
		count++;
	}
	if (poll(fds, (nfds_t)count, wait_ms(tui, blocked)) > 0 && terminal >= 0 &&
	    (fds[terminal].revents & (POLLHUP | POLLERR | POLLNVAL)))
		signals_raise(SIGHUP);
}

static void turn_script(struct tui *tui)
{
	if (!tui->script || tui->quit)
		return;
	if (!script_done(tui->script))
		script_run(tui->script, tui);
	if (tui->quit || !script_done(tui->script))
		return;
	if (tui->options->quit && tui_program_runs(tui)) {
		if (tui->stop == STOP_NOT)
			tui_stop_program(tui);
	} else if (!tui->live || live_phase(tui->live) == LIVE_DONE || !tui->stop) {
		tui_leave(tui);
	}
}

/* Not beyond the time that the script waits for. */
static int64_t virtual_step(const struct tui *tui)
{
	int64_t until = tui->script ? script_deadline_ns(tui->script) : INT64_MAX;

	if (until - tui->virtual_ns > SECOND / 10)
		return SECOND / 10;
	return until > tui->virtual_ns ? until - tui->virtual_ns : 0;
}

void tui_loop(struct tui *tui)
{
	while (!tui->quit) {
		if (tui->virtual_clock)
			take_signals(tui);
		else
			tui_turn(tui);
		turn_script(tui);
		if (tui->quit)
			break;
		if (tui->virtual_clock)
			tui_advance(tui, virtual_step(tui));
		else
			wait_for_something(tui);
	}
}
