/* SPDX-License-Identifier: MIT */
/* What the writer writes is what the reader reads; the table of the schema is
 * the provider's. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <lttng/tracepoint.h>

#include "probes/schema/records.h"
#include "probes/session/recording/ctf_writer.h"
#include "probes/session/decode/fields.h"
#include "probes/session/live/reader.h"
#include "tests/unit/test.h"

/* ---- the table ---- */

struct wire {
	const char *name;		/* of an event, if bits is -1; else of a field */
	int bits;			/* negative: signed; 0: a text */
	int count;			/* 0: any number */
};

#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TP_ARGS
#undef LTTNG_UST_TP_FIELDS
#undef lttng_ust_field_integer
#undef lttng_ust_field_string
#undef lttng_ust_field_array
#undef lttng_ust_field_sequence
#define BITS(type) (((type)-1 < (type)1 ? -8 : 8) * (int)sizeof(type))
#define LTTNG_UST_TRACEPOINT_EVENT(provider, event, args, fields) { #event, -1, 0 }, fields
#define LTTNG_UST_TP_ARGS(...)
#define LTTNG_UST_TP_FIELDS(...) __VA_ARGS__
#define lttng_ust_field_integer(type, field, value) { #field, BITS(type), 1 },
#define lttng_ust_field_string(field, value) { #field, 0, 1 },
#define lttng_ust_field_array(type, field, value, n) { #field, BITS(type), n },
#define lttng_ust_field_sequence(type, field, value, n_type, n) { #field, BITS(type), 0 },

static const struct wire wire[] = {
#include "probes/schema/tftop_tp.h"
	{ NULL, -1, 0 }
};

static bool is_signed(const struct field_spec *field)
{
	return field->store >= STORE_I16 && field->store <= STORE_I64;
}

TEST(ctf_writer_table)
{
	const struct wire *at = wire;

	for (size_t i = 0; i <= EVENT_SPECS; i++) {
		const struct event_spec *spec = i < EVENT_SPECS ? &event_specs[i] : &ops_spec;

		CHECK_STR(spec->name, at->name);
		CHECK_INT(at++->bits, -1);
		for (const struct field_spec *field = spec->fields(); field->name; field++) {
			CHECK_STR(field->name, at->name);
			CHECK_INT((int)field->bits * (is_signed(field) ? -1 : 1), at->bits);
			CHECK_INT(field->store == STORE_WORDS ? 0 :
				  field->store == STORE_U64X3 || field->store == STORE_U32X3 ? 3 :
				  1, at->count);
			at++;
		}
	}
	CHECK(!at->name);
}

/* Each kind of event has its row, and each byte of it a field: what is not in
 * the table is lost in every recording. */
static const size_t store_bytes[] = {
	[STORE_U8] = 1, [STORE_U16] = 2, [STORE_U32] = 4, [STORE_U64] = 8, [STORE_I16] = 2,
	[STORE_I32] = 4, [STORE_I64] = 8, [STORE_TEXT] = sizeof(char *),
	[STORE_U64X3] = 24, [STORE_U32X3] = 12,
};

static const struct event_spec *spec_of(unsigned type)
{
	const struct event_spec *found = NULL;

	for (size_t i = 0; i < EVENT_SPECS; i++)
		if (event_specs[i].type == type) {
			CHECK(!found);
			found = &event_specs[i];
		}
	return found;
}

static void covered(const struct event_spec *spec, unsigned char *bytes, size_t size)
{
	CHECK(spec);
	for (const struct field_spec *field = spec->fields(); field->name; field++) {
		size_t at = field->offset - offsetof(struct event, u);

		if (field->offset == offsetof(struct event, seq))
			continue;
		CHECK(at + store_bytes[field->store] <= size);
		memset(bytes + at, 0, store_bytes[field->store]);
	}
	for (size_t i = 0; i < size; i++)
		CHECK_INT(bytes[i], 0);
}

TEST(ctf_writer_table_is_whole)
{
	struct event event;

	for (unsigned type = EVENT_PROCESS; type < EVENT_LOST; type++)
		CHECK(spec_of(type));
	CHECK_INT(EVENT_LOST - EVENT_PROCESS, EVENT_SPECS);
	CHECK_INT(EVENT_ALIVE + 1, EVENT_TYPE_COUNT);	/* these two are the reader's */
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define RECORD(event_name, name, type, fields) \
	memset(&event, 0xff, sizeof(event)); \
	__builtin_clear_padding(&event.u.name); \
	covered(spec_of(type), (unsigned char *)&event.u, sizeof(event.u.name));
#define PACKED_RECORD(...)
#include "probes/schema/records_table.h"
#endif
#endif
	(void)event, (void)covered;
}

