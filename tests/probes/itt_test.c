/* SPDX-License-Identifier: MIT */
/*
 * A program that marks itself with ITT: with a double of the static part, or,
 * with HAVE_ITT, with the real one (ITTAPI names its source tree, run.sh).
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probes/schema/control.h"
#include "tests/expect.h"

#ifdef HAVE_ITT
#include <ittnotify.h>
#else
#include "tests/probes/itt_double.h"
#endif

static __itt_domain *domain, *other;

__attribute__((noinline, visibility("default"))) void a_function(void);
void a_function(void)
{
	__itt_task_begin_fn(domain, __itt_null, __itt_null, (void *)a_function);
	__itt_task_end(domain);
}

static void handles(void)
{
	__itt_string_handle *one, *two, *three;
	__itt_domain *again;

	domain = __itt_domain_create("my domain");
	other = __itt_domain_create("other domain");
	EXPECT(domain && other && domain != other);
	again = __itt_domain_create("my domain");
	EXPECT(again == domain);
	EXPECT(domain->flags != 0);
#ifdef HAVE_ITT
	EXPECT(!strcmp(domain->nameA, "my domain"));
#else
	EXPECT(!strcmp(domain->name, "my domain"));
#endif
	one = __itt_string_handle_create("outer");
	two = __itt_string_handle_create("outer");
	three = __itt_string_handle_create("inner");
	EXPECT(one && one == two && one != three);
}

static void tasks(void)
{
	__itt_string_handle *outer = __itt_string_handle_create("outer");
	__itt_string_handle *inner = __itt_string_handle_create("inner");
	uint64_t value = 5;

	__itt_task_begin(domain, __itt_null, __itt_null, outer);
	__itt_task_begin(other, __itt_null, __itt_null, inner);
	__itt_metadata_add(other, __itt_null, outer, __itt_metadata_u64, 1, &value);
	__itt_task_end(domain);
	__itt_task_end(other);
	a_function();
	__itt_marker(domain, __itt_null, __itt_string_handle_create("a marker"), __itt_scope_task);
	__itt_thread_set_name("the marked one");
	/* a domain that the program switches off is off */
	other->flags = 0;
	__itt_task_begin(other, __itt_null, __itt_null, __itt_string_handle_create("never"));
	__itt_task_end(other);
	other->flags = 1;
}

/* As oneDNN does: while a primitive is created, another one is created and executed. */
static void primitives(void)
{
	__itt_domain *create = __itt_domain_create("dnnl::primitive::create");
	__itt_domain *execute = __itt_domain_create("dnnl::primitive::execute");
	__itt_string_handle *outer = __itt_string_handle_create("convolution");
	__itt_string_handle *inner = __itt_string_handle_create("reorder");

	__itt_task_end(create);
	__itt_task_begin(create, __itt_null, __itt_null, outer);
	__itt_task_begin(create, __itt_null, __itt_null, inner);
	__itt_task_end(create);
	__itt_task_end(create);
	__itt_task_begin(execute, __itt_null, __itt_null, outer);
	__itt_task_end(execute);
}

static void by_id(void)
{
	int a, b;
	__itt_id first = __itt_id_make(&a, 1), second = __itt_id_make(&b, 2);
	__itt_event event = __itt_event_create("an event and more", 8);

	__itt_task_begin_overlapped(domain, first, __itt_null,
				    __itt_string_handle_create("first"));
	__itt_task_begin_overlapped(domain, second, __itt_null,
				    __itt_string_handle_create("second"));
	__itt_task_end_overlapped(domain, first);
	__itt_task_end_overlapped(domain, second);
	__itt_task_end_overlapped(domain, second);
	__itt_region_begin(domain, first, __itt_null, __itt_string_handle_create("a region"));
	__itt_region_end(domain, first);
	__itt_event_start(event);
	__itt_event_start(event);
	__itt_event_end(event);
}

static void frames(void)
{
	__itt_id id = __itt_id_make(&id, 7);
	__itt_timestamp begin = __itt_get_timestamp(), later;

	for (int i = 0; i < 3; i++) {
		__itt_frame_begin_v3(domain, NULL);
		__itt_frame_end_v3(domain, NULL);
	}
	__itt_frame_begin_v3(domain, &id);
	__itt_frame_end_v3(domain, &id);
	later = __itt_get_timestamp();
	EXPECT(begin != 0 && later >= begin);
	__itt_frame_submit_v3(other, NULL, begin, begin + 1000);
}

static void to_level(struct tft_control *c, enum tft_level level)
{
	time_t until = time(NULL) + 5;

	c->level = level;
	while ((__itt_task_begin_ptr != NULL) != (level != TFT_LEVEL_OFF)) {
		EXPECT(time(NULL) < until);
		poll(NULL, 0, 1);
	}
}

static void levels(void)
{
	int fd = open(getenv(TFT_CONTROL_ENV), O_RDWR | O_CLOEXEC);
	struct tft_control *c;
	__itt_domain *made;

	EXPECT(fd >= 0);
	c = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(c != MAP_FAILED);
	close(fd);
	EXPECT(__itt_task_begin_ptr != NULL);
	/* ranges that end while the level is off must not occupy memory forever */
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 300; i++)
			__itt_task_begin_overlapped(domain, __itt_id_make(c, (unsigned long long)
							(round * 300 + i)), __itt_null, NULL);
		to_level(c, TFT_LEVEL_OFF);
		to_level(c, TFT_LEVEL_DEFAULT);
	}
	to_level(c, TFT_LEVEL_OFF);
	made = __itt_domain_create("made while off");
	EXPECT(made != NULL);
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("off"));
	to_level(c, TFT_LEVEL_DEFAULT);
	__itt_task_end(domain);
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("on again"));
	__itt_task_end(domain);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "none")) {
		domain = __itt_domain_create("nobody");
		__itt_task_begin(domain, __itt_null, __itt_null, NULL);
		__itt_task_end(domain);
		return 0;
	}
	handles();
	tasks();
	primitives();
	by_id();
	frames();
	levels();
	return 0;
}
