/* SPDX-License-Identifier: MIT */
/*
 * A program that marks itself with NVTX. Built twice: with the vendor's headers
 * where they are (HAVE_NVTX), and with a double of their load protocol; and
 * once as a module that is loaded and unloaded (NVTX_MODULE).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probes/schema/control.h"
#include "tests/expect.h"

#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#define message_type messageType
#define payload_type payloadType
#define colour_type colorType
#define colour color
#define PAYLOAD_OF(a, theirs, ours) (a).payload.theirs
#define TEXT_OF(a, theirs, ours) (a).message.theirs
#else
#include "tests/probes/nvtx_double.h"
#define PAYLOAD_OF(a, theirs, ours) (a).payload.ours
#define TEXT_OF(a, theirs, ours) (a).message.ours
#endif

static struct tft_control *control(void)
{
	int fd = open(getenv(TFT_CONTROL_ENV), O_RDWR | O_CLOEXEC);
	void *p;

	EXPECT(fd >= 0);
	p = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(p != MAP_FAILED);
	close(fd);
	return p;
}

/* While the level is off, the probe's functions are removed, so the program sees the same as
 * without a tool. */
static void wait_off(int off)
{
	time_t until = time(NULL) + 5;
	int level;

	for (;;) {
		level = nvtxRangePushA("trying");
		nvtxRangePop();
		if ((level == -2) == off)
			return;
		EXPECT(time(NULL) < until);
		poll(NULL, 0, 1);
	}
}

static nvtxEventAttributes_t attributes(void)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof(a));
	a.version = 3;
	a.size = sizeof(a);
	return a;
}

static void ranges(void)
{
	nvtxRangeId_t one, two;

	EXPECT(nvtxRangePushA("outer") == 0);
	EXPECT(nvtxRangePushW(L"gr\u00f6\u00dfer \u4e16 \U0001f600") == 1);
	EXPECT(nvtxRangePop() == 1);
	nvtxMarkA("a mark");
	one = nvtxRangeStartA("async");
	two = nvtxRangeStartA("async");
	EXPECT(one != 0 && one != two);
	nvtxRangeEnd(one);
	nvtxRangeEnd(two);
	EXPECT(nvtxRangePop() == 0);
	EXPECT(nvtxRangePop() < 0);
	nvtxNameOsThreadA((uint32_t)gettid(), "the marked one");
}

static void domains(void)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("my domain");
	nvtxStringHandle_t text = nvtxDomainRegisterStringW(d, L"registered");
	nvtxEventAttributes_t a = attributes();
	nvtxRangeId_t id;

	EXPECT(d != NULL && text != NULL);
	nvtxDomainNameCategoryA(d, 5, "loading");
	a.category = 5;
	a.message_type = 3;
	TEXT_OF(a, registered, handle) = text;
	a.colour_type = 1;
	a.colour = 0xff112233;
	a.payload_type = 2;
	PAYLOAD_OF(a, llValue, i64) = -42;
	EXPECT(nvtxRangePushA("in the default one") == 0);
	EXPECT(nvtxDomainRangePushEx(d, &a) == 0);
	a.category = 6;
	a.message_type = 1;
	TEXT_OF(a, ascii, text) = "plain";
	a.payload_type = 3;
	PAYLOAD_OF(a, dValue, f64) = 2.5;
	EXPECT(nvtxDomainRangePushEx(d, &a) == 1);
	/* the default domain has a stack of its own */
	EXPECT(nvtxRangePop() == 0);
	EXPECT(nvtxDomainRangePop(d) == 1);
	EXPECT(nvtxDomainRangePop(d) == 0);
	EXPECT(nvtxDomainRangePop(d) < 0);
	a.payload_type = 6;
	PAYLOAD_OF(a, fValue, f32) = 0.5f;
	a.colour_type = 0;
	id = nvtxDomainRangeStartEx(d, &a);
	nvtxDomainRangeEnd(d, id);
	a.payload_type = 4;
	PAYLOAD_OF(a, uiValue, u32) = 4000000000u;
	EXPECT(nvtxRangePushEx(&a) == 0);
	EXPECT(nvtxRangePop() == 0);
	EXPECT(nvtxRangePushEx(NULL) == 0);
	EXPECT(nvtxRangePop() == 0);
	nvtxDomainDestroy(d);
}

static void levels(void)
{
	struct tft_control *c = control();

	c->level = TFT_LEVEL_OFF;
	wait_off(1);
	EXPECT(nvtxRangePushA("while off") == -2);
	EXPECT(nvtxRangePop() == -2);
	EXPECT(nvtxDomainCreateA("made while off") != NULL);
	c->level = TFT_LEVEL_DEFAULT;
	wait_off(0);
	EXPECT(nvtxRangePushA("on again") == 0);
	EXPECT(nvtxRangePop() == 0);
	munmap(c, TFT_CONTROL_BYTES);
}

#ifdef NVTX_MODULE
void module_run(void);
__attribute__((visibility("default"))) void module_run(void)
{
	nvtxInitialize(NULL);
	ranges();
}
#else
/* Calls from a module that is unloaded; afterwards its slots must not be written. */
static void modules(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		void (*run)(void);

		EXPECT(h != NULL);
		run = (void (*)(void))dlsym(h, "module_run");
		EXPECT(run != NULL);
		run();
		dlclose(h);
		EXPECT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
		levels();
	}
}

int main(int argc, char **argv)
{
	nvtxInitialize(NULL);
	if (argc > 1 && !strcmp(argv[1], "none")) {
		EXPECT(nvtxRangePushA("nobody") == -2);
		EXPECT(nvtxRangePop() == -2);
		return 0;
	}
	ranges();
	domains();
	levels();
	if (argc > 1)
		modules(argv[1]);
	return 0;
}
#endif
