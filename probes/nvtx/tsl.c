/* SPDX-License-Identifier: MIT */
/*
 * XLA's own ranges. Where it computes on a GPU, XLA marks in the domain "TSL" each run of a
 * compiled program, each of its instructions and the parts of a compilation, as
 * "kind:#key=value,...#" (xla/tsl/profiler/lib/nvtx_utils.h, xla/backends/gpu/runtime/
 * annotation.cc). These become what the same is on the processor: ops with the name of the program
 * or instruction and a type.
 *
 * A registered string keeps what it is in the lowest bits of its handle, beside the id of its name.
 */
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/nvtx/probe.h"
#include "probes/schema/attach.h"
#include "probes/traceme/traceme.h"

#define DOMAIN_TEXT "TSL"
#define BUFFER_PREFIX "command_buffer"

/* What a range stands for; the value in a handle's tag. */
enum tsl_kind { TSL_RUN = 1, TSL_INSTRUCTION, TSL_COMMAND_BUFFER, TSL_COMPILER, TSL_KINDS };

static const struct {
	const char *begin, *key;	/* before ":#"; which value is the name, NULL: begin is */
	const char *type;
} kinds[TSL_KINDS] = {
	[TSL_RUN] = { "XlaModule", "hlo_module", RT_XLA_RUN },
	[TSL_INSTRUCTION] = { "Thunk", "hlo_op", "HLO op" },
	[TSL_COMMAND_BUFFER] = { "Thunk", "hlo_op", RT_XLA_COMMAND_BUFFER },
	[TSL_COMPILER] = { "Xla", NULL, "XLA compilation" },
};

static _Atomic uint32_t domain, types[TSL_KINDS];
static _Atomic uint8_t framework = TFT_FW_NVTX;

/* Whose XLA it is. */
static int look_for_framework(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *name = info->dlpi_name ? info->dlpi_name : "";

	(void)size;
	if (strstr(name, TFT_XLA_GPU))
		*(uint8_t *)found = TFT_FW_JAX;
	else if (strstr(name, "libtensorflow"))
		*(uint8_t *)found = TFT_FW_TENSORFLOW;
	return 0;
}

void tsl_domain(const char *text, uint32_t name)
{
	uint8_t found = TFT_FW_NVTX;

	if (!text || strcmp(text, DOMAIN_TEXT) != 0)
		return;
	dl_iterate_phdr(look_for_framework, &found);
	atomic_store(&framework, found);
	for (int i = 1; i < TSL_KINDS; i++)
		atomic_store(&types[i], rt_name(TFT_NAME_OP_TYPE, kinds[i].type));
	atomic_store_explicit(&domain, name, memory_order_release);
}

bool tsl_is_domain(uint32_t name)
{
	return name && name == atomic_load_explicit(&domain, memory_order_acquire);
}

bool tsl_is_number(const char *text)
{
	return text && !strncmp(text, "Xla:#", 5);
}

static enum tsl_kind tsl_kind_of(const struct traceme *t, const char **value, size_t *length)
{
	for (enum tsl_kind kind = TSL_RUN; kind < TSL_KINDS; kind++) {
		size_t begin = strlen(kinds[kind].begin);

		if (t->name_length < begin || memcmp(t->name, kinds[kind].begin, begin) != 0)
			continue;
		*value = t->name;
		*length = t->name_length - (t->name[t->name_length - 1] == ':');
		if (!kinds[kind].key)
			return kind;
		if (!traceme_value(t, kinds[kind].key, value, length) || !*length)
			return 0;
		return kind == TSL_INSTRUCTION && *length >= strlen(BUFFER_PREFIX) &&
		       !memcmp(*value, BUFFER_PREFIX, strlen(BUFFER_PREFIX)) ?
		       TSL_COMMAND_BUFFER : kind;
	}
	return 0;
}

uint32_t tsl_name(const char *text, unsigned *tag)
{
	char name[TFT_TEXT_MAX + 1];
	struct traceme t;
	const char *value;
	size_t length;

	*tag = 0;
	if (!text)
		return 0;
	traceme_read(&t, text, strlen(text));
	*tag = t.values_length ? tsl_kind_of(&t, &value, &length) : 0;
	if (!*tag)
		return rt_name(TFT_NAME_RANGE, text);
	snprintf(name, sizeof(name), "%.*s",
		 (int)(length < sizeof(name) ? length : sizeof(name)), value);
	return rt_name(TFT_NAME_OP, name);
}

/* The line of an instruction, as the compiler knows it, else that of the call that runs the
 * program. */
static uint32_t tsl_source(uint32_t name)
{
	uint32_t run = atomic_load_explicit(&types[TSL_RUN], memory_order_relaxed);
	uint32_t source = rt_line_of(rt_op_of_type(run), name);

	return source ? source : rt_op_current().source;
}

void tsl_args(struct rt_op_args *args, unsigned tag)
{
	if (!tag || tag >= TSL_KINDS)
		return;
	args->type = atomic_load_explicit(&types[tag], memory_order_relaxed);
	args->framework = atomic_load_explicit(&framework, memory_order_relaxed);
	if (tag == TSL_COMPILER)
		return;
	/* the call that runs the program knows its line */
	args->source = tag == TSL_RUN ? rt_op_current().source : tsl_source(args->name);
	args->flags &= (uint8_t)~TFT_OP_RANGE;
}
