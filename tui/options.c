/* SPDX-License-Identifier: MIT */
/*
 * The command line: one table of options, and one function per kind of value.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keymap/setting.h"
#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/options.h"
#include "tui/options_table.h"
#include "tui/run/exports.h"

#define MEMORY_LIMIT_DEFAULT (512ull << 20)
#define MEMORY_LIMIT_MIN (16ull << 20)
#define SIZE_MIN 1
#define SIZE_MAX_CELLS 2000

/* Names that are known but not supported in this version. */
static const char later_probes[] = "hsa sycl";

#ifndef TFTOP_VERSION
#define TFTOP_VERSION "unknown"
#endif
#ifndef TFTOP_LIBRARIES
#define TFTOP_LIBRARIES "lttng-ctl, lttng-ust, babeltrace2, ncursesw"
#endif

/* Options of tests, and those that are refused by name; all others are in OPTION_LIST. */
static const struct option own_options[] = {
	{ "synth", required_argument, NULL, OPT_SYNTH },
	{ "print", required_argument, NULL, OPT_PRINT },
	{ "live", required_argument, NULL, OPT_LIVE },
};
#define N_OWN (sizeof(own_options) / sizeof(*own_options))

/* The options for getopt; built once. */
static const struct option *long_options(void)
{
	static struct option *all;
	size_t n = 0;

	if (all)
		return all;
	all = xcalloc(option_n_rows + N_OWN + 1, sizeof(*all));
	for (size_t i = 0; i < option_n_rows; i++) {
		const char *value = option_rows[i].value;

		if (*option_rows[i].word)
			all[n++] = (struct option){ option_rows[i].word, !*value ? no_argument :
				*value == '=' ? optional_argument : required_argument, NULL,
				option_rows[i].code };
	}
	memcpy(all + n, own_options, sizeof(own_options));
	return all;
}

__attribute__((format(printf, 2, 3)))
static enum options_result wrong(char error[OPTIONS_ERROR_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, OPTIONS_ERROR_MAX, format, args);
	va_end(args);
	return OPTIONS_ERROR;
}

/* ---- values ---- */

static enum options_result take_level(struct options *options, const char *from,
				      const char *value, char *error)
{
	for (int level = TFT_LEVEL_OFF; level <= TFT_LEVEL_FULL; level++)
		if (!strcmp(value, options_level_name((enum tft_level)level))) {
			options->level = (enum tft_level)level;
			return OPTIONS_RUN;
		}
	return wrong(error, "'%s' is not a level: %s takes off, min, default or full", value, from);
}

/* Parses the domain behind the last '@'. */
static enum options_result take_trigger(struct options *options, const char *value, char *error)
{
	static const char ranges[] = "range:";
	struct tft_trigger_range *range = &options->range;
	const char *name = value + strlen(ranges), *at;
	size_t length;

	if (!strcmp(value, "cuda-profiler")) {
		options->trigger = TFT_TRIGGER_PROFILER;
		return OPTIONS_RUN;
	}
	if (strncmp(value, ranges, strlen(ranges)) || !*name || *name == '@')
		return wrong(error, "'%s' is not a trigger: --trigger takes cuda-profiler, "
			     "range:NAME or range:NAME@DOMAIN", value);
	at = strrchr(name, '@');
	length = at ? (size_t)(at - name) : strlen(name);
	if (length >= sizeof(range->name) || (at && strlen(at + 1) >= sizeof(range->domain)))
		return wrong(error, "--trigger takes a name of at most %d bytes",
			     TFT_TRIGGER_TEXT - 1);
	snprintf(range->name, sizeof(range->name), "%.*s", (int)length, name);
	snprintf(range->domain, sizeof(range->domain), "%s", at ? at + 1 : "");
	options->trigger = TFT_TRIGGER_RANGE;
	return OPTIONS_RUN;
}

static bool words_have(const char *words, const char *text, size_t length)
{
	for (; *words; words += strcspn(words, " "), words += *words == ' ')
		if (strcspn(words, " ") == length && !memcmp(words, text, length))
			return true;
	return false;
}

