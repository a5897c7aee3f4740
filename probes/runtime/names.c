/* SPDX-License-Identifier: MIT */
/*
 * Interning: bytes -> id, for names, launch shapes and lines of source.
 *
 * Readers walk an open-addressing table of entry pointers without a lock. A
 * writer inserts under the lock and publishes the pointer with a release
 * store; a table that is half full is replaced by one of twice the size, and
 * the old one stays mapped because a reader may still be in it (all old ones
 * together are smaller than the newest). Entries are linked in the order of
 * their ids, for the dump.
 */
#include <string.h>

#include "probes/runtime/hash.h"
#include "probes/runtime/internal.h"

#define NAMES_MAX (1u << 20)
#define SHAPES_MAX (1u << 16)
#define SOURCES_MAX (1u << 18)
#define ARENA_BYTES (256u << 10)
#define ARENAS_MAX 256u		/* 64 MiB of text; long names count as several */
#define FIRST_SLOTS 1024u

struct name_entry {
	_Atomic(struct name_entry *) next;	/* in the order of ids */
	uint64_t hash;
	uint32_t id, bytes;
	uint8_t kind;
	_Alignas(8) char data[];	/* bytes of key, then a NUL */
};

struct name_slots {
	uint32_t mask;
	_Atomic(struct name_entry *) at[];
};

struct name_table {
	pthread_mutex_t lock;
	_Atomic(struct name_slots *) slots;
	_Atomic(struct name_entry *) first;
	struct name_entry *last;
	uint32_t count, max;
	bool fork_held;
	char *arena;
	size_t left;
	uint32_t arenas;
};

static struct name_table names = { .lock = PTHREAD_MUTEX_INITIALIZER, .max = NAMES_MAX };
static struct name_table shapes = { .lock = PTHREAD_MUTEX_INITIALIZER, .max = SHAPES_MAX };
static struct name_table sources = { .lock = PTHREAD_MUTEX_INITIALIZER, .max = SOURCES_MAX };

static struct name_entry *rt_table_find(struct name_slots *s, uint64_t hash, uint8_t kind,
					const void *key, uint32_t bytes)
{
	if (!s)
		return NULL;
	for (uint32_t i = (uint32_t)hash & s->mask;; i = (i + 1) & s->mask) {
		struct name_entry *e = GET_ACQ(s->at[i]);

		if (!e)
			return NULL;
		if (e->hash == hash && e->bytes == bytes && e->kind == kind &&
		    !memcmp(e->data, key, bytes))
			return e;
	}
}

static void put(struct name_slots *s, struct name_entry *e)
{
	uint32_t i = (uint32_t)e->hash & s->mask;

	while (GET(s->at[i]))
		i = (i + 1) & s->mask;
	SET_REL(s->at[i], e);
}

/* A table with room for one more; NULL when memory is short. */
static struct name_slots *rt_table_grown(struct name_table *t)
{
	struct name_slots *old = GET(t->slots), *s;
	uint32_t n = old ? old->mask + 1 : 0;

	if (old && t->count < n / 2)
		return old;
	n = n ? n * 2 : FIRST_SLOTS;
	s = rt_pages(sizeof(*s) + (size_t)n * sizeof(s->at[0]));
	if (!s)
		return NULL;
	s->mask = n - 1;
	for (struct name_entry *e = GET(t->first); e; e = GET(e->next))
		put(s, e);
	SET_REL(t->slots, s);
	return s;
}

static struct name_entry *entry_new(struct name_table *t, size_t bytes)
{
	size_t need = (sizeof(struct name_entry) + bytes + 1 + 15) & ~(size_t)15;
	struct name_entry *e;

	if (t->left < need) {
		t->arena = t->arenas < ARENAS_MAX ? rt_pages(ARENA_BYTES) : NULL;
		t->left = t->arena ? ARENA_BYTES : 0;
		if (!t->arena)
			return NULL;
		t->arenas++;
	}
	e = (struct name_entry *)(void *)t->arena;
	t->arena += need;
	t->left -= need;
	return e;
}

static struct name_entry *rt_table_insert(struct name_table *t, uint64_t hash, uint8_t kind,
					  const void *key, uint32_t bytes)
{
	struct name_slots *s;
	struct name_entry *e;

	if (t->count >= t->max || !(s = rt_table_grown(t)) || !(e = entry_new(t, bytes))) {
		rt_dropped(1);
		return NULL;
	}
	e->hash = hash;
	e->kind = kind;
	e->bytes = bytes;
	memcpy(e->data, key, bytes);
	e->data[bytes] = '\0';
	e->id = ++t->count;
	if (t->last)
		SET_REL(t->last->next, e);
	else
		SET_REL(t->first, e);
	t->last = e;
	put(s, e);
	return e;
}

