/* SPDX-License-Identifier: MIT */
/* The double of CUPTI: settings, subscriber, callbacks, ids. See cupti_double.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/cupti_double.h"

#define FAULTS 8
#define DRIVER_IDS 1024

struct cupti_subscriber {
	cupti_callback_fn *callback;
	void *user;
	bool gone;
};

struct fault {
	char function[64];
	int at, result;
	unsigned int slow_us;
	atomic_int calls;
};

struct cu_settings cu;
__thread const char *cu_inside;
atomic_bool cu_subscribed;
static struct cupti_subscriber subscriber;
struct cupti_subscriber *const cu_subscriber = &subscriber;
int cu_family;
static atomic_bool wanted[CUPTI_DOMAIN_STATE + 1][DRIVER_IDS];

void cu_set(atomic_bool *at, size_t n, bool on)
{
	for (size_t i = 0; i < n; i++)
		atomic_store_explicit(&at[i], on, memory_order_relaxed);
}

static struct fault faults[FAULTS];
static int n_faults;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread struct { uint64_t ids[32]; int n; } external[8];

void cu_die(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "libcupti double: %s\n", text);
	abort();
}

/* --- settings --------------------------------------------------------------- */

static void setting(const char *word)
{
	struct fault *f = &faults[n_faults];

	if (!strcmp(word, "disorder"))
		cu.disorder = true;
	else if (!strcmp(word, "half"))
		cu.half = true;
	else if (!strcmp(word, "uncorrelated"))
		cu.uncorrelated = true;
	else if (!strcmp(word, "torn"))
		cu.torn = true;
	else if (!strcmp(word, "tardy"))
		cu.tardy = true;
	else if (!strcmp(word, "clings"))
		cu.clings = true;
	else if (!strcmp(word, "bycall"))
		cu.by_call = true;
	else if (sscanf(word, "hold=%u", &cu.hold) == 1 || sscanf(word, "drop=%u", &cu.drop) == 1 ||
		 sscanf(word, "zero=%u", &cu.zero) == 1 || sscanf(word, "unknown=%u",
								  &cu.unknown) == 1 ||
		 sscanf(word, "overhead=%u", &cu.overhead) == 1 ||
		 sscanf(word, "busy=%63s", cu.busy) == 1)
		;
	else if (sscanf(word, "future=%u", &cu.future) == 1)
		cu.future = cu.future > 256 ? 256 : cu.future;
	else if (n_faults < FAULTS &&
		 (sscanf(word, "fail=%63[^:]:%d:%d", f->function, &f->at, &f->result) == 3 ||
		  sscanf(word, "slow=%63[^:]:%u", f->function, &f->slow_us) == 2))
		n_faults++;
	else
		cu_die("CUPTI_DOUBLE has '%s', which is no setting", word);
}

static void start(void)
{
	const char *given = getenv("CUPTI_DOUBLE");
	char *text = strdup(given ? given : ""), *rest = text, *word;

	while ((word = strsep(&rest, " ,")))
		if (*word)
			setting(word);
	free(text);
	atomic_store_explicit(&sim_tool, &cu_tool, memory_order_release);
}

static int fault_of(const char *function)
{
	int result = 0;

	for (int i = 0; i < n_faults; i++) {
		struct fault *f = &faults[i];
		int call;

		if (strcmp(f->function, function))
			continue;
		call = atomic_fetch_add(&f->calls, 1) + 1;
		if (f->slow_us)
			sim_sleep_until(sim_now() + f->slow_us * 1000ll);
		else if (!f->at || f->at == call)
			result = f->result;
	}
	return result;
}

/* Functions that may be called before the driver is started. */
static bool early(const char *function)
{
	return !strcmp(function, "cuptiGetVersion") || !strcmp(function, "cuptiGetTimestamp") ||
	       !strcmp(function, "cuptiGetResultString") ||
	       !strcmp(function, "cuptiActivityGetNextRecord") ||
	       !strcmp(function, "cuptiActivityRegisterCallbacks");
}

