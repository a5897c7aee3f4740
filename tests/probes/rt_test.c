/* SPDX-License-Identifier: MIT */
/* The test program of the runtime: rt_test CASE, rt_test control FILE LEVEL. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/probes/rt_test.h"

atomic_int test_dumps, test_levels, test_ticks;

static void dump(void)
{
	test_dumps++;
}

static void tick(int64_t now_ns)
{
	(void)now_ns;
	test_ticks++;
}

static void level(enum tft_level old_level, enum tft_level new_level)
{
	EXPECT(old_level != new_level);
	EXPECT(rt_level() == new_level);
	test_levels++;
}

static const struct rt_probe probe = {
	.name = "test", .version = "1", .blind = "nothing", .dump = dump, .level = level,
	.tick = tick,
};

bool test_join(void)
{
	return rt_probe_register(&probe);
}

struct tft_control *test_control(void)
{
	static struct tft_control *control;
	const char *path = getenv(TFT_CONTROL_ENV);
	int fd;

	if (control)
		return control;
	EXPECT(path != NULL);
	fd = open(path, O_RDWR | O_CLOEXEC);
	EXPECT(fd >= 0);
	control = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(control != MAP_FAILED);
	close(fd);
	return control;
}

void test_control_new(const char *path, uint32_t level_wanted)
{
	struct tft_control *c;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	EXPECT(fd >= 0);
	EXPECT(ftruncate(fd, TFT_CONTROL_BYTES) == 0);
	c = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(c != MAP_FAILED);
	c->version = TFT_CONTROL_VERSION;
	c->level = level_wanted;
	c->magic = TFT_CONTROL_MAGIC;
	close(fd);
}

void test_pause(void)
{
	poll(NULL, 0, 1);
}

void test_last(int64_t ns)
{
	int64_t until = rt_now_ns() + ns;

	while (rt_now_ns() < until)
		test_pause();
}

uint64_t test_push(const char *name, uint8_t flags, uint32_t domain)
{
	struct rt_op_args args = {
		.name = rt_name(TFT_NAME_OP, name), .domain = domain, .step = -1, .flags = flags,
	};

	return rt_op_push(&args);
}

static bool run(const struct test_case *cases, const char *name)
{
	for (; cases->name; cases++) {
		if (!strcmp(cases->name, name)) {
			cases->run();
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "control")) {
		test_control_new(argv[2], (uint32_t)atoi(argv[3]));
		return 0;
	}
	if (argc < 2 || (!run(test_ops, argv[1]) && !run(test_process, argv[1]) &&
			 !run(test_trigger, argv[1]))) {
		fprintf(stderr, "no such case\n");
		return 2;
	}
	fflush(NULL);
	return 0;
}
