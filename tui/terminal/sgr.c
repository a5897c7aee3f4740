/* SPDX-License-Identifier: MIT */
/* See ECMA-48, 8.3.117 (SGR), and xterm's ctlseqs for 38;5;N and 90 … 107. */
#include "tui/terminal/sgr.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "model/base/util.h"

#define PARAMS_MAX 16
#define INDEXED 1000			/* + N: 38;5;N or 48;5;N */
#define REVERSE (1u << 7)
/* What is seen of a blank: underline, blinking, reverse, a line through it. */
#define ON_BLANKS (1u << 4 | 1u << 5 | REVERSE | 1u << 9)

struct state {
	unsigned attr;			/* bit N: SGR N, 1 … 9 */
	int fg, bg;			/* 0: default; else as it was said: 31, 97, INDEXED + N */
};

struct sgr {
	struct strbuf *out;
	struct strbuf whole, step;	/* owned; what sgr_print_colour() chooses from */
	struct state want, shown;
	bool strange;			/* something is set that is not known here */
	bool forgotten;			/* shown is not known */
	bool default_alone;		/* 39 and 49 are in use */
	char set[2];			/* 'B' of ESC ( B, and ^O; 0: not said yet */
};

/* ---- what is wanted ---- */

/* 38;5;N from params[*i] on. */
static int colour(const int *params, int n, int *i)
{
	if (*i + 2 >= n || params[*i + 1] != 5 || params[*i + 2] < 0 || params[*i + 2] > 255)
		return -1;
	*i += 2;
	return INDEXED + params[*i];
}

/* false: not known here. */
static bool sgr_apply(struct sgr *sgr, struct state *state, const int *params, int n)
{
	for (int i = 0; i < n; i++) {
		int p = params[i];

		if (p == 0)
			*state = (struct state){0};
		else if (p >= 1 && p <= 9)
			state->attr |= 1u << p;
		else if (p == 22)
			state->attr &= ~(1u << 1 | 1u << 2);
		else if (p >= 23 && p <= 29 && p != 26)
			state->attr &= ~(p == 25 ? 1u << 5 | 1u << 6 : 1u << (p - 20));
		else if ((p >= 30 && p <= 37) || (p >= 90 && p <= 97))
			state->fg = p;
		else if ((p >= 40 && p <= 47) || (p >= 100 && p <= 107))
			state->bg = p;
		else if (p == 38)
			state->fg = colour(params, n, &i);
		else if (p == 48)
			state->bg = colour(params, n, &i);
		else if (p == 39 || p == 49)
			*(p == 39 ? &state->fg : &state->bg) = 0;
		else
			return false;
		sgr->default_alone |= p == 39 || p == 49;
		if (state->fg < 0 || state->bg < 0)
			return false;
	}
	return true;
}

/* ---- what is said of it ---- */

static void add_colour(struct strbuf *text, int value, int base)
{
	if (value >= INDEXED)
		strbuf_addf(text, ";%d;5;%d", base + 8, value - INDEXED);
	else
		strbuf_addf(text, ";%d", value ? value : base + 9);
}

/* The difference, with a ';' in front. */
static void add_difference(struct strbuf *text, const struct state *from, const struct state *to)
{
	for (int bit = 1; bit <= 9; bit++)
		if (to->attr & ~from->attr & 1u << bit)
			strbuf_addf(text, ";%d", bit);
	if (to->fg != from->fg)
		add_colour(text, to->fg, 30);
	if (to->bg != from->bg)
		add_colour(text, to->bg, 40);
}

/* No attribute is taken back alone: not all terminals can. */
static bool needs_reset(const struct sgr *sgr, const struct state *to)
{
	return sgr->forgotten || (sgr->shown.attr & ~to->attr) ||
	       (!sgr->default_alone &&
		((sgr->shown.fg && !to->fg) || (sgr->shown.bg && !to->bg)));
}

