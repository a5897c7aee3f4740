/* SPDX-License-Identifier: MIT */
/*
 * A host for libtftop_pluggable.so that calls it as TensorFlow does, and also wrongly.
 * pluggable_test PLUGIN RUNTIME; pluggable_test abi prints sizes and offsets.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/pluggable/api.h"
#include "probes/runtime/tap.h"
#include "formats/xplane.pb-c.h"
#include "tests/expect.h"

typedef void init_fn(struct tf_profiler_registration_params *params, struct tf_status *status);

static struct tp_profiler profiler;
static struct tp_profiler_fns fns;
static struct tf_profiler_registration_params params;
static struct rt_tap_work *work;
static uint32_t *count, *opens, *closes, *settles;
static bool *refuses;

static void reset(void)
{
	memset(&profiler, 0, sizeof(profiler));
	memset(&fns, 0, sizeof(fns));
	memset(&params, 0, sizeof(params));
	profiler.struct_size = SIZE_WITH(tp_profiler, device_type);
	fns.struct_size = SIZE_WITH(tp_profiler_fns, collect_data_xspace);
	params.struct_size = SIZE_WITH(tf_profiler_registration_params, destroy_profiler_fns);
	params.profiler = &profiler;
	params.profiler_fns = &fns;
}

static void registration(init_fn *init)
{
	init(NULL, NULL);
	for (int fault = 0; fault < 5; fault++) {
		reset();
		if (fault == 0)
			params.struct_size--;
		else if (fault == 1)
			profiler.struct_size = 8;
		else if (fault == 2)
			fns.struct_size = 0;
		else if (fault == 3)
			params.profiler = NULL;
		else
			params.profiler_fns = NULL;
		init(&params, NULL);
		EXPECT(!fns.start && !params.destroy_profiler && !profiler.device_type);
	}
	reset();
	params.struct_size += 64;	/* as a later version would have it */
	init(&params, NULL);
	EXPECT(params.struct_size == 64 && profiler.struct_size == 24 && fns.struct_size == 40);
	EXPECT(fns.start && fns.stop && fns.collect_data_xspace);
	EXPECT(params.destroy_profiler && params.destroy_profiler_fns);
	EXPECT(!strcmp(profiler.device_type, "TFTOP"));
	EXPECT(!params.major_version && !params.minor_version && params.patch_version == 1);
}

static size_t size_of(void)
{
	size_t size = 77;

	fns.collect_data_xspace(&profiler, NULL, &size, NULL);
	return size;
}

/* As TensorFlow does: the size first, then the buffer. Returns NULL if there is no data. */
static Xplane__XSpace *collected(void)
{
	size_t size = size_of(), again = size;
	uint8_t *buffer = malloc(size + 1);
	Xplane__XSpace *space;

	if (!size) {
		free(buffer);
		return NULL;
	}
	EXPECT(size_of() == size);
	fns.collect_data_xspace(&profiler, buffer, &again, NULL);
	EXPECT(again == size);
	space = xplane__xspace__unpack(NULL, size, buffer);
	free(buffer);
	EXPECT(space != NULL);
	EXPECT(size_of() == 0);		/* the data is returned only once */
	return space;
}

static struct rt_tap_work *add(uint32_t device, uint32_t queue, uint8_t direction, int64_t ns)
{
	struct rt_tap_work *w = &work[(*count)++];

	*w = (struct rt_tap_work) {
		.kind = direction ? TFT_KIND_COPY : TFT_KIND_KERNEL, .direction = direction,
		.queue = queue, .device = device, .gpu = device == 1, .correlation = *count,
		.start_ns = rt_now_ns(), .bytes = 4096, .name = "kernel", .op = "dense/MatMul",
		.device_name = "a device", .vendor = "somebody",
	};
	w->end_ns = w->start_ns + ns;
	return w;
}

static const char *stat_of(const Xplane__XPlane *plane, const Xplane__XEvent *event,
			   const char *name)
{
	for (size_t i = 0; i < event->n_stats; i++)
		for (size_t s = 0; s < plane->n_stat_metadata; s++)
			if (plane->stat_metadata[s]->key == event->stats[i]->metadata_id &&
			    !strcmp(plane->stat_metadata[s]->value->name, name))
				return event->stats[i]->str_value;
	return NULL;
}

