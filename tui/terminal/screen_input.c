/* SPDX-License-Identifier: MIT */
/* What comes from the terminal: keys, and what the mouse does. */
#include "tui/terminal/screen_internal.h"

#include <errno.h>
#include <wchar.h>

#define FIRST_OWN_CODE 0x2000		/* above what ncurses gives out */
#define CODE_MOUSE 0x3000
#define CODE_OLD_MOUSE 0x3001
#define CODE_SYNC 0x3002
#define CODE_PASTE 0x3003
#define CODE_PASTED 0x3004
#define PASTE_MS 2000	/* text of which nothing came for so long has ended, whatever was lost */

static void map_code(struct screen *screen, int code, uint32_t keysym, unsigned mods)
{
	if (screen->mapped == SCREEN_KEYS_MAX)
		return;
	screen->map[screen->mapped].code = code;
	screen->map[screen->mapped].key = (struct key){keysym, (uint8_t)mods};
	screen->mapped++;
}

/* A sequence that terminfo may lack; what it has keeps its own code. */
static void map_sequence(struct screen *screen, const char *sequence, uint32_t keysym,
			 unsigned mods)
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

void screen_map_keys(struct screen *screen)
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
	static const struct { const char *sequence; uint32_t keysym;
	} plain[] = {
		{"\033[A", KEYSYM_UP},	     {"\033[B", KEYSYM_DOWN},
		{"\033[C", KEYSYM_RIGHT},    {"\033[D", KEYSYM_LEFT},
		{"\033[H", KEYSYM_HOME},     {"\033[F", KEYSYM_END},
		{"\033OA", KEYSYM_UP},	     {"\033OB", KEYSYM_DOWN},
		{"\033OC", KEYSYM_RIGHT},    {"\033OD", KEYSYM_LEFT},
		{"\033OH", KEYSYM_HOME},     {"\033OF", KEYSYM_END},
		{"\033[1~", KEYSYM_HOME},    {"\033[4~", KEYSYM_END},
		{"\033[2~", KEYSYM_INSERT},  {"\033[3~", KEYSYM_DELETE},
		{"\033[5~", KEYSYM_PAGE_UP}, {"\033[6~", KEYSYM_PAGE_DOWN},
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
	if (screen->has_mouse) {
		define_key("\033[<", CODE_MOUSE);
		define_key("\033[M", CODE_OLD_MOUSE);
		define_key("\033[?2026;", CODE_SYNC);
		define_key("\033[200~", CODE_PASTE);
		define_key("\033[201~", CODE_PASTED);
	}
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

/* ---- what is more than a key ---- */

/* true: the sequence is complete and an event; what makes no sense is left out. */
static bool take_rest(struct screen *screen, wint_t ch, struct mouse *mouse)
{
	bool old = screen->rest == REST_OLD_MOUSE, last;
	enum screen_rest rest = screen->rest;

	if (old)
		last = screen->rest_length == 2;
	else
		last = ch != ';' && ch != '$' && (ch < '0' || ch > '9');
	/* what is too long is read to its end, and then wrong */
	if (screen->rest_length < SCREEN_REST_MAX)
		screen->rest_text[screen->rest_length++] = (char)(ch > 0xff ? 0 : ch);
	if (!last)
		return false;
	screen->rest = REST_NONE;
	if (old)
		return mouse_from_bytes((const unsigned char *)screen->rest_text, mouse);
	screen->rest_text[screen->rest_length - 1] = '\0';
	if (rest == REST_SYNC) {
		screen_sync_answer(screen, screen->rest_text);
		return false;
	}
	return mouse_from_sgr(screen->rest_text, (char)ch, mouse);
}

static bool begins_rest(struct screen *screen, int code)
{
	if (code < CODE_MOUSE || code > CODE_SYNC)
		return false;
	screen->rest = code == CODE_MOUSE ? REST_MOUSE : code == CODE_SYNC ? REST_SYNC :
		       REST_OLD_MOUSE;
	screen->rest_length = 0;
	return true;
}

/* After Esc: it alone, or Alt with what comes at once. */
static void input_take_escape(struct screen *screen, struct key *key)
{
	wint_t ch = 0;
	int got = wget_wch(screen->input, &ch);

	*key = (struct key){KEYSYM_ESC, 0};
	if (got == ERR || (got == KEY_CODE_YES && begins_rest(screen, (int)ch)))
		return;
	if (got == KEY_CODE_YES ? !from_code(screen, (int)ch, key) : ch == 27) {
		if (ch == 27)
			unget_wch(27);
		return;
	}
	if (got != KEY_CODE_YES)
		*key = from_char(ch);
	key->mods |= MOD_ALT;
}

/* What comes while text is pasted: no sequence in it is a key. true: there is a character. */
static bool take_pasted(struct screen *screen, int got, wint_t ch, struct key *key)
{
	screen->pasted_ms = screen_now_ms();
	if (got == KEY_CODE_YES) {
		screen->pasting = ch != CODE_PASTED;
		return false;
	}
	*key = from_char(ch);
	return true;
}

enum screen_input screen_read(struct screen *screen, struct key *key, struct mouse *mouse)
{
	wint_t ch = 0;
	int got;

	for (;;) {
		errno = 0;
		got = wget_wch(screen->input, &ch);
		if (got == ERR)
			return errno == EIO || errno == ENXIO ? SCREEN_CLOSED : SCREEN_NOTHING;
		if (screen->pasting && screen_now_ms() - screen->pasted_ms > PASTE_MS)
			screen->pasting = false;
		if (got == KEY_CODE_YES && ch == KEY_RESIZE) {
			screen->all = true;
			return SCREEN_RESIZED;
		}
		if (screen->pasting || (got == KEY_CODE_YES && ch == CODE_PASTE)) {
			screen->pasting = true;
			if (take_pasted(screen, got, ch, key))
				return SCREEN_PASTED;
		} else if (got == KEY_CODE_YES) {
			screen->rest = REST_NONE;
			if (!begins_rest(screen, (int)ch) && from_code(screen, (int)ch, key))
				return SCREEN_KEY;
		} else if (screen->rest) {
			if (take_rest(screen, ch, mouse))
				return SCREEN_MOUSE;
		} else {
			if (ch == 27)
				input_take_escape(screen, key);
			else
				*key = from_char(ch);
			return SCREEN_KEY;
		}
	}
}
