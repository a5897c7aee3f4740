/* SPDX-License-Identifier: MIT */
#include "probes/session/program/follow.h"

#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/attach/preflight.h"
#include "probes/process/process.h"
#include "probes/process/wire.h"
#include "probes/session/program/bring.h"

#define KNOWN_MAX 4096
/* How many processes' libraries are read per look. */
#define READS_MAX 8
#define PERIOD_NS INT64_C(250000000)
#define BUSY_LOOKS 40		/* after this many looks it is examined less often */
#define PERIOD_MAX_NS INT64_C(2000000000)
#define AGAIN_NS INT64_C(1000000000)
#define REFUSED_NS INT64_C(5000000000)
#define TRIES 3
/* While each look finds more libraries, loading goes on; after this many looks it is not waited for
 * any longer. */
#define GROWS_MAX 40
#define CAUSES_MAX 8
#define WHY_MAX 700
#define TEXT_MAX 512

#define REPORT_NAME "follow"
#define SAME_MEMORY 1		/* KCMP_VM */

struct followed_process {
	pid_t pid, parent;
	uint64_t start_ticks, image;
	int64_t next_ns, period_ns;
	size_t libraries;	/* number of libraries when last examined */
	const char *runtime;	/* of these; the probe that it is for, or NULL */
	unsigned idle, grew, tries;
	char command[100];
	bool settled;		/* it has probes, or will never have any */
};

struct follow_job {
	pid_t pid;
	uint64_t start_ticks;
	bool good, refused;	/* refused: nothing was tried */
	char why[WHY_MAX];
	struct stage_report now;
};

enum stage_of_job { IDLE, ASKED, DONE };

struct follow {
	const struct environ_choice *probes;
	bool tells;		/* it attaches to nothing */
	pid_t program;		/* 0: it is not looked after */
	bool lossless;
	uid_t uid;
	gid_t gid;
	char dir[128];
	struct followed_process *known;	/* owned, in no order */
	size_t count, room, next;
	char causes[CAUSES_MAX][WHY_MAX];
	size_t n_causes;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;	/* protects state and stop */
	pthread_cond_t asked;
	enum stage_of_job state;
	bool stop;
	struct follow_job job;	/* used by the thread while ASKED, otherwise by the main thread */
};

/* ---- the thread ---- */

static bool may_go_on(void *arg, char *why, size_t size)
{
	struct follow *f = arg;
	bool stop;

	pthread_mutex_lock(&f->lock);
	stop = f->stop;
	pthread_mutex_unlock(&f->lock);
	if (stop)
		snprintf(why, size, "tftop is ending");
	return !stop;
}

/* Its variables: as for the program, together with those that it was started with. */
static size_t make_lines(const struct follow *f, pid_t pid, char *lines, size_t size)
{
	struct process_environment own;
	struct environ_options options = {
		.dir = f->dir, .preload = true, .lossless = f->lossless,
		.own = process_variable, .arg = &own,
	};
	size_t bytes;

	process_environment(pid, &own);
	bytes = environ_lines(f->probes, &options, lines, size);
	free(own.text);
	return bytes;
}

static void attach_to_job(struct follow *f, struct follow_job *job,
			  const struct attach_check *check)
{
	static char lines[WIRE_DATA_MAX];
	struct bring bring = {
		.pid = job->pid, .uid = f->uid, .gid = f->gid, .dir = f->dir, .name = REPORT_NAME,
		.probes = f->probes, .lines = lines, .may_go_on = may_go_on, .arg = f,
	};

	bring.fd = process_open(job->pid, job->start_ticks, NULL);
	if (bring.fd < 0) {
		snprintf(job->why, sizeof(job->why), "the process has just ended");
		return;
	}
	bring.again = check->again;
	bring.bytes = make_lines(f, job->pid, lines, sizeof(lines));
	job->good = bring_probes(&bring, &job->now, job->why, sizeof(job->why));
	free(bring.codes);
	close(bring.fd);
}

static void do_job(struct follow *f, struct follow_job *job)
{
	struct attach_check *check = malloc(sizeof(*check));

	job->good = job->refused = false;
	job->why[0] = '\0';
	memset(&job->now, 0, sizeof(job->now));
	if (!check)
		return;
	attach_check_process(check, job->pid, f->probes->lib_dir);
	job->refused = !check->possible || check->apart || check->uid != f->uid ||
		       check->gid != f->gid;
	if (!check->possible)
		snprintf(job->why, sizeof(job->why), "%s", check->error);
	else if (check->apart)
		snprintf(job->why, sizeof(job->why), "it sees other files than tftop (a "
			 "container): attach to it with -p");
	else if (job->refused)
		snprintf(job->why, sizeof(job->why), "it belongs to uid %u and gid %u: one tftop "
			 "observes the processes of one user only", check->uid, check->gid);
	else
		attach_to_job(f, job, check);
	free(check);
}

