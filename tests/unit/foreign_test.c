/* SPDX-License-Identifier: MIT */
/* What is written for other programs says what the model says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/recording/export.h"
#include "model/export/foreign.h"
#include "model/synth/synth.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/base/json_read.h"

static struct foreign_result result;

/* As the option says it; freed by the caller. */
static char *written(struct model *model, const char *kind, size_t *size)
{
	struct foreign_options options = { .model = model, .from_ns = INT64_MIN };
	char *text = NULL, error[320] = "";

	CHECK(foreign_parse(kind, &options.kind, error, sizeof(error)));
	options.out = open_memstream(&text, size);
	CHECK(foreign_write(&options, &result, error, sizeof(error)));
	CHECK_STR(error, "");
	fclose(options.out);
	return text;
}

static struct model *synthetic(int64_t ns)
{
	struct model_synth_profile profile = model_synth_default;
	struct model *model = model_new(NULL);
	struct model_synth *synth;

	profile.layer_bytes = 1 << 20;
	synth = model_synth_new(3, &profile, BASE);
	model_synth_advance(synth, BASE + ns, feed_model, model);
	model_synth_free(synth);
	model_finish(model, false);
	return model;
}

static void launched_on(const char *api, const char *geometry)
{
	struct model *model = model_with_device();
	struct event device = ev_device(1, ""), kernel = ev_kernel(1, 1, 1, 1000, 100);
	struct event shape = { .type = EVENT_SHAPE, .pid = PID, .tid = PID, .time_ns = BASE };
	size_t size;
	char *text;

	device.u.device.api = api;
	apply_one(model, device);
	shape.u.shape = (struct event_shape) {
		.id = 4, .dims = 2, .global = { 50688, 4, 1 }, .local = { 384, 1, 1 },
	};
	apply_one(model, shape);
	kernel.u.command.shape = 4;
	apply_one(model, kernel);
	model_finish(model, false);
	text = written(model, "chrome", &size);
	if (!strstr(text, geometry))
		test_fail(__FILE__, __LINE__, "no '%s' in: %s", geometry, text);
	free(text);
	model_free(model);
}

TEST(foreign_geometry_in_the_words_of_its_api)
{
	launched_on("opencl", "\"global\":\"50688x4\",\"local\":\"384x1\"");
	launched_on("cuda", "\"grid\":\"132x4\",\"block\":\"384x1\"");
}

/* A slice that was written, whatever the format. */
struct seen { char name[64]; uint64_t track; int64_t start_ns, dur_ns; };

static int by_all(const void *a, const void *b)
{
	const struct seen *p = a, *q = b;

	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	if (p->dur_ns != q->dur_ns)
		return p->dur_ns < q->dur_ns ? -1 : 1;
	return strcmp(p->name, q->name);
}

static int64_t micros(const char *at)
{
	int64_t ns = 0;
	int digits = 3;

	for (; *at >= '0' && *at <= '9'; at++)
		ns = ns * 10 + (*at - '0');
	if (*at == '.')
		for (at++; digits && *at >= '0' && *at <= '9'; at++, digits--)
			ns = ns * 10 + (*at - '0');
	while (digits--)
		ns *= 10;
	return ns;
}

static const char *after(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	CHECK(at != NULL);
	return at + strlen(key);
}

/* Of Chrome's lines those of a phase. */
static size_t read_chrome(char *text, char phase, struct seen **out)
{
	size_t n = 0, cap = 0;
	char begin[16];

	snprintf(begin, sizeof(begin), "{\"ph\":\"%c\"", phase);
	*out = NULL;
	for (char *line = strtok_r(text, "\n", &text); line; line = strtok_r(NULL, "\n", &text)) {
		struct seen *seen;

		if (strncmp(line, begin, strlen(begin)))
			continue;
		grow(out, &cap, n, sizeof(**out));
		seen = &(*out)[n++];
		sscanf(after(line, "\"name\":\""), "%63[^\"]", seen->name);
		seen->track = strtoull(after(line, "\"tid\":"), NULL, 10);
		seen->start_ns = micros(after(line, "\"ts\":"));
		seen->dur_ns = phase == 'X' ? micros(after(line, "\"dur\":")) : 0;
	}
	return n;
}

static uint64_t spans_of(struct model *model)
{
	struct model_export *export = model_export_new(model, INT64_MIN);
	struct event events[64];
	uint64_t spans = 0;
	size_t n;

	while ((n = model_export_next(export, events, 64)) > 0)
		for (size_t i = 0; i < n; i++)
			spans += (events[i].type == EVENT_OP && events[i].u.op.dur_ns >= 0) ||
				 (events[i].type == EVENT_COMMAND &&
				  events[i].u.command.status >= 0 &&
				  !(events[i].u.command.flags & CMD_OPEN));
	model_export_free(export);
	return spans;
}

