/* SPDX-License-Identifier: MIT */
/*
 * Every wrapped function, one per row. Functions of four forms have a common body that their row is
 * turned into; the others are listed in TABLE_SPECIAL and written by hand.
 *
 * ENQUEUE(fn, kind, direction, name, bytes, blocking, moves, late, params, args)
 * 	cl_int fn(queue, ..., n_waits, waits, event). `name`, `bytes` and `moves` (what memory)
 * 	are evaluated before the call and must not call OpenCL; `late` is evaluated after it, if
 * 	it succeeded.
 * COUNT(fn, object, params, args)	called very often: only counted
 * TIMED(fn, object, params, args)	a call that is worth timing
 * CREATE(fn, type, object, created, params, args)
 * 	type fn(..., cl_int *errcode_ret): timed; `created` runs on success, with the new object
 * 	in `made`.
 *
 * The list that a row is in says from which level on its function is wrapped.
 */
#ifndef PROBES_OPENCL_TABLE_H
#define PROBES_OPENCL_TABLE_H

#define TAIL cl_uint n_waits, const cl_event *waits, cl_event *event
#define SIZES(r) ((r) ? (uint64_t)(r)[0] * (r)[1] * (r)[2] : 0)
#define NO_LATE
#define NO_MOVE
#define MOVES(object, offset) enqueue_moves(&e, memory_place(object, offset), NULL)
/* ... from or to memory of the host */
#define MOVES_HOST(object, offset, host) enqueue_moves(&e, memory_place(object, offset), host)
#define SELF 0		/* the command is named after the function */

#define TABLE_ENQUEUE(X) \
X(clEnqueueTask, KERNEL, NONE, kernel_name_cached(kernel), 0, false, \
  NO_MOVE, LATE(kernel_name(kernel), 0, 0), \
  (cl_command_queue queue, cl_kernel kernel, TAIL), (queue, kernel)) \
X(clEnqueueNDRangeKernel, KERNEL, NONE, kernel_name_cached(kernel), 0, false, \
  NO_MOVE, LATE(kernel_name(kernel), shape_id(dims, global, local), 0), \
  (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, \
   const size_t *global, const size_t *local, TAIL), \
  (queue, kernel, dims, offset, global, local)) \
X(clEnqueueNativeKernel, NATIVE, NONE, SELF, 0, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, void (CL_CALLBACK *function)(void *), void *arg, size_t arg_bytes, \
   cl_uint n_objects, const cl_mem *objects, const void **locations, TAIL), \
  (queue, function, arg, arg_bytes, n_objects, objects, locations)) \
X(clEnqueueReadBuffer, COPY, D2H, SELF, bytes, blocking, \
  MOVES_HOST(buffer, offset, to), NO_LATE, \
  (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, \
   void *to, TAIL), \
  (queue, buffer, blocking, offset, bytes, to)) \
X(clEnqueueWriteBuffer, COPY, H2D, SELF, bytes, blocking, \
  MOVES_HOST(buffer, offset, from), NO_LATE, \
  (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, \
   const void *from, TAIL), \
  (queue, buffer, blocking, offset, bytes, from)) \
X(clEnqueueReadBufferRect, COPY, D2H, SELF, SIZES(region), blocking, \
  MOVES_HOST(buffer, rect_offset(origin, region, row, slice), to), NO_LATE, \
  (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin, \
   const size_t *host_origin, const size_t *region, size_t row, size_t slice, \
   size_t host_row, size_t host_slice, void *to, TAIL), \
  (queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice, to)) \
X(clEnqueueWriteBufferRect, COPY, H2D, SELF, SIZES(region), blocking, \
  MOVES_HOST(buffer, rect_offset(origin, region, row, slice), from), NO_LATE, \
  (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin, \
   const size_t *host_origin, const size_t *region, size_t row, size_t slice, \
   size_t host_row, size_t host_slice, const void *from, TAIL), \
  (queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice, from)) \
X(clEnqueueCopyBuffer, COPY, D2D, SELF, bytes, false, \
  MOVES(to, to_offset), NO_LATE, \
  (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, \
   size_t bytes, TAIL), \
  (queue, from, to, from_offset, to_offset, bytes)) \
X(clEnqueueCopyBufferRect, COPY, D2D, SELF, SIZES(region), false, \
  MOVES(to, rect_offset(to_origin, region, to_row, to_slice)), NO_LATE, \
  (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, \
   const size_t *to_origin, const size_t *region, size_t from_row, size_t from_slice, \
   size_t to_row, size_t to_slice, TAIL), \
  (queue, from, to, from_origin, to_origin, region, from_row, from_slice, to_row, to_slice)) \
