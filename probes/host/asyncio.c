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

#define FIRST_TO_SAY 0x030e		/* version 3.14 */
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

static bool asyncio_said(struct host_python *py, const struct address_module *module)
{
	uint64_t word[HOST_TASK_SAID], section;
	struct elf_file file;

	if (!elf_file_map(&file, *module->path ? module->path : "/proc/self/exe"))
		return false;
	section = native_is_loaded(&file, module->base) ? asyncio_section(&file) : 0;
	elf_file_unmap(&file);
	return section && host_copy(py, word, module->base + section, sizeof(word)) &&
	       host_task_said(py, word);
}

static bool asyncio_may_say(const struct host_python *py)
{
	return py->layout->version >= FIRST_TO_SAY && py->tasks.coro_type && !py->tasks.running;
}

void host_asyncio_look(struct host_python *py)
{
	static struct address_module module;	/* a path is long */

	if (asyncio_may_say(py) && rt_module_named(MODULE, &module))
		asyncio_said(py, &module);
}

void host_asyncio_begin(struct host_python *py)
{
	static struct address_module module;
	bool found;

	host_task_begin(py, (uintptr_t)rt_symbol("PyCoro_Type", NULL),
			(uintptr_t)rt_symbol("PyDict_Type", NULL),
			(uintptr_t)rt_symbol("PyModule_Type", NULL));
	/* it may be built into Python */
	if (asyncio_may_say(py) && rt_module_of((const void *)py->runtime, &module, &found) &&
	    found)
		asyncio_said(py, &module);
	host_asyncio_look(py);
}
