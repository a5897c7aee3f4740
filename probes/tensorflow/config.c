/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's settings: the ConfigProto that the program passes to the C API, the environment, and
 * the devices. Sent as tft_info, once and at a dump.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/graphdef.h"
#include "probes/tensorflow/probe.h"

#define INFOS_MAX 32u
#define VALUE_BYTES 256

static struct info {
	const char *key;	/* a constant */
	char value[VALUE_BYTES];
} infos[INFOS_MAX];
static uint32_t n_infos;
static atomic_flag infos_busy = ATOMIC_FLAG_INIT;
static atomic_bool no_partitions, told_environment;

static void tf_config_tell(const char *key, const char *value)
{
	uint32_t i;

	while (atomic_flag_test_and_set_explicit(&infos_busy, memory_order_acquire))
		;
	for (i = 0; i < n_infos && strcmp(infos[i].key, key); i++)
		;
	if (i < INFOS_MAX) {
		infos[i].key = key;
		snprintf(infos[i].value, sizeof(infos[i].value), "%s", value);
		n_infos += i == n_infos;
	}
	atomic_flag_clear_explicit(&infos_busy, memory_order_release);
	rt_emit_info("tensorflow", key, value);
}

void tf_config_dump(void)
{
	for (uint32_t i = 0; i < n_infos; i++)
		rt_emit_info("tensorflow", infos[i].key, infos[i].value);
}

bool tf_config_no_partitions(void)
{
	return atomic_load_explicit(&no_partitions, memory_order_relaxed);
}

/* ---- the environment ---- */

static void tell_environment(void)
{
	static const char *const names[] = {
		"TF_XLA_FLAGS", "XLA_FLAGS", "TF_ENABLE_ONEDNN_OPTS", "TF_NUM_INTRAOP_THREADS",
		"TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS", "TF_FORCE_GPU_ALLOW_GROWTH",
		"TF_GPU_ALLOCATOR", "TF_GPU_THREAD_MODE", "TF_DETERMINISTIC_OPS",
		"CUDA_VISIBLE_DEVICES",
	};
	const char *(*version)(void);
	char text[PATH_MAX];
	const char *value;

	if (atomic_exchange(&told_environment, true))
		return;
	*(void **)&version = tf_lib->find("TF_Version");
	if (version && (value = version()))
		tf_config_tell("version", value);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((value = rt_env(names[i], text, sizeof(text))))
			tf_config_tell(names[i], value);
}

/* ---- ConfigProto ---- */

static void tell_threads(const char *key, uint64_t count)
{
	char text[64];

	if (count)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	else
		snprintf(text, sizeof(text), "as many as cores");
	tf_config_tell(key, text);
}

static void read_gpu_options(struct pb options)
{
	struct pb_field f;
	double share;
	char text[64];

	while (pb_next(&options, &f)) {
		if (pb_is(&f, 4))
			tf_config_tell("gpu memory growth", f.value ? "yes" : "no");
		if (f.number != 1 || f.type != PB_FIXED64 || !f.value)
			continue;
		memcpy(&share, &f.value, sizeof(share));
		snprintf(text, sizeof(text), "%.0f %%", share * 100);
		tf_config_tell("gpu memory at most", text);
	}
}

static void read_experimental(struct pb options)
{
	struct pb_field f;

	while (pb_next(&options, &f))
		if (pb_is(&f, 14) && f.value)		/* disable_output_partition_graphs */
			atomic_store(&no_partitions, true);
}

/* GraphOptions: optimizer_options(3).global_jit_level(5) */
static void read_graph_options(struct pb options)
{
	struct pb_field f, g;

	while (pb_next(&options, &f))
		if (pb_bytes(&f, 3))
			while (pb_next(&f.bytes, &g))
				if (pb_is(&g, 5))
					tf_config_tell("XLA of whole graphs",
						       (int64_t)g.value > 0 ? "on" : "off");
}

static void read_config(const void *proto, size_t size, bool speak)
{
	struct pb message = pb_of(proto, size);
	uint64_t intra = 0, inter = 0;
	bool soft = false;
	struct pb_field f;

	while (pb_next(&message, &f)) {
		if (pb_bytes(&f, 16))
			read_experimental(f.bytes);
		else if (pb_is(&f, 2))
			intra = f.value;
		else if (pb_is(&f, 5))
			inter = f.value;
		else if (pb_is(&f, 7))
			soft = f.value;
		else if (speak && pb_bytes(&f, 6))
			read_gpu_options(f.bytes);
		else if (speak && pb_bytes(&f, 10))
			read_graph_options(f.bytes);
	}
	if (!speak)
		return;
	tell_threads("threads inside of an op", intra);
	tell_threads("threads for ops", inter);
	tf_config_tell("soft placement", soft ? "yes" : "no");
	tell_environment();
}

static void configured(enum tft_tf_function function, void *options, const void *proto,
		       size_t size, void *status)
{
	void (*original)(void *, const void *, size_t, void *) =
		(void (*)(void *, const void *, size_t, void *))tf_original(function);
	int saved;

	original(options, proto, size, status);
	saved = errno;
	if (proto)
		read_config(proto, size, rt_level() != TFT_LEVEL_OFF);
	errno = saved;
}

void tf_options_set_config(void *options, const void *proto, size_t size, void *status)
{
	configured(TFT_TF_OPTIONS_SET_CONFIG, options, proto, size, status);
}

void tf_set_config(void *options, const void *proto, size_t size, void *status)
{
	configured(TFT_TF_SET_CONFIG, options, proto, size, status);
}

/* ---- devices ---- */

void tf_config_context(void *context)
{
	void *(*list)(void *, void *), *(*new_status)(void), *status, *devices;
	void (*delete_list)(void *), (*delete_status)(void *);
	int (*count)(const void *);
	const char *(*name_of)(const void *, int, void *), *name;
	char text[VALUE_BYTES] = "";
	size_t length = 0;

	tell_environment();
	*(void **)&list = tf_lib->find("TFE_ContextListDevices");
	*(void **)&delete_list = tf_lib->find("TF_DeleteDeviceList");
	*(void **)&count = tf_lib->find("TF_DeviceListCount");
	*(void **)&name_of = tf_lib->find("TF_DeviceListName");
	*(void **)&new_status = tf_lib->find("TF_NewStatus");
	*(void **)&delete_status = tf_lib->find("TF_DeleteStatus");
	if (!list || !delete_list || !count || !name_of || !new_status || !delete_status ||
	    !(status = new_status()))
		return;
	devices = list(context, status);
	for (int i = 0; devices && i < count(devices) && length < sizeof(text); i++) {
		name = name_of(devices, i, status);
		if (name && strstr(name, "/device:"))
			name = strstr(name, "/device:") + 8;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   length ? " " : "", name ? name : "?");
	}
	if (*text)
		tf_config_tell("devices", text);
	if (devices)
		delete_list(devices);
	delete_status(status);
}