/* Functions of which the second family has its own versions. */
static bool of_first(const char *function)
{
	static const char *const names[] = {
		"cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityDisable",
		"cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords",
		"cuptiActivitySetAttribute", "cuptiActivityGetAttribute", "cuptiGetTimestamp",
		"cuptiActivityEnableDriverApi", "cuptiActivityEnableRuntimeApi",
		"cuptiActivityPushExternalCorrelationId", "cuptiActivityPopExternalCorrelationId",
		"cuptiActivityEnableLatencyTimestamps", "cuptiActivityRegisterTimestampCallback",
		"cuptiActivityEnableAllocationSource", "cuptiActivityEnableAllSyncRecords",
		"cuptiActivityEnableDeviceGraph", "cuptiSetThreadIdType",
		"cuptiActivityEnableCudaEventDeviceTimestamps",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], function))
			return true;
	return false;
}

int cu_before(const char *function)
{
	pthread_once(&once, start);
	if (cu_family == 2 && of_first(function))
		return CUPTI_NOT_COMPATIBLE;
	if (!sim_state) {
		if (RELEASE >= CUPTI_RELEASE(13, 2) && RELEASE < CUPTI_RELEASE(13, 3))
			cu_die("%s called before cuInit, which this release does not survive",
			       function);
		if (RELEASE >= CUPTI_RELEASE(13, 3))
			return CUPTI_UNKNOWN;
		if (!early(function))
			cu_die("%s called before cuInit", function);
	}
	return n_faults ? fault_of(function) : 0;
}

/* --- version, names, time --------------------------------------------------- */

