/* SPDX-License-Identifier: MIT */
/* Passes graphs to the runtime's thread, which reads them here. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/graphdef.h"
#include "probes/tensorflow/probe.h"

#define QUEUE_MAX 1024u		/* a power of two */
#define QUEUE_BYTES (64u << 20)
#define WAITING_MAX 512u
/* A definition may belong to a function that runs as part of another one: it waits until there was
 * nothing new for this long. */
#define WAIT_NS 3000000000
#define WAIT_MOST_NS 60000000000
#define TICK_BYTES (96u << 10)
#define FINI_ROUNDS 24
#define PORTS_MAX 512u

/* ---- from the program's threads to the runtime's ---- */

struct read_item {
	enum tf_graph_kind kind;
	int64_t since_ns;
	struct tf_buffer *buffer;	/* owned */
	char name[TF_GRAPH_NAME];
};

static struct read_item queue[QUEUE_MAX];
static uint32_t queue_head, queue_n;
static _Atomic size_t queue_bytes;
static atomic_flag queue_busy = ATOMIC_FLAG_INIT;

static void discard(struct tf_buffer *buffer)
{
	tf_graph_delete()(buffer);
	rt_dropped(1);
}

void tf_graph_hand_over(enum tf_graph_kind kind, const char *name, struct tf_buffer *buffer)
{
	size_t bytes = buffer->length;
	bool room;

	if (!bytes) {
		tf_graph_delete()(buffer);
		return;
	}
	if (atomic_fetch_add(&queue_bytes, bytes) + bytes > QUEUE_BYTES) {
		atomic_fetch_sub(&queue_bytes, bytes);
		discard(buffer);
		return;
	}
	while (atomic_flag_test_and_set_explicit(&queue_busy, memory_order_acquire))
		;
	room = queue_n < QUEUE_MAX;
	if (room) {
		struct read_item *item = &queue[(queue_head + queue_n++) % QUEUE_MAX];

		item->kind = kind;
		item->since_ns = rt_now_ns();
		item->buffer = buffer;
		snprintf(item->name, sizeof(item->name), "%s", name ? name : "");
	}
	atomic_flag_clear_explicit(&queue_busy, memory_order_release);
	if (!room) {
		atomic_fetch_sub(&queue_bytes, bytes);
		discard(buffer);
	}
}

static bool graph_read_next(struct read_item *out)
{
	bool any;

	while (atomic_flag_test_and_set_explicit(&queue_busy, memory_order_acquire))
		;
	any = queue_n > 0;
	if (any) {
		*out = queue[queue_head];
		queue_head = (queue_head + 1) % QUEUE_MAX;
		queue_n--;
	}
	atomic_flag_clear_explicit(&queue_busy, memory_order_release);
	return any;
}

static void let_go(struct read_item *item)
{
	atomic_fetch_sub(&queue_bytes, item->buffer->length);
	tf_graph_delete()(item->buffer);
	item->buffer = NULL;
}

/* ---- on the runtime's thread ---- */

/* Definitions wait until it is known whether their nodes run as part of another graph, because most
 * functions are inlined. */
static struct read_item waiting[WAITING_MAX];
static uint32_t n_waiting;
static struct read_item reading;	/* buffer NULL: none */
static struct graphdef_walk walk;
static atomic_flag working = ATOMIC_FLAG_INIT;

static struct graphdef_node node;

static void read_ports(void)
{
	struct pb message = pb_of(reading.buffer->data, reading.buffer->length);

	for (size_t i = 0; i < PORTS_MAX && graphdef_port(message, i, &node); i++)
		if (node.name[0])
			tf_nodes_take(reading.name, &node);
}

/* Each eager op has a graph of its own: "eager Fill". */
static char eager[TF_GRAPH_NAME];

static void name_eager(struct pb graph)
{
	char type[TF_GRAPH_NAME - 8];

	graphdef_type(graph, type, sizeof(type));
	snprintf(eager, sizeof(eager), TF_GRAPH_EAGER " %s", *type ? type : "?");
}