static enum options_result take_probes(struct options *options, const char *from,
				       const char *value, char *error)
{
	const char *at = value;

	for (;;) {
		size_t length = strcspn(at, ",");
		const char *name = at;
		size_t name_length = length;

		if (length && (*at == '+' || *at == '-')) {
			name++;
			name_length--;
		}
		if (words_have(later_probes, name, name_length))
			return wrong(error, "this version has no probe '%.*s'; it has %s",
				     (int)name_length, name, option_probes);
		if (!words_have(option_probes, name, name_length) &&
		    !words_have("auto", name, name_length))
			return wrong(error, "'%.*s' is not a probe: %s takes auto, "
				     "or names with + and -: %s",
				     (int)name_length, name, from, option_probes);
		if (!at[length])
			break;
		at += length + 1;
	}
	options->probes = value;
	return OPTIONS_RUN;
}

static enum options_result take_number(int64_t *out, const char *from, const char *value,
				       char *error)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno || number < 1)
		return wrong(error, "'%s' is not a number of steps: %s takes 1, 2, 3, ...", value,
			     from);
	*out = number;
	return OPTIONS_RUN;
}

static bool read_pid(const char *value, pid_t *out)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno || pid < 1 || pid > INT_MAX)
		return false;
	*out = (pid_t)pid;
	return true;
}

static enum options_result take_pid(struct options *options, const char *value, char *error)
{
	pid_t pid;

	/* a word that starts like a name may be a name */
	if (!isalpha((unsigned char)*value) && !strchr("._/", *value ? *value : ' ') &&
	    !read_pid(value, &pid))
		return wrong(error, "'%s' is not a PID: -p takes the number or the name "
			     "of a running process, such as 4711", value);
	if (options->n_attach == OPTIONS_PIDS_MAX)
		return wrong(error, "-p is given more than %d times: "
			     "--children watches the processes below one",
			     OPTIONS_PIDS_MAX);
	options->attach[options->n_attach++] = value;
	return OPTIONS_RUN;
}

static enum options_result take_time(int64_t *out, const char *value, char *error)
{
	if (!parse_time_ns(value, out) || *out <= 0)
		return wrong(error, "'%s' is not a time: --for takes 500ms, 20s, 2m", value);
	return OPTIONS_RUN;
}

static enum options_result take_memory(struct options *options, const char *value, char *error)
{
	if (!parse_size_bytes(value, &options->memory_limit_bytes))
		return wrong(error, "'%s' is not a size: --memory-limit takes 64M, 2G", value);
	if (options->memory_limit_bytes < MEMORY_LIMIT_MIN)
		return wrong(error, "'%s' is too small: --memory-limit is 16M or more", value);
	return OPTIONS_RUN;
}

static enum options_result take_budget(struct options *options, const char *from,
				       const char *value, int least, char *error)
{
	char *end;
	long percent = strtol(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || percent < least ||
	    percent > (long)TFT_BUDGET_MAX)
		return wrong(error, "'%s' is not a budget: %s takes a percentage, %d to %u", value,
			     from, least, TFT_BUDGET_MAX);
	options->budget = (int)percent;
	return OPTIONS_RUN;
}

static bool take_cells(const char **at, char after, int *out)
{
	char *end;
	long cells;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	cells = strtol(*at, &end, 10);
	if (errno || *end != after || cells < SIZE_MIN || cells > SIZE_MAX_CELLS)
		return false;
	*out = (int)cells;
	*at = end + (after ? 1 : 0);
	return true;
}

static enum options_result take_size(struct options *options, const char *value, char *error)
{
	const char *at = value;

	if (!take_cells(&at, 'x', &options->columns) || !take_cells(&at, '\0', &options->rows))
		return wrong(error, "'%s' is not a size: --size takes WxH such as 120x34", value);
	return OPTIONS_RUN;
}

static enum options_result take_color(struct options *options, const char *value, char *error)
{
	static const char *const names[] = { "auto", "never", "16", "256" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(value, names[i])) {
			options->color = (enum options_color)i;
			return OPTIONS_RUN;
		}
	return wrong(error, "'%s' is not a colour mode: --color takes auto, never, 16 or 256",
		     value);
}

static enum options_result take_theme(struct options *options, const char *value, char *error)
{
	struct settings settings;
	char why[160];

	settings_init(&settings);
	if (!setting_set(&settings, SETTING_THEME, value, why, sizeof(why)))
		return wrong(error, "'%s' is not a theme: --theme takes dark, light, 16, "
			     "contrast or mono", value);
	options->theme = value;
	return OPTIONS_RUN;
}

