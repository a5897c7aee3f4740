/* SPDX-License-Identifier: MIT */
/*
 * Drives probes/session without model and screen, for session.sh: starts PROGRAM, logs the
 * session's events, one per line, and ends as the options say.
 *
 *   session_driver [-s] [-o DIR] [-p PROBES] [-d SELF_DIR] [-l LOG] [-L]
 *
 *                  [-k EVENT] [-K MS] [-i TEXT] [-t] -- PROGRAM [ARG...]
 *
 *   -s screen (pty)   -L lossless    -l LOG events, default stderr
 *
 *   -k EVENT  SIGKILL itself at that event (fork arm release started)
 *
 *   -K MS     SIGKILL itself MS ms after the start
 *
 *   -g EVENT  leave PROGRAM running at that event (started stopped), and end
 *
 *   -i TEXT   keys for PROGRAM once it has started
 *
 *   -r        read the events and print how many of each kind arrived
 *
 *   -t        times in the log
 *
 * Exit status: PROGRAM's, as tftop's.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/session/live/reader.h"
#include "probes/session/session.h"

static FILE *event_log;
static bool times, reading;
static uint64_t kinds[256];
static int64_t begin_ns, kill_ns;
static const char *kill_at, *let_go_at, *keys;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	va_list args;

	if (times)
		fprintf(event_log, "%6.1f ", (double)((now_ns() - begin_ns) / 100000) / 10);
	va_start(args, format);
	vfprintf(event_log, format, args);
	va_end(args);
	fputc('\n', event_log);
	fflush(event_log);
}

static void reached(const char *event)
{
	if (kill_at && strcmp(kill_at, event) == 0)
		kill(getpid(), SIGKILL);
}

static void say_event(const struct session_event *e)
{
	switch (e->type) {
	case SESSION_STARTED:
		say("started");
		break;
	case SESSION_EXEC_FAILED:
		say("exec-failed %d %s", e->status, e->text);
		break;
	case SESSION_OUTPUT:
		say("output %zu", e->size);
		if (fwrite(e->data, 1, e->size, stdout) != e->size)
			say("output-lost");
		fflush(stdout);
		break;
	case SESSION_STOPPED:
		say("stopped %d", e->signal);
		break;
	case SESSION_CONTINUED:
		say("continued");
		break;
	case SESSION_EXITED:
		say("exited %d %d", e->status, e->signal);
		break;
	case SESSION_CHILD:
		say("child %s", e->text);
		break;
	case SESSION_CHILD_EXITED:
		say("child-exited %s", e->text);
		break;
	case SESSION_MESSAGE:
		say("message %d %s", e->level, e->text);
		break;
	case SESSION_RESTARTS:
		say("restarts %s", e->text);
		break;
	case SESSION_RESTARTED:
		say("restarted");
		break;
	case SESSION_BROKEN:
		say("broken %s", e->text);
		break;
	default:
		say("unknown event %d", (int)e->type);
	}
}

/* Runs PROGRAM until it ends; returns its exit status. */
static int follow(struct session *s, bool screen)
{
	for (;;) {
		struct pollfd p = { .fd = session_fd(s), .events = POLLIN };
		struct session_event e;
		int wait = kill_ns ? (int)((kill_ns - now_ns()) / 1000000) : -1;

		if (kill_ns && wait <= 0)
			kill(getpid(), SIGKILL);
		poll(&p, 1, wait);
		while (session_next(s, &e)) {
			say_event(&e);
			if (e.type == SESSION_STARTED) {
				reached("started");
				if (keys)
					session_input(s, keys, strlen(keys));
			}
			if (let_go_at && e.type == (strcmp(let_go_at, "stopped") == 0 ?
						    SESSION_STOPPED : SESSION_STARTED)) {
				session_let_go(s);
				return 0;
			}
			if (e.type == SESSION_STOPPED && !screen)
				raise(SIGSTOP);
			if (e.type == SESSION_EXITED || e.type == SESSION_EXEC_FAILED)
				return e.status < 0 ? 125 : e.status;
		}
	}
}

