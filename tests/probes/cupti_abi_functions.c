/* SPDX-License-Identifier: MIT */
/*
 * The third part of cupti_abi.c: the functions that probes/cuda/family.c calls through
 * pointers, by the vendor's own types. There an enum is a uint32_t and a handle a void *,
 * of the same size in a register; how many there are and which of them are 64 bits wide
 * is what could go wrong.
 */
#include <cupti_version.h>
#include "probes/cuda/library.h"
#include "tests/probes/cupti_abi.h"

/* In the vendor's types, as long as these: */
_Static_assert(sizeof(CUpti_ActivityKind) == 4 && sizeof(CUpti_CallbackDomain) == 4 &&
	       sizeof(CUpti_CallbackId) == 4 && sizeof(CUpti_ActivityAttribute) == 4 &&
	       sizeof(CUptiResult) == sizeof(int) && sizeof(CUpti_SubscriberHandle) == 8 &&
	       sizeof(CUcontext) == 8 && sizeof(CUstream) == 8, "");

#define TAKES(function, ...)                                                                \
	_Static_assert(__builtin_types_compatible_p(__typeof__(function),                   \
						    CUptiResult(__VA_ARGS__)),              \
		       #function " takes something else")
#define POINTS(type, ...)                                                                   \
	_Static_assert(__builtin_types_compatible_p(type, void (*)(__VA_ARGS__)),           \
		       #type " takes something else")

typedef CUpti_SubscriberHandle who;

TAKES(cuptiGetVersion, uint32_t *);
TAKES(cuptiGetResultString, CUptiResult, const char **);
TAKES(cuptiSubscribe, who *, CUpti_CallbackFunc, void *);
TAKES(cuptiUnsubscribe, who);
TAKES(cuptiEnableCallback, uint32_t, who, CUpti_CallbackDomain, CUpti_CallbackId);
TAKES(cuptiEnableDomain, uint32_t, who, CUpti_CallbackDomain);
TAKES(cuptiActivityRegisterCallbacks, CUpti_BuffersCallbackRequestFunc,
      CUpti_BuffersCallbackCompleteFunc);
TAKES(cuptiActivityEnable, CUpti_ActivityKind);
TAKES(cuptiActivityDisable, CUpti_ActivityKind);
TAKES(cuptiActivityGetNextRecord, uint8_t *, size_t, CUpti_Activity **);
TAKES(cuptiActivityGetNumDroppedRecords, CUcontext, uint32_t, size_t *);
TAKES(cuptiActivityFlushAll, uint32_t);
TAKES(cuptiGetTimestamp, uint64_t *);
TAKES(cuptiGetContextId, CUcontext, uint32_t *);
TAKES(cuptiGetDeviceId, CUcontext, uint32_t *);
TAKES(cuptiGetStreamIdEx, CUcontext, CUstream, uint8_t, uint32_t *);
TAKES(cuptiGetGraphNodeId, CUgraphNode, uint64_t *);
POINTS(CUpti_CallbackFunc, void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *);
POINTS(CUpti_BuffersCallbackRequestFunc, uint8_t **, size_t *, size_t *);
POINTS(CUpti_BuffersCallbackCompleteFunc, CUcontext, uint32_t, uint8_t *, size_t, size_t);

#if RELEASE >= 12030
TAKES(cuptiGetGraphExecId, CUgraphExec, uint32_t *);
#endif
#if RELEASE >= 12050
TAKES(cuptiActivityEnableDriverApi, CUpti_CallbackId, uint8_t);
#endif
#if RELEASE >= 13000
TAKES(cuptiSubscribe_v2, who *, CUpti_CallbackFunc, void *, CUpti_SubscriberParams *);
#endif
#if RELEASE >= 13030
TAKES(cuptiActivityRegisterCallbacks_v2, who, CUpti_BuffersCallbackRequestFunc_v2,
      CUpti_BuffersCallbackCompleteFunc_v2);
TAKES(cuptiActivityEnable_v2, who, CUpti_ActivityKind, CUpti_ActivityConfig *);
TAKES(cuptiActivityDisable_v2, who, CUpti_ActivityKind, CUpti_ActivityConfig *);
TAKES(cuptiActivityGetNextRecord_v2, who, uint8_t *, size_t, CUpti_Activity **);
TAKES(cuptiActivityGetNumDroppedRecords_v2, who, CUcontext, uint32_t, size_t *);
TAKES(cuptiActivitySetAttribute_v2, who, CUpti_ActivityAttribute, size_t *, void *);
TAKES(cuptiGetTimestamp_v2, who, uint64_t *);
TAKES(cuptiActivityEnableDriverApi_v2, who, CUpti_CallbackId, uint8_t);
POINTS(CUpti_BuffersCallbackRequestFunc_v2, uint8_t **, size_t *, size_t *,
       CUpti_BufferCallbackRequestInfo *);
POINTS(CUpti_BuffersCallbackCompleteFunc_v2, uint8_t *, size_t, size_t,
       CUpti_BufferCallbackCompleteInfo *);
#endif

/* ---- and ours, where the pointer is theirs as it is: line by line the same ---- */

#define OURS(field, ...)                                                                    \
	_Static_assert(__builtin_types_compatible_p(                                        \
			       __typeof__(*((struct cupti_library *)0)->field),             \
			       int(__VA_ARGS__)),                                           \
		       #field " takes something else")

OURS(result_string, int, const char **);
OURS(register_buffers, cupti_request_fn *, cupti_complete_fn *);
OURS(enable, uint32_t);
OURS(disable, uint32_t);
OURS(next_record, uint8_t *, size_t, void **);
OURS(num_dropped, void *, uint32_t, size_t *);
OURS(flush_all, uint32_t);
OURS(timestamp, uint64_t *);
OURS(get_context_id, void *, uint32_t *);
OURS(get_device_id, void *, uint32_t *);
OURS(get_stream_id, void *, void *, uint8_t, uint32_t *);
OURS(get_graph_node_id, void *, uint64_t *);
OURS(get_graph_exec_id, void *, uint32_t *);
OURS(driver_records, uint32_t, uint8_t);
_Static_assert(__builtin_types_compatible_p(cupti_callback_fn, void(void *, uint32_t, uint32_t,
								     const void *)), "");
_Static_assert(__builtin_types_compatible_p(cupti_request_fn, void(uint8_t **, size_t *, size_t *)),
	       "");
_Static_assert(__builtin_types_compatible_p(cupti_complete_fn, void(void *, uint32_t, uint8_t *,
								     size_t, size_t)), "");
