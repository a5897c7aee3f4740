/* SPDX-License-Identifier: MIT */
/*
 * tensorflow_parts LIBRARY levels|stages|bfc|primitives: a program that uses parts of the
 * look-alike and says what it saw. Where the double of the runtime is in it, it drives the
 * level; else it is as without tftop.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *library;

static void *need(const char *name)
{
	void *f = dlsym(library, name);

	if (!f) {
		printf("no %s\n", name);
		exit(1);
	}
	return f;
}

/* Returns a function of the double, or one that does nothing if there is no double. */
static void *double_of(const char *name)
{
	void *runtime = dlopen("libtftop-runtime.so", RTLD_NOW | RTLD_NOLOAD);

	return runtime ? dlsym(runtime, name) : NULL;
}

static void level(int level)
{
	void (*set)(int) = (void (*)(int))double_of("rt_text_level");

	if (set)
		set(level);
}

static void tick(void)
{
	void (*now)(void) = (void (*)(void))double_of("rt_text_tick");

	if (now)
		now();
}

/* Runs a tick that was due a while ago. */
static void tick_late(void)
{
	void (*at)(long) = (void (*)(long))double_of("rt_text_tick_at");
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (at)
		at(now.tv_sec * 1000000000 + now.tv_nsec - 5000000000);
}

static void run(void)
{
	void *(*kernel)(const char *, const char *) =
		(void *(*)(const char *, const char *))need("fake_kernel");

	((int (*)(void *, int64_t))need("fake_run"))(kernel("first", "One"), 1);
}

/* The main library's level, the executor's, and whether they are one variable. */
static void say_levels(const char *when)
{
	const int *main_at, *executor_at;
	int of_main = ((int (*)(const int **))need("fake_level"))(&main_at);
	int of_executor = ((int (*)(const int **))need("fake_executor_level"))(&executor_at);

	printf("%s %d %d %s\n", when, of_main, of_executor,
	       main_at == executor_at ? "one" : "two");
}

static void during(void)
{
	say_levels("session");
}

static void levels(void)
{
	say_levels("before");
	run();
	say_levels("default");
	((int (*)(int, void (*)(void)))need("fake_profile"))(3, during);
	say_levels("session-over");
	level(3);
	say_levels("full");
	level(1);
	say_levels("min");
	level(0);
	say_levels("off");
	level(2);
	say_levels("on-again");
	((int (*)(int, bool))need("fake_fetch"))(1, true);
	say_levels("functions");
}

static void stages(const char *how)
{
	run();
	printf("fetched %d\n",
	       ((int (*)(int, bool))need("fake_fetch"))(10, !strcmp(how, "parallel")));
	tick_late();
}

static void bfc(void)
{
	void *(*make)(const char *, bool) = (void *(*)(const char *, bool))need("fake_bfc");
	void *(*allocate)(void *, size_t) = (void *(*)(void *, size_t))need("fake_bfc_allocate");
	long (*give)(void *, void *) = (long (*)(void *, void *))need("fake_bfc_free");
	void (*gone)(void *) = (void (*)(void *))need("fake_bfc_gone");
	void *b, *p[3];

	run();
	b = make("a_cpu_bfc", false);
	p[0] = allocate(b, 1000);
	p[1] = allocate(b, 5000);
	p[2] = allocate(b, 3 << 19);
	printf("in use %ld\n", give(b, p[1]));
	level(0);
	p[1] = allocate(b, 700);
	level(2);
	allocate(b, 200);
	printf("in use %ld\n", give(b, p[0]));
	printf("in use %ld\n", give(b, p[1]));
	printf("in use %ld\n", give(b, p[2]));
	gone(b);
	b = make("a_cpu_bfc", false);
	printf("in use %ld\n", give(b, allocate(b, 256)));
	gone(b);
	b = make("other_bfc", true);
	printf("in use %ld\n", give(b, allocate(b, 256)));
}

static void primitives(void)
{
	int (*some)(int) = (int (*)(int))need("fake_primitives");

	run();
	printf("first %d\n", some(3));
	level(0);
	printf("off %d\n", some(3));
	level(2);
	printf("default %d\n", some(3));
	printf("many %d\n", some(2000));
	tick();
	printf("after many %d\n", some(3));
	level(3);
	printf("full %d\n", some(3));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	if (!strcmp(argv[2], "levels"))
		levels();
	else if (!strcmp(argv[2], "bfc"))
		bfc();
	else if (!strcmp(argv[2], "primitives"))
		primitives();
	else
		stages(argv[2]);
	return 0;
}
