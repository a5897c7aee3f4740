/* SPDX-License-Identifier: MIT */
/*
 * For each probe: whether the runtime that it observes is in the process, whether the probe can be
 * loaded into a running process, and what it will miss then. A probe library that can be loaded
 * late exports ATTACH_ENTRY.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/attach/preflight_internal.h"
#include "probes/attach/stage.h"

#define PREFIXES_MAX 8

#define START STAGE_START	/* brings the frameworks' probes (probes/start/late.h) */

static const struct late_probe {
	const char *name, *library;
	const char *entry;	/* the library that loads it in a running process; NULL: its own */
	/* Libraries that show that its runtime is loaded; none: it consists of headers, and
	 * programs that use it cannot be recognised from outside. */
	const char *runtimes[PREFIXES_MAX];
	const char *missing;	/* what was there before and will be missing */
	/* what it does that may harm a program in which XLA computes on a GPU; NULL: nothing */
	const char *not_xla;
} probes[] = {
	{ "opencl", "libtftop-opencl.so", NULL, { "libOpenCL.so", "libOpenCL-" },
	  "command queues created earlier have approximate times or none; extension functions that "
	  "were looked up earlier are not seen", NULL },
	{ "cuda", "libtftop-cuda.so", NULL, { "libcuda.so" },
	  "graphs instantiated earlier are shown without their nodes",
	  "beginning to use CUPTI while XLA launches CUDA graphs" },
	{ "nvtx", "libtftop-nvtx.so", NULL, { NULL },
	  "domains and strings registered earlier have no names", NULL },
	{ "itt", "libtftop-itt.so", NULL, { "libittnotify" },
	  "domains and handles created earlier are not seen", NULL },
	{ "tensorflow", "libtftop-tensorflow.so", START,
	  { "libtensorflow_framework.so", "libtensorflow_cc.so", "libtensorflow.so",
	    "_pywrap_tensorflow_internal" },
	  "graphs created earlier (their ops have no inputs, outputs or source lines), and oneDNN "
	  "primitives", NULL },
	{ "pytorch", "libtftop-pytorch.so", START, { "libtorch_cpu.so", "libtorch.so" },
	  "memory allocated earlier, and oneDNN primitives", NULL },
	{ "jax", "libtftop-jax.so", START,
	  { "libjax_common.so", "_jax.so", "_jax.cpython", "xla_extension." },
	  "memory of arrays created earlier; and nothing at all while jax.profiler is on",
	  "replacing JAX's code" },
	{ "blas", "libtftop-blas.so", START,
	  { "libopenblas", "libscipy_openblas", "libmkl_rt", "libmkl_core", "libblas.so",
	    "libblis.so", "libflexiblas" }, NULL, NULL },
	{ "omp", "libtftop-omp.so", START,
	  { "libgomp", "libiomp5", "libomp.so", "libomp-" }, NULL, NULL },
};

const char *attach_probe_for(const char *file)
{
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		for (size_t k = 0; k < PREFIXES_MAX && probes[i].runtimes[k]; k++)
			if (!strncmp(file, probes[i].runtimes[k], strlen(probes[i].runtimes[k])))
				return probes[i].name;
	return NULL;
}

static const char *runtime_in(const struct facts *t, const struct late_probe *probe)
{
	const struct mapped_file *file = NULL;

	for (size_t i = 0; i < PREFIXES_MAX && probe->runtimes[i] && !file; i++)
		file = facts_file(t, probe->runtimes[i]);
	return file ? basename(file->path) : NULL;
}

/* Whether the probe will stay out, because XLA computes on a GPU there (schema/attach.h). */
static bool stays_out(const struct facts *t, const struct late_probe *probe)
{
	return probe->not_xla && facts_file(t, TFT_XLA_GPU) && facts_file(t, TFT_XLA_DRIVER) &&
	       !tft_xla_late_has(facts_variable(t, TFT_XLA_LATE_ENV), probe->name);
}

