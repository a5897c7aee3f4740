/* SPDX-License-Identifier: MIT */
/*
 * A library that looks like TensorFlow's to a probe: the same symbols, reached in
 * the same ways (a vtable's relocation, the PLT, a variable in the GOT), objects
 * laid out as in one of two versions.
 *
 *	-DVIEW_TEXT=0|1		which word of a string_view is the text
 *	-DPARAMS=16|24		where a context keeps the pointer to its parameters
 *	-DKERNEL_WORD=1|4	which word of the parameters is the kernel
 *	-DSTRANGE		names are nowhere to be found
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define TSL "_ZN3tsl8profiler15TraceMeRecorder"
#define DEVICE "_ZN10tensorflow16ThreadPoolDevice"
#define STRING_INSIDE 16

struct string {
	char *text;
	size_t length;
	char inside[STRING_INSIDE];
};
struct function {
	uint64_t storage[2];
	bool (*manage)(void *to, const void *from, int what);
	void (*invoke)(const void *storage);
};
struct kernel {
	char before[200];
	uint64_t name[2], type[2];
	int runs;
};
struct params {
	int64_t step;
	void *words[7];
};
struct context {
	char before[PARAMS];
	struct params *params;
	char behind[256];
};
struct event {
	struct string name;
	int64_t start_ns, end_ns;
};

/* ---- the symbols ---- */

API extern int trace_level NAMED("_ZN3tsl8profiler8internal13g_trace_levelE");
int trace_level = -1;

API struct string *trace_string(struct string *s, const struct kernel *k, const void *context,
				bool verbose)
	NAMED("_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb");
API void compute(void *device, struct kernel *k, struct context *c)
	NAMED(DEVICE "7ComputeEPNS_8OpKernelEPNS_15OpKernelContextE");
API void compute_async(void *device, struct kernel *k, struct context *c, struct function *done)
	NAMED(DEVICE "12ComputeAsyncEPNS_13AsyncOpKernelEPNS_15OpKernelContextESt8functionIFvvEE");
API void record(struct event *e) NAMED(TSL "6RecordEONS1_5EventE");
API bool start(int level) NAMED(TSL "5StartEi");
API struct kept { void *part[3]; } stop(void) NAMED(TSL "4StopEv");
API void *aligned_malloc(size_t bytes, size_t alignment)
	NAMED("_ZN3tsl4port13AlignedMallocEmSt11align_val_t");
API void aligned_free(void *memory) NAMED("_ZN3tsl4port11AlignedFreeEPv");
API void *encode(void **status, bool dead, const void *tensor, bool last, double *buffer)
	NAMED("_ZN10tensorflow4grpc24EncodeTensorToByteBufferEbRKNS_6TensorEbPN4grpc10ByteBufferE");

static int kept_events;

struct string *trace_string(struct string *s, const struct kernel *k, const void *context,
			    bool verbose)
{
	(void)context;
	(void)verbose;
	s->text = malloc(256);
#ifdef STRANGE
	s->length = (size_t)snprintf(s->text, 256, "strange:Strange");
	(void)k;
#else
	s->length = (size_t)snprintf(s->text, 256, "%.*s:%.*s", (int)k->name[!VIEW_TEXT],
				     (const char *)(uintptr_t)k->name[VIEW_TEXT],
				     (int)k->type[!VIEW_TEXT],
				     (const char *)(uintptr_t)k->type[VIEW_TEXT]);
#endif
	return s;
}

void compute(void *device, struct kernel *k, struct context *c)
{
	(void)device;
	(void)c;
	k->runs++;
}

void compute_async(void *device, struct kernel *k, struct context *c, struct function *done)
{
	struct function moved = *done, copy = moved;

	(void)device;
	(void)c;
	k->runs++;
	done->manage = NULL;
	/* copied, moved, the first of them destroyed, the other called */
	moved.manage(copy.storage, moved.storage, 2);
	moved.manage(moved.storage, moved.storage, 3);
	copy.invoke(copy.storage);
	copy.manage(copy.storage, copy.storage, 3);
}

void record(struct event *e)
{
	kept_events += e->name.length > 0;
}

