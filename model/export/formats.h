/* SPDX-License-Identifier: MIT */
/* The writers of the formats, for foreign.c; each has the signature of foreign_write(). */
#ifndef MODEL_EXPORT_FORMATS_H
#define MODEL_EXPORT_FORMATS_H

#include "model/export/foreign.h"

bool chrome_write(const struct foreign_options *options, struct foreign_result *result,
		  char *error, size_t size);
bool perfetto_write(const struct foreign_options *options, struct foreign_result *result,
		    char *error, size_t size);
bool csv_write(const struct foreign_options *options, struct foreign_result *result,
	       char *error, size_t size);
bool stacks_write(const struct foreign_options *options, struct foreign_result *result,
		  char *error, size_t size);
bool speedscope_write(const struct foreign_options *options, struct foreign_result *result,
		      char *error, size_t size);
bool dot_write(const struct foreign_options *options, struct foreign_result *result,
	       char *error, size_t size);

/* "ops", "kernels", ...; NULL: there are no more tables. */
const char *csv_table(size_t i);

/* Writes text as a JSON string, including the quotes. */
void put_json(FILE *out, const char *text, size_t length);
/* Writes text with U+FFFD in place of bytes that are not UTF-8. */
void put_utf8(FILE *out, const char *text, size_t length);
/* Writes ns as microseconds, without rounding: "12.345". */
void put_micros(FILE *out, int64_t ns);

#endif
