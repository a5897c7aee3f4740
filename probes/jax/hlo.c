/* SPDX-License-Identifier: MIT */
#include "probes/jax/hlo.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/python/known.h"
#include "probes/runtime/runtime.h"

#define ITEMS_MAX (1u << 20)	/* of each list */
#define TEXT_BYTES 512

/* Fields of the messages, by their numbers. */
enum { PROGRAM_MODULE = 1 };
enum { MODULE_NAME = 1, MODULE_COMPUTATIONS = 3, MODULE_FRAMES = 17 };
enum { COMPUTATION_INSTRUCTIONS = 2, COMPUTATION_ID = 5 };
enum {
	INSTRUCTION_NAME = 1, INSTRUCTION_OPCODE = 2, INSTRUCTION_METADATA = 7,
	INSTRUCTION_CALLED = 38,
};
enum { METADATA_FILE = 3, METADATA_LINE = 4, METADATA_FRAME = 15 };
/* Of StackFrameIndexProto, lists whose items are numbered from 1. */
enum frame_list { LIST_FILES = 1, LIST_FUNCTIONS, LIST_LOCATIONS, LIST_FRAMES, LISTS };
enum { LOCATION_FILE = 1, LOCATION_FUNCTION = 2, LOCATION_LINE = 3 };
enum { FRAME_LOCATION = 1, FRAME_PARENT = 2 };

struct hlo_list {
	struct pb *items;
	uint32_t n;
};

/* What is read from one module, in one piece of memory. */
struct hlo_module {
	struct pb message, frames;
	uint32_t name;
	struct hlo_list list[LISTS];
	uint32_t *sources;		/* rt_source() of each frame */
	/* computations that are part of another's instruction; a table of hashes, 0: unused */
	uint64_t *inner;
	uint32_t inner_size;		/* a power of two */
	uint32_t inner_n, computations;	/* entries in use, at most as many as computations */
	void *memory;
	size_t bytes;
};

static struct pb part(struct pb message, uint32_t number)
{
	struct pb_field f;

	while (pb_next(&message, &f))
		if (pb_bytes(&f, number))
			return f.bytes;
	return (struct pb){ 0 };
}

static uint64_t number_in(struct pb message, uint32_t number)
{
	struct pb_field f;

	while (pb_next(&message, &f))
		if (pb_is(&f, number))
			return f.value;
	return 0;
}

static bool is_text(struct pb text, const char *wanted)
{
	return pb_left(&text) == strlen(wanted) && !memcmp(text.at, wanted, pb_left(&text));
}

/* ---- memory ---- */

/* Counts what the module contains, and makes room for that. */
static bool hlo_room(struct hlo_module *m)
{
	struct pb walk = m->frames;
	struct pb_field f;
	uint32_t n[LISTS] = { 0 }, items = 0;
	char *at;

	while (pb_next(&walk, &f))
		if (f.type == PB_BYTES && f.number && f.number < LISTS)
			n[f.number]++;
	walk = m->message;
	while (pb_next(&walk, &f))
		m->computations += pb_bytes(&f, MODULE_COMPUTATIONS);
	for (int i = LIST_FILES; i < LISTS; i++) {
		if (n[i] > ITEMS_MAX)
			return false;
		items += n[i];
	}
	if (m->computations > ITEMS_MAX)
		return false;
	/* never more than half full, so that a search ends soon */
	for (m->inner_size = 16; m->inner_size <= 2 * m->computations;)
		m->inner_size *= 2;
	m->bytes = items * sizeof(struct pb) + m->inner_size * sizeof(*m->inner) +
		(n[LIST_FRAMES] + 1) * sizeof(*m->sources);
	m->memory = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->memory == MAP_FAILED)
		return false;
	m->inner = m->memory;
	at = (char *)(m->inner + m->inner_size);
	for (int i = LIST_FILES; i < LISTS; i++) {
		m->list[i].items = (struct pb *)at;
		at += n[i] * sizeof(struct pb);
	}
	m->sources = (uint32_t *)at;
	return true;
}

/* ---- frames ---- */

static struct pb item(const struct hlo_list *list, uint64_t number)
{
	return number && number <= list->n ? list->items[number - 1] : (struct pb){ 0 };
}

/* The line of a frame, or that of the frame that called it, if it is a library's. A caller has a
 * smaller number. */
static uint32_t source_of_frame(const struct hlo_module *m, uint32_t number)
{
	struct pb frame = item(&m->list[LIST_FRAMES], number);
	struct pb location = item(&m->list[LIST_LOCATIONS], number_in(frame, FRAME_LOCATION));
	uint64_t parent = number_in(frame, FRAME_PARENT);
	struct tft_frame where = { 0 };
	char text[TEXT_BYTES];

	where.parent = parent < number ? m->sources[parent] : 0;
	pb_text(text, sizeof(text), item(&m->list[LIST_FILES], number_in(location, LOCATION_FILE)));
	where.line = (uint32_t)number_in(location, LOCATION_LINE);
	if (!*text || !where.line || py_is_library(text))
		return where.parent;
	where.file = rt_name(TFT_NAME_SOURCE, text);
	pb_text(text, sizeof(text), item(&m->list[LIST_FUNCTIONS],
					 number_in(location, LOCATION_FUNCTION)));
	where.function = rt_name(TFT_NAME_SOURCE, text);
	return rt_source(&where);
}

