/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "probes/host/unwind_internal.h"

#define PROGRAM_BYTES 8192u		/* a function with a longer program has no row */
#define COMMON_BYTES 512u
#define DEPTH 8u			/* of remembered rows */
#define ENTRIES 128u			/* of the index, read at once */
#define PIVOTS 8		/* entries that one read compares with an instruction */

/* Pointers in the tables: how wide they are, and what they are relative to. */
enum { PTR_ABSOLUTE = 0, PTR_UDATA4 = 3, PTR_SDATA4 = 11, PTR_SDATA8 = 12, PTR_UDATA8 = 4,
       PTR_PCREL = 0x10, PTR_DATAREL = 0x30 };

bool unwind_copy(unwind_read *read, void *to, uint64_t from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)from, bytes };

	return read(&local, &remote, 1);
}

uint64_t unwind_take(struct cursor *c, size_t bytes)
{
	uint64_t value = 0;

	if (c->bad || (size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, c->at, bytes);	/* little-endian, as the tables are */
	c->at += bytes;
	c->address += bytes;
	return value;
}

int64_t unwind_take_signed(struct cursor *c, size_t bytes)
{
	unsigned shift = (unsigned)(64 - bytes * 8);

	return (int64_t)(unwind_take(c, bytes) << shift) >> shift;
}

/* Seven bits in each byte. *bits: how many there were. */
static uint64_t take_leb(struct cursor *c, unsigned *bits, uint8_t *last)
{
	uint64_t value = 0;

	*bits = 0;
	do {
		*last = (uint8_t)unwind_take(c, 1);
		value |= *bits < 64 ? (uint64_t)(*last & 0x7f) << *bits : 0;
		*bits += 7;
	} while (*last & 0x80);
	return value;
}

uint64_t unwind_take_uleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;

	return take_leb(c, &bits, &last);
}

int64_t unwind_take_sleb(struct cursor *c)
{
	unsigned bits;
	uint8_t last;
	uint64_t value = take_leb(c, &bits, &last);

	return (int64_t)(last & 0x40 && bits < 64 ? value | ~UINT64_C(0) << bits : value);
}

static uint64_t take_pointer(struct cursor *c, uint8_t encoding)
{
	uint64_t from = encoding & 0x70, at = c->address, value;

	switch (encoding & 0x0f) {
	case PTR_UDATA4: value = unwind_take(c, 4); break;
	case PTR_SDATA4: value = (uint64_t)unwind_take_signed(c, 4); break;
	case PTR_ABSOLUTE: case PTR_UDATA8: case PTR_SDATA8: value = unwind_take(c, 8); break;
	default: c->bad = true; return 0;
	}
	if (from != PTR_PCREL && from != 0)
		c->bad = true;
	return value + (from == PTR_PCREL ? at : 0);
}

static struct cursor take_part(struct cursor *c, uint64_t bytes)
{
	struct cursor part = { .at = c->at, .address = c->address };

	if (c->bad || bytes > (size_t)(c->end - c->at)) {
		c->bad = true;
		bytes = 0;
	}
	part.end = part.at + bytes;
	part.bad = c->bad;
	c->at += bytes;
	c->address += bytes;
	return part;
}

/* ---- the index: which entry describes an instruction ---- */

/* An entry: where its function begins and where its description is, both relative to the index. */
struct index_entry { int32_t start, description; };
struct index_head { uint8_t version, table, count, entry; int32_t at; uint32_t n; };

/* Parts the n entries from number *low on with one read, and returns how many from a new *low on
 * have that of the instruction among them. 0: they cannot be read. */
