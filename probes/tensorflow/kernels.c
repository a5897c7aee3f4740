/* SPDX-License-Identifier: MIT */
/* What runs on the processor inside of an op: oneDNN's primitives. */
#include <stdlib.h>

#include "probes/onednn/onednn.h"
#include "probes/tensorflow/probe.h"

void tf_onednn_verbose(const char *text, int flag)
{
	if (onednn_line(text))
		((void (*)(const char *, int))tf_original(TFT_TF_ONEDNN_VERBOSE))(text, flag);
}

void tf_kernels_start(void)
{
	const char *chosen = getenv(TFT_ONEDNN_ENV);
	void *sink = tf_original(TFT_TF_ONEDNN_VERBOSE);

	/* up to 2.19 there is none: ITT tells kinds and times */
	if (chosen && *chosen && sink && !onednn_ask(sink))
		tf_blind("oneDNN's primitives have kinds and no shapes: "
			 "their descriptions would be written to the program's output");
}
