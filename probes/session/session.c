/* SPDX-License-Identifier: MIT */
#include "probes/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/session/lttng/daemons.h"
#include "probes/session/internal.h"
#include "probes/session/targets/targets.h"
#include "probes/session/lttng/keeper.h"
#include "probes/process/process.h"

#define ARM_LIMIT_NS 20000000000
#define CONNECT_LIMIT_NS 5000000000

static struct launcher_origin origin;

/*
 * Occupies the standard descriptors that tftop was started without: no descriptor of tftop may get
 * their numbers, and for PROGRAM they must be absent as before. The placeholder refuses reads and
 * writes, and the exec closes it.
 */
static void occupy_missing_stdio(void)
{
	int fd;

	do {
		fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

void session_main_hook(int argc, char **argv)
{
	occupy_missing_stdio();
	daemons_consumer_hook(argc, argv);
	launcher_origin_save(&origin);
}

/* ---- forking ---- */

static bool make_pair(int fds[2], int type)
{
	return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) == 0;
}

static bool fork_launcher(struct session *s, const struct session_options *o)
{
	struct launcher_options options = {
		.argv = o->argv, .origin = &origin, .plan = s->plan,
		.screen = o->screen, .winsize = o->winsize, .tftop = getpid(),
		.shortcut = &s->shortcut,
	};
	int messages[2], input[2];

	if (!make_pair(messages, SOCK_SEQPACKET) || !make_pair(input, SOCK_STREAM))
		return false;
	s->launcher = fork();
	if (s->launcher == 0) {
		/* Before PROGRAM is forked, which must not hold tftop's ends. */
		close(messages[0]);
		close(input[0]);
		options.fd = messages[1];
		options.input = input[1];
		launcher_main(&options);
	}
	close(messages[1]);
	close(input[1]);
	s->launcher_fd = messages[0];
	s->input_fd = input[0];
	if (s->launcher > 0)
		shortcut_leave(&s->shortcut);
	return s->launcher > 0;
}

static bool fork_keeper(struct session *s, const struct session_options *o,
			const char *record_dir)
{
	struct keeper_options options = {
		.tftop = getpid(), .record_dir = record_dir, .lossless = o->lossless,
		.unhurried = o->unhurried, .known = s->join, .scout = !s->preflight.changes_user,
		.program_uid = s->attach ? s->uid : geteuid(),
		.program_gid = s->attach ? s->gid : getegid(),
	};
	int messages[2], broker[2];

	if (!make_pair(messages, SOCK_SEQPACKET) || !make_pair(broker, SOCK_SEQPACKET))
		return false;
	s->keeper = fork();
	if (s->keeper == 0) {
		options.library_dir = s->probes.lib_dir[0] ? s->probes.lib_dir : NULL;
		options.fd = messages[1];
		options.broker = broker[1];
		keeper_main(&options);
	}
	close(messages[1]);
	close(broker[1]);
	s->keeper_fd = messages[0];
	s->broker = broker[0];
	return s->keeper > 0;
}

static bool open_watches(struct session *s)
{
	s->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return s->poll_fd >= 0 && s->timer_fd >= 0 && s->wake_fd >= 0 &&
	       session_watch(s, s->timer_fd) && session_watch(s, s->wake_fd);
}

static bool make_absolute(const char *path, char *full, size_t size)
{
	char here[2048];
	int length;

	if (path[0] == '/') {
		length = snprintf(full, size, "%s", path);
	} else {
		if (!getcwd(here, sizeof(here)))
			return false;
		length = snprintf(full, size, "%s/%s", here, path);
	}
	return length > 0 && (size_t)length < size;
}

static struct session *new_session(const struct session_options *o)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->launcher_fd = s->input_fd = s->keeper_fd = s->broker = -1;
	s->shortcut.lock = -1;
	s->poll_fd = s->timer_fd = s->wake_fd = s->program_fd = s->opened_fd = -1;
	s->level = o->level;
	s->trigger = o->trigger;
	s->range = o->range;
	s->screen = o->screen;
	s->lossless = o->lossless;
	s->stay = o->stay;
	s->budget = o->budget;
	pthread_mutex_init(&s->broker_lock, NULL);
	s->plan = mmap(NULL, sizeof(*s->plan), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->plan == MAP_FAILED)
		s->plan = NULL;
	return s;
}

static void say_notes(struct session *s)
{
	char text[SESSION_ERROR_MAX];

	for (size_t i = 0; i < s->preflight.note_count; i++)
		session_say(s, 1, s->preflight.notes[i]);
	environ_complaint(&s->probes, text, sizeof(text));
	if (text[0])
		session_say(s, 2, text);
}

