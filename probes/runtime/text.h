/* SPDX-License-Identifier: MIT */
/* Wide strings of the program (UTF-32) as UTF-8. No allocation. */
#ifndef PROBES_RUNTIME_TEXT_H
#define PROBES_RUNTIME_TEXT_H

#include <stddef.h>
#include <wchar.h>

#include "probes/runtime/runtime.h"

/* Writes at most size bytes, NUL included, whole characters only; what is no
 * Unicode character becomes U+FFFD. Returns buf, or NULL for a NULL text. */
RT_API const char *rt_text_from_wide(char *buf, size_t size, const wchar_t *text);

#endif
