/* SPDX-License-Identifier: MIT */
/*
 * tftop-gen: writes a synthetic program of a given size and shape, with given defects, as a
 * recording, together with the report that tftop should make of it. The events are those of
 * model/synth/synth.h, which tests and benchmarks use directly.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"
#include "model/base/util.h"
#include "probes/session/recording/ctf_writer.h"
#include "tests/gen/truth.h"
#include "tui/base/atomic_file.h"
#include "tui/run/recording.h"

#define START_NS INT64_C(1000000000000)		/* on CLOCK_MONOTONIC */
#define EPOCH_NS INT64_C(1767225600000000000)	/* CLOCK_REALTIME at monotonic time 0 */
#define OPS_OF_A_STEP 20
#define ERROR_MAX 512

static volatile sig_atomic_t stopped;	/* number of the signal that asked to stop, 0 if none */

struct settings {
	uint64_t spans, lanes, ops, seed, streams, memory, gpus, passes;
	int64_t length_ns, disorder_ns, drift_ppb;
	unsigned loss_ppm, apart_permille;
	const char *ctf, *truth;
};

/* Where the events go. */
struct outputs {
	struct truth *truth;		/* owned; NULL if not requested */
	struct ctf_writer *writer;	/* owned; NULL if not requested, or if it failed */
	FILE *output;			/* owned; the output of the program */
	int64_t last_ns;
};

static const char help[] =
	"usage: tftop-gen [OPTIONS] [--ctf DIR] [--truth FILE]\n"
	"Makes the events of a program that never ran, the same for the same seed.\n"
	"\n"
	"  --spans N       kernels and copies it launches (100000)\n"
	"  --lanes L       in-order queues they run on (2)\n"
	"  --seconds S     about how long it runs (10)\n"
	"  --ops N         a training loop of N ops: steps, layers, input (0: only queues)\n"
	"  --disorder MS   records come up to so much late (0)\n"
	"  --loss P        per cent of the records that are lost (0)\n"
	"  --apart P       per cent of the commands that come as a launch and a run (0)\n"
	"  --memory BYTES  a layer's weights, and what it allocates in a step (0)\n"
	"  --drift PPM     the device's clock runs so much fast (0)\n"
	"  --gpu N         the training loop of --synth SEED,gpu instead, on N GPUs with --lanes\n"
	"                  streams each (at least 4); of the other options only --seconds,\n"
	"                  --seed and --streams apply\n"
	"  --generate N    the requests of --synth SEED,generate instead, of N forward passes in\n"
	"                  all, or a few more; of the other options only --seed and --streams\n"
	"                  apply\n"
	"  --seed X        (1)\n"
	"  --streams N     trace files per channel (2)\n"
	"  --ctf DIR       a recording: tftop DIR opens it, babeltrace2 reads it\n"
	"  --truth FILE    the report that it should give (-: stdout)\n"
	"  --help\n";

/* ---- options ---- */

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("tftop-gen: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || strchr(text, '-') || value < least || value > most)
		die("--%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%s'", option, least,
		    most, text);
	return value;
}

/* A decimal number in units of 1/scale. */
static int64_t decimal(const char *option, const char *text, int64_t scale, int64_t least,
		       int64_t most)
{
	bool minus = *text == '-';
	const char *at = text + minus;
	__int128 value = 0;
	int64_t unit = 0;

	for (; (*at >= '0' && *at <= '9') || (*at == '.' && !unit); at++) {
		if (*at == '.') {
			unit = scale;
			continue;
		}
		if (!unit)
			value = value * 10 + (*at - '0') * scale;
		else
			value += (*at - '0') * (unit /= 10);
		if (unit == 0 && value > most + (__int128)scale)
			break;
	}
	if (minus)
		value = -value;
	if (at == text + minus || *at || value < least || value > most)
		die("--%s takes a number from %" PRId64 " to %" PRId64 ", not '%s'", option,
		    least / scale, most / scale, text);
	return (int64_t)value;
}

