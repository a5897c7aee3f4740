/* SPDX-License-Identifier: MIT */
/* Prepares what the daemons of a keeper are started with, and starts them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/schema/control.h"
#include "probes/session/lttng/keeper_end.h"
#include "probes/session/lttng/keeper_internal.h"
#include "probes/process/process.h"
#include "probes/process/wire.h"

#define STAND_LIMIT_NS 8000000000	/* time limit for the daemons to be ready */
/* at most KEEPER_RESTARTS are allowed within this time */
#define RESTARTS_NS INT64_C(60000000000)
#define TIMER_US 50000u			/* period of the live timer: the latency on a screen */
#define UNHURRIED_US 250000u		/* each tick wakes three daemons, for each stream */
#define TIMER_CPU_US 500u		/* there are as many streams as CPUs */

static bool choose_places(struct keeper *k, char *error, size_t size)
{
	struct daemon_places *p = &k->places;
	bool root = geteuid() == 0;
	char text[KEEPER_SENTENCE];

	places_try(p);
	if (root && p->other_uid) {
		/* sessiond may signal its parent if the parent has its real uid. */
		p->other_uid = setresuid(p->uid, (uid_t)-1, (uid_t)-1) == 0;
	}
	if (root && p->error == ETIMEDOUT) {
		snprintf(error, size, "could not determine in time whether root may change its "
			 "uid; the machine is busy, try again");
		return false;
	}
	if (root && !p->other_uid && !p->renamed) {
		snprintf(error, size, "root cannot have a private LTTng without the right to "
			 "change its uid: run tftop as an ordinary user");
		return false;
	}
	if (p->renamed || p->network)
		k->private_network = places_enter_network(p->renamed || !root ? p->uid : 0) == 0;
	if (k->private_network)
		return true;
	snprintf(text, sizeof(text), "no private network namespace (%s): the trace passes through "
		 "ports on 127.0.0.1, where other users of this machine can read it",
		 p->error == ENOSPC ? "their number is limited on this system" :
		 strerror(p->error ? p->error : errno));
	keeper_tell(k, 1, text);
	return true;
}

static void choose_ports(struct keeper *k)
{
	struct daemons *d = &k->daemons;
	uint16_t ports[4];

	if (k->private_network) {
		d->control = 5342;
		d->data = 5343;
		d->live = 5344;
		d->agent = 5345;
		return;
	}
	places_free_ports(ports, 4);
	d->control = ports[0];
	d->data = ports[1];
	d->live = ports[2];
	d->agent = ports[3];
}

static bool make_control_page(struct keeper *k)
{
	char path[DIR_PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/control", k->dir);
	k->control = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	return k->control >= 0 && ftruncate(k->control, TFT_CONTROL_BYTES) == 0;
}

static bool make_trace_folder(struct keeper *k, char *error, size_t size)
{
	const char *record = k->options->record_dir;

	if (record && mkdir(record, 0755 & ~k->daemons.mask) != 0 && errno != EEXIST) {
		process_error(error, size, "cannot create", record, errno);
		return false;
	}
	snprintf(k->trace, sizeof(k->trace), "%s/trace", record ? record : k->dir);
	if (mkdir(k->trace, record ? 0755 & ~k->daemons.mask : 0700) != 0 && errno != EEXIST) {
		process_error(error, size, "cannot create", k->trace, errno);
		return false;
	}
	if (!record && k->places.uid != geteuid() &&
	    chown(k->trace, k->places.uid, (gid_t)k->places.uid) != 0) {
		process_error(error, size, "cannot change the owner of", k->trace, errno);
		return false;
	}
	return true;
}

static void session_names(struct keeper *k)
{
	/* Each set has its own, so that the reader never confuses a dead session with the next. */
	if (k->set)
		snprintf(k->plan.session, sizeof(k->plan.session), "tftop-%d-%u",
			 (int)k->options->tftop, k->set + 1);
	else
		snprintf(k->plan.session, sizeof(k->plan.session), "tftop-%d",
			 (int)k->options->tftop);
	snprintf(k->plan.url, sizeof(k->plan.url), "net://127.0.0.1:%u:%u",
		 k->daemons.control, k->daemons.data);
}

static bool shared_memory(uint64_t *room, char *error, size_t size)
{
	struct statvfs fs;

	if (statvfs("/dev/shm", &fs) != 0 || (fs.f_flag & ST_RDONLY) ||
	    eaccess("/dev/shm", W_OK) != 0) {
		snprintf(error, size, "'/dev/shm' is %s: LTTng has no shared memory",
			 errno == ENOENT ? "missing" : "not writable");
		return false;
	}
	*room = (uint64_t)fs.f_bavail * fs.f_frsize;
	return true;
}

static bool make_buffer_folder(struct keeper *k, char *error, size_t size)
{
	if (mkdir(k->plan.shm_path, 0700) == 0 &&
	    (k->places.uid == geteuid() ||
	     chown(k->plan.shm_path, k->places.uid, (gid_t)k->places.uid) == 0))
		return true;
	process_error(error, size, "cannot create", k->plan.shm_path, errno);
	return false;
}

static bool buffers_on_disk(struct keeper *k, uint32_t cpus, char *error, size_t size)
{
	uint64_t need;

	snprintf(k->plan.shm_path, sizeof(k->plan.shm_path), "%s/shm", k->dir);
	if (!make_buffer_folder(k, error, size))
		return false;
	lttng_plan_sizes(&k->plan, cpus, dir_free_bytes(k->dir), dir_free_bytes(k->trace),
			 &need);
	return true;
}

/* Buffers too large for /dev/shm would fail silently when the program registers. */
static bool choose_buffers(struct keeper *k, char *error, size_t size)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t room = 0, fixed = lttng_fixed_bytes(cpus), need = 0;
	char text[KEEPER_SENTENCE];

	if (!shared_memory(&room, error, size))
		return false;
	if (room < fixed) {
		snprintf(error, size, "'/dev/shm' is too small: %llu KiB are free, and LTTng needs "
			 "%llu KiB",
			 (unsigned long long)room >> 10, (unsigned long long)fixed >> 10);
		return false;
	}
	k->plan.timer_us = k->options->unhurried ? UNHURRIED_US : TIMER_US;
	if (k->plan.timer_us < cpus * TIMER_CPU_US)
		k->plan.timer_us = cpus * TIMER_CPU_US;
	k->plan.uid = k->places.uid;
	k->plan.program_uid = k->options->program_uid;
	/* An ordinary user's folder is private, and a renamed root is alone in its namespace. */
	k->plan.only_admitted = geteuid() == 0 && k->places.other_uid;
	k->plan.dir = k->dir;
	k->plan.lossless = k->options->lossless;
	if (!lttng_plan_sizes(&k->plan, cpus, room - fixed, dir_free_bytes(k->trace), &need)) {
		snprintf(text, sizeof(text), "'/dev/shm' is too small (%llu KiB free, %llu KiB "
			 "needed): buffers are on disk in '%s', which is slower",
			 (unsigned long long)room >> 10,
			 (unsigned long long)(need + fixed) >> 10, k->dir);
		keeper_tell(k, 1, text);
		if (!buffers_on_disk(k, cpus, error, size))
			return false;
	} else if (k->plan.event_bytes < (64u << 10)) {
		snprintf(text, sizeof(text), "'/dev/shm' is small (%llu KiB free): buffers are "
			 "small, and bursts of events can be lost", (unsigned long long)room >> 10);
		keeper_tell(k, 1, text);
	}
	if (k->options->record_dir)
		k->plan.ring_files = 0;
	return true;
}