static const char *name_of(const Xplane__XPlane *plane, const Xplane__XEvent *event)
{
	for (size_t i = 0; i < plane->n_event_metadata; i++)
		if (plane->event_metadata[i]->key == event->metadata_id)
			return plane->event_metadata[i]->value->name;
	return "";
}

static void a_session(void)
{
	const Xplane__XPlane *plane;
	Xplane__XSpace *space;
	struct timespec real;
	int64_t at;

	*count = 0;
	add(1, 3, 0, 5000);		/* before the session: not part of it */
	fns.start(&profiler, NULL);
	errno = 4711;
	add(2, 4, 0, 7000)->name = "other";
	*add(1, 3, 0, 2500) = (struct rt_tap_work) {
		.kind = TFT_KIND_KERNEL, .queue = 3, .device = 1, .gpu = 1, .start_ns = rt_now_ns(),
		.end_ns = rt_now_ns() + 1000000, .dims = 2, .global = { 100, 8 },
		.local = { 32, 4 },
		.name = "kernel", .op = "dense/MatMul", .device_name = "a device",
		.vendor = "somebody",
		.op_type = "_FusedMatMul",
	};
	add(1, 3, TFT_DIR_H2D, 900)->flags = TFT_CMD_PINNED | TFT_CMD_BLOCKING;
	add(1, 3, 0, 1)->name = NULL;	/* not written completely yet */
	clock_gettime(CLOCK_REALTIME, &real);
	fns.stop(&profiler, NULL);
	fns.stop(&profiler, NULL);
	add(1, 3, 0, 1);		/* after the session */
	space = collected();
	EXPECT(errno == 4711);
	EXPECT(space && space->n_planes == 2);
	plane = space->planes[0];
	EXPECT(!strcmp(plane->name, "/device:GPU:0") && plane->n_lines == 1 && plane->n_stats == 4);
	EXPECT(!strcmp(space->planes[1]->name, "/device:CUSTOM:0"));
	EXPECT(!strcmp(plane->lines[0]->name, "Stream #3(Compute,MemcpyH2D)"));
	EXPECT(plane->lines[0]->id == 3 && plane->lines[0]->n_events == 2);
	EXPECT(!strcmp(name_of(plane, plane->lines[0]->events[0]), "kernel"));
	EXPECT(!strcmp(name_of(plane, plane->lines[0]->events[1]), "MemcpyH2D"));
	EXPECT(!strcmp(name_of(space->planes[1], space->planes[1]->lines[0]->events[0]), "other"));
	EXPECT(plane->lines[0]->events[1]->duration_ps == 900000);
	EXPECT(!strcmp(stat_of(plane, plane->lines[0]->events[0], "kernel_details"),
		       "grid:4,2,1 block:32,4,1"));
	EXPECT(!strcmp(stat_of(plane, plane->lines[0]->events[1], "memcpy_details"),
		       "kind_src:pinned kind_dst:device size:4096 dest:1 async:0"));
	EXPECT(!strcmp(stat_of(plane, plane->lines[0]->events[0], "tf_op"),
		       "dense/MatMul:_FusedMatMul"));
	EXPECT(!strcmp(stat_of(plane, plane->lines[0]->events[1], "tf_op"), "dense/MatMul"));
	at = plane->lines[0]->timestamp_ns + plane->lines[0]->events[1]->offset_ps / 1000;
	EXPECT(at <= (int64_t)real.tv_sec * 1000000000 + real.tv_nsec + 1000000);
	EXPECT(at > (int64_t)real.tv_sec * 1000000000 + real.tv_nsec - 5000000000);
	xplane__xspace__free_unpacked(space, NULL);
}

