/* SPDX-License-Identifier: MIT */
/*
 * The functions and variables of TensorFlow's libraries that the preloaded library interposes, for
 * all versions at once: a definition that nobody uses costs nothing.
 *
 * probes/start/interpose.h says how. A call of one marked TFT_TF_TRIGGER loads the probe
 * (libtftop-tensorflow.so, if TFTOP_TENSORFLOW names it).
 */
#ifndef PROBES_TENSORFLOW_SYMBOLS_H
#define PROBES_TENSORFLOW_SYMBOLS_H

#include <stdint.h>

#include "probes/start/interpose.h"

#define TFT_TF_ENV "TFTOP_TENSORFLOW"
#define TFT_TF_TRIGGER TFT_TRIGGER

#define TFT_TF_RECORDER_TSL "_ZN3tsl8profiler15TraceMeRecorder"
#define TFT_TF_RECORDER_TF "_ZN10tensorflow8profiler15TraceMeRecorder"
#define TFT_TF_ITERATOR "_ZN10tensorflow4data19DatasetBaseIterator"
#define TFT_TF_KERNEL "PNS_8OpKernelEPNS_15OpKernelContextE"
/* absl's namespace, and Status in it, has another name in each of its releases */
#define TFT_TF_RECV(status) "_ZN10tensorflow20BaseRemoteRendezvous9RecvAsyncERKNS_19" \
	"RendezvousInterface9ParsedKeyERKNS1_4ArgsESt8functionIFvRKN" status \
	"ES7_S7_RKNS_6TensorEbEE"
#define TFT_TF_ABSL(release) TFT_TF_RECV("4absl12lts_" release "6Status")
#define TFT_TF_ALLOCATE "_ZN10tensorflow15OpKernelContext15allocate_outputEiRKNS_11TensorShape" \
	"EPPNS_6Tensor"
#define TFT_TF_BFC "_ZN3tsl12BFCAllocator"
#define TFT_TF_ASYNC "PNS_13AsyncOpKernelEPNS_15OpKernelContextESt8functionIFvvEE"

