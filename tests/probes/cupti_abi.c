/* SPDX-License-Identifier: MIT */
/*
 * Compares the declarations of CUPTI's records in probes/cuda with the vendor's headers of one
 * release: compiling it is half of the test; main() compares the sizes.
 */
#include <stdio.h>

#include "tests/probes/cupti_abi.h"

/* ---- records ---- */

#define KERNEL(their, our) IS(V_kernel, their, cupti_kernel, our)
KERNEL(kind, kind);
KERNEL(registersPerThread, registers);
KERNEL(start, start);
KERNEL(end, end);
KERNEL(completed, completed);
KERNEL(deviceId, device);
KERNEL(contextId, context);
KERNEL(streamId, stream);
KERNEL(gridX, grid[0]);
KERNEL(gridY, grid[1]);
KERNEL(gridZ, grid[2]);
KERNEL(blockX, block[0]);
KERNEL(blockY, block[1]);
KERNEL(blockZ, block[2]);
KERNEL(staticSharedMemory, shared_static);
KERNEL(dynamicSharedMemory, shared_dynamic);
KERNEL(localMemoryPerThread, local_per_thread);
KERNEL(correlationId, correlation);
KERNEL(gridId, grid_id);
KERNEL(name, name);
KERNEL(queued, queued);
KERNEL(submitted, submitted);
KERNEL(launchType, launch_type);
KERNEL(sharedMemoryExecuted, shared_executed);
KERNEL(graphNodeId, graph_node);
KERNEL(graphId, graph);
KERNEL(channelID, channel);
KERNEL(channelType, channel_type);
#if RELEASE >= 11080
KERNEL(clusterX, cluster[0]);
KERNEL(clusterZ, cluster[2]);
KERNEL(clusterSchedulingPolicy, cluster_policy);
KERNEL(localMemoryTotal_v2, local_total_wide);
#endif
#if RELEASE >= 12000
KERNEL(maxPotentialClusterSize, cluster_possible);
KERNEL(maxActiveClusters, cluster_active);
#endif
#if RELEASE >= 13000
KERNEL(isDeviceLaunched, from_device);
#endif
#if RELEASE >= 13010
KERNEL(priority, priority);
#endif
#if RELEASE >= 13030
KERNEL(executionModel, model);
#endif
#if RELEASE >= 13040
KERNEL(sourceGraphId, source_graph);
KERNEL(sourceGraphNodeId, source_node);
#endif

#define COPY(their, our) IS(V_copy, their, cupti_copy, our)
COPY(kind, kind);
COPY(copyKind, way);
COPY(srcKind, from);
COPY(dstKind, to);
COPY(flags, flags);
COPY(bytes, bytes);
COPY(start, start);
COPY(end, end);
COPY(deviceId, device);
COPY(contextId, context);
COPY(streamId, stream);
COPY(correlationId, correlation);
COPY(graphNodeId, graph_node);
COPY(graphId, graph);
COPY(channelID, channel);
COPY(channelType, channel_type);
#if RELEASE >= 12080
COPY(copyCount, count);
#endif
#if RELEASE >= 13000
COPY(isDeviceLaunched, from_device);
#endif
#if RELEASE >= 13040
COPY(sourceGraphId, source_graph);
COPY(sourceGraphNodeId, source_node);
#endif

#define PEER(their, our) IS(V_copy_peer, their, cupti_copy_peer, our)
PEER(kind, kind);
PEER(copyKind, way);
PEER(srcKind, from);
PEER(dstKind, to);
PEER(flags, flags);
PEER(bytes, bytes);
PEER(start, start);
PEER(end, end);
PEER(deviceId, device);
PEER(contextId, context);
PEER(streamId, stream);
PEER(srcDeviceId, src_device);
PEER(srcContextId, src_context);
PEER(dstDeviceId, dst_device);
PEER(dstContextId, dst_context);
PEER(correlationId, correlation);
PEER(graphNodeId, graph_node);
PEER(graphId, graph);
PEER(channelID, channel);

#define FILL(their, our) IS(V_fill, their, cupti_fill, our)
FILL(kind, kind);
FILL(value, value);
FILL(bytes, bytes);
FILL(start, start);
FILL(end, end);
FILL(deviceId, device);
FILL(contextId, context);
FILL(streamId, stream);
FILL(correlationId, correlation);
FILL(flags, flags);
FILL(memoryKind, memory);
FILL(graphNodeId, graph_node);
FILL(graphId, graph);
#if RELEASE >= 13000
FILL(isDeviceLaunched, from_device);
#endif
#if RELEASE >= 13040
FILL(sourceGraphId, source_graph);
FILL(sourceGraphNodeId, source_node);
#endif

