/* SPDX-License-Identifier: MIT */
/* The only file that includes curses. */
#include "tui/screen.h"

#include <curses.h>
#include <term.h>

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "model/base/util.h"
#include "probes/session/guard.h"

#define MAP_MAX 160
#define FIRST_OWN_CODE 0x2000		/* above what ncurses gives out */
#define PAIR_SIDE 257			/* default and 256 colours */

struct screen {
	int fd;
	FILE *in, *out;			/* owned; both on /dev/tty */
	SCREEN *curses;			/* owned */
	WINDOW *input;			/* owned; a pad: reading keys refreshes nothing */
	bool printer;			/* it cannot move the cursor: whole pictures as lines */
	enum theme_depth depth;
	struct grid shown;		/* what curses has been told */
	bool all;			/* nothing is known of what is shown */
	bool suspended;
	struct { int code; struct key key; } map[MAP_MAX];
	int mapped;
	int pairs;			/* given out; 0 is the terminal's own */
	unsigned short pair_of[PAIR_SIDE][PAIR_SIDE];
};

/* ---- the crash handler: async-signal-safe, fixed bytes only ---- */

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#define CRASH_COUNT (sizeof(crash_signals) / sizeof(*crash_signals))

static struct {
	volatile sig_atomic_t armed;
	int fd;
	struct termios modes;
	char bytes[128];
	size_t size;
	struct sigaction old[CRASH_COUNT];
} crash;

