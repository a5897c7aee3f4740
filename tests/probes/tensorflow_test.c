/* SPDX-License-Identifier: MIT */
/*
 * tensorflow_test LIBRARY [unseen|memory]: a program that uses the look-alike as Python
 * uses TensorFlow, and says what it saw: the same with the probe as without. Unseen:
 * kernels die without a call of their destructor. Memory: it allocates.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*trace)(int, const char *, int64_t);

static void during(void)
{
	trace(1, "mine#step_num=70#", 1000);
	trace(2, "deeper", 1000);
	trace(3, "deepest", 1000);
}

static void *need(void *library, const char *name)
{
	void *f = dlsym(library, name);

	if (!f)
		printf("no %s\n", name);
	return f;
}

/* Whether one of our libraries other than the preloaded one is loaded. */
static int loaded(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096];
	int found = 0;

	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, "libtftop-tensorflow") || strstr(line, "lttng-ust");
	if (f)
		fclose(f);
	return found;
}

static int (*run)(void *, int64_t);
static void (*replace)(void *, const char *, const char *, bool);

static void unseen(void *kernel)
{
	for (int i = 0; i < 2; i++) {
		for (int n = 0; n < 300; n++)
			run(kernel, 20 + i);
		replace(kernel, "instead", "Other", true);
	}
}

/* Only one of the versions has pools that call collectors. */
static void pools(void *library, void *(*kernel)(const char *, const char *))
{
	int (*pool)(void *, void *, int64_t, int), (*pool_profile)(void *);

	pool = (int (*)(void *, void *, int64_t, int))dlsym(library, "fake_pool");
	pool_profile = (int (*)(void *))dlsym(library, "fake_pool_profile");
	if (!pool || !pool_profile)
		return;
	printf("pool %d\n", pool(kernel("handed", "Op"), kernel("inline", "Op"), 21, 20));
	printf("pool %d\n", pool(NULL, NULL, 21, 1));
	printf("pool profile %d\n", pool_profile(kernel("profiled", "Op")));
	printf("pool %d\n", pool(kernel("handed_again", "Op"), NULL, 22, 5));
}

/* The first ops of two threads, at the same time. */
static pthread_barrier_t both;

static void *first_of_thread(void *kernel)
{
	pthread_barrier_wait(&both);
	run(kernel, 1);
	return NULL;
}

static void first_of_two(void *(*kernel)(const char *, const char *))
{
	void *k[2] = { kernel("model/layer_1/first", "One"), kernel("model/layer_2/other", "Two") };
	pthread_t other;

	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&other, NULL, first_of_thread, k[1]) != 0)
		exit(1);
	first_of_thread(k[0]);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	void *library;
	void *(*kernel)(const char *, const char *);
	int (*run_async)(void *, int64_t), status = -1;
	int (*profile)(int, void (*)(void));
	double (*encode)(int);
	int (*sums)(void);
	void *k[3], *same;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "nothing")) {
		printf("loaded %d\n", loaded());
		return 0;
	}
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	/* the library's initializer has allocated, and no library was loaded because of that */
	printf("loaded %d\n", loaded());
	kernel = (void *(*)(const char *, const char *))need(library, "fake_kernel");
	run = (int (*)(void *, int64_t))need(library, "fake_run");
	run_async = (int (*)(void *, int64_t))need(library, "fake_run_async");
	profile = (int (*)(int, void (*)(void)))need(library, "fake_profile");
	encode = (double (*)(int))need(library, "fake_encode");
	sums = (int (*)(void))need(library, "fake_sums");
	trace = (void (*)(int, const char *, int64_t))need(library, "fake_trace");
	replace = (void (*)(void *, const char *, const char *, bool))need(library, "fake_replace");
	if (argc > 2 && !strcmp(argv[2], "memory")) {
		run(kernel("first", "One"), 1);
		((void (*)(int, size_t, size_t))need(library, "fake_memory"))(1000, 4032, 8192);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[2], "first")) {
		first_of_two(kernel);
		return 0;
	}
	if (argc > 2) {
		unseen(kernel("first", "One"));
		return 0;
	}
	k[0] = kernel("model/dense/MatMul", "MatMul");
	k[1] = kernel("a", "B");
	k[2] = kernel("model/layer_1/conv2d/Conv2D", "Conv2D");
	for (int i = 0; i < 6; i++)
		printf("run %d\n", run(k[i % 3], 1000 + i / 3));
	/* a kernel at the address of an earlier one has another name */
	same = kernel("one/of/them_1", "Same");
	run(same, 7);
	run(same, 7);
	replace(same, "one/of/them_2", "Same", false);
	printf("run %d\n", run(same, 7));
	printf("async %d\n", run_async(k[0], -5));
	printf("encode %g\n", encode(39));
	printf("send %d\n", run(kernel("pool/_1", "_Send"), 12));
	printf("recv %d\n", run_async(kernel("pool/_2", "_Recv"), 12));
	printf("seen %d\n", sums());
	trace(1, "train#epoch=1,step_num=3,_r=1#", 2000);
	trace(1, "step#tf_function_call=traced-nonXla,tracing_count=2#", 3000);
	trace(1, "step#tf_function_call=notTraced-nonXla,tracing_count=2#", 3000);
	trace(2, "odd#", 10);
	trace(2, "", 10);
	printf("profile %d\n", profile(1, during));
	printf("profile %d\n", profile(2, during));
	pools(library, kernel);
	fflush(stdout);
	if (fork() == 0) {
		printf("child %d\n", run(k[0], 9));
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	printf("status %d\n", status);
	return 5;
}
