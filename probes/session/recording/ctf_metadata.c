/* SPDX-License-Identifier: MIT */
/*
 * Metadata is plain text or packets of text, each with a header of 37 bytes (CTF 1.8, section 7.1):
 * magic, UUID, checksum, content size, packet size, compression, encryption, checksum scheme,
 * major, minor. A crash may cut it anywhere; complete declarations end with "};".
 */
#include "probes/session/recording/ctf_metadata.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probes/session/decode/ctf_pack.h"

#define METADATA_MAX (64u << 20)
#define MAGIC 0x75d11d57u
#define HEADER_BYTES 37u

static const char signature[] = "/* CTF 1.8";

/* ---- packets of text ---- */

static uint32_t number32(const uint8_t *from, bool big)
{
	return big ? (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 |
			       from[3] :
		     (uint32_t)from[3] << 24 | (uint32_t)from[2] << 16 | (uint32_t)from[1] << 8 |
			       from[0];
}

/* Joins the packets' text, including what exists of a packet that was cut. */
static size_t unpack_metadata(const uint8_t *data, size_t size, bool big, char *text, bool *whole)
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

/* ---- complete declarations ---- */

struct lexer {
	enum { CODE, COMMENT, LINE, STRING } in;
	unsigned int depth;
};

/* Reads one character, given the one after it (0: none). */
static void lexer_step(struct lexer *lexer, char c, char next)
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

/* The length up to the end of the last complete declaration. */
static size_t whole_declarations(const char *text, size_t size)
{
	struct lexer lexer = { CODE, 0 };
	size_t whole = 0;

	for (size_t i = 0; i < size; i++) {
		char next = i + 1 < size ? text[i + 1] : '\0';

		if (lexer.in == STRING && text[i] == '\\' && next) {
			i++;
			continue;
		}
		lexer_step(&lexer, text[i], next);
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
		used = unpack_metadata(data, size, false, text, &complete);
	} else if (size >= 4 && number32(data, true) == MAGIC) {
		used = unpack_metadata(data, size, true, text, &complete);
	} else {
		memcpy(text, data, size);
		used = size;
	}
	for (size_t i = 0; i < used; i++)
		if (!text[i])
			text[i] = ' ';
	whole = whole_declarations(text, used);
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

/* ---- content ---- */

/* Text without spaces and comments, NUL-terminated; owned by the caller. */
static char *strip_metadata(const char *text, size_t size)
{
	struct lexer lexer = { CODE, 0 };
	char *out = malloc(size + 1);
	size_t used = 0;

	if (!out)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		char next = i + 1 < size ? text[i + 1] : '\0';
		bool before = lexer.in == CODE || lexer.in == STRING;

		lexer_step(&lexer, text[i], next);
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

/* ---- places of a packet's numbers ---- */

/* The size of an integer type in bytes; moves *at behind it. 0: it is another type. */
static unsigned int type_bytes(const char *text, const char **at)
{
	static const char alias[] = "}:=unsignedlong;";
	unsigned long bits = 0;
	const char *found;

	if (!strncmp(*at, "integer{", 8)) {
		found = strstr(*at, "size=");
		*at = strchr(*at, '}');
		if (!found || !*at || found > *at)
			return 0;
		bits = strtoul(found + 5, NULL, 10);
		++*at;
	} else if (!strncmp(*at, "uint", 4)) {
		bits = strtoul(*at + 4, NULL, 10);
		found = strstr(*at, "_t");
		if (!found || found - *at > 64)
			return 0;
		*at = found + 2;
	} else if (!strncmp(*at, "unsignedlong", 12)) {
		/* "typealias integer { size = 64; ... } := unsigned long;" */
		found = strstr(text, alias);
		while (found && found > text && *found != '{')
			found--;
		bits = found && !strncmp(found, "{size=", 6) ? strtoul(found + 6, NULL, 10) : 0;
		*at += 12;
	}
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (unsigned int)bits / 8 : 0;
}

struct wanted_field {
	const char *name;
	struct ctf_place *place;
};

/* Reads the integers of a structure, from after its '{'; adds their bytes to *used. */
static bool read_fields(const char *text, const char *at, const struct wanted_field *wanted,
			uint16_t *used)
{
	while (*at != '}') {
		unsigned int bytes = type_bytes(text, &at), count = 1;
		size_t length = at ? strcspn(at, "[;}") : 0;

		if (!bytes || !length || !at[length] || at[length] == '}' || *used > 512)
			return false;
		if (at[length] == '[')
			count = (unsigned int)strtoul(at + length + 1, NULL, 10);
		if (!count || count > 64)
			return false;
		for (const struct wanted_field *want = wanted; want->name; want++)
			if (strlen(want->name) == length && !strncmp(want->name, at, length))
				*want->place = (struct ctf_place){
					*used, (uint8_t)(bytes * count),
				};
		*used = (uint16_t)(*used + bytes * count);
		at = strchr(at, ';');
		if (!at)
			return false;
		at++;
	}
	return true;
}

/* The text behind the only packet context: LTTng writes it once, babeltrace repeats it for every
 * stream. NULL: there are different ones. */
static const char *find_context(const char *text)
{
	static const char named[] = "structpacket_context{", inlined[] = "packet.context:=struct{";
	const char *first = strstr(text, named), *other;
	size_t length;

	if (first)
		return first + strlen(named);
	first = strstr(text, inlined);
	if (!first)
		return NULL;
	/* Up to a '}' that is followed by ';' or "align(", which no integer has. */
	for (length = strlen(inlined); first[length]; length++)
		if (first[length] == '}' && (first[length + 1] == ';' ||
					     !strncmp(first + length + 1, "align(", 6)))
			break;
	for (other = first; (other = strstr(other + 1, inlined)); )
		if (strncmp(other, first, length))
			return NULL;
	return first + strlen(inlined);
}

static bool read_packet_layout(const char *text, struct ctf_layout *layout)
{
	static const char header[] = "packet.header:=struct{";
	const struct wanted_field in_header[] = {
		{ "magic", &layout->magic }, { "uuid", &layout->uuid },
		{ "stream_id", &layout->stream }, { "stream_instance_id", &layout->instance },
		{ NULL, NULL },
	};
	const struct wanted_field in_context[] = {
		{ "timestamp_begin", &layout->begin }, { "timestamp_end", &layout->end },
		{ "content_size", &layout->content }, { "packet_size", &layout->packet },
		{ NULL, NULL },
	};
	const char *at = strstr(text, header), *context = find_context(text);

	memset(layout, 0, sizeof(*layout));
	return at && context && read_fields(text, at + strlen(header), in_header, &layout->bytes) &&
	       read_fields(text, context, in_context, &layout->bytes) &&
	       layout->magic.bytes == 4 && !layout->magic.offset &&
	       layout->uuid.bytes == 16 && layout->uuid.offset == 4 && layout->stream.bytes &&
	       layout->begin.bytes == 8 && layout->end.bytes == 8 && layout->content.bytes == 8 &&
	       layout->packet.bytes == 8 && layout->bytes <= CTF_LAYOUT_MAX;
}

static void read_properties(struct ctf_trace *trace)
{
	char *text = strip_metadata(trace->metadata, trace->metadata_bytes);
	const char *at;

	if (!text)
		return;
	trace->big_endian = strstr(text, "byte_order=be;") != NULL;
	at = strstr(text, "clock{");
	at = at ? strstr(at, "freq=") : NULL;
	trace->frequency = at ? strtoull(at + 5, NULL, 10) : 1000000000;
	trace->known = read_packet_layout(text, &trace->layout) && read_uuid(text, trace->uuid);
	free(text);
}

void ctf_metadata_take(struct ctf_trace *trace, const uint8_t *data, size_t size)
{
	char *packed;
	size_t bytes;

	trace->metadata = ctf_metadata_text(data, size, &trace->metadata_bytes,
					    &trace->metadata_cut);
	if (!trace->metadata)
		return;
	read_properties(trace);
	packed = trace->known ? ctf_pack(trace->metadata, trace->metadata_bytes, &bytes) : NULL;
	if (packed) {
		free(trace->metadata);
		trace->metadata = packed;
		trace->metadata_bytes = bytes;
	}
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
	trace->metadata_error = in ? 0 : errno;
	free(path);
	if (!in)
		return;
	data = malloc(METADATA_MAX);
	size = data ? fread(data, 1, METADATA_MAX, in) : 0;
	fclose(in);
	if (data)
		ctf_metadata_take(trace, data, size);
	free(data);
}
