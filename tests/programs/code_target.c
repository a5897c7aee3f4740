/* SPDX-License-Identifier: MIT */
/*
 * code_target LIBRARY COUNTS MODE: a program that uses the functions of libcode_double.so and knows
 * what they return. Two threads call all of them until the program's standard input ends.
 *
 *   calls     nothing else
 *   rarely    they pause between the calls
 *   waits     others wait in system calls with a time limit, which nothing may interrupt
 *   handler   one is in a signal handler that returns into the first bytes of code_shape_plain
 *   fault     one waits for a page of its stack within these bytes
 *   idle      one is in code_shape_idle
 *   below     one is in a function that code_shape_idle calls
 *   vfork     one waits in vfork() for its child
 *   forks     forks children all the time, which call all functions too
 *   loads     loads and unloads another library all the time: this program's file of COUNTS + ".so"
 *   shared    the code is a shared mapping of its file
 *   writable  the code is writable
 *   used      the library says that its code is in use in another way
 *
 * Says "ready". A line on the standard input ends what handler, fault, idle, below and vfork stay
 * in, and "released" is said. At the end: "ROUNDS rounds, N disturbances" and the first of them;
 * status 1 if there were any.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/doubles/code_double.h"

#define FIRST_BYTES 14
#define PAGE 4096u

static code_shape *const *functions;
static code_called **hook;
static int *spins, *used;
static const char *other_library;
static _Atomic long rounds, disturbances;
static _Atomic bool over, released, there, rarely;
static char first[160];

static void disturbed(const char *what, long long value)
{
	if (disturbances++ == 0)
		snprintf(first, sizeof(first), "%s (%lld)", what, value);
}

static void nap(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static bool call_all(uint64_t x)
{
	for (int i = 0; i < CODE_FUNCTIONS; i++) {
		uint64_t result;

		if (i == CODE_idle)	/* only the thread that is to stay in it */
			continue;
		result = functions[i](x | (uint64_t)1 << 62);
		if (result != code_result(x))
			return false;
	}
	return true;
}

static void *calls(void *unused)
{
	for (uint64_t x = 1; !over; x++) {
		if (!call_all(x))
			disturbed("a function returned something else, round", (long long)x);
		rounds++;
		if (rarely || x % 2000 == 0)
			nap(rarely ? 1000000 : 1000);
	}
	return unused;
}

/* ---- waits ---- */

#define LIMIT_NS 30000000

static const struct timespec limit = { .tv_nsec = LIMIT_NS };

static int accept_late(void)
{
	struct timeval tv = { .tv_usec = LIMIT_NS / 1000 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), status;
	sa_family_t address = AF_UNIX;		/* the kernel chooses a name */

	bind(fd, (struct sockaddr *)&address, sizeof(address));
	listen(fd, 1);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	status = accept(fd, NULL, NULL) < 0 && errno == EAGAIN ? 0 : errno;
	close(fd);
	return status;
}

static int socket_late(bool sends)
{
	struct timeval tv = { .tv_usec = LIMIT_NS / 1000 };
	static char block[65536];
	int pair[2], status = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return errno;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (sends) {
		while (send(pair[0], block, sizeof(block), MSG_DONTWAIT) > 0)
			;
		status = write(pair[0], block, 1) < 0 && errno == EAGAIN ? 0 : errno;
	} else {
		status = recv(pair[0], block, 1, 0) < 0 && errno == EAGAIN ? 0 : errno;
	}
	close(pair[0]);
	close(pair[1]);
	return status;
}

static int semaphore_late(void)
{
	int set = semget(IPC_PRIVATE, 1, 0600), status;
	struct sembuf down = { .sem_op = -1 };

	status = semtimedop(set, &down, 1, &limit) < 0 && errno == EAGAIN ? 0 : errno;
	semctl(set, 0, IPC_RMID);
	return status;
}

static int epoll_late(int which)
{
	struct epoll_event event;
	int fd = epoll_create1(0), got;

	got = which == 0 ? epoll_wait(fd, &event, 1, LIMIT_NS / 1000000) :
	      which == 1 ? epoll_pwait(fd, &event, 1, LIMIT_NS / 1000000, NULL) :
			   (int)syscall(SYS_epoll_pwait2, fd, &event, 1, &limit, NULL, 8);
	close(fd);
	return got == 0 ? 0 : errno;
}