static void read_nodes(size_t *left)
{
	struct pb message;
	size_t sent;

	while (*left && graphdef_next(&walk, &message)) {
		if (walk.begun.at && !strcmp(reading.name, TF_GRAPH_EAGER))
			name_eager(walk.begun);
		walk.begun.at = NULL;
		if (!graphdef_node(message, &node))
			continue;
		sent = tf_nodes_take(*eager ? eager : reading.name, &node) + 16;
		*left = *left > sent ? *left - sent : 0;
	}
	if (*left)
		let_go(&reading);
}

static void begin_reading(const struct read_item *item)
{
	reading = *item;
	eager[0] = '\0';
	walk = (struct graphdef_walk){
		.kind = item->kind == TAKE_FUNCTION ? GRAPHDEF_FUNCTION : GRAPHDEF_METADATA,
		.message = pb_of(item->buffer->data, item->buffer->length),
	};
	if (item->kind == TAKE_METADATA)
		tf_cover(item->name);
	else
		read_ports();
}

/* Takes a definition that has waited long enough; false: there is none. */
static bool take_waiting(int64_t until_ns)
{
	struct read_item item;

	while (n_waiting) {
		if (waiting[0].since_ns > until_ns)
			return false;
		item = waiting[0];
		memmove(waiting, waiting + 1, --n_waiting * sizeof(waiting[0]));
		if (tf_is_covered(item.name)) {
			let_go(&item);
			continue;
		}
		begin_reading(&item);
		return true;
	}
	return false;
}

/* Reads some of what waits; false: there is no more. */
static bool graph_read_work(int64_t until_ns, size_t bytes)
{
	struct read_item item;

	while (bytes) {
		if (reading.buffer) {
			read_nodes(&bytes);
			continue;
		}
		if (n_waiting == WAITING_MAX) {
			take_waiting(INT64_MAX);
			continue;
		}
		if (!graph_read_next(&item)) {
			if (!take_waiting(until_ns))
				return false;
		} else if (item.kind == TAKE_LINES) {
			tf_lines_take(item.name, item.buffer->data, item.buffer->length);
			bytes = bytes > item.buffer->length / 8 ?
				bytes - item.buffer->length / 8 : 0;
			let_go(&item);
		} else if (item.kind == TAKE_FUNCTION) {
			waiting[n_waiting++] = item;
		} else {
			begin_reading(&item);
		}
	}
	return true;
}

void tf_graph_tick(int64_t now_ns)
{
	if (!tf_graph_delete() || atomic_flag_test_and_set(&working))
		return;
	graph_read_work(now_ns - (tf_graph_rests(now_ns - WAIT_NS) ? WAIT_NS : WAIT_MOST_NS),
			TICK_BYTES);
	atomic_flag_clear(&working);
}

void tf_graph_dump(void)
{
	tf_config_dump();
	if (atomic_flag_test_and_set(&working))
		return;
	tf_nodes_dump();
	atomic_flag_clear(&working);
}

/* Sends the rest, as far as the ring can take it at once. */
void tf_graph_fini(void)
{
	struct timespec pause = { 0, 2000000 };
	int rounds = 0;

	if (!tf_graph_delete() || atomic_flag_test_and_set(&working))
		return;
	while (graph_read_work(INT64_MAX, TICK_BYTES) && ++rounds < FINI_ROUNDS)
		nanosleep(&pause, NULL);
	if (rounds == FINI_ROUNDS)
		rt_dropped(1);
}

/* The parent may have been interrupted in it. */
void tf_graph_fork_child(void)
{
	atomic_flag_clear(&queue_busy);
	tf_graph_forget_contexts();
	tf_lines_fork_child();
	atomic_flag_clear(&working);
	queue_n = n_waiting = 0;
	atomic_store(&queue_bytes, 0);
	reading.buffer = NULL;
	tf_nodes_forget();
}