/* ---- there and back ---- */

#define EVENTS 30000
#define START_NS INT64_C(5000000000)

static struct event *written;
static size_t n_written, n_read, n_lost;
static struct event_lost lost[64];

static const char *random_text(void)
{
	static const char *const texts[] = {
		"", "a", "void f<float, 3>(…)", "two\nlines", "\"quoted\" \\ back",
	};

	return texts[test_below(5)];
}

/* Any value that fits. */
static void random_field(struct event *event, const struct field_spec *field)
{
	char *to = (char *)event + field->offset;
	uint64_t value = test_random() >> test_below(64);

	switch (field->store) {
	case STORE_U8: *(uint8_t *)to = (uint8_t)value; break;
	case STORE_U16: *(uint16_t *)to = (uint16_t)value; break;
	case STORE_U32: *(uint32_t *)(void *)to = (uint32_t)value; break;
	case STORE_U64: *(uint64_t *)(void *)to = value; break;
	case STORE_I16: *(int16_t *)(void *)to = (int16_t)value; break;
	case STORE_I32: *(int32_t *)(void *)to = (int32_t)value; break;
	case STORE_I64: *(int64_t *)(void *)to = (int64_t)value; break;
	case STORE_TEXT: *(const char **)(void *)to = random_text(); break;
	case STORE_U64X3:
		for (int i = 0; i < 3; i++)
			((uint64_t *)(void *)to)[i] = test_random();
		break;
	default:
		for (int i = 0; i < 3; i++)
			((uint32_t *)(void *)to)[i] = (uint32_t)test_random();
	}
}

static struct event random_event(int64_t time_ns)
{
	const struct event_spec *spec = &event_specs[test_below(EVENT_SPECS)];
	struct event event = { .type = spec->type, .pid = 1 + (uint32_t)test_below(3) };

	event.tid = event.pid + (uint32_t)test_below(5);
	event.time_ns = time_ns;
	for (const struct field_spec *field = spec->fields(); field->name; field++)
		random_field(&event, field);
	event.seq = 0;			/* numbers are another test's */
	if (event.type == EVENT_PROCESS)
		event.u.process.schema = TFT_SCHEMA_VERSION;
	return event;
}

static void same_field(const struct event *a, const struct event *b,
		       const struct field_spec *field)
{
	const char *x = (const char *)a + field->offset, *y = (const char *)b + field->offset;

	if (field->store == STORE_TEXT)
		CHECK_STR(*(char *const *)(const void *)x, *(char *const *)(const void *)y);
	else
		CHECK(!memcmp(x, y, store_bytes[field->store]));
}

static void read_back(void *arg, const struct event *events, size_t count)
{
	(void)arg;
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &events[i], *was = &written[n_read];

		if (event->type == EVENT_ALIVE)
			continue;
		if (event->type == EVENT_LOST) {
			CHECK(n_lost < 64);
			lost[n_lost++] = event->u.lost;
			continue;
		}
		CHECK(n_read < n_written);
		CHECK_INT(event->type, was->type);
		CHECK_INT(event->pid, was->pid);
		CHECK_INT(event->tid, was->tid);
		CHECK_INT(event->time_ns, was->time_ns);
		for (size_t k = 0; k < EVENT_SPECS; k++)
			for (const struct field_spec *field = event_specs[k].fields();
			     event_specs[k].type == event->type && field->name; field++)
				same_field(was, event, field);
		n_read++;
	}
}

static void read_all(const char *path)
{
	struct reader_options options = { .path = path, .sink = read_back };
	char error[READER_ERROR_MAX];
	struct reader *reader = reader_start(&options, error);

	CHECK(reader);
	CHECK(reader_wait_end(reader, 30000));
	CHECK_INT(reader_state(reader), READER_ENDED);
	reader_free(reader);
	CHECK_INT(n_read, n_written);
}

static struct ctf_writer *start(const char *path, unsigned int streams)
{
	struct ctf_writer_options options = {
		.path = path, .host = "somewhere", .offset_ns = 1234567890123, .streams = streams,
	};
	char error[512] = "";
	struct ctf_writer *writer = ctf_writer_new(&options, error, sizeof(error));

	CHECK_STR(error, "");
	return writer;
}

static void finish(struct ctf_writer *writer)
{
	char error[512] = "";

	CHECK(ctf_writer_close(writer, error, sizeof(error)));
	CHECK_STR(error, "");
}

