/* SPDX-License-Identifier: MIT */
/*
 * cuda_xla COUNT: marks and launches on the CUDA driver's double what XLA marks and launches for
 * COUNT runs of a program (the texts are those of jaxlib 0.11): one instruction by itself, and
 * three in a command buffer, whose nodes are made while no instruction but the buffer is open. The
 * double writes down to which instruction each kernel belongs.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/api.h"
#include "tests/doubles/cuda/sim.h"
#include "tests/probes/nvtx_double.h"

#define NODES 3

static nvtxDomainHandle_t domain;

static void push_text(const char *text)
{
	nvtxEventAttributes_t a = { .version = 3, .size = sizeof(a) };

	a.message_type = NVTX_MESSAGE_CHAR;
	a.message.text = text;
	nvtxDomainRangePushEx(domain, &a);
}

/* XLA registers the texts of instructions once. */
static void push_registered(nvtxStringHandle_t text)
{
	nvtxEventAttributes_t a = { .version = 3, .size = sizeof(a) };

	a.message_type = NVTX_MESSAGE_HANDLE;
	a.message.handle = text;
	nvtxDomainRangePushEx(domain, &a);
}

static void *graph_of(void *module)
{
	static const char *const names[NODES] = { "loop_add_fusion", "loop_tanh_fusion",
						  "sort_6_1" };
	struct cuda_kernel_node kernel = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
	void *graph, *exec, *node = NULL;

	MUST(cuGraphCreate(&graph, 0));
	for (int i = 0; i < NODES; i++) {
		void *before = node;

		MUST(cuModuleGetFunction(&kernel.function, module, names[i]));
		sim_range_push(sim_range(names[i]));
		MUST(cuGraphAddKernelNode_v2(&node, graph, &before, i > 0, &kernel));
		sim_range_pop();
	}
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

static void compile(void)
{
	push_text("XlaCompile:#module=jit_train,program_id=7#");
	push_text("XlaPass:#name=algsimp,module=jit_train,program_id=7#");
	nvtxDomainRangePop(domain);
	push_text("XlaPass:#name=dce,module=jit_train,program_id=7#");
	nvtxDomainRangePop(domain);
	nvtxDomainRangePop(domain);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	nvtxStringHandle_t alone, buffer;
	void *context, *module, *function, *stream, *exec = NULL;

	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	MUST(cuCtxSetCurrent(context));
	MUST(cuModuleLoadData(&module, ""));
	MUST(cuModuleGetFunction(&function, module, "input_reduce_fusion"));
	MUST(cuStreamCreate(&stream, 1));
	nvtxInitialize(NULL);
	domain = nvtxDomainCreateA("TSL");
	alone = nvtxDomainRegisterStringA(domain,
		"Thunk:#name=jit(train),hlo_op=input_reduce_fusion,unique_hlo_op_id=30064771081#");
	buffer = nvtxDomainRegisterStringA(domain, "Thunk:#hlo_op=command_buffer_1#");
	compile();
	for (int i = 0; i < count; i++) {
		push_text("XlaModule:#hlo_module=jit_train,program_id=7#");
		push_registered(alone);
		sim_range_push(sim_range("input_reduce_fusion"));
		MUST(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
		sim_range_pop();
		nvtxDomainRangePop(domain);
		push_registered(buffer);
		if (!exec)
			exec = graph_of(module);
		sim_range_push(sim_range("command_buffer_1"));
		MUST(cuGraphLaunch(exec, stream));
		sim_range_pop();
		nvtxDomainRangePop(domain);
		nvtxDomainRangePop(domain);
	}
	push_text("a text of the program's own");
	nvtxDomainRangePop(domain);
	MUST(cuStreamSynchronize(stream));
	return 0;
}