struct session *session_fork(const struct session_options *options,
			     char error[SESSION_ERROR_MAX], int *exit_status)
{
	struct session *s = new_session(options);
	char record[4096] = "";

	*exit_status = 125;
	launcher_origin_save(&origin);
	if (!s || !s->plan) {
		snprintf(error, SESSION_ERROR_MAX, "out of memory for the session");
		goto fail;
	}
	if (!options->n_pids)
		preflight_check(&s->preflight, options->argv);
	if (s->preflight.exit_status) {
		snprintf(error, SESSION_ERROR_MAX, "%s", s->preflight.error);
		*exit_status = s->preflight.exit_status;
		goto fail;
	}
	if (environ_choose(&s->probes, options->probes, options->self_dir, error,
			   SESSION_ERROR_MAX) != 0)
		goto fail;
	shortcut_open(&s->shortcut, &s->probes);
	s->probes.passing = options->n_pids && s->shortcut.dir[0];
	if (options->record_dir && !make_absolute(options->record_dir, record, sizeof(record))) {
		process_error(error, SESSION_ERROR_MAX, "cannot find", options->record_dir, errno);
		goto fail;
	}
	if (options->n_pids && !targets_begin(s, options, error))
		goto fail;
	if ((!s->attach && !fork_launcher(s, options)) ||
	    !fork_keeper(s, options, record[0] ? record : NULL) || !open_watches(s) ||
	    !(s->attach ? targets_watch(s) : session_watch(s, s->launcher_fd)) ||
	    !session_watch(s, s->keeper_fd)) {
		snprintf(error, SESSION_ERROR_MAX, "cannot start helper processes: %s",
			 strerror(errno));
		goto fail;
	}
	say_notes(s);
	*exit_status = 0;
	return s;
fail:
	session_free(s);
	return NULL;
}

/* ---- arming ---- */