#define MEMORY(their, our) IS(V_memory, their, cupti_memory, our)
MEMORY(kind, kind);
MEMORY(memoryOperationType, operation);
MEMORY(memoryKind, memory);
MEMORY(correlationId, correlation);
MEMORY(address, address);
MEMORY(bytes, bytes);
MEMORY(timestamp, time);
MEMORY(PC, pc);
MEMORY(processId, process);
MEMORY(deviceId, device);
MEMORY(contextId, context);
MEMORY(streamId, stream);
MEMORY(name, name);
MEMORY(isAsync, async);
MEMORY(memoryPoolConfig.memoryPoolType, pool_type);
MEMORY(memoryPoolConfig.address, pool);
MEMORY(memoryPoolConfig.releaseThreshold, pool_threshold);
MEMORY(memoryPoolConfig.pool.size, pool_size);
MEMORY(memoryPoolConfig.utilizedSize, pool_used);
#if RELEASE >= 12060
MEMORY(source, source);
#endif

#define POOL(their, our) IS(V_pool, their, cupti_pool, our)
POOL(kind, kind);
POOL(memoryPoolOperationType, operation);
POOL(memoryPoolType, type);
POOL(correlationId, correlation);
POOL(processId, process);
POOL(deviceId, device);
POOL(minBytesToKeep, keep);
POOL(address, address);
POOL(size, size);
POOL(releaseThreshold, threshold);
POOL(timestamp, time);
POOL(utilizedSize, used);
#if RELEASE >= 13000
POOL(isManagedPool, managed);
#endif

#define SYNC(their, our) IS(V_sync, their, cupti_sync, our)
SYNC(kind, kind);
SYNC(type, type);
SYNC(start, start);
SYNC(end, end);
SYNC(correlationId, correlation);
SYNC(contextId, context);
SYNC(streamId, stream);
SYNC(cudaEventId, event);
#if RELEASE >= 12080
SYNC(cudaEventSyncId, event_sync);
SYNC(returnValue, result);
#endif

#define OVERHEAD(their, our) IS(V_overhead, their, cupti_overhead, our)
OVERHEAD(kind, kind);
OVERHEAD(overheadKind, what);
OVERHEAD(objectKind, object_kind);
OVERHEAD(objectId, object);
OVERHEAD(start, start);
OVERHEAD(end, end);
#if RELEASE >= 12030
OVERHEAD(correlationId, correlation);
#endif
#if RELEASE >= 12040
OVERHEAD(overheadData, data);
#endif

struct object {
	union cupti_object o;
};
IS(CUpti_ActivityObjectKindId, pt.threadId, object, o.of_host.thread);
IS(CUpti_ActivityObjectKindId, dcs.streamId, object, o.of_device.stream);

#define API(their, our) IS(V_api, their, cupti_api, our)
API(kind, kind);
API(cbid, number);
API(start, start);
API(end, end);
API(processId, process);
API(threadId, thread);
API(correlationId, correlation);
API(returnValue, result);

#define EXTERNAL(their, our) IS(V_external, their, cupti_external, our)
EXTERNAL(externalKind, external_kind);
EXTERNAL(externalId, id);
EXTERNAL(correlationId, correlation);

#define GRAPH(their, our) IS(V_graph, their, cupti_graph, our)
GRAPH(kind, kind);
GRAPH(correlationId, correlation);
GRAPH(start, start);
GRAPH(end, end);
GRAPH(deviceId, device);
GRAPH(graphId, graph);
GRAPH(contextId, context);
GRAPH(streamId, stream);
#if RELEASE >= 12030
GRAPH(endDeviceId, end_device);
GRAPH(endContextId, end_context);
#endif

#define CONTEXT(their, our) IS(V_context, their, cupti_context, our)
CONTEXT(kind, kind);
CONTEXT(contextId, context);
CONTEXT(deviceId, device);
CONTEXT(computeApiKind, api);
CONTEXT(nullStreamId, null_stream);
#if RELEASE >= 12040
CONTEXT(parentContextId, parent);
CONTEXT(isGreenContext, green);
#endif
#if RELEASE >= 12050
CONTEXT(numMultiprocessors, units);
CONTEXT(cigMode, cig_mode);
#endif
#if RELEASE >= 13010
CONTEXT(processId, process);
#endif

