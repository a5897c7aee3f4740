/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into tftop: babeltrace as it is on its worst days. STUCK says what
 * becomes of the thread that runs a graph for the hundredth time:
 *
 *	hang	it never comes back
 *	abort	an assertion fails
 *	free	it runs on; but who frees a graph on the reader's thread hangs
 *
 * The file STUCK_HERE is made then.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <babeltrace2/babeltrace.h>

static bool stuck(const char *how)
{
	const char *wanted = getenv("STUCK");

	return wanted && !strcmp(wanted, how);
}

static void hang(void)
{
	for (;;)
		pause();
}

bt_graph_run_once_status bt_graph_run_once(bt_graph *graph)
{
	static atomic_int calls;
	bt_graph_run_once_status (*real)(bt_graph *) = dlsym(RTLD_NEXT, "bt_graph_run_once");

	if (atomic_fetch_add(&calls, 1) == 100) {
		close(open(getenv("STUCK_HERE") ? getenv("STUCK_HERE") : "/dev/null",
			   O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
		if (stuck("hang"))
			hang();
		if (stuck("abort"))
			abort();
	}
	return real(graph);
}

void bt_graph_put_ref(const bt_graph *graph)
{
	void (*real)(const bt_graph *) = dlsym(RTLD_NEXT, "bt_graph_put_ref");
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	if (stuck("free") && !strcmp(name, "reader"))
		hang();
	real(graph);
}
