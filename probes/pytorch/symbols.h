/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's functions that the preloaded library interposes; probes/start/interpose.h says how.
 * torch/_C.so is a stub whose PyInit__C calls initModule() of libtorch_python.so through its PLT.
 * At that moment all of PyTorch's libraries are loaded and initialised, no op has run, and the
 * calling thread holds no lock of the loader. That call loads the probe.
 */
#ifndef PROBES_PYTORCH_SYMBOLS_H
#define PROBES_PYTORCH_SYMBOLS_H

#include "probes/start/interpose.h"

#define TFT_PYTORCH_ENV "TFTOP_PYTORCH"

#define TFT_PYTORCH_REPORT "_ZN3c1027reportMemoryUsageToProfilerEPv"

/* X(id, symbol, flags) */
#define TFT_PYTORCH_FUNCTIONS(X) \
	/* PyObject *(void) */ \
	X(INIT, "initModule", TFT_TRIGGER_OWN) \
	/* void *(bytes), void (block): memory of tensors on the processor */ \
	X(ALLOC_CPU, "_ZN3c109alloc_cpuEm", 0) \
	X(FREE_CPU, "_ZN3c108free_cpuEPv", 0) \
	/* void (block, +-bytes, allocated, reserved, device), called for each block of other
	 * devices, and of the processor when the program asks for it; 2.x and 1.x */ \
	X(MEMORY, TFT_PYTORCH_REPORT "lmmNS_6DeviceE", 0) \
	X(MEMORY_1, TFT_PYTORCH_REPORT "lllNS_6DeviceE", 0) \
	/* int (level): what oneDNN reports about itself */ \
	X(ONEDNN, "_ZN5torch7verbose19_mkldnn_set_verboseEi", 0)

enum tft_pytorch_function {
#define X(id, symbol, flags) TFT_PYTORCH_##id,
	TFT_PYTORCH_FUNCTIONS(X)
#undef X
	TFT_PYTORCH_COUNT
};

#endif
