/* SPDX-License-Identifier: MIT */
/*
 * Calls that are not commands: the rows of table.h, blocking calls, and the look-up of extension
 * functions.
 */
#include "probes/opencl/probe.h"

#define COUNT(fn, object, params, args) \
cl_int CL_API_CALL hook_##fn params \
{ \
	cl_int result = real_of(object)->fn args; \
	\
	if (rt_level() >= TFT_LEVEL_DEFAULT) \
		rt_count(hook_name(H_##fn), result); \
	return result; \
}
TABLE_COUNT(COUNT)

#define TIMED(fn, object, params, args) \
cl_int CL_API_CALL hook_##fn params \
{ \
	int64_t begin_ns = call_begin(); \
	cl_int result = real_of(object)->fn args; \
	\
	call_end(H_##fn, begin_ns, result); \
	return result; \
}
TABLE_TIMED(TIMED)

#define CREATE(fn, type, object, created, params, args) \
type CL_API_CALL hook_##fn params \
{ \
	cl_int result = CL_SUCCESS; \
	int64_t begin_ns = call_begin(); \
	type made = real_of(object)->fn(UNWRAP args, &result); \
	\
	call_end(H_##fn, begin_ns, result); \
	if (errcode_ret) \
		*errcode_ret = result; \
	if (made && probe_armed()) { \
		vendor_adopt(made, object); \
		created; \
	} \
	return made; \
}
TABLE_CREATE_MIN(CREATE)
TABLE_CREATE(CREATE)

void wait_end(enum hook hook, uint32_t queue, uint32_t correlation, int64_t begin_ns,
	      int64_t end_ns, cl_int result)
{
	struct rt_top top = rt_op_current();
	struct tft_wait wait = {
		.name = hook_name(hook),
		.start_ns = begin_ns,
		.dur_ns = end_ns - begin_ns,
		.queue = queue,
		.correlation = correlation,
		.op = top.instance,
		.op_name = top.name,
		.result = result,
	};

	rt_emit_wait(&wait);
}

cl_int CL_API_CALL hook_clFinish(cl_command_queue queue)
{
	int64_t begin_ns = call_begin(), end_ns;
	cl_int result = real_of(queue)->clFinish(queue);
	struct ocl_queue *known;

	end_ns = call_end(H_clFinish, begin_ns, result);
	known = probe_armed() ? queue_peek(queue) : NULL;
	if (known)
		records_harvest(known);
	if (end_ns)
		wait_end(H_clFinish, known ? atomic_load(&known->id) : 0,
			 known ? atomic_load(&known->last) : 0, begin_ns, end_ns, result);
	return result;
}

cl_int CL_API_CALL hook_clWaitForEvents(cl_uint n, const cl_event *events)
{
	const struct _cl_icd_dispatch *real = n && events ? real_of(events[0])
							  : &vendor_list[0].saved;
	int64_t begin_ns = call_begin(), end_ns;
	uint32_t correlation = 0;
	cl_int result;

	if (begin_ns && n && events)
		correlation = record_of_event(events[n - 1]);
	result = real->clWaitForEvents(n, events);
	end_ns = call_end(H_clWaitForEvents, begin_ns, result);
	if (end_ns) {
		harvest_events(n, events);
		wait_end(H_clWaitForEvents, 0, correlation, begin_ns, end_ns, result);
	}
	return result;
}

void *CL_API_CALL hook_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
								const char *name)
{
	void *real = real_of(platform)->clGetExtensionFunctionAddressForPlatform(platform, name);

	return probe_armed() ? ext_wrap(name, real) : real;
}
