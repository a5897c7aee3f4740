/* SPDX-License-Identifier: MIT */
#include "examples/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/input.h"

static const char help[] =
	"train_opencl: trains a small convolutional network with OpenCL on images\n"
	"that it makes itself, and prints its loss step by step\n"
	"\n"
	"  --steps N                 steps of training (50)\n"
	"  --batch N                 images in a step (64)\n"
	"  --size N                  side of an image, divisible by 4 (28)\n"
	"  --seed N                  the same seed makes the same images (1)\n"
	"  --input-threads N         threads that make the images (0: the main thread)\n"
	"  --prefetch N              batches uploaded ahead, while the device works (0)\n"
	"  --delay-ms N              pause while making each batch (0)\n"
	"  --cached N                make N batches at the start and hand them out again\n"
	"                            and again (0: a new one for each step)\n"
	"  --upload-size N           side of the images as they are uploaded, a multiple of\n"
	"                            --size; the device shrinks them (as --size)\n"
	"  --plain, --pinned         upload by writes (default), or by mapping memory\n"
	"                            that the runtime allocated on the host\n"
	"  --queue in-order|out-of-order\n"
	"  --queues 1|2              2: one more queue for the uploads\n"
	"  --fuse                    fewer, larger kernels\n"
	"  --pieces N                update the weights of each layer in N kernels, as a\n"
	"                            framework does tensor by tensor (1; one with --fuse)\n"
	"  --leak KIB                allocate that much in each step, and never free it (0)\n"
	"  --fail                    also make calls, commands and a build that fail\n"
	"  --ranges nvtx|itt|none    how steps and layers are marked (nvtx)\n"
	"  --truth FILE              write what was done as JSON\n"
	"  --exit N                  exit status when all went well (0)\n"
	"  --quiet                   print no line per step\n"
	"  --help\n";

enum option_id {
	OPT_STEPS = 1, OPT_BATCH, OPT_SIZE, OPT_SEED, OPT_THREADS, OPT_PREFETCH, OPT_DELAY,
	OPT_CACHED, OPT_UPLOAD_SIZE, OPT_PIECES, OPT_LEAK,
	OPT_PLAIN, OPT_PINNED, OPT_QUEUE, OPT_QUEUES, OPT_FUSE, OPT_FAIL, OPT_RANGES,
	OPT_TRUTH, OPT_EXIT, OPT_QUIET, OPT_HELP,
};

static const struct option long_options[] = {
	{ "steps", required_argument, NULL, OPT_STEPS },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "input-threads", required_argument, NULL, OPT_THREADS },
	{ "prefetch", required_argument, NULL, OPT_PREFETCH },
	{ "delay-ms", required_argument, NULL, OPT_DELAY },
	{ "cached", required_argument, NULL, OPT_CACHED },
	{ "upload-size", required_argument, NULL, OPT_UPLOAD_SIZE },
	{ "pieces", required_argument, NULL, OPT_PIECES },
	{ "leak", required_argument, NULL, OPT_LEAK },
	{ "plain", no_argument, NULL, OPT_PLAIN },
	{ "pinned", no_argument, NULL, OPT_PINNED },
	{ "queue", required_argument, NULL, OPT_QUEUE },
	{ "queues", required_argument, NULL, OPT_QUEUES },
	{ "fuse", no_argument, NULL, OPT_FUSE },
	{ "fail", no_argument, NULL, OPT_FAIL },
	{ "ranges", required_argument, NULL, OPT_RANGES },
	{ "truth", required_argument, NULL, OPT_TRUTH },
	{ "exit", required_argument, NULL, OPT_EXIT },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static void wrong(const char *what, const char *subject, const char *right)
{
	fprintf(stderr, "train_opencl: %s '%s': %s\n", what, subject, right);
	exit(2);
}

