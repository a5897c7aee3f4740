/* SPDX-License-Identifier: MIT */
/*
 * Where asyncio says how its tasks are found (tasks.h): from Python 3.14 on the library that has
 * it, a module of Python's own or Python itself, has a section with offsets for debuggers. No
 * symbol leads to it, only the section headers in the library's file.
 */
#include <string.h>

#include "probes/host/host.h"
#include "probes/host/native.h"
#include "probes/host/tasks.h"
#include "probes/runtime/internal.h"

#define MODULE "_asyncio."		/* what the name of its file begins with */
#define SECTION ".AsyncioDebug"
#define SAID_BYTES (HOST_TASK_SAID * sizeof(uint64_t))

/* The section's address in the file; 0: it has none, or a damaged one. */
static uint64_t asyncio_section(const struct elf_file *file)
{
	uint32_t index = ((const Elf64_Ehdr *)file->bytes)->e_shstrndx;
	const Elf64_Shdr *names = index < (uint32_t)file->count ? &file->sections[index] : NULL;

	if (!names || !elf_file_has(file, names->sh_offset, names->sh_size))
		return 0;
	for (int i = 0; i < file->count; i++) {
		const Elf64_Shdr *section = &file->sections[i];

		if (section->sh_size == SAID_BYTES && section->sh_name < names->sh_size &&
		    names->sh_size - section->sh_name >= sizeof(SECTION) &&
		    !memcmp(file->bytes + names->sh_offset + section->sh_name, SECTION,
			    sizeof(SECTION)))
			return section->sh_addr;
	}
	return 0;
}

/* Reads the section of the library that the address is in. */
static bool asyncio_said(struct host_python *py, const void *address)
{
	static struct address_module module;	/* a path is long */
	uint64_t word[HOST_TASK_SAID], section;
	struct elf_file file;
	bool found;

	if (!address || !rt_module_of(address, &module, &found) || !found ||
	    !elf_file_map(&file, *module.path ? module.path : "/proc/self/exe"))
		return false;
	section = native_is_loaded(&file, module.base) ? asyncio_section(&file) : 0;
	elf_file_unmap(&file);
	return section && host_copy(py, word, module.base + section, sizeof(word)) &&
	       host_task_said(py, word);
}

static void asyncio_look(void *handle, const char *name, void *py)
{
	const char *slash = strrchr(name, '/');

	if (rt_begins(slash ? slash + 1 : name, MODULE))
		asyncio_said(py, rt_module_symbol(handle, "PyInit__asyncio"));
}

void host_asyncio_begin(struct host_python *py)
{
	host_task_begin(py, (uintptr_t)rt_symbol("PyCoro_Type", NULL),
			(uintptr_t)rt_symbol("PyDict_Type", NULL),
			(uintptr_t)rt_symbol("PyModule_Type", NULL));
	/* where it is built into Python */
	if (!asyncio_said(py, (const void *)py->runtime))
		host_asyncio_look(py);
}

void host_asyncio_look(struct host_python *py)
{
	if (py->layout->version >= 0x030e && py->tasks.coro_type && !py->tasks.running)
		rt_modules(asyncio_look, py);
}
