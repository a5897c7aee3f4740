/* SPDX-License-Identifier: MIT */
/*
 * Domains and string handles: real structs, because the program's macros read them. The same text
 * always gives the same struct. They live as long as the process.
 */
#ifndef PROBES_ITT_HANDLES_H
#define PROBES_ITT_HANDLES_H

#include <stdint.h>

#include "probes/itt/abi.h"

/* NULL: the text is NULL, or memory is short. */
struct itt_domain *handles_domain(const char *text);
struct itt_string *handles_string(const char *text);

/* Ids of their names, also for structs that the static part made before the probe was loaded; 0 for
 * NULL. */
uint32_t handles_domain_name(const struct itt_domain *domain);
uint32_t handles_string_name(const struct itt_string *string);

#endif
