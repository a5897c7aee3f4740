/* SPDX-License-Identifier: MIT */
/* See code.h. Sources: ptrace(2); proc(5), /proc/PID/mem. */
#include "probes/attach/code.h"

#include <stdio.h>
#include <string.h>

#ifdef __x86_64__

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/attach/call.h"
#include "probes/attach/thread.h"
#include "probes/process/process.h"

#define FIND_NS INT64_C(2000000000)
#define BACK_NS INT64_C(1000000000)	/* how long the probes may take to set their level to off */
/* how long a thread that was not stopped in time is waited for */
#define LEAVE_NS INT64_C(200000000)
#define IDLE_MAX 65536u
#define STACK_LOOK 16384u	/* bytes; a signal's frame is 3 KB with all vector registers */
#define E_RESTARTNOHAND 514	/* from the kernel's linux/errno.h */

struct stopped_thread {
	pid_t tid;
	bool stopped, gone;
	bool group;		/* it is stopped with the whole program, by SIGSTOP or another */
	struct user_regs_struct regs;
};

struct code_job {
	pid_t pid;
	struct target target;	/* only its memory is used */
	const struct report *report;	/* NULL: the code is being restored */
	const struct stage_codes *codes;
	struct code_result *result;
	struct stopped_thread *threads;	/* CODE_THREADS_MAX */
	size_t count;
	bool over;		/* it must not be tried again */
};

static bool code_refused(struct code_job *job, const char *why)
{
	snprintf(job->result->why, sizeof(job->result->why), "%s", why);
	return false;
}

static bool code_refused_for_good(struct code_job *job, const char *why)
{
	job->over = true;
	return code_refused(job, why);
}

/* ---- all threads ---- */

static bool is_known(const struct code_job *job, pid_t tid)
{
	for (size_t i = 0; i < job->count; i++)
		if (job->threads[i].tid == tid)
			return true;
	return false;
}

/* False: refused. A thread that is ending counts as none. */
static bool seize_thread(struct code_job *job, pid_t tid)
{
	char state[16];

	if (job->count == CODE_THREADS_MAX)
		return code_refused_for_good(job, "it has more than 1024 threads");
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0) {
		status_field(job->pid, tid, "State", state, sizeof(state));
		return !state[0] || strchr("ZX", state[0]) ? true :
			code_refused_for_good(job, "one of its threads cannot be traced");
	}
	job->threads[job->count++] = (struct stopped_thread){
		.tid = tid, .gone = ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0,
	};
	return true;
}

static bool seize_new_threads(struct code_job *job)
{
	char path[64];
	struct dirent *entry;
	bool good = true;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)job->pid);
	tasks = opendir(path);
	if (!tasks)
		return code_refused_for_good(job, "it has ended");
	while (good && (entry = readdir(tasks))) {
		pid_t tid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (tid > 0 && !is_known(job, tid))
			good = seize_thread(job, tid);
	}
	closedir(tasks);
	return good;
}

/* Reads where the thread stopped. A system call that only this stop interrupted is changed at once,
 * because tftop may be killed: the kernel repeats it, unless a handler runs. After a stop of the
 * whole program the call fails without tftop too. */
static bool note_stop(struct stopped_thread *t)
{
	if (ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) != 0)
		return false;
	if (t->group || (int64_t)t->regs.rax != -EINTR || !call_breaks((int64_t)t->regs.orig_rax))
		return true;
	t->regs.rax = (uint64_t)-E_RESTARTNOHAND;
	return ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs) == 0;
}

/* false: the thread did not stop in time, or the whole program is being stopped. */
static bool wait_stopped(struct stopped_thread *t, int64_t deadline)
{
	int status, signal;
	pid_t got;

	while (!t->stopped && !t->gone) {
		while ((got = waitpid(t->tid, &status, __WALL | WNOHANG)) == 0) {
			if (monotonic_ns() > deadline)
				return false;
			nanosleep(&(struct timespec){ .tv_nsec = 10000 }, NULL);
		}
		t->gone = got < 0 || !WIFSTOPPED(status);
		if (t->gone)
			break;
		signal = WSTOPSIG(status);
		if (!(status >> 16)) {	/* a signal that was on its way */
			ptrace(PTRACE_CONT, t->tid, 0, (void *)(intptr_t)signal);
			continue;
		}
		t->group = signal != SIGTRAP;
		t->stopped = note_stop(t);
		t->gone = !t->stopped;
	}
	return !t->group;
}

/* Also stops threads that are created before all are stopped. */
static bool stop_all(struct code_job *job, int64_t deadline)
{
	size_t before;

	do {
		before = job->count;
		if (!seize_new_threads(job))
			return false;
		for (size_t i = 0; i < job->count; i++)
			if (!wait_stopped(&job->threads[i], deadline))
				return code_refused(job, job->threads[i].group ?
					"the program is stopped" :
					"its threads could not all be stopped within 40 ms");
	} while (job->count != before);
	return true;
}

