/* SPDX-License-Identifier: MIT */
/* Writes each event as text: see rt_text.c. Fields that were added later are written only if they
 * are set. */
#include <stdio.h>

#include "probes/runtime/blocks.h"
#include "tests/doubles/rt_text.h"

void rt_emit_device(const struct tft_device *d)
{
	line("device id=%u gpu=%u index=%u units=%u memory=%llu name='%s' vendor='%s' "
	     "platform='%s' driver='%s' address='%s'", d->id, d->gpu, d->index, d->units,
	     (unsigned long long)d->memory_bytes, d->name, d->vendor, d->platform, d->driver,
	     d->address);
	if (d->capability)
		line("limits device=%u capability=%u threads=%u blocks=%u registers=%u/%u "
		     "shared=%u/%u bandwidth=%llu", d->id, d->capability, d->threads_per_unit,
		     d->blocks_per_unit, d->registers_per_unit, d->registers_per_block,
		     d->shared_per_unit, d->shared_per_block, (unsigned long long)d->bandwidth);
}

void rt_emit_queue(const struct tft_queue *q)
{
	char priority[32] = "";

	if (q->priority)
		snprintf(priority, sizeof(priority), " priority=%d", q->priority);
	line("queue id=%u device=%u context=%u in_order=%d profiled=%d forced=%d%s%s%s%s", q->id,
	     q->device, q->context, !!(q->flags & TFT_QUEUE_IN_ORDER),
	     !!(q->flags & TFT_QUEUE_PROFILED), !!(q->flags & TFT_QUEUE_FORCED),
	     q->flags & TFT_QUEUE_DEFAULT ? " default" : "", priority,
	     q->name && *q->name ? " name=" : "", q->name ? q->name : "");
}

/* No trigger is ever active. */
void rt_trigger_profiler(bool start)
{
	(void)start;
}

void rt_emit_message(uint8_t level, const char *text)
{
	line("message level=%u text='%s'", level, text);
}

void rt_emit_step(struct tft_step *step)
{
	line("step name=%s number=%lld", name_of(step->name), (long long)step->number);
}

void rt_emit_bare(const struct tft_bare *bare)
{
	line("bare steps=%u positive=%d", bare->steps, bare->dur_ns > 0);
}

void rt_emit_cost(const struct tft_cost *c)
{
	line("cost pairs=%u every=%u budget=%u steps=%llu bare=%llu ordered=%d", c->pairs, c->every,
	     c->budget, (unsigned long long)c->steps, (unsigned long long)c->bare,
	     c->wall_low_ns <= c->wall_ns && c->wall_ns <= c->wall_high_ns &&
	     c->cpu_low_ns <= c->cpu_ns && c->cpu_ns <= c->cpu_high_ns);
}

void rt_emit_request(struct tft_request *request)
{
	line("request name=%s passes=%u sequences=%u", name_of(request->name), request->passes,
	     request->sequences);
}

static const char *const kinds[] = {
	"none", "kernel", "copy", "fill", "map", "unmap", "marker", "barrier", "native",
	"migrate", "graph", "other",
};
static const char *const directions[] = {
	"none", "h2d", "d2h", "d2d", "p2p", "h2h", "fill", "map", "unmap", "send", "recv",
};

static void write_shape(char *to, size_t size, uint32_t id)
{
	const struct tft_shape *s = shape_of(id);
	int n;

	if (!s) {
		snprintf(to, size, "-");
		return;
	}
	n = snprintf(to, size, "%u:%llu,%llu,%llu/%u,%u,%u", s->dims,
		     (unsigned long long)s->global[0], (unsigned long long)s->global[1],
		     (unsigned long long)s->global[2], s->local[0], s->local[1], s->local[2]);
	if (s->registers || s->shared_static || s->shared_dynamic)
		snprintf(to + n, size - (size_t)n, "/r%u+s%u+%u", s->registers, s->shared_static,
			 s->shared_dynamic);
}

void rt_emit_command(struct tft_command *c)
{
	char shape[160];
	bool times = c->start_ticks && c->end_ticks;

	if (rt_text_mute())
		return;
	write_shape(shape, sizeof(shape), c->kind == TFT_KIND_KERNEL ? c->shape : 0);
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

void rt_emit_launch(struct tft_launch *l)
{
	char shape[160];

	write_shape(shape, sizeof(shape), l->kind == TFT_KIND_KERNEL ? l->shape : 0);
	line("launch corr=%u queue=%u kind=%s name=%s dir=%s bytes=%llu shape=%s op=%s "
	     "status=%d%s%s%s "
	     "tid=%u call_ns=%lld dur=%u", l->correlation, l->queue, kinds[l->kind],
	     name_of(l->name), directions[l->direction], (unsigned long long)l->bytes, shape,
	     name_of(l->op_name), l->status, l->flags & TFT_CMD_BLOCKING ? " blocking" : "",
	     l->flags & TFT_CMD_PINNED ? " pinned" : "", l->flags & TFT_CMD_MANY ? " many" : "",
	     l->tid, (long long)l->call_ns, l->call_dur_ns);
}

void rt_emit_run(struct tft_run *r)
{
	char shape[160];

	write_shape(shape, sizeof(shape), r->kind == TFT_KIND_KERNEL ? r->shape : 0);
	line("run corr=%u queue=%u kind=%s name=%s dir=%s bytes=%llu op=%s status=%d%s b=%llu "
	     "e=%llu%s%s",
	     r->correlation, r->queue, kinds[r->kind], name_of(r->name), directions[r->direction],
	     (unsigned long long)r->bytes, name_of(r->op_name), r->status,
	     r->flags & TFT_CMD_NOTIMES ? " notimes" : "", (unsigned long long)r->start_ticks,
	     (unsigned long long)r->end_ticks, r->shape ? " shape=" : "", r->shape ? shape : "");
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

/* Allocations are not batched here. */
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
	line("wait fn=%s queue=%u corr=%u result=%d start=%lld dur=%lld%s%s", name_of(w->name),
	     w->queue, w->correlation, w->result, (long long)w->start_ns, (long long)w->dur_ns,
	     w->op_name ? " who=" : "", w->op_name ? name_of(w->op_name) : "");
}

void rt_emit_compile(struct tft_compile *c)
{
	line("compile what='%s' options='%s' result=%d log='%.200s' dur=%lld", c->what, c->options,
	     c->result, c->log, (long long)c->dur_ns);
}

void rt_emit_flow(struct tft_flow *f)
{
	static const char *const phases[TFT_FLOW_COUNT] = { "sent", "received", "encoded",
	"decoded",
						      "made" };

	line("flow name='%s' key=%llx bytes=%llu op=%llx dur=%lld %s", name_of(f->name),
	     (unsigned long long)f->key, (unsigned long long)f->bytes, (unsigned long long)f->op,
	     (long long)f->dur_ns, f->phase < TFT_FLOW_COUNT ? phases[f->phase] : "?");
}

void rt_emit_node(const struct tft_node *n)
{
	line("node id=%u graph='%s' name='%s' type='%s' inputs='%s' attributes='%s' line=%u "
	     "origin=%u",
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
	line("pool tid=%u closures=%llu with_ops=%llu timed=%llu wait=%lld longest=%lld "
	     "busy=%lld%s",
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

void rt_emit_taken(const struct tft_taken *t)
{
	line("taken at_ns=%lld taken=%u", (long long)t->at_ns, t->taken);
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
