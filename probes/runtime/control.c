/* SPDX-License-Identifier: MIT */
/*
 * The control page, read: level, dump requests, tftop's sign of life. Every
 * value is accepted, the page may be anybody's; what makes no sense is "off".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/runtime/internal.h"

#define ALIVE_NS 5000000000

volatile uint32_t tft_rt_level_now;
_Atomic uint32_t rt_armed;

static const struct tft_control *control;	/* mapped for good, NULL: no tftop */
static bool tried, was_enabled;
static uint32_t dump_seen;

static void control_map(void)
{
	const char *path = getenv(TFT_CONTROL_ENV);
	struct stat st;
	void *p;
	int fd;

	if (tried)
		return;
	tried = true;
	if (!path || !*path)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= TFT_CONTROL_BYTES) {
		p = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED)
			control = p;
	}
	close(fd);
}

#define PAGE(field) __atomic_load_n(&control->field, __ATOMIC_RELAXED)

/* tftop is there and has not let go. */
static bool control_lives(int64_t now_ns)
{
	int64_t alive;

	if (!control || PAGE(magic) != TFT_CONTROL_MAGIC ||
	    PAGE(version) != TFT_CONTROL_VERSION || PAGE(closed))
		return false;
	alive = PAGE(alive_ns);
	return alive == 0 || now_ns - alive < ALIVE_NS;
}

static enum tft_level page_level(void)
{
	uint32_t level = PAGE(level);

	return level > TFT_LEVEL_FULL ? TFT_LEVEL_FULL : (enum tft_level)level;
}

static void set_level(enum tft_level level)
{
	if (level != TFT_LEVEL_OFF && rt_level() == TFT_LEVEL_OFF)
		atomic_fetch_add_explicit(&rt_epoch, 1, memory_order_relaxed);
	if (level == TFT_LEVEL_OFF && rt_level() != TFT_LEVEL_OFF)
		rt_loop_cut();
	__atomic_store_n(&tft_rt_level_now, level, __ATOMIC_RELAXED);
}

void rt_control_refresh(int64_t now_ns)
{
	bool lives = control_lives(now_ns), was = GET(rt_armed), enabled;
	uint32_t dump = lives ? PAGE(dump_generation) : dump_seen;

	if (lives)
		SET(rt_armed, 1);
	enabled = lives && rt_enabled();
	if (enabled && (!was || !was_enabled || dump != dump_seen))
		rt_dump_all(true);
	was_enabled = enabled;
	dump_seen = dump;
	set_level(lives ? page_level() : TFT_LEVEL_OFF);
	if (!lives)
		SET(rt_armed, 0);
}

bool rt_control_there(void)
{
	control_map();
	return control_lives(rt_now_ns());
}

void rt_control_start(void)
{
	was_enabled = rt_enabled();
	dump_seen = PAGE(dump_generation);
	set_level(page_level());
}
