/* SPDX-License-Identifier: MIT */
/* Waits of the program for results. */
#include <string.h>

#include "probes/jax/probe.h"

static uint32_t names[2];	/* names of the two kinds */

/* "CommonPjRtBuffer::Await#_pt=0,_p=7#" at the start, "..._ct=0,_c=7#" at the end; numpy's
 * conversion contains both. */
void jax_awaited(const struct traceme *t)
{
	struct tft_wait w = { .start_ns = t->start_ns };
	struct jax_thread *own = jax_self();
	bool numpy = t->name[0] == 'n';
	struct rt_top top;
	int64_t number;

	if (!own)
		return;
	if (!numpy && traceme_number(t, "_p", &number)) {
		own->await_ns = t->start_ns;
		return;
	}
	if (!numpy && own->await_ns)
		w.start_ns = own->await_ns;
	if (numpy && own->awaited_ns > t->start_ns)
		return;
	own->await_ns = 0;
	own->awaited_ns = t->end_ns;
	w.dur_ns = t->end_ns - w.start_ns;
	w.name = names[numpy];
	top = rt_op_current();
	w.op = top.instance;
	w.op_name = top.name;
	rt_emit_wait(&w);
}

void jax_waits_start(void)
{
	names[false] = rt_name(TFT_NAME_CALL, "CommonPjRtBuffer::Await");
	names[true] = rt_name(TFT_NAME_CALL, "np.asarray(jax.Array)");
}
