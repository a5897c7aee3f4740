/* SPDX-License-Identifier: MIT */
/* Compares our declarations of NVTX with the vendor's; compiled, not run. */
#include <stddef.h>

#include <nvtx3/nvToolsExt.h>

#include "probes/nvtx/abi.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define AT(ours, theirs) _Static_assert( \
	offsetof(struct nvtx_attributes, ours) == offsetof(nvtxEventAttributes_t, theirs) && \
	sizeof(((struct nvtx_attributes *)0)->ours) == \
	sizeof(((nvtxEventAttributes_t *)0)->theirs), #ours)

_Static_assert(sizeof(struct nvtx_attributes) == sizeof(nvtxEventAttributes_t), "size");
AT(version, version);
AT(size, size);
AT(category, category);
AT(colour_type, colorType);
AT(colour, color);
AT(payload_type, payloadType);
AT(payload, payload);
AT(message_type, messageType);
AT(message, message);
_Static_assert(sizeof(struct nvtx_callbacks) == sizeof(NvtxExportTableCallbacks), "callbacks");
_Static_assert(sizeof(struct nvtx_version) == sizeof(NvtxExportTableVersionInfo), "version");
_Static_assert(offsetof(struct nvtx_callbacks, table) ==
	       offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable), "table");
_Static_assert(offsetof(struct nvtx_version, set_tool_version) ==
	       offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion), "set version");
SAME(NVTX_NO_TRACKING, NVTX_NO_PUSH_POP_TRACKING);
SAME(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_TABLE_VERSION, NVTX_ETID_VERSIONINFO);
SAME(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_MODULE_CUDA, NVTX_CB_MODULE_CUDA);
SAME(NVTX_MODULE_CUDART, NVTX_CB_MODULE_CUDART);
SAME(NVTX_CUDA_DEVICE_A, NVTX_CBID_CUDA_NameCuDeviceA);
SAME(NVTX_CUDA_DEVICE_W, NVTX_CBID_CUDA_NameCuDeviceW);
SAME(NVTX_CUDA_STREAM_A, NVTX_CBID_CUDA_NameCuStreamA);
SAME(NVTX_CUDA_STREAM_W, NVTX_CBID_CUDA_NameCuStreamW);
SAME(NVTX_CUDART_DEVICE_A, NVTX_CBID_CUDART_NameCudaDeviceA);
SAME(NVTX_CUDART_DEVICE_W, NVTX_CBID_CUDART_NameCudaDeviceW);
SAME(NVTX_CUDART_STREAM_A, NVTX_CBID_CUDART_NameCudaStreamA);
SAME(NVTX_CUDART_STREAM_W, NVTX_CBID_CUDART_NameCudaStreamW);
SAME(NVTX_CORE_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_CORE_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_CORE_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_CORE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_CORE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_CORE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_CORE_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_CORE_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
SAME(NVTX_CORE_THREAD_A, NVTX_CBID_CORE_NameOsThreadA);
SAME(NVTX_CORE_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);
SAME(NVTX_CORE2_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_CORE2_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_CORE2_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_CORE2_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_CORE2_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_CORE2_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(NVTX_CORE2_CATEGORY_A, NVTX_CBID_CORE2_DomainNameCategoryA);
SAME(NVTX_CORE2_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_CORE2_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_CORE2_DOMAIN_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_CORE2_DOMAIN_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_CORE2_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
SAME(NVTX_CORE2_INITIALIZE, NVTX_CBID_CORE2_Initialize);
SAME(NVTX_MESSAGE_CHAR, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_MESSAGE_WCHAR, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_MESSAGE_HANDLE, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_PAYLOAD_U64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(NVTX_PAYLOAD_I64, NVTX_PAYLOAD_TYPE_INT64);
SAME(NVTX_PAYLOAD_DOUBLE, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(NVTX_PAYLOAD_U32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(NVTX_PAYLOAD_I32, NVTX_PAYLOAD_TYPE_INT32);
SAME(NVTX_PAYLOAD_FLOAT, NVTX_PAYLOAD_TYPE_FLOAT);
