/* SPDX-License-Identifier: MIT */
/* Opens the terminal, gives it back and takes it again, and leaves it as it was found. */
#include "tui/terminal/screen_internal.h"

#include <term.h>

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "model/base/util.h"
#include "probes/process/process.h"
#include "probes/session/decode/guard.h"

#define LEAVE_MS 1000			/* that the last picture may take */

/* Presses, releases and what is dragged, told in numbers (SGR) where that is known. */
#define MOUSE_ON "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1002l\033[?1000l"

/* ---- the crash handler: async-signal-safe, fixed bytes only ---- */

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#define CRASH_COUNT (sizeof(crash_signals) / sizeof(*crash_signals))

static struct {
	volatile sig_atomic_t armed;
	int fd;
	struct termios modes;
	char bytes[192];
	size_t size;
	struct sigaction old[CRASH_COUNT];
} crash;

static void on_crash(int number, siginfo_t *info, void *context)
{
	size_t i;

	guard_caught(number);		/* a thread of the reader's: tftop goes on */
	if (crash.armed) {
		ssize_t ignored = write(crash.fd, crash.bytes, crash.size);

		(void)ignored;
		tcsetattr(crash.fd, TCSANOW, &crash.modes);
		crash.armed = 0;
	}
	for (i = 0; i < CRASH_COUNT; i++)
		if (crash_signals[i] == number)
			sigaction(number, &crash.old[i], NULL);
	/* A fault happens again on return, now for the old handler, with its
	 * own registers; what was sent must be sent again. */
	if (info->si_code <= 0)
		raise(number);
}

/* A capability without its padding. */
static void crash_string(const char *name)
{
	const char *p = tigetstr((char *)(uintptr_t)name);

	if (!p || p == (const char *)-1)
		return;
	for (; *p; p++) {
		if (p[0] == '$' && p[1] == '<') {
			p = strchr(p, '>');
			if (!p)
				return;
			continue;
		}
		if (crash.size < sizeof(crash.bytes) - 2)
			crash.bytes[crash.size++] = *p;
	}
}

static void crash_arm(struct screen *screen)
{
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
	size_t i;

	crash.fd = screen->tty >= 0 ? screen->tty : screen->fd;
	crash.modes = screen->modes;
	crash.size = 0;
	if (screen->has_mouse) {
		snprintf(crash.bytes, sizeof(crash.bytes), "%s",
			 SCREEN_SYNC_END MOUSE_OFF SCREEN_PASTE_OFF);
		crash.size = strlen(crash.bytes);
	}
	crash_string("sgr0");
	crash_string("rmkx");
	crash_string("rmcup");
	crash_string("cnorm");
	crash.bytes[crash.size++] = '\r';
	crash.bytes[crash.size++] = '\n';
	crash.armed = 1;
	for (i = 0; i < CRASH_COUNT; i++)
		sigaction(crash_signals[i], &action, &crash.old[i]);
}

static void crash_disarm(void)
{
	size_t i;

	if (!crash.armed)
		return;
	crash.armed = 0;
	for (i = 0; i < CRASH_COUNT; i++)
		sigaction(crash_signals[i], &crash.old[i], NULL);
}

/* ---- opening and closing ---- */

void screen_set_mouse(struct screen *screen, bool on)
{
	if (!screen->has_mouse || screen->suspended || screen->mouse == on)
		return;
	screen->mouse = on;
	screen_out_say(screen, on ? MOUSE_ON : MOUSE_OFF);
}

/* Whether the terminal tells pasted text from keys (bracketed paste, mode 2004 of xterm). */
static void set_paste(struct screen *screen, bool on)
{
	screen->pasting = false;
	if (screen->has_mouse)
		screen_out_say(screen, on ? SCREEN_PASTE_ON : SCREEN_PASTE_OFF);
}

bool screen_locale_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void set_modes(WINDOW *input, int escape_ms)
{
	raw();
	noecho();
	nonl();
	nodelay(input, TRUE);
	keypad(input, TRUE);
	intrflush(stdscr, FALSE);
	leaveok(stdscr, FALSE);
	scrollok(stdscr, FALSE);
	/* Else curses polls for keys about five times a picture, to no end. */
	typeahead(-1);
	if (!getenv("ESCDELAY"))
		set_escdelay(escape_ms);
}

static enum theme_depth find_depth(const struct screen_options *options)
{
	enum theme_depth have;

	if (options->most == DEPTH_MONO || !has_colors() || start_color() != OK)
		return DEPTH_MONO;
	use_default_colors();
	have = COLORS >= 256 ? DEPTH_256 : COLORS >= 8 ? DEPTH_16 : DEPTH_MONO;
	return options->most < have ? options->most : have;
}

static bool open_tty(struct screen *screen, char *error, size_t error_size)
{
	screen->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (screen->fd < 0) {
		snprintf(error, error_size, "cannot open the terminal '/dev/tty': %s",
			 strerror(errno));
		return false;
	}
	screen->in = fdopen(screen->fd, "r");
	screen->out = fdopen(fcntl(screen->fd, F_DUPFD_CLOEXEC, 3), "w");
	if (!screen->in || !screen->out) {
		snprintf(error, error_size, "cannot use the terminal '/dev/tty': %s",
			 strerror(errno));
		return false;
	}
	return true;
}

