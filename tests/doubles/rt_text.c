/* SPDX-License-Identifier: MIT */
/*
 * A double of probes/runtime: the same functions, one line of text for every
 * event (rt_text_emit.c), so that a test of a probe can look at exactly what it sends.
 * Built under the runtime's own file name, beside a copy of the probe.
 *
 *	RT_TEXT_OUT	file to append to; without it there is no tftop
 *	RT_TEXT_LEVEL	0..3, default 3
 *	RT_TEXT_QUIET	set: nothing is written (to measure a probe alone); "ops": no ops
 *	RT_TEXT_BUDGET	percent, default 0: none
 *	RT_TEXT_MANUAL	set: no thread of its own, ticks only by rt_text_tick()
 *	RT_TEXT_TOGGLE	set: another level at every tick
 *
 * Names are written as text, so a line can be read alone. rt_text_level,
 * rt_text_tick and rt_text_dump let a test drive the probe.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/runtime/blocks.h"
#include "probes/runtime/cpu.h"
#include "probes/runtime/quick.h"
#include "probes/runtime/internal.h"
#include "probes/runtime/slots.h"
#include "tests/doubles/rt_text.h"

#define NAME_MAX_ID 65536
#define STACK_MAX 64
#define PROBE_MAX 8

RT_API volatile uint32_t tft_rt_level_now, tft_rt_trigger_now;
RT_API void rt_text_level(int level);
RT_API void rt_text_tick(void);
RT_API void rt_text_tick_at(long now_ns);
RT_API void rt_text_dump(void);
RT_API long rt_text_pending_ns(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *names[NAME_MAX_ID];
static atomic_uint n_names;
static struct tft_shape shapes[RT_TEXT_SHAPES];	/* by id; [0] is unused */
static atomic_uint n_shapes;
static const struct rt_probe *probes[PROBE_MAX];
static unsigned n_probes;
static atomic_uint correlations, devices, queues, instances;
static int out = -1;
static bool quiet, quiet_ops;
static atomic_bool ended;

static __thread struct {
	uint64_t instance;
	int64_t wait_ns;
	struct rt_op_args op;
} stack[STACK_MAX];
static __thread int64_t handed_ns;
static __thread int depth;
static __thread uint32_t tid;

bool rt_text_mute(void)
{
	return quiet || out < 0;
}

void line(const char *format, ...)
{
	char text[8192];
	va_list args;
	int n;

	if (rt_text_mute())
		return;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if (n > (int)sizeof(text) - 2)
		n = (int)sizeof(text) - 2;
	for (int i = 0; i < n; i++)
		if (text[i] == '\n')
			text[i] = '|';
	text[n++] = '\n';
	if (write(out, text, (size_t)n) < 0)
		return;
}

const char *name_of(uint32_t id)
{
	return id && id <= n_names ? names[id - 1] : "-";
}

const struct tft_shape *shape_of(uint32_t id)
{
	return id && id <= n_shapes ? &shapes[id] : NULL;
}

static void *ticker(void *unused)
{
	bool toggle = getenv("RT_TEXT_TOGGLE") != NULL;

	(void)unused;
	for (int turn = 0;; turn++) {
		usleep(toggle ? 1000 : 10000);
		if (ended)
			return NULL;
		if (toggle)
			rt_text_level(turn * 7 / 3 % 4);
		if (tft_rt_level_now)
			rt_text_tick();
	}
}

static void start_ticker(void)
{
	pthread_t thread;

	if (!getenv("RT_TEXT_MANUAL") && !pthread_create(&thread, NULL, ticker, NULL))
		pthread_detach(thread);
}

static void finish(void)
{
	if (ended)
		return;
	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i]->fini)
			probes[i]->fini();
	ended = true;
	line("end");
}

static void child(void)
{
	pthread_mutex_init(&lock, NULL);
	correlations = devices = queues = instances = 0;
	tid = 0;
	line("child");
	rt_blocks_fork_child();
	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i]->fork_child)
			probes[i]->fork_child();
	start_ticker();
}

uint32_t rt_budget(void)
{
	const char *percent = getenv("RT_TEXT_BUDGET");

	return percent ? (uint32_t)atoi(percent) : 0;
}

bool rt_probe_register(const struct rt_probe *probe)
{
	const char *path = getenv("RT_TEXT_OUT"), *level = getenv("RT_TEXT_LEVEL");

	if (!path)
		return false;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i] == probe) {
			pthread_mutex_unlock(&lock);
			return true;
		}
	probes[n_probes++] = probe;
	if (n_probes == 1) {
		quiet_ops = getenv("RT_TEXT_QUIET") && !strcmp(getenv("RT_TEXT_QUIET"), "ops");
		quiet = !quiet_ops && getenv("RT_TEXT_QUIET");
		out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		tft_rt_level_now = level ? (uint32_t)atoi(level) : TFT_LEVEL_FULL;
		atexit(finish);
		pthread_atfork(NULL, NULL, child);
		start_ticker();
	}
	pthread_mutex_unlock(&lock);
	line("probe name=%s version=%s", probe->name, probe->version);
	return true;
}

