/* SPDX-License-Identifier: MIT */
#include "probes/cuda/family.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/runtime/runtime.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* ---- what the library exports ---- */

typedef void complete_v2_fn(uint8_t *buffer, size_t size, size_t valid, void *info);
typedef void request_v2_fn(uint8_t **buffer, size_t *size, size_t *max_records, void *info);

/* Both families, under the library's own names; the first argument of the second family is the
 * subscriber. */
static struct {
	int (*subscribe)(struct cupti_subscriber **, cupti_callback_fn *, void *);
	int (*subscribe_v2)(struct cupti_subscriber **, cupti_callback_fn *, void *,
			    struct cupti_subscriber_params *);
	int (*unsubscribe)(struct cupti_subscriber *);
	int (*enable_callback)(uint32_t, struct cupti_subscriber *, uint32_t, uint32_t);
	int (*enable_domain)(uint32_t, struct cupti_subscriber *, uint32_t);

	int (*register_callbacks_v2)(struct cupti_subscriber *, request_v2_fn *, complete_v2_fn *);
	int (*enable_v2)(struct cupti_subscriber *, uint32_t, void *);
	int (*disable_v2)(struct cupti_subscriber *, uint32_t, void *);
	int (*next_record_v2)(struct cupti_subscriber *, uint8_t *, size_t, void **);
	int (*num_dropped_v2)(struct cupti_subscriber *, void *, uint32_t, size_t *);
	int (*set_attribute_v2)(struct cupti_subscriber *, uint32_t, size_t *, void *);
	int (*timestamp_v2)(struct cupti_subscriber *, uint64_t *);
	int (*driver_records_v2)(struct cupti_subscriber *, uint32_t, uint8_t);
} vendor;

static struct cupti_library *lib, first;	/* first: with the functions of the first family */
static struct cupti_subscriber *ours;
static cupti_request_fn *requested;
static cupti_complete_fn *completed;

enum need { NEEDED, WANTED };

/* Where a function is stored here, and its name in the library. */
struct export {
	void *to;
	const char *name;
	enum need need;
	const char *feature; /* the feature that is off without it; NULL: not worth mentioning */
};

/* The first family is stored in the library's struct directly. */
static const char *resolve(const struct export *exports, size_t n, void *handle)
{
	const char *lacks = NULL;

	for (size_t i = 0; i < n; i++) {
		void *found = dlsym(handle, exports[i].name);

		memcpy(exports[i].to, &found, sizeof(found));
		if (!found && exports[i].need == NEEDED && !lacks)
			lacks = exports[i].name;
	}
	return lacks;
}

static bool is_there(const struct export *e)
{
	void *found;

	memcpy(&found, e->to, sizeof(found));
	return found;
}

/* ---- calls that take a subscriber in both families ---- */

static int call_enable_callback(uint32_t on, uint32_t domain, uint32_t id)
{
	return vendor.enable_callback(on, ours, domain, id);
}

static int call_enable_domain(uint32_t on, uint32_t domain)
{
	return vendor.enable_domain(on, ours, domain);
}

/* ---- the second family ---- */

/* Called on any thread, possibly under CUPTI's locks. */
static void several_request(uint8_t **buffer, size_t *size, size_t *max_records, void *info)
{
	(void)info;
	requested(buffer, size, max_records);
}

static void several_complete(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	completed(NULL, CUPTI_ID_NONE, buffer, size, valid);
}

static int several_register(cupti_request_fn *request, cupti_complete_fn *complete)
{
	requested = request;
	completed = complete;
	return vendor.register_callbacks_v2(ours, several_request, several_complete);
}

static int several_enable(uint32_t kind)
{
	return vendor.enable_v2(ours, kind, NULL);
}

static int several_disable(uint32_t kind)
{
	return vendor.disable_v2(ours, kind, NULL);
}

static int several_next(uint8_t *buffer, size_t valid, void **record)
{
	return vendor.next_record_v2(ours, buffer, valid, record);
}

static int several_dropped(void *context, uint32_t stream, size_t *dropped)
{
	return vendor.num_dropped_v2(ours, context, stream, dropped);
}

static int several_timestamp(uint64_t *ns)
{
	return vendor.timestamp_v2(ours, ns);
}

