/* SPDX-License-Identifier: MIT */
#include "tui/loop/script.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/file.h"
#include "model/base/regex.h"
#include "model/base/util.h"
#include "tui/loop/follow.h"
#include "tui/loop/loop.h"

#define SECOND INT64_C(1000000000)
#define FOLLOW_MOST 1000		/* links, unless the script gives another number */
#define TIMEOUT_NS (60 * SECOND)	/* timeout of a wait that gives none */
#define TIMEOUT_EXIT_NS (600 * SECOND)
#define SCRIPT_MAX (1u << 20)

enum wait { WAIT_NOT, WAIT_TIME, WAIT_EXIT, WAIT_SETTLED, WAIT_STEP, WAIT_KERNELS, WAIT_SCREEN };

struct script {
	char *name, *text;		/* owned; path of the file, and its content */
	size_t size, at;
	int line;
	bool done;
	enum wait wait;
	int64_t deadline_ns, target;
	regex_t regex;			/* regular expression of WAIT_SCREEN */
	int64_t looked_ns;		/* number of the frame that was compared last */
	char *what;	/* owned; the wait as it is written in the script, NULL if none */
	struct strbuf report;
};

static struct script *script_new(const char *name, const char *text, size_t size)
{
	struct script *script = xcalloc(1, sizeof(*script));

	script->name = xstrdup(name);
	script->text = xstrndup(text, size);
	script->size = size;
	strbuf_init(&script->report);
	return script;
}

struct script *script_open(const char *path, char *error, size_t error_size)
{
	size_t size;
	char *text = file_text(path, "script", SCRIPT_MAX, &size, error, error_size);
	struct script *script = NULL;

	if (text && memchr(text, '\0', size))
		snprintf(error, error_size, "'%s' is not a text file", path);
	else if (text)
		script = script_new(path, text, size);
	free(text);
	return script;
}

static void end_wait(struct script *script)
{
	if (script->wait == WAIT_SCREEN)
		regfree(&script->regex);
	script->wait = WAIT_NOT;
	free(script->what);
	script->what = NULL;
}

void script_free(struct script *script)
{
	if (!script)
		return;
	end_wait(script);
	strbuf_release(&script->report);
	free(script->name);
	free(script->text);
	free(script);
}

bool script_done(const struct script *script)
{
	return script->done;
}

int64_t script_deadline_ns(const struct script *script)
{
	return script->wait == WAIT_NOT ? INT64_MAX : script->deadline_ns;
}

void script_report(const struct script *script)
{
	fputs(script->report.data, stderr);
}

static void add_screen(struct script *script, struct tui *tui)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return;
	grid_save(&tui->grid, file, false);
	fclose(file);
	strbuf_add(&script->report, text, size);
	free(text);
}

/* Ends the run. */
static void end(struct script *script, struct tui *tui, int status, bool screen,
		const char *message)
{
	strbuf_addf(&script->report, "%s:%d: %s\n", script->name, script->line, message);
	if (screen)
		add_screen(script, tui);
	tui->exit_status = status;
	script->done = true;
}

static bool screen_matches(struct tui *tui, const regex_t *regex)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	bool matches = false;

	if (file) {
		grid_save(&tui->grid, file, false);
		fclose(file);
		matches = regexec(regex, text, 0, NULL, 0) == 0;
	}
	free(text);
	return matches;
}

static void fresh_frame(struct tui *tui)
{
	frame_update(tui, true);
	frame_draw(tui);
}

/* ---- waiting ---- */

static bool wait_is_over(struct script *script, struct tui *tui)
{
	struct model_status status;
	bool late = tui_clock(tui) >= script->deadline_ns;

	if (script->wait == WAIT_TIME)
		return late;
	if (script->wait == WAIT_SCREEN) {
		if (script->looked_ns == tui->frame_ns && !late)
			return false;		/* the picture has not changed */
		if (late)
			fresh_frame(tui);
		script->looked_ns = tui->frame_ns;
		return screen_matches(tui, &script->regex);
	}
	model_lock(tui->model);
	model_status(tui->model, &status);
	model_unlock(tui->model);
	switch (script->wait) {
	case WAIT_EXIT:
		return tui->live ? live_phase(tui->live) == LIVE_DONE : status.finished;
	case WAIT_SETTLED:
		return status.finished || status.settled_ns >= script->target;
	case WAIT_STEP:
		return (status.last_step_number >= 0 ? status.last_step_number :
			(int64_t)status.steps) >= script->target;
	case WAIT_KERNELS:
		return status.kernels >= (uint64_t)script->target;
	default:
		return true;
	}
}