/* The version number counts from 2 until 12.9, then it is the release itself; 1 is an update. */
static uint32_t version(void)
{
	static const uint32_t counted[][2] = {
		{ CUPTI_RELEASE(11, 4), 15 }, { CUPTI_RELEASE(11, 8), 18 }, { CUPTI_RELEASE(12, 2),
		20 },
		{ CUPTI_RELEASE(12, 6), 24 }, { CUPTI_RELEASE(12, 9), 28 },
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (counted[i][0] == RELEASE)
			return counted[i][1];
	return RELEASE / 1000 * 10000 + RELEASE / 10 % 100 * 100 + 1;
}

CUPTI(cuptiGetVersion, (uint32_t *, number))
{
	*number = version();
	return CUPTI_OK;
}

CUPTI(cuptiGetTimestamp, (uint64_t *, time))
{
	*time = (uint64_t)cu_time(sim_now());
	return CUPTI_OK;
}

CUPTI(cuptiGetResultString, (int, result), (const char **, text))
{
	static __thread char said[32];

	snprintf(said, sizeof(said), "CUPTI_DOUBLE_RESULT_%d", result);
	*text = said;
	return CUPTI_OK;
}

#if RELEASE >= CUPTI_RELEASE(12, 2)
CUPTI(cuptiGetErrorMessage, (int, result), (const char **, text))
{
	return cu_cuptiGetResultString(result, text);
}
#endif

CUPTI(cuptiGetCallbackName, (uint32_t, domain), (uint32_t, id), (const char **, name))
{
#define NAME(domain_, name_, id_, class_, stream_) \
	if (domain == CUPTI_DOMAIN_##domain_ && id == id_) { \
		*name = #name_; \
		return CUPTI_OK; \
	}
	CUPTI_DRIVER_CALLS(NAME)
	CUPTI_RUNTIME_CALLS(NAME)
#undef NAME
	return CUPTI_INVALID_PARAMETER;
}

/* --- the subscriber --------------------------------------------------------- */

static int subscribe(struct cupti_subscriber **handle, cupti_callback_fn *callback, void *user,
		     int family)
{
	if (cu.busy[0] || atomic_load(&cu_subscribed))
		return CUPTI_BUSY;
	subscriber = (struct cupti_subscriber){ callback, user, false };
	atomic_store(&cu_subscribed, true);
	*handle = &subscriber;
	cu_family = family;
	return CUPTI_OK;
}

CUPTI(cuptiSubscribe, (struct cupti_subscriber **, handle), (cupti_callback_fn *, callback),
      (void *, user))
{
	return subscribe(handle, callback, user, 1);
}

#if RELEASE >= CUPTI_RELEASE(13, 0)
CUPTI(cuptiSubscribe_v2, (struct cupti_subscriber **, handle), (cupti_callback_fn *, callback),
      (void *, user), (struct cupti_subscriber_params *, params))
{
	size_t size = RELEASE >= CUPTI_RELEASE(13, 2) ? CUPTI_SUBSCRIBER_PARAMS_132 :
		CUPTI_SUBSCRIBER_PARAMS_130;

	if (!params || params->size != size ||
	    (params->name && strlen(params->name) >= CUPTI_SUBSCRIBER_NAME) ||
	    (params->old_name && params->old_size < CUPTI_SUBSCRIBER_OLD))
		return CUPTI_INVALID_PARAMETER;
	if (cu.busy[0] && params->old_name)
		snprintf(params->old_name, params->old_size, "CUPTI for %s", cu.busy);
	return subscribe(handle, callback, user,
			 RELEASE >= CUPTI_RELEASE(13, 3) && params->allow_others ? 2 : 1);
}
#endif

static void check_handle(const struct cupti_subscriber *handle)
{
	if (handle != &subscriber)
		cu_die("%p is no subscriber", (const void *)handle);
	if (!atomic_load(&cu_subscribed))
		cu_die("a subscriber used after it unsubscribed");
}

CUPTI(cuptiUnsubscribe, (struct cupti_subscriber *, handle))
{
	check_handle(handle);
	if (cu_inside)
		cu_die("unsubscribed from %s", cu_inside);
	cu_set(wanted[0], sizeof(wanted) / sizeof(wanted[0][0]), false);
	atomic_store(&cu_subscribed, false);
	cu_family = 0;
	return CUPTI_OK;
}

CUPTI(cuptiFinalize, (void *, unused))
{
	cu_set(cu_kind, CUPTI_KIND_LIMIT, false);
	cu_set(cu_driver_api, 1024, false);
	cu_set(cu_runtime_api, 1024, false);
	cu_set(wanted[0], sizeof(wanted) / sizeof(wanted[0][0]), false);
	atomic_store(&cu_subscribed, false);
	cu_family = 0;
	cu_forget();
	return CUPTI_OK;
}

CUPTI(cuptiEnableCallback, (uint32_t, on), (struct cupti_subscriber *, handle),
      (uint32_t, domain), (uint32_t, id))
{
	check_handle(handle);
	if (!domain || domain > CUPTI_DOMAIN_STATE || !id || id >= DRIVER_IDS)
		return CUPTI_INVALID_PARAMETER;
	wanted[domain][id] = on;
	return CUPTI_OK;
}

CUPTI(cuptiEnableDomain, (uint32_t, on), (struct cupti_subscriber *, handle), (uint32_t, domain))
{
	check_handle(handle);
	if (!domain || domain > CUPTI_DOMAIN_STATE)
		return CUPTI_INVALID_PARAMETER;
	cu_set(wanted[domain], DRIVER_IDS, on != 0);
	return CUPTI_OK;
}

CUPTI(cuptiEnableAllDomains, (uint32_t, on), (struct cupti_subscriber *, handle))
{
	check_handle(handle);
	cu_set(wanted[0], sizeof(wanted) / sizeof(wanted[0][0]), on != 0);
	return CUPTI_OK;
}

CUPTI(cuptiGetCallbackState, (uint32_t *, on), (struct cupti_subscriber *, handle),
      (uint32_t, domain), (uint32_t, id))
{
	check_handle(handle);
	if (!domain || domain > CUPTI_DOMAIN_STATE || id >= DRIVER_IDS)
		return CUPTI_INVALID_PARAMETER;
	*on = wanted[domain][id];
	return CUPTI_OK;
}

bool cu_wanted(uint32_t domain, uint32_t id)
{
	return id < DRIVER_IDS && wanted[domain][id] &&
	       atomic_load_explicit(&cu_subscribed, memory_order_relaxed);
}

void cu_callback(uint32_t domain, uint32_t id, const void *data)
{
	const char *before = cu_inside;

	if (!cu_wanted(domain, id))
		return;
	if (domain == CUPTI_DOMAIN_RESOURCE)
		cu_inside = "a resource's callback";
	else if (domain == CUPTI_DOMAIN_SYNC)
		cu_inside = "a synchronisation's callback";
	else if (domain == CUPTI_DOMAIN_STATE)
		cu_inside = "a state's callback";
	subscriber.callback(subscriber.user, domain, id, data);
	cu_inside = before;
}

/* --- ids -------------------------------------------------------------------- */

CUPTI(cuptiGetContextId, (struct sim_context *, context), (uint32_t *, id))
{
	if (!context || context->magic != SIM_MAGIC_CONTEXT)
		return CUPTI_INVALID_CONTEXT;
	*id = context->uid;
	return CUPTI_OK;
}

CUPTI(cuptiGetDeviceId, (struct sim_context *, context), (uint32_t *, id))
{
	if (!context || context->magic != SIM_MAGIC_CONTEXT)
		return CUPTI_INVALID_CONTEXT;
	*id = (uint32_t)context->device->ordinal;
	return CUPTI_OK;
}

CUPTI(cuptiGetStreamIdEx, (struct sim_context *, context), (struct sim_stream *, stream),
      (uint8_t, per_thread), (uint32_t *, id))
{
	if ((uintptr_t)stream > 2) {
		if (stream->magic != SIM_MAGIC_STREAM)
			return CUPTI_INVALID_STREAM;
		*id = stream->id;
		return CUPTI_OK;
	}
	if (!stream && !per_thread && context && context->magic == SIM_MAGIC_CONTEXT)
		*id = context->null_stream->id;
	else
		*id = sim_stream_id(stream, per_thread);
	return *id ? CUPTI_OK : CUPTI_INVALID_STREAM;
}

CUPTI(cuptiGetGraphId, (struct sim_graph *, graph), (uint32_t *, id))
{
	if (!graph || graph->magic != SIM_MAGIC_GRAPH)
		return CUPTI_INVALID_PARAMETER;
	*id = graph->id;
	return CUPTI_OK;
}

#if RELEASE >= CUPTI_RELEASE(12, 3)
CUPTI(cuptiGetGraphExecId, (struct sim_graph *, graph), (uint32_t *, id))
{
	return cu_cuptiGetGraphId(graph, id);
}
#endif

CUPTI(cuptiGetGraphNodeId, (struct sim_node *, node), (uint64_t *, id))
{
	if (!node || node->magic != SIM_MAGIC_NODE)
		return CUPTI_INVALID_PARAMETER;
	*id = node->id;
	return CUPTI_OK;
}

/* --- the rest --------------------------------------------------------------- */

CUPTI(cuptiActivityPushExternalCorrelationId, (uint32_t, kind), (uint64_t, id))
{
	if (kind >= 8)
		return CUPTI_INVALID_PARAMETER;
	if (external[kind].n >= 32)
		return CUPTI_MAX_LIMIT;
	external[kind].ids[external[kind].n++] = id;
	return CUPTI_OK;
}

CUPTI(cuptiActivityPopExternalCorrelationId, (uint32_t, kind), (uint64_t *, id))
{
	if (kind >= 8)
		return CUPTI_INVALID_PARAMETER;
	if (!external[kind].n)
		return CUPTI_QUEUE_EMPTY;
	external[kind].n--;
	if (id)
		*id = external[kind].ids[external[kind].n];
	return CUPTI_OK;
}

CUPTI(cuptiActivitySetAttribute, (uint32_t, attribute), (size_t *, size), (const void *, value))
{
	static const uint8_t bytes[] = { 8, 0, 8, 8, 8, 1, 8, 8, 1, 1 };

	if (attribute > CUPTI_ATTR_PER_THREAD || !bytes[attribute] || !size || !value)
		return CUPTI_INVALID_PARAMETER;
	if (*size < bytes[attribute])
		return CUPTI_PARAMETER_SIZE;
	if (attribute == CUPTI_ATTR_PER_THREAD) {
		if (RELEASE < CUPTI_RELEASE(12, 3))
			return CUPTI_INVALID_PARAMETER;
		cu_per_thread = *(const uint8_t *)value;
	}
	return CUPTI_OK;
}

CUPTI(cuptiActivityGetAttribute, (uint32_t, attribute), (size_t *, size), (void *, value))
{
	if (!size || !value || *size < 8)
		return CUPTI_PARAMETER_SIZE;
	memset(value, 0, 8);
	if (attribute == CUPTI_ATTR_DEVICE_BUFFER_SIZE)
		*(size_t *)value = 8 << 20;
	return CUPTI_OK;
}

CUPTI(cuptiSetThreadIdType, (uint32_t, type))
{
	return CUPTI_OK;
}
