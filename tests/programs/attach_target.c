/* SPDX-License-Identifier: MIT */
/*
 * attach_target MODE: a program that notices when somebody disturbs it.
 *
 *   heap     one thread in malloc and free, each block checked
 *   heaps    three of them, while main waits for them
 *   sleep    sleeps of a fixed time: too short, much too long, EINTR
 *   waits    poll, select, epoll, semaphores, sigtimedwait, reads: EINTR, lost bytes, times
 *   vectors  general and vector registers hold values in a loop without calls
 *   signals  a timer each 2 ms, pause() and a read that only handlers may interrupt, and
 *            queued signals that must come all and in order
 *   reads    waits for its input only, and says when SIGUSR2 interrupted it
 *   loads    loads the library $ATTACH_TARGET_LOADS in a second thread; main sleeps
 *   environment  reads and changes its environment
 *   execs    is another program each 3 ms: itself
 *   naps     sleeps for an hour, under the name of a thread of LTTng's, until that ends
 *   mixed    all of these at once, a thread each
 *
 * Says "ready" and runs until its standard input ends. Then "ROUNDS rounds, N disturbances" and
 * what they were; status 1 if there were any.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SLEEP_NS 40000000ll
/* Other programs use the processors too, so only large delays count: a sleep that starts anew with
 * each of many disturbances. */
#define LATE_NS 1500000000ll

static volatile sig_atomic_t handled, queued_next;
static long rounds, disturbances;
static char first[160];

static void disturbed(const char *what, long long value)
{
	if (__atomic_fetch_add(&disturbances, 1, __ATOMIC_RELAXED) == 0)
		snprintf(first, sizeof(first), "%s (%lld)", what, value);
}

static void count_round(void)
{
	__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
}

