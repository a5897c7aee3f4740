/* SPDX-License-Identifier: MIT */
/* The steps of an injection: look, choose, stop, call, restore. See inject.h. */
#include "probes/attach/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/attach/call.h"
#include "probes/attach/hurry.h"
#include "probes/attach/place.h"
#include "probes/attach/target.h"
#include "probes/process/process.h"

#define DEFAULT_NS INT64_C(2000000000)
#define STOP_MS 100	/* if a thread cannot be stopped within this time, another one is tried */
/* how often a thread that computes is stopped before another one is tried */
#define STOPS_RUNNING 200
#define STOPS_WAITING 3

__attribute__((format(printf, 3, 4)))
static bool inject_end(struct inject_result *result, enum inject_outcome outcome,
		       const char *format, ...)
{
	va_list args;

	result->outcome = outcome;
	va_start(args, format);
	vsnprintf(result->why, sizeof(result->why), format, args);
	va_end(args);
	return outcome == INJECT_DONE;
}

/* ---- the request ---- */

/* Whether other users could have replaced it. */
static bool is_open_to_others(int library, int folder, uid_t user)
{
	struct stat st, in;

	return fstat(library, &st) != 0 || !S_ISREG(st.st_mode) || (st.st_mode & S_IWOTH) ||
	       (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != user) ||
	       folder < 0 || fstat(folder, &in) != 0 ||
	       ((in.st_mode & S_IWOTH) && !(in.st_mode & S_ISVTX));
}

static bool library_fits(const struct inject_request *q, struct inject_result *result)
{
	char path[INJECT_PATH_MAX], uid[64], state[16];
	int library, folder, error;
	bool open;

	if (q->library[0] != '/' || strlen(q->library) >= INJECT_PATH_MAX)
		return inject_end(result, INJECT_REFUSED,
				  "'%.200s' is not an absolute path of a library", q->library);
	library = place_open_inside(q->pid, q->library, O_PATH);
	error = errno;
	status_field(q->pid, q->pid, "State", state, sizeof(state));
	if (library < 0 && (!state[0] || state[0] == 'Z' || state[0] == 'X'))
		return inject_end(result, INJECT_GONE, "'%d' has ended", (int)q->pid);
	if (library < 0)
		return inject_end(result, INJECT_REFUSED,
				  "'%d' cannot reach the library '%.200s': %s", (int)q->pid,
				  q->library, strerror(error));
	snprintf(path, sizeof(path), "%.*s", (int)(strrchr(q->library, '/') - q->library + 1),
		 q->library);
	folder = place_open_inside(q->pid, path, O_PATH | O_DIRECTORY);
	status_field(q->pid, q->pid, "Uid", uid, sizeof(uid));
	open = is_open_to_others(library, folder, (uid_t)atoi(uid));
	close(library);
	if (folder >= 0)
		close(folder);
	if (open)
		return inject_end(
			result, INJECT_REFUSED,
			"the library '%.200s' could come from another user: it must belong to "
			"root, tftop's or the program's user, in a folder that not everybody can "
			"write to",
			q->library);
	return true;
}

static bool request_fits(const struct inject_request *q, struct target *t,
			 struct inject_result *result)
{
	*result = (struct inject_result){ .outcome = INJECT_REFUSED };
	if (!target_open(t, q->pid, result->why, sizeof(result->why)))
		return false;
	if (q->argument && strlen(q->argument) >= INJECT_ARGUMENT_MAX)
		return inject_end(result, INJECT_REFUSED,
				  "the argument has %zu bytes, and at most %d are possible",
				  strlen(q->argument), INJECT_ARGUMENT_MAX - 1);
	return library_fits(q, result);
}

#ifdef __x86_64__

/* ---- one thread of the target ---- */

struct inject_job {
	const struct inject_request *q;
	const struct target *t;
	struct inject_result *result;
	struct thread_candidate thread;
	int64_t find_until;
	const char *unsafe;	/* why the last stop could not be used */
	bool over;		/* the result is final */
};

