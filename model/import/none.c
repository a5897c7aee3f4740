/* SPDX-License-Identifier: MIT */
/* Stands in for the importers if a library that they need was not found when tftop was built. */
#include "model/import/import.h"

#include <stdio.h>

struct import *import_new(const struct import_options *options, char error[IMPORT_ERROR_MAX])
{
	snprintf(error, IMPORT_ERROR_MAX, "cannot open the file '%s': this tftop was built without "
		 "protobuf-c, yajl and zlib and opens only folders",
			 options->path ? options->path : "");
	return NULL;
}

enum import_result import_run(struct import *import)
{
	return IMPORT_NOTHING;
}

void import_stop(struct import *import)
{
}

int import_progress(const struct import *import)
{
	return 0;
}

void import_free(struct import *import)
{
}
