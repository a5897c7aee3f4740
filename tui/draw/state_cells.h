/* SPDX-License-Identifier: MIT */
/*
 * What a thread does beside its ops (query/host.h), in the cells in which its row shows nothing
 * else: thin lines, so that they are quieter than bars. A state is told by colour and by the kind
 * of line: runs ─, waits ╌, sleeps ┈ (^ , _ in ASCII). Where one state at one line of the program
 * lasts for enough columns, its name, the function and the line are written there.
 *
 * Always true: every state has a family; a new one is an entry of the list in state_cells.c,
 * without which it does not compile. Pure. Threads: any.
 */
#ifndef TUI_STATE_CELLS_H
#define TUI_STATE_CELLS_H

#include "model/query/host.h"
#include "tui/draw/grid.h"
#include "tui/draw/strip.h"
#include "tui/draw/timeline_cells.h"

/* In the order of their roles. */
enum state_family { STATE_RUNS, STATE_WAITS, STATE_SLEEPS, STATE_FAMILIES };

/*
 * Draws n states into a line of a thread's row, where it has no event and where the line above it
 * has one: so they stand below the innermost op that is shown. columns: of the line; above: of the
 * line above it, NULL: there is none. To be called last, as only empty cells are drawn. Returns
 * which families were drawn, as bits (1 << family).
 */
unsigned cells_states(struct cell *cells, const struct column *columns,
		      const struct column *above, const struct host_state *states, size_t n,
		      int64_t w_ns, const struct cell_style *style);

/* Appends which line means what, for the families of the bits. */
void states_legend(struct strip *strip, unsigned families, int rank, bool ascii);

/* Writes "loader.py:25 in load", or what of it is known; returns out. */
char *state_place(char *out, size_t size, const struct host_state *state);

#endif