static void sgr_print_colour(struct sgr *sgr, const struct state *to)
{
	static const struct state none;
	bool reset = needs_reset(sgr, to);

	if (!sgr->forgotten && !memcmp(&sgr->shown, to, sizeof(*to)))
		return;
	strbuf_reset(&sgr->whole);
	strbuf_reset(&sgr->step);
	add_difference(&sgr->whole, &none, to);
	if (!reset)
		add_difference(&sgr->step, &sgr->shown, to);
	/* A reset is the empty parameter: "ESC [;1m", and "ESC [m" alone. */
	if (!reset && sgr->step.length <= sgr->whole.length + 1)
		strbuf_addf(sgr->out, "\033[%sm", sgr->step.data + 1);
	else
		strbuf_addf(sgr->out, "\033[%sm", sgr->whole.data);
	sgr->shown = *to;
	sgr->forgotten = false;
}

/* Before a character; blank: one that shows its background alone. */
static void settle(struct sgr *sgr, bool blank)
{
	struct state to = sgr->want;

	if (sgr->strange)
		return;
	if (blank && !sgr->forgotten && !((to.attr | sgr->shown.attr) & ON_BLANKS)) {
		to.fg = sgr->shown.fg;
		to.attr = sgr->shown.attr;
	}
	sgr_print_colour(sgr, &to);
}

/* ---- reading ---- */

/* The parameters of a CSI; -1: not plain numbers. */
static int read_params(const char *text, size_t size, int *params)
{
	int n = 1;

	params[0] = 0;
	for (size_t i = 0; i < size; i++) {
		if (text[i] == ';' && n < PARAMS_MAX)
			params[n++] = 0;
		else if (isdigit((unsigned char)text[i]) && params[n - 1] < 1000)
			params[n - 1] = 10 * params[n - 1] + (text[i] - '0');
		else
			return -1;
	}
	return n;
}

static void take_sgr(struct sgr *sgr, const char *text, size_t size)
{
	struct state state = sgr->want;
	int params[PARAMS_MAX], n = read_params(text + 2, size - 3, params);

	if (n > 0 && (!sgr->strange || params[0] == 0) && sgr_apply(sgr, &state, params, n)) {
		sgr->want = state;
		sgr->strange = false;
		return;
	}
	/* Until all is put back, as it comes. */
	settle(sgr, false);
	sgr->strange = sgr->forgotten = true;
	strbuf_add(sgr->out, text, size);
}

/* Only moves the cursor: the colours can wait. */
static bool only_moves(char final)
{
	return final && strchr("ABCDEFGHdf", final);
}

static size_t csi_size(const char *text, size_t size)
{
	size_t at = 2;

	while (at < size && text[at] >= 0x20 && text[at] <= 0x3f)
		at++;
	return at < size ? at + 1 : size;
}

/* A character set that is chosen already is not said again. */
static void take_set(struct sgr *sgr, char *known, char set, const char *text, size_t size)
{
	if (*known != set)
		strbuf_add(sgr->out, text, size);
	*known = set;
}

static size_t other_size(const char *text, size_t size)
{
	size_t at = 1;

	while (at < size && text[at] >= 0x20 && text[at] <= 0x2f)
		at++;
	return at < size ? at + 1 : size;
}

static size_t sgr_take_escape(struct sgr *sgr, const char *text, size_t size)
{
	bool csi = size >= 3 && text[1] == '[';
	size_t length = csi ? csi_size(text, size) : other_size(text, size);

	if (csi && text[length - 1] == 'm') {
		take_sgr(sgr, text, length);
	} else if (length == 3 && text[1] == '(') {
		take_set(sgr, &sgr->set[0], text[2], text, length);
	} else {
		if (!csi || !only_moves(text[length - 1]))
			settle(sgr, false);
		strbuf_add(sgr->out, text, length);
	}
	return length;
}

void sgr_shorten(struct strbuf *out, const char *text, size_t size)
{
	struct sgr sgr = {.out = out};

	strbuf_init(&sgr.whole);
	strbuf_init(&sgr.step);
	for (size_t at = 0; at < size;) {
		unsigned char c = (unsigned char)text[at];

		if (c == '\033') {
			at += sgr_take_escape(&sgr, text + at, size - at);
			continue;
		}
		if (c == '\016' || c == '\017') {
			take_set(&sgr, &sgr.set[1], (char)c, text + at, 1);
		} else {
			if (c != '\r' && c != '\b')
				settle(&sgr, c == ' ');
			strbuf_add(out, text + at, 1);
		}
		at++;
	}
	settle(&sgr, false);
	strbuf_release(&sgr.whole);
	strbuf_release(&sgr.step);
}
