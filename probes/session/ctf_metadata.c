/* SPDX-License-Identifier: MIT */
/*
 * Metadata comes as plain text or in packets of text, each with a header of 37
 * bytes (CTF 1.8, section 7.1): magic, UUID, checksum, content size, packet
 * size, compression, encryption, checksum scheme, major, minor. A crash cuts
 * it anywhere; what is whole ends with a "};" that closes a declaration.
 */
#include "probes/session/ctf_metadata.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define METADATA_MAX (64u << 20)
#define MAGIC 0x75d11d57u
#define HEADER_BYTES 37u

static const char signature[] = "/* CTF 1.8";

/* ---- packets of text ---- */

static uint32_t number32(const uint8_t *from, bool big)
{
	return big ? (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3] :
		     (uint32_t)from[3] << 24 | (uint32_t)from[2] << 16 | (uint32_t)from[1] << 8 | from[0];
}

/* Joins the packets' text; bytes of a torn packet that are there count. */
static size_t unpack(const uint8_t *data, size_t size, bool big, char *text, bool *whole)
{
	size_t at = 0, used = 0;

	*whole = true;
	while (at < size) {
		size_t content, packet, room = size - at;

		if (room < HEADER_BYTES || number32(data + at, big) != MAGIC)
			break;
		content = number32(data + at + 24, big) / 8;
		packet = number32(data + at + 28, big) / 8;
		if (content < HEADER_BYTES || packet < content)
			break;
		if (content > room)
			content = room;
		memcpy(text + used, data + at + HEADER_BYTES, content - HEADER_BYTES);
		used += content - HEADER_BYTES;
		if (packet > room)
			break;
		at += packet;
	}
	*whole = at == size;
	return used;
}

/* ---- whole declarations ---- */

struct lexer {
	enum { CODE, COMMENT, LINE, STRING } in;
	unsigned int depth;
};

/* Takes in one character and the one after it (0: none). */
static void step(struct lexer *lexer, char c, char next)
{
	switch (lexer->in) {
	case CODE:
		if (c == '/' && next == '*')
			lexer->in = COMMENT;
		else if (c == '/' && next == '/')
			lexer->in = LINE;
		else if (c == '"')
			lexer->in = STRING;
		else if (c == '{')
			lexer->depth++;
		else if (c == '}' && lexer->depth)
			lexer->depth--;
		break;
	case COMMENT:
		if (c == '*' && next == '/')
			lexer->in = CODE;
		break;
	case LINE:
		if (c == '\n')
			lexer->in = CODE;
		break;
	case STRING:
		if (c == '"')
			lexer->in = CODE;
		break;
	}
}

/* Length up to the end of the last declaration that is whole. */
static size_t whole_length(const char *text, size_t size)
{
	struct lexer lexer = { CODE, 0 };
	size_t whole = 0;

	for (size_t i = 0; i < size; i++) {
		char next = i + 1 < size ? text[i + 1] : '\0';

		if (lexer.in == STRING && text[i] == '\\' && next) {
			i++;
			continue;
		}
		step(&lexer, text[i], next);
		if (lexer.in == CODE && !lexer.depth && text[i] == ';')
			whole = i + 1;
	}
	return whole;
}

static bool only_spaces(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isspace((unsigned char)text[i]))
			return false;
	return true;
}

char *ctf_metadata_text(const uint8_t *data, size_t size, size_t *text_size, uint64_t *cut)
{
	char *text = malloc(size + 1);
	size_t used, whole;
	bool complete = true;

	*cut = 0;
	if (!text)
		return NULL;
	if (size >= 4 && number32(data, false) == MAGIC) {
		used = unpack(data, size, false, text, &complete);
	} else if (size >= 4 && number32(data, true) == MAGIC) {
		used = unpack(data, size, true, text, &complete);
	} else {
		memcpy(text, data, size);
		used = size;
	}
	for (size_t i = 0; i < used; i++)
		if (!text[i])
			text[i] = ' ';
	whole = whole_length(text, used);
	if (!whole || used < sizeof(signature) - 1 ||
	    memcmp(text, signature, sizeof(signature) - 1)) {
		free(text);
		return NULL;
	}
	if (!only_spaces(text + whole, used - whole))
		*cut = used - whole;
	else if (!complete)
		*cut = 1;
	text[whole] = '\n';
	*text_size = whole + 1;
	return text;
}

