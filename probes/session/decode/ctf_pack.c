/* SPDX-License-Identifier: MIT */
#include "probes/session/decode/ctf_pack.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 8u
#define WIDE 64u			/* bits of the widest integer */

/* ---- tokens ---- */

struct ctf_word {
	const char *at;
	size_t length;			/* 0: the end of the text */
};

static const char *skip_blank(const char *at)
{
	for (;;) {
		const char *end;

		if (isspace((unsigned char)*at)) {
			at++;
		} else if (at[0] == '/' && at[1] == '*') {
			end = strstr(at + 2, "*/");
			at = end ? end + 2 : at + strlen(at);
		} else if (at[0] == '/' && at[1] == '/') {
			at += strcspn(at, "\n");
		} else {
			return at;
		}
	}
}

/* The token at or after `at`: a name with its dots, a number, a string, or a single character. */
static struct ctf_word word_at(const char *at)
{
	struct ctf_word word = { skip_blank(at), 0 };
	const char *end = word.at;

	if (!*end)
		return word;
	if (*end == '"') {
		for (end++; *end && *end != '"'; end++)
			end += *end == '\\' && end[1];
		end += *end == '"';
	} else if (isalnum((unsigned char)*end) || *end == '_') {
		while (isalnum((unsigned char)*end) || *end == '_' || *end == '.')
			end++;
	} else {
		end++;
	}
	word.length = (size_t)(end - word.at);
	return word;
}

static bool is(struct ctf_word word, const char *text)
{
	return word.length == strlen(text) && !memcmp(word.at, text, word.length);
}

/* Skips the token at *at if it is `text`. */
static bool eat(const char **at, const char *text)
{
	struct ctf_word word = word_at(*at);

	if (!is(word, text))
		return false;
	*at = word.at + word.length;
	return true;
}

static struct ctf_word eat_any(const char **at)
{
	struct ctf_word word = word_at(*at);

	*at = word.at + word.length;
	return word;
}

/* ---- members ---- */

struct member {
	const char *at, *end;		/* its text, including the ';' */
	struct ctf_word name;
	unsigned int bits;		/* 0: it is not an integer that may be packed */
	bool is_signed;
};

/* Reads "size = 32; align = 8; ... }", after the '{'. */
static bool read_integer(const char **at, struct member *member)
{
	unsigned long align = 1, size = 0;

	while (!eat(at, "}")) {
		struct ctf_word key = eat_any(at), value;

		if (!eat(at, "="))
			return false;
		value = eat_any(at);
		if (is(key, "size"))
			size = strtoul(value.at, NULL, 10);
		else if (is(key, "align"))
			align = strtoul(value.at, NULL, 10);
		else if (is(key, "signed"))
			member->is_signed = is(value, "true") || is(value, "1");
		else if (!is(key, "base") && !(is(key, "encoding") && is(value, "none")) &&
			 !(is(key, "byte_order") && is(value, "le")))
			return false;
		if (!eat(at, ";"))
			return false;
	}
	if (align != 8 || !size || size % 8 || size > WIDE)
		return false;
	member->bits = (unsigned int)size;
	return true;
}

static bool read_member(const char **at, struct member *member)
{
	*member = (struct member){ .at = skip_blank(*at) };
	if (eat(at, "integer")) {
		if (!eat(at, "{") || !read_integer(at, member))
			return false;
	} else if (eat(at, "string")) {
		if (eat(at, "{") && (!eat(at, "encoding") || !eat(at, "=") ||
				     !eat_any(at).length || !eat(at, ";") || !eat(at, "}")))
			return false;
	} else {
		return false;
	}
	member->name = eat_any(at);
	if (eat(at, "[")) {
		struct ctf_word length = eat_any(at);

		/* A length that is a field's name must find that field. */
		if (!length.length || !isdigit((unsigned char)length.at[0]) || !eat(at, "]"))
			return false;
		member->bits = 0;
	}
	if (!eat(at, ";"))
		return false;
	member->end = *at;
	return member->name.length && (isalpha((unsigned char)member->name.at[0]) ||
				       member->name.at[0] == '_');
}

/* Two '_' separate the parts. */
static bool may_join(const struct member *member)
{
	const char *name = member->name.at;

	for (size_t i = 1; i + 1 < member->name.length; i++)
		if (name[i] == '_' && name[i + 1] == '_')
			return false;
	return member->bits && member->name.length > 1 && name[0] == '_' && name[1] != '_' &&
	       name[member->name.length - 1] != '_';
}