static int aio_late(void)
{
	struct timespec time = limit;
	unsigned long context = 0;
	char events[64];
	long got;

	if (syscall(SYS_io_setup, 1, &context) != 0)
		return errno == ENOSYS || errno == EPERM ? 0 : errno;
	got = syscall(SYS_io_getevents, context, 1, 1, events, &time);
	syscall(SYS_io_destroy, context);
	return got == 0 ? 0 : errno;
}

static int wait_late(int which)
{
	struct timespec time = limit;
	sigset_t set;

	switch (which) {
	case 0:
	case 1:
	case 2:
		return epoll_late(which);
	case 3:
		return accept_late();
	case 4:
	case 5:
		return socket_late(which == 5);
	case 6:
		return semaphore_late();
	case 7:
		return aio_late();
	case 8:
		sigemptyset(&set);
		sigaddset(&set, SIGRTMAX);
		return sigtimedwait(&set, NULL, &time) < 0 && errno == EAGAIN ? 0 : errno;
	default:
		return nanosleep(&time, NULL) == 0 ? 0 : errno;
	}
}

#define WAITS 10

static void *waits(void *which)
{
	int error;

	while (!over)
		if ((error = wait_late((int)(intptr_t)which)) != 0)
			disturbed("a wait ended with errno, 1000 x which +",
				  (long)(intptr_t)which * 1000 + error);
	return NULL;
}

/* ---- a thread within the bytes ---- */

static bool is_inside(uint64_t pc)
{
	uint64_t at = (uintptr_t)functions[CODE_plain];

	return pc > at && pc < at + FIRST_BYTES;
}

/* Each instruction ends in it while the trap flag is set. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	(void)info;
	if (!is_inside((uint64_t)uc->uc_mcontext.gregs[REG_RIP]))
		return;
	uc->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	there = true;
	while (!released)
		nap(1000000);
}

static void *handler(void *unused)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	uint64_t result;

	sigaction(SIGTRAP, &action, NULL);
	__asm__ volatile("pushf\n orl $0x100, (%%rsp)\n popf" ::: "memory", "cc");
	result = functions[CODE_plain](7);
	__asm__ volatile("pushf\n andl $~0x100, (%%rsp)\n popf" ::: "memory", "cc");
	if (result != code_result(7))
		disturbed("the function that was left by a signal returned", (long long)result);
	return unused;
}

static void *pager(void *data)
{
	int fd = (int)(intptr_t)data;
	struct uffd_msg message;
	struct uffdio_zeropage zero = { .range.len = PAGE };

	if (read(fd, &message, sizeof(message)) != sizeof(message))
		return NULL;
	there = true;
	while (!released)
		nap(1000000);
	zero.range.start = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
	ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	return NULL;
}

/* Calls a function on another stack. */
static uint64_t call_on(uint8_t *stack, code_shape *function, uint64_t x)
{
	register uint64_t result __asm__("rax");

	__asm__ volatile("mov %%rsp, %%r13\n mov %[stack], %%rsp\n call *%[function]\n"
			 "mov %%r13, %%rsp"
			 : "=r"(result), "+D"(x)
			 : [stack] "r"(stack), [function] "r"(function)
			 : "r13", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}

/* The second push is to a page that is not there. */
static void *fault(void *unused)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	uint8_t *area = mmap(NULL, 32 * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	range.range.start = (uintptr_t)area;
	range.range.len = 16 * PAGE;
	area[16 * PAGE] = 1;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range)) {
		puts("no userfaultfd");
		exit(3);
	}
	pthread_create(&thread, NULL, pager, (void *)(intptr_t)fd);
	/* the call pushes 8 bytes and `push %rbp` another 8; the rest is below the boundary */
	if (call_on(area + 16 * PAGE + 16, functions[CODE_plain], 9) != code_result(9))
		disturbed("the function that waited for a page returned something else", 0);
	pthread_join(thread, NULL);
	return unused;
}