X(clEnqueueFillBuffer, FILL, FILL, SELF, bytes, false, \
  MOVES(buffer, offset), NO_LATE, \
  (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes, \
   size_t offset, size_t bytes, TAIL), \
  (queue, buffer, pattern, pattern_bytes, offset, bytes)) \
X(clEnqueueReadImage, COPY, D2H, SELF, 0, blocking, \
  MOVES_HOST(image, image_offset(origin), to), LATE(0, 0, image_bytes(image, region)), \
  (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, \
   const size_t *region, size_t row, size_t slice, void *to, TAIL), \
  (queue, image, blocking, origin, region, row, slice, to)) \
X(clEnqueueWriteImage, COPY, H2D, SELF, 0, blocking, \
  MOVES_HOST(image, image_offset(origin), from), LATE(0, 0, image_bytes(image, region)), \
  (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, \
   const size_t *region, size_t row, size_t slice, const void *from, TAIL), \
  (queue, image, blocking, origin, region, row, slice, from)) \
X(clEnqueueCopyImage, COPY, D2D, SELF, 0, false, \
  MOVES(to, image_offset(to_origin)), LATE(0, 0, image_bytes(from, region)), \
  (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, \
   const size_t *to_origin, const size_t *region, TAIL), \
  (queue, from, to, from_origin, to_origin, region)) \
X(clEnqueueCopyImageToBuffer, COPY, D2D, SELF, 0, false, \
  MOVES(to, offset), LATE(0, 0, image_bytes(from, region)), \
  (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin, \
   const size_t *region, size_t offset, TAIL), \
  (queue, from, to, origin, region, offset)) \
X(clEnqueueCopyBufferToImage, COPY, D2D, SELF, 0, false, \
  MOVES(to, image_offset(origin)), LATE(0, 0, image_bytes(to, region)), \
  (cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin, \
   const size_t *region, TAIL), \
  (queue, from, to, offset, origin, region)) \
X(clEnqueueFillImage, FILL, FILL, SELF, 0, false, \
  MOVES(image, image_offset(origin)), LATE(0, 0, image_bytes(image, region)), \
  (cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin, \
   const size_t *region, TAIL), \
  (queue, image, colour, origin, region)) \
X(clEnqueueUnmapMemObject, UNMAP, UNMAP, SELF, mapped_bytes(pointer), false, \
  MOVES(object, 0), LATE_DO(unmapped(pointer)), \
  (cl_command_queue queue, cl_mem object, void *pointer, TAIL), (queue, object, pointer)) \
X(clEnqueueMigrateMemObjects, MIGRATE, \
  HOST_OR(flags & CL_MIGRATE_MEM_OBJECT_HOST), SELF, 0, false, \
  MOVES(n_objects == 1 && objects ? objects[0] : NULL, 0), \
  LATE(0, 0, mem_bytes(n_objects, objects)), \
  (cl_command_queue queue, cl_uint n_objects, const cl_mem *objects, \
   cl_mem_migration_flags flags, TAIL), \
  (queue, n_objects, objects, flags)) \
X(clEnqueueMarkerWithWaitList, MARKER, NONE, SELF, 0, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, TAIL), (queue)) \
X(clEnqueueBarrierWithWaitList, BARRIER, NONE, SELF, 0, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, TAIL), (queue)) \
X(clEnqueueSVMMemcpy, COPY, SVM(to, from), SELF, bytes, blocking, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t bytes, TAIL), \
  (queue, blocking, to, from, bytes)) \
X(clEnqueueSVMMemFill, FILL, FILL, SELF, bytes, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes, \
   size_t bytes, TAIL), \
  (queue, to, pattern, pattern_bytes, bytes)) \
X(clEnqueueSVMMap, MAP, MAP, SELF, bytes, blocking, NO_MOVE, LATE_DO(mapped(pointer, bytes)), \
  (cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer, \
   size_t bytes, TAIL), \
  (queue, blocking, flags, pointer, bytes)) \
X(clEnqueueSVMUnmap, UNMAP, UNMAP, SELF, mapped_bytes(pointer), false, \
  NO_MOVE, LATE_DO(unmapped(pointer)), \
  (cl_command_queue queue, void *pointer, TAIL), (queue, pointer)) \
