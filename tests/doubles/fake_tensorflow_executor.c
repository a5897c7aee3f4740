/* SPDX-License-Identifier: MIT */
/*
 * The library that has TensorFlow's executor and the iterators of tf.data, beside
 * fake_tensorflow.c: it shares the trace level with the others through an address in
 * a table of its own, and an iterator's call makes an event at level 2.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define ITERATOR "_ZN10tensorflow4data19DatasetBaseIterator"

struct string {
	char *text;
	size_t length;
	char inside[16];
};
struct event {
	struct string name;
	int64_t start_ns, end_ns;
};
struct iterator {
	const char *name;
	struct iterator *below;
	long own_ns;
	struct string path;	/* beginning of the name */
};

extern int trace_level NAMED("_ZN3tsl8profiler8internal13g_trace_levelE");
extern void record(struct event *e) NAMED("_ZN3tsl8profiler15TraceMeRecorder6RecordEONS1_5EventE");
API void new_executor(void)
	NAMED("_ZN10tensorflow11NewExecutorERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
	      "RKNS_19LocalExecutorParamsERKNS_5GraphEPSt10unique_ptrINS_8ExecutorE"
	      "St14default_deleteISF_EE");
API struct string *trace_name(struct string *s, struct iterator *it)
	NAMED(ITERATOR "16BuildTraceMeNameB5cxx11Ev");
API const struct string *iterator_path(struct iterator *it)
	NAMED("_ZNK10tensorflow4data19DatasetBaseIterator6prefixB5cxx11Ev");
API void *get_next(void **status, struct iterator *it, void *context, void *tensors, bool *end)
	NAMED(ITERATOR "7GetNextEPNS0_15IteratorContextEPSt6vectorINS_6TensorESaIS5_EEPb");

/* declared like this because a compiler may call a function of the same file without the table */
API extern void *volatile fake_iterator_vtable[];
void *volatile fake_iterator_vtable[] = { (void *)get_next };
typedef void *get(void **status, struct iterator *it, void *context, void *tensors, bool *end);

void new_executor(void)
{
}

struct string *trace_name(struct string *s, struct iterator *it)
{
	s->length = strlen(it->name);
	s->text = s->length < sizeof(s->inside) ? s->inside : malloc(s->length + 1);
	memcpy(s->text, it->name, s->length + 1);
	return s;
}

const struct string *iterator_path(struct iterator *it)
{
	it->path.text = (char *)(uintptr_t)it->name;
	it->path.length = strcspn(it->name, "#");
	return &it->path;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void *get_next(void **status, struct iterator *it, void *context, void *tensors, bool *end)
{
	struct timespec own = { 0, it->own_ns };
	struct event e = { .start_ns = trace_level >= 2 ? now_ns() : 0 };

	nanosleep(&own, NULL);
	if (it->below)
		((get *)fake_iterator_vtable[0])(status, it->below, context, tensors, end);
	else
		*end = context == (void *)1 && tensors == (void *)2;
	if (e.start_ns) {
		trace_name(&e.name, it);
		e.end_ns = now_ns();
		record(&e);
		if (e.name.text != e.name.inside)
			free(e.name.text);
	}
	*status = (void *)0x99;
	return status;
}

/* Takes elements from a pipeline of three stages; returns the number of correct ones. */
API int fake_fetch(int elements, bool parallel);
int fake_fetch(int elements, bool parallel)
{
	struct iterator map = {
		parallel ? "Iterator::Root::Prefetch::ParallelMap#parallelism=2,autotune=false#" :
		"Iterator::Root::Prefetch::Map", NULL, 1000000, { 0 },
	};
	struct iterator prefetch = {
		"Iterator::Root::Prefetch#buffer_limit=4,buffered_elements=3#", &map, 2000000,
		{ 0 },
	};
	struct iterator root = { "Iterator::Root", &prefetch, 1000000, { 0 } };
	int right = 0;

	for (int i = 0; i < elements; i++) {
		void *status = NULL;
		bool end = false;

		right += get_next(&status, &root, (void *)1, (void *)2, &end) == &status &&
			 status == (void *)0x99 && end;
	}
	return right;
}

/* The level that this library uses, and the address where it reads it. */
API int fake_executor_level(const int **at);
int fake_executor_level(const int **at)
{
	*at = &trace_level;
	return trace_level;
}
