/* SPDX-License-Identifier: MIT */
/*
 * Reads the control page: level, requests for definitions, tftop's sign of life. The file may be
 * anybody's, so every value is accepted; invalid ones mean "off".
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/runtime/internal.h"

#define ALIVE_NS 5000000000
#define SILENT_NS 1000000000	/* four signs of life are missing */

volatile uint32_t tft_rt_level_now;
_Atomic uint32_t rt_armed, rt_arrivals;

/* Stays mapped until the second page after it has come; NULL: there is no tftop. */
static const struct tft_control *_Atomic control;
static struct { dev_t dev; ino_t ino; } file;	/* identity of its file */
static bool tried;
static _Atomic bool was_enabled;	/* the session has this process, as far as was looked */
static uint32_t dump_seen;
static bool introduced;	/* the process has been introduced to the session that has just begun */
static bool away;			/* the session has ended under a tftop that is alive */
/* LTTng was waited for in vain until this time; 0: it was not */
static _Atomic int64_t unheard_ns;
static int64_t level_at_ns;		/* since when the level has its current value */
static int level_told;	/* level that was sent to the session, plus 1; 0: none yet */
/* how many other tftops have come; how many of them the runtime's thread has seen */
static _Atomic uint32_t came, came_seen;

/* NULL: path does not name a page; otherwise *st describes its file. */
static const struct tft_control *control_map(const char *path, struct stat *st)
{
	void *p = MAP_FAILED;
	int fd;

	if (!path || !*path)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_size >= TFT_CONTROL_BYTES)
		p = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

#define PAGE(page, field) __atomic_load_n(&(page)->field, __ATOMIC_RELAXED)

/* Whether tftop is alive and has not detached. */
static bool page_lives(const struct tft_control *page, int64_t now_ns)
{
	int64_t alive;

	if (!page || PAGE(page, magic) != TFT_CONTROL_MAGIC ||
	    PAGE(page, version) != TFT_CONTROL_VERSION || PAGE(page, closed))
		return false;
	alive = PAGE(page, alive_ns);
	return alive == 0 || now_ns - alive < ALIVE_NS;
}

bool rt_control_renew(const char *path, bool joined)
{
	/* the runtime's thread may be reading it just now */
	static const struct tft_control *before;
	const struct tft_control *old = GET_ACQ(control), *page;
	bool lives = !joined && page_lives(old, rt_now_ns()), same, new_lives;
	struct stat st = { 0 };

	page = control_map(path, &st);
	same = page && old && st.st_dev == file.dev && st.st_ino == file.ino;
	new_lives = page_lives(page, rt_now_ns());
	if (same || lives || !new_lives) {
		if (page)
			munmap((void *)page, TFT_CONTROL_BYTES);
		if (lives && !same && new_lives)
			rt_attach_why("another tftop is watching this process; end that one first");
		else if (!new_lives)
			rt_attach_why("no tftop is running behind %s='%s'", TFT_CONTROL_ENV,
				      path ? path : "");
		return same && new_lives;
	}
	if (before)
		munmap((void *)before, TFT_CONTROL_BYTES);
	before = old;
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	tried = true;
	SET_REL(control, page);
	if (GET(rt_started))
		atomic_fetch_add(&came, 1);
	return true;
}

bool rt_control_silent(int64_t now_ns)
{
	const struct tft_control *page = GET_ACQ(control);

	return !page || (PAGE(page, alive_ns) && now_ns - PAGE(page, alive_ns) > SILENT_NS);
}

bool rt_control_arrived(void)
{
	return GET_ACQ(came) != GET_ACQ(came_seen);
}

uint32_t rt_control_number(void)
{
	return GET_ACQ(came);
}

bool rt_control_away(void)
{
	return away;
}

bool rt_control_let_go(void)
{
	const struct tft_control *page = GET_ACQ(control);

	return page && PAGE(page, closed);
}

static enum tft_level page_level(const struct tft_control *page)
{
	uint32_t level = PAGE(page, level);

	return level > TFT_LEVEL_FULL ? TFT_LEVEL_FULL : (enum tft_level)level;
}

/* The level that results from the page and the program together. */
static enum tft_level wanted_level(const struct tft_control *page)
{
	rt_trigger_take(page);
	return !page || rt_trigger_lowers() ? TFT_LEVEL_OFF : page_level(page);
}

static void set_level(enum tft_level level)
{
	int64_t now = rt_now_ns();

	if (level != TFT_LEVEL_OFF && rt_level() == TFT_LEVEL_OFF)
		atomic_fetch_add_explicit(&rt_epoch, 1, memory_order_relaxed);
	if (level == TFT_LEVEL_OFF && rt_level() != TFT_LEVEL_OFF)
		rt_loop_cut();
	if (level != rt_level() || !level_at_ns)
		level_at_ns = now;
	__atomic_store_n(&tft_rt_level_now, level, __ATOMIC_RELAXED);
}