X(clEnqueueSVMMigrateMem, MIGRATE, HOST_OR(flags & CL_MIGRATE_MEM_OBJECT_HOST), SELF, \
  sum_sizes(n, sizes), false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, cl_uint n, const void **pointers, const size_t *sizes, \
   cl_mem_migration_flags flags, TAIL), \
  (queue, n, pointers, sizes, flags)) \
X(clEnqueueSVMFree, OTHER, NONE, SELF, 0, false, NO_MOVE, \
  LATE_DO(svm_queue_free(n, pointers, function)), \
  (cl_command_queue queue, cl_uint n, void **pointers, \
   void (CL_CALLBACK *function)(cl_command_queue, cl_uint, void **, void *), void *data, TAIL), \
  (queue, n, pointers, function, data)) \
X(clEnqueueAcquireGLObjects, OTHER, NONE, SELF, 0, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, cl_uint n, const cl_mem *objects, TAIL), (queue, n, objects)) \
X(clEnqueueReleaseGLObjects, OTHER, NONE, SELF, 0, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, cl_uint n, const cl_mem *objects, TAIL), (queue, n, objects)) \
X(clEnqueueAcquireEGLObjectsKHR, OTHER, NONE, SELF, 0, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, cl_uint n, const cl_mem *objects, TAIL), (queue, n, objects)) \
X(clEnqueueReleaseEGLObjectsKHR, OTHER, NONE, SELF, 0, false, NO_MOVE, NO_LATE, \
  (cl_command_queue queue, cl_uint n, const cl_mem *objects, TAIL), (queue, n, objects))

#define INFO_PARAMS(handle) \
	(handle object, cl_uint what, size_t bytes, void *value, size_t *bytes_ret)
#define INFO_ARGS (object, what, bytes, value, bytes_ret)

#define TABLE_COUNT(X) \
X(clGetPlatformInfo, object, INFO_PARAMS(cl_platform_id), INFO_ARGS) \
X(clGetDeviceInfo, object, INFO_PARAMS(cl_device_id), INFO_ARGS) \
X(clRetainDevice, object, (cl_device_id object), (object)) \
X(clReleaseDevice, object, (cl_device_id object), (object)) \
X(clRetainContext, object, (cl_context object), (object)) \
X(clReleaseContext, object, (cl_context object), (object)) \
X(clGetContextInfo, object, INFO_PARAMS(cl_context), INFO_ARGS) \
X(clRetainCommandQueue, object, (cl_command_queue object), (object)) \
X(clRetainMemObject, object, (cl_mem object), (object)) \
X(clGetSupportedImageFormats, context, (cl_context context, cl_mem_flags flags, \
  cl_mem_object_type type, cl_uint n, cl_image_format *formats, cl_uint *n_ret), \
  (context, flags, type, n, formats, n_ret)) \
X(clGetMemObjectInfo, object, INFO_PARAMS(cl_mem), INFO_ARGS) \
X(clGetImageInfo, object, INFO_PARAMS(cl_mem), INFO_ARGS) \
X(clGetPipeInfo, object, INFO_PARAMS(cl_mem), INFO_ARGS) \
X(clSetMemObjectDestructorCallback, object, (cl_mem object, \
  void (CL_CALLBACK *function)(cl_mem, void *), void *data), (object, function, data)) \
X(clRetainSampler, object, (cl_sampler object), (object)) \
X(clReleaseSampler, object, (cl_sampler object), (object)) \
X(clGetSamplerInfo, object, INFO_PARAMS(cl_sampler), INFO_ARGS) \
X(clRetainProgram, object, (cl_program object), (object)) \
X(clReleaseProgram, object, (cl_program object), (object)) \
X(clGetProgramInfo, object, INFO_PARAMS(cl_program), INFO_ARGS) \
X(clGetProgramBuildInfo, object, (cl_program object, cl_device_id device, cl_uint what, \
  size_t bytes, void *value, size_t *bytes_ret), \
  (object, device, what, bytes, value, bytes_ret)) \
X(clSetProgramSpecializationConstant, object, (cl_program object, cl_uint id, size_t bytes, \
  const void *value), (object, id, bytes, value)) \
X(clRetainKernel, object, (cl_kernel object), (object)) \
X(clReleaseKernel, object, (cl_kernel object), (object)) \
X(clSetKernelArg, object, (cl_kernel object, cl_uint index, size_t bytes, const void *value), \
  (object, index, bytes, value)) \
