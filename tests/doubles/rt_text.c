/* SPDX-License-Identifier: MIT */
/*
 * A double of probes/runtime: the same functions, one line of text for every
 * event, so that a test of a probe can look at exactly what it sends. Built
 * under the runtime's own file name, beside a copy of the probe.
 *
 *	RT_TEXT_OUT	file to append to; without it there is no tftop
 *	RT_TEXT_LEVEL	0..3, default 3
 *	RT_TEXT_QUIET	set: nothing is written (to measure a probe alone); "ops": no ops
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
#include "probes/runtime/slots.h"

#define NAME_MAX_ID 65536
#define STACK_MAX 64
#define PROBE_MAX 8

RT_API volatile uint32_t tft_rt_level_now;
RT_API void rt_text_level(int level);
RT_API void rt_text_tick(void);
RT_API void rt_text_tick_at(long now_ns);
RT_API void rt_text_dump(void);
RT_API long rt_text_pending_ns(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *names[NAME_MAX_ID];
static atomic_uint n_names;
static struct tft_shape shapes[4096];	/* by id; [0] is none */
static atomic_uint n_shapes;
static const struct rt_probe *probes[PROBE_MAX];
static unsigned n_probes;
static atomic_uint correlations, instances;
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

__attribute__((format(printf, 1, 2)))
static void line(const char *format, ...)
{
	char text[8192];
	va_list args;
	int n;

	if (quiet || out < 0)
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

static const char *name_of(uint32_t id)
{
	return id && id <= n_names ? names[id - 1] : "-";
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
	correlations = instances = 0;
	tid = 0;
	line("child");
	rt_blocks_fork_child();
	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i]->fork_child)
			probes[i]->fork_child();
	start_ticker();
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
	line("source file=%s line=%u", name_of(frame->file), frame->line);
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
		    shapes[i].text == shape->text && shapes[i].flop == shape->flop)
			id = i;
	if (!id && n_shapes < 4095) {
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

void rt_emit_device(const struct tft_device *d)
{
	line("device id=%u gpu=%u index=%u units=%u memory=%llu name='%s' vendor='%s' "
	     "platform='%s' driver='%s' address='%s'", d->id, d->gpu, d->index, d->units,
	     (unsigned long long)d->memory_bytes, d->name, d->vendor, d->platform, d->driver,
	     d->address);
}

void rt_emit_queue(const struct tft_queue *q)
{
	line("queue id=%u device=%u context=%u in_order=%d profiled=%d forced=%d", q->id,
	     q->device, q->context, !!(q->flags & TFT_QUEUE_IN_ORDER),
	     !!(q->flags & TFT_QUEUE_PROFILED), !!(q->flags & TFT_QUEUE_FORCED));
}

void rt_emit_message(uint8_t level, const char *text)
{
	line("message level=%u text='%s'", level, text);
}

void rt_emit_step(struct tft_step *step)
{
	line("step name=%s number=%lld", name_of(step->name), (long long)step->number);
}

static const char *const kinds[] = {
	"none", "kernel", "copy", "fill", "map", "unmap", "marker", "barrier", "native",
	"migrate", "graph", "other",
};
static const char *const directions[] = {
	"none", "h2d", "d2h", "d2d", "p2p", "h2h", "fill", "map", "unmap", "send", "recv",
};

void rt_emit_command(struct tft_command *c)
{
	char shape[128] = "-";
	const struct tft_shape *s = &shapes[c->shape <= n_shapes ? c->shape : 0];
	bool times = c->start_ticks && c->end_ticks;

	if (quiet || out < 0)
		return;
	if (c->kind == TFT_KIND_KERNEL && s != shapes)
		snprintf(shape, sizeof(shape), "%u:%llu,%llu,%llu/%u,%u,%u", s->dims,
			 (unsigned long long)s->global[0], (unsigned long long)s->global[1],
			 (unsigned long long)s->global[2], s->local[0], s->local[1], s->local[2]);
	line("command corr=%u queue=%u kind=%s name=%s dir=%s bytes=%llu shape=%s how=%u op=%s "
	     "status=%d%s%s%s%s tid=%u call_ns=%lld dur=%u q=%llu s=%llu b=%llu e=%llu times=%d "
	     "ordered=%d place=%x%s", c->correlation, c->queue, kinds[c->kind], name_of(c->name),
	     directions[c->direction], (unsigned long long)c->bytes, shape, c->how,
	     name_of(c->op_name), c->status, c->flags & TFT_CMD_OPEN ? " open" : "",
	     c->flags & TFT_CMD_APPROX ? " approx" : "",
	     c->flags & TFT_CMD_BLOCKING ? " blocking" : "",
	     c->flags & TFT_CMD_NOTIMES ? " notimes" : "", c->tid, (long long)c->call_ns,
	     c->call_dur_ns, (unsigned long long)c->queued_ticks,
	     (unsigned long long)c->submit_ticks, (unsigned long long)c->start_ticks,
	     (unsigned long long)c->end_ticks, times, c->end_ticks >= c->start_ticks,
	     c->kind == TFT_KIND_KERNEL ? 0 : c->shape,
	     c->flags & TFT_CMD_PINNED ? " pinned" : "");
}

void rt_emit_alloc(struct tft_alloc *a)
{
	line("alloc allocator='%s' device=%u address=%llx bytes=%llu", name_of(a->allocator),
	     a->device, (unsigned long long)a->address, (unsigned long long)a->bytes);
}

void rt_emit_free(struct tft_free *f)
{
	line("free allocator='%s' address=%llx", name_of(f->allocator),
	     (unsigned long long)f->address);
}

int64_t rt_quick_now(void)
{
	return rt_now_ns();
}

/* Nothing is gathered here. */
void rt_batch_alloc(struct tft_alloc *a)
{
	rt_emit_alloc(a);
}

void rt_batch_free(struct tft_free *f)
{
	rt_emit_free(f);
}

void rt_emit_wait(struct tft_wait *w)
{
	line("wait fn=%s queue=%u corr=%u result=%d start=%lld dur=%lld", name_of(w->name),
	     w->queue, w->correlation, w->result, (long long)w->start_ns, (long long)w->dur_ns);
}

void rt_emit_compile(struct tft_compile *c)
{
	line("compile what='%s' options='%s' result=%d log='%.200s' dur=%lld", c->what, c->options,
	     c->result, c->log, (long long)c->dur_ns);
}

void rt_emit_flow(struct tft_flow *f)
{
	static const char *const phases[TFT_FLOW_COUNT] = { "sent", "received", "encoded", "decoded",
						      "made" };

	line("flow name='%s' key=%llx bytes=%llu op=%llx dur=%lld %s", name_of(f->name),
	     (unsigned long long)f->key, (unsigned long long)f->bytes, (unsigned long long)f->op,
	     (long long)f->dur_ns, f->phase < TFT_FLOW_COUNT ? phases[f->phase] : "?");
}

void rt_emit_node(const struct tft_node *n)
{
	line("node id=%u graph='%s' name='%s' type='%s' inputs='%s' attributes='%s' line=%u origin=%u",
	     n->id, name_of(n->graph), name_of(n->name), name_of(n->type), n->inputs, n->attributes,
	     n->line, n->origin);
}

void rt_emit_stage(const struct tft_stage *s)
{
	line("stage id=%u parent=%u path='%s' what='%s' parallelism=%d buffer=%d", s->id,
	     s->parent, s->path, s->what, s->parallelism, s->buffer);
}

void rt_emit_region(struct tft_region *r)
{
	line("region allocator=%s bytes=%llu joined=%u", name_of(r->allocator),
	     (unsigned long long)r->bytes, r->joined);
}

uint32_t rt_series_id(void)
{
	static uint32_t id;

	return ++id;
}

void rt_emit_series(const struct tft_series *s)
{
	line("series id=%u device=%u name='%s' unit='%s'", s->id, s->device, s->name, s->unit);
}

void rt_emit_info(const char *scope, const char *key, const char *value)
{
	line("info %s %s=%s", scope, key, value);
}

void rt_emit_stages(struct tft_stages *s)
{
	line("stages stage=%u elements=%llu total=%lld self=%lld wait=%lld%s", s->stage,
	     (unsigned long long)s->elements, (long long)s->total_ns, (long long)s->self_ns,
	     (long long)s->wait_ns, s->end_ns < s->begin_ns ? " backwards" : "");
}

void rt_emit_pool(struct tft_pool *p)
{
	line("pool tid=%u closures=%llu with_ops=%llu timed=%llu wait=%lld longest=%lld busy=%lld%s",
	     p->tid, (unsigned long long)p->closures, (unsigned long long)p->with_ops,
	     (unsigned long long)p->timed, (long long)p->wait_ns, (long long)p->max_wait_ns,
	     (long long)p->busy_ns, p->end_ns < p->begin_ns ? " backwards" : "");
}

void rt_emit_counter(struct tft_counter *c)
{
	line("counter series=%u value=%lld", c->series, (long long)c->value);
}

void rt_emit_clock(const struct tft_clock *c)
{
	line("clock device=%u quality=%u ticks=%llu host_ns=%lld error_ns=%lld", c->device,
	     c->quality, (unsigned long long)c->ticks, (long long)c->host_ns,
	     (long long)c->error_ns);
}

void rt_dropped(uint64_t n)
{
	line("dropped n=%llu", (unsigned long long)n);
}

void rt_vendor_dropped(uint64_t n)
{
	line("vendor_dropped n=%llu", (unsigned long long)n);
}

void rt_own_time(int64_t ns)
{
	line("own ns=%lld", (long long)ns);
}