/* X(id, symbol, flags) */
#define TFT_TF_FUNCTIONS(X) \
	/* an op's kernel: (device, kernel, context); async: and a std::function<void()> * */ \
	X(CPU_COMPUTE, "_ZN10tensorflow16ThreadPoolDevice7ComputeE" TFT_TF_KERNEL, TFT_TF_TRIGGER) \
	X(CPU_COMPUTE_ASYNC, "_ZN10tensorflow16ThreadPoolDevice12ComputeAsyncE" TFT_TF_ASYNC, \
	  TFT_TF_TRIGGER) \
	X(GPU_COMPUTE, "_ZN10tensorflow13BaseGPUDevice7ComputeE" TFT_TF_KERNEL, TFT_TF_TRIGGER) \
	X(GPU_COMPUTE_ASYNC, "_ZN10tensorflow13BaseGPUDevice12ComputeAsyncE" TFT_TF_ASYNC, \
	  TFT_TF_TRIGGER) \
	/* void (kernel), of every kernel that dies */ \
	X(KERNEL_GONE, "_ZN10tensorflow8OpKernelD2Ev", 0) \
	/* before a function runs: status *(status *, runtime, options, handle, data **); \
	 * the options begin with the step id */ \
	X(PREPARE_RUN, "_ZNK10tensorflow29ProcessFunctionLibraryRuntime21PrepareRunMultiDevice" \
	  "ERKNS_22FunctionLibraryRuntime7OptionsEmPPKNS0_23MultiDeviceFunctionDataE", 0) \
	/* the text of a kernel's event: string *(string *, kernel, context, bool) */ \
	X(TRACE_STRING, "_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb", \
	  0) \
	/* TraceMe: void (event *) */ \
	X(RECORD_TSL, TFT_TF_RECORDER_TSL "6RecordEONS1_5EventE", 0) \
	X(RECORD_TF, TFT_TF_RECORDER_TF "6RecordEONS1_5EventE", 0) \
	/* an iterator of tf.data: status *(status *, iterator, context, tensors, bool *) */ \
	X(GET_NEXT, TFT_TF_ITERATOR "7GetNextEPNS0_15IteratorContextEPSt6vectorINS_6TensorE" \
	  "SaIS5_EEPb", 0) \
	/* the user's own profiler: bool (level[, filter[, bool]]); events *(events *) */ \
	X(START_TSL, TFT_TF_RECORDER_TSL "5StartEi", TFT_TF_TRIGGER) \
	X(START_FILTER_TSL, TFT_TF_RECORDER_TSL "5StartEim", TFT_TF_TRIGGER) \
	X(START_FILTER_BOOL_TSL, TFT_TF_RECORDER_TSL "5StartEimb", TFT_TF_TRIGGER) \
	X(STOP_TSL, TFT_TF_RECORDER_TSL "4StopEv", TFT_TF_TRIGGER) \
	X(START_TF, TFT_TF_RECORDER_TF "5StartEi", TFT_TF_TRIGGER) \
	X(STOP_TF, TFT_TF_RECORDER_TF "4StopEv", TFT_TF_TRIGGER) \
	/* the same up to 2.17: bool (recorder, level); events *(events *, recorder) */ \
	X(START_RECORDING_TSL, TFT_TF_RECORDER_TSL "14StartRecordingEi", TFT_TF_TRIGGER) \
	X(STOP_RECORDING_TSL, TFT_TF_RECORDER_TSL "13StopRecordingEv", TFT_TF_TRIGGER) \
	X(START_RECORDING_TF, TFT_TF_RECORDER_TF "14StartRecordingEi", TFT_TF_TRIGGER) \
	X(STOP_RECORDING_TF, TFT_TF_RECORDER_TF "13StopRecordingEv", TFT_TF_TRIGGER) \
	/* its part that looks at thread pools: status *(status *, profiler) */ \
	X(POOLS_START, "_ZN3tsl8profiler27ThreadpoolProfilerInterface5StartEv", TFT_TF_TRIGGER) \
	X(POOLS_STOP, "_ZN3tsl8profiler27ThreadpoolProfilerInterface4StopEv", TFT_TF_TRIGGER) \
	/* memory of tensors: void *(bytes, alignment); void (memory[, bytes, alignment]) */ \
	X(MALLOC_TSL, "_ZN3tsl4port13AlignedMallocEmSt11align_val_t", 0) \
	X(MALLOC_INT_TSL, "_ZN3tsl4port13AlignedMallocEmi", 0) \
	X(MALLOC_TF, "_ZN10tensorflow4port13AlignedMallocEmi", 0) \
	X(FREE_TSL, "_ZN3tsl4port11AlignedFreeEPv", 0) \
	X(FREE_TF, "_ZN10tensorflow4port11AlignedFreeEPv", 0) \
	X(FREE_SIZED_TSL, "_ZN3tsl4port16AlignedSizedFreeEPvmSt11align_val_t", 0) \
	X(FREE_SIZED_INT_TSL, "_ZN3tsl4port16AlignedSizedFreeEPvmi", 0) \
	X(FREE_SIZED_LONG_TSL, "_ZN3tsl4port16AlignedSizedFreeEPvmm", 0) \
	/* void *(allocator, alignment, bytes, attributes); void (allocator, memory); its
	 * destructors; void (regions, memory, bytes), region *(regions, memory, bytes) */ \
	X(BFC_ALLOCATE, TFT_TF_BFC "11AllocateRawEmmRKNS_20AllocationAttributesE", 0) \
	X(BFC_FREE, TFT_TF_BFC "13DeallocateRawEPv", 0) \
	X(BFC_GONE_0, TFT_TF_BFC "D0Ev", 0) \
	X(BFC_GONE_1, TFT_TF_BFC "D1Ev", 0) \
	X(BFC_GONE_2, TFT_TF_BFC "D2Ev", 0) \
	X(BFC_REGION, TFT_TF_BFC "13RegionManager19AddAllocationRegionEPvm", 0) \
	X(BFC_REGION_JOINED, TFT_TF_BFC "13RegionManager27AddOrExtendAllocationRegionEPvm", 0) \
	/* status *(status *, rendezvous, key, args, tensor, bool) */ \
	X(SEND, "_ZN10tensorflow20BaseRemoteRendezvous4SendERKNS_19RendezvousInterface9ParsedKeyE" \
	  "RKNS1_4ArgsERKNS_6TensorEb", 0) \
	/* void (bool, tensor, bool, buffer), or the same behind a status * */ \
	X(ENCODE, "_ZN10tensorflow4grpc24EncodeTensorToByteBufferEbRKNS_6TensorEbPN4grpc10" \
	  "ByteBufferE", 0) \
	/* status *(status *, response, source) */ \
	X(PARSE, "_ZN10tensorflow14TensorResponse9ParseFromEPNS0_6SourceE", 0) \
	/* void (rendezvous, key, args, std::function *); see tf_recv_async() */ \
	X(RECV, TFT_TF_RECV("S_6Status"), 0) \
	X(RECV_TSL, TFT_TF_RECV("3tsl6Status"), 0) \
	X(RECV_2023, TFT_TF_ABSL("20230125"), 0) \
	X(RECV_2023_2, TFT_TF_ABSL("20230802"), 0) \
	X(RECV_2024, TFT_TF_ABSL("20240116"), 0) \
	X(RECV_2024_2, TFT_TF_ABSL("20240722"), 0) \
	X(RECV_2025, TFT_TF_ABSL("20250127"), 0) \
	X(RECV_2025_2, TFT_TF_ABSL("20250512"), 0) \
	X(RECV_2025_3, TFT_TF_ABSL("20250814"), 0) \
	/* status *(status *, context, output, shape, tensor **[, attributes]) */ \
	X(OUTPUT, TFT_TF_ALLOCATE "E", 0) \
	X(OUTPUT_TSL, TFT_TF_ALLOCATE "EN3tsl19AllocatorAttributesE", 0) \
	X(OUTPUT_TF, TFT_TF_ALLOCATE "ENS_19AllocatorAttributesE", 0) \
	/* the C API; see tensorflow/c/eager/c_api.h and tensorflow/c/c_api.h */ \
	X(NEW_CONTEXT, "TFE_NewContext", TFT_TF_TRIGGER) \
	X(DELETE_CONTEXT, "TFE_DeleteContext", 0) \
	X(ADD_FUNCTION, "TFE_ContextAddFunction", 0) \
	X(ADD_FUNCTION_DEF, "TFE_ContextAddFunctionDef", 0) \
	X(ENABLE_GRAPHS, "TFE_ContextEnableGraphCollection", 0) \
	X(DISABLE_GRAPHS, "TFE_ContextDisableGraphCollection", 0) \
	X(ENABLE_METADATA, "TFE_ContextEnableRunMetadata", 0) \
	X(DISABLE_METADATA, "TFE_ContextDisableRunMetadata", 0) \
	X(OPTIONS_SET_CONFIG, "TFE_ContextOptionsSetConfig", TFT_TF_TRIGGER) \
	X(SET_CONFIG, "TF_SetConfig", TFT_TF_TRIGGER) \
	X(EXECUTE, "TFE_Execute", TFT_TF_TRIGGER) \
	X(NEW_SESSION, "TF_NewSession", TFT_TF_TRIGGER) \
	X(NEW_GRAPH, "TF_NewGraph", 0) \
	X(NEW_OPERATION, "TF_NewOperation", TFT_TF_TRIGGER) \
	X(DELETE_STATUS, "TF_DeleteStatus", 0) \
	X(GRAPH_TO_FUNCTION, "TF_GraphToFunctionWithControlOutputs", 0) \
	/* status *(status *, op, name, device) */ \
	X(EAGER_RESET, "_ZN10tensorflow14EagerOperation5ResetEPKcS2_", TFT_TF_TRIGGER) \
	X(EXTEND_SESSION, "TF_ExtendSession", 0) \
	X(SESSION_RUN, "TF_SessionRun", TFT_TF_TRIGGER) \
	/* oneDNN's verbose output: void (text, flag) */ \
	X(ONEDNN_VERBOSE, "_ZN4dnnl4impl19verbose_printf_implEPKcNS0_9verbose_t9flag_kindE", 0)