X(clSetKernelArgSVMPointer, object, (cl_kernel object, cl_uint index, const void *value), \
  (object, index, value)) \
X(clSetKernelExecInfo, object, (cl_kernel object, cl_uint what, size_t bytes, \
  const void *value), (object, what, bytes, value)) \
X(clGetKernelInfo, object, INFO_PARAMS(cl_kernel), INFO_ARGS) \
X(clGetKernelArgInfo, object, (cl_kernel object, cl_uint index, cl_uint what, size_t bytes, \
  void *value, size_t *bytes_ret), (object, index, what, bytes, value, bytes_ret)) \
X(clGetKernelWorkGroupInfo, object, (cl_kernel object, cl_device_id device, cl_uint what, \
  size_t bytes, void *value, size_t *bytes_ret), \
  (object, device, what, bytes, value, bytes_ret)) \
X(clRetainEvent, object, (cl_event object), (object)) \
X(clReleaseEvent, object, (cl_event object), (object)) \
X(clSetEventCallback, object, (cl_event object, cl_int status, \
  void (CL_CALLBACK *function)(cl_event, cl_int, void *), void *data), \
  (object, status, function, data))

#define TABLE_TIMED(X) \
X(clFlush, object, (cl_command_queue object), (object)) \
X(clSetUserEventStatus, object, (cl_event object, cl_int status), (object, status)) \
X(clUnloadPlatformCompiler, object, (cl_platform_id object), (object)) \
X(clSetDefaultDeviceCommandQueue, context, (cl_context context, cl_device_id device, \
  cl_command_queue queue), (context, device, queue))

