/* SPDX-License-Identifier: MIT */
/*
 * Memory for keymap/, which uses no other room. Like the x functions of model/base/util.h it never
 * returns NULL: if memory is short, the program says so and exits with 125.
 */
#ifndef KEYMAP_MEMORY_H
#define KEYMAP_MEMORY_H

#include <stddef.h>

/* realloc of count elements; memory may be NULL. */
void *key_realloc(void *memory, size_t count, size_t size);
char *key_strdup(const char *text);

#endif
