/* SPDX-License-Identifier: MIT */
/* What others do while the host waits for them: a loader's workers, threads that contend for locks,
 * and the thread that hands something over. Each adds one line to a finding, as long as that has
 * one left. */
#ifndef MODEL_HOST_OTHERS_H
#define MODEL_HOST_OTHERS_H

#include <stdint.h>

struct finding;
struct host_time_row;
struct model;

/* Where the workers of a process, its children, spend most of their time, as far as that was seen
 * in their last seconds. */
void host_workers_say(struct model *model, uint32_t process, int64_t at_ns,
		      struct finding *finding);
/* How many threads of the process contend for locks, if several do. */
void host_convoy_say(const struct model *model, uint32_t process, struct finding *finding);
/* "meanwhile, for 83 % of it, thread 4711 python sleeps at loader.py:25 in load": what another
 * thread did for half or more of the wait in that row, a lock whose holder is unknown. It need not
 * be the same thread each time. */
void host_meanwhile_say(struct model *model, uint32_t process, const struct host_time_row *row,
			struct finding *finding);

#endif