static int several_driver_records(uint32_t number, uint8_t on)
{
	return vendor.driver_records_v2(ours, number, on);
}

/* Switches of the first family are attributes of one byte in the second. */
static int set_byte(uint32_t attribute, uint8_t value)
{
	size_t size = sizeof(value);

	return vendor.set_attribute_v2(ours, attribute, &size, &value);
}

static void use_first(void)
{
	lib->several = false;
	lib->register_buffers = first.register_buffers;
	lib->enable = first.enable;
	lib->disable = first.disable;
	lib->next_record = first.next_record;
	lib->num_dropped = first.num_dropped;
	lib->timestamp = first.timestamp;
	lib->driver_records = first.driver_records;
}

static void use_several(void)
{
	lib->several = true;
	lib->register_buffers = several_register;
	lib->enable = several_enable;
	lib->disable = several_disable;
	lib->next_record = several_next;
	lib->num_dropped = several_dropped;
	lib->timestamp = several_timestamp;
	lib->driver_records = several_driver_records;
}

/* ---- resolving ---- */

#define OF_VENDOR(field, name) { &vendor.field, name, WANTED, NULL }

static bool has_several(void *handle)
{
	const struct export all[] = {
		OF_VENDOR(register_callbacks_v2, "cuptiActivityRegisterCallbacks_v2"),
		OF_VENDOR(enable_v2, "cuptiActivityEnable_v2"),
		OF_VENDOR(disable_v2, "cuptiActivityDisable_v2"),
		OF_VENDOR(next_record_v2, "cuptiActivityGetNextRecord_v2"),
		OF_VENDOR(num_dropped_v2, "cuptiActivityGetNumDroppedRecords_v2"),
		OF_VENDOR(set_attribute_v2, "cuptiActivitySetAttribute_v2"),
		OF_VENDOR(timestamp_v2, "cuptiGetTimestamp_v2"),
		OF_VENDOR(driver_records_v2, "cuptiActivityEnableDriverApi_v2"),
	};
	bool complete = true;

	resolve(all, ARRAY_LEN(all), handle);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		complete = complete && is_there(&all[i]);
	return complete;
}

static bool several_there;
static char missing[400];

static void note_missing(const struct export *exports, size_t n)
{
	size_t at = 0;

	missing[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		int wrote;

		if (is_there(&exports[i]) || !exports[i].feature)
			continue;
		wrote = snprintf(missing + at, sizeof(missing) - at, "%s%s", at ? ", " : "",
				 exports[i].feature);
		if (wrote < 0 || (size_t)wrote >= sizeof(missing) - at)
			break;
		at += (size_t)wrote;
	}
}

const char *family_resolve(struct cupti_library *l, void *handle)
{
	const struct export plain[] = {
		{ &vendor.subscribe, "cuptiSubscribe", NEEDED, NULL },
		{ &vendor.unsubscribe, "cuptiUnsubscribe", NEEDED, NULL },
		{ &vendor.enable_callback, "cuptiEnableCallback", NEEDED, NULL },
		{ &vendor.enable_domain, "cuptiEnableDomain", NEEDED, NULL },
		{ &vendor.subscribe_v2, "cuptiSubscribe_v2", WANTED,
		  "names of other clients (13.0)" },
		{ &l->result_string, "cuptiGetResultString", NEEDED, NULL },
		{ &l->register_buffers, "cuptiActivityRegisterCallbacks", NEEDED, NULL },
		{ &l->enable, "cuptiActivityEnable", NEEDED, NULL },
		{ &l->disable, "cuptiActivityDisable", NEEDED, NULL },
		{ &l->next_record, "cuptiActivityGetNextRecord", NEEDED, NULL },
		{ &l->num_dropped, "cuptiActivityGetNumDroppedRecords", NEEDED, NULL },
		{ &l->flush_all, "cuptiActivityFlushAll", NEEDED, NULL },
		{ &l->timestamp, "cuptiGetTimestamp", NEEDED, NULL },
		{ &l->get_context_id, "cuptiGetContextId", NEEDED, NULL },
		{ &l->get_device_id, "cuptiGetDeviceId", NEEDED, NULL },
		{ &l->get_stream_id, "cuptiGetStreamIdEx", NEEDED, NULL },
		{ &l->get_graph_node_id, "cuptiGetGraphNodeId", WANTED, "ops of graph nodes" },
		{ &l->get_graph_exec_id, "cuptiGetGraphExecId", WANTED,
		  "ids of executable graphs (12.3)" },
		{ &l->driver_records, "cuptiActivityEnableDriverApi", WANTED,
		  "records of chosen calls (12.5)" },
	};
	const char *lacks = resolve(plain, ARRAY_LEN(plain), handle);

	lib = l;
	note_missing(plain, ARRAY_LEN(plain));
	several_there = vendor.subscribe_v2 && has_several(handle);
	l->several = false;
	l->enable_callback = call_enable_callback;
	l->enable_domain = call_enable_domain;
	first = *l;
	return lacks;
}