static void set_option(struct settings *settings, const char *name, const char *text)
{
	if (!strcmp(name, "spans"))
		settings->spans = number(name, text, 1, 1000000000);
	else if (!strcmp(name, "lanes"))
		settings->lanes = number(name, text, 1, 4096);
	else if (!strcmp(name, "seconds"))
		settings->length_ns = decimal(name, text, 1000000000, 1000000,
					      INT64_C(86400000000000));
	else if (!strcmp(name, "ops"))
		settings->ops = number(name, text, 0, 100000000);
	else if (!strcmp(name, "disorder"))
		settings->disorder_ns = decimal(name, text, 1000000, 0, INT64_C(10000000000));
	else if (!strcmp(name, "loss"))
		settings->loss_ppm = (unsigned)decimal(name, text, 10000, 0, 1000000);
	else if (!strcmp(name, "apart"))
		settings->apart_permille = (unsigned)decimal(name, text, 10, 0, 1000);
	else if (!strcmp(name, "memory"))
		settings->memory = number(name, text, 0, UINT64_C(1) << 40);
	else if (!strcmp(name, "drift"))
		settings->drift_ppb = decimal(name, text, 1000, -1000000, 1000000);
	else if (!strcmp(name, "gpu"))
		settings->gpus = number(name, text, 1, SYNTH_GPU_DEVICES);
	else if (!strcmp(name, "generate"))
		settings->passes = number(name, text, 1, 1000000000);
	else if (!strcmp(name, "seed"))
		settings->seed = number(name, text, 0, UINT64_MAX);
	else if (!strcmp(name, "streams"))
		settings->streams = number(name, text, 1, CTF_STREAMS_MAX);
	else if (!strcmp(name, "ctf"))
		settings->ctf = text;
	else
		settings->truth = text;
}