static void on_crash(int number, siginfo_t *info, void *context)
{
	size_t i;

	guard_caught();			/* a thread of the reader's: tftop goes on */
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

static void crash_arm(struct screen *screen, const struct termios *modes)
{
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
	size_t i;

	crash.fd = screen->fd;
	crash.modes = *modes;
	crash.size = 0;
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

/* ---- keys ---- */

static void map_code(struct screen *screen, int code, uint32_t keysym, unsigned mods)
{
	if (screen->mapped == MAP_MAX)
		return;
	screen->map[screen->mapped].code = code;
	screen->map[screen->mapped].key = (struct key){keysym, (uint8_t)mods};
	screen->mapped++;
}

/* A sequence that terminfo may lack; what it has keeps its own code. */
static void map_sequence(struct screen *screen, const char *sequence, uint32_t keysym, unsigned mods)
{
	int code = key_defined(sequence);

	if (code <= 0) {
		code = FIRST_OWN_CODE + screen->mapped;
		if (define_key(sequence, code) != OK)
			return;
	}
	map_code(screen, code, keysym, mods);
}

/* xterm's modified keys: ESC [ 1 ; M X and ESC [ N ; M ~, M - 1 = Shift 1, Alt 2, Ctrl 4. */
static void map_modified(struct screen *screen)
{
	static const struct { const char *format; uint32_t keysym; } keys[] = {
		{"\033[1;%dA", KEYSYM_UP}, {"\033[1;%dB", KEYSYM_DOWN},
		{"\033[1;%dC", KEYSYM_RIGHT}, {"\033[1;%dD", KEYSYM_LEFT},
		{"\033[1;%dH", KEYSYM_HOME}, {"\033[1;%dF", KEYSYM_END},
		{"\033[2;%d~", KEYSYM_INSERT}, {"\033[3;%d~", KEYSYM_DELETE},
		{"\033[5;%d~", KEYSYM_PAGE_UP}, {"\033[6;%d~", KEYSYM_PAGE_DOWN},
	};
	size_t i;
	int m;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		for (m = 2; m <= 8; m++) {
			unsigned mods = ((m - 1) & 1 ? MOD_SHIFT : 0) |
					((m - 1) & 2 ? MOD_ALT : 0) |
					((m - 1) & 4 ? MOD_CTRL : 0);
			char sequence[16];

			snprintf(sequence, sizeof(sequence), keys[i].format, m);
			map_sequence(screen, sequence, keys[i].keysym, mods);
		}
}

static void map_keys(struct screen *screen)
{
	static const struct { int code; uint32_t keysym; unsigned mods; } codes[] = {
		{KEY_UP, KEYSYM_UP, 0}, {KEY_DOWN, KEYSYM_DOWN, 0},
		{KEY_LEFT, KEYSYM_LEFT, 0}, {KEY_RIGHT, KEYSYM_RIGHT, 0},
		{KEY_HOME, KEYSYM_HOME, 0}, {KEY_END, KEYSYM_END, 0},
		{KEY_FIND, KEYSYM_HOME, 0}, {KEY_SELECT, KEYSYM_END, 0},
		{KEY_PPAGE, KEYSYM_PAGE_UP, 0}, {KEY_NPAGE, KEYSYM_PAGE_DOWN, 0},
		{KEY_IC, KEYSYM_INSERT, 0}, {KEY_DC, KEYSYM_DELETE, 0},
		{KEY_BACKSPACE, KEYSYM_BACKSPACE, 0}, {KEY_ENTER, KEYSYM_ENTER, 0},
		{KEY_BTAB, KEYSYM_TAB, MOD_SHIFT},
		{KEY_SLEFT, KEYSYM_LEFT, MOD_SHIFT}, {KEY_SRIGHT, KEYSYM_RIGHT, MOD_SHIFT},
		{KEY_SR, KEYSYM_UP, MOD_SHIFT}, {KEY_SF, KEYSYM_DOWN, MOD_SHIFT},
		{KEY_SHOME, KEYSYM_HOME, MOD_SHIFT}, {KEY_SEND, KEYSYM_END, MOD_SHIFT},
		{KEY_SPREVIOUS, KEYSYM_PAGE_UP, MOD_SHIFT},
		{KEY_SNEXT, KEYSYM_PAGE_DOWN, MOD_SHIFT}, {KEY_SDC, KEYSYM_DELETE, MOD_SHIFT},
	};
	static const struct { const char *sequence; uint32_t keysym; } plain[] = {
		{"\033[A", KEYSYM_UP}, {"\033[B", KEYSYM_DOWN}, {"\033[C", KEYSYM_RIGHT},
		{"\033[D", KEYSYM_LEFT}, {"\033[H", KEYSYM_HOME}, {"\033[F", KEYSYM_END},
		{"\033OA", KEYSYM_UP}, {"\033OB", KEYSYM_DOWN}, {"\033OC", KEYSYM_RIGHT},
		{"\033OD", KEYSYM_LEFT}, {"\033OH", KEYSYM_HOME}, {"\033OF", KEYSYM_END},
		{"\033[1~", KEYSYM_HOME}, {"\033[4~", KEYSYM_END}, {"\033[2~", KEYSYM_INSERT},
		{"\033[3~", KEYSYM_DELETE}, {"\033[5~", KEYSYM_PAGE_UP}, {"\033[6~", KEYSYM_PAGE_DOWN},
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		map_code(screen, codes[i].code, codes[i].keysym, codes[i].mods);
	for (i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (!key_defined(plain[i].sequence))
			map_sequence(screen, plain[i].sequence, plain[i].keysym, 0);
	for (i = 0; i < 20; i++)
		map_code(screen, KEY_F((int)i + 1), KEYSYM_F1 + (uint32_t)i, 0);
	map_modified(screen);
}

static bool from_code(const struct screen *screen, int code, struct key *key)
{
	int i;

	for (i = 0; i < screen->mapped; i++)
		if (screen->map[i].code == code) {
			*key = screen->map[i].key;
			return true;
		}
	return false;
}

static struct key from_char(wint_t ch)
{
	struct key key = {(uint32_t)ch, 0};

	if (ch == 127) {
		key.code = KEYSYM_BACKSPACE;
	} else if (ch < 32) {
		key.code = ch == 0 ? ' ' : ch <= 26 ? (uint32_t)ch + 'a' - 1 : (uint32_t)ch + '@';
		key.mods = MOD_CTRL;
	}
	return key_normalise(key);
}

enum screen_input screen_key(struct screen *screen, struct key *key)
{
	wint_t ch = 0;
	int got;

	for (;;) {
		errno = 0;
		got = wget_wch(screen->input, &ch);
		if (got == ERR)
			return errno == EIO || errno == ENXIO ? SCREEN_CLOSED : SCREEN_NOTHING;
		if (got == KEY_CODE_YES && ch == KEY_RESIZE) {
			screen->all = true;
			return SCREEN_RESIZED;
		}
		if (got == KEY_CODE_YES) {
			if (from_code(screen, (int)ch, key))
				return SCREEN_KEY;
			continue;
		}
		if (ch != 27)
			break;
		/* Esc alone, or Alt with what comes at once */
		got = wget_wch(screen->input, &ch);
		*key = (struct key){KEYSYM_ESC, 0};
		if (got == ERR)
			return SCREEN_KEY;
		if (got == KEY_CODE_YES ? !from_code(screen, (int)ch, key) : ch == 27) {
			if (ch == 27)
				unget_wch(27);
			return SCREEN_KEY;
		}
		if (got != KEY_CODE_YES)
			*key = from_char(ch);
		key->mods |= MOD_ALT;
		return SCREEN_KEY;
	}
	*key = from_char(ch);
	return SCREEN_KEY;
}

/* ---- opening and closing ---- */

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
		snprintf(error, error_size, "cannot open the terminal '/dev/tty': %s", strerror(errno));
		return false;
	}
	screen->in = fdopen(screen->fd, "r");
	screen->out = fdopen(fcntl(screen->fd, F_DUPFD_CLOEXEC, 3), "w");
	if (!screen->in || !screen->out) {
		snprintf(error, error_size, "cannot use the terminal '/dev/tty': %s", strerror(errno));
		return false;
	}
	return true;
}

static void say_unknown(char *error, size_t error_size)
{
	const char *term = getenv("TERM");

	snprintf(error, error_size, "unknown terminal type in TERM: '%s'", term ? term : "");
}

bool screen_possible(char *error, size_t error_size)
{
	int result, fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0) {
		snprintf(error, error_size, "cannot open the terminal '/dev/tty': %s", strerror(errno));
		return false;
	}
	if (setupterm(NULL, fd, &result) == OK) {
		del_curterm(cur_term);
		close(fd);
		return true;
	}
	close(fd);
	say_unknown(error, error_size);
	return false;
}

static void release(struct screen *screen)
{
	if (screen->out)
		fclose(screen->out);
	if (screen->in)
		fclose(screen->in);
	else if (screen->fd >= 0)
		close(screen->fd);
	grid_release(&screen->shown);
	free(screen);
}

struct screen *screen_open(const struct screen_options *options, char *error, size_t error_size)
{
	struct screen *screen = xcalloc(1, sizeof(*screen));
	struct termios modes;

	if (!open_tty(screen, error, error_size) || tcgetattr(screen->fd, &modes)) {
		release(screen);
		return NULL;
	}
	/* the terminal knows its size; LINES and COLUMNS may be somebody else's */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	screen->curses = newterm(NULL, screen->out, screen->in);
	if (!screen->curses) {
		say_unknown(error, error_size);
		release(screen);
		return NULL;
	}
	set_term(screen->curses);
	screen->printer = !tigetstr((char *)(uintptr_t)"cup");
	screen->input = newpad(1, 1);
	if (!screen->input) {
		snprintf(error, error_size, "out of memory for the screen");
		endwin();
		delscreen(screen->curses);
		release(screen);
		return NULL;
	}
	crash_arm(screen, &modes);
	set_modes(screen->input, options->escape_ms);
	map_keys(screen);
	screen->depth = find_depth(options);
	screen->pairs = 1;
	screen->all = true;
	return screen;
}

void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	if (!screen->suspended)
		endwin();
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
	endwin();
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
	screen_redraw(screen);
}

