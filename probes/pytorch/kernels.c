/* SPDX-License-Identifier: MIT */
/*
 * oneDNN inside of PyTorch's library, where none of its names can be interposed. Its lines are
 * taken at that library's import of printf(). When the program uses
 * torch.backends.mkldnn.verbose() or torch.backends.mkldnn.flags(), these reach oneDNN through one
 * exported function, which is watched.
 */
#include <stdlib.h>

#include "probes/onednn/onednn.h"
#include "probes/pytorch/probe.h"

void torch_kernels_start(void)
{
	char value[16];
	const char *chosen = rt_env(TFT_ONEDNN_ENV, value, sizeof(value));

	if (!chosen || !*chosen)
		return;
	if (torch_lib->late) {	/* it finds out only once who wants its lines */
		torch_blind("oneDNN was in use before tftop attached: its primitives are not seen");
		return;
	}
	if (!torch_lib->original(TFT_PYTORCH_ONEDNN) || !onednn_ask_printf((void *)torch_api.add))
		torch_blind("oneDNN's primitives have kinds and no shapes: "
			    "their descriptions would be written to the program's output");
}

static void is_old(int64_t now_ns, bool last)
{
	if (onednn_is_deaf(now_ns, last))
		torch_blind("oneDNN's primitives have kinds and no shapes: it is older than 3");
}

void torch_kernels_tick(int64_t now_ns, enum tft_level level)
{
	if (onednn_tick(now_ns, level))
		torch_blind("there are many oneDNN primitives: which implementation ran on which "
			    "shapes is seen at level full only; kinds and times are seen");
	is_old(now_ns, false);
}

void torch_kernels_end(int64_t now_ns)
{
	is_old(now_ns, true);
}

int torch_onednn_verbose(int level)
{
	int (*original)(int), result;

	*(void **)&original = torch_lib->original(TFT_PYTORCH_ONEDNN);
	onednn_program_asks(level);
	result = original(level);
	onednn_program_asked(level);
	return result;
}