static void say_unknown(char *error, size_t error_size)
{
	const char *term = getenv("TERM");

	snprintf(error, error_size, "unknown terminal type in TERM: '%s'", term ? term : "");
}

/*
 * curses looks for the terminal's description where it was built to look, and in a bundle's own
 * folder after that. It goes by a descriptor, because the list is divided by colons, and the
 * variable has its old value again afterwards: PROGRAM inherits it.
 */
struct screen_described {
	char *list;	/* TERMINFO_DIRS before; NULL: not set */
	int folder;	/* -1: there is no such folder */
};

static void screen_describe(struct screen_described *d)
{
	const char *list = getenv("TERMINFO_DIRS");
	char path[PATH_MAX];

	d->list = list ? xstrdup(list) : NULL;
	d->folder = process_own_file("own/share/terminfo", path, sizeof(path)) ?
		open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (d->folder < 0)
		return;
	snprintf(path, sizeof(path), "%s:/proc/self/fd/%d", list ? list : "", d->folder);
	setenv("TERMINFO_DIRS", path, 1);
}

static void screen_described(struct screen_described *d)
{
	if (d->folder >= 0) {
		close(d->folder);
		if (d->list)
			setenv("TERMINFO_DIRS", d->list, 1);
		else
			unsetenv("TERMINFO_DIRS");
	}
	free(d->list);
}

bool screen_possible(char *error, size_t error_size)
{
	int result, fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct screen_described described;
	bool known;

	if (fd < 0) {
		snprintf(error, error_size, "cannot open the terminal '/dev/tty': %s",
			 strerror(errno));
		return false;
	}
	screen_describe(&described);
	known = setupterm(NULL, fd, &result) == OK;
	screen_described(&described);
	close(fd);
	if (known)
		del_curterm(cur_term);
	else
		say_unknown(error, error_size);
	return known;
}

static void release(struct screen *screen)
{
	screen_out_close(screen);
	if (screen->out)
		fclose(screen->out);
	if (screen->in)
		fclose(screen->in);
	else if (screen->fd >= 0)
		close(screen->fd);
	grid_release(&screen->shown);
	free(screen);
}

static bool has_string(const char *name)
{
	const char *text = tigetstr((char *)(uintptr_t)name);

	return text && text != (const char *)-1;
}

struct screen *screen_open(const struct screen_options *options, char *error, size_t error_size)
{
	struct screen *screen = xcalloc(1, sizeof(*screen));
	struct screen_described described;

	screen->tty = screen->memory = -1;
	if (!open_tty(screen, error, error_size) || tcgetattr(screen->fd, &screen->modes)) {
		release(screen);
		return NULL;
	}
	screen_out_open(screen);
	/* the terminal knows its size; LINES and COLUMNS may be somebody else's */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	screen_describe(&described);
	screen->curses = newterm(NULL, screen->out, screen->in);
	screen_described(&described);
	if (!screen->curses) {
		say_unknown(error, error_size);
		release(screen);
		return NULL;
	}
	set_term(screen->curses);
	screen->printer = !has_string("cup");
	screen->shortens = tigetflag((char *)(uintptr_t)"msgr") > 0;
	screen->has_mouse = !screen->printer && has_string("kmous");
	screen->input = newpad(1, 1);
	if (!screen->input) {
		snprintf(error, error_size, "out of memory for the screen");
		endwin();
		delscreen(screen->curses);
		release(screen);
		return NULL;
	}
	crash_arm(screen);
	set_modes(screen->input, options->escape_ms);
	screen_map_keys(screen);
	screen->depth = find_depth(options);
	screen->pairs = 1;
	screen->all = true;
	screen_sync_ask(screen);
	set_paste(screen, true);
	return screen;
}

/* The terminal as it was found, also when it takes nothing: then its modes alone. */
static void give_back(struct screen *screen)
{
	screen_sync_leave(screen);
	screen_set_mouse(screen, false);
	set_paste(screen, false);
	screen_out_begin(screen);
	if (screen->printer && screen->shown.width)
		fputs("\r\n", screen->out);
	endwin();
	screen_out_end(screen, false);
	screen_out_drain(screen, LEAVE_MS);
	tcsetattr(screen->fd, TCSANOW, &screen->modes);
}

void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	if (!screen->suspended)
		give_back(screen);
	delwin(screen->input);
	crash_disarm();
	delscreen(screen->curses);
	release(screen);
}

int screen_fd(const struct screen *screen)
{
	return screen->fd;
}

void screen_size(const struct screen *screen, int *width, int *height)
{
	(void)screen;
	*width = COLS;
	*height = LINES;
}

enum theme_depth screen_depth(const struct screen *screen)
{
	return screen->depth;
}

void screen_suspend(struct screen *screen)
{
	if (screen->suspended)
		return;
	def_prog_mode();
	give_back(screen);
	screen->suspended = true;
}

void screen_resume(struct screen *screen)
{
	if (!screen->suspended)
		return;
	screen->suspended = false;
	reset_prog_mode();
	if (!screen->printer)
		refresh();
	set_paste(screen, true);
	screen_redraw(screen);
}

void screen_redraw(struct screen *screen)
{
	screen->all = true;
}