static bool map_control(struct session *s, int fd)
{
	struct tft_control *page;

	if (fd < 0)
		return false;
	page = mmap(NULL, TFT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return false;
	page->version = TFT_CONTROL_VERSION;
	page->level = s->level;
	page->trigger = s->trigger;
	page->range = s->range;
	page->flags = s->lossless ? TFT_CONTROL_LOSSLESS : 0;
	page->budget = (uint32_t)s->budget;
	page->alive_ns = monotonic_ns();
	__atomic_store_n(&page->magic, TFT_CONTROL_MAGIC, __ATOMIC_RELEASE);
	s->control = page;
	return true;
}

/* A probe that registers opens the control page, which inotify reports. */
static void watch_control(struct session *s)
{
	char path[sizeof(s->ready.dir) + 16];

	snprintf(path, sizeof(path), "%s/control", s->ready.dir);
	s->opened_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (s->opened_fd >= 0 && inotify_add_watch(s->opened_fd, path, IN_OPEN) < 0) {
		close(s->opened_fd);
		s->opened_fd = -1;
	}
}

/* As wire_recv_until(), but continues a keeper that is stopped meanwhile. */
static enum wire_result hear_keeper(struct session *s, int *page, int64_t deadline)
{
	for (;;) {
		int64_t part = monotonic_ns() + SESSION_LOOK_NS;
		enum wire_result r = wire_recv_until(s->keeper_fd, &s->wire, page,
						     part < deadline ? part : deadline);

		if (r != WIRE_AGAIN || part >= deadline)
			return r;
		session_look_at_keeper(s);
	}
}

int session_arm(struct session *s, char error[SESSION_ERROR_MAX])
{
	int64_t deadline = monotonic_ns() + process_patience(ARM_LIMIT_NS);

	for (;;) {
		int page = -1;
		enum wire_result r = hear_keeper(s, &page, deadline);

		if (r == WIRE_OK && s->wire.head.type == WIRE_READY &&
		    s->wire.size == sizeof(s->ready)) {
			memcpy(&s->ready, s->wire.data, sizeof(s->ready));
			if (map_control(s, page)) {
				watch_control(s);
				s->armed = true;
				return 0;
			}
			snprintf(error, SESSION_ERROR_MAX, "cannot map the control page: %s",
				 strerror(errno));
			return -1;
		}
		if (page >= 0)
			close(page);
		if (r == WIRE_OK && s->wire.head.type == WIRE_MESSAGE) {
			session_say(s, s->wire.head.status, s->wire.data);
			continue;
		}
		if (r == WIRE_OK && s->wire.head.type == WIRE_FAILED)
			snprintf(error, SESSION_ERROR_MAX, "%.500s", s->wire.data);
		else if (r == WIRE_AGAIN)
			snprintf(error, SESSION_ERROR_MAX,
				 "the LTTng daemons did not start in time");
		else
			snprintf(error, SESSION_ERROR_MAX, "tftop's keeper died");
		s->keeper_gone = r != WIRE_OK && r != WIRE_AGAIN;
		s->broken = true;
		return -1;
	}
}

const char *session_url(const struct session *s)
{
	return s->armed ? s->ready.url : NULL;
}

int64_t session_period_ns(const struct session *s)
{
	return s->armed ? (int64_t)s->ready.timer_us * 1000 : 0;
}

int session_connect(struct session *s, uint16_t port)
{
	struct wire_head head = { .type = WIRE_SETUP, .status = port };
	enum wire_result r;
	struct wire_message *answer = malloc(sizeof(*answer));
	int fd = -1, error = ECONNREFUSED;

	if (!answer) {
		errno = ENOMEM;
		return -1;
	}
	pthread_mutex_lock(&s->broker_lock);
	r = s->broker < 0 ? WIRE_EOF : wire_send(s->broker, &head, NULL, 0, -1, true);
	if (r == WIRE_OK)
		r = wire_recv_until(s->broker, answer, &fd, monotonic_ns() + CONNECT_LIMIT_NS);
	pthread_mutex_unlock(&s->broker_lock);
	if (r == WIRE_OK && fd < 0)
		error = answer->head.status;
	free(answer);
	if (fd < 0)
		errno = error;
	return fd;
}

/* ---- releasing ---- */

int session_release(struct session *s, char error[SESSION_ERROR_MAX])
{
	struct itimerspec period = {
		.it_interval.tv_nsec = SESSION_LOOK_NS, .it_value.tv_nsec = SESSION_LOOK_NS,
	};
	struct wire_head head = { .type = WIRE_RELEASE }, begun = { .type = WIRE_BEGUN };

	if (s->released)
		return 0;
	if (!s->attach)
		session_make_environment(s, (struct environ_options){
			.dir = s->ready.dir,
			.preload = s->preflight.kind != PREFLIGHT_FOREIGN,
		});
	session_alive(s);
	if (s->attach && targets_attach(s, error) != 0)
		return -1;
	if (!s->attach && wire_send(s->launcher_fd, &head, NULL, 0, -1, true) != WIRE_OK) {
		snprintf(error, SESSION_ERROR_MAX, "the launcher of '%.400s' died",
			 s->preflight.path);
		return -1;
	}
	s->released = true;
	if (s->armed && !s->broken && !s->keeper_gone)
		wire_send(s->keeper_fd, &begun, NULL, 0, -1, true);
	timerfd_settime(s->timer_fd, 0, &period, NULL);
	return 0;
}

const char *session_environment(const struct session *s)
{
	return s->environment ? s->environment : "";
}

/* ---- control ---- */

void session_resize(struct session *s, const struct winsize *size)
{
	struct wire_head head = { .type = WIRE_RESIZE };

	if (!s->launcher_gone)
		wire_send(s->launcher_fd, &head, size, sizeof(*size), -1, false);
}

size_t session_input(struct session *s, const void *data, size_t size)
{
	ssize_t sent = send(s->input_fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	return sent > 0 ? (size_t)sent : 0;
}

void session_signal(struct session *s, int number)
{
	struct wire_head head = { .type = WIRE_SIGNAL, .signal = number };

	session_release_end(s);
	if (s->exited || s->attach)
		return;
	if (!s->launcher_gone)
		wire_send(s->launcher_fd, &head, NULL, 0, -1, false);
	else if (s->program_fd >= 0)
		syscall(SYS_pidfd_send_signal, s->program_fd, number, NULL, 0);
}

void session_set_level(struct session *s, enum tft_level level)
{
	s->level = level;
	s->trigger = TFT_TRIGGER_NONE;
	if (!s->control)
		return;
	__atomic_store_n(&s->control->level, (uint32_t)level, __ATOMIC_RELAXED);
	__atomic_store_n(&s->control->trigger, TFT_TRIGGER_NONE, __ATOMIC_RELAXED);
}

void session_set_budget(struct session *s, int percent)
{
	s->budget = percent;
	if (s->control)
		__atomic_store_n(&s->control->budget, (uint32_t)percent, __ATOMIC_RELAXED);
}

int session_budget(const struct session *s)
{
	uint32_t percent = s->control ? __atomic_load_n(&s->control->budget, __ATOMIC_RELAXED) :
					(uint32_t)s->budget;

	/* --control may have changed it */
	return percent <= TFT_BUDGET_MAX ? (int)percent : 0;
}

enum tft_level session_level(const struct session *s)
{
	uint32_t level = s->control ? __atomic_load_n(&s->control->level, __ATOMIC_RELAXED) :
				      s->level;

	/* --control may have changed it */
	return level > TFT_LEVEL_FULL ? TFT_LEVEL_FULL : (enum tft_level)level;
}

enum tft_trigger session_trigger(const struct session *s)
{
	return s->control ?
		       (enum tft_trigger)__atomic_load_n(&s->control->trigger, __ATOMIC_RELAXED) :
		       s->trigger;
}

void session_ask_dump(struct session *s)
{
	if (s->control)
		__atomic_fetch_add(&s->control->dump_generation, 1, __ATOMIC_RELAXED);
}

int session_fd(const struct session *s)
{
	return s->poll_fd;
}
