/* SPDX-License-Identifier: MIT */
/*
 * The ends of a process.
 *
 *  exit		on_exit: the probes' fini, a last beat, tft_exit. Handlers of the program
 *		that run later still find the runtime working; a destructor then sends
 *		what they did.
 *  _exit, exec	through libtftop-start: possibly from a signal handler that interrupted a
 *		driver, so no function of a driver is called here; the runtime's thread is
 *		asked to harvest and to beat, for at most 100 ms. After an exec that failed
 *		the process is introduced again.
 *  killed	what was written is in shared memory and is not lost.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "probes/runtime/internal.h"
#include "probes/start/start.h"

#define FLUSH_NS 100000000

static _Atomic uint32_t ended;

static bool introduced(void)
{
	return GET(rt_started) && !GET(rt_child_pending) && GET(rt_armed);
}

static void send_exit(int32_t reason, int32_t status)
{
	struct tft_exit r = { .reason = reason, .status = status };

	rt_emit_exit(&r);
}

static void at_exit(int status, void *arg)
{
	int saved = errno, n;
	const struct rt_probe *const *probe = rt_probes(&n);

	(void)arg;
	if (!introduced() || atomic_exchange(&ended, 1))
		return;
	rt_batch_at_once(true);
	if (rt_loop_stop()) {
		for (int i = 0; i < n; i++)
			if (probe[i]->fini)
				probe[i]->fini();
		rt_loop_last_beat();
	}
	send_exit(0, status);
	rt_home_leave();
	errno = saved;
}

static void rt_leaving(enum tft_leaving how, int status)
{
	int saved = errno, cancel;

	if (introduced()) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		rt_loop_flush(FLUSH_NS);
		send_exit(how == TFT_LEAVING_EXEC ? 2 : 1, status);
		if (how == TFT_LEAVING_EXIT)
			rt_home_leave();
		pthread_setcancelstate(cancel, NULL);
	}
	errno = saved;
}

static void at_quick_exit_(void)
{
	rt_leaving(TFT_LEAVING_EXIT, -1);
}

static void back(void)
{
	int saved = errno, cancel;

	if (introduced()) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		rt_process_introduce();
		pthread_setcancelstate(cancel, NULL);
	}
	errno = saved;
}

static const struct tft_start_hooks hooks = {
	.leaving = rt_leaving,
	.back = back,
	.owns_fd = rt_fd_owned,
	.close_fd = rt_fd_close,
	.yield_fd = rt_fd_yield,
};

static void (*set_hooks)(const struct tft_start_hooks *);

/*
 * LTTng's destructor ends its threads by pthread_cancel(), for which glibc loads this library and
 * aborts the process if that fails: after chroot(), or without a free descriptor or memory. So it
 * is loaded early. The program's C++ libraries would have loaded the same one.
 */
static void be_able_to_end(void)
{
	rt_dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NODELETE);
}

void rt_exit_start(void)
{
	be_able_to_end();
	on_exit(at_exit, NULL);
	at_quick_exit(at_quick_exit_);
	rt_fd_start();
	set_hooks = (void (*)(const struct tft_start_hooks *))dlsym(RTLD_DEFAULT,
								    "tft_start_hook");
	if (set_hooks)
		set_hooks(&hooks);
}

void rt_exit_fork_child(void)
{
	SET(ended, 0);
	rt_batch_at_once(false);
	if (set_hooks)
		set_hooks(&hooks);
}

__attribute__((destructor)) static void at_unload(void)
{
	if (GET(ended) && introduced())
		rt_loop_last_beat();
}