/* Returns true if the wait is over or the script has ended. */
static bool check_wait(struct script *script, struct tui *tui)
{
	char message[512];

	if (wait_is_over(script, tui)) {
		end_wait(script);
		return true;
	}
	if (tui_clock(tui) < script->deadline_ns)
		return false;
	snprintf(message, sizeof(message), "timed out: '%s'", script->what);
	fresh_frame(tui);
	end(script, tui, SCRIPT_TIMEOUT, true, message);
	return true;
}

static void start_wait(struct script *script, struct tui *tui, enum wait wait, int64_t for_ns,
		       const struct command_call *call)
{
	script->wait = wait;
	script->deadline_ns = tui_clock(tui) + for_ns;
	script->looked_ns = -1;
	script->what = words_join(call->argc, call->argv);
	if (wait == WAIT_SETTLED)
		script->target = tui->virtual_clock ?
				 SYNTH_BASE_NS + tui->virtual_ns : tui_clock(tui);
}

/* Reads argument i as a timeout. */
static bool take_timeout(const struct command_call *call, int i, int64_t *ns,
			 char *error, size_t error_size)
{
	if (i >= call->argc)
		return true;
	if (parse_time_ns(call->argv[i], ns) && *ns >= 0)
		return true;
	snprintf(error, error_size, "not a time: '%s'", call->argv[i]);
	return false;
}

static bool take_number(const char *text, int64_t *number, char *error, size_t error_size)
{
	char *tail;

	errno = 0;
	*number = strtoll(text, &tail, 10);
	if (!errno && *text && !*tail && *number >= 0)
		return true;
	snprintf(error, error_size, "not a number: '%s'", text);
	return false;
}

/* Compiles the words as one regular expression. */
static bool compile(regex_t *regex, const struct command_call *call, int words,
		    char *error, size_t error_size)
{
	struct strbuf text;
	bool good;

	strbuf_init(&text);
	for (int i = 1; i <= words; i++)
		strbuf_addf(&text, "%s%s", i > 1 ? " " : "", call->argv[i]);
	good = regex_make(regex, text.data, REGEX_LINES, error, error_size);
	strbuf_release(&text);
	return good;
}

static bool wait_for(struct script *script, struct tui *tui, const struct command_call *call,
		     char *error, size_t error_size)
{
	int64_t timeout = TIMEOUT_NS;
	int words = call->argc - 1;

	if (words > 1 && parse_time_ns(call->argv[words], &timeout))
		words--;
	if (!compile(&script->regex, call, words, error, error_size))
		return false;
	start_wait(script, tui, WAIT_SCREEN, timeout, call);
	return true;
}

static bool assert_screen(struct script *script, struct tui *tui, const struct command_call *call,
			  char *error, size_t error_size)
{
	regex_t regex;
	bool matches;
	char message[512], *what;

	if (!compile(&regex, call, call->argc - 1, error, error_size))
		return false;
	fresh_frame(tui);
	matches = screen_matches(tui, &regex);
	regfree(&regex);
	if (!grid_check(&tui->grid, error, error_size))
		return false;
	if (matches)
		return true;
	what = words_join(call->argc, call->argv);
	snprintf(message, sizeof(message), "the screen does not match: '%s'", what);
	free(what);
	end(script, tui, SCRIPT_FAILED, true, message);
	return true;
}

/* ---- keys and sizes ---- */

static bool script_press_keys(struct tui *tui, const struct command_call *call, char *error,
			      size_t error_size)
{
	struct key keys[256];
	int i, j, count;

	for (i = 1; i < call->argc; i++) {
		count = keys_parse(call->argv[i], keys, 256, error, error_size);
		if (count < 0)
			return false;
		for (j = 0; j < count && !tui->quit; j++) {
			tui_key(tui, keys[j]);
			/* the next key is handled on the picture that this one produced */
			frame_update(tui, true);
		}
	}
	return true;
}

bool script_parse_size(const char *text, int *width, int *height)
{
	char *tail;
	long w = strtol(text, &tail, 10), h;

	if (text[0] < '1' || text[0] > '9' || (*tail != 'x' && *tail != 'X') ||
	    tail[1] < '1' || tail[1] > '9')
		return false;
	h = strtol(tail + 1, &tail, 10);
	if (*tail || w < 1 || w > 1000 || h < 1 || h > 1000)
		return false;
	*width = (int)w;
	*height = (int)h;
	return true;
}

