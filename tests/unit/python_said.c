/* SPDX-License-Identifier: MIT */
#include "tests/unit/python_said.h"

#define WORDS 109

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
	{ PYTHON_3_15, {
	0, 346568, 912, 936, 226240, 7272, 7264, 7336, 7352, 7400, 7592, 7576, 7584, 16, 7736, 0,
	7752, 7744, 7944, 0, 888, 0, 8, 16, 72, 80, 88, 96, 176, 184, 256, 32, 36, 40, 136, 288,
	0, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8,
	424, 24, 88, 168, 32, 288, 944, 888, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40,
	24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 56, 176, 112, 120, 1120, 104, 160, 24, 72,
	67, 0, 8, 24, 344, 8028, 0, 4, 512,
	} },
	{ PYTHON_3_13T, {
	1, 328384, 608, 632, 215616, 7272, 7264, 7344, 7400, 7664, 7648, 7656, 16, 7760, 0, 7784,
	7776, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70, 224, 128, 136, 144,
	152, 84, 68, 112, 120, 216, 32, 24, 432, 40, 104, 184, 48, 40, 32, 56, 40, 32, 64, 48,
	56, 40, 32, 48, 32, 40, 56, 32, 48, 80, 48, 32, 56, 248, 200,
	} },
	{ PYTHON_3_14T, {
	1, 362368, 784, 808, 246720, 7280, 7272, 7344, 7360, 7408, 7712, 7696, 7704, 16, 7808, 0,
	7832, 7824, 8024, 17628, 832, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 78, 64,
	72, 240, 128, 136, 144, 152, 84, 68, 112, 120, 232, 224, 32, 24, 432, 40, 104, 184, 56,
	48, 32, 56, 40, 32, 216, 40, 56, 48, 64, 48, 56, 40, 32, 48, 32, 40, 56, 32, 48, 80, 48,
	32, 56, 288, 192, 176, 40, 88, 83, 0, 8, 24, 304, 8108, 0, 4, 512,
	} },
};

struct py_said python_said(unsigned long *version, char runtime[PY_RUNTIME_BYTES])
{
	struct py_said said = { .version = version };
	unsigned long wanted = *version;

	*version &= ~PYTHON_WITHOUT_GIL;
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		if (builds[i].version != wanted)
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
	static unsigned long had[16];
	static size_t n;
	char runtime[PY_RUNTIME_BYTES];
	struct py_said said;

	for (size_t i = 0; i < n; i++)
		if (had[i] == version)
			return &layouts[i];
	had[n] = version;
	said = python_said(&version, runtime);
	return n < 16 && py_layout_here(&layouts[n], &said) ? &layouts[n++] : NULL;
}
