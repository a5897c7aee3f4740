/* SPDX-License-Identifier: MIT */
/*
 * Work that may take longer than a frame, done by the loop in turns: a page of many events,
 * a search through all of them. The work is plain code that says now and then that it could
 * rest; it has a stack of its own, which is a thread's.
 *
 * Always true: the two never run at once. The work runs while the loop is in turns_go(), and
 * the loop while the work is in turns_rest(); so the work may use all that the loop may, and
 * has to expect that it has changed after a rest. No lock is held in turns_rest(). Where it
 * yields the model's lock (model_yield()) it rests too.
 *
 * Ownership: turns_free() ends what is still under way first. Thread: the loop's, and for
 * turns_rest() the work's.
 */
#ifndef TUI_TURNS_H
#define TUI_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turns;

/* Nothing runs yet. NULL: no thread was to be had; do it at once. */
struct turns *turns_new(void (*work)(struct turns *turns, void *arg), void *arg);
/* The work is told to end when it rests next, and does. NULL: nothing. */
void turns_free(struct turns *turns);

/* Goes on until the work is over (true), or rests after for_ns or more; INT64_MAX: to its end. */
bool turns_go(struct turns *turns, int64_t for_ns);
/* How much is done, as the work said it last; 0 … 1000. */
unsigned turns_permille(const struct turns *turns);

/* By the work, often: a look at the clock where it need not rest. false: it is to end. */
bool turns_rest(struct turns *turns, unsigned permille);

#endif