static void stay(void)
{
	there = true;
	while (!released)
		nap(1000000);
}

static void *idle(void *unused)
{
	*spins = 1;
	there = true;
	if (functions[CODE_idle](5) != code_result(5))
		disturbed("the function that was replaced around a thread", 5);
	return unused;
}

static void *below(void *unused)
{
	*hook = stay;
	if (functions[CODE_idle](5) != code_result(5))
		disturbed("the function whose callee was waited for", 5);
	return unused;
}

/* ---- others that share memory or code ---- */

static int child_pipe[2];

static void *vforks(void *unused)
{
	char byte;
	pid_t child;

	there = true;
	child = vfork();
	if (child == 0) {
		syscall(SYS_read, child_pipe[0], &byte, 1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return unused;
}

static void *forks(void *unused)
{
	int status;

	while (!over) {
		pid_t child = fork();

		if (child == 0)
			_exit(call_all(77) ? 0 : 1);
		if (waitpid(child, &status, 0) != child || status != 0)
			disturbed("a child ended with status", status);
	}
	return unused;
}

static void *loads(void *unused)
{
	while (!over) {
		void *library = dlopen(other_library, RTLD_NOW);
		code_shape *const *f = library ? dlsym(library, "code_functions") : NULL;

		if (!f || f[CODE_plain](3) != code_result(3))
			disturbed("another library", 3);
		if (library)
			dlclose(library);
	}
	return unused;
}

/* ---- modes ---- */

/* The page of the functions, except `page`, which begins in the next one. */
static void change_mapping(const char *library, bool shared)
{
	uintptr_t at = (uintptr_t)functions[CODE_plain] & ~(uintptr_t)(PAGE - 1);
	int fd = open(library, O_RDONLY | O_CLOEXEC);
	unsigned long start, end, offset = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4400];
	void *now;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && at >= start &&
		    at < end)
			break;
	offset += at - start;
	now = shared ? mmap((void *)at, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd,
			    (off_t)offset) :
		       (void *)at;
	if (now == MAP_FAILED ||
	    (!shared && mprotect((void *)at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0))
		exit(2);
	if (maps)
		fclose(maps);
	close(fd);
}

static bool begin(const char *mode, const char *library)
{
	static const struct {
		const char *name;
		void *(*run)(void *unused);
	} others[] = {
		{ "handler", handler }, { "fault", fault }, { "idle", idle }, { "below", below },
		{ "vfork", vforks }, { "forks", forks }, { "loads", loads },
	};
	pthread_t thread;

	if (!strcmp(mode, "shared") || !strcmp(mode, "writable"))
		change_mapping(library, mode[0] == 's');
	else if (!strcmp(mode, "used"))
		*used = 2;
	for (intptr_t i = 0; i < WAITS && !strcmp(mode, "waits"); i++)
		if (pthread_create(&thread, NULL, waits, (void *)i))
			return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(mode, others[i].name) != 0)
			continue;
		if (pthread_create(&thread, NULL, others[i].run, NULL))
			return false;
		while (i < 5 && !there)
			nap(1000000);
	}
	return true;
}

static void release(void)
{
	released = true;
	*spins = 0;
	if (write(child_pipe[1], "", 1) == 1)
		puts("released");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	sigset_t set;
	void *library;
	char line[8];

	library = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library || pipe(child_pipe)) {
		fprintf(stderr, "code_target LIBRARY OTHER MODE: %s\n", library ? "" : dlerror());
		return 2;
	}
	functions = dlsym(library, "code_functions");
	hook = dlsym(library, "code_hook");
	spins = dlsym(library, "code_spins");
	used = dlsym(library, "code_used");
	other_library = argv[2];
	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	rarely = !strcmp(argv[3], "rarely");
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, calls, NULL))
			return 2;
	if (!begin(argv[3], argv[1]))
		return 2;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n") != 0)
		release();
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	nap(100000000);		/* what the others are in the middle of */
	printf("%ld rounds, %ld disturbances%s%s\n", rounds, disturbances, disturbances ? ": " : "",
	       first);
	return disturbances != 0 || rounds == 0;
}