static bool inject_over(struct inject_job *job, enum hold hold, const char *during)
{
	struct inject_result *r = job->result;
	int pid = (int)job->q->pid;
	char filter[16];

	job->over = true;
	if (hold == HOLD_LATE) {
		status_field(job->q->pid, job->q->pid, "Seccomp", filter, sizeof(filter));
		return inject_end(
			r, INJECT_LEFT,
			"thread %d of '%d' did not return from %s in time (another thread may hold "
			"the dynamic linker's lock%s); tftop has detached, and the thread "
			"continues its own work after the call",
			(int)r->tid, pid, during,
			atoi(filter) == 2 ? ", or its seccomp filter refuses tgkill" : "");
	}
	if (hold == HOLD_GONE)
		return inject_end(r, INJECT_GONE,
				  "'%d' ended, or ran another program (exec), during %s",
				  pid, during);
	return inject_end(r, INJECT_FAILED, "cannot call %s in '%d': %s", during, pid,
		   strerror(errno));
}

/* dlerror()'s text, if there is one. */
static bool not_loaded(struct inject_job *job, struct tracee *e, int64_t until)
{
	char text[400] = "dlopen() gives no reason";
	uint64_t at = 0;

	if (job->t->dlerror && job->t->dlopen_mode == 2 &&
	    tracee_call(e, job->t->dlerror, NULL, 0, until, &at) == HOLD_DONE && at) {
		size_t i = 0;

		while (i + 1 < sizeof(text) && target_read(job->t, at + i, &text[i], 1) && text[i])
			i++;
		text[i] = '\0';
	}
	job->over = true;
	return inject_end(job->result, INJECT_FAILED, "'%d' could not load the library: %s",
			  (int)job->q->pid, text);
}

/* ms: 0 for the usual time, which is longer where many tasks want the processors. */
static int64_t deadline_after(int ms)
{
	return monotonic_ns() + (ms > 0 ? ms * 1000000ll : process_patience(DEFAULT_NS));
}

/* Makes both calls, at a safe moment. */
static bool inject_library(struct inject_job *job, struct tracee *e)
{
	const struct inject_request *q = job->q;
	int64_t until = deadline_after(q->call_ms);
	uint64_t handle = 0, entry, status = 0;
	enum hold hold;

	hold = tracee_call(e, job->t->dlopen, q->library, job->t->dlopen_mode, until, &handle);
	if (hold == HOLD_DENIED && !e->away) {
		job->unsafe = "its stack cannot be written";
		return false;
	}
	job->result->tid = e->tid;
	if (hold != HOLD_DONE)
		return inject_over(job, hold, "dlopen()");
	if (!handle)
		return not_loaded(job, e, until);
	entry = target_symbol_of(job->t, handle, INJECT_ENTRY);
	job->over = true;
	if (!entry)
		return inject_end(job->result, INJECT_FAILED,
				  "'%.200s' was loaded but has no function '" INJECT_ENTRY
				  "': it is not one of tftop's libraries",
				  q->library);
	hold = tracee_call(e, entry, q->argument ? q->argument : "", 0, until, &status);
	if (hold != HOLD_DONE)
		return inject_over(job, hold, INJECT_ENTRY "()");
	if ((int)status == EBUSY)
		return inject_end(job->result, INJECT_BUSY,
				  "an earlier tftop's probes are still being loaded into '%d': try "
				  "again", (int)q->pid);
	if ((int)status)
		return inject_end(job->result, INJECT_FAILED,
				  "the library was loaded into '%d' but could not start: %s",
				  (int)q->pid, strerror((int)status));
	return inject_end(job->result, INJECT_DONE, "%s", "");
}

/* One stop of the thread; true: the job is done. */
static bool inject_try_once(struct inject_job *job, struct tracee *e)
{
	struct moment m;
	enum hold hold;

	job->result->tries++;
	hold = tracee_stop(e, monotonic_ns() + STOP_MS * 1000000ll);
	if (hold != HOLD_DONE) {
		job->unsafe = "it cannot be stopped";
		return true;
	}
	tracee_moment(e, &m);
	job->unsafe = (e->regs.cs & 0xffff) != 0x33 ? "it was running 32-bit code" :
		      tracee_restartable(e) ? "it was in a restartable sequence" :
		      moment_unsafe(job->t, &job->thread, &m, tracee_room());
	if (!job->unsafe) {
		inject_library(job, e);
		return true;
	}
	job->thread.sp = m.sp;
	return false;
}

