/* SPDX-License-Identifier: MIT */
#include "tests/unit/python_said.h"

#define WORDS 96

/* struct _Py_DebugOffsets, as read from these builds (x86-64), behind the mark and the version. */
static const struct {
	unsigned long version;
	uint64_t words[WORDS];
} builds[] = {
	{ PYTHON_3_13, {
	0, 283320, 608, 632, 194968, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16, 7752, 0, 7768,
	7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70, 208, 112, 120, 128,
	136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24, 16, 48, 32, 40,
	24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200,
	} },
	{ PYTHON_3_14, {
	0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16, 7784, 0,
	7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 74, 64, 0,
	216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 416, 24, 88, 168, 40, 32, 16,
	40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40,
	264, 192, 160, 24, 72, 67, 0, 8, 24, 304, 8076, 0, 4, 512,
	} },
};

struct py_said python_said(const unsigned long *version, char runtime[PY_RUNTIME_BYTES])
{
	struct py_said said = { .version = version };

	for (size_t i = 0; runtime && i < sizeof(builds) / sizeof(builds[0]); i++) {
		if (builds[i].version != *version)
			continue;
		memset(runtime, 0, PY_RUNTIME_BYTES);
		memcpy(runtime, "xdebugpy", 8);
		memcpy(runtime + 8, version, 8);
		memcpy(runtime + 16, builds[i].words, sizeof(builds[i].words));
		said.runtime = runtime;
		said.runtime_bytes = PY_RUNTIME_BYTES;
		said.runtime_size = py_word(runtime, 24);
	}
	return said;
}

const struct py_layout *python_layout(unsigned long version)
{
	static struct py_layout layouts[16];
	static size_t n;
	char runtime[PY_RUNTIME_BYTES];
	struct py_said said = python_said(&version, runtime);

	for (size_t i = 0; i < n; i++)
		if (layouts[i].version == version >> 16)
			return &layouts[i];
	return n < 16 && py_layout_here(&layouts[n], &said) ? &layouts[n++] : NULL;
}