static void parse(struct settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{ "spans", 1, NULL, 'o' }, { "lanes", 1, NULL, 'o' }, { "seconds", 1, NULL, 'o' },
		{ "ops", 1, NULL, 'o' }, { "disorder", 1, NULL, 'o' }, { "loss", 1, NULL, 'o' },
		{ "apart", 1, NULL, 'o' }, { "memory", 1, NULL, 'o' },
		{ "drift", 1, NULL, 'o' }, { "gpu", 1, NULL, 'o' },
		{ "generate", 1, NULL, 'o' }, { "seed", 1, NULL, 'o' },
		{ "streams", 1, NULL, 'o' },
		{ "ctf", 1, NULL, 'o' }, { "truth", 1, NULL, 'o' }, { "help", 0, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	int found, which;

	opterr = 0;
	while ((found = getopt_long(argc, argv, ":h", options, &which)) != -1) {
		if (found == 'h') {
			fputs(help, stdout);
			exit(fflush(stdout) ? 1 : 0);
		}
		if (found == ':')
			die("'%s' needs a value", argv[optind - 1]);
		if (found != 'o')
			die("no such option '%s': --help lists them", argv[optind - 1]);
		set_option(settings, options[which].name, optarg);
	}
	if (optind < argc)
		die("what is '%s'? Only options are taken: --help lists them", argv[optind]);
	if (settings->ops && settings->ops < 4)
		die("--ops takes 0, or at least the 4 of one step, not '%" PRIu64 "'",
		    settings->ops);
	/* Sums cannot account for allocations whose events were lost. */
	if (settings->memory && settings->loss_ppm)
		die("--memory and --loss do not go together");
	if (settings->memory && !settings->ops)
		die("--memory is that of layers: it needs --ops");
	if (settings->gpus && settings->truth)
		die("--gpu makes no truth: a graph's nodes are not in its sums");
	if (settings->passes && settings->truth)
		die("--generate makes no truth: it has no sums of passes and requests");
	if (settings->passes && settings->gpus)
		die("--generate and --gpu are two programs: give one of them");
	if (!settings->ctf && !settings->truth)
		die("nothing to do: give --ctf DIR, --truth FILE, or both");
}

/* ---- shape ---- */

static int64_t at_most(int64_t value, int64_t most)
{
	value = value < most ? value : most;
	return value > 1 ? value : 1;
}

/* Queues are busy for about 0.7 of the time, and the host can keep up with them. */
static void shape(const struct settings *settings, struct model_synth_profile *profile)
{
	int64_t lanes = (int64_t)settings->lanes, spans = (int64_t)settings->spans;
	int64_t ops = (int64_t)settings->ops, steps, rounds, each;

	*profile = (struct model_synth_profile) {
		.processes = 1, .devices = 1, .queues = (unsigned)lanes, .input_threads = 2,
		.layers = 8, .kernels = 3, .opens = true, .spans = settings->spans,
		.ops = settings->ops, .disorder_ns = settings->disorder_ns,
		.drift_ppb = settings->drift_ppb, .loss_ppm = settings->loss_ppm,
		.apart_permille = settings->apart_permille, .layer_bytes = settings->memory,
	};
	if (settings->gpus) {
		lanes = lanes < SYNTH_GPU_STREAMS ? SYNTH_GPU_STREAMS : lanes;
		*profile = (struct model_synth_profile) {
			.processes = 1, .gpu = true, .devices = (unsigned)settings->gpus,
			.queues = (unsigned)(settings->gpus * (uint64_t)lanes),
			.steps = (uint64_t)(settings->length_ns / SYNTH_GPU_STEP_NS) + 1,
		};
		return;
	}
	if (settings->passes) {
		*profile = (struct model_synth_profile) {
			.processes = 1, .generate = true, .devices = 1, .queues = 1,
			.steps = settings->passes,
		};
		return;
	}
	if (!ops) {
		rounds = (spans + lanes - 1) / lanes;
		profile->period_ns = at_most(settings->length_ns / rounds, INT64_MAX);
		profile->kernel_ns = at_most(profile->period_ns * 7 / 10, INT64_MAX);
		profile->launch_ns = at_most(profile->period_ns * 6 / 10 / lanes, 3500);
		return;
	}
	steps = ops / OPS_OF_A_STEP > 1 ? ops / OPS_OF_A_STEP : 1;
	each = spans / steps > 1 ? spans / steps : 1;
	profile->steps = (uint64_t)steps;
	profile->layers = (unsigned)(ops / steps / 2 + 1);
	profile->period_ns = at_most(settings->length_ns / steps, INT64_MAX);
	profile->kernel_ns = at_most(profile->period_ns * 7 / 10 / ((each + lanes - 1) / lanes),
				     INT64_MAX);
	profile->launch_ns = at_most(profile->period_ns * 4 / 10 / each, 3500);
	profile->op_ns = at_most(profile->period_ns / 10 / (ops / steps + 1), 2000);
}

/* ---- outputs ---- */

static void take(void *arg, const struct event *events, size_t count)
{
	struct outputs *to = arg;

	if (to->truth)
		truth_add(to->truth, events, count);
	if (to->writer)
		ctf_writer_add(to->writer, events, count);
	for (size_t i = 0; i < count; i++)
		if (events[i].type != EVENT_LOST && events[i].time_ns > to->last_ns)
			to->last_ns = events[i].time_ns;
}

static void print_steps(struct outputs *to, const struct model_synth *synth, uint64_t *printed,
			int64_t now_ns)
{
	const struct model_synth_truth *truth = model_synth_truth(synth);
	char text[80];

	for (; to->output && *printed < (truth->requests ? truth->requests : truth->steps);
	     ++*printed) {
		int n = truth->requests ?
			snprintf(text, sizeof(text), "request %" PRIu64 " answered\r\n", *printed) :
			snprintf(text, sizeof(text), "step %" PRIu64 "  loss 0.%03d\r\n", *printed,
				 (int)(900 / (1 + *printed / 20)));

		recording_output_add(to->output, now_ns, text, (size_t)n);
	}
}

static uint64_t generate(const struct settings *settings, struct outputs *to)
{
	struct model_synth_profile profile;
	struct model_synth *synth;
	int64_t chunk, now = START_NS;
	uint64_t printed = 0, events;

	shape(settings, &profile);
	synth = model_synth_new(settings->seed, &profile, START_NS);
	/* A few thousand events at a time. */
	chunk = settings->length_ns / (int64_t)((settings->spans + settings->ops) / 4096 + 1) + 1;
	while (!model_synth_over(synth) && !stopped) {
		now += chunk;
		model_synth_advance(synth, now, take, to);
		print_steps(to, synth, &printed, now);
	}
	model_synth_end(synth, take, to);
	print_steps(to, synth, &printed, to->last_ns);
	events = model_synth_truth(synth)->events;
	model_synth_free(synth);
	return events;
}

/* ---- asked to stop ---- */

static void on_signal(int number)
{
	stopped = number;
}

/* A signal that a shell without job control set to be ignored stays ignored. */
static void watch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (signal(numbers[i], on_signal) == SIG_IGN)
			signal(numbers[i], SIG_IGN);
}

