/* SPDX-License-Identifier: MIT */
/* libcuda.so.1: modules, kernels, launches. See sim.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/entry.h"

#define LAZY_NS 20000
#define JIT_NS 300000

/* The parameters of a launch in the driver's API. */
struct launch_config {
	unsigned int grid[3], block[3], shared;
	void *stream, *attributes;
	unsigned int n_attributes;
};

static struct sim_function *functions;
static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint next_module = 1;

/* --- modules ---------------------------------------------------------------- */

struct sim_module {
	uint32_t id;
};

static int load(void **module, const void *image)
{
	struct sim_module *m = calloc(1, sizeof(*m));
	int64_t start = sim_now();

	m->id = atomic_fetch_add(&next_module, 1);
	*module = m;
	/* PTX is text, which is compiled at this point. */
	if (image && !strncmp(image, "//", 2)) {
		int device = sim_thread.current ? sim_thread.current->device->ordinal : 0;

		sim_sleep_until(start + JIT_NS);
		truth_compile();
		SIM_TELL(compiled, device, start, sim_now(), sim_correlation());
	}
	SIM_TELL(object, SIM_MODULE, m, false);
	return SIM_OK;
}

ENTRY(19, cuModuleLoadData, (void **, module), (const void *, image))
{
	return load(module, image);
}

ENTRY(21, cuModuleLoadFatBinary, (void **, module), (const void *, image))
{
	return load(module, image);
}

ENTRY(20, cuModuleLoadDataEx, (void **, module), (const void *, image), (unsigned int, n),
      (int *, options), (void **, values))
{
	return load(module, image);
}

ENTRY(22, cuModuleUnload, (void *, module))
{
	SIM_TELL(object, SIM_MODULE, module, true);
	free(module);
	return SIM_OK;
}

ENTRY(678, cuLibraryLoadData, (void **, library), (const void *, code), (void *, options),
      (void **, values), (unsigned int, n), (void *, library_options), (void **, library_values),
      (unsigned int, n_library))
{
	return load(library, code);
}

ENTRY(680, cuLibraryUnload, (void *, library))
{
	return do_cuModuleUnload(library);
}

/* Any name is accepted as a kernel, in any module. */
static int function_of(void **function, const char *name)
{
	struct sim_function *f;

	pthread_mutex_lock(&functions_lock);
	for (f = functions; f && strcmp(f->name, name); f = f->next)
		;
	if (!f) {
		f = calloc(1, sizeof(*f));
		f->magic = SIM_MAGIC_FUNCTION;
		f->name = strdup(name);
		f->registers = 32;
		f->next = functions;
		functions = f;
	}
	pthread_mutex_unlock(&functions_lock);
	*function = f;
	return SIM_OK;
}

ENTRY(23, cuModuleGetFunction, (void **, function), (void *, module), (const char *, name))
{
	return function_of(function, name);
}

ENTRY(681, cuLibraryGetKernel, (void **, kernel), (void *, library), (const char *, name))
{
	return function_of(kernel, name);
}

ENTRY(683, cuKernelGetFunction, (void **, function), (void *, kernel))
{
	*function = kernel;
	return SIM_OK;
}

/* Attributes by their numbers: threads at most, shared memory, registers. */
ENTRY(85, cuFuncGetAttribute, (int *, value), (int, attribute), (struct sim_function *, function))
{
	*value = attribute == 0 ? 1024 : attribute == 1 ? function->shared_static :
		 attribute == 4 ? function->registers : 0;
	return SIM_OK;
}

ENTRY(481, cuFuncSetAttribute, (void *, function), (int, attribute), (int, value))
{
	return SIM_OK;
}

ENTRY(86, cuFuncSetCacheConfig, (void *, function), (int, config))
{
	return SIM_OK;
}

ENTRY(451, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *, blocks),
      (void *, function), (int, threads), (size_t, shared), (unsigned int, flags))
{
	*blocks = threads > 0 ? 2048 / threads : 0;
	return *blocks ? SIM_OK : SIM_INVALID_VALUE;
}