static bool start_caller(struct keeper *k)
{
	int pair[2];

	if (wire_pair(pair) != 0)
		return false;
	k->caller = fork();
	if (k->caller == 0) {
		process_keep_fds(&pair[1], 1);
		lttng_main(&k->plan, pair[1]);
	}
	close(pair[1]);
	k->caller_fd = pair[0];
	return k->caller > 0;
}

bool keeper_begin(struct keeper *k, char *error, size_t size)
{
	struct daemons *d = &k->daemons;

	if (daemons_find(d, error, size) != 0)
		return false;
	if (!choose_places(k, error, size))
		return false;
	k->lock = dir_create(k->places.uid, k->dir, error, size);
	if (k->lock < 0) {
		k->dir[0] = '\0';
		return false;
	}
	if (!make_trace_folder(k, error, size))
		return false;
	choose_ports(k);
	d->dir = k->dir;
	d->trace = k->trace;
	d->library_dir = k->options->library_dir;
	d->uid = k->places.uid;
	d->write_anywhere = k->options->record_dir != NULL;
	if (daemons_start(d, error, size) != 0)
		return false;
	/* While they are starting: */
	session_names(k);
	if (!choose_buffers(k, error, size))
		return false;
	if (!make_control_page(k) || !start_caller(k)) {
		process_error(error, size, "cannot prepare", k->dir, errno);
		return false;
	}
	dir_sweep();
	k->deadline_ns = monotonic_ns() + process_patience(STAND_LIMIT_NS);
	return true;
}

/* ---- another set of daemons ---- */

bool keeper_may_restart(struct keeper *k, int64_t now_ns)
{
	int64_t *oldest = &k->restarts_ns[0];

	for (int i = 1; i < KEEPER_RESTARTS; i++)
		if (k->restarts_ns[i] < *oldest)
			oldest = &k->restarts_ns[i];
	if (*oldest && now_ns - *oldest < RESTARTS_NS)
		return false;
	*oldest = now_ns;
	return true;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Removes what is not read any more. A recording's files stay, beside the new ones. */
static bool clear_old(struct keeper *k, char *error, size_t size)
{
	if (k->plan.shm_path[0]) {
		dir_remove(k->plan.shm_path);
		if (!make_buffer_folder(k, error, size))
			return false;
	}
	if (!k->options->record_dir) {
		dir_remove(k->trace);
		if (!make_trace_folder(k, error, size))
			return false;
	}
	k->past_processes = dir_count(k->trace, 2);
	k->past_users = dir_count(k->trace, 4);
	return true;
}

bool keeper_restart(struct keeper *k, char *error, size_t size)
{
	keeper_end_daemons(&k->daemons, false);
	k->hurried = process_hurry();
	close_one(&k->caller_fd);
	close_one(&k->consumer);
	close_one(&k->scout);
	k->caller = k->consumer_pid = 0;
	k->sessiond_ready = k->scout_registered = false;
	memset(k->stopped, 0, sizeof(k->stopped));
	k->set++;
	session_names(k);
	if (!clear_old(k, error, size) || daemons_start(&k->daemons, error, size) != 0)
		return false;
	if (!start_caller(k)) {
		process_error(error, size, "cannot restart in", k->dir, errno);
		return false;
	}
	k->state = KEEPER_STANDING;
	k->deadline_ns = monotonic_ns() + process_patience(STAND_LIMIT_NS);
	return true;
}