static void write_run(FILE *out, const struct member *run, size_t count)
{
	unsigned int bits = 0;

	if (count == 1)
		fprintf(out, "\n\t\t%.*s", (int)(run->end - run->at), run->at);
	if (count < 2)
		return;
	for (size_t i = 0; i < count; i++)
		bits += run[i].bits;
	fprintf(out, "\n\t\tinteger { size = %u; align = 8; } ", bits);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "_%s%c%u%.*s", i ? "_" : "", run[i].is_signed ? 's' : 'u', run[i].bits,
			(int)run[i].name.length, run[i].name.at);
	fputc(';', out);
}

/* Writes the members of a structure, from after its '{' up to its '}' at *at; false: they must stay
 * as they are, and what has been written is of no use. */
static bool write_members(FILE *out, const char **at)
{
	struct member run[PARTS_MAX + 1];
	unsigned int bits = 0;
	size_t count = 0;

	while (!is(word_at(*at), "}")) {
		struct member *member = &run[count];

		if (!read_member(at, member))
			return false;
		if (count && (!may_join(member) || bits + member->bits > WIDE)) {
			struct member next = *member;

			write_run(out, run, count);
			run[0] = next;
			count = bits = 0;
		}
		bits += run[count].bits;
		count++;
		if (!may_join(&run[count - 1])) {
			write_run(out, run, count);
			count = bits = 0;
		}
	}
	write_run(out, run, count);
	return true;
}

/* ---- the whole text ---- */

static bool suits_packing(const char *text)
{
	const char *at = strstr(text, "byte_order");
	bool little = false;

	for (; at; at = strstr(at, "byte_order")) {
		at += strlen("byte_order");
		if (!eat(&at, "=") || !eat(&at, "le"))
			return false;
		little = true;
	}
	/* A field that is used as a length or tag by its full name must stay. */
	return little && !strstr(text, "event.context.") && !strstr(text, "event.fields.");
}

/* The place after the '{' of a structure that may be packed; NULL: there is none here. */
static const char *structure_at(struct ctf_word word, bool ours)
{
	const char *at = word.at + word.length;

	if (!is(word, "event.context") && !(ours && is(word, "fields")))
		return NULL;
	return eat(&at, ":") && eat(&at, "=") && eat(&at, "struct") && eat(&at, "{") ? at : NULL;
}

/* The structure at *at with its members packed, up to its '}'. NULL: it stays as it is. */
static char *pack_structure(const char **at)
{
	const char *end = *at;
	char *members = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&members, &size);
	bool good = out && write_members(out, &end);

	good = out && !fclose(out) && good;
	if (!good) {
		free(members);
		return NULL;
	}
	*at = end;
	return members;
}

static void write_packed_text(FILE *out, const char *text)
{
	static const char provider[] = "\"tftop:";
	const char *copied = text, *at = text, *begin;
	bool ours = false;
	struct ctf_word word;
	char *members;

	while ((word = eat_any(&at)).length) {
		if (is(word, "event"))
			ours = false;
		else if (is(word, "name") && eat(&at, "="))
			ours = !strncmp(word_at(at).at, provider, strlen(provider));
		begin = structure_at(word, ours);
		if (!begin)
			continue;
		at = begin;
		members = pack_structure(&at);
		if (!members)
			continue;
		fprintf(out, "%.*s%s", (int)(begin - copied), copied, members);
		free(members);
		copied = at;
	}
	fputs(copied, out);
}

char *ctf_pack(const char *text, size_t size, size_t *packed_size)
{
	char *copy = strndup(text, size), *packed = NULL;
	FILE *out = copy && suits_packing(copy) ? open_memstream(&packed, packed_size) : NULL;
	bool bad;

	if (!out) {
		free(copy);
		return NULL;
	}
	write_packed_text(out, copy);
	bad = ferror(out);
	bad |= fclose(out) != 0;
	free(copy);
	if (!bad)
		return packed;
	free(packed);
	return NULL;
}

bool ctf_pack_find(const char *packed, const char *field, struct ctf_part *part)
{
	unsigned int shift = 0;
	const char *at = packed;

	while (*at == 'u' || *at == 's') {
		bool is_signed = *at == 's';
		const char *end;
		char *name;
		unsigned long bits = strtoul(at + 1, &name, 10);

		if (!bits || bits > WIDE || shift + bits > WIDE || *name++ != '_')
			return false;
		end = strstr(name, "__");
		if (!end)
			end = name + strlen(name);
		if ((size_t)(end - name) == strlen(field) && !memcmp(name, field, strlen(field))) {
			*part = (struct ctf_part){ shift, (unsigned int)bits, is_signed };
			return true;
		}
		shift += (unsigned int)bits;
		at = *end ? end + 2 : end;
	}
	return false;
}
