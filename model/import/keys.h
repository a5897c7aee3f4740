/* SPDX-License-Identifier: MIT */
/*
 * Numbers for keys of any length, such as the process and thread of a row, or the category and id
 * of an asynchronous event. Two keys have one number only if all their bytes are the same: the
 * hash only finds a key, it never stands for it.
 *
 * Complexity: O(length). Bounds: KEYS_MAX keys, KEYS_BYTES bytes of keys together.
 */
#ifndef MODEL_IMPORT_KEYS_H
#define MODEL_IMPORT_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "model/base/map.h"

#define KEYS_MAX (1u << 22)
#define KEYS_BYTES (256u << 20)

struct keys_entry;

struct keys {
	struct keys_entry *list;		/* owned */
	char *bytes;			/* owned */
	size_t n, cap, used, room;
	struct map by_hash;		/* hash -> the last key that has it */
};

void keys_release(struct keys *keys);
/* The key's number, which counts from 1; 0: there is no room for one more. */
uint32_t keys_number(struct keys *keys, const void *key, size_t size);

#endif
