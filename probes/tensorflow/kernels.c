/* SPDX-License-Identifier: MIT */
/* What runs on the CPU inside an op: oneDNN's primitives, Eigen's parallel loops, and pieces of
 * graphs that XLA compiled. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/onednn/onednn.h"
#include "probes/runtime/cpu.h"
#include "probes/tensorflow/probe.h"
#include "probes/tensorflow/traceme.h"

#define TEXT_BYTES 256

void tf_onednn_verbose(const char *text, int flag)
{
	if (onednn_line(text))
		((void (*)(const char *, int))tf_original(TFT_TF_ONEDNN_VERBOSE))(text, flag);
}

/* Releases of TensorFlow 2, which identify its oneDNN, because that does not say what it
 * supports. */
#define ONEDNN_ITT 14
#define ONEDNN_SINK 20

static int minor_version(void)
{
	const char *(*get)(void);
	int major = 0, minor = 0;

	*(void **)&get = tf_lib->find("TF_Version");
	return get && sscanf(get(), "%d.%d", &major, &minor) == 2 && major == 2 ? minor : INT_MAX;
}

void tf_kernels_start(void)
{
	char value[16];
	const char *chosen = rt_env(TFT_ONEDNN_ENV, value, sizeof(value));
	void *sink = tf_original(TFT_TF_ONEDNN_VERBOSE);
	int minor;

	if (!chosen || !*chosen)
		return;
	if (tf_lib->late) {	/* it finds out only once who wants its lines */
		tf_blind("oneDNN was in use before tftop attached: its primitives are not seen");
		return;
	}
	minor = sink ? INT_MAX : minor_version();
	if (minor < ONEDNN_ITT)
		tf_blind("oneDNN's primitives are not seen: TensorFlow reports them from 2.14 on");
	else if (minor < ONEDNN_SINK)
		tf_blind("oneDNN's primitives have kinds and no shapes, and plain matrix products "
			 "are not seen: TensorFlow reports both from 2.20 on");
	if (sink && !onednn_ask(sink))
		tf_blind("oneDNN's primitives have kinds and no shapes: "
			 "their descriptions would be written to the program's output");
}

void tf_kernels_tick(int64_t now_ns, enum tft_level level)
{
	if (onednn_tick(now_ns, level))
		tf_blind("there are many oneDNN primitives: which implementation ran on which "
			 "shapes is "
			 "seen at level full only; kinds and times are seen, but not those of "
			 "plain matrix products");
}

static void ran(enum rt_library library, const struct traceme *t, const char *name,
		const char *shape_text)
{
	struct tft_shape shape = { .text = rt_name(TFT_NAME_OTHER, shape_text) };
	struct rt_cpu_kernel kernel = {
		.name = rt_name(TFT_NAME_KERNEL, name), .shape = rt_shape(&shape),
		.start_ns = t->start_ns, .dur_ns = t->end_ns - t->start_ns,
	};

	rt_cpu_ran(library, &kernel);
}

/* "ParallelFor#cost_per_unit=52,total=36,max_parallelism=2,num_threads=2#" */
void tf_loop_traced(const struct traceme *t)
{
	int64_t total = 0, cost = 0;
	char text[TEXT_BYTES];

	traceme_number(t, "total", &total);
	traceme_number(t, "cost_per_unit", &cost);
	snprintf(text, sizeof(text), "%lld of %lld cycles", (long long)total, (long long)cost);
	ran(RT_LIBRARY_EIGEN, t, "ParallelFor", text);
}

void tf_thunk_traced(const struct traceme *t, const char *op, size_t length)
{
	char name[TEXT_BYTES], module[TEXT_BYTES] = "";
	const char *text;
	size_t n;

	snprintf(name, sizeof(name), "%.*s", (int)(length < TEXT_BYTES ? length : TEXT_BYTES), op);
	if (traceme_value(t, "hlo_module", &text, &n))
		snprintf(module, sizeof(module), "%.*s", (int)(n < TEXT_BYTES ? n : TEXT_BYTES),
			 text);
	ran(RT_LIBRARY_XLA, t, name, module);
}
