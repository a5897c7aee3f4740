/* SPDX-License-Identifier: MIT */
/* lp, lk, ... on made-up data: what `COMMAND > FILE` writes, beside plain sums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/page_text.h"

/* The next line of a page after a heading and its titles, into line. */
static const char *next_line(const char *at, char line[300])
{
	size_t length = strcspn(at, "\n");

	snprintf(line, 300, "%.*s", (int)length, at);
	return at[length] ? at + length + 1 : NULL;
}

/* Kernels 1 … 3 run k times each, k ms long; ops around them. */
static struct model *model_of_kernels(void)
{
	struct model *model = model_with_device();
	uint32_t correlation = 1;
	int64_t at = 0;

	for (uint32_t k = 1; k <= 3; k++)
		for (uint32_t i = 0; i < k; i++) {
			struct event kernel = ev_kernel(k, 1 + i % 2, correlation, at + 1000,
							1000000 * k);

			apply_one(model, ev_op(6 + k, correlation, 0, at, 900, 0));
			kernel.u.command.op = correlation;
			kernel.u.command.op_name = 6 + k;
			apply_one(model, kernel);
			correlation++;
			at += 4000000;
		}
	model_finish(model, false);
	return model;
}

TEST(list_of_ops)
{
	struct model *model = model_of_kernels();
	char error[PAGE_ERROR], line[300], *text = PAGE(page_list_profile, "lp");
	const char *at = text;
	/* by device time: kernel k takes k * k ms */
	static const char *const rows[] = {
		"3  2.70 µs  2.70 µs        9.00 ms   64 %  900 ns  ≈900 ns        3",
		"2  1.80 µs  1.80 µs        4.00 ms   29 %  900 ns  ≈900 ns        2",
		"1   900 ns   900 ns        1.00 ms  7.1 %  900 ns  ≈900 ns        1",
		"6  5.40 µs                 14.0 ms  100 %                         6",
	};

	CHECK(text);
	at = next_line(at, line);
	CHECK_STR(line, "3 ops   by device time   share of all ops' device time: 14.0 ms");
	at = next_line(at, line);
	HAS(line, "device time ▾");
	for (int i = 0; i < 4 && at; i++) {
		at = next_line(at, line);
		HAS(line, rows[i]);
	}
	HAS(line, "total of 3");
	HAS(at, "coverage: 100 % of the devices' time has an op, 0 of 3 ops have a source line");
	free(text);

	text = PAGE(page_list_profile, "lp", "-o", ">1us", "-s", "calls", "-r", "-l", "1");
	HAS(text, "2 of 3 ops   total >1us   by calls");
	HAS(text, "\n… 1 more: -l 2 shows them\n");
	CHECK(text && !strstr(text, "64 %"));
	free(text);
	text = PAGE(page_list_profile, "lp", "-d", "gpu1");
	HAS(text, "0 of 3 ops   device ~ gpu1");
	HAS(text, "none of them matches");
	free(text);
	text = PAGE(page_list_profile, "lp", "-d", "gpu0");
	HAS(text, "3 ops   device ~ gpu0");
	free(text);
	text = PAGE(page_list_profile, "lp", "-w", "calls >= 2 & name ~ /9/");
	HAS(text, "1 of 3 ops   where calls >= 2 & name ~ /9/");
	free(text);
	text = PAGE(page_list_profile, "lp", "--min_lineno", "1");
	HAS(text, "0 of 3 ops   from line 1");
	free(text);
	model_free(model);
}

TEST(list_of_kernels)
{
	struct model *model = model_of_kernels();
	char error[PAGE_ERROR], *text = PAGE(page_list_kernels, "lk", "-s", "kernel");

	HAS(text, "3 kernels   by kernel   share of all kernels' time: 14.0 ms");
	HAS(text, "   1  1.00 ms  7.1 %  1.00 ms  1.00 ms  1.00 ms");
	HAS(text, "   3  9.00 ms   64 %  3.00 ms  3.00 ms  3.00 ms");
	HAS(text, "   6  14.0 ms  100 %");
	free(text);
	/* Of kernel3's runs two went to queue 0, of which nothing but the sum is known. */
	text = PAGE(page_list_kernels, "lk", "-q", "queue 0", "-n", "kernel3");
	HAS(text, "1 of 3 kernels   name ~ kernel3   queue ~ queue 0");
	HAS(text, "   2  6.00 ms   43 %  3.00 ms    –    –    –");
	free(text);
	text = PAGE(page_list_kernels, "lk", "-w", "device = gpu0 & mean > 1ms");
	HAS(text, "2 of 3 kernels   where device = gpu0 & mean > 1ms");
	free(text);
	text = PAGE(page_list_kernels, "lk", "-p", "nobody");
	HAS(text, "0 of 3 kernels   op ~ nobody");
	free(text);
	model_free(model);
}

static void add_steps(struct model *model)
{
	struct event step = { .type = EVENT_STEP, .pid = PID, .tid = PID };

	for (int64_t i = 0; i < 6; i++) {
		step.time_ns = BASE + (i + 1) * 4000000;
		step.u.step = (struct event_step) {
			.number = i, .start_ns = BASE + i * 4000000, .dur_ns = 4000000,
		};
		apply_one(model, step);
	}
}