void screen_redraw(struct screen *screen)
{
	screen->all = true;
}

/* ---- drawing ---- */

/* The pair of two colours, made when first used; when a small terminal has no
 * more, the foreground alone, else none. */
static int pair_for(struct screen *screen, short fg, short bg)
{
	unsigned short *known = &screen->pair_of[fg + 1][bg + 1];

	if (fg == COLOUR_DEFAULT && bg == COLOUR_DEFAULT)
		return 0;
	if (*known)
		return *known;
	if (screen->pairs >= COLOR_PAIRS || screen->pairs >= 0xffff)
		return bg == COLOUR_DEFAULT ? 0 : screen->pair_of[fg + 1][0];
	if (init_extended_pair(screen->pairs, fg, bg) != OK)
		return 0;
	*known = (unsigned short)screen->pairs++;
	return *known;
}

/* A full block on its own colour is a blank on it, in half the bytes: most of
 * what a bar costs a terminal far away. 0: it is none, or there is no pair. */
static int blank_pair(struct screen *screen, const struct cell *cell, struct look look)
{
	if (cell->ch != 0x2588 || look.attr || look.fg != look.bg)
		return 0;
	return pair_for(screen, COLOUR_DEFAULT, look.bg);
}

static void put(struct screen *screen, const struct theme *theme, int x, int y,
		const struct cell *cell)
{
	struct look look = theme_look(theme, cell, screen->depth);
	wchar_t text[2] = {(wchar_t)cell->ch, 0};
	attr_t attr = A_NORMAL;
	cchar_t out;
	int pair;

	look.attr |= look.fg >= 8 && COLORS < 16 ? ATTR_BOLD : 0;
	look.fg = (short)(COLORS < 16 ? look.fg % 8 : look.fg);
	look.bg = (short)(COLORS < 16 ? look.bg % 8 : look.bg);
	if (look.attr & ATTR_BOLD)
		attr |= A_BOLD;
	if (look.attr & ATTR_UNDERLINE)
		attr |= A_UNDERLINE;
	if (look.attr & ATTR_REVERSE)
		attr |= A_REVERSE;
	if (look.attr & ATTR_DIM)
		attr |= A_DIM;
	/* The C library has the last word on what it draws how wide. */
	if (cell->ch >= 0x7f && wcwidth((wchar_t)cell->ch) != text_columns(cell->ch))
		text[0] = L'?';
	pair = screen->depth == DEPTH_MONO ? 0 : blank_pair(screen, cell, look);
	if (pair)
		text[0] = L' ';
	else if (screen->depth != DEPTH_MONO)
		pair = pair_for(screen, look.fg, look.bg);
	if (setcchar(&out, text, attr, (short)(pair > 0x7fff ? 0 : pair), &pair) == OK)
		mvadd_wch(y, x, &out);
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->ch == b->ch && a->fg == b->fg && a->bg == b->bg && a->attr == b->attr;
}

