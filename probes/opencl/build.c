/* SPDX-License-Identifier: MIT */
/*
 * Builds of programs: how long they take, with which options, and the log of a failed one. With a
 * notify function a build may continue after the call has returned; then a function of the probe is
 * notified first, writes the event and calls the program's.
 */
#include <stdlib.h>
#include <string.h>

#include "probes/opencl/probe.h"

#define LOG_BYTES 4000
#define WHAT_BYTES 400

struct program_build {
	void (CL_CALLBACK *notify)(cl_program, void *);
	void *data;
	char *options;		/* owned */
	int64_t begin_ns;
	enum hook hook;
};

/* "clBuildProgram kernel1;kernel2", or only the function's name. */
static void build_describe(cl_program program, enum hook hook, char *text, size_t room)
{
	const struct _cl_icd_dispatch *real = program ? real_of(program) : NULL;
	const char *verb = hook == H_clBuildProgram ? "build" :
			   hook == H_clCompileProgram ? "compile" : "link";
	size_t at = strlen(verb), bytes = 0;

	memcpy(text, verb, at + 1);
	if (!real || version_of(program) < 120 ||
	    real->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &bytes) ||
	    bytes <= 1)
		return;
	char *names = malloc(bytes);

	if (!names)
		return;
	if (!real->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, bytes, names, NULL)) {
		size_t n = strnlen(names, bytes);

		if (n > room - at - 2)
			n = room - at - 2;
		text[at] = ' ';
		memcpy(text + at + 1, names, n);
		text[at + 1 + n] = '\0';
	}
	free(names);
}

/* The first log of a device that is not empty; "" if there is none. */
static void read_log(cl_program program, char *text, size_t room)
{
	const struct _cl_icd_dispatch *real = real_of(program);
	cl_device_id devices[16];
	size_t bytes = 0;

	text[0] = '\0';
	if (real->clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(devices), devices, &bytes))
		return;
	for (size_t i = 0; i < bytes / sizeof(devices[0]) && !text[0]; i++) {
		size_t need = 0;
		char *log;

		if (real->clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BUILD_LOG, 0,
						NULL, &need) || need <= 1)
			continue;
		log = malloc(need + 1);
		if (!log)
			return;
		if (!real->clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BUILD_LOG, need,
						 log, NULL)) {
			log[need] = '\0';
			memcpy(text, log, strnlen(log, room - 1));
			text[strnlen(log, room - 1)] = '\0';
		}
		free(log);
	}
}

/* The result of the first device whose build failed; CL_SUCCESS if none did. */
static cl_int build_result(cl_program program)
{
	const struct _cl_icd_dispatch *real = real_of(program);
	cl_device_id devices[16];
	size_t bytes = 0;

	if (real->clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(devices), devices, &bytes))
		return CL_SUCCESS;
	for (size_t i = 0; i < bytes / sizeof(devices[0]); i++) {
		cl_build_status status = CL_BUILD_SUCCESS;

		if (!real->clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BUILD_STATUS,
						 sizeof(status), &status, NULL) &&
		    status == CL_BUILD_ERROR)
			return CL_BUILD_PROGRAM_FAILURE;
	}
	return CL_SUCCESS;
}

static void build_written(cl_program program, enum hook hook, const char *options, int64_t begin_ns,
			  int64_t end_ns, cl_int result)
{
	char what[WHAT_BYTES], log[LOG_BYTES] = "";
	struct tft_compile compile = {
		.start_ns = begin_ns,
		.dur_ns = end_ns - begin_ns,
		.result = result,
		.what = what,
		.options = options ? options : "",
		.log = log,
	};

	build_describe(result == CL_SUCCESS ? program : NULL, hook, what, sizeof(what));
	if (result != CL_SUCCESS && program)
		read_log(program, log, sizeof(log));
	rt_emit_compile(&compile);
}

static void CL_CALLBACK notified(cl_program program, void *data)
{
	struct program_build *build = data;
	void (CL_CALLBACK *notify)(cl_program, void *) = build->notify;
	void *user = build->data;

	if (probe_armed())
		build_written(program, build->hook, build->options, build->begin_ns, rt_now_ns(),
			      program ? build_result(program) : CL_BUILD_PROGRAM_FAILURE);
	free(build->options);
	free(build);
	notify(program, user);
}

/* The user data to pass instead of the program's; NULL if memory is short. A call that fails
 * without calling back leaks these few bytes, because it is unknown whether it will still call
 * back. */
static struct program_build *build_new(enum hook hook, const char *options,
				       void (CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	struct program_build *build = notify && probe_armed() ? malloc(sizeof(*build)) : NULL;

	if (!build)
		return NULL;
	build->notify = notify;
	build->data = data;
	build->options = strdup(options ? options : "");
	build->hook = hook;
	build->begin_ns = rt_now_ns();
	return build;
}

/* To be called after the call: without a notify function the build is over. */
static void build_end(struct program_build *build, cl_program program, enum hook hook,
		      const char *options, int64_t begin_ns, cl_int result)
{
	int64_t end_ns = call_end(hook, begin_ns, result);

	if (!build && end_ns)
		build_written(program, hook, options, begin_ns, end_ns, result);
}

cl_int CL_API_CALL hook_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices,
				       const char *options,
				       void (CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	struct program_build *build = build_new(H_clBuildProgram, options, notify, data);
	int64_t begin_ns = call_begin();
	cl_int result = real_of(program)->clBuildProgram(program, n, devices, options,
							 build ? notified : notify,
							 build ? build : data);

	build_end(build, program, H_clBuildProgram, options, begin_ns, result);
	return result;
}

cl_int CL_API_CALL hook_clCompileProgram(cl_program program, cl_uint n,
					 const cl_device_id *devices, const char *options,
					 cl_uint n_headers, const cl_program *headers,
					 const char **names,
					 void (CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	struct program_build *build = build_new(H_clCompileProgram, options, notify, data);
	int64_t begin_ns = call_begin();
	cl_int result = real_of(program)->clCompileProgram(program, n, devices, options, n_headers,
							   headers, names,
							   build ? notified : notify,
							   build ? build : data);

	build_end(build, program, H_clCompileProgram, options, begin_ns, result);
	return result;
}

cl_program CL_API_CALL hook_clLinkProgram(cl_context context, cl_uint n,
					  const cl_device_id *devices, const char *options,
					  cl_uint n_programs, const cl_program *programs,
					  void (CL_CALLBACK *notify)(cl_program, void *),
					  void *data, cl_int *errcode_ret)
{
	struct program_build *build = build_new(H_clLinkProgram, options, notify, data);
	int64_t begin_ns = call_begin();
	cl_int result = CL_SUCCESS;
	cl_program program = real_of(context)->clLinkProgram(context, n, devices, options,
							     n_programs, programs,
							     build ? notified : notify,
							     build ? build : data, &result);

	if (errcode_ret)
		*errcode_ret = result;
	if (program)
		vendor_adopt(program, context);
	build_end(build, program, H_clLinkProgram, options, begin_ns, result);
	return program;
}