static void detach_thread(struct stopped_thread *t)
{
	ptrace(PTRACE_DETACH, t->tid, 0, 0);
	t->stopped = false;
	t->gone = true;
}

/* A thread that cannot be stopped even then, because it waits in the kernel, stays in the list for
 * the next try. The end of this tracing thread releases it. */
static void detach_all(struct code_job *job)
{
	int64_t deadline;
	size_t kept = 0;

	for (size_t i = 0; i < job->count; i++)
		if (job->threads[i].stopped)
			detach_thread(&job->threads[i]);
	deadline = monotonic_ns() + LEAVE_NS;
	for (size_t i = 0; i < job->count; i++) {
		struct stopped_thread *t = &job->threads[i];

		if (!t->gone && (wait_stopped(t, deadline) || t->stopped))
			detach_thread(t);
		if (!t->gone)
			job->threads[kept++] = *t;
	}
	job->count = kept;
}

/* ---- the code ---- */

/* Whether the request is valid, and concerns code in private mappings of this process. */
static bool is_code(const struct code_job *job, const struct tft_code *c)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long start, end;
	char line[1024], rights[8];
	bool good = false;
	FILE *maps;

	if (!c->length || c->length > TFT_CODE_BYTES || c->idle < c->length || c->idle > IDLE_MAX ||
	    c->at % page + c->length > page)
		return false;
	maps = target_file(job->pid, "maps");
	while (maps && !good && fgets(line, sizeof(line), maps))
		good = sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 && c->at >= start &&
		       c->at < end && rights[2] == 'x' && rights[3] == 'p';
	if (maps)
		fclose(maps);
	return good;
}

static bool are_code(struct code_job *job)
{
	const struct stage_codes *c = job->codes;

	if (c->count > TFT_CODES_MAX)
		return false;
	for (uint32_t i = 0; i < c->count; i++)
		if (!is_code(job, &c->code[i]))
			return false;
	return true;
}

static bool is_back(const struct code_job *job)
{
	return !job->report;
}

/* Whether an address is within the bytes, but not their first one, where the function begins. */
static bool is_within(uint64_t address, const struct tft_code *c, uint32_t bytes)
{
	return address - c->at - 1 < bytes - 1;
}

/* Whether the thread is outside of all pieces, no signal handler returns into one, and no function
 * returns to where no thread may be. When the code is restored, the rest of the function does not
 * matter. */
static bool is_idle(const struct code_job *job, const struct stopped_thread *t)
{
	const struct stage_codes *c = job->codes;
	uint64_t words[STACK_LOOK / sizeof(uint64_t)];
	ssize_t got;

	got = pread(job->target.memory, words, sizeof(words), (off_t)(t->regs.rsp & ~7ull));
	if (got <= 0)
		return false;
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t idle = is_back(job) ? c->code[i].length : c->code[i].idle;

		if (is_within(t->regs.rip, &c->code[i], idle))
			return false;
		for (ssize_t k = 0; k < got / (ssize_t)sizeof(words[0]); k++)
			if (is_within(words[k], &c->code[i], idle))
				return false;
	}
	return true;
}

static bool all_idle(struct code_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		if (!job->threads[i].gone && !is_idle(job, &job->threads[i]))
			return code_refused(job, "at each try a thread was in that code");
	return true;
}

/* What the memory must hold now, and what it will hold. */
static const uint8_t *old_of(const struct code_job *job, const struct tft_code *c)
{
	return is_back(job) ? c->after : c->before;
}

static const uint8_t *new_of(const struct code_job *job, const struct tft_code *c)
{
	return is_back(job) ? c->before : c->after;
}

enum piece_state { PIECE_OLD, PIECE_NEW, PIECE_OTHER };

/* A tftop that was killed while it wrote has left some pieces new and the others old. */
static enum piece_state piece_state(const struct code_job *job, const struct tft_code *c)
{
	uint8_t now[TFT_CODE_BYTES];

	if (!target_read(&job->target, c->at, now, c->length))
		return PIECE_OTHER;
	return !memcmp(now, new_of(job, c), c->length) ? PIECE_NEW :
	       !memcmp(now, old_of(job, c), c->length) ? PIECE_OLD : PIECE_OTHER;
}

static bool is_done(const struct code_job *job)
{
	const struct stage_codes *c = job->codes;

	for (uint32_t i = 0; i < c->count; i++)
		if (piece_state(job, &c->code[i]) != PIECE_NEW)
			return false;
	return true;
}

static bool as_said(struct code_job *job)
{
	const struct stage_codes *c = job->codes;
	int32_t value;

	if (c->only.at && (!target_read(&job->target, c->only.at, &value, sizeof(value)) ||
			   value != c->only.value))
		return is_back(job) ?
			       code_refused(job, "the code is in use") :
			       code_refused_for_good(job, "the code is in use in another way");
	for (uint32_t i = 0; i < c->count; i++)
		if (piece_state(job, &c->code[i]) == PIECE_OTHER)
			return code_refused_for_good(
				job, is_back(job) ? "something else has replaced the code" :
						    "the code differs from the library's file");
	return true;
}