static uint32_t unwind_narrow(unwind_read *read, uint64_t index, uint64_t ip, uint32_t *low,
			      uint32_t n)
{
	uint64_t first = index + sizeof(struct index_head);
	struct index_entry pivot[PIVOTS];
	struct iovec to[PIVOTS], from[PIVOTS];
	uint32_t part = n / (PIVOTS + 1), i;

	for (i = 0; i < PIVOTS; i++) {
		uint64_t at = first + (*low + (i + 1) * part) * sizeof(*pivot);

		to[i] = (struct iovec) { &pivot[i], sizeof(*pivot) };
		from[i] = (struct iovec) { (void *)(uintptr_t)at, sizeof(*pivot) };
	}
	if (!read(to, from, PIVOTS))
		return 0;
	for (i = 0; i < PIVOTS && index + (uint64_t)(int64_t)pivot[i].start <= ip; i++)
		;
	*low += i * part;
	return i < PIVOTS ? part : n - PIVOTS * part;
}

static bool find_entry(unwind_read *read, uint64_t index, uint64_t ip, uint64_t *description)
{
	struct index_entry entries[ENTRIES], *found = NULL;
	uint64_t first = index + sizeof(struct index_head);
	struct index_head head;
	uint32_t low = 0, n;

	if (!unwind_copy(read, &head, index, sizeof(head)) || head.version != 1 ||
	    (head.table & 0x0f) != PTR_SDATA4 || head.count != PTR_UDATA4 ||
	    head.entry != (PTR_DATAREL | PTR_SDATA4))
		return false;
	for (n = head.n; n > ENTRIES;)
		n = unwind_narrow(read, index, ip, &low, n);
	if (!n || !unwind_copy(read, entries, first + low * sizeof(*entries), n * sizeof(*entries)))
		return false;
	for (uint32_t i = 0; i < n && index + (uint64_t)(int64_t)entries[i].start <= ip; i++)
		found = &entries[i];
	if (found)
		*description = index + (uint64_t)(int64_t)found->description;
	return found != NULL;
}

/* ---- descriptions ---- */

/* What the descriptions of several functions have in common (CIE). */
struct common {
	uint8_t bytes[COMMON_BYTES];
	struct cursor program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointers;		/* how those of its functions are written */
	bool more, signal;		/* more: functions have more than the tables need */
};

/* The bytes of a description behind its length, at most `most`. Longer: false. */
static bool read_description(unwind_read *read, uint64_t at, uint8_t *bytes, size_t most,
			     struct cursor *out)
{
	uint32_t length;

	if (!unwind_copy(read, &length, at, sizeof(length)) || !length || length > most ||
	    !unwind_copy(read, bytes, at + sizeof(length), length))
		return false;
	*out = (struct cursor) { bytes, bytes + length, at + sizeof(length), false };
	return true;
}

/* The letters of its augmentation say what follows. */
static bool read_augmentation(struct common *common, const char *letters, struct cursor *c)
{
	struct cursor part;

	if (!*letters)
		return true;
	if (*letters++ != 'z')
		return false;
	common->more = true;
	part = take_part(c, unwind_take_uleb(c));
	for (; *letters; letters++) {
		if (*letters == 'R')
			common->pointers = (uint8_t)unwind_take(&part, 1);
		else if (*letters == 'P')
			take_pointer(&part, (uint8_t)unwind_take(&part, 1) & 0x0f);
		else if (*letters == 'L')
			unwind_take(&part, 1);
		else if (*letters == 'S')
			common->signal = true;
		else
			return false;
	}
	return !part.bad;
}

static bool read_common(unwind_read *read, uint64_t at, struct common *common)
{
	const char *letters;
	struct cursor c;
	uint64_t address;
	uint8_t version;

	*common = (struct common) { .pointers = PTR_ABSOLUTE };
	if (!read_description(read, at, common->bytes, sizeof(common->bytes), &c) ||
	    unwind_take(&c, 4) != 0)
		return false;
	version = (uint8_t)unwind_take(&c, 1);
	letters = (const char *)c.at;
	while (unwind_take(&c, 1))
		;
	if (c.bad || (version != 1 && version != 3))
		return false;
	common->code_align = unwind_take_uleb(&c);
	common->data_align = unwind_take_sleb(&c);
	address = version == 1 ? unwind_take(&c, 1) : unwind_take_uleb(&c);
	if (address != UNWIND_IP || !read_augmentation(common, letters, &c))
		return false;
	common->program = c;
	return !c.bad;
}

