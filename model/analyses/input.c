/* SPDX-License-Identifier: MIT */
/* Which ops and ranges fetch or make batches, and which are collectives, judged by their names. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/analyses/analyses.h"
#include "model/base/util.h"

static bool has_part(const char *name, const char *part)
{
	return strcasestr(name, part) != NULL;
}

/* Whether an op or range makes or fetches batches, judged by its name: those that frameworks use,
 * and those that people use. */
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

/* Whether the op is what a TensorFlow graph runs, on some thread of a pool, to get its batch. (An
 * eager op runs on the thread that waits, and an iterator over several devices fetches ahead.) */
static bool name_is_fetch(const char *name)
{
	return has_part(name, "IteratorGetNext") && !has_part(name, "MultiDevice") &&
	       strncmp(name, "eager ", 6);
}

/* What a backend of torch.distributed that works on the processor calls a collective while one of
 * its threads is in it. */
static bool name_is_collective(const char *name)
{
	static const char *const backends[] = { "gloo:", "mpi:", "ucc:" };

	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (!strncmp(name, backends[i], strlen(backends[i])))
			return true;
	return false;
}

enum input_kind { INPUT_UNKNOWN, INPUT_NOT, INPUT_MAKES, INPUT_FETCHES, INPUT_COLLECTIVE };

static enum input_kind kind_of(const char *name)
{
	if (name_is_collective(name))
		return INPUT_COLLECTIVE;
	return name_is_fetch(name) ? INPUT_FETCHES : name_is_input(name) ? INPUT_MAKES : INPUT_NOT;
}

static enum input_kind input_is_known_name(struct input_names *input, struct names *names,
					   uint32_t name)
{
	if (name < input->n && input->known[name])
		return (enum input_kind)input->known[name];
	if (!name || !names_defined(names, name))
		return INPUT_NOT;
	if (name >= input->n) {
		size_t n = names->n > name ? names->n : name + 1;

		input->known = xreallocarray(input->known, n, 1);
		memset(input->known + input->n, 0, n - input->n);
		input->n = n;
	}
	input->known[name] = (uint8_t)kind_of(names_raw(names, name));
	return (enum input_kind)input->known[name];
}

void input_op(struct input_names *input, struct names *names, struct act *act)
{
	enum input_kind name = input_is_known_name(input, names, act->name);
	enum input_kind type = input_is_known_name(input, names, act->op_name);

	if (name == INPUT_COLLECTIVE)
		act->work = WORK_COMM;
	if (name == INPUT_COLLECTIVE || (name == INPUT_NOT && type == INPUT_NOT))
		return;
	act->work = WORK_INPUT;
	if (name == INPUT_FETCHES)
		act->flags |= ACT_FETCH;
}