ENTRY(374, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, blocks), (void *, function),
      (int, threads), (size_t, shared))
{
	return do_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
								      shared, 0);
}

/* --- launches --------------------------------------------------------------- */

static const char *symbol_of(void *function)
{
	struct sim_function *f = function;

	return f && f->magic == SIM_MAGIC_FUNCTION ? f->name : NULL;
}

int sim_set_kernel(struct sim_op *op, void *function, const unsigned int *grid,
		   const unsigned int *block, unsigned int shared)
{
	struct sim_function *f = function;

	if (!symbol_of(function))
		return SIM_INVALID_HANDLE;
	op->kind = SIM_KERNEL;
	op->function = f;
	op->name = f->name;
	for (int i = 0; i < 3; i++) {
		op->grid[i] = grid[i];
		op->block[i] = block[i];
		if (!grid[i] || !block[i])
			return SIM_INVALID_VALUE;
	}
	op->shared_dynamic = shared;
	return (uint64_t)block[0] * block[1] * block[2] > 1024 ? SIM_INVALID_VALUE : SIM_OK;
}

static int launch(void *function, const unsigned int *grid, const unsigned int *block,
		  unsigned int shared, void *stream)
{
	struct sim_op op = { .stream = sim_stream(stream) };
	int result = sim_set_kernel(&op, function, grid, block, shared);

	if (!op.stream)
		return sim_thread.current ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (result) {
		truth_failed();
		return result;
	}
	if (sim_settings.lazy && !op.function->loaded) {
		int64_t start = sim_now();

		op.function->loaded = true;
		sim_sleep_until(start + LAZY_NS);
		truth_compile();
		SIM_TELL(overhead, 5u << 16, start, sim_now(), sim_correlation());
	}
	return sim_do(&op, NULL, NULL);
}

#define GRID ((const unsigned int[]){ gx, gy, gz })
#define BLOCK ((const unsigned int[]){ bx, by, bz })
#define LAUNCH_ARGS (void *, f), (unsigned int, gx), (unsigned int, gy), (unsigned int, gz), \
	(unsigned int, bx), (unsigned int, by), (unsigned int, bz), (unsigned int, shared), \
	(void *, stream), (void **, arguments)

LAUNCH(307, cuLaunchKernel, symbol_of(f), LAUNCH_ARGS, (void **, extra))
{
	return launch(f, GRID, BLOCK, shared, stream);
}

LAUNCH(442, cuLaunchKernel_ptsz, symbol_of(f), LAUNCH_ARGS, (void **, extra))
{
	return launch(f, GRID, BLOCK, shared, stream ? stream : (void *)2);
}

LAUNCH(477, cuLaunchCooperativeKernel, symbol_of(f), LAUNCH_ARGS)
{
	return launch(f, GRID, BLOCK, shared, stream);
}

LAUNCH(652, cuLaunchKernelEx, symbol_of(f), (const struct launch_config *, config), (void *, f),
       (void **, arguments), (void **, extra))
{
	return launch(f, config->grid, config->block, config->shared, config->stream);
}

LAUNCH(653, cuLaunchKernelEx_ptsz, symbol_of(f), (const struct launch_config *, config),
       (void *, f), (void **, arguments), (void **, extra))
{
	return launch(f, config->grid, config->block, config->shared,
		      config->stream ? config->stream : (void *)2);
}

/* The function is called when all earlier work has ended. */
ENTRY(527, cuLaunchHostFunc, (void *, stream), (sim_host, function),
      (void *, data))
{
	struct sim_op op = { .kind = SIM_HOST, .stream = sim_stream(stream), .duration_ns = 1000 };

	if (!op.stream)
		return SIM_INVALID_HANDLE;
	sim_drain(op.stream);
	function(data);
	return sim_submit(&op);
}