#define DEVICE(their, our) IS(V_device, their, cupti_device, our)
DEVICE(kind, kind);
DEVICE(flags, flags);
DEVICE(globalMemoryBandwidth, bandwidth);
DEVICE(globalMemorySize, memory);
DEVICE(constantMemorySize, constant_memory);
DEVICE(l2CacheSize, l2);
DEVICE(numThreadsPerWarp, warp);
DEVICE(coreClockRate, clock);
DEVICE(numMemcpyEngines, copy_engines);
DEVICE(numMultiprocessors, units);
DEVICE(maxWarpsPerMultiprocessor, warps_per_unit);
DEVICE(maxBlocksPerMultiprocessor, blocks_per_unit);
DEVICE(maxSharedMemoryPerMultiprocessor, shared_per_unit);
DEVICE(maxRegistersPerMultiprocessor, registers_per_unit);
DEVICE(maxRegistersPerBlock, registers_per_block);
DEVICE(maxSharedMemoryPerBlock, shared_per_block);
DEVICE(maxThreadsPerBlock, threads_per_block);
DEVICE(maxGridDimZ, grid_max[2]);
DEVICE(computeCapabilityMajor, major);
DEVICE(computeCapabilityMinor, minor);
DEVICE(id, device);
DEVICE(eccEnabled, ecc);
DEVICE(uuid, uuid);
DEVICE(name, name);
DEVICE(isCudaVisible, visible);
DEVICE(isMigEnabled, mig);
DEVICE(gpuInstanceId, gpu_instance);
DEVICE(computeInstanceId, compute_instance);
DEVICE(migUuid, mig_uuid);
#if RELEASE >= 12020
DEVICE(isNumaNode, numa_node);
DEVICE(numaId, numa);
#endif
#if RELEASE >= 13020
DEVICE(numTpcs, tpcs);
#endif

#define STREAM_IS(their, our) IS(V_stream, their, cupti_stream, our)
STREAM_IS(contextId, context);
STREAM_IS(streamId, stream);
STREAM_IS(priority, priority);
STREAM_IS(flag, flag);
STREAM_IS(correlationId, correlation);

#define EVENT(their, our) IS(V_event, their, cupti_event, our)
EVENT(correlationId, correlation);
EVENT(contextId, context);
EVENT(streamId, stream);
EVENT(eventId, event);
#if RELEASE >= 12080
EVENT(deviceId, device);
EVENT(deviceTimestamp, time);
EVENT(cudaEventSyncId, event_sync);
#endif
#if RELEASE >= 13050
EVENT(graphNodeId, graph_node);
EVENT(graphId, graph);
EVENT(sourceGraphId, source_graph);
EVENT(sourceGraphNodeId, source_node);
#endif

#if RELEASE >= 11080
#define JIT(their, our) IS(V_jit, their, cupti_jit, our)
JIT(jitEntryType, entry);
JIT(jitOperationType, operation);
JIT(deviceId, device);
JIT(start, start);
JIT(end, end);
JIT(correlationId, correlation);
JIT(jitOperationCorrelationId, operation_correlation);
JIT(cacheSize, cache_size);
JIT(cachePath, cache_path);
#endif
#if RELEASE >= 12040
JIT(processId, process);
JIT(threadId, thread);
#endif

int main(void)
{
	int wrong = 0;

#define LENGTH(kind, record) do {                                                           \
		size_t here = cupti_record_size(kind, RELEASE);                             \
		if (here != sizeof(V_##record) && ++wrong)                                  \
			printf(#record ": %zu here, %zu there\n", here, sizeof(V_##record)); \
	} while (0)
	LENGTH(CUPTI_KIND_KERNEL, kernel);
	LENGTH(CUPTI_KIND_CONCURRENT_KERNEL, kernel);
	LENGTH(CUPTI_KIND_COPY, copy);
	LENGTH(CUPTI_KIND_COPY_PEER, copy_peer);
	LENGTH(CUPTI_KIND_FILL, fill);
	LENGTH(CUPTI_KIND_MEMORY, memory);
	LENGTH(CUPTI_KIND_POOL, pool);
	LENGTH(CUPTI_KIND_SYNC, sync);
	LENGTH(CUPTI_KIND_OVERHEAD, overhead);
	LENGTH(CUPTI_KIND_DRIVER, api);
	LENGTH(CUPTI_KIND_RUNTIME, api);
	LENGTH(CUPTI_KIND_EXTERNAL, external);
	LENGTH(CUPTI_KIND_GRAPH, graph);
	LENGTH(CUPTI_KIND_CONTEXT, context);
	LENGTH(CUPTI_KIND_DEVICE, device);
	LENGTH(CUPTI_KIND_STREAM, stream);
	LENGTH(CUPTI_KIND_NAME, name);
	LENGTH(CUPTI_KIND_MODULE, module);
	LENGTH(CUPTI_KIND_EVENT, event);
	LENGTH(CUPTI_KIND_MARKER, marker);
	LENGTH(CUPTI_KIND_UNIFIED, unified);
	LENGTH(CUPTI_KIND_DEVICE_ATTRIBUTE, device_attribute);
	LENGTH(CUPTI_KIND_FUNCTION, function);
#if RELEASE >= 11080
	LENGTH(CUPTI_KIND_JIT, jit);
#endif
#if RELEASE >= 12080
	LENGTH(CUPTI_KIND_DECOMPRESS, decompress);
	LENGTH(CUPTI_KIND_DEVICE_GRAPH, device_graph);
#endif
#if RELEASE >= 13010
	LENGTH(CUPTI_KIND_HOST_LAUNCH, host_launch);
	LENGTH(CUPTI_KIND_GRAPH_HOST, graph_host);
#endif
	return !!wrong;
}
