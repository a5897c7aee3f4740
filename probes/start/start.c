/* SPDX-License-Identifier: MIT */
/*
 * Hooks, and the ways to leave a program: _exit and the exec family. See start.h.
 *
 * libc's own functions call each other without the symbol table, so each member of the family is
 * wrapped by itself; system, popen and posix_spawn need no wrapper, because their children are made
 * by vfork.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/start/internal.h"

#define START_API __attribute__((visibility("default")))

static const struct tft_start_hooks *hooks_now;
static pid_t hooks_pid;

START_API void tft_start_hook(const struct tft_start_hooks *hooks)
{
	__atomic_store_n(&hooks_pid, (pid_t)syscall(SYS_getpid), __ATOMIC_RELAXED);
	__atomic_store_n(&hooks_now, hooks, __ATOMIC_RELEASE);
}

const struct tft_start_hooks *start_hooks(void)
{
	const struct tft_start_hooks *h = __atomic_load_n(&hooks_now, __ATOMIC_ACQUIRE);
	int saved = errno;

	/* a vfork child shares the memory, but not the pid */
	if (h && (pid_t)syscall(SYS_getpid) != __atomic_load_n(&hooks_pid, __ATOMIC_RELAXED))
		h = NULL;
	errno = saved;
	return h;
}

void *start_next(void **cache, const char *name)
{
	void *fn = __atomic_load_n(cache, __ATOMIC_RELAXED);
	int saved = errno;

	if (!fn) {
		fn = dlsym(RTLD_NEXT, name);
		__atomic_store_n(cache, fn, __ATOMIC_RELAXED);
	}
	errno = saved;
	return fn;
}

/* ---- _exit ---- */

static void *next_exit, *next_Exit;

__attribute__((noreturn))
static void leave(void **cache, const char *name, int status)
{
	const struct tft_start_hooks *h = start_hooks();
	void (*next)(int);

	if (h)
		h->leaving(TFT_LEAVING_EXIT, status);
	next = (void (*)(int))start_next(cache, name);
	if (next)
		next(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

START_API void _exit(int status)
{
	leave(&next_exit, "_exit", status);
}

START_API void _Exit(int status)
{
	leave(&next_Exit, "_Exit", status);
}

/* ---- exec ---- */

static void *next_execve, *next_execv, *next_execvp, *next_execvpe, *next_fexecve,
	*next_execveat;

static const struct tft_start_hooks *before_exec(void)
{
	const struct tft_start_hooks *h = start_hooks();

	if (h)
		h->leaving(TFT_LEAVING_EXEC, -1);
	return h;
}

static int after_exec(const struct tft_start_hooks *h, int result)
{
	int saved = errno;

	if (h)
		h->back();
	errno = saved;
	return result;
}

static int no_function(void)
{
	errno = ENOSYS;
	return -1;
}

START_API int execve(const char *path, char *const argv[], char *const envp[])
{
	int (*next)(const char *, char *const [], char *const []) =
		(int (*)(const char *, char *const [], char *const []))
		start_next(&next_execve, "execve");
	const struct tft_start_hooks *h = before_exec();

	return after_exec(h, next ? next(path, argv, envp) : no_function());
}

START_API int execv(const char *path, char *const argv[])
{
	int (*next)(const char *, char *const []) =
		(int (*)(const char *, char *const []))start_next(&next_execv, "execv");
	const struct tft_start_hooks *h = before_exec();

	return after_exec(h, next ? next(path, argv) : no_function());
}

START_API int execvp(const char *file, char *const argv[])
{
	int (*next)(const char *, char *const []) =
		(int (*)(const char *, char *const []))start_next(&next_execvp, "execvp");
	const struct tft_start_hooks *h = before_exec();

	return after_exec(h, next ? next(file, argv) : no_function());
}

START_API int execvpe(const char *file, char *const argv[], char *const envp[])
{
	int (*next)(const char *, char *const [], char *const []) =
		(int (*)(const char *, char *const [], char *const []))
		start_next(&next_execvpe, "execvpe");
	const struct tft_start_hooks *h = before_exec();

	return after_exec(h, next ? next(file, argv, envp) : no_function());
}

START_API int fexecve(int fd, char *const argv[], char *const envp[])
{
	int (*next)(int, char *const [], char *const []) =
		(int (*)(int, char *const [], char *const []))
		start_next(&next_fexecve, "fexecve");
	const struct tft_start_hooks *h = before_exec();

	return after_exec(h, next ? next(fd, argv, envp) : no_function());
}

START_API int execveat(int fd, const char *path, char *const argv[], char *const envp[],
		       int flags)
{
	int (*next)(int, const char *, char *const [], char *const [], int) =
		(int (*)(int, const char *, char *const [], char *const [], int))
		start_next(&next_execveat, "execveat");
	const struct tft_start_hooks *h = before_exec();

	return after_exec(h, next ? next(fd, path, argv, envp, flags) : no_function());
}

/*
 * The variadic forms: the arguments are put into an array on the stack, as libc does itself (exec
 * must work in a vfork child, where malloc must not be called), and passed to the form that takes
 * one.
 */
static ptrdiff_t count_args(va_list ap)
{
	ptrdiff_t n = 1;

	while (va_arg(ap, char *)) {
		if (n++ == INT_MAX - 1) {
			errno = E2BIG;
			return -1;
		}
	}
	return n;
}

/* argv[0] = arg, the rest from ap; room for n + 1 pointers. */
static void fill_args(char **argv, const char *arg, ptrdiff_t n, va_list ap)
{
	argv[0] = (char *)arg;
	for (ptrdiff_t i = 1; i <= n; i++)
		argv[i] = va_arg(ap, char *);
}

/* All arguments up to the NULL; ap is left behind it. */
#define TAKE_ARGS(argv, ap, arg) do { \
	ptrdiff_t n_; \
	va_start(ap, arg); \
	n_ = count_args(ap); \
	va_end(ap); \
	if (n_ < 0) \
		return -1; \
	(argv) = __builtin_alloca(((size_t)n_ + 1) * sizeof(*(argv))); \
	va_start(ap, arg); \
	fill_args(argv, arg, n_, ap); \
} while (0)

START_API int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list ap;

	TAKE_ARGS(argv, ap, arg);
	va_end(ap);
	return execv(path, argv);
}

START_API int execlp(const char *file, const char *arg, ...)
{
	char **argv;
	va_list ap;

	TAKE_ARGS(argv, ap, arg);
	va_end(ap);
	return execvp(file, argv);
}

START_API int execle(const char *path, const char *arg, ...)
{
	char **argv, **envp;
	va_list ap;

	TAKE_ARGS(argv, ap, arg);
	envp = va_arg(ap, char **);
	va_end(ap);
	return execve(path, argv, envp);
}

START_OWN(_exit);
START_OWN(_Exit);
START_OWN(execve);
START_OWN(execv);
START_OWN(execvp);
START_OWN(execvpe);
START_OWN(fexecve);
START_OWN(execveat);
START_OWN(execl);
START_OWN(execlp);
START_OWN(execle);

/* Looked up early, so that a signal handler or a vfork child need not do it. */
__attribute__((constructor)) static void look_up(void)
{
	start_next(&next_exit, "_exit");
	start_next(&next_execve, "execve");
	start_next(&next_execv, "execv");
	start_next(&next_execvp, "execvp");
	start_fd_look_up();
}