static enum options_result take_file(const char **out, const char *from, const char *value,
				     char *error)
{
	if (!*value)
		return wrong(error, "%s needs a name: it was given an empty one", from);
	*out = value;
	return OPTIONS_RUN;
}

static enum options_result take_export(struct options *options, const char *value, char *error)
{
	if (options->n_exports == OPTIONS_EXPORTS_MAX)
		return wrong(error, "--export is given more than %d times: keep a recording "
			     "with -o and export the rest from it", OPTIONS_EXPORTS_MAX);
	if (!export_parse(value, &options->exports[options->n_exports], error, OPTIONS_ERROR_MAX))
		return OPTIONS_ERROR;
	options->n_exports++;
	return OPTIONS_RUN;
}

/* ---- one option ---- */

static enum options_result refuse_later(int option, char *error)
{
	const struct option *o = long_options();

	while (o->val != option)
		o++;
	return wrong(error, "--%s is not in this version: 'tftop -- PROGRAM' starts a program, "
		     "'tftop DIR' opens a recording", o->name);
}

static enum options_result options_take_value(struct options *options, int option,
					      const char *value, char *error)
{
	switch (option) {
	case OPT_JSON:
		if (!value || !*value)
			return wrong(error, "--json needs a file: --json=FILE, '-' is stdout");
		options->json = value;
		return OPTIONS_RUN;
	case 'o': return take_file(&options->record_dir, "-o", value, error);
	case OPT_PROBE: return take_probes(options, "--probe", value, error);
	case OPT_LEVEL: return take_level(options, "--level", value, error);
	case OPT_TRIGGER: return take_trigger(options, value, error);
	case OPT_MEMORY: return take_memory(options, value, error);
	case OPT_BUDGET: return take_budget(options, "--budget", value, 1, error);
	case OPT_FROM_STEP: return take_number(&options->from_step, "--from-step", value, error);
	case OPT_STEPS: return take_number(&options->steps, "--steps", value, error);
	case OPT_FOR: return take_time(&options->for_ns, value, error);
	case OPT_UNTIL:
		options->until = value;
		return OPTIONS_RUN;
	case OPT_EXPORT: return take_export(options, value, error);
	case OPT_SCRIPT: return take_file(&options->script, "--script", value, error);
	case OPT_SIZE: return take_size(options, value, error);
	case OPT_CONFIG: return take_file(&options->config, "--config", value, error);
	case OPT_COLOR: return take_color(options, value, error);
	case OPT_THEME: return take_theme(options, value, error);
	case OPT_DEBUG: return take_file(&options->debug, "--debug", value, error);
	case 'p': return take_pid(options, value, error);
	case OPT_CONTROL:
		return read_pid(value, &options->control) ? OPTIONS_RUN :
			wrong(error, "'%s' is not a PID: --control takes that of a program that "
			      "tftop watches, and level=LEVEL or budget=PERCENT", value);
	default: return refuse_later(option, error);
	}
}

static enum options_result take_synth(struct options *options, const char *value, char *error)
{
	static const char *const with[] = {
		"", ",counters", ",processor", ",gpu", ",gpus", ",generate", ",host", ",names"
	};
	const char *rest = value + strspn(value, "0123456789");
	bool known = false;

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		known |= !strcmp(rest, with[i]);
	if (rest == value || !known)
		return wrong(error, "'%s' is not a seed: --synth takes SEED, and after it nothing, "
			     ",counters ,processor ,gpu ,gpus ,generate ,host or ,names", value);
	options->synth = value;
	return OPTIONS_RUN;
}

static enum options_result options_take(struct options *options, int option, const char *value,
					char *error)
{
	switch (option) {
	case 'b': options->batch = true; break;
	case 'q': options->quit = true; break;
	case 'v': options->verbose = true; break;
	case OPT_LOSSLESS: options->lossless = true; break;
	case OPT_HEADLESS: options->headless = true; break;
	case OPT_NO_CONFIG: options->no_config = true; break;
	case OPT_ASCII: options->ascii = true; break;
	case OPT_CHECK: options->check = true; break;
	case OPT_CHILDREN: options->children = true; break;
	case OPT_JOIN: options->join = true; break;
	case OPT_SYNTH: return take_synth(options, value, error);
	case OPT_PRINT:
		return option_print_table(value) ? OPTIONS_DONE :
			wrong(error, "--print takes keys, commands, settings, filters, bash, zsh "
			      "or fish, not '%s'", value);
	case 'h':
		fputs(options_help(), stdout);
		return OPTIONS_DONE;
	case OPT_VERSION:
		printf("tftop %s\nbuilt with %s\n", TFTOP_VERSION, TFTOP_LIBRARIES);
		return OPTIONS_DONE;
	default:
		return options_take_value(options, option, value, error);
	}
	return OPTIONS_RUN;
}

