/* SPDX-License-Identifier: MIT */
/*
 * late_nvtx PROBE TRUTH [MODULE]: threads mark themselves with NVTX, which has begun without a
 * tool; in their midst the probe is brought in, and they go on. TRUTH gets the ranges that
 * began after the attach, in the form of tftop's report ("before" must not be seen, of
 * "during" any part may be). Then the domain and the string of before are used, new ones
 * are made, and MODULE, this file built with NVTX_MODULE and its own NVTX, is loaded and
 * says module_mark(), of which it returns the level. PROBE "-": none.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#define message_type messageType
#define TEXT_OF(a, theirs, ours) (a).message.theirs
#else
#include "tests/probes/nvtx_double.h"
#define TEXT_OF(a, theirs, ours) (a).message.ours
#endif

#ifdef NVTX_MODULE
int module_mark(void);
__attribute__((visibility("default"))) int module_mark(void)
{
	int level = nvtxRangePushA("of the module");

	nvtxRangePop();
	return level;
}
#else
#include "tests/programs/late.h"

#define THREADS 4
#define RANGES 500
#define WARM 100

enum phase { BEFORE, DURING, AFTER };
static const char *const names[] = { "before", "during" };

static atomic_int phase, warm, errors;
static atomic_long count[2];

static void *run(void *unused)
{
	(void)unused;
	for (int i = 0; ; i++) {
		enum phase now = (enum phase)atomic_load(&phase);

		if (i == WARM)
			atomic_fetch_add(&warm, 1);
		if (now == AFTER)
			break;
		nvtxRangePushA(names[now]);
		nvtxRangePop();
		atomic_fetch_add(&count[now], 1);
	}
	for (int i = 0; i < RANGES; i++) {
		errors += nvtxRangePushA("outer") != 0;
		errors += nvtxRangePushA("inner") != 1;
		nvtxMarkA("mark");
		errors += nvtxRangePop() != 1;
		errors += nvtxRangePop() != 0;
	}
	return NULL;
}

static void in_domain(nvtxDomainHandle_t domain, nvtxStringHandle_t text)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof(a));
	a.version = 3;
	a.size = sizeof(a);
	a.message_type = 3;
	TEXT_OF(a, registered, handle) = text;
	errors += nvtxDomainRangePushEx(domain, &a) != 0;
	errors += nvtxDomainRangePop(domain) != 0;
}

static void use_module(const char *path)
{
	void *h = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*mark)(void);

	*(void **)&mark = h ? dlsym(h, "module_mark") : NULL;
	if (path && !mark) {
		fprintf(stderr, "late_nvtx: no module at '%s'\n", path);
		exit(2);
	}
	/* checks ten times a second */
	for (int i = 0; mark && mark() != 0; i++) {
		struct timespec ms = { 0, 1000000 };

		if (i == 5000) {
			fprintf(stderr, "late_nvtx: the module is not seen\n");
			errors++;
			break;
		}
		nanosleep(&ms, NULL);
	}
}

int main(int argc, char **argv)
{
	nvtxDomainHandle_t domain;
	nvtxStringHandle_t text;
	pthread_t thread[THREADS];
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: late_nvtx PROBE TRUTH [MODULE]\n");
		return 2;
	}
	nvtxInitialize(NULL);
	domain = nvtxDomainCreateA("of before");
	text = nvtxDomainRegisterStringW(domain, L"text of before");
	nvtxRangePushA("open at the attach");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	while (atomic_load(&warm) < THREADS)
		sched_yield();
	atomic_store(&phase, DURING);
	if (strcmp(argv[1], "-"))
		errors += late_attach(argv[1]) != TFT_ATTACHED;
	atomic_store(&phase, AFTER);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	nvtxRangePop();
	in_domain(domain, text);
	domain = nvtxDomainCreateA("of after");
	in_domain(domain, nvtxDomainRegisterStringW(domain, L"text of after"));
	use_module(argc > 3 ? argv[3] : NULL);
	f = fopen(argv[2], "w");
	if (!f)
		return 2;
	fprintf(f, "{ \"during\": %ld, \"outer\": %d, \"inner\": %d }\n",
		atomic_load(&count[DURING]), THREADS * RANGES, THREADS * RANGES);
	fclose(f);
	printf("%d\n", atomic_load(&errors));
	return errors != 0;
}
#endif