static bool goes_on(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* ---- heap ---- */

#define BLOCKS 64

static void heap_round(unsigned *seed, unsigned char **blocks, size_t *sizes)
{
	for (int i = 0; i < 20000; i++) {
		int b = rand_r(seed) % BLOCKS;

		if (blocks[b]) {
			if (blocks[b][0] != b || blocks[b][sizes[b] - 1] != b)
				disturbed("a block was overwritten", b);
			free(blocks[b]);
			blocks[b] = NULL;
			continue;
		}
		sizes[b] = 1 + (size_t)rand_r(seed) % (i % 100 ? 600 : 200000);
		blocks[b] = malloc(sizes[b]);
		blocks[b][0] = blocks[b][sizes[b] - 1] = (unsigned char)b;
	}
}

static void *heap(void *unused)
{
	unsigned char *blocks[BLOCKS] = { 0 };
	unsigned seed = (unsigned)now_ns();
	size_t sizes[BLOCKS];

	while (goes_on()) {
		heap_round(&seed, blocks, sizes);
		count_round();
	}
	for (int b = 0; b < BLOCKS; b++)
		free(blocks[b]);
	return NULL;
}

/* ---- sleep ---- */

static void *sleeps(void *unused)
{
	while (goes_on()) {
		struct timespec ts = { .tv_nsec = SLEEP_NS };
		int64_t begin = now_ns(), took;
		bool absolute = rounds & 1;
		int error = 0;

		if (absolute) {
			clock_gettime(CLOCK_MONOTONIC, &ts);
			ts.tv_nsec += SLEEP_NS;
			ts.tv_sec += ts.tv_nsec / 1000000000;
			ts.tv_nsec %= 1000000000;
			error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		} else if (nanosleep(&ts, NULL) != 0) {
			error = errno;
		}
		took = now_ns() - begin;
		if (error)
			disturbed("a sleep ended with errno", error);
		else if (took < SLEEP_NS)
			disturbed("a sleep was too short, ns", took);
		else if (took > SLEEP_NS + LATE_NS)
			disturbed("a sleep was too long, ns", took);
		count_round();
	}
	return NULL;
}

/* ---- waits ---- */

#define WAITS 6

static int epoll_fd;
static int bytes_in, bytes_out;
static sem_t semaphore;

/* Returns how the wait ended: 0 by its time limit, as it should; else errno. */
static int wait_once(long which, int64_t ns)
{
	struct timespec relative = { .tv_nsec = ns }, until;
	struct timeval tv = { .tv_usec = ns / 1000 };
	struct epoll_event event;
	sigset_t set;

	switch (which) {
	case 0:
		return poll(NULL, 0, (int)(ns / 1000000)) == 0 ? 0 : errno;
	case 1:
		return select(0, NULL, NULL, NULL, &tv) == 0 ? 0 : errno;
	case 2:
		return epoll_wait(epoll_fd, &event, 1, (int)(ns / 1000000)) == 0 ? 0 : errno;
	case 3:
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += ns;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		return sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT ? 0 : errno;
	case 4:
		sigemptyset(&set);
		sigaddset(&set, SIGRTMAX);
		return sigtimedwait(&set, NULL, &relative) == -1 && errno == EAGAIN ? 0 : errno;
	default:
		return nanosleep(&relative, NULL) == 0 ? 0 : errno;
	}
}

static void *waits(void *unused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (long which = 0; goes_on(); which = (which + 1) % WAITS) {
		int64_t begin = now_ns(), took;
		int error = wait_once(which, SLEEP_NS);

		took = now_ns() - begin;
		if (error)
			disturbed("wait ended with errno, 1000 x which +", which * 1000 + error);
		/* poll and epoll count whole milliseconds of a coarser clock */
		else if (took < SLEEP_NS - 2000000 || took > SLEEP_NS + LATE_NS)
			disturbed("a wait's time, ns", took);
		count_round();
	}
	return NULL;
}

static void *feeds(void *unused)
{
	unsigned char next = 0;

	while (goes_on()) {
		if (write(bytes_in, &next, 1) == 1)
			next++;
		nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
	}
	close(bytes_in);
	return NULL;
}

static void *reads(void *unused)
{
	unsigned char byte, next = 0;
	ssize_t got;

	while ((got = read(bytes_out, &byte, 1)) != 0) {
		if (got < 0)
			disturbed("a read ended with errno", errno);
		else if (byte != next++)
			disturbed("a byte is missing before", byte);
	}
	return NULL;
}

/* ---- vectors ---- */

struct held {
	uint64_t general[4];
	uint64_t wide[16][4];
};

/* All vector registers and some general ones hold their values for a while, and are then stored and
 * compared. */
static void hold_registers(const struct held *in, struct held *out, long turns)
{
#if defined(__x86_64__)
#define LOAD(n) "vmovdqu 32+32*" #n "(%[in]), %%ymm" #n "\n"
#define STORE(n) "vmovdqu %%ymm" #n ", 32+32*" #n "(%[out])\n"
#define ALL(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)
	__asm__ volatile(
		"mov 0(%[in]), %%r8\n mov 8(%[in]), %%r9\n mov 16(%[in]), %%r10\n mov 24(%[in]), "
		"%%r11\n"
		/* and values in the red zone */
		"mov %%r8, -8(%%rsp)\n mov %%r9, -120(%%rsp)\n" ALL(
			LOAD) "stc\n"
			      "1: dec %[turns]\n jnz 1b\n"
			      "jnc 2f\n" /* dec does not change the carry flag */
			      "cmp %%r8, -8(%%rsp)\n jne 2f\n cmp %%r9, -120(%%rsp)\n jne 2f\n"
			      "mov %%r8, 0(%[out])\n mov %%r9, 8(%[out])\n mov %%r10, 16(%[out])\n"
			      "mov %%r11, 24(%[out])\n"
			      "2:\n" ALL(STORE) "vzeroupper\n"
		: [turns] "+r"(turns)
		: [in] "r"(in), [out] "r"(out)
		: "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
		  "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
		  "xmm14", "xmm15");
#else
	*out = *in;
#endif
}

static void *vectors(void *unused)
{
	struct held in, out;
	unsigned seed = 1;

	while (goes_on()) {
		unsigned char *bytes = (unsigned char *)&in;

		for (size_t i = 0; i < sizeof(in); i++)
			bytes[i] = (unsigned char)(rand_r(&seed) >> 8);
		memset(&out, 0, sizeof(out));
		hold_registers(&in, &out, 20000000);
		for (size_t i = 0; i < sizeof(in); i++)
			if (bytes[i] != ((unsigned char *)&out)[i])
				disturbed("a register changed, byte", (long long)i);
		count_round();
	}
	return NULL;
}

/* ---- signals ---- */

static void on_timer(int signal)
{
	handled++;
}

static void on_queued(int signal, siginfo_t *info, void *context)
{
	if (info->si_value.sival_int != queued_next)
		disturbed("a queued signal came out of order", info->si_value.sival_int);
	queued_next = info->si_value.sival_int + 1;
}

static pthread_t signals_thread;

static void *queues(void *unused)
{
	for (int next = 0; goes_on(); next++) {
		union sigval value = { .sival_int = next };

		while (pthread_sigqueue(signals_thread, SIGRTMIN + 1, value) == EAGAIN)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		nanosleep(&(struct timespec){ .tv_nsec = 1500000 }, NULL);
	}
	return NULL;
}

/* No flag restarts what the timer interrupts: each signal must interrupt a call, and no call may be
 * interrupted without one. Alternates between pause and a read for which nothing is written. */
static void *signals(void *unused)
{
	struct itimerspec each = { { 0, 2000000 }, { 0, 2000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	int quiet[2];
	pthread_t other;
	timer_t timer;
	char byte;

	event._sigev_un._tid = gettid();
	signals_thread = pthread_self();
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_timer }, NULL);
	sigaction(SIGRTMIN + 1, &(struct sigaction){ .sa_sigaction = on_queued,
						     .sa_flags = SA_SIGINFO | SA_RESTART }, NULL);
	if (pipe(quiet) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &each, NULL) || pthread_create(&other, NULL, queues, NULL))
		exit(2);
	while (goes_on()) {
		int before = handled;

		if (rounds & 1) {
			if (read(quiet[0], &byte, 1) != -1 || errno != EINTR)
				disturbed("a read ended with errno", errno);
			if (handled == before)
				disturbed("a read was interrupted by nobody", 0);
		} else {
			int queued = queued_next;

			pause();
			if (handled == before && queued_next == queued)
				disturbed("pause came back without a signal", 0);
		}
		count_round();
	}
	timer_delete(timer);
	pthread_join(other, NULL);
	return NULL;
}

