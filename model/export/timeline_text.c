/* SPDX-License-Identifier: MIT */
#ifdef HAVE_PROTOBUF_C

#include <inttypes.h>
#include <string.h>

#include "model/export/timeline_text.h"

static const struct timeline_word unknown = { "unknown", 7 };

static const char *find_last(const char *from, const char *to, const char *what)
{
	size_t length = strlen(what);

	for (const char *at = to - length; at >= from; at--)
		if (!memcmp(at, what, length))
			return at;
	return NULL;
}

/* Splits as the expression "(.*) = (.*)\((.*)\)" does: each part is as long as the later ones
 * allow, and all are on the first line. */
struct label label_of_op(const char *text)
{
	const char *end = text + strcspn(text, "\n"), *equals = end;

	while ((equals = find_last(text, equals, " = "))) {
		const char *from = equals + 3, *close = find_last(from, end, ")"), *open;

		open = close ? find_last(from, close, "(") : NULL;
		if (open)
			return (struct label) {
				{ from, (size_t)(open - from) },
				{ close > open + 1 ? open + 1 : NULL, (size_t)(close - open - 1) },
			};
		equals += 2;		/* " = = " contains " = " twice */
	}
	return (struct label) { unknown, { NULL, 0 } };
}

bool label_input(struct timeline_word *rest, struct timeline_word *input)
{
	const char *comma;

	if (!rest->text)
		return false;
	comma = memmem(rest->text, rest->length, ", ", 2);
	if (comma) {
		*input = (struct timeline_word) { rest->text, (size_t)(comma - rest->text) };
		rest->length -= input->length + 2;
		rest->text = comma + 2;
		return true;
	}
	*input = *rest;
	*rest = (struct timeline_word) { NULL, 0 };
	return true;
}

void label_of_kernel(const char *text, const char *node, struct timeline_word *name,
		     struct timeline_word *op)
{
	const char *start = strstr(text, "@@"), *end = strchr(text, '#');
	struct timeline_word all = { node, strlen(node) };
	const char *colon, *next;

	if (start && end && start + 2 < end)
		all = (struct timeline_word) { start + 2, (size_t)(end - start - 2) };
	colon = memchr(all.text, ':', all.length);
	*name = all;
	*op = unknown;
	if (!colon)
		return;
	name->length = (size_t)(colon - all.text);
	*op = (struct timeline_word) { colon + 1, all.length - name->length - 1 };
	next = memchr(op->text, ':', op->length);
	if (next)
		op->length = (size_t)(next - op->text);
}

/* ---- tensors ---- */

static const char *const types[] = {
	"INVALID", "FLOAT", "DOUBLE", "INT32", "UINT8", "INT16", "INT8", "STRING", "COMPLEX64",
	"INT64", "BOOL", "QINT8", "QUINT8", "QINT32", "BFLOAT16", "QINT16", "QUINT16", "UINT16",
	"COMPLEX128", "HALF", "RESOURCE", "VARIANT", "UINT32", "UINT64", "FLOAT8_E5M2",
	"FLOAT8_E4M3FN", "FLOAT8_E4M3FNUZ", "FLOAT8_E4M3B11FNUZ", "FLOAT8_E5M2FNUZ", "INT4",
	"UINT4", "INT2", "UINT2", "FLOAT4_E2M1FN",
};

#define N_TYPES ((int32_t)(sizeof(types) / sizeof(types[0])))

static void add_type(struct strbuf *out, int32_t type)
{
	bool is_ref = type > 100;
	int32_t of = is_ref ? type - 100 : type;

	if (of > 0 && of < N_TYPES)
		strbuf_addf(out, "dtype: DT_%s%s\n", types[of], is_ref ? "_REF" : "");
	else if (type)
		strbuf_addf(out, "dtype: %" PRId32 "\n", type);
}

/* Adds a string's characters, escaped as in text format; quotes are left out. */
static void add_escaped(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\n')
			strbuf_adds(out, "\\n");
		else if (c == '\r')
			strbuf_adds(out, "\\r");
		else if (c == '\t')
			strbuf_adds(out, "\\t");
		else if (c == '"')
			strbuf_adds(out, "\\");
		else if (c == '\\' || c == '\'')
			strbuf_addf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			strbuf_addf(out, "\\%03o", c);
		else
			strbuf_addc(out, (char)c);
	}
}

static void add_text(struct strbuf *out, const char *key, const char *text)
{
	if (!*text)
		return;
	strbuf_addf(out, "%s: ", key);
	add_escaped(out, text);
	strbuf_addc(out, '\n');
}

static void add_int(struct strbuf *out, const char *key, int64_t value)
{
	if (value)
		strbuf_addf(out, "%s: %" PRId64 "\n", key, value);
}

static void add_shape(struct strbuf *out, const Tf__TensorShape *shape)
{
	strbuf_adds(out, "shape {\n");
	for (size_t i = 0; i < shape->n_dim; i++) {
		strbuf_adds(out, "  dim {\n");
		add_int(out, "    size", shape->dim[i]->size);
		add_text(out, "    name", shape->dim[i]->name);
		strbuf_adds(out, "  }\n");
	}
	if (shape->unknown_rank)
		strbuf_adds(out, "  unknown_rank: true\n");
	strbuf_adds(out, "}\n");
}

static void add_allocation(struct strbuf *out, const Tf__AllocationDescription *a)
{
	strbuf_adds(out, "allocation_description {\n");
	add_int(out, "  requested_bytes", a->requested_bytes);
	add_int(out, "  allocated_bytes", a->allocated_bytes);
	add_text(out, "  allocator_name", a->allocator_name);
	add_int(out, "  allocation_id", a->allocation_id);
	if (a->has_single_reference)
		strbuf_adds(out, "  has_single_reference: true\n");
	if (a->ptr)
		strbuf_addf(out, "  ptr: %" PRIu64 "\n", a->ptr);
	strbuf_adds(out, "}\n");
}

void describe_tensor(struct strbuf *out, const Tf__TensorDescription *tensor)
{
	strbuf_reset(out);
	if (!tensor)
		return;
	add_type(out, tensor->dtype);
	if (tensor->shape)
		add_shape(out, tensor->shape);
	if (tensor->allocation_description)
		add_allocation(out, tensor->allocation_description);
}

#endif
