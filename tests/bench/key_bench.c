/* SPDX-License-Identifier: MIT */
/*
 * From a key to the picture that answers it (G14.*), with a made-up program of
 * 10^7 spans in the model: the real screen on a terminal of 200x50. Each key is
 * written to the terminal; the log says when the frame after it was out.
 * Keys go through all zooms, from the whole run to some us a column, and through
 * rows, events and panes, and so again with colours, links, a filter, the pages
 * and lists of a drill-down (see whats); between two of them the terminal is drained
 * and rests, as the next picture would wait for the last one's time otherwise.
 *
 * Pages that a command makes are measured by themselves (G14.open): each is opened ROUNDS
 * times. And for each key, how long the loop keeps the model's lock at once (G14.lock), which
 * is what the reader of a live program waits for: the linker puts us between.
 *
 * The bar is on the CPU time that tftop takes for a key, all its threads: on a
 * machine that others use, the time on the wall is theirs. It stands beside it.
 * SPANS=N asks for another size. See tests/bench/run.sh for the form of the records.
 */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "model/query/query.h"
#include "model/synth/synth.h"
#include "tui/base/log.h"
#include "tui/options.h"
#include "tui/tui.h"

#define MS INT64_C(1000000)
#define SPANS 10000000u
#define REST_MS 70			/* a pause that gives 20 keys a second */
#define PATIENCE_NS (60000 * MS)
#define KEYS_MAX 1024
#define HOLDS_MAX 16384
#define ROUNDS 5
/* so long without a picture means that no work is in progress; progress messages appear after 250
 * ms */
#define QUIET_MS 400