bool rt_probe_register_late(const struct rt_probe *probe)
{
	return rt_probe_register(probe);
}

bool rt_probe_attach(const struct rt_probe *probe)
{
	return rt_probe_register(probe);
}

void rt_attach_why(const char *format, ...)
{
	va_list args;
	char text[512];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (*text)
		line("why '%s'", text);
}

/* Needed by modules.c, which is the runtime's own file. */
bool rt_lock(pthread_mutex_t *mutex)
{
	return pthread_mutex_lock(mutex) == 0;
}

void rt_unlock(pthread_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
}

void rt_fork_lock(pthread_mutex_t *mutex, bool *held, enum rt_fork stage)
{
	*held = stage == RT_FORK_BEFORE && rt_lock(mutex);
	if (stage == RT_FORK_PARENT)
		rt_unlock(mutex);
	else if (stage == RT_FORK_CHILD)
		pthread_mutex_init(mutex, NULL);
}

#define SLOT_MAX 256
static struct rt_slot slots[SLOT_MAX];
static int n_slots;

void rt_slots_add(const struct rt_slot *added, int count)
{
	for (int i = 0; i < count && n_slots < SLOT_MAX; i++) {
		slots[n_slots++] = added[i];
		*added[i].at = tft_rt_level_now ? added[i].ours : added[i].off;
	}
}

static void slots_level(int level)
{
	for (int i = 0; i < n_slots; i++)
		*slots[i].at = level ? slots[i].ours : slots[i].off;
}

void rt_text_level(int level)
{
	uint32_t old = tft_rt_level_now;

	tft_rt_level_now = (uint32_t)level;
	rt_blocks_level((enum tft_level)old, (enum tft_level)level);
	for (unsigned i = 0; i < n_probes && old != (uint32_t)level; i++)
		if (probes[i]->level)
			probes[i]->level((enum tft_level)old, (enum tft_level)level);
	slots_level(level);
	line("level old=%u new=%d", old, level);
}

void rt_text_tick_at(long now_ns)
{
	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i]->tick)
			probes[i]->tick(now_ns);
}

void rt_text_tick(void)
{
	rt_text_tick_at(rt_now_ns());
}

void rt_text_dump(void)
{
	line("dump");
	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i]->dump)
			probes[i]->dump();
}

long rt_text_pending_ns(void)
{
	int64_t oldest = INT64_MAX;

	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i]->pending_ns && probes[i]->pending_ns() < oldest)
			oldest = probes[i]->pending_ns();
	return oldest;
}

int64_t rt_quick_now(void)
{
	return rt_now_ns();
}

uint32_t rt_name(enum tft_name_kind kind, const char *text)
{
	uint32_t id = 0;

	(void)kind;
	if (!text)
		return 0;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n_names && !id; i++)
		if (!strcmp(names[i], text))
			id = i + 1;
	if (!id && n_names < NAME_MAX_ID) {
		names[n_names] = strdup(text);
		id = ++n_names;
	}
	pthread_mutex_unlock(&lock);
	return id;
}

uint32_t rt_source(const struct tft_frame *frame)
{
	line("source file=%s line=%u function=%s", name_of(frame->file), frame->line,
	     name_of(frame->function));
	return 1;
}

uint32_t rt_shape(const struct tft_shape *shape)
{
	uint32_t id = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 1; i <= n_shapes && !id; i++)
		if (shapes[i].dims == shape->dims &&
		    !memcmp(shapes[i].global, shape->global, sizeof(shape->global)) &&
		    !memcmp(shapes[i].local, shape->local, sizeof(shape->local)) &&
		    shapes[i].text == shape->text && shapes[i].flop == shape->flop &&
		    shapes[i].registers == shape->registers &&
		    shapes[i].shared_static == shape->shared_static &&
		    shapes[i].shared_dynamic == shape->shared_dynamic)
			id = i;
	if (!id && n_shapes < RT_TEXT_SHAPES - 1) {
		id = ++n_shapes;
		shapes[id] = *shape;
	}
	pthread_mutex_unlock(&lock);
	return id;
}

uint32_t rt_correlation(void)
{
	return atomic_fetch_add(&correlations, 1) + 1;
}

uint32_t rt_device_id(void)
{
	return atomic_fetch_add(&devices, 1) + 1;
}

uint32_t rt_queue_id(void)
{
	return atomic_fetch_add(&queues, 1) + 1;
}

uint32_t rt_series_id(void)
{
	static atomic_uint last;

	return atomic_fetch_add(&last, 1) + 1;
}