/* The id of a key; 0: it cannot be kept. *fresh is set for a new one. */
static struct name_entry *rt_table_intern(struct name_table *t, uint8_t kind, const void *key,
					  uint32_t bytes, bool *fresh)
{
	uint64_t hash = rt_hash_bytes(key, bytes, kind);
	struct name_entry *e = rt_table_find(GET_ACQ(t->slots), hash, kind, key, bytes);

	*fresh = false;
	if (e || !rt_lock(&t->lock))
		return e;
	e = rt_table_find(GET(t->slots), hash, kind, key, bytes);
	if (!e) {
		e = rt_table_insert(t, hash, kind, key, bytes);
		*fresh = e != NULL;
	}
	rt_unlock(&t->lock);
	return e;
}

static void send_name(const struct name_entry *e)
{
	struct tft_name r = { .id = e->id, .kind = e->kind, .text = e->data };

	rt_emit_name(&r);
}

static void send_shape(const struct name_entry *e)
{
	struct tft_shape r;

	memcpy(&r, e->data, sizeof(r));
	r.id = e->id;
	rt_emit_shape(&r);
}

static void send_source(const struct name_entry *e)
{
	struct tft_frame r;

	memcpy(&r, e->data, sizeof(r));
	r.id = e->id;
	rt_emit_frame(&r);
}

/* Length of text cut to TFT_TEXT_MAX, not inside a UTF-8 sequence. */
static uint32_t text_bytes(const char *text)
{
	size_t n = strnlen(text, TFT_TEXT_MAX);

	if (n == TFT_TEXT_MAX && text[n]) {
		size_t cut = n;

		while (cut && n - cut < 3 && ((unsigned char)text[cut] & 0xc0) == 0x80)
			cut--;
		if (((unsigned char)text[cut] & 0xc0) != 0x80)
			n = cut;
	}
	return (uint32_t)n;
}

uint32_t rt_name(enum tft_name_kind kind, const char *text)
{
	struct name_entry *e;
	bool fresh;

	if (!text)
		return 0;
	e = rt_table_intern(&names, (uint8_t)kind, text, text_bytes(text), &fresh);
	if (fresh)
		send_name(e);
	return e ? e->id : 0;
}

uint32_t rt_shape(const struct tft_shape *shape)
{
	struct tft_shape key;
	struct name_entry *e;
	bool fresh;

	if (!shape)
		return 0;
	memset(&key, 0, sizeof(key));
	key.dims = shape->dims;
	for (uint32_t i = 0; i < 3 && i < shape->dims; i++) {
		key.global[i] = shape->global[i];
		key.local[i] = shape->local[i];
	}
	key.text = shape->text;
	key.flop = shape->flop;
	key.registers = shape->registers;
	key.shared_static = shape->shared_static;
	key.shared_dynamic = shape->shared_dynamic;
	e = rt_table_intern(&shapes, 0, &key, sizeof(key), &fresh);
	if (fresh)
		send_shape(e);
	return e ? e->id : 0;
}

uint32_t rt_source(const struct tft_frame *frame)
{
	struct tft_frame key = { 0 };
	struct name_entry *e;
	bool fresh;

	if (!frame)
		return 0;
	key.parent = frame->parent;
	key.file = frame->file;
	key.function = frame->function;
	key.line = frame->line;
	e = rt_table_intern(&sources, 0, &key, sizeof(key), &fresh);
	if (fresh)
		send_source(e);
	return e ? e->id : 0;
}

static const struct name_entry *by_id(struct name_table *t, uint32_t id)
{
	struct name_entry *e = id ? GET_ACQ(t->first) : NULL;

	while (e && e->id != id)
		e = GET_ACQ(e->next);
	return e;
}

const char *rt_name_text(uint32_t id)
{
	const struct name_entry *e = by_id(&names, id);

	return e ? e->data : "";
}

bool rt_shape_of(uint32_t id, struct tft_shape *out)
{
	const struct name_entry *e = by_id(&shapes, id);

	if (e)
		memcpy(out, e->data, sizeof(*out));
	return e != NULL;
}

void rt_names_dump(void)
{
	for (struct name_entry *e = GET_ACQ(names.first); e; e = GET_ACQ(e->next))
		send_name(e);
	for (struct name_entry *e = GET_ACQ(shapes.first); e; e = GET_ACQ(e->next))
		send_shape(e);
	for (struct name_entry *e = GET_ACQ(sources.first); e; e = GET_ACQ(e->next))
		send_source(e);
}

void rt_names_fork(enum rt_fork stage)
{
	rt_fork_lock(&names.lock, &names.fork_held, stage);
	rt_fork_lock(&shapes.lock, &shapes.fork_held, stage);
	rt_fork_lock(&sources.lock, &sources.fork_held, stage);
}
