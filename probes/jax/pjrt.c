/* SPDX-License-Identifier: MIT */
/*
 * The compiled programs of XLA's plugin for GPUs. JAX gets a table of the plugin's functions from
 * its function GetPjrtApi(), which it looks up by dlsym(). Here it gets a copy of that table, in
 * which the functions that compile and load a program are ours: they call the plugin's, then ask it
 * for the optimised program and read the lines of its instructions (hlo.c). The plugin itself is
 * not changed.
 *
 * Source: XLA's xla/pjrt/c/pjrt_c_api.h. Functions are only ever added at the end of the table.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/imports/file.h"
#include "probes/imports/imports.h"
#include "probes/jax/hlo.h"
#include "probes/jax/probe.h"
#include "probes/schema/attach.h"

#define PJRT_MAJOR 0
#define TABLE_BYTES 4096u
#define PROGRAM_BYTES_MAX (INT64_C(256) << 20)

/* PJRT_Api; places in `functions` */
enum pjrt_function {
	PJRT_ERROR_DESTROY = 0, PJRT_CLIENT_COMPILE = 20, PJRT_EXECUTABLE_DESTROY = 40,
	PJRT_OPTIMIZED_PROGRAM = 48, PJRT_GET_EXECUTABLE = 51, PJRT_DESERIALIZE_AND_LOAD = 56,
	PJRT_NEEDED
};
/* Returns an error, or NULL; owned by the caller. */
typedef void *pjrt_call(void *args);
struct pjrt_api {
	size_t size;
	void *extension;
	struct {
		size_t size;
		void *extension;
		int major, minor;
	} version;
	pjrt_call *functions[];
};

/* The arguments of these functions begin with the size of the structure. */
struct pjrt_compile {
	size_t size;
	void *extension, *client;
	const void *program, *options;
	size_t options_size;
	void *loaded;			/* out */
};
struct pjrt_deserialize {
	size_t size;
	void *extension, *client;
	const void *bytes;
	size_t bytes_size;
	void *loaded;			/* out */
};
struct pjrt_get_executable {
	size_t size;
	void *extension, *loaded;
	void *executable;		/* out, owned by the caller */
};
struct pjrt_program {
	size_t size;
	void *extension;
	char *code;			/* NULL: only code_size is wanted */
	size_t code_size;
	const char *format;
	size_t format_size;
};
struct pjrt_optimized {
	size_t size;
	void *extension, *executable;
	struct pjrt_program *program;	/* out */
};
/* PJRT_Error_Destroy_Args, PJRT_Executable_Destroy_Args */
struct pjrt_destroy {
	size_t size;
	void *extension, *object;
};

static const struct pjrt_api *(*plugin_get)(void);
static const struct pjrt_api *_Atomic plugin;	/* its own table */
static _Alignas(16) char ours[TABLE_BYTES];	/* ... and the one that JAX gets */

static void destroy(enum pjrt_function function, void *object)
{
	struct pjrt_destroy args = { .size = sizeof(args), .object = object };

	/* destroying an error returns nothing */
	atomic_load(&plugin)->functions[function](&args);
}

/* Whether the call succeeded. */
static bool ask(enum pjrt_function function, void *args)
{
	void *error = atomic_load(&plugin)->functions[function](args);

	if (error)
		destroy(PJRT_ERROR_DESTROY, error);
	return !error;
}

static bool read_program(void *executable)
{
	struct pjrt_program program = { .size = sizeof(program) };
	struct pjrt_optimized args = {
		.size = sizeof(args), .executable = executable, .program = &program,
	};
	size_t size;
	bool read = false;

	if (!ask(PJRT_OPTIMIZED_PROGRAM, &args) || !program.code_size ||
	    program.code_size > (size_t)PROGRAM_BYTES_MAX)
		return false;
	/* not from the program's heap */
	size = program.code_size;
	program.code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (program.code == MAP_FAILED)
		return false;
	if (ask(PJRT_OPTIMIZED_PROGRAM, &args) && program.code_size <= size)
		read = hlo_read(pb_of(program.code, program.code_size));
	munmap(program.code, size);
	return read;
}

