/* SPDX-License-Identifier: MIT */
/* A recursive-descent reader of JSON with a bounded depth. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/utf8.h"
#include "model/base/util.h"
#include "tui/base/json_read.h"

#define DEPTH_MAX 64

struct in {
	const char *at, *end;
	int depth;
};

static struct json_node *json_read_value(struct in *in);

static void skip_blanks(struct in *in)
{
	while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' ||
				    *in->at == '\r'))
		in->at++;
}

static bool take(struct in *in, char c)
{
	skip_blanks(in);
	if (in->at >= in->end || *in->at != c)
		return false;
	in->at++;
	return true;
}

static bool take_word(struct in *in, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length))
		return false;
	in->at += length;
	return true;
}

/* ---- strings ---- */

static bool read_hex4(struct in *in, unsigned int *out)
{
	unsigned int value = 0;

	if (in->end - in->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		unsigned char c = (unsigned char)*in->at++;

		if (!isxdigit(c))
			return false;
		value = value * 16 + (unsigned int)(isdigit(c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	*out = value;
	return true;
}

static void add_code_point(struct strbuf *buf, unsigned int code)
{
	char bytes[4];
	int length = utf8_encode(code, bytes);

	for (int i = 0; i < length; i++)
		strbuf_addc(buf, bytes[i]);
}

/* Reads what follows "\u"; a lone surrogate becomes U+FFFD. */
static bool read_unicode(struct in *in, struct strbuf *buf)
{
	unsigned int code, low;

	if (!read_hex4(in, &code))
		return false;
	if (code >= 0xd800 && code < 0xdc00 && in->end - in->at >= 6 && in->at[0] == '\\' &&
	    in->at[1] == 'u') {
		struct in ahead = *in;

		ahead.at += 2;
		if (!read_hex4(&ahead, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000) {
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
			in->at = ahead.at;
		}
	}
	if (code >= 0xd800 && code < 0xe000)
		code = 0xfffd;
	add_code_point(buf, code);
	return true;
}

static bool read_escape(struct in *in, struct strbuf *buf)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c;

	if (in->at >= in->end)
		return false;
	c = *in->at++;
	if (c == 'u')
		return read_unicode(in, buf);
	found = c ? strchr(from, c) : NULL;
	if (!found)
		return false;
	strbuf_addc(buf, to[found - from]);
	return true;
}

/* Returns NULL if there is no string here. */
static char *read_text(struct in *in)
{
	struct strbuf buf;

	if (!take(in, '"'))
		return NULL;
	strbuf_init(&buf);
	while (in->at < in->end && *in->at != '"') {
		unsigned char c = (unsigned char)*in->at++;

		if (c < 0x20 || (c == '\\' && !read_escape(in, &buf))) {
			strbuf_release(&buf);
			return NULL;
		}
		if (c != '\\')
			strbuf_addc(&buf, (char)c);
	}
	if (in->at >= in->end) {
		strbuf_release(&buf);
		return NULL;
	}
	in->at++;
	return strbuf_detach(&buf);
}

/* ---- the rest ---- */

static struct json_node *new_node(enum json_type type)
{
	struct json_node *node = xcalloc(1, sizeof(*node));

	node->type = type;
	return node;
}

static size_t digits(const char *at, const char *end)
{
	size_t n = 0;

	while (at + n < end && isdigit((unsigned char)at[n]))
		n++;
	return n;
}

static struct json_node *json_read_number(struct in *in)
{
	const char *begin = in->at, *at = in->at;
	bool integer = true;
	struct json_node *node;
	char text[32];
	size_t n;

	if (at < in->end && *at == '-')
		at++;
	n = digits(at, in->end);
	if (!n || (*at == '0' && n > 1))
		return NULL;
	at += n;
	if (at < in->end && *at == '.') {
		integer = false;
		at++;
		n = digits(at, in->end);
		if (!n)
			return NULL;
		at += n;
	}
	if (at < in->end && (*at == 'e' || *at == 'E')) {
		integer = false;
		at++;
		if (at < in->end && (*at == '+' || *at == '-'))
			at++;
		n = digits(at, in->end);
		if (!n)
			return NULL;
		at += n;
	}
	in->at = at;
	n = (size_t)(at - begin);
	node = new_node(JSON_OTHER);
	if (!integer || n >= sizeof(text))
		return node;
	memcpy(text, begin, n);
	text[n] = '\0';
	errno = 0;
	node->number = strtoll(text, NULL, 10);
	if (!errno)
		node->type = JSON_INT;
	return node;
}

/* Reads the members or elements up to the closing bracket; the opening one has been read. */
static struct json_node *read_members(struct in *in, enum json_type type)
{
	char close = type == JSON_OBJECT ? '}' : ']';
	struct json_node *node = new_node(type), **tail = &node->child;

	if (take(in, close))
		return node;
	do {
		char *key = NULL;

		if (type == JSON_OBJECT) {
			key = read_text(in);
			if (!key || !take(in, ':')) {
				free(key);
				break;
			}
		}
		*tail = json_read_value(in);
		if (!*tail) {
			free(key);
			break;
		}
		(*tail)->key = key;
		tail = &(*tail)->next;
		if (take(in, close))
			return node;
	} while (take(in, ','));
	json_free(node);
	return NULL;
}

static struct json_node *json_read_value(struct in *in)
{
	struct json_node *node = NULL;

	skip_blanks(in);
	if (in->at >= in->end || in->depth >= DEPTH_MAX)
		return NULL;
	in->depth++;
	if (take(in, '{')) {
		node = read_members(in, JSON_OBJECT);
	} else if (take(in, '[')) {
		node = read_members(in, JSON_ARRAY);
	} else if (*in->at == '"') {
		char *text = read_text(in);

		if (text) {
			node = new_node(JSON_TEXT);
			node->text = text;
		}
	} else if (take_word(in, "null")) {
		node = new_node(JSON_NULL);
	} else if (take_word(in, "true")) {
		node = new_node(JSON_BOOL);
		node->number = 1;
	} else if (take_word(in, "false")) {
		node = new_node(JSON_BOOL);
	} else {
		node = json_read_number(in);
	}
	in->depth--;
	return node;
}

struct json_node *json_read(const char *text, size_t size)
{
	struct in in = { .at = text, .end = text + size };
	struct json_node *node = json_read_value(&in);

	skip_blanks(&in);
	if (in.at == in.end)
		return node;
	json_free(node);
	return NULL;
}

void json_free(struct json_node *node)
{
	while (node) {
		struct json_node *next = node->next;

		json_free(node->child);
		free(node->key);
		free(node->text);
		free(node);
		node = next;
	}
}

const struct json_node *json_get(const struct json_node *node, const char *key)
{
	if (!node || node->type != JSON_OBJECT)
		return NULL;
	for (node = node->child; node; node = node->next)
		if (!strcmp(node->key, key))
			return node;
	return NULL;
}

int64_t json_get_int(const struct json_node *node, const char *key, int64_t otherwise)
{
	const struct json_node *found = json_get(node, key);

	return found && (found->type == JSON_INT || found->type == JSON_BOOL) ? found->number :
										otherwise;
}

const char *json_get_text(const struct json_node *node, const char *key, const char *otherwise)
{
	const struct json_node *found = json_get(node, key);

	return found && found->type == JSON_TEXT ? found->text : otherwise;
}
