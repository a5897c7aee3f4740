/* SPDX-License-Identifier: MIT */
/*
 * Trace events of TSL, the base of TensorFlow and of XLA (tsl::profiler::TraceMe): what an event
 * looks like. A part of the probes of frameworks that have it, not a library of its own.
 *
 * An event arrives when it has ended, on the thread on which it ran, with begin and end; events
 * inside of it have come before. Sources: tsl/profiler/lib/traceme.h, traceme_encode.h,
 * tsl/profiler/backends/cpu/traceme_recorder.h.
 */
#ifndef PROBES_TRACEME_TRACEME_H
#define PROBES_TRACEME_TRACEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TraceMeRecorder::Event; the layout since TensorFlow 2.4, of the new string ABI. */
struct traceme_event {
	const char *name;
	size_t length;
	char inside[16];
	int64_t start_ns, end_ns;	/* CLOCK_REALTIME; <= 0: half of an event */
};
_Static_assert(sizeof(struct traceme_event) == 48, "layout of TraceMeRecorder::Event");

/* "name#key=value,key=value#"; *borrowed as long as the event is*. */
struct traceme {
	const char *name;
	size_t name_length;
	const char *values;		/* "key=value,key=value" */
	size_t values_length;		/* 0: none */
	int64_t start_ns, end_ns;	/* CLOCK_MONOTONIC */
};

/* Of a text, without times; *borrows the text*. */
void traceme_read(struct traceme *t, const char *text, size_t length);
/* to_mono_ns: what is to be added to its times. */
void traceme_split(struct traceme *t, const struct traceme_event *e, int64_t to_mono_ns);

/* The value of a key, up to the comma outside of brackets; false: not there. */
bool traceme_value(const struct traceme *t, const char *key, const char **value,
		   size_t *length);
/* As a number, of any sign; false: not there, or none. */
bool traceme_number(const struct traceme *t, const char *key, int64_t *number);

#endif
