/* SPDX-License-Identifier: MIT */
/*
 * fuzz [--seconds S] [--seed N] [--corpus DIR] [TARGET...]
 * fuzz --input FILE TARGET
 *
 * Runs every target (or those named) on its corpus and on mutations of it, at
 * least RUNS_MIN inputs and S seconds each. One line per target; status 1 when
 * one broke. The input is kept in the current folder as broken-TARGET.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

#define RUNS_MIN 20000
#define CORPUS_MAX 512
#define HANG_SECONDS 10			/* limit for one input, also under a sanitizer */

struct input {
	size_t size;
	uint8_t data[FUZZ_INPUT_MAX];
};

static struct fuzz_target *targets;
static struct input *shared;		/* the input that the child runs now */
static struct input corpus[CORPUS_MAX];
static size_t corpus_count;
static uint64_t random_state;

void fuzz_register(struct fuzz_target *target)
{
	struct fuzz_target **at = &targets;

	while (*at && strcmp((*at)->name, target->name) < 0)
		at = &(*at)->next;
	target->next = *at;
	*at = target;
}

void fuzz_broken(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	abort();
}

/* xorshift64*: Vigna, 2014. */
static uint64_t random_next(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

static size_t below(size_t limit)
{
	return limit ? (size_t)(random_next() % limit) : 0;
}

/* ---- corpus ---- */

static bool load(const char *path, struct input *input)
{
	FILE *in = fopen(path, "re");

	if (!in)
		return false;
	input->size = fread(input->data, 1, FUZZ_INPUT_MAX, in);
	fclose(in);
	return true;
}

static void load_corpus(const char *folder, const char *target)
{
	char path[1024];
	struct dirent *entry;
	DIR *dir;

	corpus_count = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, target);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) && corpus_count < CORPUS_MAX) {
		snprintf(path, sizeof(path), "%s/%s/%s", folder, target, entry->d_name);
		if (entry->d_name[0] != '.' && load(path, &corpus[corpus_count]))
			corpus_count++;
	}
	if (dir)
		closedir(dir);
	if (!corpus_count)		/* inputs to start from */
		corpus[corpus_count++].size = 0;
}

/* ---- mutations ---- */

static void insert(struct input *input, size_t at, const uint8_t *data, size_t size)
{
	if (size > FUZZ_INPUT_MAX - input->size)
		size = FUZZ_INPUT_MAX - input->size;
	memmove(input->data + at + size, input->data + at, input->size - at);
	memmove(input->data + at, data, size);
	input->size += size;
}

static void drop(struct input *input, size_t at, size_t size)
{
	if (size > input->size - at)
		size = input->size - at;
	memmove(input->data + at, input->data + at + size, input->size - at - size);
	input->size -= size;
}

static void mutate(struct input *input)
{
	static const uint8_t special[] = {
		0, 1, 0x1f, '"', '\\', '/', '-', '=', '\n', '{', '}', '[', ']', ',', ':', '0',
		'9', 0x7f, 0x80, 0xbf, 0xc2, 0xe2, 0xed, 0xf0, 0xff
	};
	static struct input other;
	size_t at = below(input->size + 1);
	uint8_t byte = (uint8_t)random_next();

	switch (random_next() % 7) {
	case 0:
		if (at < input->size)
			input->data[at] ^= (uint8_t)(1u << (random_next() % 8));
		break;
	case 1:
		if (at < input->size)
			input->data[at] = special[below(sizeof(special))];
		break;
	case 2:
		insert(input, at, &byte, 1);
		break;
	case 3:
		insert(input, at, &special[below(sizeof(special))], 1);
		break;
	case 4:
		drop(input, at, 1 + below(16));
		break;
	case 5:				/* repeat a part of the input */
		other = *input;
		if (other.size)
			insert(input, at, other.data + below(other.size) / 2,
			       1 + below(other.size / 2 + 1));
		break;
	case 6:				/* insert a part of another input */
		other = corpus[below(corpus_count)];
		insert(input, at, other.data, below(other.size + 1));
		break;
	}
}

/* ---- running ---- */

static void run_one(const struct fuzz_target *target)
{
	/* Exactly as large as the input, so that a sanitizer detects each byte read beyond it. */
	uint8_t *copy = malloc(shared->size ? shared->size : 1);

	if (!copy)
		return;
	memcpy(copy, shared->data, shared->size);
	alarm(HANG_SECONDS);
	target->run(copy, shared->size);
	alarm(0);
	free(copy);
}

static void run_all(const struct fuzz_target *target, int seconds)
{
	time_t end = time(NULL) + seconds;
	size_t runs = 0;

	for (size_t i = 0; i < corpus_count; i++, runs++) {
		*shared = corpus[i];
		run_one(target);
	}
	for (; runs < RUNS_MIN || time(NULL) < end; runs++) {
		*shared = corpus[below(corpus_count)];
		for (size_t n = 1 + below(8); n; n--)
			mutate(shared);
		run_one(target);
	}
}

static void keep(const char *name)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "broken-%s", name);
	out = fopen(path, "we");
	if (!out)
		return;
	fwrite(shared->data, 1, shared->size, out);
	fclose(out);
}

static bool run_target(const struct fuzz_target *target, const char *folder, int seconds,
		       uint64_t seed)
{
	int status;
	pid_t child;

	load_corpus(folder, target->name);
	random_state = seed;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		/* The output of targets that print is not needed. */
		if (!freopen("/dev/null", "w", stdout))
			_exit(2);
		run_all(target, seconds);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		printf("ok %s\n", target->name);
		return true;
	}
	keep(target->name);
	printf("not ok %s: %s %d, seed %llu, input in 'broken-%s'\n", target->name,
	       WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
	       (unsigned long long)seed, target->name);
	return false;
}

static int run_input(const char *path, const char *name)
{
	for (struct fuzz_target *target = targets; target; target = target->next)
		if (name && !strcmp(target->name, name)) {
			if (!load(path, shared)) {
				perror(path);
				return 2;
			}
			run_one(target);
			return 0;
		}
	fprintf(stderr, "fuzz: no target '%s'\n", name ? name : "");
	return 2;
}

static bool wanted(const char *name, int count, char **names)
{
	const char *only = getenv("CASE");
	bool found = !count;

	if (only && (only[0] == '=' ? strcmp(name, only + 1) != 0 : !strstr(name, only)))
		return false;
	for (int i = 0; i < count; i++)
		found |= !strcmp(names[i], name);
	return found;
}

int main(int argc, char **argv)
{
	const char *folder = "tests/fuzz/corpus";
	uint64_t seed = (uint64_t)time(NULL) * 2 + 1;
	int seconds = 0, at = 1, passed = 0, failed = 0;
	const char *given = getenv("FUZZ_SEED");

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	if (given)
		seed = strtoull(given, NULL, 10) | 1;
	for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
		if (!strcmp(argv[at], "--seconds"))
			seconds = atoi(argv[at + 1]);
		else if (!strcmp(argv[at], "--seed"))
			seed = strtoull(argv[at + 1], NULL, 10) | 1;
		else if (!strcmp(argv[at], "--corpus"))
			folder = argv[at + 1];
		else if (!strcmp(argv[at], "--input"))
			return run_input(argv[at + 1], argv[at + 2]);
	}
	printf("# seed FUZZ_SEED=%llu\n", (unsigned long long)seed);
	for (struct fuzz_target *target = targets; target; target = target->next) {
		if (!wanted(target->name, argc - at, argv + at))
			continue;
		if (run_target(target, folder, seconds, seed))
			passed++;
		else
			failed++;
	}
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