/* Sends the level, because what is not observed is not idle. Once, to a session that receives
 * it. */
static void tell_level(void)
{
	struct tft_level_now now = { .at_ns = level_at_ns, .level = (uint8_t)rt_level() };

	if (level_told == now.level + 1)
		return;
	level_told = now.level + 1;
	rt_emit_level(&now);
}

void rt_control_fork_child(void)
{
	SET(unheard_ns, 0);
	introduced = false;
	level_told = 0;
}

/* This tftop knows nothing that was sent to the previous one, and nothing that the previous one
 * lost. */
static void arrive(void)
{
	SET(rt_totals.dropped, 0);
	SET(rt_totals.vendor_dropped, 0);
	SET(rt_totals.own_ns, 0);
	atomic_fetch_add_explicit(&rt_arrivals, 1, memory_order_relaxed);
	SET(rt_armed, 0);
	rt_loop_arrive();
}

/*
 * A daemon that finds LTTng here already enables one event after the other, and only then starts
 * the session: until that is done, what is written goes nowhere. The first event that is recorded
 * shows that it is done.
 */
static bool session_began(void)
{
	introduced = rt_enabled() && rt_process_introduce();
	return introduced;
}

bool rt_control_introduced(void)
{
	return introduced || session_began();
}

bool rt_control_heard(void)
{
	return GET_ACQ(was_enabled);
}

/*
 * A daemon of a tftop that is alive has died, perhaps before it was noticed here: nothing is
 * recorded until tftop's next daemon has started its session, so nothing is done until then.
 * Afterwards definitions are sent again.
 */
static bool look_away(bool lives)
{
	if (lives && !rt_enabled())
		away = true;
	if (away && (!lives || session_began()))
		away = false;
	return away;
}

void rt_control_unheard(void)
{
	SET(unheard_ns, rt_now_ns());
}

/* Sent once, because events that were not written are counted nowhere else. */
static void tell_unheard(int64_t now_ns)
{
	int64_t since_ns = GET(unheard_ns);
	char text[160];

	if (!since_ns)
		return;
	SET(unheard_ns, 0);
	snprintf(text, sizeof(text),
		 "LTTng did not answer process %d in time, which started without it: "
		 "its first %d ms are missing", (int)getpid(),
		 (int)((now_ns - since_ns) / 1000000));
	rt_emit_message(1, text);
}

void rt_control_refresh(int64_t now_ns)
{
	static uint32_t begun;
	uint32_t count = GET_ACQ(came), dump;
	const struct tft_control *page = GET_ACQ(control);
	bool lives = page_lives(page, now_ns), was, enabled;

	if (count != begun)
		arrive();
	begun = count;
	if (count != GET(came_seen)) {
		if (lives && !session_began()) {
			set_level(TFT_LEVEL_OFF);
			return;
		}
		SET_REL(came_seen, count);
	}
	if (look_away(lives)) {
		SET(was_enabled, false);
		set_level(TFT_LEVEL_OFF);
		return;
	}
	was = GET(rt_armed);
	dump = lives ? PAGE(page, dump_generation) : dump_seen;
	if (lives)
		SET(rt_armed, 1);
	enabled = lives && rt_enabled() && (GET(was_enabled) || rt_control_introduced());
	if (enabled && (!was || !GET(was_enabled) || dump != dump_seen)) {
		if (!introduced)
			rt_process_introduce();
		rt_dump_all(true);
		tell_unheard(now_ns);
		level_told = 0;
	}
	introduced = false;
	SET_REL(was_enabled, enabled);
	dump_seen = dump;
	if (!lives && was)
		rt_loop_harvest(now_ns);
	set_level(wanted_level(lives ? page : NULL));
	if (enabled)
		tell_level();
	if (!lives && was)
		rt_loop_last_beat();
	if (!lives)
		SET(rt_armed, 0);
}

uint32_t rt_budget(void)
{
	const struct tft_control *page = GET_ACQ(control);
	uint32_t percent = page ? PAGE(page, budget) : 0;

	return percent <= TFT_BUDGET_MAX ? percent : 0;
}

bool rt_control_there(void)
{
	struct stat st = { 0 };
	char path[PATH_MAX];

	if (!tried) {
		SET_REL(control, control_map(rt_env(TFT_CONTROL_ENV, path, sizeof(path)), &st));
		file.dev = st.st_dev;
		file.ino = st.st_ino;
	}
	tried = true;
	return page_lives(GET(control), rt_now_ns());
}

void rt_control_introduce(void)
{
	SET_REL(was_enabled, rt_control_introduced());
	introduced = false;	/* a dump that is asked for before the first look does it again */
}

void rt_control_start(void)
{
	const struct tft_control *page = GET(control);

	rt_control_introduce();
	dump_seen = page ? PAGE(page, dump_generation) : 0;
	set_level(wanted_level(page_lives(page, rt_now_ns()) ? page : NULL));
}