/* An incomplete recording is deleted; then the process dies of the signal, as the sender
 * expects. */
static void leave(char *folder, struct outputs *to)
{
	char error[ERROR_MAX];

	if (folder) {
		ctf_writer_close(to->writer, error, sizeof(error));
		atomic_folder_discard(folder);
	}
	signal(stopped, SIG_DFL);
	raise(stopped);
}

/* ---- the recording ---- */

static bool start_recording(const struct settings *settings, const char *folder,
			    struct outputs *to, char error[ERROR_MAX])
{
	char *path = xasprintf("%s/trace/synth", folder);
	struct ctf_writer_options options = {
		.path = path, .host = "synth", .offset_ns = EPOCH_NS,
		.streams = (unsigned)settings->streams,
	};

	to->writer = ctf_writer_new(&options, error, ERROR_MAX);
	if (to->writer && (settings->ops || settings->gpus))
		to->output = recording_output(folder, error);
	free(path);
	return to->writer && (to->output || !(settings->ops || settings->gpus));
}

static bool end_recording(const char *folder, struct outputs *to, char error[ERROR_MAX])
{
	static char program[] = "train", option[] = "--synthetic";
	static char *const command[] = { program, option, NULL };
	struct recording recording = {
		.run = {
			.command = command, .pid = 4121, .host = "synth",
			.start_unix_ns = EPOCH_NS + START_NS, .wall_ns = to->last_ns - START_NS,
		},
		.mono_ns = START_NS, .real_ns = EPOCH_NS + START_NS, .raw_ns = START_NS,
		.finished = true,
	};
	bool good = ctf_writer_close(to->writer, error, ERROR_MAX);

	to->writer = NULL;
	if (to->output && (ferror(to->output) | fclose(to->output)) && good) {
		snprintf(error, ERROR_MAX, "cannot write '%s/output': %s", folder, strerror(errno));
		good = false;
	}
	to->output = NULL;
	return good && recording_write(folder, &recording, error);
}

static void write_truth(const char *path, struct truth *truth)
{
	struct atomic_file file;
	char error[ERROR_MAX];

	if (!strcmp(path, "-")) {
		truth_write(truth, stdout);
		if (fflush(stdout) || ferror(stdout))
			die("cannot write to stdout: %s", strerror(errno));
		return;
	}
	if (atomic_file_open(&file, path, error, sizeof(error)))
		die("%s", error);
	truth_write(truth, file.out);
	if (atomic_file_commit(&file, error, sizeof(error)))
		die("%s", error);
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.spans = 100000, .lanes = 2, .seed = 1, .streams = 2,
		.length_ns = INT64_C(10000000000),
	};
	struct outputs to = { .last_ns = START_NS };
	char error[ERROR_MAX] = "", *folder = NULL;

	signal(SIGXFSZ, SIG_IGN);
	watch_signals();
	parse(&settings, argc, argv);
	if (settings.truth)
		to.truth = truth_new(settings.drift_ppb != 0);
	if (settings.ctf) {
		folder = atomic_folder_open(settings.ctf, error, sizeof(error));
		if (!folder)
			die("%s", error);
		if (!start_recording(&settings, folder, &to, error)) {
			atomic_folder_discard(folder);
			die("%s", error);
		}
	}
	generate(&settings, &to);
	if (stopped)
		leave(folder, &to);
	if (folder && !end_recording(folder, &to, error)) {
		atomic_folder_discard(folder);
		die("cannot make '%s': %s", settings.ctf, error);
	}
	if (folder && atomic_folder_commit(folder, settings.ctf, error, sizeof(error)))
		die("%s", error);
	if (settings.truth)
		write_truth(settings.truth, to.truth);
	truth_free(to.truth);
	return 0;
}