static void *follow_thread(void *arg)
{
	struct follow *f = arg;

	pthread_setname_np(pthread_self(), "tftop-follow");
	pthread_mutex_lock(&f->lock);
	while (!f->stop) {
		if (f->state != ASKED) {
			pthread_cond_wait(&f->asked, &f->lock);
			continue;
		}
		pthread_mutex_unlock(&f->lock);
		do_job(f, &f->job);
		pthread_mutex_lock(&f->lock);
		f->state = DONE;
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static bool have_thread(struct follow *f)
{
	sigset_t all, before;

	if (f->has_thread)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	f->has_thread = pthread_create(&f->thread, NULL, follow_thread, f) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return f->has_thread;
}

/* ---- known processes ---- */

struct follow *follow_new(const struct environ_choice *probes, bool lossless, uid_t uid, gid_t gid)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->probes = probes;
	f->lossless = lossless;
	f->uid = uid;
	f->gid = gid;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->asked, NULL);
	return f;
}

struct follow *follow_new_to_tell(const struct environ_choice *probes)
{
	struct follow *f = follow_new(probes, false, 0, 0);

	if (f)
		f->tells = true;
	return f;
}

void follow_begin(struct follow *f, const char *dir)
{
	snprintf(f->dir, sizeof(f->dir), "%s", dir);
}

static struct followed_process *find_known(struct follow *f, pid_t pid)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->known[i].pid == pid)
			return &f->known[i];
	return NULL;
}

static struct followed_process *add_known(struct follow *f)
{
	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 16;
		struct followed_process *more = room > KNOWN_MAX ? NULL :
				     realloc(f->known, room * sizeof(*more));

		if (!more)
			return NULL;
		f->known = more;
		f->room = room;
	}
	return &f->known[f->count++];
}

/* Whether it is part of tftop itself, which a shell that it watches may have started. */
static bool is_own(const struct child_event *child)
{
	return child->pid == getpid() || child->parent == getpid();
}

void follow_child(struct follow *f, const struct child_event *child)
{
	struct followed_process *k = find_known(f, child->pid);
	struct process_stat stat;

	if (child->gone || !process_stat(child->pid, &stat)) {
		if (k)
			*k = f->known[--f->count];
		return;
	}
	if (is_own(child))
		return;
	if (!k)
		k = add_known(f);
	if (!k)
		return;
	*k = (struct followed_process){
		.pid = child->pid,
		.parent = child->parent,
		.start_ticks = stat.start_ticks,
		.image = stat.image,
		.period_ns = PERIOD_NS,
		.next_ns = monotonic_ns() + PERIOD_NS / 2,
	};
	snprintf(k->command, sizeof(k->command), "%.99s", child->command);
}

/* ---- looking ---- */

struct libraries {
	size_t count;
	bool probes;		/* a probe's library is there */
	const char *runtime;	/* the probe whose runtime is there; NULL: none */
};

static bool is_ours(const char *name)
{
	return !strncmp(name, STAGE_RUNTIME, strlen(STAGE_RUNTIME)) ||
	       !strncmp(name, STAGE_START, strlen(STAGE_START));
}

static void read_libraries(const struct follow *f, pid_t pid, struct libraries *found)
{
	char path[64], line[1024];
	FILE *maps;

	*found = (struct libraries){ .count = 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		const char *name = strchr(line, '/') ? strrchr(line, '/') + 1 : NULL, *probe;

		if (!name)
			continue;
		found->count++;
		found->probes |= is_ours(name);
		probe = attach_probe_for(name);
		if (probe && environ_wants(f->probes, probe))
			found->runtime = probe;
	}
	if (maps)
		fclose(maps);
}

/* Whether it uses its parent's memory, as between vfork() and exec. */
static bool is_borrowing(const struct followed_process *k)
{
	return syscall(SYS_kcmp, k->pid, k->parent, SAME_MEMORY, 0, 0) == 0;
}

/* Whether the probes should be injected now. */
static bool look_at_known(struct follow *f, struct followed_process *k, int64_t now)
{
	size_t before = k->libraries;
	struct libraries found;

	read_libraries(f, k->pid, &found);
	k->libraries = found.count;
	k->runtime = found.runtime;
	k->next_ns = now + k->period_ns;
	if (found.probes) {
		k->settled = true;
	} else if (found.runtime) {
		k->next_ns = now + PERIOD_NS;
		return (f->tells || found.count == before || ++k->grew > GROWS_MAX) &&
		       !is_borrowing(k);
	} else if (++k->idle > BUSY_LOOKS && k->period_ns < PERIOD_MAX_NS) {
		k->period_ns *= 2;
	}
	return false;
}

static void ask_thread(struct follow *f, struct followed_process *k, int64_t now)
{
	k->tries++;
	k->next_ns = now + AGAIN_NS;
	if (!have_thread(f))
		return;
	pthread_mutex_lock(&f->lock);
	f->job.pid = k->pid;
	f->job.start_ticks = k->start_ticks;
	f->state = ASKED;
	pthread_cond_signal(&f->asked);
	pthread_mutex_unlock(&f->lock);
}

