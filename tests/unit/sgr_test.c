/* SPDX-License-Identifier: MIT */
/* What is shortened draws the same: against a terminal that does as it is told. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/terminal/sgr.h"

#define COLUMNS 64
#define SEEN_ON_BLANKS (1u << 4 | 1u << 5 | 1u << 7 | 1u << 9)

struct shown {
	unsigned char ch, set;
	unsigned attr;
	int fg, bg;
};

struct terminal {
	struct shown pen, cells[COLUMNS];
	int x;
};

static void set_one(struct shown *pen, const char **at)
{
	long p = strtol(*at, (char **)(uintptr_t)at, 10);

	if (p == 0)
		pen->attr = 0, pen->fg = pen->bg = -1;
	else if (p < 10)
		pen->attr |= 1u << p;
	else if (p == 22)
		pen->attr &= ~6u;
	else if (p == 24 || p == 27)
		pen->attr &= ~(1u << (p - 20));
	else if (p == 38 || p == 48)
		*(p == 38 ? &pen->fg : &pen->bg) =
			1000 + (int)strtol(*at + 3, (char **)(uintptr_t)at, 10);
	else if (p == 39 || p == 49)
		*(p == 39 ? &pen->fg : &pen->bg) = -1;
	else if (p == 53)
		pen->attr |= 1u << 31;
	else
		*(p < 40 || (p >= 90 && p < 100) ? &pen->fg : &pen->bg) = (int)p;
}

static void put(struct terminal *t, unsigned char c)
{
	t->pen.ch = c;
	t->cells[t->x % COLUMNS] = t->pen;
	if (c == ' ') {
		struct shown *cell = &t->cells[t->x % COLUMNS];

		cell->attr &= SEEN_ON_BLANKS | 1u << 31;
		cell->fg = cell->attr ? cell->fg : -1;
		cell->set = 0;
	}
	t->x++;
}

static const char *sequence(struct terminal *t, const char *at)
{
	const char *end = at + 1 + strspn(at + 1, "0123456789;");
	int n = atoi(at + 1);

	if (*end == 'm') {
		const char *p = at + 1;

		do {
			set_one(&t->pen, &p);
		} while (*p++ == ';');
	} else if (*end == 'G') {
		t->x = n - 1;
	} else if (*end == 'X') {
		for (int i = 0; i < n && t->x + i < COLUMNS; i++)
			t->cells[t->x + i] = (struct shown){
				.ch = ' ', .fg = -1, .bg = t->pen.bg,
			};
	}
	return end + 1;
}

static void play(struct terminal *t, const char *at)
{
	memset(t, 0, sizeof(*t));
	t->pen.fg = t->pen.bg = -1;
	t->pen.set = 'B';
	while (*at) {
		if (at[0] == '\033' && at[1] == '[') {
			at = sequence(t, at + 1);
		} else if (at[0] == '\033') {
			t->pen.set = (unsigned char)at[2];
			at += 3;
		} else {
			put(t, (unsigned char)*at++);
		}
	}
	t->pen.ch = 0;
	t->x = 0;
}

static void shorten(struct strbuf *out, const char *text)
{
	strbuf_init(out);
	sgr_shorten(out, text, strlen(text));
}

static void check_text(const char *text, const char *want)
{
	struct strbuf out;

	shorten(&out, text);
	CHECK_STR(out.data, want);
	strbuf_release(&out);
}

TEST(sgr_says_what_differs_once)
{
	check_text("plain", "plain");
	check_text("\033[39m\033[m\033[38;5;36mx\033[39m\033[m", "\033[38;5;36mx\033[m");
	check_text("\033[31ma\033[m\033[31mb\033[m", "\033[31mab\033[m");
	check_text("\033[1ma\033[m\033[4mb\033[m", "\033[1ma\033[;4mb\033[m");
	check_text("\033[31m\033[44ma\033[39;49mb", "\033[31;44ma\033[mb");
	check_text("\033(B\033[ma\033(B\033[mb", "\033(Bab");
}

TEST(sgr_leaves_defaults_to_terminals_that_know_them)
{
	check_text("\033[31;44ma\033[m\033[31mb\033[m", "\033[31;44ma\033[;31mb\033[m");
	check_text("\033[31;44ma\033[49mb\033[39m", "\033[31;44ma\033[49mb\033[m");
}

TEST(sgr_waits_while_the_cursor_moves)
{
	check_text("\033[31ma\033[m\033[3;4H\033[31mb\033[m", "\033[31ma\033[3;4Hb\033[m");
	check_text("\033[41ma\033[m\033[K", "\033[41ma\033[m\033[K");
}

TEST(sgr_gives_blanks_no_letters_colour)
{
	check_text("\033[31ma\033[32m b\033[m", "\033[31ma \033[32mb\033[m");
	check_text("\033[4;31ma\033[32m b\033[m", "\033[4;31ma\033[32m b\033[m");
}

TEST(sgr_leaves_what_it_does_not_know)
{
	check_text("\033[38;2;1;2;3ma\033[1mb\033[mc\033[1md\033[m",
		   "\033[38;2;1;2;3ma\033[1mb\033[mc\033[1md\033[m");
	check_text("\033[?25l\033]0;x\007\0337\033[1", "\033[?25l\033]0;x\007\0337\033[1");
}

static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void add_random(struct strbuf *text, uint64_t *random)
{
	static const char *const pieces[] = {
		"\033[m", "\033[39;49m", "\033[0;7m", "\033[1m", "\033[22m", "\033[4m", "\033[24m",
		"\033[7m", "\033[27m", "\033[39m", "\033[49m", "\033(B", "\033(0", "\033[3X", " ",
		"  ", "a", "bc", "\033[53m", "\033[2m", "\033[0;53m",
	};
	unsigned kind = (unsigned)(next(random) % (sizeof(pieces) / sizeof(*pieces) + 8));

	if (kind >= 8)
		strbuf_adds(text, pieces[kind - 8]);
	else if (kind < 2)
		strbuf_addf(text, "\033[%dG", (int)(next(random) % COLUMNS) + 1);
	else if (kind < 4)
		strbuf_addf(text, "\033[%d8;5;%dm", kind == 2 ? 3 : 4,
			    (int)(next(random) % 4) + 20);
	else
		strbuf_addf(text, "\033[%dm", (int)(next(random) % 3) + (kind < 6 ? 31 : 101));
}

TEST(sgr_draws_the_same)
{
	uint64_t random = 1;
	size_t before = 0, after = 0;

	for (int round = 0; round < 3000; round++) {
		struct terminal a, b;
		struct strbuf text, out;

		strbuf_init(&text);
		for (int i = 0; i < 60; i++)
			add_random(&text, &random);
		strbuf_adds(&text, "\033[m\033(B");
		shorten(&out, text.data);
		play(&a, text.data);
		play(&b, out.data);
		CHECK(!memcmp(&a, &b, sizeof(a)));
		before += text.length;
		after += out.length;
		strbuf_release(&text);
		strbuf_release(&out);
	}
	CHECK(after < before);
}