/* ---- what getopt refused ---- */

static enum options_result unknown_long(const char *argument, char *error)
{
	const char *name = argument + strspn(argument, "-"), *nearest = NULL;
	size_t length = strcspn(name, "=");
	int best = 3;

	for (const struct option *o = long_options(); o->name; o++) {
		int d = words_distance(name, length, o->name);

		if (d < best && o->val < OPT_SYNTH) {
			best = d;
			nearest = o->name;
		}
	}
	if (nearest)
		return wrong(error, "unknown option '%s': did you mean '--%s'?", argument, nearest);
	return wrong(error, "unknown option '%s': 'tftop --help' lists them", argument);
}

/* optopt is 0 for an unknown long option, the option itself if its value is missing or not allowed,
 * and the letter of an unknown short option. */
static enum options_result options_refuse(int c, char *const *argv, char *error)
{
	const char *name = NULL;

	if (!optopt)
		return unknown_long(argv[optind - 1], error);
	if (optopt >= OPT_LATER)
		return refuse_later(optopt, error);
	for (const struct option *o = long_options(); o->name; o++)
		if (o->val == optopt)
			name = o->name;
	if (c == ':' && name)
		return wrong(error, "--%s needs a value: 'tftop --help' says which", name);
	if (c == ':')
		return wrong(error, "-%c needs a value: 'tftop --help' says which", optopt);
	if (name)
		return wrong(error, "--%s takes no value: leave out what follows the '='", name);
	return wrong(error, "unknown option '-%c': 'tftop --help' lists them", optopt);
}

/* ---- the whole ---- */

static enum options_result take_environment(struct options *options, char *error)
{
	const char *level = getenv("TFTOP_LEVEL"), *probes = getenv("TFTOP_PROBE");
	const char *config = getenv("TFTOP_CONFIG"), *debug = getenv("TFTOP_DEBUG");
	const char *no_color = getenv("NO_COLOR");

	if (config && *config)
		options->config = config;
	if (debug && *debug)
		options->debug = debug;
	if (no_color && *no_color)
		options->color = OPTIONS_COLOR_NEVER;
	if (level && *level && take_level(options, "TFTOP_LEVEL", level, error))
		return OPTIONS_ERROR;
	if (probes && *probes && take_probes(options, "TFTOP_PROBE", probes, error))
		return OPTIONS_ERROR;
	return OPTIONS_RUN;
}

static enum options_result check_path(struct options *options, char *const *words, int count,
				      char *error)
{
	struct stat st;

	if (!count)
		return wrong(error, "nothing to run or open: see 'tftop -- PROGRAM' "
			     "and 'tftop --help'");
	if (options->program)
		return wrong(error, "'%s' stands before '--': tftop cannot open a recording and "
			     "run a program at once", words[0]);
	if (stat(words[0], &st) || count > 1)
		return wrong(error, count > 1 ?
			     "'%s' needs '--' before it: 'tftop -- %s ...' runs it" :
			     "no such file or folder '%s': to run a program, 'tftop -- %s'",
			     words[0], words[0]);
	options->open_path = words[0];
	return OPTIONS_RUN;
}

/* Takes the word behind --control PID, level=LEVEL or budget=PERCENT; no other may follow. */
static enum options_result take_control(struct options *options, char *const *words, int count,
					char *error)
{
	static const char level[] = "level=", budget[] = "budget=";
	bool of_budget = count == 1 && !strncmp(words[0], budget, strlen(budget));

	if (count != 1 || (!of_budget && strncmp(words[0], level, strlen(level))) ||
	    options->check || options->n_attach || options->program || options_batch(options) ||
	    options->record_dir || options->n_exports || options->headless || options->script)
		return wrong(error, "--control takes a PID and a level or a budget, and no other "
			     "option: 'tftop --control %d level=off'", (int)options->control);
	options->control_budget = of_budget;
	if (of_budget)
		return take_budget(options, "budget", words[0] + strlen(budget), 0, error);
	return take_level(options, "level", words[0] + strlen(level), error);
}