TEST(ctf_writer_all_events)
{
	const char *path = test_folder();
	char trace[TEST_PATH_MAX];
	struct ctf_writer *writer;
	int64_t now = START_NS;

	snprintf(trace, sizeof(trace), "%s/a/trace", path);
	writer = start(trace, 3);
	written = calloc(EVENTS, sizeof(*written));
	while (n_written < EVENTS) {
		/* Different times: those of one moment may come in another order. */
		now += 1 + (int64_t)test_below(1000000);
		written[n_written++] = random_event(now);
	}
	for (size_t i = 0; i < n_written; i += 100)
		CHECK(ctf_writer_add(writer, written + i, 100));
	finish(writer);
	read_all(path);
	CHECK_INT(n_lost, 0);
	free(written);
}

/* An earlier event is moved to the latest, an unknown one left out. */
TEST(ctf_writer_order)
{
	const char *path = test_folder();
	char trace[TEST_PATH_MAX];
	struct event events[4] = { random_event(START_NS), random_event(START_NS - 500),
				   random_event(START_NS + 1), { .type = EVENT_ALIVE } };
	struct ctf_writer *writer;

	snprintf(trace, sizeof(trace), "%s/trace", path);
	for (int i = 0; i < 3; i++)
		events[i].type = EVENT_FREE, events[i].u.free.allocator = (uint32_t)i;
	writer = start(trace, 1);
	CHECK(ctf_writer_add(writer, events, 4));
	finish(writer);
	events[1].time_ns = START_NS;
	written = events;
	n_written = 3;
	read_all(path);
}

static struct event loss(int64_t begin_ns, int64_t end_ns, uint64_t count, bool packets)
{
	return (struct event) {
		.type = EVENT_LOST, .time_ns = begin_ns,
		.u.lost = { begin_ns, end_ns, count, packets },
	};
}

TEST(ctf_writer_losses)
{
	const char *path = test_folder();
	char trace[TEST_PATH_MAX];
	struct ctf_writer *writer;
	struct event all[] = {
		loss(START_NS, START_NS + 10, 5, false),
		random_event(START_NS + 4), random_event(START_NS + 20),
		loss(START_NS + 30, START_NS + 50, 7, false),
		random_event(START_NS + 40), random_event(START_NS + 60),
		loss(START_NS + 70, START_NS + 80, 2, true),
		random_event(START_NS + 90),
		loss(START_NS + 95, START_NS + 99, 9, false),
	};
	struct event events[5];

	snprintf(trace, sizeof(trace), "%s/trace", path);
	written = events;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].type != EVENT_LOST)
			events[n_written++] = all[i];
	writer = start(trace, 2);
	CHECK(ctf_writer_add(writer, all, sizeof(all) / sizeof(all[0])));
	finish(writer);
	read_all(path);
	CHECK_INT(n_lost, 4);
	CHECK(lost[0].begin_ns == START_NS && lost[0].end_ns == START_NS + 10 &&
	      lost[0].count == 5);
	CHECK(lost[1].begin_ns == START_NS + 30 && lost[1].end_ns == START_NS + 50 &&
	      lost[1].count == 7);
	CHECK(lost[2].packets && lost[2].count == 2);
	CHECK(lost[2].begin_ns == START_NS + 70 && lost[2].end_ns == START_NS + 80);
	CHECK(lost[3].begin_ns == START_NS + 95 && lost[3].end_ns == START_NS + 99 &&
	      lost[3].count == 9);
}

/* Nothing at all is a trace, too. */
TEST(ctf_writer_empty)
{
	const char *path = test_folder();
	char trace[TEST_PATH_MAX];

	snprintf(trace, sizeof(trace), "%s/trace", path);
	finish(start(trace, 2));
	read_all(path);
}

TEST(ctf_writer_errors)
{
	struct rlimit limit = { 100000, 100000 };
	const char *path = test_folder();
	char trace[TEST_PATH_MAX], error[512] = "";
	struct ctf_writer_options options = { .path = path, .host = "" };
	struct ctf_writer *writer;
	struct event event = random_event(START_NS);
	int i;

	/* The folder exists. */
	CHECK(!ctf_writer_new(&options, error, sizeof(error)));
	CHECK(error[0]);
	snprintf(trace, sizeof(trace), "%s/trace", path);
	writer = start(trace, 1);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	for (i = 0; i < EVENTS && ctf_writer_add(writer, &event, 1); i++)
		;
	CHECK(i < EVENTS);
	CHECK(!ctf_writer_add(writer, &event, 1));
	error[0] = '\0';
	CHECK(!ctf_writer_close(writer, error, sizeof(error)));
	CHECK(strstr(error, "File too large"));
}
