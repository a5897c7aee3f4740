/* SPDX-License-Identifier: MIT */
/* See stage.h. The program calls nothing of this; the injector calls the entry. */
#include "probes/attach/stage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probes/attach/inject.h"
#include "probes/schema/attach.h"

#define STACK_SIZE (1u << 20)	/* constructors of the probes run on it */
#define SWAPS 8
#define ANSWER_MS 8000		/* how long tftop may take to answer a request */
#define FORK_WAIT_S 1
#define EXIT_WAIT_MS 1000
#define LATER_MAX 64	/* maximum number of variables that others add during a swap */

extern char **environ;

__attribute__((visibility("default"))) int tftop_injected(const char *argument);

/* The process in which a stage works; a forked child is another process. */
static pid_t busy;

/*
 * A fork waits while the stage loads libraries, because the child would inherit the dynamic
 * linker's lock, held by a thread that the child does not have. It waits for a second at most.
 */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static pthread_t forking;
static bool fork_holds;		/* the fork holds `loading` */

static void before_fork(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += FORK_WAIT_S;
	if (pthread_mutex_clocklock(&loading, CLOCK_MONOTONIC, &until))
		return;
	__atomic_store_n(&forking, pthread_self(), __ATOMIC_RELAXED);
	__atomic_store_n(&fork_holds, true, __ATOMIC_RELEASE);
}

/* In the parent and in the child. */
static void after_fork(void)
{
	if (!__atomic_load_n(&fork_holds, __ATOMIC_ACQUIRE) ||
	    !pthread_equal(__atomic_load_n(&forking, __ATOMIC_RELAXED), pthread_self()))
		return;
	__atomic_store_n(&fork_holds, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&loading);
}

/*
 * exit() runs all destructors and forgets that the constructors have run. A library that is loaded
 * after that runs the constructors of its dependencies again, and LTTng's abort then. So exit()
 * waits, a second at most, for the library that is being loaded, and no other one is begun.
 */
static bool leaving;