TEST(foreign_chrome_has_every_span_and_lanes_do_not_overlap)
{
	struct model *model = synthetic(INT64_C(2000000000));
	char *text, *copy;
	struct json_node *tree;
	struct seen *slices;
	size_t size, n, spans = 0;

	text = written(model, "chrome,memory", &size);
	tree = json_read(text, size);
	CHECK(json_get(tree, "traceEvents") != NULL);
	json_free(tree);
	copy = xstrdup(text);
	for (char *at = copy; (at = strchr(at, '\n')); ) {
		at++;
		if (strncmp(at, "{\"ph\":\"X\",\"cat\":\"", 17))
			continue;
		spans += !strncmp(at + 17, "op\"", 3) || !strncmp(at + 17, "range", 5) ||
			!strncmp(at + 17, "kernel", 6) || !strncmp(at + 17, "copy", 4);
	}
	CHECK_INT(spans, spans_of(model));
	n = read_chrome(copy, 'X', &slices);
	CHECK(n >= spans && spans > 500);
	qsort(slices, n, sizeof(*slices), by_all);
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n && slices[j].start_ns < slices[i].start_ns +
		     slices[i].dur_ns; j++)
			if (slices[i].track == slices[j].track)
				CHECK(slices[j].start_ns == slices[i].start_ns ||
				      slices[j].start_ns + slices[j].dur_ns <=
				      slices[i].start_ns + slices[i].dur_ns);
	free(slices);
	free(copy);
	free(text);
	model_free(model);
}

TEST(foreign_chrome_switches)
{
	struct model *model = synthetic(INT64_C(500000000));
	size_t size;
	char *all = written(model, "chrome,memory", &size);
	char *few = written(model, "chrome,no-dataflow", &size);

	CHECK(strstr(all, "\"ph\":\"s\"") && strstr(all, "\"ph\":\"f\""));
	CHECK(strstr(all, "\"ph\":\"N\"") && strstr(all, "\"ph\":\"O\""));
	CHECK(!strstr(few, "\"ph\":\"s\"") && !strstr(few, "\"ph\":\"f\""));
	CHECK(!strstr(few, "\"ph\":\"N\""));
	CHECK(strstr(few, "\"ph\":\"C\",\"cat\":\"Memory\""));
	CHECK(strstr(few, "\"allocation maximum\""));
	free(all);
	free(few);
	model_free(model);
}

/* Strings of other people's programs: quotes, control characters, broken UTF-8. */
static struct model *with_odd_names(void)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(50, NAME_OP, "a,\"b\"\n\\\xff\xe2\x82\xac\x01"));
	apply_one(model, ev_name(51, NAME_OP, "plain"));
	apply_one(model, ev_name(52, NAME_OP, "=cmd|' /C calc'!A0"));
	apply_one(model, ev_name(53, NAME_OP, "-1+\"a\""));
	apply_one(model, ev_op(52, 502, 5000, 6000, 9002, 0));
	apply_one(model, ev_op(53, 503, 7000, 8000, 9002, 0));
	apply_one(model, ev_op(50, 500, 0, 1000, 9001, 0));
	for (int i = 0; i < 3; i++) {
		struct event edge = ev_op(50, 500, 0, 1000, 8000, 0);

		edge.type = EVENT_EDGE;
		edge.u.edge = (struct event_edge) { .from = 500, .to = 501, .bytes = 4096 };
		apply_one(model, edge);
	}
	apply_one(model, ev_op(51, 501, 500, 2000, 3, 0));
	apply_one(model, ev_kernel(1, 1, 7, 20000, 1234));
	apply_one(model, ev_alive(BASE + 1000000));
	model_finish(model, false);
	return model;
}

