/* SPDX-License-Identifier: MIT */
/* What the two files of the runtime's double share; see rt_text.c. Any thread. */
#ifndef TESTS_DOUBLES_RT_TEXT_H
#define TESTS_DOUBLES_RT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/runtime/runtime.h"

#define RT_TEXT_SHAPES 4096

/* One line of text, written at once; control characters of it are blanked. */
__attribute__((format(printf, 1, 2)))
void line(const char *format, ...);
/* Nothing is written. */
bool rt_text_mute(void);

/* The text of a name, "-" none; a shape, NULL none. Live as long as the process. */
const char *name_of(uint32_t id);
const struct tft_shape *shape_of(uint32_t id);

#endif