bool family_second(void)
{
	return several_there;
}

/* ---- subscribing ---- */

static bool want_several(void)
{
	char value[16];
	const char *chosen = rt_env(TFT_CUPTI_SHARED_ENV, value, sizeof(value));

	/* 13.3 could crash when two clients asked for device work at once */
	return several_there && lib->version >= 130301 && !(chosen && !strcmp(chosen, "0"));
}

static int subscribe_v2(cupti_callback_fn *callback, void *user, bool allow, char *other,
			size_t size)
{
	char room[CUPTI_SUBSCRIBER_OLD + 1] = "";
	struct cupti_subscriber_params params = {
		.size = lib->version >= 130200 ? CUPTI_SUBSCRIBER_PARAMS_132 :
						 CUPTI_SUBSCRIBER_PARAMS_130,
		.name = "tftop", .old_name = room, .old_size = CUPTI_SUBSCRIBER_OLD,
		.allow_others = allow,
	};
	int result = vendor.subscribe_v2(&ours, callback, user, &params);

	if (result && other && size)
		snprintf(other, size, "%s", room);
	return result;
}

/* Subscribes so that others may subscribe, too; otherwise undoes everything. */
static bool subscribe_several(cupti_callback_fn *callback, void *user, bool whole_graphs,
			      char *other, size_t size)
{
	uint64_t now = 0;

	if (subscribe_v2(callback, user, true, other, size)) {
		ours = NULL;
		return false;
	}
	if (vendor.timestamp_v2(ours, &now) || !now) {
		vendor.unsubscribe(ours);
		ours = NULL;
		return false;
	}
	use_several();
	/* if this is not set, whole graphs are impossible; if it is refused, nothing is worse */
	if (whole_graphs)
		set_byte(CUPTI_ATTR_GRAPH_TRACE, 1);
	return true;
}

int cupti_subscribe(cupti_callback_fn *callback, void *user, bool whole_graphs, char *other,
		    size_t size)
{
	int result;

	if (size)
		*other = '\0';
	use_first();
	if (want_several() && subscribe_several(callback, user, whole_graphs, other, size))
		return CUPTI_OK;
	result = vendor.subscribe(&ours, callback, user);
	if (!result) {
		if (size)
			*other = '\0';
		return CUPTI_OK;
	}
	ours = NULL;
	if (result != CUPTI_BUSY || !vendor.subscribe_v2 || (size && *other))
		return result;
	/* only to learn who it is; if they have unsubscribed by now, so does tftop */
	if (!subscribe_v2(callback, user, false, other, size)) {
		vendor.unsubscribe(ours);
		ours = NULL;
	}
	return result;
}

int cupti_unsubscribe(void)
{
	int result = ours ? vendor.unsubscribe(ours) : CUPTI_INVALID_PARAMETER;

	ours = NULL;
	use_first();
	return result;
}

void cupti_share(struct cupti_subscriber *client)
{
	use_first();
	ours = client;
}

void cupti_unshare(void)
{
	ours = NULL;
}

const char *cupti_text(int result)
{
	const char *text = NULL;

	if (lib && lib->result_string && !lib->result_string(result, &text) && text)
		return text;
	return "an error without a name";
}

const char *cupti_missing(const struct cupti_library *l)
{
	(void)l;
	return missing;
}