static bool script_resize(struct tui *tui, const char *size, char *error, size_t error_size)
{
	int width, height;

	if (!script_parse_size(size, &width, &height)) {
		snprintf(error, error_size, "not a size, WxH: '%s'", size);
		return false;
	}
	if (tui->screen) {
		snprintf(error, error_size, "cannot resize a real terminal: 'resize %s'", size);
		return false;
	}
	tui_resize(tui, width, height);
	return true;
}

/* Follows all links of the page that is shown, and of the pages they lead to. */
static bool script_follow_links(struct script *script, struct tui *tui,
				const struct command_call *call, char *error, size_t error_size)
{
	int64_t depth, most = FOLLOW_MOST;
	char many[FMT_MAX];
	size_t followed;

	if (!take_number(call->argv[1], &depth, error, error_size) ||
	    (call->argc > 2 && !take_number(call->argv[2], &most, error, error_size)))
		return false;
	if (!follow_links(tui, depth > 100 ? 100 : (int)depth, (size_t)most, &followed, error,
			  error_size))
		end(script, tui, SCRIPT_FAILED, true, error);
	else if (!followed)
		end(script, tui, SCRIPT_FAILED, true, "the page has no link");
	else
		tui_say(tui, false, "%s followed", fmt_many(many, followed, "link"));
	return true;
}

bool script_command(struct script *script, struct tui *tui, int id,
		    const struct command_call *call, char *error, size_t error_size)
{
	int64_t timeout = id == COMMAND_ID_WAIT_EXIT ? TIMEOUT_EXIT_NS : TIMEOUT_NS;
	bool counts = id == COMMAND_ID_WAIT_STEP || id == COMMAND_ID_WAIT_KERNELS;

	switch (id) {
	case COMMAND_ID_KEY:
		return script_press_keys(tui, call, error, error_size);
	case COMMAND_ID_RESIZE:
		return script_resize(tui, call->argv[1], error, error_size);
	case COMMAND_ID_MOUSE:
		return tui_mouse_command(tui, call, error, error_size);
	case COMMAND_ID_FOLLOW_LINKS:
		return script_follow_links(script, tui, call, error, error_size);
	case COMMAND_ID_ASSERT_SCREEN:
		return assert_screen(script, tui, call, error, error_size);
	case COMMAND_ID_WAIT_FOR:
		return wait_for(script, tui, call, error, error_size);
	default:
		break;
	}
	if (!take_timeout(call, counts ? 2 : 1, &timeout, error, error_size))
		return false;
	if (counts && !take_number(call->argv[1], &script->target, error, error_size))
		return false;
	start_wait(script, tui, id == COMMAND_ID_WAIT ? WAIT_TIME :
		   id == COMMAND_ID_WAIT_EXIT ? WAIT_EXIT :
		   id == COMMAND_ID_WAIT_SETTLED ? WAIT_SETTLED :
		   id == COMMAND_ID_WAIT_STEP ? WAIT_STEP : WAIT_KERNELS, timeout, call);
	return true;
}

/* ---- running ---- */

/* Returns the next line, NULL at the end. The caller frees it. */
static char *next_line(struct script *script)
{
	const char *begin = script->text + script->at, *newline;
	size_t rest = script->size - script->at, length;

	if (!rest)
		return NULL;
	newline = memchr(begin, '\n', rest);
	length = newline ? (size_t)(newline - begin) : rest;
	script->at += length + (newline ? 1 : 0);
	script->line++;
	return xstrndup(begin, length);
}

/* In a script, `quit` asks nothing: -q decides what happens to PROGRAM. */
static bool is_quit(const char *line)
{
	size_t length;

	line += strspn(line, " \t:");
	length = strcspn(line, " \t\r#");
	return ((length == 4 && !strncmp(line, "quit", 4)) || (length == 1 && *line == 'q')) &&
	       !line[length + strspn(line + length, " \t\r")];
}

void script_run(struct script *script, struct tui *tui)
{
	char error[512];
	char *line;
	bool done;

	while (!script->done && !tui->quit) {
		if (script->wait != WAIT_NOT && !check_wait(script, tui))
			return;
		if (script->done)
			return;
		line = next_line(script);
		if (!line || is_quit(line)) {
			free(line);
			script->done = true;
			return;
		}
		error[0] = '\0';
		done = tui_command(tui, line, error, sizeof(error));
		free(line);
		if (!done && !script->done)
			end(script, tui, SCRIPT_ERROR, false, error);
		if (!script->done && !tui->quit)
			frame_update(tui, true);
	}
}
