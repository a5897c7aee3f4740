/* SPDX-License-Identifier: MIT */
/* See instruction.h. */
#include <string.h>

#include "probes/imports/instruction.h"

/* What follows an opcode, one letter for each: . nothing, m ModRM, b, w and z an immediate of 1, 2
 * and 4 bytes (z: 2 with the prefix 66), B and Z ModRM and such an immediate, j and J a distance of
 * 1 and 4 bytes, p a prefix; ? unknown or not in 64-bit mode, * read by the code below. */
static const char one_byte[] =
	"mmmmbz??mmmmbz?*" "mmmmbz??mmmmbz??" "mmmmbzp?mmmmbzp?" "mmmmbzp?mmmmbzp?"
	"****************" "................" "??*mppppzZbB...." "jjjjjjjjjjjjjjjj"
	"BZ?Bmmmmmmmmmmm*" "..........?....." "****....bz......" "bbbbbbbb********"
	"BBw.**BZ*.w..b?." "mmmm???.mmmmmmmm" "jjjjbbbbJJ?j...." "p.pp..**......mm";
static const char two_bytes[] =
	"mmmm?.....?.?m.B" "mmmmmmmmmmmmmmmm" "mmmm????mmmmmmmm" "......?.*?*?????"
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.????mmmm"
	"JJJJJJJJJJJJJJJJ" "mmmmmmmmmmmmmmmm" "...mBm??...mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm";

struct code_reader {
	const uint8_t *at, *end;
	bool narrow, wide, short_address;	/* prefixes 66, REX.W, 67 */
	bool failed, has_modrm;
	uint8_t rex, modrm;
};

static uint8_t next_byte(struct code_reader *r)
{
	if (r->at < r->end)
		return *r->at++;
	r->failed = true;
	return 0;
}

static void skip(struct code_reader *r, size_t bytes)
{
	if (bytes <= (size_t)(r->end - r->at))
		r->at += bytes;
	else
		r->failed = true;
}

static int32_t read_distance(struct code_reader *r, size_t bytes)
{
	int32_t wide = 0;

	if (bytes > (size_t)(r->end - r->at))
		r->failed = true;
	else if (bytes == 1)
		wide = (int8_t)*r->at;
	else
		memcpy(&wide, r->at, sizeof(wide));
	skip(r, bytes);
	return wide;
}

/* Returns the ModRM byte. */
static uint8_t skip_operand(struct code_reader *r)
{
	uint8_t modrm = next_byte(r), mod = modrm >> 6, base = modrm & 7;

	r->has_modrm = true;
	r->modrm = modrm;
	if (mod == 3)
		return modrm;
	if (base == 4)
		base = next_byte(r) & 7;	/* SIB */
	else if (base == 5 && mod == 0)
		mod = 2;			/* relative to rip */
	if (base == 5 && mod == 0)
		mod = 2;			/* SIB without a base */
	skip(r, mod == 1 ? 1 : mod == 2 ? 4 : 0);
	return modrm;
}

static void skip_tail(struct code_reader *r, char tail)
{
	static const char immediates[] = "bwzBZ";
	static const uint8_t sizes[] = { 1, 2, 4, 1, 4 };
	const char *i = strchr(immediates, tail);

	if (tail == 'm' || tail == 'B' || tail == 'Z')
		skip_operand(r);
	if (i && *i)
		skip(r, sizes[i - immediates] == 4 && r->narrow && !r->wide ?
			2 : sizes[i - immediates]);
	if (tail == '?' || tail == '*' || tail == 'p')
		r->failed = true;
}

/* VEX and EVEX: the maps are those of the legacy opcodes, with a ModRM byte nearly always. */
static void skip_vector(struct code_reader *r, unsigned map)
{
	uint8_t opcode = next_byte(r);

	if (map == 1 && opcode == 0x77)
		return;				/* vzeroall, vzeroupper */
	if (map == 0 || map == 4 || map > 6)
		r->failed = true;
	skip_operand(r);
	if (map == 3 || (map == 1 && two_bytes[opcode] == 'B'))
		skip(r, 1);
}