static void read_frames(struct hlo_module *m)
{
	struct pb walk = m->frames;
	struct pb_field f;

	while (pb_next(&walk, &f))
		if (f.type == PB_BYTES && f.number && f.number < LISTS)
			m->list[f.number].items[m->list[f.number].n++] = f.bytes;
	for (uint32_t i = 1; i <= m->list[LIST_FRAMES].n; i++)
		m->sources[i] = source_of_frame(m, i);
}

/* XLA had files and lines in the instructions themselves before it had frames. */
static uint32_t source_of_metadata(const struct hlo_module *m, struct pb metadata)
{
	uint64_t number = number_in(metadata, METADATA_FRAME);
	struct tft_frame where = { .line = (uint32_t)number_in(metadata, METADATA_LINE) };
	char text[TEXT_BYTES];

	if (number)
		return number <= m->list[LIST_FRAMES].n ? m->sources[number] : 0;
	pb_text(text, sizeof(text), part(metadata, METADATA_FILE));
	if (!*text || !where.line || py_is_library(text))
		return 0;
	where.file = rt_name(TFT_NAME_SOURCE, text);
	return rt_source(&where);
}

/* ---- instructions ---- */

static bool inner_at(const struct hlo_module *m, uint64_t id, uint32_t *at)
{
	*at = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32) & (m->inner_size - 1);
	while (m->inner[*at]) {
		if (m->inner[*at] == id + 1)
			return true;
		*at = (*at + 1) & (m->inner_size - 1);
	}
	return false;
}

static void inner_add(struct hlo_module *m, uint64_t id)
{
	uint32_t at;

	/* more are called than there are: that module is damaged */
	if (inner_at(m, id, &at) || m->inner_n >= m->computations || id == UINT64_MAX)
		return;
	m->inner[at] = id + 1;
	m->inner_n++;
}

/* Whether XLA runs the instructions of the computations that such an instruction calls. */
static bool runs_called(struct pb opcode)
{
	return is_text(opcode, "while") || is_text(opcode, "conditional") ||
	       is_text(opcode, "call") || is_text(opcode, "async-start");
}

static bool runs_nothing(struct pb opcode)
{
	return is_text(opcode, "parameter") || is_text(opcode, "constant") ||
	       is_text(opcode, "tuple") || is_text(opcode, "get-tuple-element") ||
	       is_text(opcode, "bitcast");
}

static void read_called(struct hlo_module *m, struct pb instruction)
{
	struct pb_field f;
	uint64_t id;

	if (runs_called(part(instruction, INSTRUCTION_OPCODE)))
		return;
	while (pb_next(&instruction, &f)) {
		if (pb_is(&f, INSTRUCTION_CALLED))
			inner_add(m, f.value);
		else if (pb_bytes(&f, INSTRUCTION_CALLED))
			while (pb_varint(&f.bytes, &id))
				inner_add(m, id);
	}
}

/* A kernel is named after its instruction, without what a symbol cannot contain. */
static void hlo_define(const struct hlo_module *m, struct pb name, uint32_t source)
{
	char text[TEXT_BYTES];
	bool other = false;

	pb_text(text, sizeof(text), name);
	rt_line_define(m->name, rt_name(TFT_NAME_OP, text), source);
	for (char *c = text; *c; c++) {
		other |= *c == '.' || *c == '-';
		if (*c == '.' || *c == '-')
			*c = '_';
	}
	if (other)
		rt_line_define(m->name, rt_name(TFT_NAME_OP, text), source);
}

static void read_instruction(struct hlo_module *m, struct pb instruction)
{
	uint32_t source;

	if (runs_nothing(part(instruction, INSTRUCTION_OPCODE)))
		return;
	source = source_of_metadata(m, part(instruction, INSTRUCTION_METADATA));
	if (source)
		hlo_define(m, part(instruction, INSTRUCTION_NAME), source);
}

/* Calls `each` for the instructions of all computations, or of those that are not inner ones. */
static void each_instruction(struct hlo_module *m, bool all,
			     void (*each)(struct hlo_module *, struct pb))
{
	struct pb walk = m->message;
	struct pb_field f, g;
	uint32_t at;

	while (pb_next(&walk, &f)) {
		if (!pb_bytes(&f, MODULE_COMPUTATIONS) ||
		    (!all && inner_at(m, number_in(f.bytes, COMPUTATION_ID), &at)))
			continue;
		while (pb_next(&f.bytes, &g))
			if (pb_bytes(&g, COMPUTATION_INSTRUCTIONS))
				each(m, g.bytes);
	}
}

bool hlo_read(struct pb program)
{
	struct hlo_module m = { .message = part(program, PROGRAM_MODULE) };
	char text[TEXT_BYTES];

	pb_text(text, sizeof(text), part(m.message, MODULE_NAME));
	m.frames = part(m.message, MODULE_FRAMES);
	if (!*text || !hlo_room(&m))
		return false;
	m.name = rt_name(TFT_NAME_OP, text);
	read_frames(&m);
	each_instruction(&m, true, read_called);
	each_instruction(&m, false, read_instruction);
	munmap(m.memory, m.bytes);
	return true;
}