static void note_stopped(struct inject_job *job, const struct tracee *e)
{
	int64_t stopped = monotonic_ns() - e->since_ns;

	if (stopped > job->result->stopped_ns)
		job->result->stopped_ns = stopped;
}

/* Runs on its own thread, whose end releases everything that it traces. */
static void *inject_thread(void *data)
{
	struct inject_job *job = data;
	struct tracee *e = malloc(sizeof(*e));
	int stops = job->thread.rank == RANK_RUNNING ? STOPS_RUNNING : STOPS_WAITING;
	unsigned seed = (unsigned)monotonic_ns();
	struct hurry hurry;
	enum hold hold;

	if (!e) {
		job->unsafe = "tftop is out of memory";
		return NULL;
	}
	hurry_begin(&hurry, job->thread.tid);
	if (job->thread.sp)
		candidate_stack(job->t, &job->thread, job->thread.sp);
	hold = tracee_take(e, job->t, job->thread.tid);
	if (hold == HOLD_DENIED) {
		job->over = true;
		inject_end(job->result, INJECT_REFUSED,
			   "cannot trace '%d': %s; a debugger is attached, or the system does not "
			   "allow it",
			   (int)job->q->pid, strerror(errno));
	}
	for (int i = 0; i < stops && hold == HOLD_DONE && monotonic_ns() < job->find_until; i++) {
		if (inject_try_once(job, e))
			break;
		tracee_continue(e);
		note_stopped(job, e);
		if (job->thread.sp - job->thread.stack.start >=
		    job->thread.stack.end - job->thread.stack.start)
			candidate_stack(job->t, &job->thread, job->thread.sp);
		/* at irregular times, or a loop would be stopped at the same place each time */
		nanosleep(&(struct timespec){ .tv_nsec = 20000 + rand_r(&seed) % 200000 }, NULL);
	}
	if (hold == HOLD_DONE) {
		tracee_release(e);
		note_stopped(job, e);
	}
	hurry_end(&hurry);
	free(e);
	return NULL;
}

/* ---- the search ---- */

static bool inject_on_thread(struct inject_job *job)
{
	int error = tracee_thread(inject_thread, job);

	if (error) {
		job->over = true;
		return inject_end(job->result, INJECT_NO_MOMENT, "tftop cannot create a thread: %s",
			   strerror(error));
	}
	return job->over;
}

static bool inject_search(const struct inject_request *q, const struct target *t,
			  struct inject_result *result)
{
	struct thread_candidate list[CANDIDATES_MAX];
	struct inject_job job = {
		.q = q, .t = t, .result = result, .unsafe = "it has no running thread"
	};
	char tracer[32];

	job.find_until = deadline_after(q->find_ms);
	do {
		size_t count = candidates_find(t, list);

		status_field(q->pid, q->pid, "TracerPid", tracer, sizeof(tracer));
		if (!count || !tracer[0])
			return inject_end(result, INJECT_GONE, "'%d' has ended", (int)q->pid);
		for (size_t i = 0; i < count && monotonic_ns() < job.find_until; i++) {
			job.thread = list[i];
			if (inject_on_thread(&job))
				return result->outcome == INJECT_DONE;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	} while (monotonic_ns() < job.find_until);
	return inject_end(result, INJECT_NO_MOMENT,
			  "no thread of '%d' was at a safe place at any of %u stops (the last time "
			  "%s); nothing was changed, try again",
			  (int)q->pid, result->tries, job.unsafe ? job.unsafe : "none");
}

#else

static bool inject_search(const struct inject_request *q, const struct target *t,
			  struct inject_result *result)
{
	return inject_end(result, INJECT_REFUSED, "attaching works on x86-64 only");
}

#endif

bool inject_load(const struct inject_request *request, struct inject_result *result)
{
	struct target t;
	bool done = false;

	if (request_fits(request, &t, result))
		done = inject_search(request, &t, result);
	target_close(&t);
	return done;
}
