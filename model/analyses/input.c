/* SPDX-License-Identifier: MIT */
/* Which ops and ranges fetch or make batches, by what they are called. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/analyses/analyses.h"
#include "model/base/util.h"

static bool has_part(const char *name, const char *part)
{
	return strcasestr(name, part) != NULL;
}

/* The making and fetching of batches, by the name of an op or range: what
 * frameworks call theirs, and what people call it. */
bool name_is_input(const char *name)
{
	static const char *const parts[] = {
		"iteratorgetnext", "iterator::", "dataloader", "data_loader", "dataset",
		"next_batch", "nextbatch", "get_batch", "load_batch", "fetch_batch", "prefetch",
		"infeed",
	};
	static const char *const words[] = { "input", "data", "batch", "load_data" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (has_part(name, parts[i]))
			return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (strncasecmp(name, words[i], length) == 0 &&
		    (!name[length] || name[length] == '/' || name[length] == ':' ||
		     name[length] == ' ' || name[length] == '.'))
			return true;
	}
	return false;
}

bool input_known(struct input_names *input, struct names *names, uint32_t name)
{
	if (name < input->n && input->known[name])
		return input->known[name] == 2;
	if (!name || !names_defined(names, name))
		return false;
	if (name >= input->n) {
		size_t n = names->n > name ? names->n : name + 1;

		input->known = xreallocarray(input->known, n, 1);
		memset(input->known + input->n, 0, n - input->n);
		input->n = n;
	}
	input->known[name] = name_is_input(names_raw(names, name)) ? 2 : 1;
	return input->known[name] == 2;
}