static void add_late_line(struct attach_check *check, const struct facts *t,
		     const struct late_probe *probe, bool late)
{
	const char *runtime = runtime_in(t, probe);
	struct attach_line *line;

	if (!runtime && probe->runtimes[0]) {
		line = attach_add(check, probe->name, ATTACH_ABSENT, "not needed: what it observes "
				  "is not loaded");
	} else if (late && stays_out(t, probe)) {
		line = attach_add(check, probe->name, ATTACH_CANNOT, TFT_XLA_LATE_WHY
				  ", and %s may be the cause; so this probe stays out",
				  probe->not_xla);
		attach_hint(line, "start the program with 'tftop -- PROGRAM'");
	} else if (!late) {
		line = attach_add(check, probe->name, ATTACH_CANNOT,
				  "%s%.80s%sthis probe must be there from the program's start",
				  runtime ? "'" : "", runtime ? runtime : "",
				  runtime ? "' is loaded; " : "");
		attach_hint(line, "start the program with 'tftop -- PROGRAM'");
	} else {
		line = attach_add(check, probe->name, probe->missing ? ATTACH_PARTLY : ATTACH_CAN,
				  "%s%.80s%s%s%s", runtime ? "'" : "",
				  runtime ? runtime :
					    "searched in all loaded libraries",
				  runtime ? "' is loaded" : "",
				  probe->missing ? "; not seen: " : "",
				  probe->missing ? probe->missing : "");
	}
	line->probe = true;
	line->loaded = runtime != NULL;
}

bool attach_can_come_late(const char *library)
{
	return has_name(library, ATTACH_ENTRY);
}

void check_probes(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	if (t && !t->files_known)
		return;
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		const struct late_probe *probe = &probes[i];
		struct attach_line *line;
		char path[2048];
		bool late;

		snprintf(path, sizeof(path), "%s/%s", lib_dir, probe->library);
		if (!lib_dir[0] || access(path, R_OK)) {
			line = attach_add(check, probe->name, ATTACH_CANNOT, "its library '%s' is "
					  "missing beside tftop", probe->library);
			attach_hint(line, "run 'make' or 'make install' again; it names what could "
				    "not be built");
			line->probe = true;
			continue;
		}
		if (probe->entry)
			snprintf(path, sizeof(path), "%s/%s", lib_dir, probe->entry);
		late = attach_can_come_late(path);
		if (t) {
			add_late_line(check, t, probe, late);
			continue;
		}
		line = attach_add(check, probe->name, ATTACH_CAN, "%s", late ?
				  "when tftop starts the program, and when it attaches (-p)" :
				  "only when tftop starts the program");
		line->probe = true;
	}
}

void attach_check_probes(struct attach_check *check, const char *lib_dir)
{
	check_probes(check, NULL, lib_dir);
}

/* ---- CUPTI ---- */

/* Until CUDA 13.2 CUPTI has one client per process; these libraries are known clients. */
static const char *cupti_client(const struct facts *t)
{
	static const struct {
		const char *prefix, *who;
	} clients[] = {
		{ "libToolsInjection64", "Nsight Systems" },
		{ "libnsys", "Nsight Systems" },
		{ "libcuda-injection", "Nsight Compute" },
		{ "libsanitizer-collection", "Compute Sanitizer" },
		{ "libcudadebugger", "cuda-gdb" },
		{ "libtftop-cuda.so", "tftop" },
	};

	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
		if (facts_file(t, clients[i].prefix))
			return clients[i].who;
	return NULL;
}

void check_cupti(struct attach_check *check, const struct facts *t)
{
	const char *injected = facts_variable(t, "CUDA_INJECTION64_PATH"), *who = cupti_client(t);
	const struct mapped_file *cupti = facts_file(t, "libcupti.so");
	struct attach_line *line;

	if (!t->files_known || !facts_file(t, "libcuda.so"))
		return;
	if (!who && injected && *injected)
		who = basename(injected);
	if (!cupti) {
		attach_add(check, "CUPTI", ATTACH_ABSENT, "not loaded, so nobody uses it");
	} else if (who) {
		line = attach_add(check, "CUPTI", ATTACH_PARTLY,
				  "%.100s uses it: before CUDA 13.3 kernels and copies are then "
				  "reported to that profiler alone",
				  who);
		attach_hint(line, "end that profiler first to see CUDA kernels and copies");
	} else {
		attach_add(check, "CUPTI", ATTACH_CAN, "'%.160s' is loaded; no library of another "
			   "profiler was found; while the program's own profiler records the "
			   "device, tftop does not", cupti->path);
	}
}
