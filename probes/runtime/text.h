/* SPDX-License-Identifier: MIT */
/* Converts wide strings of the program (UTF-32) to UTF-8. No allocation. */
#ifndef PROBES_RUNTIME_TEXT_H
#define PROBES_RUNTIME_TEXT_H

#include <stddef.h>
#include <wchar.h>

#include "probes/runtime/runtime.h"

/* Writes at most size bytes including the NUL, and whole characters only; what is not a Unicode
 * character becomes U+FFFD. Returns buf; NULL if the text is NULL. */
RT_API const char *rt_text_from_wide(char *buf, size_t size, const wchar_t *text);

#endif
