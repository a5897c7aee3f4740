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
#include <unistd.h>
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
struct tensor {
	int value;
	size_t bytes;
	const void *data;
};
struct parsed_key {
	uint64_t source[2];	/* string_view of the key's first part */
	char behind[64];
};
struct event {
	struct string name;
	int64_t start_ns, end_ns;
};

/* ---- the symbols ---- */

API extern int trace_level NAMED("_ZN3tsl8profiler8internal13g_trace_levelE");
int trace_level = -1;

API struct string trace_string(const struct kernel *k, const void *context, bool verbose)
	NAMED("_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb");
API void compute(void *device, struct kernel *k, struct context *c)
	NAMED(DEVICE "7ComputeEPNS_8OpKernelEPNS_15OpKernelContextE");
API void compute_async(void *device, struct kernel *k, struct context *c, struct function *done)
	NAMED(DEVICE "12ComputeAsyncEPNS_13AsyncOpKernelEPNS_15OpKernelContextESt8functionIFvvEE");
API void kernel_gone(struct kernel *k) NAMED("_ZN10tensorflow8OpKernelD2Ev");
API void record(struct event *e) NAMED(TSL "6RecordEONS1_5EventE");
API bool start(int level) NAMED(TSL "5StartEi");
API struct kept { void *part[3]; } stop(void) NAMED(TSL "4StopEv");
API void *aligned_malloc(size_t bytes, size_t alignment)
	NAMED("_ZN3tsl4port13AlignedMallocEmSt11align_val_t");
API void aligned_free(void *memory) NAMED("_ZN3tsl4port11AlignedFreeEPv");
#if PARAMS == 16
API void encode(bool dead, const struct tensor *tensor, bool last, double *buffer)
#else
API void *encode(void **status, bool dead, const struct tensor *tensor, bool last, double *buffer)
#endif
	NAMED("_ZN10tensorflow4grpc24EncodeTensorToByteBufferEbRKNS_6TensorEbPN4grpc10ByteBufferE");

API size_t total_bytes(const struct tensor *tensor) NAMED("_ZNK10tensorflow6Tensor10TotalBytesEv");
API const void *tensor_data(const struct tensor *tensor) NAMED("_ZNK10tensorflow6Tensor4dataEv");
#define RENDEZVOUS "_ZN10tensorflow20BaseRemoteRendezvous"
#define KEY_ARGS "ERKNS_19RendezvousInterface9ParsedKeyERKNS1_4ArgsE"
API void *rendezvous_send(void **status, void *rendezvous, const struct parsed_key *key, void *args,
			  const struct tensor *tensor, bool dead)
	NAMED(RENDEZVOUS "4Send" KEY_ARGS "RKNS_6TensorEb");
API void rendezvous_recv(void *rendezvous, const struct parsed_key *key, void *args,
			 struct function *done)
#if PARAMS == 16
	NAMED(RENDEZVOUS "9RecvAsync" KEY_ARGS "St8functionIFvRKNS_6StatusES7_S7_RKNS_6TensorEbEE");
#else
	NAMED(RENDEZVOUS "9RecvAsync" KEY_ARGS
	      "St8functionIFvRKN4absl12lts_202508146StatusES7_S7_RKNS_6TensorEbEE");
#endif
API const char *TFE_OpGetName(const void *op, void *status);
API void TFE_Execute(const void *op, void **results, int *count, void *status);
#if PARAMS == 24
API extern unsigned char python_gate NAMED("_ZN3xla8profiler15traceme_enabledE");
unsigned char python_gate;
#endif
API void *parse(void **status, void *response, void *source)
	NAMED("_ZN10tensorflow14TensorResponse9ParseFromEPNS0_6SourceE");

static int kept_events;

struct string trace_string(const struct kernel *k, const void *context, bool verbose)
{
	struct string s = { .text = malloc(256) };

