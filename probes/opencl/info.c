/* SPDX-License-Identifier: MIT */
/*
 * What the program must not see: profiling that the probe enabled, and the references that the
 * probe holds while a command runs.
 */
#include <string.h>

#include "probes/opencl/probe.h"

static void counted(enum hook hook, cl_int result)
{
	if (rt_level() >= TFT_LEVEL_DEFAULT)
		rt_count(hook_name(hook), result);
}

/* Returns CL_QUEUE_PROPERTIES_ARRAY as the program set it. */
static cl_int own_array(const struct ocl_queue *queue, size_t bytes, void *value, size_t *bytes_ret)
{
	if (value && bytes < queue->array_bytes)
		return CL_INVALID_VALUE;
	if (value && queue->array_bytes)
		memcpy(value, queue->array, queue->array_bytes);
	if (bytes_ret)
		*bytes_ret = queue->array_bytes;
	return CL_SUCCESS;
}

cl_int CL_API_CALL hook_clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what,
					      size_t bytes, void *value, size_t *bytes_ret)
{
	const struct _cl_icd_dispatch *real = real_of(queue);
	const struct ocl_queue *known = queue_peek(queue);
	bool forced = known && atomic_load(&known->forced);
	cl_int result;

	if (forced && what == CL_QUEUE_PROPERTIES_ARRAY && known->masked_array) {
		size_t real_bytes;

		result = real->clGetCommandQueueInfo(queue, what, 0, NULL, &real_bytes);
		if (result == CL_SUCCESS)
			result = own_array(known, bytes, value, bytes_ret);
	} else {
		result = real->clGetCommandQueueInfo(queue, what, bytes, value, bytes_ret);
		if (forced && what == CL_QUEUE_PROPERTIES && result == CL_SUCCESS && value) {
			cl_command_queue_properties properties;

			memcpy(&properties, value, sizeof(properties));
			properties &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
			memcpy(value, &properties, sizeof(properties));
		}
	}
	counted(H_clGetCommandQueueInfo, result);
	return result;
}

/* With 1.0 the program may enable and disable profiling on a live queue. It stays enabled, and only
 * what the program sees changes. */
cl_int CL_API_CALL hook_clSetCommandQueueProperty(cl_command_queue queue,
						  cl_command_queue_properties properties,
						  cl_bool enable, cl_command_queue_properties *old)
{
	const cl_command_queue_properties profiling = CL_QUEUE_PROFILING_ENABLE;
	struct ocl_queue *known = probe_armed() ? ocl_queue_get(queue) : queue_peek(queue);
	bool forced = known && atomic_load(&known->forced);
	bool keep = known && atomic_load(&known->profiled) && !enable && probe_armed();
	cl_int result;

	result = real_of(queue)->clSetCommandQueueProperty(queue,
							   keep ? properties & ~profiling
								: properties,
							   enable, old);
	if (result == CL_SUCCESS && known) {
		if (forced && old)
			*old &= ~profiling;
		if (properties & profiling) {
			atomic_store(&known->forced, keep);
			atomic_store(&known->profiled, enable || keep);
			if (keep)
				atomic_store(&masks_needed, true);
		}
	}
	counted(H_clSetCommandQueueProperty, result);
	return result;
}

cl_int CL_API_CALL hook_clGetEventProfilingInfo(cl_event event, cl_profiling_info what,
						size_t bytes, void *value, size_t *bytes_ret)
{
	const struct _cl_icd_dispatch *real = real_of(event);
	const struct ocl_queue *known;
	cl_command_queue queue = NULL;
	cl_int result;

	if (real->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue, NULL))
		queue = NULL;
	known = queue ? queue_peek(queue) : NULL;
	if (known && atomic_load(&known->forced))
		result = CL_PROFILING_INFO_NOT_AVAILABLE;
	else
		result = real->clGetEventProfilingInfo(event, what, bytes, value, bytes_ret);
	counted(H_clGetEventProfilingInfo, result);
	return result;
}

cl_int CL_API_CALL hook_clGetEventInfo(cl_event event, cl_event_info what, size_t bytes,
				       void *value, size_t *bytes_ret)
{
	bool held = what == CL_EVENT_REFERENCE_COUNT && value && record_holds(event);
	cl_int result = real_of(event)->clGetEventInfo(event, what, bytes, value, bytes_ret);

	if (held && result == CL_SUCCESS) {
		cl_uint count;

		memcpy(&count, value, sizeof(count));
		if (count > 1)
			count--;
		memcpy(value, &count, sizeof(count));
	}
	counted(H_clGetEventInfo, result);
	return result;
}
