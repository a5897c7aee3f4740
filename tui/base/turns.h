/* SPDX-License-Identifier: MIT */
/*
 * Work that may take longer than a frame and is done in turns with the loop: a page of many events,
 * a search through all of them. The work is plain code that regularly calls turns_rest(); it has a
 * stack of its own, that of a thread.
 *
 * Always true: the loop and the work never run at the same time. The work runs while the loop is in
 * turns_go(), and the loop runs while the work is in turns_rest(). So the work may use everything
 * that the loop may use, and must expect that it has changed after a rest. No lock is held in
 * turns_rest(). When the work yields the model's lock (model_yield()), it rests, too.
 *
 * Ownership: turns_free() first ends the work if it has not finished. Thread: the loop's, and for
 * turns_rest() the work's.
 */
#ifndef TUI_TURNS_H
#define TUI_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turns;

/* Prepares the work; it does not run yet. NULL: no thread could be created, so do the work at
 * once. */
struct turns *turns_new(void (*work)(struct turns *turns, void *arg), void *arg);
/* Tells the work to end at its next rest, and waits for it. NULL: does nothing. */
void turns_free(struct turns *turns);

/* Lets the work run until it is finished (true), or until it rests after for_ns or more; INT64_MAX:
 * until it is finished. */
bool turns_go(struct turns *turns, int64_t for_ns);
/* How much has been done, 0 ... 1000, as the work last reported it. */
unsigned turns_permille(const struct turns *turns);

/* Called by the work, often; costs a look at the clock if there is no need to rest. false: the work
 * must end. */
bool turns_rest(struct turns *turns, unsigned permille);

#endif
