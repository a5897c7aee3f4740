/* SPDX-License-Identifier: MIT */
/*
 * Domains and string handles: real structs, as the program's macros read them.
 * The same text gives the same struct. They live as long as the process.
 */
#ifndef PROBES_ITT_HANDLES_H
#define PROBES_ITT_HANDLES_H

#include <stdint.h>

#include "probes/itt/abi.h"

/* NULL when the text is NULL or memory is short. */
struct itt_domain *handles_domain(const char *text);
struct itt_string *handles_string(const char *text);

/* Name ids, also of structs that the static part made before we came; 0: NULL. */
uint32_t handles_domain_name(const struct itt_domain *domain);
uint32_t handles_string_name(const struct itt_string *string);

#endif
