/* SPDX-License-Identifier: MIT */
#include "probes/python/known.h"

#include <stdlib.h>
#include <string.h>

#include "probes/runtime/utf8.h"

/* What all of these have in common: objects of builds with a GIL, without anything else in them. */
#define OBJECTS \
	.ob_type = 8, .head = 16, .items = 24, .str_kind = 2, .code_bytes = 144, .copies = -1, \
	.collecting = -1

/* What 3.8 to 3.10 have in common: a frame is a PyFrameObject. */
#define FRAME_OBJECTS \
	OBJECTS, \
	.cframe = -1, .current = 24, .id = 176, .posix = true, .type = 8, .code = 32, \
	.previous = 24, .c_owner = 256, .bytecode = 48, .filename = 104, .name = 112, \
	.first_line = 40, .n_locals = 28, .apart = true, .attribute = "co_name", .cells = 80, \
	.ascii = 48, .wide = 72

/* What 3.8 and 3.9 have: `owner` is f_executing. */
#define FRAME_EXECUTING \
	FRAME_OBJECTS, .instr = 104, .unit = 1, .owner = 116, .whole = 1, .locals = 360, \
	.frame_bytes = 120, .lines = PY_LINES_STEPS

/* What 3.11 and 3.12 have in common: a frame is a _PyInterpreterFrame. */
#define FRAME_STACKS \
	OBJECTS, \
	.type = -1, .instr = 56, .c_owner = 3, .frame_bytes = 80, .filename = 112, .name = 128, \
	.attribute = "co_qualname", .lines = PY_LINES_LOCATIONS, .cells = -1

static const struct py_layout layouts[] = {
	{ .version = 0x0308, FRAME_EXECUTING },
	{ .version = 0x0309, FRAME_EXECUTING },
	/* `owner` is f_state */
	{ .version = 0x030a, FRAME_OBJECTS, .instr = 96, .unit = 2, .owner = 108, .whole = 0,
	  .locals = 352, .frame_bytes = 112, .lines = PY_LINES_RANGES },
	{ .version = 0x030b, FRAME_STACKS, .cframe = 56, .current = 8, .id = 160, .code = 32,
	  .previous = 48, .owner = 69, .locals = 72, .bytecode = 184, .first_line = 72,
	  .n_locals = 76, .ascii = 48, .wide = 72 },
	{ .version = 0x030c, FRAME_STACKS, .cframe = 56, .current = 0, .id = 144, .code = 0,
	  .previous = 8, .owner = 70, .locals = 72, .bytecode = 192, .first_line = 68,
	  .n_locals = 72, .ascii = 40, .wide = 56 },
};

/* Its number as in Py_Version; 0: it says none. */
static unsigned long py_version_said(const struct py_said *said)
{
	char *end;
	unsigned long major, minor;

	if (said->version)
		return *said->version;
	/* "3.10.13 (main, …) [GCC …]" */
	major = strtoul(said->text(), &end, 10);
	if (*end != '.')
		return 0;
	minor = strtoul(end + 1, &end, 10);
	return *end == '.' && major < 256 && minor < 256 ? major << 24 | minor << 16 : 0;
}

bool py_layout_here(struct py_layout *layout, const struct py_said *said)
{
	uint32_t version = (uint32_t)(py_version_said(said) >> 16);

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].version == version) {
			*layout = layouts[i];
			return true;
		}
	}
	return py_layout_said(layout, said);
}

void py_put_text(char *out, size_t size, const unsigned char *data, uint32_t kind, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length && n + 5 < size; i++) {
		uint32_t c = data[i * kind];

		if (kind > 1)
			c |= (uint32_t)data[i * kind + 1] << 8;
		if (kind > 2)
			c |= (uint32_t)data[i * 4 + 2] << 16 | (uint32_t)data[i * 4 + 3] << 24;
		n += rt_put_utf8(out + n, c);
	}
	out[n] = '\0';
}

bool py_is_library(const char *file)
{
	static const char *const parts[] = {
		"/torch/", "/tensorflow/", "/keras/", "/tf_keras/", "/jax/", "/jaxlib/", "/numpy/",
		"/torch_xla/", "/functorch/", "/torchgen/", "/pyopencl/", "/pytools/", "/numba/",
		"/llvmlite/",
	};
	const char *lib;

	/* code that AutoGraph generated from the user's: its caller's line says more */
	if (*file == '<' || strstr(file, "__autograph_generated_file"))
		return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(file, "-packages") && strstr(file, parts[i]))
			return true;
	lib = strstr(file, "/lib/python3");
	return lib && !strstr(lib, "-packages");
}

bool py_compiles(const char *file, const char *function)
{
	static const struct { const char *file, *function; } all[] = {
		{ "/torch/_dynamo/convert_frame.py", "" }, { "/torch/_inductor/compile_fx.py", "" },
		{ "/jax/_src/compiler.py", "" }, { "/jax/_src/interpreters/mlir.py", "" },
		{ "/jax/_src/pjit.py", "_trace_for_jit" },
		{ "/jax/_src/pjit.py", "_create_pjit_jaxpr" },
		{ "/tensorflow/python/eager/polymorphic_function/tracing_compilation.py",
		  "_create_concrete_function" },
		{ "/numba/core/compiler.py", "" },
		{ "/pyopencl/__init__.py", "build" },
	};
	const char *method = strrchr(function, '.');

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strstr(file, all[i].file) &&
		    (!*all[i].function || !strcmp(method ? method + 1 : function, all[i].function)))
			return true;
	return false;
}