/* ---- what it says ---- */

/* Text without spaces and comments, NUL-terminated; owned by the caller. */
static char *squeeze(const char *text, size_t size)
{
	struct lexer lexer = { CODE, 0 };
	char *out = malloc(size + 1);
	size_t used = 0;

	if (!out)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		char next = i + 1 < size ? text[i + 1] : '\0';
		bool before = lexer.in == CODE || lexer.in == STRING;

		step(&lexer, text[i], next);
		if (before && (lexer.in == CODE || lexer.in == STRING) &&
		    !isspace((unsigned char)text[i]))
			out[used++] = text[i];
	}
	out[used] = '\0';
	return out;
}

static bool read_uuid(const char *text, uint8_t uuid[16])
{
	const char *at = strstr(text, "trace{");
	unsigned int digits = 0;

	at = at ? strstr(at, "uuid=\"") : NULL;
	if (!at)
		return false;
	memset(uuid, 0, 16);
	for (at += 6; *at && *at != '"' && digits < 32; at++) {
		int c = tolower((unsigned char)*at);

		if (c == '-')
			continue;
		if (!isxdigit(c))
			return false;
		uuid[digits / 2] |= (uint8_t)((isdigit(c) ? c - '0' : c - 'a' + 10)
					      << (digits % 2 ? 0 : 4));
		digits++;
	}
	return digits == 32 && *at == '"';
}

/* LTTng's header and context, the fields up to the sequence number; the times'
 * type is named after the clock. */
static bool has_layout(const char *text)
{
	static const char header[] = "packet.header:=struct{uint32_tmagic;uint8_tuuid[16];"
		"uint32_tstream_id;uint64_tstream_instance_id;};";
	static const char context[] = "structpacket_context{";
	static const char sizes[] = "uint64_tcontent_size;uint64_tpacket_size;"
		"uint64_tpacket_seq_num;";
	const char *type = strstr(text, context), *at;
	size_t length;

	if (!strstr(text, header) || !type)
		return false;
	type += strlen(context);
	at = strstr(type, "timestamp_begin;");
	if (!at || strncmp(type, "uint64_", 7))
		return false;
	length = (size_t)(at - type);
	at += strlen("timestamp_begin;");
	if (strncmp(at, type, length) || strncmp(at + length, "timestamp_end;", 14))
		return false;
	return !strncmp(at + length + 14, sizes, strlen(sizes));
}

static void understand(struct ctf_trace *trace)
{
	char *text = squeeze(trace->metadata, trace->metadata_bytes);
	const char *at;

	if (!text)
		return;
	trace->big_endian = strstr(text, "byte_order=be;") != NULL;
	at = strstr(text, "clock{");
	at = at ? strstr(at, "freq=") : NULL;
	trace->frequency = at ? strtoull(at + 5, NULL, 10) : 1000000000;
	trace->known = has_layout(text) && read_uuid(text, trace->uuid);
	free(text);
}

void ctf_metadata_read(struct ctf_trace *trace)
{
	char *path = NULL;
	uint8_t *data = NULL;
	size_t size;
	FILE *in;

	if (asprintf(&path, "%s/metadata", trace->path) < 0)
		return;
	in = fopen(path, "re");
	free(path);
	if (!in)
		return;
	data = malloc(METADATA_MAX);
	size = data ? fread(data, 1, METADATA_MAX, in) : 0;
	fclose(in);
	if (data)
		trace->metadata = ctf_metadata_text(data, size, &trace->metadata_bytes,
						    &trace->metadata_cut);
	free(data);
	if (trace->metadata)
		understand(trace);
}
