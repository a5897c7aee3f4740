/* SPDX-License-Identifier: MIT */
/* What the two files of the runtime's double share; see rt_text.c. Any thread. */
#ifndef TESTS_DOUBLES_RT_TEXT_H
#define TESTS_DOUBLES_RT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/runtime/runtime.h"

#define RT_TEXT_SHAPES 4096

/* Writes one line of text at once; control characters in it become blanks. */
__attribute__((format(printf, 1, 2)))
void line(const char *format, ...);
/* Whether nothing is written. */
bool rt_text_mute(void);

/* The text of a name, "-": none; a shape, NULL: none. Both live as long as the process. */
const char *name_of(uint32_t id);
const struct tft_shape *shape_of(uint32_t id);

#endif
