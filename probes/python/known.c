/* SPDX-License-Identifier: MIT */
#include "probes/python/known.h"

#include <string.h>

#include "probes/runtime/utf8.h"

static const struct py_layout layouts[] = {
	{ 0x030b, 56, 8, 32, 56, 48, 69, 72, 3, 184, 112, 128, 72, 48, 72, 160 },
	{ 0x030c, 56, 0, 0, 56, 8, 70, 72, 3, 192, 112, 128, 68, 40, 56, 144 },
	{ 0x030d, -1, 72, 0, 56, 8, 70, 72, 3, 200, 112, 128, 68, 40, 56, 160 },
};

const struct py_layout *py_layout_of(unsigned long version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].version == (uint32_t)(version >> 16))
			return &layouts[i];
	return NULL;
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
		"/torch_xla/", "/functorch/", "/torchgen/",
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