uint32_t rt_tid(void)
{
	if (!tid)
		tid = (uint32_t)gettid();
	return tid;
}

void rt_thread_name(uint32_t thread, const char *name)
{
	line("thread tid=%u name=%s", thread, name);
}

uint64_t rt_op_push(const struct rt_op_args *args)
{
	uint64_t instance = atomic_fetch_add(&instances, 1) + 1;

	if (depth < STACK_MAX) {
		stack[depth].instance = instance;
		stack[depth].op = *args;
		stack[depth].wait_ns = handed_ns;
	}
	handed_ns = 0;
	depth++;
	return instance;
}

bool rt_op_handed(int64_t wait_ns, uint32_t waker)
{
	bool taken = !handed_ns;

	(void)waker;
	handed_ns = wait_ns;
	return taken;
}

int rt_op_pop(uint32_t domain)
{
	const char *name;

	(void)domain;
	if (!depth)
		return -1;
	depth--;
	if (quiet_ops || depth >= STACK_MAX)
		return depth;
	name = name_of(stack[depth].op.name);
	if (stack[depth].op.shapes)
		line("shapes name=%s %s", name, name_of(stack[depth].op.shapes));
	if (stack[depth].op.payload)
		line("payload name=%s %llx", name, (unsigned long long)stack[depth].op.payload);
	if (stack[depth].op.forward)
		line("forward name=%s of=%llu", name, (unsigned long long)stack[depth].op.forward);
	if (stack[depth].op.flags & TFT_OP_RANGE)
		line("range name=%s", name);
	if (stack[depth].wait_ns)
		line("waited name=%s ns=%lld", name, (long long)stack[depth].wait_ns);
	line("op name=%s instance=%llu depth=%d type=%s step=%lld", name,
	     (unsigned long long)stack[depth].instance, depth, name_of(stack[depth].op.type),
	     (long long)stack[depth].op.step);
	return depth;
}

int rt_op_depth(uint32_t domain)
{
	int n = 0;

	for (int i = 0; i < depth && i < STACK_MAX; i++)
		n += stack[i].op.domain == domain;
	return n;
}

int rt_op_pop_asking(uint32_t domain, const struct rt_ask *ask)
{
	(void)ask;
	return rt_op_pop(domain);
}

uint64_t rt_async_start(const struct rt_op_args *args)
{
	uint64_t instance = atomic_fetch_add(&instances, 1) + 1;

	line("begin name=%s instance=%llu type=%s step=%lld", name_of(args->name),
	     (unsigned long long)instance, name_of(args->type), (long long)args->step);
	return instance;
}

void rt_async_end(uint64_t instance)
{
	line("async instance=%llu", (unsigned long long)instance);
}

uint32_t rt_cpu_device(void)
{
	return 1;
}

static _Thread_local struct rt_cpu_thread cpu_thread;

struct rt_cpu_thread *rt_cpu_thread(void)
{
	return &cpu_thread;
}

void rt_cpu_ran(enum rt_library library, const struct rt_cpu_kernel *kernel)
{
	cpu_thread.told++;
	line("cpu library=%d flop=%llu shape=%s name=%s", (int)library,
	     (unsigned long long)shapes[kernel->shape].flop, name_of(shapes[kernel->shape].text),
	     name_of(kernel->name));
}

void rt_mark(const struct rt_op_args *args)
{
	line("mark name=%s", name_of(args->name));
}

struct rt_top rt_op_launch(void)
{
	struct rt_top top = { .step = -1 };

	if (depth && depth <= STACK_MAX) {
		top.instance = stack[depth - 1].instance;
		top.name = stack[depth - 1].op.name;
		top.step = stack[depth - 1].op.step;
	}
	return top;
}

struct rt_top rt_op_current(void)
{
	return rt_op_launch();
}

uint32_t rt_op_of_type(uint32_t type)
{
	for (int i = depth < STACK_MAX ? depth : STACK_MAX; i-- > 0;)
		if (type && stack[i].op.type == type)
			return stack[i].op.name;
	return 0;
}

void rt_call(uint32_t fn, int64_t start_ns, int64_t end_ns, uint32_t correlation, int32_t result)
{
	if (tft_rt_level_now >= TFT_LEVEL_FULL ||
	    (tft_rt_level_now == TFT_LEVEL_DEFAULT && end_ns - start_ns >= 10000))
		line("call fn=%s corr=%u result=%d ordered=%d", name_of(fn), correlation, result,
		     end_ns >= start_ns);
}

void rt_count(uint32_t fn, int32_t result)
{
	if (tft_rt_level_now >= TFT_LEVEL_FULL)
		line("count fn=%s result=%d", name_of(fn), result);
}

const char *rt_env(const char *name, char *text, size_t size)
{
	const char *value = getenv(name);
	size_t length = value ? strlen(value) : size;

	return length < size ? memcpy(text, value, length + 1) : NULL;
}