static void before_exit(void)
{
	__atomic_store_n(&leaving, true, __ATOMIC_SEQ_CST);
	for (int i = 0; i < EXIT_WAIT_MS && __atomic_load_n(&busy, __ATOMIC_SEQ_CST) == getpid();
	     i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static bool is_leaving(void)
{
	return __atomic_load_n(&leaving, __ATOMIC_SEQ_CST);
}

static void watch_program(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
	if (atexit(before_exit) != 0)	/* also fails if it is too late for that */
		__atomic_store_n(&leaving, true, __ATOMIC_SEQ_CST);
}

static void *open_library(const char *path, int flags)
{
	void *library;

	pthread_mutex_lock(&loading);
	library = is_leaving() ? NULL : dlopen(path, flags);
	pthread_mutex_unlock(&loading);
	return library;
}

static void *symbol(void *library, const char *name)
{
	void *at;

	pthread_mutex_lock(&loading);
	at = dlsym(library, name);
	pthread_mutex_unlock(&loading);
	return at;
}

/* ---- the environment ---- */

static size_t name_length(const char *line)
{
	return strcspn(line, "=");
}

static bool same_name(const char *a, const char *b)
{
	size_t length = name_length(a);

	return length == name_length(b) && strncmp(a, b, length) == 0;
}

static size_t entries(char **list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Whether environ has this line, or, if it is a name alone, no such name. */
static bool environment_has(const char *line)
{
	for (char **e = environ; e && *e; e++)
		if (same_name(*e, line))
			return strcmp(*e, line) == 0;
	return !strchr(line, '=');
}

/* Waits until every thread that is inside setenv() or unsetenv() has left: it takes their lock, and
 * the name does not exist. */
static void environment_barrier(void)
{
	unsetenv("TFTOP_ATTACH_NOTHING");
}

static char **slot_of(char **list, const char *line)
{
	for (; list && *list; list++)
		if (same_name(*list, line))
			return list;
	return NULL;
}

static bool holds(char *const *list, const char *entry)
{
	for (; *list; list++)
		if (*list == entry)
			return true;
	return false;
}

static bool environment_swap(const char *line);

/* Copies what was changed in the old array after it was read, by comparing its entries. A change
 * that the program has made in the new array meanwhile is more recent and is kept. */
static void carry_over_changes(char **then, char **now, const char *line)
{
	for (char **e = now; *e; e++) {
		char **slot = slot_of(environ, *e);

		if (holds(then, *e) || same_name(*e, line))
			continue;
		if (!slot)
			environment_swap(*e);
		else if (holds(then, *slot))
			__atomic_store_n(slot, *e, __ATOMIC_RELEASE);
	}
	for (char **e = then; *e; e++) {
		char **slot = slot_of(environ, *e), *name;

		if (slot_of(now, *e) || !slot || *slot != *e)
			continue;
		name = strndup(*e, name_length(*e));
		if (name)
			environment_swap(name);
		free(name);
	}
}

/* A thread may have read `environ` before the swap, and have written to the old array since. */
static void follow_up(char **next, char **old, char **seen, size_t n, const char *line)
{
	char **now = calloc(n + LATER_MAX + 1, sizeof(*now));

	environment_barrier();
	for (size_t i = 0; now && i < n + LATER_MAX && environ == next && old[i]; i++)
		now[i] = old[i];
	/* otherwise the program has made another array from it, with its changes, and may free the
	 * old one */
	environment_barrier();
	if (now && __atomic_load_n(&environ, __ATOMIC_ACQUIRE) == next)
		carry_over_changes(seen, now, line);
	free(now);
}

/* Makes a new environment in which this line replaces the variable of its name; a name alone
 * removes the variable. The old array is kept: a thread may be reading it. */
static bool environment_swap(const char *line)
{
	for (int i = 0; i < SWAPS; i++) {
		char **now = __atomic_load_n(&environ, __ATOMIC_ACQUIRE), **old = now, **next;
		size_t n = entries(now), used = 0;
		char **seen = calloc(n + 1, sizeof(*seen));
		bool swapped;

		next = calloc(n + 2, sizeof(*next));
		for (size_t k = 0; seen && next && k < n && now[k]; k++) {
			seen[k] = now[k];
			if (!same_name(seen[k], line))
				next[used++] = seen[k];
		}
		if (next && strchr(line, '='))
			next[used++] = (char *)line;
		swapped = seen && next &&
			  __atomic_compare_exchange_n(&environ, &now, next, false, __ATOMIC_ACQ_REL,
						      __ATOMIC_RELAXED);
		if (swapped && old)
			follow_up(next, old, seen, n, line);
		else if (!swapped)
			free(next);
		free(seen);
		if (swapped && environment_has(line))
			return true;
	}
	return false;
}

/* ---- the argument ---- */

struct work {
	char *text;		/* the argument; lines that became part of the environment stay */
	struct stage_report *report;
	const char *lent[64];
	const char *before[64];	/* the previous setting, or only the name */
	size_t lents;
	const char *load[STAGE_LOADS_MAX];
	size_t loads;
};

static void copy_text(char *to, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(to, text, length);
	to[length] = '\0';
}

static void set_state(uint32_t *state, uint32_t value)
{
	__atomic_store_n(state, value, __ATOMIC_RELEASE);
}

static struct stage_report *map_report(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	struct stage_report *r = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(*r))
		r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (r == MAP_FAILED)
		return NULL;
	if (r->magic == STAGE_MAGIC)
		return r;
	munmap(r, sizeof(*r));
	return NULL;
}

static const char *environment_entry(const char *line)
{
	for (char **e = environ; e && *e; e++)
		if (same_name(*e, line))
			return *e;
	return NULL;
}

static bool lend_variable(struct work *w, char *line)
{
	const char *before = environment_entry(line);

	if (w->lents == sizeof(w->lent) / sizeof(w->lent[0]))
		return false;
	w->before[w->lents] = before;
	w->lent[w->lents] = line;
	if (!environment_swap(line))
		return false;
	w->lents++;
	return true;
}

/* Restores a variable only if it still has the lent value. */
static void give_back_variables(struct work *w)
{
	for (size_t i = w->lents; i-- > 0;) {
		char *line = strdup(w->lent[i]);

		if (!line)
			return;
		line[name_length(line)] = '\0';
		if (environment_has(w->lent[i]))
			environment_swap(w->before[i] ? w->before[i] : line);
	}
}

/* Returns VALUE of a line such as "set NAME=VALUE" if it starts with this verb. */
static char *after(char *line, const char *verb)
{
	size_t length = strlen(verb);

	return strncmp(line, verb, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static bool obey_line(struct work *w, char *line)
{
	char *rest;

	if ((rest = after(line, "set")) && strchr(rest, '='))
		return environment_swap(rest);
	if ((rest = after(line, "lend")) && strchr(rest, '='))
		return lend_variable(w, rest);
	if ((rest = after(line, "load")) && *rest == '/' && w->loads < STAGE_LOADS_MAX) {
		w->load[w->loads++] = rest;
		return true;
	}
	return false;
}

/* Checks all lines before any is obeyed: with a bad argument nothing is done. */
static bool all_fit(struct work *w)
{
	const char *line = strchr(w->text, '\n');
	size_t loads = 0;

	for (; line && *++line; line = strchr(line, '\n')) {
		size_t length = strcspn(line, "\n");
		bool variable = !strncmp(line, "set ", 4) || !strncmp(line, "lend ", 5);

		if (!length)
			continue;
		if (variable ? memchr(line, '=', length) != NULL :
		    !strncmp(line, "load /", 6) && ++loads <= STAGE_LOADS_MAX)
			continue;
		copy_text(w->report->text, sizeof(w->report->text), line);
		if (length < sizeof(w->report->text))
			w->report->text[length] = '\0';
		return false;
	}
	return true;
}

static bool obey_argument(struct work *w)
{
	char *save, *line;

	if (!all_fit(w))
		return false;
	/* the first line names the report; the entry has read it */
	strtok_r(w->text, "\n", &save);
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (obey_line(w, line))
			continue;
		copy_text(w->report->text, sizeof(w->report->text), line);
		return false;
	}
	w->report->loads = (uint32_t)w->loads;
	return true;
}

/* ---- the thread ---- */

/* The reason that a library with the runtime gives for the result of its last attach. */
static void say_why(void *library, char *text, size_t size)
{
	const char *(*why)(void) = (const char *(*)(void))symbol(library, STAGE_WHY_ENTRY);

	if (why)
		copy_text(text, size, why());
}

/* Tells the runtime of probes that an earlier tftop has loaded about this tftop. */
static void tell_runtime(struct stage_report *r)
{
	void *runtime = open_library(STAGE_RUNTIME, RTLD_LAZY | RTLD_NOLOAD);
	int (*attach)(void) = runtime ? (int (*)(void))symbol(runtime, STAGE_RUNTIME_ENTRY) : NULL;

	r->text[0] = '\0';
	if (attach && attach() < 0)
		say_why(runtime, r->text, sizeof(r->text));
	if (runtime) {
		pthread_mutex_lock(&loading);
		dlclose(runtime);
		pthread_mutex_unlock(&loading);
	}
}

/* The thread that works, and its report. */
static pthread_t worker;
static struct stage_report *asking;

static const char *replace_code(const struct tft_code *codes, size_t count,
				const struct tft_code_if *only)
{
	struct stage_codes *c;
	uint32_t asked = STAGE_CODES_ASKED;

	if (!asking || !pthread_equal(worker, pthread_self()))
		return "another thread is doing that just now";
	if (count > TFT_CODES_MAX)
		return "it is too much code to replace";
	c = &asking->codes;
	memcpy(c->code, codes, count * sizeof(*codes));
	c->count = (uint32_t)count;
	c->only = *only;
	set_state(&c->state, asked);
	for (int i = 0; i < ANSWER_MS &&
	     __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == STAGE_CODES_ASKED; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (__atomic_compare_exchange_n(&c->state, &asked, STAGE_CODES_WITHDRAWN, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return "tftop did not answer";
	return asked == STAGE_CODES_REPLACED ? NULL : c->why;
}

/* Uses a probe that an earlier tftop has loaded, even if its files have another path now. */
static void *open_probe(const char *path)
{
	void *library = open_library(strrchr(path, '/') + 1, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	return library ? library : open_library(path, RTLD_NOW | RTLD_LOCAL);
}

static void load_one(const char *path, struct stage_load *load)
{
	void (*replacer)(tft_replace_code *replace);
	int (*attach)(void);
	void *library;

	set_state(&load->state, STAGE_LOADING);
	library = open_probe(path);
	if (!library) {
		const char *error = dlerror();

		copy_text(load->text, sizeof(load->text),
			  error ? error : "dlopen() gives no reason");
		set_state(&load->state, STAGE_NOT_LOADED);
		return;
	}
	attach = (int (*)(void))symbol(library, STAGE_PROBE_ENTRY);
	if (!attach || is_leaving()) {
		set_state(&load->state, STAGE_LOADED);
		return;
	}
	set_state(&load->state, STAGE_ATTACHING);
	replacer = (void (*)(tft_replace_code *))symbol(library, STAGE_REPLACER_ENTRY);
	if (replacer)
		replacer(replace_code);
	load->result = attach();
	if (load->result != TFT_ATTACHED)
		say_why(library, load->text, sizeof(load->text));
	set_state(&load->state, STAGE_ATTACHED);
}

static void *stage_thread(void *data)
{
	struct work *w = data;
	struct stage_report *r = w->report;
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_program);
	r->pid = (int32_t)getpid();
	if (!obey_argument(w)) {
		give_back_variables(w);
		set_state(&r->state, STAGE_BAD_ARGUMENT);
	} else {
		set_state(&r->state, STAGE_RUNS);
		worker = pthread_self();
		asking = r;
		tell_runtime(r);
		for (size_t i = 0; i < w->loads && !is_leaving(); i++)
			load_one(w->load[i], &r->load[i]);
		tell_runtime(r);	/* and whether LTTng reaches tftop from here */
		if (is_leaving())
			copy_text(r->text, sizeof(r->text), "the program is ending");
		give_back_variables(w);
		asking = NULL;
		set_state(&r->state, STAGE_OVER);
	}
	munmap(r, sizeof(*r));
	free(w);	/* not its text: the environment points there */
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	return NULL;
}

static int stage_start_thread(struct work *w)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attributes);
	if (error)
		return error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, stage_thread, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (!error)
		pthread_setname_np(thread, "tftop-attach");
	return error;
}

static int stage_prepare(struct work *w, const char *argument)
{
	char *path, *end;

	w->text = strdup(argument);
	if (!w->text)
		return ENOMEM;
	path = after(w->text, "report");
	end = path ? strchr(path, '\n') : NULL;
	if (!end)
		return EINVAL;
	*end = '\0';
	w->report = map_report(path);
	*end = '\n';
	return w->report ? 0 : EBADF;
}

int tftop_injected(const char *argument)
{
	pid_t idle = __atomic_load_n(&busy, __ATOMIC_ACQUIRE), self = getpid();
	struct work *w;
	int error;

	if (idle == self || !__atomic_compare_exchange_n(&busy, &idle, self, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return EBUSY;
	w = calloc(1, sizeof(*w));
	error = w ? stage_prepare(w, argument) : ENOMEM;
	if (!error)
		error = stage_start_thread(w);
	if (!error)
		return 0;
	if (w) {
		if (w->report)
			munmap(w->report, sizeof(*w->report));
		free(w->text);
	}
	free(w);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	return error;
}
