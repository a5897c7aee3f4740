/* SPDX-License-Identifier: MIT */
/* Metadata with fewer, wider integers says the same of the bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/session/decode/ctf_pack.h"
#include "tests/unit/test.h"

#define HEAD "/* CTF 1.8 */\ntrace {\n\tbyte_order = le;\n};\n"
#define U32 "integer { size = 32; align = 8; signed = 0; encoding = none; base = 10; } "

static char *pack(const char *text)
{
	size_t size = 0;
	char *packed = ctf_pack(text, strlen(text), &size);

	if (packed)
		CHECK_INT(size, strlen(packed));
	return packed;
}

static void check_packed(const char *text, const char *want)
{
	char *packed = pack(text);

	CHECK(packed);
	CHECK_STR(packed, want);
	free(packed);
}

TEST(ctf_pack_joins_small_integers)
{
	check_packed(HEAD "stream {\n\tevent.context := struct {\n"
		     "\t\tinteger { size = 32; align = 8; signed = true; } _vpid;\n"
		     "\t\tinteger { size = 32; align = 8; signed = true; } _vtid;\n\t};\n};\n"
		     "event {\n\tname = \"tftop:ev_x\";\n\tfields := struct {\n"
		     "\t\t" U32 "_seq; /* } */\n\t\t" U32 "_op_name;\n"
		     "\t\tinteger { size = 64; align = 8; signed = 1; } _call_ns;\n"
		     "\t\tinteger { size = 16; align = 8; signed = 1; } _status;\n"
		     "\t\tinteger { size = 8; align = 8; } _how;\n"
		     "\t\tstring { encoding = UTF8; } _text;\n"
		     "\t\t" U32 "_dims[3];\n\t\t" U32 "_one;\n\t} align(8);\n};\n",
		     HEAD "stream {\n\tevent.context := struct {\n"
		     "\t\tinteger { size = 64; align = 8; } _s32_vpid__s32_vtid;\n\t};\n};\n"
		     "event {\n\tname = \"tftop:ev_x\";\n\tfields := struct {\n"
		     "\t\tinteger { size = 64; align = 8; } _u32_seq__u32_op_name;\n"
		     "\t\tinteger { size = 64; align = 8; signed = 1; } _call_ns;\n"
		     "\t\tinteger { size = 24; align = 8; } _s16_status__u8_how;\n"
		     "\t\tstring { encoding = UTF8; } _text;\n"
		     "\t\t" U32 "_dims[3];\n\t\t" U32 "_one;\n\t} align(8);\n};\n");
}

/* What is not ours, or not plain, stays word by word. */
TEST(ctf_pack_leaves_others_alone)
{
	static const char *const members[] = {
		U32 "_a; " U32 "__x_length; " U32 "_x[ __x_length ];",
		U32 "_a; enum : integer { size = 8; } { A, B } _tag; variant <_tag> { " U32
		    "A; } _v;",
		"integer { size = 5; align = 1; } _a; integer { size = 27; align = 1; } _b;",
		"integer { size = 32; align = 32; } _a; integer { size = 32; align = 32; } _b;",
		"integer { size = 32; align = 8; map = clock.c.value; } _a; " U32 "_b;",
		"integer { size = 4294967328; align = 8; } _a; " U32 "_b;",
		U32 "_a__b; " U32 "_c; " U32 "d;",
		U32 "_a; " U32 "_b",
		U32 "_a; struct { " U32 "_b; } _c;",
		"integer { size = 32",
		"string {",
		"",
		U32 "_a;",
	};
	char text[2048];

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		char *packed;

		snprintf(text, sizeof(text),
			 HEAD "event { name = \"tftop:x\"; fields := struct { %s };"
			      " };\n",
			 members[i]);
		packed = pack(text);
		CHECK(packed);
		/* A structure that is read to its end is written anew, but the same. */
		CHECK(!strstr(packed, "_u32") && !strstr(packed, "_u8"));
		free(packed);
	}
	snprintf(text, sizeof(text), "%s",
		 HEAD "event { name = \"other:x\"; fields := struct { " U32 "_a; " U32
		      "_b; }; };\n// event.context := struct { " U32 "_a; " U32 "_b; }\n");
	check_packed(text, text);
	CHECK(!pack("/* CTF 1.8 */\ntrace { byte_order = be; };\n"));
	CHECK(!pack("/* CTF 1.8 */\ntrace { };\n"));
	CHECK(!pack(HEAD
		    "event { fields := struct { variant <stream.event.context._vpid> v; }; };\n"));
}

/* ---- any structure ---- */

#define FIELDS 24u

struct bits {
	unsigned int at, bits;
	bool is_signed;
};

/* Where a field is, by the packed text: its members stand on lines of their own. */
static bool find(const char *text, const char *field, struct bits *found)
{
	unsigned int at = 0, bits, length;
	char name[256];

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		struct ctf_part part;
		const char *end = strchr(text, '}');

		if (sscanf(text, " integer { size = %u; align", &bits) != 1)
			continue;
		if (!end || sscanf(end, "} _%255[a-z0-9_]%n", name, (int *)&length) != 1)
			return false;
		if (!strcmp(name, field)) {
			const char *is_signed = strstr(text, "signed = 1");

			*found = (struct bits){ at, bits, is_signed && is_signed < end };
			return true;
		}
		if (ctf_pack_find(name, field, &part)) {
			*found = (struct bits){ at + part.shift, part.bits, part.is_signed };
			return part.shift + part.bits <= bits;
		}
		at += bits;
	}
	return false;
}

/* Makes a structure's text, with where its fields are. */
static size_t make(char *text, size_t size, struct bits fields[FIELDS])
{
	static const unsigned int sizes[] = { 8, 16, 24, 32, 64 };
	size_t n = 1 + test_random() % FIELDS, used;
	unsigned int at = 0;

	used = (size_t)snprintf(text, size,
				HEAD "event { name = \"tftop:x\";\nfields := struct {\n");
	for (size_t i = 0; i < n; i++) {
		fields[i] = (struct bits){ at, sizes[test_random() % 5], test_random() % 2 };
		used += (size_t)snprintf(
			text + used, size - used,
			"integer { size = %u; align = 8; signed = %d; } _f%zu_x;\n", fields[i].bits,
			fields[i].is_signed, i);
		at += fields[i].bits;
	}
	snprintf(text + used, size - used, "};\n};\n");
	return n;
}

TEST(ctf_pack_any_structure)
{
	for (int run = 0; run < 500; run++) {
		struct bits want[FIELDS], got;
		char text[8192], name[16], *packed;
		size_t n = make(text, sizeof(text), want);
		unsigned int wide = 0;
		int members = 0;

		packed = pack(text);
		CHECK(packed);
		for (size_t i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "f%zu_x", i);
			CHECK(find(packed, name, &got));
			CHECK(got.at == want[i].at && got.bits == want[i].bits &&
			      got.is_signed == want[i].is_signed);
			/* As few as one after the other can be. */
			if (!i || wide + want[i].bits > 64) {
				members++;
				wide = 0;
			}
			wide += want[i].bits;
		}
		for (const char *at = packed; (at = strstr(at, "integer {")); at++)
			members--;
		CHECK_INT(members, 0);
		free(packed);
	}
}