/* Wrapped from MIN on, because they determine what an address means from then on. */
#define TABLE_CREATE_MIN(X) \
X(clCreateContext, cl_context, devices[0], context_created(made), \
  (const cl_context_properties *properties, cl_uint n, const cl_device_id *devices, \
   void (CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, \
   cl_int *errcode_ret), \
  (properties, n, devices, notify, data)) \
X(clCreateKernel, cl_kernel, program, kernel_created(made, name), \
  (cl_program program, const char *name, cl_int *errcode_ret), (program, name)) \
X(clCloneKernel, cl_kernel, kernel, kernel_created(made, NULL), \
  (cl_kernel kernel, cl_int *errcode_ret), (kernel)) \
X(clCreateImage2D, cl_mem, context, image_created(made, context, flags), \
  (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width, \
   size_t height, size_t row, void *host, cl_int *errcode_ret), \
  (context, flags, format, width, height, row, host)) \
X(clCreateImage3D, cl_mem, context, image_created(made, context, flags), \
  (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width, \
   size_t height, size_t depth, size_t row, size_t slice, void *host, cl_int *errcode_ret), \
  (context, flags, format, width, height, depth, row, slice, host)) \
X(clCreateImage, cl_mem, context, image_created(made, context, flags), \
  (cl_context context, cl_mem_flags flags, const cl_image_format *format, \
   const cl_image_desc *desc, void *host, cl_int *errcode_ret), \
  (context, flags, format, desc, host)) \
X(clCreateImageWithProperties, cl_mem, context, image_created(made, context, flags), \
  (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, \
   const cl_image_format *format, const cl_image_desc *desc, void *host, \
   cl_int *errcode_ret), \
  (context, properties, flags, format, desc, host))

#define TABLE_CREATE(X) \
X(clCreateBuffer, cl_mem, context, buffer_created(made, context, flags, bytes), \
  (cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *errcode_ret), \
  (context, flags, bytes, host)) \
X(clCreateBufferWithProperties, cl_mem, context, buffer_created(made, context, flags, bytes), \
  (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, size_t bytes, \
   void *host, cl_int *errcode_ret), \
  (context, properties, flags, bytes, host)) \
X(clCreateSubBuffer, cl_mem, buffer, part_created(made, buffer, type, info), \
  (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void *info, \
   cl_int *errcode_ret), \
  (buffer, flags, type, info)) \
X(clCreatePipe, cl_mem, context, pipe_created(made, context), \
  (cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint n, \
   const cl_pipe_properties *properties, cl_int *errcode_ret), \
  (context, flags, packet, n, properties)) \
X(clCreateSampler, cl_sampler, context, (void)0, \
  (cl_context context, cl_bool normalized, cl_addressing_mode mode, cl_filter_mode filter, \
   cl_int *errcode_ret), \
  (context, normalized, mode, filter)) \
X(clCreateSamplerWithProperties, cl_sampler, context, (void)0, \
  (cl_context context, const cl_sampler_properties *properties, cl_int *errcode_ret), \
  (context, properties)) \
X(clCreateProgramWithSource, cl_program, context, (void)0, \
  (cl_context context, cl_uint n, const char **strings, const size_t *lengths, \
   cl_int *errcode_ret), \
  (context, n, strings, lengths)) \
X(clCreateProgramWithBinary, cl_program, context, (void)0, \
  (cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths, \
   const unsigned char **binaries, cl_int *status, cl_int *errcode_ret), \
  (context, n, devices, lengths, binaries, status)) \
X(clCreateProgramWithBuiltInKernels, cl_program, context, (void)0, \
  (cl_context context, cl_uint n, const cl_device_id *devices, const char *names, \
   cl_int *errcode_ret), \
  (context, n, devices, names)) \
X(clCreateProgramWithIL, cl_program, context, (void)0, \
  (cl_context context, const void *il, size_t bytes, cl_int *errcode_ret), \
  (context, il, bytes)) \
X(clCreateUserEvent, cl_event, context, (void)0, \
  (cl_context context, cl_int *errcode_ret), (context))

/* Written by hand. */
#define TABLE_SPECIAL(X) \
X(clGetCommandQueueInfo, SET_MASK) \
X(clGetEventProfilingInfo, SET_MASK) \
X(clCreateCommandQueue, SET_MASK) \
X(clCreateCommandQueueWithProperties, SET_MASK) \
X(clSetCommandQueueProperty, SET_MASK) \
X(clGetEventInfo, SET_MIN) \
X(clReleaseCommandQueue, SET_MIN) \
X(clReleaseMemObject, SET_DEFAULT) \
X(clGetDeviceIDs, SET_MIN) \
X(clCreateContextFromType, SET_MIN) \
X(clCreateSubDevices, SET_MIN) \
X(clCreateKernelsInProgram, SET_MIN) \
X(clEnqueueMapBuffer, SET_MIN) \
X(clEnqueueMapImage, SET_MIN) \
X(clEnqueueMarker, SET_MIN) \
X(clEnqueueBarrier, SET_MIN) \
X(clEnqueueWaitForEvents, SET_MIN) \
X(clFinish, SET_MIN) \
X(clWaitForEvents, SET_DEFAULT) \
X(clBuildProgram, SET_DEFAULT) \
X(clCompileProgram, SET_DEFAULT) \
X(clLinkProgram, SET_DEFAULT) \
X(clSVMAlloc, SET_MASK) \
X(clSVMFree, SET_MASK) \
X(clGetExtensionFunctionAddressForPlatform, SET_MIN)

/* Every row of the dispatch table as HOOK(fn, set): define HOOK, use, undefine. */
#define HOOK_MIN(fn, ...) HOOK(fn, SET_MIN)
#define HOOK_DEFAULT(fn, ...) HOOK(fn, SET_DEFAULT)
#define HOOK_SPECIAL(fn, set) HOOK(fn, set)
#define TABLE_ALL \
	TABLE_ENQUEUE(HOOK_MIN) TABLE_CREATE_MIN(HOOK_MIN) TABLE_COUNT(HOOK_DEFAULT) \
	TABLE_TIMED(HOOK_DEFAULT) TABLE_CREATE(HOOK_DEFAULT) TABLE_SPECIAL(HOOK_SPECIAL)

/* Extension functions, which are looked up by name (ext.c). */
#define EXT_ALL(X) \
X(clEnqueueMemcpyINTEL, SET_MIN) \
X(clEnqueueMemFillINTEL, SET_MIN) \
X(clEnqueueMemsetINTEL, SET_MIN) \
X(clEnqueueMigrateMemINTEL, SET_MIN) \
X(clEnqueueMemAdviseINTEL, SET_MIN) \
X(clHostMemAllocINTEL, SET_MIN) \
X(clDeviceMemAllocINTEL, SET_MIN) \
X(clSharedMemAllocINTEL, SET_MIN) \
X(clMemFreeINTEL, SET_MIN) \
X(clMemBlockingFreeINTEL, SET_MIN) \
X(clCreateCommandBufferKHR, SET_MIN) \
X(clEnqueueCommandBufferKHR, SET_MIN) \
X(clCreateCommandQueueWithPropertiesKHR, SET_MIN)

#endif