/* The PID of --join is optional, and a separate word. Before a program, --join means what that
 * program leaves running. */
static enum options_result take_join(struct options *options, char *const *words, int count,
				     char *error)
{
	options->stay = options->program != NULL;
	if (options->n_attach || options->children || options->check || count > !options->stay)
		return wrong(error, "--join takes one PID, none, or a program: "
			     "'tftop --join 4711', 'tftop --join', or 'tftop --join -- PROGRAM'");
	if (options->stay) {
		options->join = false;
		return OPTIONS_RUN;
	}
	if (count && !read_pid(words[0], &options->pids[0]))
		return wrong(error, "'%s' is not a PID: --join takes that of a program that "
			     "tftop left running, or none if there is one only", words[0]);
	options->n_pids = options->n_given = (size_t)count;
	return OPTIONS_RUN;
}

/* Nothing is run, opened or kept, so options that configure this are errors. */
static enum options_result check_alone(const struct options *options, bool more, char *error)
{
	if (options->check && (more || options->program || options_batch(options) ||
			       options->record_dir || options->n_exports || options->headless ||
			       options->script || options->until))
		return wrong(error, "--check starts nothing: 'tftop --check', "
			     "or 'tftop --check -p PID'");
	if (options->children && !options->n_attach)
		return wrong(error, "--children needs -p: it watches the processes below "
			     "that one as well");
	if (options->n_attach && !options->check && (more || options->program))
		return wrong(error, "-p watches a running program: it starts and opens nothing "
			     "else");
	return OPTIONS_RUN;
}

static enum options_result check_together(const struct options *options, char *error)
{
	if (options->open_path && options->record_dir)
		return wrong(error, "-o keeps what a program does: "
			     "'tftop -o DIR -- PROGRAM'");
	if (options->trigger && (options->open_path || options->join || options->check ||
				 options->synth))
		return wrong(error, "--trigger needs a program, launched or attached to");
	if (options->trigger && options->level == TFT_LEVEL_OFF)
		return wrong(error, "--trigger raises the level to that of --level, which is off");
	if (options_batch(options) && (options->headless || options->script))
		return wrong(error, "%s needs the screen: leave out -b and --json",
			     options->headless ? "--headless" : "--script");
	if (options->columns && !options->headless)
		return wrong(error, "--size needs --headless: a terminal has its own size");
	if (options->until && options->open_path)
		return wrong(error, "--until needs a program; in a recording, 'find -w' on the "
			     "screen finds events");
	if (options->config && options->no_config)
		return wrong(error, "--config and --no-config exclude each other: "
			     "give one of them");
	return OPTIONS_RUN;
}

enum options_result options_parse(struct options *options, int argc, char **argv,
				  char error[OPTIONS_ERROR_MAX])
{
	int own = 1, c;

	memset(options, 0, sizeof(*options));
	options->level = TFT_LEVEL_DEFAULT;
	options->memory_limit_bytes = MEMORY_LIMIT_DEFAULT;
	error[0] = '\0';
	if (take_environment(options, error))
		return OPTIONS_ERROR;
	while (own < argc && strcmp(argv[own], "--"))
		own++;
	if (own + 1 < argc)
		options->program = argv + own + 1;
	else if (own < argc)
		return wrong(error, "no program after '--': 'tftop -- PROGRAM [ARG...]'");
	optind = 0;			/* in glibc, 0 makes getopt start anew */
	opterr = 0;
	while ((c = getopt_long(own, argv, ":bo:p:qvh", long_options(), NULL)) != -1) {
		enum options_result result;

		if (c == '?' || c == ':')
			return options_refuse(c, argv, error);
		if (c == OPT_NO_CONFIG)
			options->config = NULL;	/* the command line overrides TFTOP_CONFIG */
		result = options_take(options, c, optarg, error);
		if (result != OPTIONS_RUN)
			return result;
	}
	if (options->control)
		return take_control(options, argv + optind, own - optind, error);
	if (options->join ? take_join(options, argv + optind, own - optind, error) :
			    check_alone(options, optind < own, error))
		return OPTIONS_ERROR;
	if (!options->join && !options->synth && !options->check && !options->n_attach &&
	    (!options->program || optind < own) &&
	    check_path(options, argv + optind, own - optind, error))
		return OPTIONS_ERROR;
	return check_together(options, error);
}
