/* SPDX-License-Identifier: MIT */
/* Python functions that are traced into graphs, and graphs that XLA compiles. */
#include <stdio.h>
#include <string.h>

#include "probes/tensorflow/probe.h"
#include "probes/tensorflow/traceme.h"

#define TEXT_BYTES 256

static void send(const char *what, const char *options, int64_t start_ns, int64_t end_ns)
{
	struct tft_compile c = {
		.start_ns = start_ns, .dur_ns = end_ns - start_ns,
		.what = what, .options = options, .log = "",
	};

	rt_emit_compile(&c);
}

/* Cuts off a prefix of the whole name, or of a name within it. */
static bool cut(const char **text, size_t *length, const char *prefix)
{
	size_t n = strlen(prefix);

	if (*length < n || memcmp(*text, prefix, n))
		return false;
	*text += n;
	*length -= n;
	return true;
}

/* The module in a name: of a function "jstep" in
 * "a_inference_jstep_12__XlaMustCompile_true_config_proto_...", or of a cluster in
 * "cluster_3__XlaCompiledKernel_...". */
static void module_label(char *buf, size_t size, const char *name, size_t length)
{
	const char *xla = memmem(name, length, "__Xla", 5);
	bool function;

	if (xla)
		length = (size_t)(xla - name);
	function = cut(&name, &length, "a_inference_") || cut(&name, &length, "__inference_");
	while (function && length && name[length - 1] >= '0' && name[length - 1] <= '9')
		length--;
	if (function && length && name[length - 1] == '_')
		length--;
	snprintf(buf, size, "XLA %.*s%s", (int)(length < size ? length : size), name,
		 function ? "()" : "");
}

void tf_xla_traced(const struct traceme *t)
{
	char what[TEXT_BYTES], options[TEXT_BYTES];
	const char *name;
	size_t length;

	if (!traceme_value(t, "name", &name, &length) &&
	    !traceme_value(t, "module", &name, &length))
		return;
	module_label(what, sizeof(what), name, length);
	snprintf(options, sizeof(options), "%.*s",
		 (int)(t->name_length < TEXT_BYTES ? t->name_length : TEXT_BYTES), t->name);
	send(what, options, t->start_ns, t->end_ns);
}

/* The tracing itself, within the call that needed it; it ended just before that call's event. */
static _Thread_local int64_t building_ns, built_ns;

void tf_building_traced(const struct traceme *t)
{
	building_ns = t->start_ns;
	built_ns = t->end_ns;
}

/* "step#tf_function_call=traced-nonXla,tracing_count=2#", or notTraced-... */
void tf_function_traced(const struct traceme *t, const char *call, size_t length)
{
	bool inside = building_ns >= t->start_ns && built_ns <= t->end_ns;
	char what[TEXT_BYTES], options[64];
	int64_t count = 0;

	if (!cut(&call, &length, "traced-"))
		return;
	traceme_number(t, "tracing_count", &count);
	snprintf(what, sizeof(what), "trace %.*s()",
		 (int)(t->name_length < TEXT_BYTES ? t->name_length : TEXT_BYTES), t->name);
	snprintf(options, sizeof(options), "trace %lld%s", (long long)count,
		 length == 3 && !memcmp(call, "xla", 3) ? ", for XLA" : "");
	send(what, options, inside ? building_ns : t->start_ns, inside ? built_ns : t->end_ns);
}