	(void)context;
	(void)verbose;
#ifdef SLOW_NAMES
	usleep(30000);
#endif
#ifdef STRANGE
	s.length = (size_t)snprintf(s.text, 256, "strange:Strange");
	(void)k;
#else
	s.length = (size_t)snprintf(s.text, 256, "%.*s:%.*s", (int)k->name[!VIEW_TEXT],
				    (const char *)(uintptr_t)k->name[VIEW_TEXT],
				    (int)k->type[!VIEW_TEXT],
				    (const char *)(uintptr_t)k->type[VIEW_TEXT]);
#endif
	/* where C++ puts it; callers that take the result by value rely on this */
	memcpy(s.inside, s.text, s.length < STRING_INSIDE ? s.length + 1 : 0);
	return s;
}

static bool is_type(const struct kernel *k, const char *type)
{
	return !strcmp((const char *)(uintptr_t)k->type[VIEW_TEXT], type);
}

static void give(void);
static void take(struct function *done);

void compute(void *device, struct kernel *k, struct context *c)
{
	(void)device;
	(void)c;
	k->runs++;
	if (is_type(k, "_Send"))
		give();
}

void compute_async(void *device, struct kernel *k, struct context *c, struct function *done)
{
	struct function moved = *done, copy = moved;

	(void)device;
	(void)c;
	k->runs++;
	done->manage = NULL;
	/* the function object is copied and moved, the first one destroyed, the other called */
	moved.manage(copy.storage, moved.storage, 2);
	moved.manage(moved.storage, moved.storage, 3);
	if (is_type(k, "_Recv"))
		take(&copy);
	copy.invoke(copy.storage);
	copy.manage(copy.storage, copy.storage, 3);
}