/* Without a flag to restart it, a signal that arrives while it waits is noticed. */
static void *interrupted(void *unused)
{
	ssize_t got = -1;
	char byte;

	sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = on_timer }, NULL);
	while (got < 0) {
		int before = handled;

		got = read(0, &byte, 1);
		count_round();
		if (got < 0 && (errno != EINTR || handled != before + 1))
			disturbed("a read was interrupted by so many signals", handled - before);
		printf("interrupted %d\n", handled);
		fflush(stdout);
	}
	return NULL;
}

/* ---- loads ---- */

static void *loads(void *unused)
{
	if (!dlopen(getenv("ATTACH_TARGET_LOADS"), RTLD_NOW))
		disturbed("a library was not loaded", 0);
	puts("loaded");
	fflush(stdout);
	return NULL;
}

/* ---- environment ---- */

static void *environment(void *unused)
{
	char number[16], other[16];

	for (int i = 0; goes_on(); i++) {
		snprintf(number, sizeof(number), "%d", i);
		snprintf(other, sizeof(other), "OTHER%d", i % 50);
		setenv("ATTACH_TARGET_NUMBER", number, 1);
		setenv(other, number, 1);
		if (!getenv("PATH") || !getenv(other))
			disturbed("a variable is gone, round", i);
		/* if the change was at the same moment, a setenv shows a millisecond later */
		for (int k = 0; k < 1000 && strcmp(getenv("ATTACH_TARGET_NUMBER"), number) != 0;
		     k++) {
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
			if (k == 999)
				disturbed("a variable has its old value, round", i);
		}
		count_round();
	}
	return NULL;
}

/* ---- modes ---- */

static const struct mode {
	const char *name;
	void *(*run[4])(void *);
} modes[] = {
	{ "heap", { heap } },
	{ "heaps", { heap, heap, heap } },
	{ "sleep", { sleeps } },
	{ "waits", { waits, feeds, reads } },
	{ "vectors", { vectors } },
	{ "signals", { signals } },
	{ "reads", { interrupted } },
	{ "loads", { sleeps, loads } },
	{ "environment", { environment } },
	{ "mixed", { vectors, heap, sleeps, signals } },
};

static int run(const struct mode *mode)
{
	pthread_t threads[4];
	int n = 0, pipes[2];

	if (pipe(pipes) || (epoll_fd = epoll_create1(0)) < 0 || sem_init(&semaphore, 0, 0))
		return 2;
	bytes_out = pipes[0];
	bytes_in = pipes[1];
	puts("ready");
	fflush(stdout);
	if (!mode->run[1]) {
		mode->run[0](NULL);
	} else {
		for (; n < 4 && mode->run[n]; n++)
			if (pthread_create(&threads[n], NULL, mode->run[n], NULL))
				return 2;
		while (n-- > 0)
			pthread_join(threads[n], NULL);
	}
	printf("%ld rounds, %ld disturbances%s%s\n", rounds, disturbances, disturbances ? ": " : "",
	       first);
	return disturbances != 0 || rounds == 0;
}

static int execs(char **argv)
{
	const char *before = getenv("ATTACH_TARGET_EXECS");
	char number[32];

	if (!before)
		puts("ready");
	if (goes_on()) {
		fflush(stdout);
		snprintf(number, sizeof(number), "%ld", before ? atol(before) + 1 : 1);
		setenv("ATTACH_TARGET_EXECS", number, 1);
		nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
		execv("/proc/self/exe", argv);
		disturbed("exec failed with errno", errno);
	}
	printf("%s rounds, %ld disturbances\n", before ? before : "0", disturbances);
	return disturbances != 0;
}

static int naps(void)
{
	unsigned left;

	pthread_setname_np(pthread_self(), "target-ust");
	puts("ready");
	fflush(stdout);
	left = sleep(3600);
	printf("1 rounds, %d disturbances: %u s were left\n", left != 0, left);
	return left != 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) && argc == 2; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return run(&modes[i]);
	if (argc == 2 && strcmp(argv[1], "execs") == 0)
		return execs(argv);
	if (argc == 2 && strcmp(argv[1], "naps") == 0)
		return naps();
	fprintf(stderr,
		"attach_target: heap, heaps, sleep, waits, vectors, signals, reads, loads,\n"
		"environment, execs, naps or mixed\n");
	return 2;
}
