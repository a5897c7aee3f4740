/* SPDX-License-Identifier: MIT */
/*
 * The calls of the driver's and the runtime's API that the probe looks at: their numbers (cbid) in
 * CUPTI's callbacks and API records, what they do, and where the stream is in their parameters.
 *
 * Always true: a number, once given to a call, is never given to another one; a library refuses a
 * call that it does not have, without other effects. Names are those of CUPTI's own enumerators
 * after "..._TRACE_CBID_". tests/probes/cupti.sh compares every line with the vendor's headers.
 *
 * One line is X(domain, name, number, class, stream):
 *   domain  DRIVER or RUNTIME
 *   class   what the call does, of enum cupti_class
 *   stream  offset in bytes from functionParams to the stream's handle, or -1: the call has
 *           none, or none that the vendor describes (for a launch by the runtime's own
 *           __cudaLaunchKernel, the driver call within it has one)
 * A call whose name contains _ptsz or _ptds takes the null stream as the calling thread's own,
 * which cuptiGetStreamIdEx needs to know. 32-bit entry points are left out.
 */
#ifndef TFTOP_PROBES_CUDA_CUPTI_CALLS_H
#define TFTOP_PROBES_CUDA_CUPTI_CALLS_H

#include <stdint.h>

enum cupti_class {
	CUPTI_CLASS_NONE,
	CUPTI_CLASS_LAUNCH, /* launches a kernel; the stream is in the parameters */
	/* the same, but the stream is in the struct to which the first parameter points */
	CUPTI_CLASS_LAUNCH_CONFIG,
	CUPTI_CLASS_GRAPH, /* launches an executable graph */
	CUPTI_CLASS_COPY, /* copies, fills or prefetches; returns before that is done */
	CUPTI_CLASS_COPY_WAIT, /* copies; may block until that is done */
	CUPTI_CLASS_SET,
	CUPTI_CLASS_SET_WAIT,
	CUPTI_CLASS_WAIT, /* blocks until a stream, an event or everything is done */
	CUPTI_CLASS_ALLOC,
	CUPTI_CLASS_FREE,
	CUPTI_CLASS_MODULE, /* loads or links code: may compile */
	CUPTI_CLASS_BUILD, /* makes or changes an executable graph */
	CUPTI_CLASS_CAPTURE, /* begins or ends the capture of a stream */
	CUPTI_CLASS_PROFILER_START, /* the program says which part of it is to be profiled */
	CUPTI_CLASS_PROFILER_STOP,
	CUPTI_CLASS_N
};