bool start(int level)
{
	if (trace_level >= 0)
		return false;
	trace_level = level;
	return true;
}

struct kept stop(void)
{
	struct kept k = { { NULL, (void *)(intptr_t)kept_events, (void *)(intptr_t)trace_level } };

	kept_events = 0;
	trace_level = -1;
	return k;
}

void *aligned_malloc(size_t bytes, size_t alignment)
{
	return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void aligned_free(void *memory)
{
	free(memory);
}

/* absl::Status comes back through the first argument. */
void *encode(void **status, bool dead, const void *tensor, bool last, double *buffer)
{
	*status = (void *)0x55;
	*buffer = dead + 2 * last + *(const int *)tensor;
	return status;
}

/* ---- how they are reached ---- */

/* What C++ makes of virtual functions: addresses that the linker fills in. */
API void *const fake_vtable[] = { (void *)compute, (void *)compute_async };

static void *early;

/* Static initializers allocate, before the program or a probe can know of us. */
__attribute__((constructor)) static void initialize(void)
{
	early = aligned_malloc(100, 64);
}

__attribute__((destructor)) static void finish(void)
{
	aligned_free(early);
}

static void set_view(uint64_t view[2], const char *text)
{
	view[VIEW_TEXT] = (uintptr_t)text;
	view[!VIEW_TEXT] = strlen(text);
}

API struct kernel *fake_kernel(const char *name, const char *type);
struct kernel *fake_kernel(const char *name, const char *type)
{
	struct kernel *k = calloc(1, sizeof(*k));

	set_view(k->name, name);
	set_view(k->type, type);
	return k;
}

static void context_of(struct context *c, struct params *p, struct kernel *k, int64_t step)
{
	memset(c, 0, sizeof(*c));
	memset(p, 0, sizeof(*p));
	p->step = step;
	p->words[KERNEL_WORD - 1] = k;
	c->params = p;
}

API int fake_run(struct kernel *k, int64_t step);
int fake_run(struct kernel *k, int64_t step)
{
	struct context c;
	struct params p;

	context_of(&c, &p, k, step);
	((void (*)(void *, struct kernel *, struct context *))fake_vtable[0])(NULL, k, &c);
	return k->runs;
}

static int calls, copies, destroyed;

static bool manage(void *to, const void *from, int what)
{
	if (what == 2) {
		*(uint64_t *)to = *(const uint64_t *)from;
		copies++;
	}
	destroyed += what == 3;
	return false;
}

static void invoke(const void *storage)
{
	calls += *(const uint64_t *)storage == 42;
}

API int fake_run_async(struct kernel *k, int64_t step);
int fake_run_async(struct kernel *k, int64_t step)
{
	struct function done = { .storage = { 42 }, .manage = manage, .invoke = invoke };
	struct context c;
	struct params p;

	calls = destroyed = copies = 0;
	context_of(&c, &p, k, step);
	((void (*)(void *, struct kernel *, struct context *, struct function *))fake_vtable[1])(
		NULL, k, &c, &done);
	if (done.manage)
		done.manage(done.storage, done.storage, 3);
	/* what was made has been destroyed, and it was called once */
	return calls == 1 && destroyed == 1 + copies;
}

/* An event, as the inlined TraceMe makes one. */
API void fake_trace(int level, const char *text, int64_t ns);
void fake_trace(int level, const char *text, int64_t ns)
{
	struct timespec t;
	struct event e = { .name = { .text = (char *)(uintptr_t)text, .length = strlen(text) } };

	if (trace_level < level)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	e.end_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	e.start_ns = e.end_ns - ns;
	record(&e);
}

/* The program's own profiler: events kept, and at which level. */
API int fake_profile(int level, void (*during)(void));
int fake_profile(int level, void (*during)(void))
{
	struct kept k;

	if (!start(level))
		return -1;
	during();
	k = stop();
	return (int)(intptr_t)k.part[1] * 10 + (int)(intptr_t)k.part[2];
}

API double fake_encode(int tensor);
double fake_encode(int tensor)
{
	void *status = NULL;
	double buffer = 0;

	return encode(&status, true, &tensor, true, &buffer) == &status &&
	       status == (void *)0x55 ? buffer : -1;
}
