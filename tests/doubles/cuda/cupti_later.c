/* SPDX-License-Identifier: MIT */
/*
 * The double of CUPTI: switches that came with later releases and change nothing here, and the
 * second family of functions. That family works with drivers from 13.3 on; an older one shows
 * at the subscriber's first timestamp. See cupti_double.h.
 */
#include <string.h>

#include "tests/doubles/cuda/cupti_double.h"

#define SWITCH(fn) \
	CUPTI(fn, (uint8_t, on)) \
	{ \
		return CUPTI_OK; \
	}

#if RELEASE >= CUPTI_RELEASE(12, 1)
CUPTI(cuptiGetGlobalCallbackState, (uint32_t *, state), (uint32_t, domain), (uint32_t, id))
{
	*state = cu_wanted(domain, id);
	return CUPTI_OK;
}
#endif
#if RELEASE >= CUPTI_RELEASE(12, 3)
SWITCH(cuptiActivityEnableDeviceGraph)
#endif
#if RELEASE >= CUPTI_RELEASE(12, 6)
SWITCH(cuptiActivityEnableAllocationSource)
#endif
#if RELEASE >= CUPTI_RELEASE(12, 8)
SWITCH(cuptiActivityEnableAllSyncRecords)
SWITCH(cuptiActivityEnableHWTrace)
#endif
#if RELEASE >= CUPTI_RELEASE(13, 0)
SWITCH(cuptiActivityEnableCudaEventDeviceTimestamps)
#endif
#if RELEASE >= CUPTI_RELEASE(13, 4)
CUPTI(cuptiGetCudaEventId, (const uint32_t *, event), (uint32_t *, id))
{
	if (!event || event[0] != SIM_MAGIC_EVENT)
		return CUPTI_INVALID_PARAMETER;
	*id = event[1];
	return CUPTI_OK;
}
#endif

#if RELEASE >= CUPTI_RELEASE(13, 3)

typedef void request_fn(uint8_t **buffer, size_t *size, size_t *most, void *about);
typedef void complete_fn(uint8_t *buffer, size_t size, size_t valid, void *about);

int cu_cuptiActivityRegisterCallbacks(cupti_request_fn *request, cupti_complete_fn *complete);
int cu_cuptiActivityEnable(uint32_t kind);
int cu_cuptiActivityDisable(uint32_t kind);
int cu_cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
int cu_cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count);
int cu_cuptiActivityEnableDriverApi(uint32_t id, uint8_t on);
int cu_cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t on);
int cu_cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
int cu_cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *id);
int cu_cuptiActivitySetAttribute(uint32_t attribute, size_t *size, const void *value);
int cu_cuptiActivityGetAttribute(uint32_t attribute, size_t *size, void *value);
int cu_cuptiGetTimestamp(uint64_t *time);
int cu_cuptiActivityRegisterTimestampCallback(cupti_timestamp_fn *clock);

static request_fn *requested;
static complete_fn *completed;

/* A function of the second family, for a client that subscribed with it. */
#define SECOND(fn, ...) \
	CUPTI(fn, (struct cupti_subscriber *, who), __VA_ARGS__)
#define OURS() do { \
	if (who != cu_subscriber || cu_family != 2) \
		return cu_family == 1 ? CUPTI_NOT_COMPATIBLE : CUPTI_INVALID_PARAMETER; \
} while (0)

static void ask(uint8_t **buffer, size_t *size, size_t *most)
{
	requested(buffer, size, most, NULL);
}

static void give(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct { size_t bytes; uint64_t thread; void **layouts; size_t n_layouts; } about = {
		sizeof(about), 0, NULL, 0 };

	(void)context;
	(void)stream;
	completed(buffer, size, valid, &about);
}

SECOND(cuptiActivityRegisterCallbacks_v2, (request_fn *, request), (complete_fn *, complete))
{
	OURS();
	requested = request;
	completed = complete;
	return cu_cuptiActivityRegisterCallbacks(ask, give);
}

SECOND(cuptiActivityEnable_v2, (uint32_t, kind), (void *, config))
{
	OURS();
	return config ? CUPTI_NOT_SUPPORTED : cu_cuptiActivityEnable(kind);
}

SECOND(cuptiActivityDisable_v2, (uint32_t, kind), (void *, config))
{
	OURS();
	return cu_cuptiActivityDisable(kind);
}

SECOND(cuptiActivityGetNextRecord_v2, (uint8_t *, buffer), (size_t, valid), (uint8_t **, record))
{
	OURS();
	return cu_cuptiActivityGetNextRecord(buffer, valid, record);
}

SECOND(cuptiActivityGetNumDroppedRecords_v2, (void *, context), (uint32_t, stream),
       (size_t *, count))
{
	OURS();
	return cu_cuptiActivityGetNumDroppedRecords(context, stream, count);
}

SECOND(cuptiActivityEnableDriverApi_v2, (uint32_t, id), (uint8_t, on))
{
	OURS();
	return cu_cuptiActivityEnableDriverApi(id, on);
}

SECOND(cuptiActivityEnableRuntimeApi_v2, (uint32_t, id), (uint8_t, on))
{
	OURS();
	return cu_cuptiActivityEnableRuntimeApi(id, on);
}

SECOND(cuptiActivityPushExternalCorrelationId_v2, (uint32_t, kind), (uint64_t, id))
{
	OURS();
	return cu_cuptiActivityPushExternalCorrelationId(kind, id);
}

SECOND(cuptiActivityPopExternalCorrelationId_v2, (uint32_t, kind), (uint64_t *, id))
{
	OURS();
	return cu_cuptiActivityPopExternalCorrelationId(kind, id);
}

SECOND(cuptiActivitySetAttribute_v2, (uint32_t, attribute), (size_t *, size), (void *, value))
{
	OURS();
	if (attribute == CUPTI_ATTR_TIMESTAMP)
		return cu_cuptiActivityRegisterTimestampCallback(*(cupti_timestamp_fn **)value);
	if (attribute == CUPTI_ATTR_LATENCY)
		cu_latency = *(const uint8_t *)value;
	if (attribute > CUPTI_ATTR_PER_THREAD)
		return attribute > CUPTI_ATTR_TIMESTAMP ? CUPTI_INVALID_PARAMETER : CUPTI_OK;
	return cu_cuptiActivitySetAttribute(attribute, size, value);
}

SECOND(cuptiActivityGetAttribute_v2, (uint32_t, attribute), (size_t *, size), (void *, value))
{
	OURS();
	return cu_cuptiActivityGetAttribute(attribute, size, value);
}

SECOND(cuptiGetTimestamp_v2, (uint64_t *, time))
{
	OURS();
	if (sim_settings.version < 13030)
		return CUPTI_NOT_SUPPORTED;
	return cu_cuptiGetTimestamp(time);
}

#endif