enum tft_tf_function {
#define X(id, symbol, flags) TFT_TF_##id,
	TFT_TF_FUNCTIONS(X)
#undef X
	TFT_TF_COUNT
};

/* Variables, as TensorFlow's own code finds them. */
#define TFT_TF_LEVEL_TSL "_ZN3tsl8profiler8internal13g_trace_levelE"
#define TFT_TF_LEVEL_TF "_ZN10tensorflow8profiler8internal13g_trace_levelE"
/* string *(string *, iterator), string *(iterator); and a function of the library that
 * has the executor */
#define TFT_TF_ITERATOR_NAME TFT_TF_ITERATOR "16BuildTraceMeNameB5cxx11Ev"
#define TFT_TF_ITERATOR_PATH "_ZNK10tensorflow4data19DatasetBaseIterator6prefixB5cxx11Ev"
#define TFT_TF_EXECUTOR "_ZN10tensorflow11NewExecutorERKNSt7__cxx1112basic_stringIcSt11" \
	"char_traitsIcESaIcEEERKNS_19LocalExecutorParamsERKNS_5GraphEPSt10unique_ptrI" \
	"NS_8ExecutorESt14default_deleteISF_EE"
#define TFT_TF_PYTHON_GATE "_ZN3xla8profiler15traceme_enabledE"

#endif