/* ---- programs: from the function's first instruction to the one that is asked for ---- */

struct program {
	const struct common *common;
	struct unwind_row *row, first;	/* first: what the common part said */
	struct unwind_row kept[DEPTH];
	uint32_t n_kept;
	uint64_t at, ip;		/* the instruction of which the row is; the one sought */
	uint64_t from;			/* the row is of those from there on */
	bool bad;
};

static struct unwind_rule rule_of(struct program *p, enum unwind_how how, int64_t value)
{
	p->bad |= value != (int32_t)value;
	return (struct unwind_rule) { .how = (uint8_t)how, .value = (int32_t)value };
}

static void set_rule(struct program *p, uint64_t number, enum unwind_how how, int64_t value)
{
	/* other registers are of no use to find a caller */
	if (number < UNWIND_REGISTERS)
		p->row->of[number] = rule_of(p, how, value);
}

static struct unwind_rule unwind_take_expression(struct program *p, struct cursor *c,
						 enum unwind_how how)
{
	struct cursor part = take_part(c, unwind_take_uleb(c));
	struct unwind_rule rule = rule_of(p, how, (int64_t)(part.address - p->row->index));
	size_t bytes = (size_t)(part.end - part.at);

	p->bad |= bytes > EXPRESSION_BYTES;
	rule.bytes = (uint16_t)bytes;
	return rule;
}

static void set_frame(struct program *p, uint64_t number, int64_t offset)
{
	p->row->frame = rule_of(p, HOW_IS, offset);
	p->row->frame_register = number < UNWIND_REGISTERS ? (uint16_t)number : UNWIND_REGISTERS;
}

/* Instructions about where the frame is. false: it is none of them. */
static bool run_frame(struct program *p, struct cursor *c, uint8_t code)
{
	int64_t align = p->common->data_align;
	struct unwind_row *row = p->row;
	uint64_t number;

	switch (code) {
	case 0x0c:			/* def_cfa */
		number = unwind_take_uleb(c);
		set_frame(p, number, (int64_t)unwind_take_uleb(c));
		return true;
	case 0x0d:			/* def_cfa_register */
		set_frame(p, unwind_take_uleb(c), row->frame.value);
		return true;
	case 0x0e:			/* def_cfa_offset */
		set_frame(p, row->frame_register, (int64_t)unwind_take_uleb(c));
		return true;
	case 0x0f:			/* def_cfa_expression */
		row->frame = unwind_take_expression(p, c, HOW_IS_EXPRESSION);
		return true;
	case 0x12:			/* def_cfa_sf */
		number = unwind_take_uleb(c);
		set_frame(p, number, unwind_take_sleb(c) * align);
		return true;
	case 0x13:			/* def_cfa_offset_sf */
		set_frame(p, row->frame_register, unwind_take_sleb(c) * align);
		return true;
	default:
		return false;
	}
}

static void run_expression(struct program *p, struct cursor *c, enum unwind_how how)
{
	uint64_t number = unwind_take_uleb(c);
	struct unwind_rule rule = unwind_take_expression(p, c, how);

	if (number < UNWIND_REGISTERS)
		p->row->of[number] = rule;
}

static void restore(struct program *p, uint64_t number)
{
	if (number < UNWIND_REGISTERS)
		p->row->of[number] = p->first.of[number];
}

static void keep(struct program *p)
{
	if (p->n_kept < DEPTH)
		p->kept[p->n_kept++] = *p->row;
	else
		p->bad = true;
}

static void unwind_take_back(struct program *p)
{
	if (p->n_kept)
		*p->row = p->kept[--p->n_kept];
	else
		p->bad = true;
}

