/* SPDX-License-Identifier: MIT */
/*
 * Parses lines such as "onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,
 * forward_training,<memory>,<attributes>,<algorithm>,mb32_ic1oc16_...,0.55", as oneDNN 3 writes
 * them. "v1" is missing in older versions, and with time stamps there is one before "primitive".
 * The last two fields are the problem and the time.
 */
#include <string.h>

#include "probes/onednn/onednn.h"

#define FIELDS_MAX 32
#define LONGEST_NS INT64_C(86400000000000)	/* a day */

static bool is(struct onednn_part p, const char *text)
{
	return (size_t)p.length == strlen(text) && !memcmp(p.text, text, (size_t)p.length);
}

/* Reads milliseconds such as "0.00390625" or "3.9e-05"; -1: it is not such a number. */
static int64_t line_milliseconds(struct onednn_part p)
{
	int64_t digits = 0, scale = 1000000;
	int exponent = 0, i = 0, sign = 1;
	bool any = false;

	for (; i < p.length && p.text[i] >= '0' && p.text[i] <= '9' && digits < 1000000000; i++) {
		digits = digits * 10 + (p.text[i] - '0');
		any = true;
	}
	digits *= scale;
	if (i < p.length && p.text[i] == '.')
		for (i++; i < p.length && p.text[i] >= '0' && p.text[i] <= '9'; i++) {
			scale /= 10;
			digits += (p.text[i] - '0') * scale;
			any = true;
		}
	if (i < p.length && p.text[i] == 'e') {
		i++;
		if (i < p.length && (p.text[i] == '-' || p.text[i] == '+'))
			sign = p.text[i++] == '-' ? -1 : 1;
		for (; i < p.length && p.text[i] >= '0' && p.text[i] <= '9' && exponent < 100; i++)
			exponent = exponent * 10 + (p.text[i] - '0');
	}
	if (!any || i != p.length || (sign > 0 && exponent > 6))
		return -1;
	for (; exponent > 0 && digits <= LONGEST_NS; exponent--)
		digits = sign < 0 ? digits / 10 : digits * 10;
	return digits <= LONGEST_NS ? digits : -1;
}

static int line_split(const char *text, struct onednn_part *parts)
{
	size_t length = strcspn(text, "\n");
	const char *end = text + length;
	int n = 0;

	while (n < FIELDS_MAX) {
		const char *comma = memchr(text, ',', (size_t)(end - text));

		if (!comma)
			comma = end;
		parts[n].text = text;
		parts[n++].length = (int)(comma - text);
		if (comma == end)
			return n;
		text = comma + 1;
	}
	return 0;
}

/* Reads engine, kind, implementation, direction ... problem. */
static bool describe(const struct onednn_part *f, int n, struct onednn_line *out)
{
	if (n < 5)
		return false;
	out->kind = f[1];
	out->implementation = f[2];
	out->direction = is(f[3], "undef") ? (struct onednn_part){ "", 0 } : f[3];
	out->shape = f[n - 1];
	return out->kind.length > 0;
}

bool onednn_parse(const char *text, struct onednn_line *out)
{
	struct onednn_part f[FIELDS_MAX];
	int n = line_split(text, f), at = 0;

	while (at < n && at < 4 && !is(f[at], "primitive"))
		at++;
	/* "primitive", "exec", the primitive, the time */
	if (at + 8 > n || !is(f[at], "primitive"))
		return false;
	out->created = is(f[at + 1], "create:cache_miss");
	if (!out->created && !is(f[at + 1], "exec"))
		return false;
	out->dur_ns = line_milliseconds(f[n - 1]);
	return describe(f + at + 2, n - at - 3, out) && out->dur_ns >= 0;
}

bool onednn_parse_primitive(const char *text, struct onednn_line *out)
{
	struct onednn_part f[FIELDS_MAX];
	int n = line_split(text, f);

	out->created = false;
	out->dur_ns = 0;
	return describe(f, n, out);
}
