/* SPDX-License-Identifier: MIT */
/*
 * The ring of a tap. A place is taken by counting up. A writer that is late, from before the tap
 * was closed, must not write where a later reader reads: so the mark that makes a record complete
 * is the number of the opening that it belongs to.
 */
#include <string.h>

#include "probes/runtime/internal.h"
#include "probes/runtime/tap.h"

#define DEVICES 64
#define QUEUES 4096
#define TEXT 96
#define OP_TYPES 4096			/* names of ops at a time */

struct tap_record {
	_Atomic uint32_t whole;		/* number of the opening */
	struct tft_command command;
	int64_t start_ns, end_ns;
};

/* Written when a device is defined, which is rare; indexed by id. */
static struct tap_device {
	_Atomic uint32_t told;
	uint8_t gpu;
	uint32_t units, clock_mhz;
	uint64_t memory_bytes;
	char name[TEXT], vendor[TEXT];
	_Atomic int64_t offset_ns;	/* host - ticks */
	_Atomic uint32_t has_clock;
} devices[DEVICES];

static _Atomic uint32_t queue_device[QUEUES];
static _Atomic uint64_t op_types[OP_TYPES];	/* hash of the name -> name << 32 | type */
static struct tap_record *ring;		/* allocated once */
static _Atomic uint64_t next;
static uint64_t base;
static uint32_t opening;
_Atomic uint32_t rt_tap_now;

static void keep_text(char to[TEXT], const char *from)
{
	size_t n = from ? strnlen(from, TEXT - 1) : 0;

	memcpy(to, from ? from : "", n);
	to[n] = '\0';
}

void rt_tap_device(const struct tft_device *d)
{
	struct tap_device *to = &devices[d->id % DEVICES];

	if (GET_ACQ(to->told) == d->id)
		return;
	to->gpu = d->gpu;
	to->units = d->units;
	to->clock_mhz = d->clock_mhz;
	to->memory_bytes = d->memory_bytes;
	keep_text(to->name, d->name);
	keep_text(to->vendor, d->vendor);
	SET_REL(to->told, d->id);
}

void rt_tap_queue(const struct tft_queue *q)
{
	SET(queue_device[q->id % QUEUES], q->device);
}

void rt_tap_clock(const struct tft_clock *c)
{
	struct tap_device *to = &devices[c->device % DEVICES];

	SET(to->offset_ns, (int64_t)((uint64_t)c->host_ns - c->ticks));
	SET_REL(to->has_clock, 1);
}

void rt_tap_op(uint32_t name, uint32_t type)
{
	SET(op_types[name % OP_TYPES], (uint64_t)name << 32 | type);
}

static void rt_tap_set_times(struct tap_record *r)
{
	const struct tft_command *c = &r->command;
	const struct tap_device *d = &devices[GET(queue_device[c->queue % QUEUES]) % DEVICES];
	int64_t offset = GET(d->offset_ns);

	r->start_ns = (int64_t)c->start_ticks;
	r->end_ns = (int64_t)c->end_ticks;
	if (c->flags & TFT_CMD_APPROX)
		return;
	if (!GET_ACQ(d->has_clock))
		offset = (int64_t)((uint64_t)rt_now_ns() - c->end_ticks);
	r->start_ns = (int64_t)(c->start_ticks + (uint64_t)offset);
	r->end_ns = (int64_t)(c->end_ticks + (uint64_t)offset);
}

void rt_tap_add(const struct tft_command *command)
{
	uint32_t now = GET_ACQ(rt_tap_now);
	uint64_t at;
	struct tap_record *r;

	if (!now || command->status < 0 || command->end_ticks < command->start_ticks ||
	    !command->start_ticks || command->flags & (TFT_CMD_OPEN | TFT_CMD_NOTIMES))
		return;
	at = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
	if (at - base >= RT_TAP_MAX)
		return;
	r = &ring[at % RT_TAP_MAX];
	SET(r->whole, 0);
	r->command = *command;
	rt_tap_set_times(r);
	SET_REL(r->whole, now);
}

bool rt_tap_open(void)
{
	if (GET(rt_tap_now))
		return false;
	if (!ring)
		ring = rt_pages(RT_TAP_MAX * sizeof(*ring));
	if (!ring)
		return false;
	base = GET(next);
	if (!++opening)
		opening = 1;
	SET_REL(rt_tap_now, opening);
	return true;
}

void rt_tap_settle(int64_t wait_ns)
{
	rt_loop_flush(wait_ns);
}

uint32_t rt_tap_count(uint64_t *dropped)
{
	uint64_t n = GET(next) - base;

	*dropped = n > RT_TAP_MAX ? n - RT_TAP_MAX : 0;
	return n > RT_TAP_MAX ? RT_TAP_MAX : (uint32_t)n;
}

/* One thread reads; a name is looked up once. */
static const char *text_of(uint32_t id)
{
	static struct { uint32_t id; const char *text; } seen[1024];
	unsigned at = id % 1024;

	if (seen[at].id != id || !id) {
		seen[at].text = rt_name_text(id);
		seen[at].id = id;
	}
	return seen[at].text;
}

static bool rt_tap_take_record(uint32_t i, struct rt_tap_work *out)
{
	const struct tap_record *r = ring ? &ring[(base + i) % RT_TAP_MAX] : NULL;
	const struct tft_command *c = r ? &r->command : NULL;
	const struct tap_device *d;
	uint64_t type;
	struct tft_shape shape = { .dims = 0 };

	if (!r || GET_ACQ(r->whole) != opening)
		return false;
	d = &devices[GET(queue_device[c->queue % QUEUES]) % DEVICES];
	*out = (struct rt_tap_work) {
		.kind = c->kind, .direction = c->direction, .flags = c->flags,
		.queue = c->queue, .device = GET(queue_device[c->queue % QUEUES]),
		.correlation = c->correlation, .bytes = c->bytes,
		.start_ns = r->start_ns, .end_ns = r->end_ns,
		.name = text_of(c->name), .op = text_of(c->op_name),
		.device_name = "", .vendor = "", .op_type = "",
	};
	type = GET(op_types[c->op_name % OP_TYPES]);
	if (c->op_name && type >> 32 == c->op_name)
		out->op_type = text_of((uint32_t)type);
	if (c->kind == TFT_KIND_KERNEL && rt_shape_of(c->shape, &shape) && shape.dims <= 3) {
		out->dims = shape.dims;
		memcpy(out->global, shape.global, sizeof(out->global));
		memcpy(out->local, shape.local, sizeof(out->local));
	}
	if (!GET_ACQ(d->told))
		return true;
	out->gpu = d->gpu;
	out->units = d->units;
	out->clock_mhz = d->clock_mhz;
	out->memory_bytes = d->memory_bytes;
	out->device_name = d->name;
	out->vendor = d->vendor;
	return true;
}

bool rt_tap_take(uint32_t i, struct rt_tap_work *out, size_t size)
{
	struct rt_tap_work work;

	if (!rt_tap_take_record(i, &work))
		return false;
	memcpy(out, &work, size < sizeof(work) ? size : sizeof(work));
	return true;
}

void rt_tap_close(void)
{
	SET_REL(rt_tap_now, 0);
}
