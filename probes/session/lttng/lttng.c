/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/lttng.h"

#include <errno.h>
#include <lttng/lttng.h>
#include <lttng/tracker.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/session/lttng/namespaces.h"
#include "probes/process/process.h"
#include "probes/process/wire.h"

#define EVENT_COUNT 8
#define META_COUNT 4
#define EVENT_MAX (2u << 20)
#define EVENT_MIN (16u << 10)
#define META_MAX (256u << 10)
#define META_MIN (4u << 10)
/* Shared memory that one uid's buffers take at most. */
#define SHARE_MAX (256ull << 20)
#define RING_FILES 32
#define RING_SUBBUFFERS 4
/* How long to wait at the end for data that the consumer still has. */
#define DRAIN_NS 2500000000
#define SENTENCE 400

/* Shared memory for the buffers of one uid. */
static uint64_t lttng_plan_bytes(const struct lttng_plan *p, uint32_t cpus)
{
	/* There is one more sub-buffer for the reader. */
	return cpus * (p->event_bytes * (p->event_count + 1) +
		       p->meta_bytes * (p->meta_count + 1));
}

uint64_t lttng_fixed_bytes(uint32_t cpus)
{
	/* Metadata, error counters per CPU, wait files: 68 KiB seen with 2 CPUs. */
	return (40u << 10) + (uint64_t)cpus * (20u << 10);
}

bool lttng_plan_sizes(struct lttng_plan *p, uint32_t cpus, uint64_t room,
		      uint64_t disk, uint64_t *need)
{
	/* Half of it: a second uid, or another tool, needs room as well. */
	uint64_t share = room / 2 < SHARE_MAX ? room / 2 : SHARE_MAX;

	p->event_count = EVENT_COUNT;
	p->meta_count = META_COUNT;
	p->event_bytes = EVENT_MAX;
	p->meta_bytes = META_MAX;
	p->ring_files = RING_FILES;
	while (lttng_plan_bytes(p, cpus) > share && p->event_bytes > EVENT_MIN) {
		p->event_bytes /= 2;
		if (p->meta_bytes > META_MIN)
			p->meta_bytes /= 2;
	}
	if (lttng_plan_bytes(p, cpus) > share)
		p->event_count = p->meta_count = 2;
	*need = lttng_plan_bytes(p, cpus);
	/* A ring that fills the disk would lose everything, so use fewer files. */
	while (p->ring_files > 2 &&
	       *need * p->ring_files * RING_SUBBUFFERS / EVENT_COUNT > disk / 2)
		p->ring_files /= 2;
	return *need <= room - room / 8;
}

/* ---- the calls, in order ---- */

struct calls {
	const struct lttng_plan *plan;
	struct lttng_handle *handle;	/* owned */
	char *error;			/* SENTENCE bytes */
};

static int call_failed(struct calls *c, const char *what, int code)
{
	snprintf(c->error, SENTENCE, "LTTng refuses to %s: %s", what,
		 lttng_strerror(code > 0 ? -code : code));
	return -1;
}

static int create_session(struct calls *c)
{
	const struct lttng_plan *p = c->plan;
	struct lttng_session_descriptor *d = lttng_session_descriptor_live_network_create(
		p->session, p->url, NULL, p->timer_us);
	enum lttng_error_code code;
	int result;

	if (!d)
		return call_failed(c, "describe a live session", -LTTNG_ERR_NOMEM);
	code = lttng_create_session_ext(d);
	lttng_session_descriptor_destroy(d);
	if (code != LTTNG_OK)
		return call_failed(c, "create a session", (int)code);
	if (p->shm_path[0]) {
		result = lttng_set_session_shm_path(p->session, p->shm_path);
		if (result < 0)
			return call_failed(c, "place buffers on the disk", result);
	}
	return 0;
}

static int add_channel(struct calls *c, struct lttng_domain *domain, const char *name,
		       uint64_t bytes, uint32_t count, const char *pattern)
{
	const struct lttng_plan *p = c->plan;
	struct lttng_channel *channel = lttng_channel_create(domain);
	struct lttng_event *event = lttng_event_create();
	struct lttng_event_context context = { .ctx = LTTNG_EVENT_CONTEXT_VPID };
	int code = -LTTNG_ERR_NOMEM;

	if (!channel || !event)
		goto out;
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	channel->attr.overwrite = 0;
	channel->attr.subbuf_size = bytes;
	channel->attr.num_subbuf = count;
	channel->attr.switch_timer_interval = 0;	/* the live timer does this */
	channel->attr.read_timer_interval = 0;
	channel->attr.output = LTTNG_EVENT_MMAP;
	if (p->ring_files) {
		channel->attr.tracefile_size = RING_SUBBUFFERS * bytes;
		channel->attr.tracefile_count = p->ring_files;
	}
	if (p->lossless) {
		code = lttng_channel_set_blocking_timeout(channel, 1000000);
		if (code < 0)
			goto out;
	}
	code = lttng_enable_channel(c->handle, channel);
	if (code < 0)
		goto out;
	code = lttng_add_context(c->handle, &context, NULL, name);
	if (code < 0)
		goto out;
	context.ctx = LTTNG_EVENT_CONTEXT_VTID;
	code = lttng_add_context(c->handle, &context, NULL, name);
	if (code < 0)
		goto out;
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	snprintf(event->name, sizeof(event->name), "%s", pattern);
	code = lttng_enable_event_with_exclusions(c->handle, event, name, NULL, 0, NULL);
out:
	if (channel)
		lttng_channel_destroy(channel);
	if (event)
		lttng_event_destroy(event);
	return code < 0 ? call_failed(c, "create a channel", code) : 0;
}