#define CUPTI_DRIVER_CALLS(X) \
	X(DRIVER, cuCtxSynchronize, 17, WAIT, -1) \
	X(DRIVER, cuModuleLoad, 18, MODULE, -1) \
	X(DRIVER, cuModuleLoadData, 19, MODULE, -1) \
	X(DRIVER, cuModuleLoadDataEx, 20, MODULE, -1) \
	X(DRIVER, cuModuleLoadFatBinary, 21, MODULE, -1) \
	X(DRIVER, cuMemAllocHost, 37, ALLOC, -1) \
	X(DRIVER, cuMemFreeHost, 38, FREE, -1) \
	X(DRIVER, cuMemHostAlloc, 39, ALLOC, -1) \
	X(DRIVER, cuMemcpyHtoA, 53, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAtoH, 54, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAtoA, 55, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyHtoAAsync, 66, COPY, 32) \
	X(DRIVER, cuMemcpyAtoHAsync, 67, COPY, 24) \
	X(DRIVER, cuLaunch, 115, LAUNCH, -1) \
	X(DRIVER, cuLaunchGrid, 116, LAUNCH, -1) \
	X(DRIVER, cuLaunchGridAsync, 117, LAUNCH, 16) \
	X(DRIVER, cuEventSynchronize, 121, WAIT, -1) \
	X(DRIVER, cuStreamSynchronize, 126, WAIT, 0) \
	X(DRIVER, cuMemsetD8Async, 216, SET, 24) \
	X(DRIVER, cuMemsetD16Async, 218, SET, 24) \
	X(DRIVER, cuMemsetD32Async, 220, SET, 24) \
	X(DRIVER, cuMemsetD2D8Async, 222, SET, 40) \
	X(DRIVER, cuMemsetD2D16Async, 224, SET, 40) \
	X(DRIVER, cuMemsetD2D32Async, 226, SET, 40) \
	X(DRIVER, cuMemAlloc_v2, 243, ALLOC, -1) \
	X(DRIVER, cuMemAllocPitch_v2, 244, ALLOC, -1) \
	X(DRIVER, cuMemFree_v2, 245, FREE, -1) \
	X(DRIVER, cuMemsetD8_v2, 249, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD16_v2, 250, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD32_v2, 251, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD2D8_v2, 252, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD2D16_v2, 253, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD2D32_v2, 254, SET_WAIT, -1) \
	X(DRIVER, cuMemcpyHtoD_v2, 276, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyHtoDAsync_v2, 277, COPY, 24) \
	X(DRIVER, cuMemcpyDtoH_v2, 278, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyDtoHAsync_v2, 279, COPY, 24) \
	X(DRIVER, cuMemcpyDtoD_v2, 280, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyDtoDAsync_v2, 281, COPY, 24) \
	X(DRIVER, cuMemcpyAtoH_v2, 282, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAtoHAsync_v2, 283, COPY, 32) \
	X(DRIVER, cuMemcpyAtoD_v2, 284, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyDtoA_v2, 285, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAtoA_v2, 286, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy2D_v2, 287, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy2DUnaligned_v2, 288, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy2DAsync_v2, 289, COPY, 8) \
	X(DRIVER, cuMemcpy3D_v2, 290, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy3DAsync_v2, 291, COPY, 8) \
	X(DRIVER, cuMemcpyHtoA_v2, 292, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyHtoAAsync_v2, 293, COPY, 32) \
	X(DRIVER, cuMemAllocHost_v2, 294, ALLOC, -1) \
	X(DRIVER, cuMemHostRegister, 301, ALLOC, -1) \
	X(DRIVER, cuMemHostUnregister, 302, FREE, -1) \
	X(DRIVER, cuMemcpy, 305, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAsync, 306, COPY, 24) \
	X(DRIVER, cuLaunchKernel, 307, LAUNCH, 40) \
	X(DRIVER, cuProfilerStart, 308, PROFILER_START, -1) \
	X(DRIVER, cuProfilerStop, 309, PROFILER_STOP, -1) \
	X(DRIVER, cuMemcpyPeer, 318, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyPeerAsync, 319, COPY, 40) \
	X(DRIVER, cuMemcpy3DPeer, 320, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy3DPeerAsync, 321, COPY, 8) \
	X(DRIVER, cuLinkComplete, 365, MODULE, -1) \
	X(DRIVER, cuMemAllocManaged, 371, ALLOC, -1) \
	X(DRIVER, cuMemHostRegister_v2, 379, ALLOC, -1) \
	X(DRIVER, cuMemcpyHtoD_v2_ptds, 397, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyDtoH_v2_ptds, 398, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyDtoD_v2_ptds, 399, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyDtoA_v2_ptds, 400, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAtoD_v2_ptds, 401, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyHtoA_v2_ptds, 402, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAtoH_v2_ptds, 403, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyAtoA_v2_ptds, 404, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy2D_v2_ptds, 405, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy2DUnaligned_v2_ptds, 406, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy3D_v2_ptds, 407, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy_ptds, 408, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpyPeer_ptds, 409, COPY_WAIT, -1) \
	X(DRIVER, cuMemcpy3DPeer_ptds, 410, COPY_WAIT, -1) \
	X(DRIVER, cuMemsetD8_v2_ptds, 411, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD16_v2_ptds, 412, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD32_v2_ptds, 413, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD2D8_v2_ptds, 414, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD2D16_v2_ptds, 415, SET_WAIT, -1) \
	X(DRIVER, cuMemsetD2D32_v2_ptds, 416, SET_WAIT, -1) \
	X(DRIVER, cuMemcpyAsync_ptsz, 418, COPY, 24) \
	X(DRIVER, cuMemcpyHtoAAsync_v2_ptsz, 419, COPY, 32) \
	X(DRIVER, cuMemcpyAtoHAsync_v2_ptsz, 420, COPY, 32) \
	X(DRIVER, cuMemcpyHtoDAsync_v2_ptsz, 421, COPY, 24) \
	X(DRIVER, cuMemcpyDtoHAsync_v2_ptsz, 422, COPY, 24) \
	X(DRIVER, cuMemcpyDtoDAsync_v2_ptsz, 423, COPY, 24) \
	X(DRIVER, cuMemcpy2DAsync_v2_ptsz, 424, COPY, 8) \
	X(DRIVER, cuMemcpy3DAsync_v2_ptsz, 425, COPY, 8) \
	X(DRIVER, cuMemcpyPeerAsync_ptsz, 426, COPY, 40) \
	X(DRIVER, cuMemcpy3DPeerAsync_ptsz, 427, COPY, 8) \
	X(DRIVER, cuMemsetD8Async_ptsz, 428, SET, 24) \
	X(DRIVER, cuMemsetD16Async_ptsz, 429, SET, 24) \
	X(DRIVER, cuMemsetD32Async_ptsz, 430, SET, 24) \
	X(DRIVER, cuMemsetD2D8Async_ptsz, 431, SET, 40) \
	X(DRIVER, cuMemsetD2D16Async_ptsz, 432, SET, 40) \
	X(DRIVER, cuMemsetD2D32Async_ptsz, 433, SET, 40) \
	X(DRIVER, cuStreamSynchronize_ptsz, 440, WAIT, 0) \
	X(DRIVER, cuLaunchKernel_ptsz, 442, LAUNCH, 40) \
	X(DRIVER, cuMemPrefetchAsync, 467, COPY, 24) \
	X(DRIVER, cuMemPrefetchAsync_ptsz, 468, COPY, 24) \
	X(DRIVER, cuLaunchCooperativeKernel, 477, LAUNCH, 40) \
	X(DRIVER, cuLaunchCooperativeKernel_ptsz, 478, LAUNCH, 40) \
	X(DRIVER, cuLaunchCooperativeKernelMultiDevice, 480, LAUNCH, -1) \
	X(DRIVER, cuStreamBeginCapture, 495, CAPTURE, 0) \
	X(DRIVER, cuStreamBeginCapture_ptsz, 496, CAPTURE, 0) \
	X(DRIVER, cuStreamEndCapture, 497, CAPTURE, 0) \
	X(DRIVER, cuStreamEndCapture_ptsz, 498, CAPTURE, 0) \
	X(DRIVER, cuGraphInstantiate, 513, BUILD, -1) \
	X(DRIVER, cuGraphLaunch, 514, GRAPH, 8) \
	X(DRIVER, cuGraphLaunch_ptsz, 515, GRAPH, 8) \
	X(DRIVER, cuStreamBeginCapture_v2, 539, CAPTURE, 0) \
	X(DRIVER, cuStreamBeginCapture_v2_ptsz, 540, CAPTURE, 0) \
	X(DRIVER, cuMemCreate, 549, ALLOC, -1) \
	X(DRIVER, cuMemRelease, 550, FREE, -1) \
	X(DRIVER, cuGraphExecUpdate, 561, BUILD, -1) \
	X(DRIVER, cuGraphInstantiate_v2, 578, BUILD, -1) \
	X(DRIVER, cuMemAllocAsync, 598, ALLOC, 16) \
	X(DRIVER, cuMemAllocAsync_ptsz, 599, ALLOC, 16) \
	X(DRIVER, cuMemFreeAsync, 600, FREE, 8) \
	X(DRIVER, cuMemFreeAsync_ptsz, 601, FREE, 8) \
	X(DRIVER, cuMemAllocFromPoolAsync, 611, ALLOC, 24) \
	X(DRIVER, cuMemAllocFromPoolAsync_ptsz, 612, ALLOC, 24) \
	X(DRIVER, cuGraphInstantiateWithFlags, 643, BUILD, -1) \
	X(DRIVER, cuLaunchKernelEx, 652, LAUNCH_CONFIG, -1) \
	X(DRIVER, cuLaunchKernelEx_ptsz, 653, LAUNCH_CONFIG, -1) \
	X(DRIVER, cuGraphInstantiateWithParams, 656, BUILD, -1) \
	X(DRIVER, cuGraphInstantiateWithParams_ptsz, 657, BUILD, -1) \
	X(DRIVER, cuLibraryLoadData, 678, MODULE, -1) \
	X(DRIVER, cuLibraryLoadFromFile, 679, MODULE, -1) \
	X(DRIVER, cuGraphExecUpdate_v2, 696, BUILD, -1) \
	X(DRIVER, cuMemPrefetchAsync_v2, 716, COPY, 32) \
	X(DRIVER, cuMemPrefetchAsync_v2_ptsz, 717, COPY, 32) \
	X(DRIVER, cuStreamBeginCaptureToGraph, 720, CAPTURE, 0) \
	X(DRIVER, cuStreamBeginCaptureToGraph_ptsz, 721, CAPTURE, 0) \
	X(DRIVER, cuMemcpyBatchAsync, 776, COPY, 64) \
	X(DRIVER, cuMemcpyBatchAsync_ptsz, 777, COPY, 64) \
	X(DRIVER, cuMemcpy3DBatchAsync, 778, COPY, 32) \
	X(DRIVER, cuMemcpy3DBatchAsync_ptsz, 779, COPY, 32) \
	X(DRIVER, cuMemPrefetchBatchAsync, 784, COPY, 56) \
	X(DRIVER, cuMemPrefetchBatchAsync_ptsz, 785, COPY, 56) \
	X(DRIVER, cuMemcpyBatchAsync_v2, 796, COPY, 56) \
	X(DRIVER, cuMemcpyBatchAsync_v2_ptsz, 797, COPY, 56) \
	X(DRIVER, cuMemcpy3DBatchAsync_v2, 798, COPY, 24) \
	X(DRIVER, cuMemcpy3DBatchAsync_v2_ptsz, 799, COPY, 24) \
	X(DRIVER, cuCtxSynchronize_v2, 800, WAIT, -1) \
	X(DRIVER, cuMemcpyWithAttributesAsync, 837, COPY, 32) \
	X(DRIVER, cuMemcpyWithAttributesAsync_ptsz, 838, COPY, 32) \
	X(DRIVER, cuMemcpy3DWithAttributesAsync, 839, COPY, 16) \
	X(DRIVER, cuMemcpy3DWithAttributesAsync_ptsz, 840, COPY, 16)