static int connect_through(void *arg, uint16_t port)
{
	return session_connect(arg, port);
}

static void count(void *arg, const struct event *events, size_t number)
{
	(void)arg;
	for (size_t i = 0; i < number; i++)
		kinds[(unsigned int)events[i].type % 256]++;
}

static struct reader *attach(struct session *s)
{
	struct reader_options options = {
		.url = session_url(s), .connect = connect_through, .connect_arg = s,
		.sink = count,
	};
	char error[READER_ERROR_MAX];
	struct reader *reader = reader_start(&options, error);

	if (!reader)
		say("reader-failed %s", error);
	else
		say("attached %d", reader_wait_attached(reader, 5000));
	return reader;
}

static void detach(struct session *s, struct reader *reader, int64_t ended_ns)
{
	if (!reader)
		return;
	if (session_has_data(s)) {
		reader_drain(reader, ended_ns);
		say("read-to-end %d", reader_wait_end(reader, 3000));
	}
	say("events %llu %s", (unsigned long long)reader_events(reader), reader_error(reader));
	for (int i = 0; i < 256; i++)
		if (kinds[i])
			say("kind %d %llu", i, (unsigned long long)kinds[i]);
	reader_free(reader);
}

static void stop(struct session *s)
{
	struct pollfd p = { .fd = session_fd(s), .events = POLLIN };
	struct session_event e;

	session_stop(s);
	while (!session_stopped(s)) {
		poll(&p, 1, 100);
		while (session_next(s, &e))
			say_event(&e);
	}
}

static int run(const struct session_options *options)
{
	char error[SESSION_ERROR_MAX];
	struct reader *reader = NULL;
	struct session *s;
	int64_t ended_ns;
	int status;

	s = session_fork(options, error, &status);
	if (!s) {
		say("fork-failed %d %s", status, error);
		return status;
	}
	reached("fork");
	if (session_arm(s, error) != 0)
		say("arm-failed %s", error);
	else
		say("armed %s", session_url(s));
	if (reading && session_url(s))
		reader = attach(s);
	reached("arm");
	if (!options->screen) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	if (session_release(s, error) != 0) {
		say("release-failed %s", error);
		session_free(s);
		return 125;
	}
	for (const char *line = session_environment(s); *line;
	     line += strcspn(line, "\n"), line += *line == '\n')
		say("environment %.*s", (int)strcspn(line, "\n"), line);
	reached("release");
	status = follow(s, options->screen);
	ended_ns = now_ns();
	say("data %s", session_has_data(s) ? "yes" : "no");
	if (!let_go_at)
		stop(s);
	say("stopped-tracing");
	detach(s, reader, ended_ns);
	session_free(s);
	say("end");
	return status;
}

int main(int argc, char **argv)
{
	struct session_options options = {
		.level = TFT_LEVEL_DEFAULT, .self_dir = ".",
		.winsize = { .ws_row = 24, .ws_col = 80 },
	};
	int option;

	session_main_hook(argc, argv);
	begin_ns = now_ns();
	event_log = stderr;
	while ((option = getopt(argc, argv, "+so:p:d:l:Lk:K:g:i:tr")) != -1) {
		switch (option) {
		case 's': options.screen = true; break;
		case 'o': options.record_dir = optarg; break;
		case 'p': options.probes = optarg; break;
		case 'd': options.self_dir = optarg; break;
		case 'l': event_log = fopen(optarg, "we"); break;
		case 'L': options.lossless = true; break;
		case 'k': kill_at = optarg; break;
		case 'K': kill_ns = begin_ns + atoll(optarg) * 1000000; break;
		case 'g': let_go_at = optarg; break;
		case 'i': keys = optarg; break;
		case 't': times = true; break;
		case 'r': reading = true; break;
		default: return 125;
		}
	}
	if (!event_log || optind >= argc)
		return 125;
	options.argv = argv + optind;
	return run(&options);
}
