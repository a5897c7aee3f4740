/* SPDX-License-Identifier: MIT */
/*
 * The PyTorch probe. libtftop-start.so loads it when Python creates torch's module (see symbols.h).
 * This file has the functions that are replaced, the probe's reaction to levels, and what it says
 * about itself.
 */
#include <stdatomic.h>

#include "probes/python/python.h"
#include "probes/pytorch/probe.h"
#include "probes/runtime/slots.h"

const struct tft_interposed *torch_lib;

static void on_level(enum tft_level old_level, enum tft_level new_level)
{
	(void)old_level;
	torch_ops_level(new_level);
	if (new_level == TFT_LEVEL_OFF)
		torch_steps_tell(true);
	torch_kernels_tick(rt_now_ns(), new_level);
}

static void on_tick(int64_t now_ns)
{
	torch_ops_tick(now_ns);
	torch_cost_tick(now_ns, false);
	torch_kernels_tick(now_ns, rt_level());
	py_start_look(now_ns);
}

static void on_fini(void)
{
	torch_steps_tell(true);
	torch_cost_tick(rt_now_ns(), true);
	torch_passes_end();
	torch_shapes_tick();
	torch_kernels_end(rt_now_ns());
}

static void on_dump(void)
{
	torch_steps_dump();
	torch_cost_dump();
}

static struct rt_probe probe = {
	.name = "pytorch",
	.version = TFTOP_VERSION,
	.blind = "",
	.tick = on_tick,
	.dump = on_dump,
	.level = on_level,
	.fork_child = torch_ops_fork_child,
	.fini = on_fini,
};

void torch_blind(const char *text)
{
	rt_blind(&probe, text);
}

static atomic_flag armed = ATOMIC_FLAG_INIT;

static void say_no_lines(const char *why)
{
	if (why)
		torch_blind(why);
}

static void torch_arm(void)
{
	if (atomic_flag_test_and_set(&armed))
		return;
	if (!torch_calibrate()) {
		torch_blind("at::RecordFunction was not found: no ops");
		return;
	}
	if (torch_lib->late) {
		torch_passes_late();
		py_start_soon(say_no_lines);
	} else {
		say_no_lines(py_start());
	}
	torch_ops_start();
	torch_kernels_start();
}

/* PyTorch's libraries are loaded; its Python module does not exist yet. */
static void *init_module(void)
{
	void *(*original)(void);

	torch_arm();
	*(void **)&original = torch_lib->original(TFT_PYTORCH_INIT);
	return original ? original() : NULL;
}

static const struct {
	enum tft_pytorch_function function;
	void *ours;
	bool keep;	/* needed also at level off */
} hooks[] = {
	{ TFT_PYTORCH_INIT, (void *)init_module, true },
	{ TFT_PYTORCH_ALLOC_CPU, (void *)torch_alloc_cpu, false },
	{ TFT_PYTORCH_FREE_CPU, (void *)torch_free_cpu, false },
	{ TFT_PYTORCH_MEMORY, (void *)torch_memory, false },
	{ TFT_PYTORCH_MEMORY_1, (void *)torch_memory_1, false },
	{ TFT_PYTORCH_ONEDNN, (void *)torch_onednn_verbose, true },
};

static void torch_found(int function)
{
	void *original = torch_lib->original(function);
	struct rt_slot slot;

	if (!original)
		return;
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		if ((int)hooks[i].function != function)
			continue;
		slot = (struct rt_slot){
			.at = &torch_lib->slot[function], .ours = hooks[i].ours,
			.off = hooks[i].keep ? hooks[i].ours : original,
		};
		rt_slots_add(&slot, 1);
	}
}

__attribute__((visibility("default"))) tft_framework_start tft_pytorch_start;
tft_found *tft_pytorch_start(const struct tft_interposed *lib)
{
	torch_lib = lib;
	if (!(lib->late ? rt_probe_register_late : rt_probe_register)(&probe))
		return NULL;
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		torch_found((int)hooks[i].function);
	if (lib->late)
		torch_arm();
	return torch_found;
}