/* Pieces are restored in the reverse order, so that if tftop is killed in between it is always the
 * first of them that are replaced. */
static const struct tft_code *piece(const struct code_job *job, uint32_t i)
{
	return &job->codes->code[is_back(job) ? job->codes->count - 1 - i : i];
}

static void unwrite_codes(struct code_job *job)
{
	for (uint32_t i = job->codes->count; i-- > 0;) {
		const struct tft_code *c = piece(job, i);

		if (piece_state(job, c) == PIECE_NEW)
			target_write(&job->target, c->at, old_of(job, c), c->length);
	}
}

static bool write_codes(struct code_job *job)
{
	for (uint32_t i = 0; i < job->codes->count; i++) {
		const struct tft_code *c = piece(job, i);

		if (piece_state(job, c) == PIECE_NEW ||
		    target_write(&job->target, c->at, new_of(job, c), c->length))
			continue;
		unwrite_codes(job);
		return code_refused_for_good(job, "this system does not allow writing to the code");
	}
	return true;
}

/* All threads are stopped, the stage's too: it withdraws before this or not at all. */
static bool change_codes(struct code_job *job)
{
	struct stage_report now;

	if (is_back(job))
		return is_done(job) || (all_idle(job) && as_said(job) && write_codes(job));
	if (!report_read(job->report, &now) || now.codes.state != STAGE_CODES_ASKED)
		return code_refused_for_good(job, "the program no longer waits for it");
	if (!is_done(job) && !(all_idle(job) && as_said(job) && write_codes(job)))
		return false;
	if (report_answer(job->report, STAGE_CODES_REPLACED, ""))
		return true;
	unwrite_codes(job);
	return code_refused_for_good(job, "the program could not be told");
}

/* ---- tries ---- */

static bool has_ended(const struct code_job *job)
{
	char state[16];

	status_field(job->pid, job->pid, "State", state, sizeof(state));
	return !state[0] || strchr("ZX", state[0]);
}

static bool code_try_once(struct code_job *job)
{
	int64_t since = monotonic_ns(), stopped;
	bool done;

	job->result->tries++;
	done = stop_all(job, since + CODE_STOP_MS * 1000000ll) && change_codes(job);
	detach_all(job);
	if (!done && has_ended(job))
		code_refused_for_good(job, "it has ended");
	stopped = monotonic_ns() - since;
	if (stopped > job->result->stopped_ns)
		job->result->stopped_ns = stopped;
	return done;
}

/* Runs on its own thread, whose end releases everything that it traces. */
static void *code_thread(void *data)
{
	struct code_job *job = data;
	int64_t until = monotonic_ns() + (is_back(job) ? BACK_NS : FIND_NS);
	unsigned seed = (unsigned)until;

	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, -15);
	while (!job->over && monotonic_ns() < until) {
		job->result->replaced = code_try_once(job);
		if (job->result->replaced) {
			job->result->why[0] = '\0';	/* of an earlier try */
			break;
		}
		/* at irregular times, or a loop would be stopped at the same place each time */
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 + rand_r(&seed) % 20000000 },
			  NULL);
	}
	return NULL;
}

static void run_code_job(struct code_job *job)
{
	*job->result = (struct code_result){ .tries = 0 };
	job->target = (struct target){
		.pid = job->pid, .memory = process_open_file(job->pid, "mem", O_RDWR),
	};
	job->threads = calloc(CODE_THREADS_MAX, sizeof(*job->threads));
	if (job->target.memory < 0 || !job->threads)
		code_refused(job, "its memory cannot be opened");
	else if (!are_code(job))
		code_refused(job, "the addresses are not private code of the program");
	else if (tracee_thread(code_thread, job) != 0)
		code_refused(job, "tftop cannot create a thread");
	free(job->threads);
	if (job->target.memory >= 0)
		close(job->target.memory);
}

bool code_replace(pid_t pid, const struct report *report, const struct stage_codes *codes,
		  struct code_result *result)
{
	struct code_job job = { .pid = pid, .report = report, .codes = codes, .result = result };

	run_code_job(&job);
	if (!result->replaced)
		report_answer(report, STAGE_CODES_REFUSED, result->why);
	return result->replaced;
}

bool code_put_back(pid_t pid, const struct stage_codes *codes, struct code_result *result)
{
	struct code_job job = { .pid = pid, .codes = codes, .result = result };

	run_code_job(&job);
	return result->replaced;
}

#else

bool code_replace(pid_t pid, const struct report *report, const struct stage_codes *codes,
		  struct code_result *result)
{
	(void)pid;
	(void)codes;
	*result = (struct code_result){ .why = "replacing code works on x86-64 only" };
	report_answer(report, STAGE_CODES_REFUSED, result->why);
	return false;
}

bool code_put_back(pid_t pid, const struct stage_codes *codes, struct code_result *result)
{
	(void)pid;
	(void)codes;
	*result = (struct code_result){ .why = "replacing code works on x86-64 only" };
	return false;
}

#endif