/* The benchmark's end of the terminal. */
struct keyboard {
	int terminal, log;
	clockid_t cpu;			/* CPU clock of all threads of the screen */
	char line[256];			/* the line of the log that is being read */
	size_t length;
	int64_t frame_ns;		/* when the last frame was written */
	int64_t wall_ns[KEYS_MAX], cpu_ns[KEYS_MAX];
	size_t n;
	/* for each key, the longest time for which the lock was held */
	int64_t held_ns[HOLDS_MAX];
	size_t n_held;
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- how long the lock is kept ---- */

/* shared with the screen's process; longest time since the last key */
static _Atomic int64_t *longest_ns;
static _Thread_local int64_t taken_ns;

void __real_model_lock(struct model *model);
void __real_model_unlock(struct model *model);
void __real_model_yield(struct model *model);
void __wrap_model_lock(struct model *model);
void __wrap_model_unlock(struct model *model);
void __wrap_model_yield(struct model *model);

static void note_hold(void)
{
	int64_t held = clock_ns(CLOCK_THREAD_CPUTIME_ID) - taken_ns;

	if (longest_ns && held > *longest_ns)
		*longest_ns = held;
}

void __wrap_model_lock(struct model *model)
{
	__real_model_lock(model);
	taken_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void __wrap_model_unlock(struct model *model)
{
	note_hold();
	__real_model_unlock(model);
}

void __wrap_model_yield(struct model *model)
{
	note_hold();
	__real_model_yield(model);
	taken_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- the program ---- */

static uint64_t n_spans;

static void feed(void *arg, const struct event *events, size_t count)
{
	model_apply(arg, events, count);
	for (size_t i = 0; i < count; i++)
		n_spans += events[i].type == EVENT_COMMAND || events[i].type == EVENT_OP;
}

/* The same program as in model_bench.c. */
static struct model *make(uint64_t spans)
{
	struct model_synth_profile profile = model_synth_default;
	struct model_options options = { .memory_limit = (size_t)12 << 30 };
	struct model *model = model_new(&options);
	struct model_synth *synth;

	profile.processes = 4;
	profile.queues = 3;
	profile.kernel_ns = 20000;
	profile.late_permille = 2;
	synth = model_synth_new(1, &profile, 1000000000);
	for (int64_t at = 1000000000; n_spans < spans; ) {
		at += 50000000;
		model_synth_advance(synth, at, feed, model);
	}
	model_synth_end(synth, feed, model);
	model_synth_free(synth);
	model_finish(model, false);
	return model;
}

static void take_log(struct keyboard *board)
{
	char text[512];
	ssize_t n = read(board->log, text, sizeof(text));

	for (ssize_t i = 0; i < n; i++) {
		const char *at;

		if (board->length + 1 < sizeof(board->line))
			board->line[board->length++] = text[i];
		if (text[i] != '\n')
			continue;
		board->line[board->length] = '\0';
		board->length = 0;
		at = strstr(board->line, "frame t=");
		if (at)
			board->frame_ns = strtoll(at + strlen("frame t="), NULL, 10);
	}
}

/* Reads what the screen writes for the given time, or until a frame after `after_ns`. Returns false
 * if the screen ended. */
static bool take(struct keyboard *board, int64_t until_ns, int64_t after_ns)
{
	char text[65536];

	while (board->frame_ns <= after_ns) {
		struct pollfd fds[2] = {
			{ .fd = board->terminal, .events = POLLIN },
			{ .fd = board->log, .events = POLLIN },
		};
		int64_t left = until_ns - clock_ns(CLOCK_MONOTONIC);

		if (left <= 0)
			return true;
		if (poll(fds, 2, (int)(left / MS) + 1) < 0)
			return false;
		if (fds[1].revents & POLLIN)
			take_log(board);
		if ((fds[0].revents & (POLLIN | POLLHUP)) &&
		    read(board->terminal, text, sizeof(text)) <= 0)
			return false;
	}
	return true;
}

static bool rest(struct keyboard *board)
{
	return take(board, clock_ns(CLOCK_MONOTONIC) + REST_MS * MS, INT64_MAX);
}

/* Returns false if there was no answer. */
static bool press(struct keyboard *board, char key)
{
	int64_t cpu = clock_ns(board->cpu), now = clock_ns(CLOCK_MONOTONIC);

	*longest_ns = 0;
	if (board->n == KEYS_MAX || write(board->terminal, &key, 1) != 1 ||
	    !take(board, now + PATIENCE_NS, now) || board->frame_ns <= now)
		return false;
	board->wall_ns[board->n] = board->frame_ns - now;
	board->cpu_ns[board->n++] = clock_ns(board->cpu) - cpu;
	if (board->n_held < HOLDS_MAX)
		board->held_ns[board->n_held++] = *longest_ns;
	return rest(board);
}

static bool press_each(struct keyboard *board, const char *keys)
{
	for (; *keys; keys++)
		if (!press(board, *keys))
			return false;
	return true;
}

/* Runs a command; only its own cost counts, not that of typing it. */
static bool command(struct keyboard *board, const char *line)
{
	ssize_t length = (ssize_t)strlen(line);

	return write(board->terminal, ":", 1) == 1 && rest(board) &&
	       write(board->terminal, line, (size_t)length) == length && rest(board) &&
	       press(board, '\r');
}

/* Zooms through all levels, from the whole run to some us a column. */
static bool through_zooms(struct keyboard *board, const char *around, int zooms)
{
	for (int zoom = 0; zoom < zooms; zoom++)
		if (!press_each(board, around) || !press_each(board, zooms > 6 ? "www" : "wwwwww"))
			return false;
	return true;
}

static const struct what {
	const char *name, *what;
	const char *first;		/* keys */
	const char *commands[4];
	const char *around;		/* keys that are pressed at each zoom level */
	int zooms;
} whats[] = {
	{ "G14.key", "key to picture", "01", { 0 }, "ddAdadjkj.,d", 12 },
	{ "G14.kernels", "key to picture, kernels below", "02", { 0 }, "ddAdadjkj.,d", 12 },
	{ "G14.colours",
	  "key to picture, coloured by op",
	  "01",
	  { "set colour-by = op" },
	  "dAdajk.,",
	  6 },
	{ "G14.links", "key to picture, an event with links", "0jjjj", { 0 }, ".].[.,.", 6 },
	{ "G14.where",
	  "key to picture, rows chosen",
	  "01",
	  { "pane ops", "where self > 1us & calls > 1" },
	  "dAdajk",
	  6 },
	{ "G14.pin", "key to picture, changes since", "", { "where", "pin" }, "dAdajk", 6 },
	{ "G14.name",
	  "key to picture, page of a name",
	  "0jjjj",
	  { "name conv_forward_0" },
	  "dAdaj.",
	  6 },
	{ "G14.step", "key to picture, page of a step", "0", { "step slowest" }, "dAdaj.", 6 },
	{ "G14.diff",
	  "key to picture, what differs in a step",
	  "0",
	  { "diff slowest" },
	  "dAdaj.",
	  6 },
	{ "G14.list", "key to picture, list of executions", "0", { "le" }, "dAdaj.", 6 },
};
#define N_WHATS (sizeof(whats) / sizeof(whats[0]))

/* ONLY= names figures, or the bar; "" means all. */
static bool is_asked(const char *name)
{
	const char *only = getenv("ONLY"), *at = only ? only : "";

	if (!*at)
		return true;
	for (; *at; at += strcspn(at, " "), at += *at == ' ') {
		size_t length = strcspn(at, " ");

		if ((length == 3 && !strncmp(at, "G14", 3)) ||
		    (!strncmp(at, name, length) && !name[length]))
			return true;
	}
	return false;
}

static bool measure(struct keyboard *board, const struct what *what)
{
	board->n = 0;
	if (!press_each(board, what->first))
		return false;
	for (int i = 0; i < 4 && what->commands[i]; i++)
		if (!command(board, what->commands[i]))
			return false;
	return through_zooms(board, what->around, what->zooms);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double part_ms(const int64_t *sorted, size_t n, unsigned permille)
{
	return n ? (double)sorted[(n - 1) * permille / 1000] / 1e6 : 0;
}

static void report(struct keyboard *board, const struct what *what)
{
	double cpu, wall;

	qsort(board->cpu_ns, board->n, sizeof(board->cpu_ns[0]), by_value);
	qsort(board->wall_ns, board->n, sizeof(board->wall_ns[0]), by_value);
	cpu = part_ms(board->cpu_ns, board->n, 990);
	wall = part_ms(board->wall_ns, board->n, 990);
	printf("%s|%s at %.0f M spans, p99 of CPU (p50 %.2f, at most %.2f)|%.2f|ms|low|p99 on the "
	       "wall (p50 %.2f)|%.2f|%.2f|<= 16 ms|%zu||%s\n",
	       what->name, what->what, (double)n_spans / 1e6, part_ms(board->cpu_ns, board->n, 500),
	       part_ms(board->cpu_ns, board->n, 1000), cpu, part_ms(board->wall_ns, board->n, 500),
	       wall, wall > 0 ? cpu / wall : 0, board->n, cpu <= 16 ? "true" : "false");
	fflush(stdout);
}

/* ---- pages that are opened ---- */

static const char *const openings[] = {
	"name conv_forward_0", "name h2d", "le", "le -n conv", "le -w 'dur > 1ms'",
	"le -w 'kernel & dur > 50us & name ~ /conv/'", "step slowest", "diff slowest", "lp", "lk",
	"lc", "gaps", "pin", "find -w 'kernel & dur > 1s'",
};
#define N_OPENINGS (sizeof(openings) / sizeof(openings[0]))

/* Waits until no more pictures come, while slow work is done. Returns the time of the last picture,
 * in ns after the first one; -1 if the screen ended. */
static int64_t settle(struct keyboard *board, int64_t first_ns)
{
	int64_t last_ns;

	do {
		last_ns = board->frame_ns;
		if (!take(board, clock_ns(CLOCK_MONOTONIC) + QUIET_MS * MS, last_ns))
			return -1;
	} while (board->frame_ns > last_ns);
	return last_ns - first_ns;
}

static bool open_pages(struct keyboard *board)
{
	const char *slowest = "", *latest = "";
	int64_t most_ns = 0, whole_ns = 0;
	struct what what = { .name = "G14.open" };

	if (!press_each(board, "0"))
		return false;
	board->n = 0;
	for (size_t i = 0; i < N_OPENINGS * ROUNDS; i++) {
		const char *opening = openings[i / ROUNDS];
		int64_t first_ns, after_ns;

		if (!command(board, opening))
			return false;
		first_ns = board->frame_ns - board->wall_ns[board->n - 1];
		if ((after_ns = settle(board, first_ns)) < 0)
			return false;
		if (board->cpu_ns[board->n - 1] > most_ns) {
			most_ns = board->cpu_ns[board->n - 1];
			slowest = opening;
		}
		if (after_ns > whole_ns) {
			whole_ns = after_ns;
			latest = opening;
		}
	}
	what.what = xasprintf(
		"key to picture, opening a page (most: %s; there after %.0f ms at most: %s)",
		slowest, (double)whole_ns / 1e6, latest);
	report(board, &what);
	return true;
}

static void report_lock(struct keyboard *board)
{
	double held;

	qsort(board->held_ns, board->n_held, sizeof(board->held_ns[0]), by_value);
	held = part_ms(board->held_ns, board->n_held, 990);
	printf("G14.lock|the model's lock kept at once for a key at %.0f M spans, p99 of CPU (p50 "
	       "%.2f)|%.2f|ms|low|at most|%.2f|-|<= 5 ms|%zu||%s\n",
	       (double)n_spans / 1e6, part_ms(board->held_ns, board->n_held, 500), held,
	       part_ms(board->held_ns, board->n_held, 1000), board->n_held,
	       held <= 5 ? "true" : "false");
}

/* Runs the screen in a process of its own. */
static int show(struct model *model, const int log[2])
{
	struct options options = { .no_config = true, .color = OPTIONS_COLOR_256 };
	char path[32];

	close(log[0]);
	snprintf(path, sizeof(path), "/dev/fd/%d", log[1]);
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	return log_open(path) ? tui_run(&options, model, NULL) : 1;
}

int main(int argc, char **argv)
{
	static struct keyboard board;
	struct winsize size = { .ws_row = 50, .ws_col = 200 };
	const char *spans = getenv("SPANS");
	struct model *model;
	int log[2];
	size_t done = 0;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < N_WHATS; i++)
			printf("%s%s", i ? " " : "", whats[i].name);
		puts(" G14.open G14.lock");
		return 0;
	}
	longest_ns = mmap(NULL, sizeof(*longest_ns), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (longest_ns == MAP_FAILED) {
		perror("key_bench");
		return 1;
	}
	model = make(spans ? strtoull(spans, NULL, 10) : SPANS);
	if (pipe(log) || (pid = forkpty(&board.terminal, NULL, NULL, &size)) < 0) {
		perror("key_bench");
		return 1;
	}
	if (!pid)
		_exit(show(model, log));
	close(log[1]);
	board.log = log[0];
	if (!clock_getcpuclockid(pid, &board.cpu) &&
	    take(&board, clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS, 0) &&
	    take(&board, clock_ns(CLOCK_MONOTONIC) + 1000 * MS, INT64_MAX))
		for (; done < N_WHATS; done++) {
			if (!is_asked("G14.lock") && !is_asked(whats[done].name))
				continue;
			if (!measure(&board, &whats[done]))
				break;
			report(&board, &whats[done]);
		}
	if (done == N_WHATS && (is_asked("G14.lock") || is_asked("G14.open"))) {
		if (open_pages(&board))
			report_lock(&board);
		else
			done = 0;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (done < N_WHATS)
		fprintf(stderr, "key_bench: key %zu of %s was not answered\n", board.n + 1,
			whats[done].name);
	model_free(model);
	return done < N_WHATS;
}