/* The destructor of the base: it frees everything except the memory of the object. */
void kernel_gone(struct kernel *k)
{
	memset(k, 0, sizeof(*k));
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

size_t total_bytes(const struct tensor *tensor)
{
	return tensor->bytes;
}

const void *tensor_data(const struct tensor *tensor)
{
	return tensor->data;
}

static double coded(bool dead, const struct tensor *tensor, bool last)
{
	return dead + 2 * last + tensor->value;
}

/* absl::Status comes back through the first argument, in new versions. */
#if PARAMS == 16
void encode(bool dead, const struct tensor *tensor, bool last, double *buffer)
{
	*buffer = coded(dead, tensor, last);
}
#else
void *encode(void **status, bool dead, const struct tensor *tensor, bool last, double *buffer)
{
	*status = (void *)0x55;
	*buffer = coded(dead, tensor, last);
	return status;
}
#endif

static int sums;

void *rendezvous_send(void **status, void *rendezvous, const struct parsed_key *key, void *args,
		      const struct tensor *tensor, bool dead)
{
	*status = (void *)0x66;
	sums += (rendezvous == (void *)1) + (args == (void *)2) + tensor->value + dead +
		(key->source[!VIEW_TEXT] == 11);
	return status;
}

void rendezvous_recv(void *rendezvous, const struct parsed_key *key, void *args,
		     struct function *done)
{
	sums += (rendezvous == (void *)1) + (args == (void *)2) + (done->invoke != NULL) +
		(key->source[!VIEW_TEXT] == 11);
}

void *parse(void **status, void *response, void *source)
{
	*status = (void *)0x77;
	sums += (response == (void *)3) + (source == (void *)4);
	return status;
}

/* ---- how they are reached ---- */

/* Virtual functions as C++ compiles them: addresses that the linker fills in. */
API void *const fake_vtable[] = {
	(void *)compute, (void *)compute_async, (void *)rendezvous_send, (void *)rendezvous_recv,
};

static const char key_text[] =
	"/job:a/replica:0/task:0/device:CPU:0;01;/job:b/replica:0/task:1/device:GPU:2;"
	"edge_7_pool;0:0";
static const struct parsed_key key = {
	.source = { [VIEW_TEXT] = (uint64_t)(uintptr_t)key_text, [!VIEW_TEXT] = 11 },
};
static const char data[64];

static void give(void)
{
	struct tensor tensor = { .value = 7, .bytes = 4096, .data = data };
	void *status = NULL;
	double buffer = 0;

	((void *(*)(void **, void *, const struct parsed_key *, void *, const struct tensor *,
		    bool))
	 fake_vtable[2])(&status, (void *)1, &key, (void *)2, &tensor, true);
	sums += status == (void *)0x66;
#if PARAMS == 16
	encode(true, &tensor, false, &buffer);
#else
	encode(&status, true, &tensor, false, &buffer);
#endif
	sums += buffer > 7.5;
}

static void take(struct function *done)
{
	void *status = NULL;

	((void (*)(void *, const struct parsed_key *, void *, struct function *))fake_vtable[3])(
		(void *)1, &key, (void *)2, done);
	parse(&status, (void *)3, (void *)4);
	sums += status == (void *)0x77;
}

/* Sums over the arguments that all of these functions got. */
API int fake_sums(void);
int fake_sums(void)
{
	return sums;
}

static void *early;

/* Static initializers allocate before the program or a probe can react. */
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

/* The kernel is destroyed and another one gets its memory, without a call of the destructor, as if
 * a compiler had inlined it. */
API void fake_replace(struct kernel *k, const char *name, const char *type, bool unseen);
void fake_replace(struct kernel *k, const char *name, const char *type, bool unseen)
{
	if (!unseen)
		kernel_gone(k);
	set_view(k->name, name);
	set_view(k->type, type);
}

static int device;

/* The first context has another pointer to its kernel, where a probe would look for the parameters
 * first. */
static void context_of(struct context *c, struct params *p, struct kernel *k, int64_t step)
{
	static struct params other, *const others = &other;

	memset(c, 0, sizeof(*c));
	if (!other.words[0]) {
		other.words[0] = k;
		memcpy(c->before, &others, sizeof(others));
	}
	memset(p, 0, sizeof(*p));
	p->step = step;
	p->words[KERNEL_WORD - 1] = k;
	p->words[KERNEL_WORD] = &device;
	c->params = p;
}

API int fake_run(struct kernel *k, int64_t step);
int fake_run(struct kernel *k, int64_t step)
{
	struct context c;
	struct params p;

	context_of(&c, &p, k, step);
	((void (*)(void *, struct kernel *, struct context *))fake_vtable[0])(&device, k, &c);
	return k->runs;
}

/* Allocates pieces of `small` and `large` bytes alternately and frees them in another order. */
API void fake_memory(int pieces, size_t small, size_t large);
void fake_memory(int pieces, size_t small, size_t large)
{
	void **memory = calloc((size_t)pieces, sizeof(*memory));

	for (int i = 0; memory && i < pieces; i++)
		memory[i] = aligned_malloc(i % 2 ? large : small, 64);
	for (int i = 0; memory && i < pieces; i++)
		aligned_free(memory[(i * 7 + 3) % pieces]);
	free(memory);
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
		&device, k, &c, &done);
	if (done.manage)
		done.manage(done.storage, done.storage, 3);
	/* everything created was destroyed, and the function was called once */
	return calls == 1 && destroyed == 1 + copies;
}

/* The pointer to an op is its name here. */
const char *TFE_OpGetName(const void *op, void *status)
{
	(void)status;
	return op;
}

static int executed;

void TFE_Execute(const void *op, void **results, int *count, void *status)
{
	(void)op;
	(void)results;
	(void)count;
	(void)status;
	executed++;
}

API int fake_execute(const char *name);
int fake_execute(const char *name)
{
	TFE_Execute(name, NULL, NULL, NULL);
	return executed;
}

#if PARAMS == 24
/* The flag that the library's Python part reads; value >= 0 sets it. */
API int fake_gate(int value);
int fake_gate(int value)
{
	if (value >= 0)
		python_gate = (unsigned char)value;
	return python_gate;
}
#endif

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

/* The level that this library uses, and the address where it reads it. */
API int fake_level(const int **at);
int fake_level(const int **at)
{
	*at = &trace_level;
	return trace_level;
}

/* The program's own profiler: the number of events it got, and their level. */
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

API double fake_encode(int value);
double fake_encode(int value)
{
	struct tensor tensor = { .value = value };
	void *status = NULL;
	double buffer = 0;

#if PARAMS == 16
	(void)status;
	encode(true, &tensor, true, &buffer);
	return buffer;
#else
	return encode(&status, true, &tensor, true, &buffer) == &status &&
	       status == (void *)0x55 ? buffer : -1;
#endif
}