/*
 * Everybody can enter root's folder, for programs that change their uid. So anybody can connect to
 * the session daemon and pretend to be a program. LTTng gets the uid from the kernel: a uid that is
 * not admitted gets no buffers and writes nothing.
 */
static int admit_uid(struct calls *c, uid_t uid, bool first)
{
	struct lttng_process_attr_tracker_handle *tracker = NULL;
	enum lttng_process_attr_tracker_handle_status status =
		LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK;

	if (lttng_session_get_tracker_handle(c->plan->session, LTTNG_DOMAIN_UST,
					     LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID,
					     &tracker) != LTTNG_OK)
		return call_failed(c, "tell users apart", -LTTNG_ERR_UNK);
	if (first)
		status = lttng_process_attr_tracker_handle_set_tracking_policy(
			tracker, LTTNG_TRACKING_POLICY_INCLUDE_SET);
	if (status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK)
		status = lttng_process_attr_virtual_user_id_tracker_handle_add_uid(tracker, uid);
	lttng_process_attr_tracker_handle_destroy(tracker);
	if (status != LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK &&
	    status != LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS)
		return call_failed(c, "trace programs of one user only", -LTTNG_ERR_UNK);
	return 0;
}

static void admit_later(struct calls *c, uid_t uid, int fd)
{
	char text[SENTENCE + 64];

	if (!c->plan->only_admitted || admit_uid(c, uid, false) == 0)
		return;
	snprintf(text, sizeof(text), "programs of uid %u cannot be observed: %s", (unsigned int)uid,
		 c->error);
	wire_text(fd, WIRE_MESSAGE, 1, text);
}

static int set_up(struct calls *c)
{
	const struct lttng_plan *p = c->plan;
	struct lttng_domain domain = {
		.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID,
	};
	int code;

	if (create_session(c) != 0)
		return -1;
	c->handle = lttng_create_handle(p->session, &domain);
	if (!c->handle)
		return call_failed(c, "open its session", -LTTNG_ERR_NOMEM);
	if (add_channel(c, &domain, "events", p->event_bytes, p->event_count,
			"tftop:ev_*") != 0 ||
	    add_channel(c, &domain, "meta", p->meta_bytes, p->meta_count,
			"tftop:def_*") != 0)
		return -1;
	if (p->only_admitted && admit_uid(c, p->program_uid, true) != 0)
		return -1;
	code = lttng_start_tracing(p->session);
	return code < 0 ? call_failed(c, "start tracing", code) : 0;
}

static int tear_down(struct calls *c)
{
	const char *session = c->plan->session;
	int64_t deadline = monotonic_ns() + DRAIN_NS;
	int code = lttng_stop_tracing_no_wait(session);

	if (code < 0 && code != -LTTNG_ERR_TRACE_ALREADY_STOPPED)
		call_failed(c, "stop tracing", code);
	/* Not in an active session: that crashes sessiond before 2.13.12. */
	while (code >= 0 && lttng_data_pending(session) > 0 && monotonic_ns() < deadline)
		poll(NULL, 0, 2);
	if (lttng_destroy_session_no_wait(session) < 0)
		return -1;
	return code < 0 ? -1 : 0;
}

_Noreturn void lttng_main(const struct lttng_plan *plan, int fd)
{
	static struct wire_message wire;
	char error[SENTENCE] = "";
	struct calls calls = { .plan = plan, .error = error };
	struct rlimit no_core = { 0, 0 };
	pid_t parent = getppid();

	prctl(PR_SET_NAME, "tftop-lttng");
	process_default_signals();
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_CORE, &no_core);
	if (plan->uid != geteuid() && places_take_uid(plan->uid) != 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setenv("LTTNG_HOME", plan->dir, 1);
	setenv("HOME", plan->dir, 1);
	/* A member of the real group would be sent to root's daemon. */
	lttng_set_tracing_group("tftop-no-such-group");
	for (;;) {
		struct wire_head done = { .type = WIRE_DONE };

		if (wire_recv_until(fd, &wire, NULL, INT64_MAX) != WIRE_OK)
			_exit(0);
		error[0] = '\0';
		if (wire.head.type == WIRE_ADMIT) {
			admit_later(&calls, (uid_t)wire.head.status, fd);
			continue;
		}
		done.status = wire.head.type == WIRE_SETUP ? set_up(&calls) : tear_down(&calls);
		wire_send(fd, &done, error, strlen(error), -1, true);
	}
}