/* Instructions about one register. false: it is none of them. */
static bool run_register(struct program *p, struct cursor *c, uint8_t code)
{
	int64_t align = p->common->data_align;
	uint64_t number;

	if (code == 0x0a || code == 0x0b) {
		if (code == 0x0a)
			keep(p);
		else
			unwind_take_back(p);
		return true;
	}
	if (code == 0x10 || code == 0x16) {
		run_expression(p, c, code == 0x10 ? HOW_AT_EXPRESSION : HOW_IS_EXPRESSION);
		return true;
	}
	if ((code < 0x05 || code > 0x09) && code != 0x11 && code != 0x14 && code != 0x15)
		return false;
	number = unwind_take_uleb(c);
	switch (code) {
	case 0x05: set_rule(p, number, HOW_AT, (int64_t)unwind_take_uleb(c) * align); break;
	case 0x06: restore(p, number); break;
	case 0x07: set_rule(p, number, HOW_UNDEFINED, 0); break;
	case 0x08: set_rule(p, number, HOW_SAME, 0); break;
	case 0x09: set_rule(p, number, HOW_REGISTER, (int64_t)unwind_take_uleb(c)); break;
	case 0x11: set_rule(p, number, HOW_AT, unwind_take_sleb(c) * align); break;
	case 0x14: set_rule(p, number, HOW_IS, (int64_t)unwind_take_uleb(c) * align); break;
	case 0x15: set_rule(p, number, HOW_IS, unwind_take_sleb(c) * align); break;
	}
	return true;
}

/* Instructions that lead to a later instruction of the function. false: it is none of them. */
static bool run_advance(struct program *p, struct cursor *c, uint8_t code)
{
	uint64_t by;

	switch (code) {
	case 0x01: p->at = take_pointer(c, p->common->pointers); return true;
	case 0x02: by = unwind_take(c, 1); break;
	case 0x03: by = unwind_take(c, 2); break;
	case 0x04: by = unwind_take(c, 4); break;
	default: return false;
	}
	p->at += by * p->common->code_align;
	return true;
}

/* Runs until the instruction that is sought. false: it is damaged, or has unknown parts. */
static bool run_program(struct program *p, struct cursor *c)
{
	while (c->at < c->end && p->at <= p->ip && !p->bad && !c->bad) {
		uint8_t code = (uint8_t)unwind_take(c, 1), low = code & 0x3f;

		p->from = p->at;
		if (code >> 6 == 1)
			p->at += low * p->common->code_align;
		else if (code >> 6 == 2)
			set_rule(p, low, HOW_AT,
				 (int64_t)unwind_take_uleb(c) * p->common->data_align);
		else if (code >> 6 == 3)
			restore(p, low);
		else if (code == 0x2e)	/* GNU_args_size: of no use here */
			unwind_take_uleb(c);
		else if (code && !run_advance(p, c, code) && !run_frame(p, c, code) &&
			 !run_register(p, c, code))
			p->bad = true;
	}
	return !p->bad && !c->bad;
}

bool unwind_find(unwind_read *read, uint64_t index, uint64_t ip, struct unwind_row *row)
{
	struct program p = { .row = row, .ip = ip };
	uint8_t bytes[PROGRAM_BYTES];
	struct common common;
	uint64_t description, start, length, back;
	struct cursor c;

	if (!find_entry(read, index, ip, &description) ||
	    !read_description(read, description, bytes, sizeof(bytes), &c))
		return false;
	back = unwind_take(&c, 4);
	if (!back || !read_common(read, description + 4 - back, &common))
		return false;
	start = take_pointer(&c, common.pointers);
	length = take_pointer(&c, common.pointers & 0x0f);
	if (c.bad || ip - start >= length)
		return false;
	if (common.more)
		take_part(&c, unwind_take_uleb(&c));
	*row = (struct unwind_row) {
		.index = index, .frame.how = HOW_UNDEFINED, .signal = common.signal,
		.start = start, .end = start + length,
	};
	p.common = &common;
	if (!run_program(&p, &common.program))
		return false;
	p.first = *row;
	p.at = p.from = start;
	if (!run_program(&p, &c))
		return false;
	row->from = p.from;
	row->to = p.at > ip && p.at < row->end ? p.at : row->end;
	return true;
}
