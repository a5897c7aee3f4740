/* SPDX-License-Identifier: MIT */
#include "keymap/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *key_realloc(void *memory, size_t count, size_t size)
{
	if (!count || !size)
		count = size = 1;
	memory = size > SIZE_MAX / count ? NULL : realloc(memory, count * size);
	if (!memory) {
		fprintf(stderr, "tftop: out of memory\n");
		exit(125);
	}
	return memory;
}

char *key_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(key_realloc(NULL, size, 1), text, size);
}
