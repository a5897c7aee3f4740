/* SPDX-License-Identifier: MIT */
/*
 * A program that calls BLAS itself and through libraries: blas_test LIBRARY... opens each and calls
 * its functions, also in threads and in a child process.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define MANY 500

void blas_calls(void);
void blas_many(int count);
void *blas_ends_thread(void *arg);
int fake_next(void);

static void *many(void *arg)
{
	(void)arg;
	blas_many(MANY);
	return NULL;
}

static void opened(const char *path)
{
	/* the library must use its own BLAS, not the one of the program with the same names */
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND), (*calls)(void);

	if (!library) {
		printf("%s\n", dlerror());
		exit(1);
	}
	*(void **)&calls = dlsym(library, "blas_calls");
	printf("opened\n");
	calls();
}

static void in_child(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		blas_many(1);
		fflush(stdout);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	void *result;

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	printf("next %d\n", fake_next());
	blas_calls();
	for (int i = 1; i < argc; i++)
		opened(argv[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, many, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_create(&threads[0], NULL, blas_ends_thread, NULL);
	pthread_join(threads[0], &result);
	printf("left with %d\n", (int)(long)result);
	in_child();
	return 4;
}