static void read_two_bytes(struct code_reader *r, struct instruction *i)
{
	uint8_t opcode = next_byte(r);
	char tail = two_bytes[opcode];

	if (opcode == 0x38) {
		next_byte(r);
		tail = 'm';
	} else if (opcode == 0x3a) {
		next_byte(r);
		tail = 'B';
	} else if (tail == 'J') {
		/* with 66 processors disagree about the size of the distance */
		r->failed |= r->narrow && !r->wide;
		i->jumps = true;
		i->distance = read_distance(r, 4);
		return;
	}
	skip_tail(r, tail);
}

static void read_special(struct code_reader *r, struct instruction *i, uint8_t opcode)
{
	uint8_t modrm, map;

	if (opcode == 0x0f) {
		read_two_bytes(r, i);
	} else if (opcode == 0x62) {		/* EVEX */
		map = next_byte(r) & 7;
		skip(r, 2);
		skip_vector(r, map);
	} else if (opcode == 0x8f) {		/* pop; XOP is of old processors */
		modrm = skip_operand(r);
		r->failed |= (modrm >> 3 & 7) != 0;
	} else if (opcode >= 0xa0 && opcode <= 0xa3) {
		skip(r, r->short_address ? 4 : 8);
	} else if (opcode >= 0xb8 && opcode <= 0xbf) {
		skip(r, r->wide ? 8 : r->narrow ? 2 : 4);
	} else if (opcode == 0xc4) {
		map = next_byte(r) & 0x1f;
		skip(r, 1);
		skip_vector(r, map);
	} else if (opcode == 0xc5) {
		skip(r, 1);
		skip_vector(r, 1);
	} else if (opcode == 0xc8) {
		skip(r, 3);			/* enter */
	} else if (opcode == 0xf6 || opcode == 0xf7) {
		modrm = skip_operand(r);
		if ((modrm >> 3 & 7) < 2)	/* test */
			skip(r, opcode == 0xf6 ? 1 : r->narrow && !r->wide ? 2 : 4);
	} else {
		r->failed = true;		/* REX before a prefix */
	}
}

static uint8_t skip_prefixes(struct code_reader *r)
{
	uint8_t byte = next_byte(r);

	while (one_byte[byte] == 'p' && !r->failed) {
		r->narrow |= byte == 0x66;
		r->short_address |= byte == 0x67;
		byte = next_byte(r);
	}
	if ((byte & 0xf0) == 0x40) {
		r->wide = byte & 8;
		r->rex = byte;
		byte = next_byte(r);
	}
	return byte;
}

struct instruction instruction_read(const uint8_t *code, size_t bytes)
{
	struct code_reader r = { .at = code, .end = code + bytes };
	struct instruction i = { .length = 0 };
	uint8_t opcode = skip_prefixes(&r);
	char tail = one_byte[opcode];

	if (tail == 'j' || tail == 'J') {
		r.failed |= tail == 'J' && r.narrow && !r.wide;
		i.jumps = true;
		i.distance = read_distance(&r, tail == 'j' ? 1 : 4);
	} else if (tail == '*') {
		read_special(&r, &i, opcode);
	} else if (opcode == 0xff) {
		uint8_t operation = skip_operand(&r) >> 3 & 7;

		i.computed = operation == 4 || operation == 5;
	} else if (opcode == 0xc7 && r.at < r.end && *r.at == 0xf8) {
		r.failed = true;		/* xbegin: it jumps when it aborts */
	} else {
		skip_tail(&r, tail);
	}
	i.opcode = opcode;
	i.rex = r.rex;
	i.has_modrm = r.has_modrm;
	i.modrm = r.modrm;
	i.length = r.failed ? 0 : (size_t)(r.at - code);
	return i;
}
