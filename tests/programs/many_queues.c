/* SPDX-License-Identifier: MIT */
/*
 * many_queues COUNT [ROUNDS]: an OpenCL program with so many queues at once. In each of the rounds
 * (3) one kernel "count_up" runs on each. Before them it prints "ready" and waits for a character
 * on stdin or for its end. Status 0 when every queue has counted right.
 */
#include "tests/programs/cl_counter.h"

int main(int argc, char **argv)
{
	static const char *source = "kernel void count_up(global int *a, int i) { a[i]++; }\n";
	int count = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 3, wrong = 0;
	cl_command_queue *queues = calloc((size_t)count, sizeof(*queues));
	int *counted = calloc((size_t)count, sizeof(*counted));
	struct cl_counter counter;
	size_t one = 1;

	cl_counter_make(&counter, source, counted, (size_t)count);
	for (int i = 0; i < count; i++)
		queues[i] = cl_counter_queue(&counter);
	puts("ready");
	fflush(stdout);
	getchar();
	for (int n = 0; n < rounds; n++) {
		for (int i = 0; i < count; i++) {
			cl_must(clSetKernelArg(counter.kernel, 1, sizeof(i), &i), "argument");
			cl_must(clEnqueueNDRangeKernel(queues[i], counter.kernel, 1, NULL, &one,
						       NULL, 0, NULL, NULL), "launch");
		}
		for (int i = 0; i < count; i++)
			cl_must(clFinish(queues[i]), "finish");
	}
	cl_must(clEnqueueReadBuffer(queues[0], counter.buffer, CL_TRUE, 0,
				    (size_t)count * sizeof(int), counted, 0, NULL, NULL), "read");
	for (int i = 0; i < count; i++)
		wrong += counted[i] != rounds;
	for (int i = 0; i < count; i++)
		cl_must(clReleaseCommandQueue(queues[i]), "release");
	return wrong != 0;
}