#define CUPTI_RUNTIME_CALLS(X) \
	X(RUNTIME, cudaMalloc_v3020, 20, ALLOC, -1) \
	X(RUNTIME, cudaMallocPitch_v3020, 21, ALLOC, -1) \
	X(RUNTIME, cudaFree_v3020, 22, FREE, -1) \
	X(RUNTIME, cudaMallocArray_v3020, 23, ALLOC, -1) \
	X(RUNTIME, cudaFreeArray_v3020, 24, FREE, -1) \
	X(RUNTIME, cudaMallocHost_v3020, 25, ALLOC, -1) \
	X(RUNTIME, cudaFreeHost_v3020, 26, FREE, -1) \
	X(RUNTIME, cudaHostAlloc_v3020, 27, ALLOC, -1) \
	X(RUNTIME, cudaMemcpy_v3020, 31, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2D_v3020, 32, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyToArray_v3020, 33, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2DToArray_v3020, 34, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyFromArray_v3020, 35, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2DFromArray_v3020, 36, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyArrayToArray_v3020, 37, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2DArrayToArray_v3020, 38, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyToSymbol_v3020, 39, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyFromSymbol_v3020, 40, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyAsync_v3020, 41, COPY, 32) \
	X(RUNTIME, cudaMemcpyToArrayAsync_v3020, 42, COPY, 48) \
	X(RUNTIME, cudaMemcpyFromArrayAsync_v3020, 43, COPY, 48) \
	X(RUNTIME, cudaMemcpy2DAsync_v3020, 44, COPY, 56) \
	X(RUNTIME, cudaMemcpy2DToArrayAsync_v3020, 45, COPY, 64) \
	X(RUNTIME, cudaMemcpy2DFromArrayAsync_v3020, 46, COPY, 64) \
	X(RUNTIME, cudaMemcpyToSymbolAsync_v3020, 47, COPY, 40) \
	X(RUNTIME, cudaMemcpyFromSymbolAsync_v3020, 48, COPY, 40) \
	X(RUNTIME, cudaMemset_v3020, 49, SET_WAIT, -1) \
	X(RUNTIME, cudaMemset2D_v3020, 50, SET_WAIT, -1) \
	X(RUNTIME, cudaMemsetAsync_v3020, 51, SET, 24) \
	X(RUNTIME, cudaMemset2DAsync_v3020, 52, SET, 40) \
	X(RUNTIME, cudaThreadSynchronize_v3020, 126, WAIT, -1) \
	X(RUNTIME, cudaStreamSynchronize_v3020, 131, WAIT, 0) \
	X(RUNTIME, cudaEventSynchronize_v3020, 137, WAIT, -1) \
	X(RUNTIME, cudaMalloc3D_v3020, 140, ALLOC, -1) \
	X(RUNTIME, cudaMalloc3DArray_v3020, 141, ALLOC, -1) \
	X(RUNTIME, cudaMemset3D_v3020, 142, SET_WAIT, -1) \
	X(RUNTIME, cudaMemset3DAsync_v3020, 143, SET, 64) \
	X(RUNTIME, cudaMemcpy3D_v3020, 144, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy3DAsync_v3020, 145, COPY, 8) \
	X(RUNTIME, cudaHostRegister_v4000, 152, ALLOC, -1) \
	X(RUNTIME, cudaHostUnregister_v4000, 153, FREE, -1) \
	X(RUNTIME, cudaMemcpyPeer_v4000, 160, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyPeerAsync_v4000, 161, COPY, 40) \
	X(RUNTIME, cudaMemcpy3DPeer_v4000, 162, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy3DPeerAsync_v4000, 163, COPY, 8) \
	X(RUNTIME, cudaDeviceSynchronize_v3020, 165, WAIT, -1) \
	X(RUNTIME, cudaProfilerStart_v4000, 171, PROFILER_START, -1) \
	X(RUNTIME, cudaProfilerStop_v4000, 172, PROFILER_STOP, -1) \
	X(RUNTIME, cudaMallocMipmappedArray_v5000, 192, ALLOC, -1) \
	X(RUNTIME, cudaFreeMipmappedArray_v5000, 194, FREE, -1) \
	X(RUNTIME, cudaMallocManaged_v6000, 206, ALLOC, -1) \
	X(RUNTIME, cudaLaunchKernel_v7000, 211, LAUNCH, 48) \
	X(RUNTIME, cudaLaunchKernel_ptsz_v7000, 214, LAUNCH, 48) \
	X(RUNTIME, cudaMemcpy_ptds_v7000, 215, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2D_ptds_v7000, 216, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyToArray_ptds_v7000, 217, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2DToArray_ptds_v7000, 218, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyFromArray_ptds_v7000, 219, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2DFromArray_ptds_v7000, 220, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyArrayToArray_ptds_v7000, 221, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy2DArrayToArray_ptds_v7000, 222, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyToSymbol_ptds_v7000, 223, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyFromSymbol_ptds_v7000, 224, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpyAsync_ptsz_v7000, 225, COPY, 32) \
	X(RUNTIME, cudaMemcpyToArrayAsync_ptsz_v7000, 226, COPY, 48) \
	X(RUNTIME, cudaMemcpyFromArrayAsync_ptsz_v7000, 227, COPY, 48) \
	X(RUNTIME, cudaMemcpy2DAsync_ptsz_v7000, 228, COPY, 56) \
	X(RUNTIME, cudaMemcpy2DToArrayAsync_ptsz_v7000, 229, COPY, 64) \
	X(RUNTIME, cudaMemcpy2DFromArrayAsync_ptsz_v7000, 230, COPY, 64) \
	X(RUNTIME, cudaMemcpyToSymbolAsync_ptsz_v7000, 231, COPY, 40) \
	X(RUNTIME, cudaMemcpyFromSymbolAsync_ptsz_v7000, 232, COPY, 40) \
	X(RUNTIME, cudaMemset_ptds_v7000, 233, SET_WAIT, -1) \
	X(RUNTIME, cudaMemset2D_ptds_v7000, 234, SET_WAIT, -1) \
	X(RUNTIME, cudaMemsetAsync_ptsz_v7000, 235, SET, 24) \
	X(RUNTIME, cudaMemset2DAsync_ptsz_v7000, 236, SET, 40) \
	X(RUNTIME, cudaStreamSynchronize_ptsz_v7000, 239, WAIT, 0) \
	X(RUNTIME, cudaMemset3D_ptds_v7000, 243, SET_WAIT, -1) \
	X(RUNTIME, cudaMemset3DAsync_ptsz_v7000, 244, SET, 64) \
	X(RUNTIME, cudaMemcpy3D_ptds_v7000, 245, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy3DAsync_ptsz_v7000, 246, COPY, 8) \
	X(RUNTIME, cudaMemcpy3DPeer_ptds_v7000, 249, COPY_WAIT, -1) \
	X(RUNTIME, cudaMemcpy3DPeerAsync_ptsz_v7000, 250, COPY, 8) \
	X(RUNTIME, cudaMemPrefetchAsync_v8000, 252, COPY, 24) \
	X(RUNTIME, cudaMemPrefetchAsync_ptsz_v8000, 253, COPY, 24) \
	X(RUNTIME, cudaLaunchCooperativeKernel_v9000, 269, LAUNCH, 48) \
	X(RUNTIME, cudaLaunchCooperativeKernel_ptsz_v9000, 270, LAUNCH, 48) \
	X(RUNTIME, cudaLaunchCooperativeKernelMultiDevice_v9000, 272, LAUNCH, -1) \
	X(RUNTIME, cudaGraphInstantiate_v10000, 310, BUILD, -1) \
	X(RUNTIME, cudaGraphLaunch_v10000, 311, GRAPH, 8) \
	X(RUNTIME, cudaGraphLaunch_ptsz_v10000, 312, GRAPH, 8) \
	X(RUNTIME, cudaStreamBeginCapture_v10000, 315, CAPTURE, 0) \
	X(RUNTIME, cudaStreamBeginCapture_ptsz_v10000, 316, CAPTURE, 0) \
	X(RUNTIME, cudaStreamEndCapture_v10000, 319, CAPTURE, 0) \
	X(RUNTIME, cudaStreamEndCapture_ptsz_v10000, 320, CAPTURE, 0) \
	X(RUNTIME, cudaGraphExecUpdate_v10020, 335, BUILD, -1) \
	X(RUNTIME, cudaMallocAsync_v11020, 373, ALLOC, 16) \
	X(RUNTIME, cudaMallocAsync_ptsz_v11020, 374, ALLOC, 16) \
	X(RUNTIME, cudaFreeAsync_v11020, 375, FREE, 8) \
	X(RUNTIME, cudaFreeAsync_ptsz_v11020, 376, FREE, 8) \
	X(RUNTIME, cudaMallocFromPoolAsync_v11020, 391, ALLOC, 24) \
	X(RUNTIME, cudaMallocFromPoolAsync_ptsz_v11020, 392, ALLOC, 24) \
	X(RUNTIME, cudaGraphInstantiateWithFlags_v11040, 418, BUILD, -1) \
	X(RUNTIME, cudaLaunchKernelExC_v11060, 430, LAUNCH_CONFIG, -1) \
	X(RUNTIME, cudaLaunchKernelExC_ptsz_v11060, 431, LAUNCH_CONFIG, -1) \
	X(RUNTIME, cudaGraphInstantiateWithParams_v12000, 436, BUILD, -1) \
	X(RUNTIME, cudaGraphInstantiateWithParams_ptsz_v12000, 437, BUILD, -1) \
	X(RUNTIME, cudaGraphInstantiate_v12000, 443, BUILD, -1) \
	X(RUNTIME, cudaMemPrefetchAsync_v12020, 449, COPY, 32) \
	X(RUNTIME, cudaMemPrefetchAsync_ptsz_v12020, 450, COPY, 32) \
	X(RUNTIME, cudaStreamBeginCaptureToGraph_v12030, 452, CAPTURE, 0) \
	X(RUNTIME, cudaStreamBeginCaptureToGraph_ptsz_v12030, 453, CAPTURE, 0) \
	X(RUNTIME, cudaLibraryLoadData_v12060, 470, MODULE, -1) \
	X(RUNTIME, cudaLibraryLoadFromFile_v12060, 471, MODULE, -1) \
	X(RUNTIME, cudaMemcpyBatchAsync_v12080, 482, COPY, 64) \
	X(RUNTIME, cudaMemcpyBatchAsync_ptsz_v12080, 483, COPY, 64) \
	X(RUNTIME, cudaMemcpy3DBatchAsync_v12080, 484, COPY, 32) \
	X(RUNTIME, cudaMemcpy3DBatchAsync_ptsz_v12080, 485, COPY, 32) \
	X(RUNTIME, cudaMemPrefetchBatchAsync_v13000, 487, COPY, 56) \
	X(RUNTIME, cudaMemPrefetchBatchAsync_ptsz_v13000, 488, COPY, 56) \
	X(RUNTIME, __cudaLaunchKernel_v13000, 505, LAUNCH, -1) \
	X(RUNTIME, __cudaLaunchKernel_ptsz_v13000, 506, LAUNCH, -1) \
	X(RUNTIME, cudaMemcpyBatchAsync_v13000, 509, COPY, 56) \
	X(RUNTIME, cudaMemcpyBatchAsync_ptsz_v13000, 510, COPY, 56) \
	X(RUNTIME, cudaMemcpy3DBatchAsync_v13000, 511, COPY, 24) \
	X(RUNTIME, cudaMemcpy3DBatchAsync_ptsz_v13000, 512, COPY, 24) \
	X(RUNTIME, cudaExecutionCtxSynchronize_v13010, 534, WAIT, -1) \
	X(RUNTIME, cudaMemcpyWithAttributesAsync_v13020, 554, COPY, 32) \
	X(RUNTIME, cudaMemcpyWithAttributesAsync_ptsz_v13020, 555, COPY, 32) \
	X(RUNTIME, cudaMemcpy3DWithAttributesAsync_v13020, 556, COPY, 16) \
	X(RUNTIME, cudaMemcpy3DWithAttributesAsync_ptsz_v13020, 557, COPY, 16)

#define CUPTI_CALL_NUMBER_(domain, name, number, cls, stream) CUPTI_##domain##_##name = number,

/* CUPTI_DRIVER_cuLaunchKernel, CUPTI_RUNTIME_cudaLaunchKernel_v7000, ... */
enum cupti_driver_call { CUPTI_DRIVER_CALLS(CUPTI_CALL_NUMBER_) };
enum cupti_runtime_call { CUPTI_RUNTIME_CALLS(CUPTI_CALL_NUMBER_) };

#undef CUPTI_CALL_NUMBER_

#endif