/* A program was compiled, or loaded from JAX's cache. */
static void program_ready(void *loaded)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct pjrt_get_executable get = { .size = sizeof(get), .loaded = loaded };
	bool read;

	if (!loaded || !ask(PJRT_GET_EXECUTABLE, &get))
		return;
	read = read_program(get.executable);
	destroy(PJRT_EXECUTABLE_DESTROY, get.executable);
	if (!read && !atomic_flag_test_and_set(&said))
		jax_blind("XLA does not give its compiled programs: its instructions have the "
			  "lines of the calls that run them");
}

static void *client_compile(void *given)
{
	const struct pjrt_compile *args = given;
	void *error = atomic_load(&plugin)->functions[PJRT_CLIENT_COMPILE](given);

	if (!error && args->size >= sizeof(*args))
		program_ready(args->loaded);
	return error;
}

static void *deserialize_and_load(void *given)
{
	const struct pjrt_deserialize *args = given;
	void *error = atomic_load(&plugin)->functions[PJRT_DESERIALIZE_AND_LOAD](given);

	if (!error && args->size >= sizeof(*args))
		program_ready(args->loaded);
	return error;
}

/* What JAX calls instead of the plugin's GetPjrtApi(). */
static const struct pjrt_api *get_api(void)
{
	static atomic_flag made = ATOMIC_FLAG_INIT;
	const struct pjrt_api *api = plugin_get();
	struct pjrt_api *copy = (struct pjrt_api *)ours;

	if (!api || api->version.major != PJRT_MAJOR || api->size > sizeof(ours) ||
	    api->size < sizeof(*api) + PJRT_NEEDED * sizeof(api->functions[0]))
		return api;
	/* one table for one plugin; who comes while it is made gets the plugin's own */
	if (atomic_flag_test_and_set(&made))
		return atomic_load(&plugin) == api ? copy : api;
	memcpy(copy, api, api->size);
	copy->functions[PJRT_CLIENT_COMPILE] = client_compile;
	copy->functions[PJRT_DESERIALIZE_AND_LOAD] = deserialize_and_load;
	atomic_store(&plugin, api);
	return copy;
}

/* dlsym() of a library. Anything else than XLA's plugin gets what it would have got. */
__attribute__((used)) static void *pjrt_dlsym_of(void *handle, const char *name)
{
	struct address_module module;
	void *found = dlsym(handle, name);

	if (!found || strcmp(name, "GetPjrtApi") != 0 || !module_of_address(found, &module) ||
	    !strstr(module.path, "/" TFT_XLA_GPU))
		return found;
	if (plugin_get && plugin_get != found)
		return found;
	*(void **)&plugin_get = found;
	return (void *)get_api;
}

#if defined(__x86_64__)
__attribute__((used)) static void *(*pjrt_dlsym_plain)(void *, const char *) = dlsym;

/* With RTLD_DEFAULT and RTLD_NEXT (0 and -1) the answer depends on where dlsym() is called from: so
 * it is not called from here, but jumped to. */
__attribute__((naked)) static void *pjrt_dlsym(void *handle, const char *name)
{
	__asm__("lea 1(%rdi), %rax\n\t"
		"cmp $1, %rax\n\t"
		"ja 1f\n\t"
		"jmp *pjrt_dlsym_plain(%rip)\n"
		"1:\tjmp pjrt_dlsym_of\n");
}

void jax_pjrt_start(const void *inside)
{
	struct imports_change change = { .name = "dlsym", .ours = (void *)pjrt_dlsym };

	imports_change(inside, &change, 1);
}
#else
void jax_pjrt_start(const void *inside)
{
	(void)inside;
}
#endif
