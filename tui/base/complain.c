/* SPDX-License-Identifier: MIT */
#include "tui/base/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/base/text.h"

#define WIDEST 4	/* most bytes that one byte of the text can become */

void complain_on_stderr(const char *format, ...)
{
	char *text = NULL, *clean;
	va_list args;
	size_t room;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	room = WIDEST * strlen(text ? text : "") + 1;
	clean = xmalloc(room);
	fprintf(stderr, "tftop: %s\n", text_clean(clean, room, text ? text : ""));
	free(clean);
	free(text);
}