static void put_line(struct screen *screen, const struct theme *theme,
		     const struct cell *now, struct cell *was, int y, int width)
{
	int x;

	for (x = 0; x < width; x++) {
		bool changed = screen->all || !same(&now[x], &was[x]) ||
			       (x + 1 < width && now[x + 1].ch == 0 && !same(&now[x + 1], &was[x + 1]));

		if (changed && now[x].ch)
			put(screen, theme, x, y, &now[x]);
	}
	memcpy(was, now, (size_t)width * sizeof(*was));
}

/* A terminal that only prints: the lines of the picture that are not empty,
 * when it changed. */
static void print_lines(struct screen *screen, const struct grid *grid)
{
	size_t size = (size_t)grid->width * (size_t)grid->height * sizeof(*grid->cells);
	char *text = NULL, *line, *rest;
	size_t length = 0;
	FILE *file;

	if (screen->shown.width == grid->width && screen->shown.height == grid->height &&
	    !screen->all && !memcmp(screen->shown.cells, grid->cells, size))
		return;
	grid_resize(&screen->shown, grid->width, grid->height);
	memcpy(screen->shown.cells, grid->cells, size);
	screen->all = false;
	file = open_memstream(&text, &length);
	if (!file)
		return;
	grid_save(grid, file, false);
	fclose(file);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(screen->out, "%s\r\n", line);
	fputs("\r\n", screen->out);
	fflush(screen->out);
	free(text);
}

bool screen_only_prints(const struct screen *screen)
{
	return screen->printer;
}

void screen_draw(struct screen *screen, const struct theme *theme, const struct grid *grid)
{
	int width = grid->width < COLS ? grid->width : COLS;
	int height = grid->height < LINES ? grid->height : LINES;
	int y;

	if (screen->suspended)
		return;
	if (screen->printer) {
		print_lines(screen, grid);
		return;
	}
	if (screen->shown.width != grid->width || screen->shown.height != grid->height) {
		grid_resize(&screen->shown, grid->width, grid->height);
		screen->all = true;
	}
	if (screen->all) {
		erase();
		clearok(curscr, TRUE);
	}
	for (y = 0; y < height; y++)
		put_line(screen, theme, grid->cells + (size_t)y * (size_t)grid->width,
			 screen->shown.cells + (size_t)y * (size_t)grid->width, y, width);
	screen->all = false;
	if (grid->cursor_x >= 0 && grid->cursor_x < COLS && grid->cursor_y < LINES) {
		curs_set(1);
		move(grid->cursor_y, grid->cursor_x);
	} else {
		curs_set(0);
		move(height > 0 ? height - 1 : 0, 0);
	}
	wnoutrefresh(stdscr);
	doupdate();
}