static bool is_ended(const struct followed_process *k)
{
	struct process_stat stat;

	return !process_stat(k->pid, &stat) || stat.state == 'Z' ||
	       stat.start_ticks != k->start_ticks || stat.image != k->image;
}

/* Whether the same reason was reported before, digits aside. */
static bool was_told(struct follow *f, const char *text)
{
	char cause[WHY_MAX];
	size_t used = 0;

	for (; *text && used < sizeof(cause) - 1; text++)
		if (!isdigit((unsigned char)*text))
			cause[used++] = *text;
	cause[used] = '\0';
	for (size_t i = 0; i < f->n_causes; i++)
		if (!strcmp(f->causes[i], cause))
			return true;
	if (f->n_causes == CAUSES_MAX)
		return true;
	memcpy(f->causes[f->n_causes++], cause, used + 1);
	return false;
}

static void tell_wrong(struct follow *f, follow_function *tell, void *arg)
{
	const struct stage_report *now = &f->job.now;

	for (uint32_t i = 0; i < now->loads; i++)
		if (bring_went_wrong(&now->load[i]) && now->load[i].text[0] &&
		    !was_told(f, now->load[i].text))
			tell(arg, 2, now->load[i].text);
}

static void take_result(struct follow *f, follow_function *tell, void *arg)
{
	struct followed_process *k = find_known(f, f->job.pid);
	char text[TEXT_MAX];

	if (f->job.good)
		tell_wrong(f, tell, arg);
	if (!k || k->start_ticks != f->job.start_ticks || is_ended(k))
		return;
	k->settled = f->job.good || k->tries >= TRIES;
	/* it may be possible when a debugger has left it, or when it is continued */
	if (f->job.refused)
		k->next_ns = monotonic_ns() + REFUSED_NS;
	if (f->job.good || !(k->settled || f->job.refused) || was_told(f, f->job.why))
		return;
	snprintf(text, sizeof(text), "cannot attach to %d ('%s'), which was started later: %.300s",
		 (int)k->pid, k->command, f->job.why);
	tell(arg, 1, text);
}

/* Nothing of a process is observed that uses a runtime and was started without the probes. */
static void tell_unreached(struct follow *f, struct followed_process *k, follow_function *tell,
			   void *arg)
{
	char text[TEXT_MAX];

	k->settled = true;
	if (is_ended(k))
		return;
	snprintf(text, sizeof(text), "'%.80s' (process %d) uses what the %s probe is for, but "
		 "was started without tftop's variables, so nothing of it is observed: keep "
		 "LD_PRELOAD, LTTNG_HOME and those that begin with TFTOP_ in its environment, "
		 "or attach with 'tftop -p %d'", k->command, (int)k->pid, k->runtime, (int)k->pid);
	if (!was_told(f, text))
		tell(arg, 1, text);
}

/* PROGRAM keeps its PID when it calls exec, and is nobody's child that could appear. */
static void look_at_program(struct follow *f)
{
	const struct followed_process *k = find_known(f, f->program);
	struct child_event event = { .pid = f->program };
	struct process_stat stat;

	if (!process_stat(f->program, &stat) || stat.state == 'Z' ||
	    (k && k->start_ticks == stat.start_ticks && k->image == stat.image))
		return;
	children_command(f->program, event.command, sizeof(event.command));
	event.parent = stat.parent;
	follow_child(f, &event);
}

void follow_program(struct follow *f, pid_t pid)
{
	f->program = pid;
}

void follow_look(struct follow *f, follow_function *tell, void *arg)
{
	int64_t now = monotonic_ns();
	enum stage_of_job state;
	int reads = 0;
	bool stop;

	pthread_mutex_lock(&f->lock);
	state = f->state;
	stop = f->stop;
	if (state == DONE)
		f->state = IDLE;
	pthread_mutex_unlock(&f->lock);
	if (state == DONE)
		take_result(f, tell, arg);
	if (state == ASKED || stop)
		return;
	if (f->program)
		look_at_program(f);
	for (size_t i = 0; i < f->count && reads < READS_MAX; i++) {
		struct followed_process *k = &f->known[f->next++ % f->count];

		if (k->settled || k->next_ns > now)
			continue;
		reads++;
		if (!look_at_known(f, k, now))
			continue;
		if (!f->tells) {
			ask_thread(f, k, now);
			return;
		}
		tell_unreached(f, k, tell, arg);
	}
}

void follow_stop(struct follow *f)
{
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_signal(&f->asked);
	pthread_mutex_unlock(&f->lock);
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	follow_stop(f);
	if (f->has_thread)
		pthread_join(f->thread, NULL);
	pthread_cond_destroy(&f->asked);
	pthread_mutex_destroy(&f->lock);
	free(f->known);
	free(f);
}
