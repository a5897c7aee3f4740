/* SPDX-License-Identifier: MIT */
/*
 * What goes to the terminal, so that a terminal that does not keep up costs
 * pictures and no time: curses writes into a file in memory, what it wrote is
 * handed over as the terminal takes it, and no picture is drawn while some of
 * the last one waits. At most one picture waits, ever.
 *
 * A terminal that can is told where a picture begins and ends, and shows it at
 * once (mode 2026, https://gist.github.com/christianparpart/d8a62cc1ab659194337d73e399004036).
 */
#include "tui/terminal/screen_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "tui/terminal/sgr.h"

#define SYNC_BEGIN "\033[?2026h"
#define SYNC_ASK "\033[?2026$p"
#define ANSWER_MS 100			/* that leaving waits for an answer */
#define ANSWER_LATE_MS 1000		/* after that there will be none */

int64_t screen_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

void screen_out_open(struct screen *screen)
{
	/* a description of its own: not blocking is ours alone */
	screen->tty = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	screen->memory = screen->tty < 0 ? -1 : memfd_create("tftop-screen", MFD_CLOEXEC);
}

void screen_out_close(struct screen *screen)
{
	if (screen->memory >= 0)
		close(screen->memory);
	if (screen->tty >= 0)
		close(screen->tty);
	free(screen->waiting);
}

static void make_room(struct screen *screen, size_t size)
{
	if (screen->waiting_size + size <= screen->waiting_room)
		return;
	screen->waiting_room = 2 * (screen->waiting_size + size);
	screen->waiting = xreallocarray(screen->waiting, screen->waiting_room, 1);
}

static void add(struct screen *screen, const char *data, size_t size)
{
	make_room(screen, size);
	memcpy(screen->waiting + screen->waiting_size, data, size);
	screen->waiting_size += size;
}

bool screen_ready(struct screen *screen)
{
	while (screen->waiting_at < screen->waiting_size) {
		ssize_t sent = write(screen->tty, screen->waiting + screen->waiting_at,
				     screen->waiting_size - screen->waiting_at);

		if (sent > 0)
			screen->waiting_at += (size_t)sent;
		else if (errno == EAGAIN)
			return false;
		else if (errno != EINTR)
			break;			/* it is gone, as reading will find */
	}
	screen->waiting_at = screen->waiting_size = 0;
	return true;
}

void screen_out_drain(struct screen *screen, int ms)
{
	int64_t end = screen_now_ms() + ms, rest;

	while (!screen_ready(screen) && (rest = end - screen_now_ms()) > 0) {
		struct pollfd fd = {.fd = screen->tty, .events = POLLOUT};

		poll(&fd, 1, (int)rest);
	}
}

void screen_out_say(struct screen *screen, const char *text)
{
	if (screen->memory < 0) {
		fputs(text, screen->out);
		fflush(screen->out);
		return;
	}
	add(screen, text, strlen(text));
	screen_ready(screen);
}

void screen_out_begin(struct screen *screen)
{
	if (screen->memory >= 0)
		dup3(screen->memory, fileno(screen->out), O_CLOEXEC);
}

/* What curses wrote, from the file to what waits. */
static void screen_take_written(struct screen *screen, size_t size)
{
	char *text = xreallocarray(NULL, size, 1);
	struct strbuf shorter;
	ssize_t got;
	size_t at = 0;

	while (at < size &&
	       (got = pread(screen->memory, text + at, size - at, (off_t)at)) > 0)
		at += (size_t)got;
	lseek(screen->memory, 0, SEEK_SET);
	strbuf_init(&shorter);
	if (screen->shortens)
		sgr_shorten(&shorter, text, at);
	else
		strbuf_add(&shorter, text, at);
	add(screen, shorter.data, shorter.length);
	strbuf_release(&shorter);
	free(text);
}

void screen_out_end(struct screen *screen, bool picture)
{
	bool sync = picture && screen->sync;
	off_t size;

	if (screen->memory < 0)
		return;
	dup3(screen->fd, fileno(screen->out), O_CLOEXEC);
	size = lseek(screen->memory, 0, SEEK_CUR);
	if (size <= 0)
		return;
	if (sync)
		add(screen, SYNC_BEGIN, strlen(SYNC_BEGIN));
	screen_take_written(screen, (size_t)size);
	if (sync)
		add(screen, SCREEN_SYNC_END, strlen(SCREEN_SYNC_END));
	screen_ready(screen);
}

/* ---- whether the terminal shows a picture at once ---- */

void screen_sync_ask(struct screen *screen)
{
	const char *term = getenv("TERM");

	/* an old console prints what it does not know */
	if (!screen->has_mouse || !term || !strncmp(term, "linux", 5))
		return;
	screen->asked_ms = screen_now_ms();
	screen_out_say(screen, SYNC_ASK);
}

void screen_sync_answer(struct screen *screen, const char *text)
{
	screen->asked_ms = 0;
	screen->sync = text[0] == '1' || text[0] == '2';	/* set, or not set; 0: not known */
}

/* Who reads the terminal next should not be given it. */
void screen_sync_leave(struct screen *screen)
{
	int64_t end = screen_now_ms() + ANSWER_MS, rest;
	struct key key;
	struct mouse mouse;

	if (!screen->asked_ms || screen_now_ms() - screen->asked_ms > ANSWER_LATE_MS)
		return;
	while (screen->asked_ms && (rest = end - screen_now_ms()) > 0) {
		struct pollfd fd = {.fd = screen->fd, .events = POLLIN};

		if (poll(&fd, 1, (int)rest) == 1 &&
		    screen_read(screen, &key, &mouse) == SCREEN_CLOSED)
			return;
	}
}