TEST(foreign_odd_names)
{
	struct model *model = with_odd_names();
	size_t size;
	char *text = written(model, "chrome", &size);
	struct json_node *tree = json_read(text, size);

	CHECK(tree != NULL);
	CHECK(strstr(text, "\"a,\\\"b\\\" \\\\?\xe2\x82\xac?\"") != NULL);
	CHECK(strstr(text, "\"ts\":1000001,\"dur\":9.001") != NULL);
	CHECK(strstr(text, "\"ts\":1000002,\"dur\":0.003") != NULL);
	json_free(tree);
	free(text);
	text = written(model, "csv:ops", &size);
	CHECK(strstr(text, "\r\n\"a,\"\"b\"\" \\?\xe2\x82\xac?\",,") != NULL);
	CHECK(strstr(text, "\r\n'=cmd|' /C calc'!A0,,") != NULL);
	CHECK(strstr(text, "\r\n\"'-1+\"\"a\"\"\",,") != NULL);
	free(text);
	text = written(model, "dot", &size);
	CHECK_INT(result.written, 1);
	CHECK(!strstr(text, "subgraph"));	/* nobody told of a graph */
	CHECK(strstr(text, "\"a,\\\"b\\\" \\\\?\xe2\x82\xac?\" -> \"plain\" [weight=3") !=
	      NULL);
	free(text);
	model_free(model);
}

TEST(foreign_has_what_was_not_looked_at)
{
	struct model *model = with_odd_names();
	struct event level = {
		.type = EVENT_LEVEL, .pid = PID, .tid = PID, .time_ns = BASE + 1000000
	};
	size_t size;
	char *text;

	level.u.level_now.at_ns = BASE + 300000;
	apply_one(model, level);
	level.u.level_now = (struct event_level_now) { BASE + 500000, 1 };
	apply_one(model, level);
	text = written(model, "chrome", &size);
	CHECK(strstr(text, "\"name\":\"level off\"") != NULL);
	CHECK(strstr(text, "\"ts\":1000300,\"dur\":200") != NULL);
	free(text);
	model_free(model);
}

TEST(foreign_arrows_join_ops_and_what_they_launch)
{
	struct model *model = with_odd_names();
	struct seen *from, *to;
	size_t size, n;
	char *text = written(model, "chrome", &size), *copy = xstrdup(text);

	n = read_chrome(text, 's', &from);
	CHECK(n >= 3);
	CHECK_INT(read_chrome(copy, 'f', &to), n);
	qsort(from, n, sizeof(*from), by_all);
	qsort(to, n, sizeof(*to), by_all);
	for (int i = 0; i < 3; i++)
		CHECK_INT(to[i].start_ns, BASE + 2000);
	free(from);
	free(to);
	free(text);
	free(copy);
	model_free(model);
}

/* Fields of each line; quotes hold what would end one. */
static void check_table(const char *text, size_t *rows)
{
	size_t fields = 1, wanted = 0;
	bool quoted = false;

	*rows = 0;
	for (; *text; text++) {
		if (*text == '"')
			quoted = !quoted;
		fields += !quoted && *text == ',';
		if (quoted || *text != '\r')
			continue;
		CHECK(text[1] == '\n');
		if (!wanted)
			wanted = fields;
		else
			++*rows;
		CHECK_INT(fields, wanted);
		fields = 1;
		text++;
	}
	CHECK(!quoted && fields == 1);
}

TEST(foreign_tables_are_whole)
{
	static const char *const tables[] = {
		"ops", "kernels", "copies", "steps", "memory", "counters", "findings", "calls",
		"devices", "queues", "edges", "processes", "host",
	};
	struct model *model = synthetic(INT64_C(2000000000));
	struct kernel_row *kernels;
	char kind[32];
	size_t size, rows, n;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		char *text;

		snprintf(kind, sizeof(kind), "csv:%s", tables[i]);
		text = written(model, kind, &size);
		check_table(text, &rows);
		CHECK_INT(rows, result.written);
		free(text);
	}
	model_lock(model);
	n = model_kernels(model, &kernels);
	model_unlock(model);
	model_kernels_free(kernels, n);
	free(written(model, "csv:kernels", &size));
	CHECK_INT(result.written, n);
	model_free(model);
}

TEST(foreign_says_what_it_cannot)
{
	static const char *const wrong[][2] = {
		{ "chrom", "use chrome" }, { "chrome,x", "no-dataflow" }, { "csv", "csv:ops" },
		{ "csv:what", "one of ops" }, { "dot,memory", "use chrome" }, { "", "use chrome" },
	};
	struct foreign_kind kind;
	struct model *model = synthetic(INT64_C(100000000));
	struct foreign_options options = { .model = model, .from_ns = 5 };
	char error[320];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK(!foreign_parse(wrong[i][0], &kind, error, sizeof(error)));
		CHECK(strstr(error, wrong[i][1]) != NULL);
	}
	options.out = fopen("/dev/null", "we");
	CHECK(foreign_parse("csv:ops", &options.kind, error, sizeof(error)));
	CHECK(!foreign_write(&options, &result, error, sizeof(error)));
	CHECK(strstr(error, "whole run") != NULL);
	options.from_ns = INT64_MIN;
	CHECK(foreign_parse("dot", &options.kind, error, sizeof(error)));
	CHECK(!foreign_write(&options, &result, error, sizeof(error)));
	CHECK(strstr(error, "no graph") != NULL);
	fclose(options.out);
	options.out = fopen("/dev/full", "we");
	CHECK(foreign_parse("chrome", &options.kind, error, sizeof(error)));
	CHECK(!foreign_write(&options, &result, error, sizeof(error)) || fflush(options.out));
	fclose(options.out);
	model_free(model);
}