static void out_of_order(void)
{
	uint8_t byte[4] = { 1, 2, 3, 4 };
	size_t size = 4;

	fns.collect_data_xspace(&profiler, NULL, NULL, NULL);
	EXPECT(size_of() == 0);			/* no session was started */
	fns.stop(&profiler, NULL);
	EXPECT(size_of() == 0);
	*count = 0;
	fns.start(&profiler, NULL);
	add(1, 1, 0, 10);
	EXPECT(size_of() == 0);			/* the session has not been stopped */
	fns.start(&profiler, NULL);		/* starts a new session */
	EXPECT(*opens == *closes + 1);
	fns.stop(&profiler, NULL);
	EXPECT(size_of() == 0);			/* the kernel ran before it */
	*count = 0;
	fns.start(&profiler, NULL);
	add(1, 1, 0, 10);
	fns.stop(&profiler, NULL);
	EXPECT(size_of() > 4);
	fns.collect_data_xspace(&profiler, byte, &size, NULL);	/* too small */
	EXPECT(size == 0 && byte[0] == 1 && byte[3] == 4);
	EXPECT(size_of() > 4);
	fns.start(&profiler, NULL);		/* data that was not collected is dropped */
	EXPECT(size_of() == 0);
	fns.stop(&profiler, NULL);
	*refuses = true;
	fns.start(&profiler, NULL);
	add(1, 1, 0, 10);
	fns.stop(&profiler, NULL);
	EXPECT(size_of() == 0);
	*refuses = false;
	EXPECT(*opens == *closes);
}

/* Fills the tap, with more names than a plane has room for. */
static void full(void)
{
	static char names[RT_TAP_MAX][12];
	Xplane__XSpace *space;

	*count = 0;
	fns.start(&profiler, NULL);
	for (uint32_t i = 0; i < RT_TAP_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "k%u", i % 5000);
		add(1 + i % 3, i % 7, 0, 100)->name = names[i];
	}
	fns.stop(&profiler, NULL);
	space = collected();
	EXPECT(space && space->n_planes == 3);
	for (uint32_t p = 0, n = 0; p < 3; p++) {
		for (size_t l = 0; l < space->planes[p]->n_lines; l++)
			n += space->planes[p]->lines[l]->n_events;
		EXPECT(p < 2 || n == RT_TAP_MAX);
	}
	xplane__xspace__free_unpacked(space, NULL);
}

static void abi(void)
{
#define PLACE(type, member) printf(#type "." #member " %zu\n", offsetof(struct type, member))
	PLACE(tp_profiler, struct_size);
	PLACE(tp_profiler, ext);
	PLACE(tp_profiler, device_type);
	PLACE(tp_profiler_fns, struct_size);
	PLACE(tp_profiler_fns, start);
	PLACE(tp_profiler_fns, stop);
	PLACE(tp_profiler_fns, collect_data_xspace);
	PLACE(tf_profiler_registration_params, struct_size);
	PLACE(tf_profiler_registration_params, major_version);
	PLACE(tf_profiler_registration_params, minor_version);
	PLACE(tf_profiler_registration_params, patch_version);
	PLACE(tf_profiler_registration_params, profiler);
	PLACE(tf_profiler_registration_params, profiler_fns);
	PLACE(tf_profiler_registration_params, destroy_profiler);
	PLACE(tf_profiler_registration_params, destroy_profiler_fns);
	printf("sizes %zu %zu %zu\n", SIZE_WITH(tp_profiler, device_type),
	       SIZE_WITH(tp_profiler_fns, collect_data_xspace),
	       SIZE_WITH(tf_profiler_registration_params, destroy_profiler_fns));
}

int main(int argc, char **argv)
{
	void *plugin, *runtime;
	init_fn *init;

	if (argc == 2 && !strcmp(argv[1], "abi")) {
		abi();
		return 0;
	}
	EXPECT(argc == 3);
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	EXPECT(plugin != NULL);
	init = (init_fn *)dlsym(plugin, "TF_InitProfiler");
	EXPECT(init != NULL);
	registration(init);
	fns.start(&profiler, NULL);		/* no runtime in the process */
	fns.stop(&profiler, NULL);
	EXPECT(size_of() == 0);
	runtime = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	EXPECT(runtime != NULL);
	work = dlsym(runtime, "fake_work");
	count = dlsym(runtime, "fake_count");
	opens = dlsym(runtime, "fake_opens");
	closes = dlsym(runtime, "fake_closes");
	settles = dlsym(runtime, "fake_settles");
	refuses = dlsym(runtime, "fake_refuses");
	for (int i = 0; i < 3; i++)
		a_session();
	EXPECT(*settles == 3);
	out_of_order();
	full();
	a_session();
	fns.start(&profiler, NULL);
	params.destroy_profiler_fns(&fns);	/* in the middle */
	params.destroy_profiler(&profiler);
	EXPECT(*opens == *closes && !profiler.device_type);
	return 0;
}