TEST(list_of_executions)
{
	struct model *model = model_of_kernels();
	char error[PAGE_ERROR], line[300], *text;
	const char *at;

	add_steps(model);
	text = PAGE(page_list_executions, "le", "-k", "kernel", "-l", "4");
	at = next_line(text, line);
	CHECK_STR(line, "first 4 of 6 executions   kind kernel   by duration");
	at = next_line(at, line);
	at = next_line(at, line);
	HAS(line, " 3.00 ms  0.012001 s     3  kernel  queue 0 gpu0     kernel9  kernel3");
	HAS(at, "11.0 ms");		/* 3 + 3 + 3 + 2 */
	HAS(at, "total of 4");
	HAS(at, "\n… more: -l 16 shows that many\n");
	free(text);

	/* Without bytes there is no column of them, unless it is asked for. */
	text = PAGE(page_list_executions, "le", "-k", "kernel", "-s", "bytes");
	HAS(text, "thread or queue  bytes ▾  op ");
	free(text);

	/* As it is called, else a part of it. */
	text = PAGE(page_list_executions, "le", "kernel2", "-s", "start");
	HAS(text, "2 of 12 executions of kernel2   by start");
	free(text);
	text = PAGE(page_list_executions, "le", "nel2");
	HAS(text, "2 of 12 executions of nel2");
	free(text);
	text = PAGE(page_list_executions, "le", "-p", "kernel8");
	HAS(text, "4 of 12 executions   op ~ kernel8");
	free(text);
	text = PAGE(page_list_executions, "le", "-S", "2", "-k", "op");
	HAS(text, "1 of 6 executions   kind op   step 2");
	HAS(text, "0.008000 s     2  op");
	free(text);
	text = PAGE(page_list_executions, "le", "-o", ">=20ms", "-q", "queue 0");
	HAS(text, "1 of 4 executions   queue ~ queue 0   start >=20ms");
	free(text);
	text = PAGE(page_list_executions, "le", "-x");
	HAS(text, "0 of 12 executions   failed");
	free(text);
	text = PAGE(page_list_executions, "le", "-d", "gpu7");
	HAS(text, "-k, -d, -q and -T exclude every row of the timeline");
	free(text);
	WRONG(page_list_executions, "no step 9: there are 0 … 5", "le", "-S", "9");
	WRONG(page_list_executions, "-k wants one of kernel copy fill op range compile graph other "
	      "wait, not 'waits'", "le", "-k", "waits");
	WRONG(page_list_executions, "waits are not listed one by one: 'waits' has them by call, op "
	      "and line", "le", "-k", "wait");
	model_free(model);
}

TEST(lists_by_a_filter)
{
	struct model *model = model_of_kernels();
	char error[400], *text;

	add_steps(model);
	text = PAGE(page_list_executions, "le", "-w", "kernel & dur > 1ms");
	HAS(text, "5 of 6 executions   where kernel & dur > 1ms");
	free(text);
	text = PAGE(page_list_executions, "le", "-w",
		    "name = kernel2 & dur < 5ms | name = kernel3 & step = 3");
	HAS(text, "3 of 12 executions");
	HAS(text, " 7.00 ms");			/* 2 + 2 + 3 */
	free(text);
	/* the step of device work is that in which it began */
	text = PAGE(page_list_executions, "le", "-w", "step = 2 & kernel");
	HAS(text, "1 of 6 executions");
	free(text);
	text = PAGE(page_list_executions, "le", "-w", "copy");
	HAS(text, "-k, -d, -q and -T exclude every row");
	free(text);
	WRONG(page_list_executions,
	      "-w: at 7: 'dur' is a time, not '1'; a unit is missing: 1s, 1ms, 1us", "le", "-w",
	      "dur > 1");
	CHECK(!PAGE(page_list_tensors, "lt", "-w", "bytes > 1ms"));
	HAS(error, "-w: at 9: ");
	CHECK(!PAGE(page_copies, "pc", "-w", "wrongly"));
	HAS(error, "-w: at 1: ");
	model_free(model);
}

TEST(lists_of_nothing)
{
	struct model *model = model_with_device();
	char error[PAGE_ERROR], *text = PAGE(page_list_profile, "lp");

	CHECK_STR(text, "0 ops   by self   share of all ops' self time: 0 ns\n"
		  "no op or range yet: frameworks, NVTX and ITT ranges appear here\n");
	free(text);
	text = PAGE(page_list_kernels, "lk");
	HAS(text, "no kernel has finished yet");
	free(text);
	WRONG(page_list_executions, "no step 1: no steps were seen; -o takes times instead", "le",
	      "-S", "1");
	model_free(model);
}

TEST(lists_wrong)
{
	struct model *model = model_with_device();
	char error[PAGE_ERROR];

	WRONG(page_list_profile, "-s wants a column, not 'x': calls, self, total, device-time, "
	      "share, mean, p99, kernels, type, source, op", "lp", "-s", "x");
	/* two begin so */
	CHECK(!PAGE(page_list_kernels, "lk", "-s", "m"));
	CHECK(!PAGE(page_list_profile, "lp", "-w", "dur > 1"));
	CHECK(!strncmp(error, "-w: at ", 7));
	WRONG(page_list_profile, "'conv' is not an option; -n takes a part of a name", "lp",
	      "conv");
	WRONG(page_list_kernels, "-e wants an interval of time such as >100us, <=5ms or [1ms,5ms), "
	      "not '5'", "lk", "-e", "5");
	model_free(model);
}