#ifdef HAVE_PROTOBUF_C

#include "formats/perfetto.pb-c.h"

struct moment { int64_t at_ns; size_t place; uint64_t track; bool begin; char name[64]; };

static int by_time(const void *a, const void *b)
{
	const struct moment *p = a, *q = b;

	if (p->at_ns != q->at_ns)
		return p->at_ns < q->at_ns ? -1 : 1;
	return p->place < q->place ? -1 : p->place > q->place;
}

static size_t read_perfetto(const uint8_t *at, size_t size, struct moment **out)
{
	const uint8_t *end = at + size;
	size_t n = 0, cap = 0, n_names = 0;
	char *names[512] = { NULL };

	*out = NULL;
	while (at < end) {
		Perfetto__TracePacket *packet;
		size_t length = 0;
		int shift = 0;

		CHECK_INT(*at++, 0x0a);
		do
			length |= (size_t)(*at & 127) << shift;
		while (shift += 7, *at++ & 128);
		CHECK(length <= (size_t)(end - at));
		packet = perfetto__trace_packet__unpack(NULL, length, at);
		CHECK(packet != NULL);
		at += length;
		for (size_t i = 0;
		     packet->interned_data && i < packet->interned_data->n_event_names; i++) {
			CHECK(packet->interned_data->event_names[i]->iid < 512);
			names[packet->interned_data->event_names[i]->iid] =
				xstrdup(packet->interned_data->event_names[i]->name);
			n_names++;
		}
		if (packet->track_event && packet->track_event->type <= 2) {
			struct moment *moment;
			const char *name = packet->track_event->has_name_iid ?
				names[packet->track_event->name_iid] : packet->track_event->name;

			grow(out, &cap, n, sizeof(**out));
			moment = &(*out)[n];
			*moment = (struct moment) {
				(int64_t)packet->timestamp, n, packet->track_event->track_uuid,
				packet->track_event->type == 1, "",
			};
			snprintf(moment->name, sizeof(moment->name), "%s", name ? name : "");
			n++;
		}
		perfetto__trace_packet__free_unpacked(packet, NULL);
	}
	for (size_t i = 0; i < 512; i++)
		free(names[i]);
	CHECK(n_names > 0);
	return n;
}

/* As its reader puts them together: by time, each end closes the innermost. */
TEST(foreign_perfetto_says_what_chrome_says)
{
	struct model *model = synthetic(INT64_C(1000000000));
	size_t size, n, n_slices, closed = 0;
	char *text = written(model, "perfetto", &size);
	struct moment *moments;
	struct seen *slices, *ours;
	size_t *stack, top = 0;

	n = read_perfetto((const uint8_t *)text, size, &moments);
	free(text);
	qsort(moments, n, sizeof(*moments), by_time);
	ours = xcalloc(n, sizeof(*ours));
	stack = xcalloc(n, sizeof(*stack));
	for (size_t i = 0; i < n; i++) {
		size_t j;

		if (moments[i].begin) {
			stack[top++] = i;
			continue;
		}
		for (j = top; j-- > 0 && moments[stack[j]].track != moments[i].track; )
			;
		CHECK(j < top);
		memcpy(ours[closed].name, moments[stack[j]].name, sizeof(ours->name));
		ours[closed].start_ns = moments[stack[j]].at_ns;
		ours[closed++].dur_ns = moments[i].at_ns - moments[stack[j]].at_ns;
		memmove(stack + j, stack + j + 1, (--top - j) * sizeof(*stack));
	}
	text = written(model, "chrome", &size);
	n_slices = read_chrome(text, 'X', &slices);
	CHECK_INT(closed, n_slices);
	qsort(ours, closed, sizeof(*ours), by_all);
	qsort(slices, n_slices, sizeof(*slices), by_all);
	for (size_t i = 0; i < n_slices; i++)
		CHECK(!by_all(&ours[i], &slices[i]));
	free(text);
	free(moments);
	free(stack);
	free(ours);
	free(slices);
	model_free(model);
}

#endif
