/* SPDX-License-Identifier: MIT */
#include "tests/live/differ.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

unsigned int differences;

void differ(const char *format, ...)
{
	va_list args;

	if (++differences > DIFFERENCES_TOLD)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

json_t *load(const char *path)
{
	json_error_t error;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	if (root && json_is_object(root))
		return root;
	if (root)
		fprintf(stderr, "%s: '%s': not an object\n", program_invocation_short_name, path);
	else
		fprintf(stderr, "%s: '%s' line %d: %s\n", program_invocation_short_name, path,
			error.line, error.text);
	exit(2);
}

const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

long long number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}
