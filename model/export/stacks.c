/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of the host's threads (query/host.h) for flame graphs: collapsed, one line for each
 * state of each stack with its nanoseconds behind it, as flamegraph.pl and others read them; and as
 * speedscope's JSON, a profile for each thread. Sources: the README of FlameGraph, Brendan Gregg;
 * speedscope's file-format-spec.ts.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/export/formats.h"
#include "model/query/host.h"
#include "model/query/time.h"

static size_t take_stacks(const struct foreign_options *options, struct stack_node **nodes)
{
	struct stacks_of of = { .waited = options->kind.waited };
	size_t n;

	if (options->from_ns != INT64_MIN) {
		of.from_ns = options->from_ns;
		of.to_ns = INT64_MAX;
	}
	model_lock(options->model);
	n = model_stacks(options->model, &of, nodes);
	model_unlock(options->model);
	return n;
}

/* What a node is called; *text may hold it. */
static const char *stacks_name(const struct stack_node *node, struct strbuf *text)
{
	strbuf_reset(text);
	switch (node->kind) {
	case STACK_THREAD:
		strbuf_addf(text, "%s %" PRIu32 "/%" PRIu32, *node->thread ? node->thread :
			    "thread", node->pid, node->tid);
		break;
	case STACK_FRAME:
		strbuf_addf(text, "%s", *node->function ? node->function : "?");
		break;
	case STACK_UNKNOWN:
		strbuf_adds(text, "[unknown]");
		break;
	case STACK_STATE:
		strbuf_addf(text, "[%s%s%s]", doing_name(node->doing), *node->what ? " " : "",
			    node->what);
		break;
	}
	return text->data;
}

static bool stacks_ended(FILE *out, char *error, size_t size)
{
	if (!ferror(out))
		return true;
	snprintf(error, size, "%s", strerror(errno));
	return false;
}

static bool stacks_possible(const struct foreign_options *options, char *error, size_t size)
{
	if (options->from_ns == INT64_MIN || !options->kind.waited)
		return true;
	snprintf(error, size, "the time in which devices waited is known of the whole run: leave "
		 "out 'last', or ',waited'");
	return false;
}

static bool stacks_none(const struct foreign_options *options, char *error, size_t size)
{
	snprintf(error, size, "%s", options->kind.waited ?
		 "no device waited for a thread that was looked at" :
		 "no thread was looked at: that takes a probe that sees ops or launches, and the "
		 "level default");
	return false;
}

/* ---- collapsed ---- */

/* A frame is followed by ';', and the last one by a space and a number. */
static void put_collapsed(FILE *out, const struct stack_node *node, struct strbuf *text)
{
	stacks_name(node, text);
	if (node->kind == STACK_FRAME && *node->file && node->line)
		strbuf_addf(text, " (%s:%" PRIu32 ")", basename(node->file), node->line);
	else if (node->kind == STACK_FRAME && *node->file)
		strbuf_addf(text, " (%s)", basename(node->file));
	for (char *at = text->data; *at; at++)
		if (*at == ';' || *at == '\n' || *at == '\r')
			*at = ':';
	put_utf8(out, text->data, strlen(text->data));
}

bool stacks_write(const struct foreign_options *options, struct foreign_result *result,
		  char *error, size_t size)
{
	struct stack_node *nodes;
	const struct stack_node *path[STACK_DEPTH];
	struct strbuf text;
	size_t n;

	if (!stacks_possible(options, error, size))
		return false;
	n = take_stacks(options, &nodes);
	strbuf_init(&text);
	for (size_t i = 0; i < n; i++) {
		path[nodes[i].depth] = &nodes[i];
		if (nodes[i].kind != STACK_STATE)
			continue;
		for (uint32_t k = 0; k <= nodes[i].depth; k++) {
			if (k)
				putc(';', options->out);
			put_collapsed(options->out, path[k], &text);
		}
		fprintf(options->out, " %" PRId64 "\n", nodes[i].ns);
		result->written++;
	}
	strbuf_release(&text);
	free(nodes);
	return n ? stacks_ended(options->out, error, size) : stacks_none(options, error, size);
}

/* ---- speedscope ---- */

/* Writes the table of frames, in which a frame stands once for each node. */
static void put_frames(FILE *out, const struct stack_node *nodes, size_t n, struct strbuf *text)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = stacks_name(&nodes[i], text);

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put_json(out, name, strlen(name));
		if (nodes[i].kind == STACK_FRAME && *nodes[i].file) {
			fputs(",\"file\":", out);
			put_json(out, nodes[i].file, strlen(nodes[i].file));
			if (nodes[i].line)
				fprintf(out, ",\"line\":%" PRIu32, nodes[i].line);
		}
		putc('}', out);
	}
}

/* The stacks of the thread whose root is number `root`, with one sample for each state. */
static void put_profile(FILE *out, const struct stack_node *nodes, uint32_t root,
			struct foreign_result *result, struct strbuf *text)
{
	const struct stack_node *thread = &nodes[root];
	const char *name = stacks_name(thread, text), *between = "";
	uint32_t path[STACK_DEPTH];

	fputs("{\"type\":\"sampled\",\"name\":", out);
	put_json(out, name, strlen(name));
	fprintf(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRId64
		",\n\"samples\":[", thread->ns);
	for (uint32_t i = root; i < thread->end; i++) {
		path[nodes[i].depth] = i;
		if (nodes[i].kind != STACK_STATE)
			continue;
		fprintf(out, "%s[", between);
		for (uint32_t k = 1; k <= nodes[i].depth; k++)
			fprintf(out, "%s%" PRIu32, k > 1 ? "," : "", path[k]);
		putc(']', out);
		between = ",\n";
		result->written++;
	}
	between = "";
	fputs("],\n\"weights\":[", out);
	for (uint32_t i = root; i < thread->end; i++) {
		if (nodes[i].kind != STACK_STATE)
			continue;
		fprintf(out, "%s%" PRId64, between, nodes[i].ns);
		between = ",";
	}
	fputs("]}", out);
}

bool speedscope_write(const struct foreign_options *options, struct foreign_result *result,
		      char *error, size_t size)
{
	struct stack_node *nodes;
	struct strbuf text;
	FILE *out = options->out;
	size_t n;

	if (!stacks_possible(options, error, size))
		return false;
	n = take_stacks(options, &nodes);
	strbuf_init(&text);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"tftop\",\"shared\":{\"frames\":[", out);
	put_frames(out, nodes, n, &text);
	fputs("]},\n\"profiles\":[", out);
	for (uint32_t i = 0; i < n; i = nodes[i].end) {
		fputs(i ? ",\n" : "\n", out);
		put_profile(out, nodes, i, result, &text);
	}
	fputs("]}\n", out);
	strbuf_release(&text);
	free(nodes);
	return n ? stacks_ended(out, error, size) : stacks_none(options, error, size);
}