static int64_t number(const char *name, int64_t low, int64_t high)
{
	char what[64], right[64], *end;
	int64_t n;

	errno = 0;
	n = strtoll(optarg, &end, 10);
	if (!errno && end != optarg && !*end && n >= low && n <= high)
		return n;
	snprintf(what, sizeof(what), "%s cannot be", name);
	snprintf(right, sizeof(right), "a number from %lld to %lld is needed", (long long)low,
		 (long long)high);
	wrong(what, optarg, right);
	return 0;
}

/* Index of the argument in the NULL-terminated words. */
static int choice(const char *name, const char *const *words, const char *right)
{
	char what[64];
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(optarg, words[i]))
			return i;
	snprintf(what, sizeof(what), "%s cannot be", name);
	wrong(what, optarg, right);
	return 0;
}

static void parse_number(struct options *o, int c)
{
	switch (c) {
	case OPT_STEPS:
		o->steps = (int)number("--steps", 1, 100000000);
		break;
	case OPT_BATCH:
		o->batch = (int)number("--batch", 1, 4096);
		break;
	case OPT_SIZE:
		o->side = (int)number("--size", 8, 256);
		if (o->side % 4)
			wrong("--size cannot be", optarg, "it must be divisible by 4");
		break;
	case OPT_SEED:
		o->seed = (uint64_t)number("--seed", 0, INT64_MAX);
		break;
	case OPT_THREADS:
		o->input_threads = (int)number("--input-threads", 0, INPUT_MAX_THREADS);
		break;
	case OPT_PREFETCH:
		o->prefetch = (int)number("--prefetch", 0, 64);
		break;
	case OPT_DELAY:
		o->delay_ms = (int)number("--delay-ms", 0, 60000);
		break;
	case OPT_CACHED:
		o->cached = (int)number("--cached", 0, 4096);
		break;
	case OPT_UPLOAD_SIZE:
		o->upload_side = (int)number("--upload-size", 8, 4096);
		break;
	case OPT_PIECES:
		o->pieces = (int)number("--pieces", 1, 4096);
		break;
	case OPT_LEAK:
		o->leak_kib = (int)number("--leak", 0, 1 << 20);
		break;
	case OPT_QUEUES:
		o->queues = (int)number("--queues", 1, 2);
		break;
	case OPT_EXIT:
		o->exit_status = (int)number("--exit", 0, 255);
		break;
	}
}

static void parse_word(struct options *o, int c)
{
	static const char *const orders[] = { "in-order", "out-of-order", NULL };
	static const char *const ranges[] = { "nvtx", "itt", "none", NULL };

	switch (c) {
	case OPT_PLAIN:
		o->pinned = false;
		break;
	case OPT_PINNED:
		o->pinned = true;
		break;
	case OPT_QUEUE:
		o->out_of_order = choice("--queue", orders, "in-order or out-of-order is needed");
		break;
	case OPT_FUSE:
		o->fuse = true;
		break;
	case OPT_FAIL:
		o->fail = true;
		break;
	case OPT_RANGES:
		o->ranges = (enum marks_kind)choice("--ranges", ranges,
						    "nvtx, itt or none is needed");
		break;
	case OPT_TRUTH:
		o->truth = optarg;
		break;
	case OPT_QUIET:
		o->quiet = true;
		break;
	case OPT_HELP:
		fputs(help, stdout);
		exit(0);
	}
}

void options_parse(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options) {
		.steps = 50, .batch = 64, .side = 28, .queues = 1, .seed = 1, .pieces = 1,
	};
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (c == '?')
			wrong("no such option", argv[optind - 1], "--help lists those there are");
		if (c == ':')
			wrong("nothing follows", argv[optind - 1], "this option needs a value");
		parse_number(o, c);
		parse_word(o, c);
	}
	if (optind < argc)
		wrong("no argument belongs here", argv[optind], "--help lists the options");
	if (!o->upload_side)
		o->upload_side = o->side;
	if (o->upload_side % o->side)
		wrong("--upload-size is no multiple of", "--size", "--help lists the options");
	if (o->pieces > 1 && o->out_of_order)
		wrong("--pieces cannot go with", "--queue out-of-order",
		      "the pieces need an order");
}
